/* Calls the firmware's time services. See time_services.h. */
#include "uefi/firmware/time_services.h"

#include "base/units.h"
#include "firmware/tick.h"
#include "uefi/firmware/uefi.h"

#define SECOND_NS   (1010 * NS_PER_MS) /* longest wait for a change of the second */
#define ALL_NS      (1450 * NS_PER_MS) /* longest time for all calls together, if the firmware's time is right */
#define STALLS_NS   NS_PER_S       /* no further Stall() is called after this time */
#define TICK_MIN_NS NS_PER_MS      /* a shorter or longer tick is not used as the period of events */
#define TICK_MAX_NS (60 * NS_PER_MS)
#define PERIOD_NS   (10 * NS_PER_MS) /* period of events if the tick's period is not usable */
#define WAIT_FACTOR 3              /* events may take this many times as long as requested, and WAIT_EXTRA_NS */
#define WAIT_EXTRA_NS (100 * NS_PER_MS)
#define POLLS_MAX   100000000u     /* maximum number of polls; ends a wait if the TSC has stopped */
#define READINGS    4              /* number of services that are read again and again */

/* The readings of one service. */
struct calls {
	struct record_firmware fixed;
	size_t count;
	struct record_called items[FIRMWARE_ITEMS_MAX];
};

static uint64_t waited_ns; /* duration of time_services_find_second() */

/* Declares EFI_CPU_ARCH_PROTOCOL (PI 1.7, volume 2), which GNU-EFI lacks, up to the function that is called. */
struct cpu_arch {
	VOID *other[6];
	EFI_STATUS (EFIAPI *get_timer_value)(struct cpu_arch *cpu, UINT32 index, UINT64 *value, UINT64 *period_fs);
};

static const EFI_GUID guid_cpu_arch = { 0x26baccb1, 0x6f42, 0x11d4,
	{ 0xbc, 0xe7, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 } };

static uint64_t
ns_since(const struct time_services *services, uint64_t tsc)
{
	return scale_ns(services->scale, services->tsc() - tsc);
}

static void
put(const struct time_services *services, const struct calls *calls)
{
	record_put(services->record, RECORD_FIRMWARE, &calls->fixed, calls->items, calls->count);
}

/* ---- readings ---- */

struct readers {
	struct calls calls[READINGS]; /* in the order of enum firmware_service, from FIRMWARE_TIME on */
	struct timestamp_protocol *stamp;
	struct cpu_arch *cpu;
	uint64_t same_tsc; /* TSC before the latest reading of the time of day */
};

/* Returns the number of days from 1970 to the date in the Gregorian calendar. */
static int64_t
count_days(int64_t year, int64_t month, int64_t day)
{
	year -= month <= 2;
	month += month <= 2 ? 9 : -3; /* years start in March, so that a leap day is the last day */
	return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719469;
}

static bool
read_time(struct record_firmware *fixed, uint64_t *value)
{
	EFI_TIME_CAPABILITIES able = { 0 };
	EFI_TIME now = { 0 };

	if (EFI_ERROR(firmware_system->RuntimeServices->GetTime(&now, &able)))
		return false;
	fixed->stated = able.Accuracy;
	fixed->range = able.Resolution;
	int64_t s = count_days(now.Year, now.Month, now.Day) * 86400 + now.Hour * 3600 + now.Minute * 60 + now.Second;
	*value = (uint64_t)s * NS_PER_S + now.Nanosecond;
	return true;
}

/* Reads SERVICE. Returns false if the firmware lacks it. */
static bool
read_value(struct readers *readers, enum firmware_service service, struct record_firmware *fixed, uint64_t *value)
{
	struct timestamp_properties properties = { 0, 0 };
	UINT64 period_fs = 0;

	switch (service) {
	case FIRMWARE_TIME:
		return read_time(fixed, value);
	case FIRMWARE_STAMP:
		if (!readers->stamp || EFI_ERROR(readers->stamp->get_properties(&properties)))
			return false;
		fixed->stated = properties.frequency_hz;
		fixed->range = properties.end_value;
		*value = readers->stamp->get_timestamp();
		return true;
	case FIRMWARE_COUNTER:
		return !EFI_ERROR(firmware_boot->GetNextMonotonicCount(value));
	default:
		if (!readers->cpu || EFI_ERROR(readers->cpu->get_timer_value(readers->cpu, 0, value, &period_fs)))
			return false;
		fixed->stated = period_fs;
		return true;
	}
}

/* Reads SERVICE once more. If the list is full, the reading replaces the latest one. */
static void
read_again(const struct time_services *services, struct readers *readers, enum firmware_service service)
{
	struct calls *calls = &readers->calls[service - FIRMWARE_TIME];
	struct record_called item = { .begin = services->tsc() };
	const struct record_called *last = calls->count ? &calls->items[calls->count - 1] : NULL;
	uint64_t begin = item.begin, value = 0;

	calls->fixed.service = (uint16_t)service;
	if (!read_value(readers, service, &calls->fixed, &value))
		return;
	item.value = value;
	item.end = services->tsc();
	if (service == FIRMWARE_TIME && last && last->value != item.value)
		item.begin = readers->same_tsc;
	if (service == FIRMWARE_TIME)
		readers->same_tsc = begin;
	if (calls->count < FIRMWARE_ITEMS_MAX)
		calls->count++;
	calls->items[calls->count - 1] = item;
}

/* Reads the time of day until its second changes or NS have passed. Keeps only the first and the last reading. */
static void
wait_for_second(const struct time_services *services, struct readers *readers, uint64_t ns)
{
	struct calls *calls = &readers->calls[0];
	uint64_t begin = services->tsc();
	unsigned polls = 0;

	read_again(services, readers, FIRMWARE_TIME);
	for (size_t from = calls->count; from && ns_since(services, begin) < ns && polls < POLLS_MAX; polls++) {
		read_again(services, readers, FIRMWARE_TIME);
		if (calls->items[calls->count - 1].value != calls->items[from - 1].value)
			return;
		calls->count = from;
	}
	if (calls->count)
		read_again(services, readers, FIRMWARE_TIME);
}

static void
read_all(const struct time_services *services, struct readers *readers)
{
	for (unsigned service = FIRMWARE_TIME; service < FIRMWARE_TIME + READINGS; service++)
		read_again(services, readers, (enum firmware_service)service);
}

static void
put_readings(const struct time_services *services, const struct readers *readers)
{
	for (size_t i = 0; i < READINGS; i++)
		if (readers->calls[i].count)
			put(services, &readers->calls[i]);
}

/* ---- timer events ---- */

struct events {
	const struct time_services *services;
	volatile uint64_t polled_tsc;
	uint64_t set_tsc;
	struct calls calls;
};

static VOID EFIAPI
take_event(EFI_EVENT, VOID *context)
{
	struct events *events = context;
	struct calls *calls = &events->calls;

	if (calls->count < calls->fixed.wanted)
		calls->items[calls->count++] =
			(struct record_called){ events->polled_tsc, events->services->tsc(), events->set_tsc };
}

/*
 * Waits until all wanted events came. Each poll calls CheckEvent() with an event that never occurs, because some
 * firmware (U-Boot) looks at its timers only within such a call.
 */
static void
wait_for_events(struct events *events, EFI_EVENT never)
{
	const struct time_services *services = events->services;
	volatile size_t *count = &events->calls.count;
	uint64_t ns = WAIT_FACTOR * events->calls.fixed.wanted * events->calls.fixed.asked_ns + WAIT_EXTRA_NS;

	for (unsigned polls = 0; polls < POLLS_MAX && *count < events->calls.fixed.wanted; polls++) {
		events->polled_tsc = services->tsc();
		if (scale_ns(services->scale, events->polled_tsc - events->set_tsc) > ns)
			return;
		firmware_boot->CheckEvent(never);
	}
}

static void
set_timer_and_wait(struct events *events, EFI_TIMER_DELAY type, uint32_t wanted)
{
	EFI_EVENT event, never;

	events->calls.fixed.wanted = wanted;
	if (EFI_ERROR(firmware_boot->CreateEvent(EVT_TIMER | EVT_NOTIFY_SIGNAL, TPL_CALLBACK, take_event, events,
						 &event)))
		return;
	if (!EFI_ERROR(firmware_boot->CreateEvent(EVT_TIMER, 0, NULL, NULL, &never))) {
		events->polled_tsc = events->set_tsc = events->services->tsc();
		if (!EFI_ERROR(firmware_boot->SetTimer(event, type, events->calls.fixed.asked_ns / 100)))
			wait_for_events(events, never);
		firmware_boot->CloseEvent(never);
	}
	firmware_boot->CloseEvent(event);
}

/* Returns readings of events with a request of TICKS periods of the firmware's tick. */
static struct events
prepare_events(const struct time_services *services, enum firmware_service service, uint64_t ticks)
{
	uint64_t stated_ns = tick_get_period_ns();
	bool is_usable = stated_ns >= TICK_MIN_NS && stated_ns <= TICK_MAX_NS;

	return (struct events){
		.services = services,
		.calls.fixed = { .service = (uint16_t)service, .tick = (uint16_t)services->tick, .stated = stated_ns,
				 .asked_ns = ticks * (is_usable ? stated_ns : PERIOD_NS) },
	};
}

static void
time_events(const struct time_services *services)
{
	struct events periodic = prepare_events(services, FIRMWARE_PERIODIC, 1);

	for (unsigned i = 0; i < (services->is_quick ? 1 : 2); i++) {
		struct events relative = prepare_events(services, FIRMWARE_RELATIVE, 2);

		set_timer_and_wait(&relative, TimerRelative, 1);
		put(services, &relative.calls);
	}
	set_timer_and_wait(&periodic, TimerPeriodic, services->is_quick ? 4 : 10);
	put(services, &periodic.calls);
}

/* ---- Stall() ---- */

static void
time_stalls(const struct time_services *services, struct readers *readers)
{
	static const struct {
		uint64_t us;
		uint8_t calls, quick_calls;
	} lengths[] = { { 10, 8, 8 }, { 100, 8, 8 }, { 1000, 8, 4 }, { 10000, 2, 0 }, { 100000, 1, 0 } };
	struct calls called = { .fixed = { .service = FIRMWARE_STALL, .asked_ns = lengths[0].us * NS_PER_US } };
	uint64_t begin = services->tsc();

	put(services, &called);
	services->before_stall(services->context);
	firmware_boot->Stall(0); /* an emulator translates the code at its first call */
	begin = services->tsc();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct calls calls = { .fixed = { .service = FIRMWARE_STALL, .asked_ns = lengths[i].us * NS_PER_US } };
		size_t count = services->is_quick ? lengths[i].quick_calls : lengths[i].calls;

		while (calls.count < count && ns_since(services, begin) < STALLS_NS) {
			struct record_called *item = &calls.items[calls.count++];

			item->begin = services->tsc();
			firmware_boot->Stall(lengths[i].us);
			item->end = services->tsc();
		}
		if (calls.count)
			put(services, &calls);
		read_all(services, readers);
	}
}

/* Adds the times of the FPDT, which is compared with the TSC at the start of baretick. */
static void
put_fpdt(const struct time_services *services)
{
	struct calls calls = { .fixed = { .service = FIRMWARE_FPDT } };
	const uint64_t *times_ns = services->fpdt->times_ns;

	for (; calls.count < sizeof(services->fpdt->times_ns) / sizeof(*times_ns); calls.count++)
		calls.items[calls.count] = (struct record_called){ firmware_start_tsc, 0, times_ns[calls.count] };
	if (services->fpdt->found)
		put(services, &calls);
}

static void
open_readers(struct readers *readers)
{
	__builtin_memset(readers, 0, sizeof(*readers));
	readers->stamp = firmware_find_protocol(NULL, &guid_timestamp);
	readers->cpu = firmware_find_protocol(NULL, &guid_cpu_arch);
}

void
time_services_find_second(const struct time_services *services)
{
	struct readers readers;
	uint64_t begin = services->tsc();

	open_readers(&readers);
	wait_for_second(services, &readers, services->is_quick ? 0 : SECOND_NS);
	put_readings(services, &readers);
	waited_ns = ns_since(services, begin);
}

void
time_services_measure(const struct time_services *services)
{
	struct readers readers;
	uint64_t begin = services->tsc(), taken_ns;

	open_readers(&readers);
	put_fpdt(services);
	read_all(services, &readers);
	time_events(services);
	read_all(services, &readers);
	time_stalls(services, &readers);
	taken_ns = waited_ns + ns_since(services, begin);
	if (!services->is_quick && taken_ns < ALL_NS)
		wait_for_second(services, &readers, ALL_NS - taken_ns);
	read_all(services, &readers);
	put_readings(services, &readers);
}
