/*
 * The RTC's three interrupts (Motorola's MC146818 data sheet). The periodic interrupt has rates from 2 to 8192 Hz. The
 * update interrupt comes at the end of each update. The alarm is set to match every second. All use IRQ 8, which stays
 * asserted until register C is read.
 */
#include "clocks/rtc_registers.h"
#include "timers/timers.h"

#define IRQ              8u
#define SECONDS_ALARM    0x01u
#define MINUTES_ALARM    0x03u
#define HOURS_ALARM      0x05u
#define DONT_CARE        0xc0u /* top bits of an alarm register; if both are set, any second, minute or hour matches */
#define B_AIE            0x20u
#define B_UIE            0x10u
#define B_ENABLES        (B_PIE | B_AIE | B_UIE)
#define C_IRQF           0x80u
#define CRYSTAL_HZ       32768u
#define SHIFT_MIN        2u    /* 8192 Hz: 4 periods of the 32,768 Hz crystal */
#define SHIFT_MAX        14u   /* 2 Hz: 16,384 periods of the crystal */
/* rate bits of register A for a period of 2^SHIFT crystal periods (data sheet, periodic rate table) */
#define SELECT(shift)    ((uint8_t)((shift) + 1))

/* values of driver->route_kind, which selects one of the three interrupts */
enum { RTC_PERIODIC, RTC_UPDATE, RTC_ALARM };
enum { FOUND_A, FOUND_B, FOUND_ALARM, FOUND_NMI, FOUND_INDEX };

static struct device
make_rtc_device(const struct timer *timer)
{
	return (struct device){ .address = timer->address, .saved = { [RTC_NMI] = timer->saved[FOUND_NMI],
								      [SAVED_INDEX] = timer->saved[FOUND_INDEX] } };
}

static void
find_rtc_ports(struct timer *timer)
{
	struct device device = { .opened = false };

	rtc_find_ports(&device);
	timer->address = device.address;
	timer->saved[FOUND_NMI] = device.saved[RTC_NMI];
	timer->saved[FOUND_INDEX] = device.saved[SAVED_INDEX];
}

static void
check_rtc_alarm_availability(const struct platform *platform, struct timer *timer)
{
	struct ioapic_line line = ioapic_get_line(&platform->acpi.madt, IRQ);
	struct device device = make_rtc_device(timer);
	uint8_t a = rtc_read_register(&device, REGISTER_A), b = rtc_read_register(&device, REGISTER_B);

	timer->state = CLOCK_PRESENT;
	if ((a & b & rtc_read_register(&device, REGISTER_D)) == RTC_UNREADABLE)
		timer_set_unusable(timer, CLOCK_ABSENT, "All registers read FFh: there is no RTC at port 70h.");
	else if ((a & A_DIVIDER) != A_DIVIDER_32768_HZ || b & B_SET)
		timer_set_unusable(timer, CLOCK_STUCK, "The RTC is halted, or its divider is held in reset.");
	else if (b & B_ENABLES)
		timer_set_unusable(timer, CLOCK_DISABLED, "In use by the firmware (register B): not tested.");
	else
		timer_find_interrupt_line(platform, timer, line);
	rtc_restore_index(&device);
}

static void
rtc_timer_open(const struct platform *platform, struct timer *timer)
{
	timer->route = (struct timer_route){ .kind = timer->driver->by_pic ? "pic" : "ioapic" };
	timer->hz = (struct rate){ timer->driver->route_kind == RTC_PERIODIC ? CRYSTAL_HZ : 1, 1 };
	timer->ticks_max = timer->driver->route_kind == RTC_PERIODIC ? 1u << SHIFT_MAX : 1;
	timer->own_phase = true;
	if (platform->acpi.fadt.found && platform->acpi.fadt.cmos_rtc_absent) {
		timer_set_unusable(timer, CLOCK_ABSENT, "The FADT lists no RTC (CMOS RTC not present).");
		return;
	}
	uint64_t interrupts = hw_interrupts_mask();
	find_rtc_ports(timer);
	check_rtc_alarm_availability(platform, timer);
	hw_interrupts_restore(interrupts);
}

static void
write_alarm(const struct device *device, uint32_t alarm)
{
	rtc_write_register(device, SECONDS_ALARM, (uint8_t)alarm);
	rtc_write_register(device, MINUTES_ALARM, (uint8_t)(alarm >> 8));
	rtc_write_register(device, HOURS_ALARM, (uint8_t)(alarm >> 16));
}

uint32_t
timer_get_rtc_alarm(const struct device *device)
{
	return rtc_read_register(device, SECONDS_ALARM) | (uint32_t)rtc_read_register(device, MINUTES_ALARM) << 8 |
	       (uint32_t)rtc_read_register(device, HOURS_ALARM) << 16;
}

static void
rtc_timer_set_up(struct timer *timer, uint32_t vector)
{
	find_rtc_ports(timer);
	struct device device = make_rtc_device(timer);
	timer->saved[FOUND_A] = rtc_read_register(&device, REGISTER_A) & (uint8_t)~A_UIP;
	timer->saved[FOUND_B] = rtc_read_register(&device, REGISTER_B);
	timer->saved[FOUND_ALARM] = timer_get_rtc_alarm(&device);
	(void)rtc_read_register(&device, REGISTER_C);
	timer_route_interrupt_line(timer, vector);
}

static uint64_t
rtc_timer_get_nearest_period(const struct timer *, uint64_t ticks)
{
	unsigned shift = SHIFT_MIN;

	while (shift < SHIFT_MAX && UINT64_C(3) << shift <= 2 * ticks)
		shift++;
	return UINT64_C(1) << shift;
}

static uint64_t
rtc_timer_arm(struct timer *timer, uint64_t ticks, bool)
{
	static const uint8_t enables[] = { [RTC_PERIODIC] = B_PIE, [RTC_UPDATE] = B_UIE, [RTC_ALARM] = B_AIE };
	struct device device = make_rtc_device(timer);
	unsigned shift = SHIFT_MIN;

	while (UINT64_C(1) << shift < ticks && shift < SHIFT_MAX)
		shift++;
	if (timer->driver->route_kind == RTC_PERIODIC)
		rtc_write_register(&device, REGISTER_A, A_DIVIDER_32768_HZ | SELECT(shift));
	else if (timer->driver->route_kind == RTC_ALARM)
		write_alarm(&device, DONT_CARE | DONT_CARE << 8 | DONT_CARE << 16);
	(void)rtc_read_register(&device, REGISTER_C);
	rtc_write_register(&device, REGISTER_B, (uint8_t)timer->saved[FOUND_B] | enables[timer->driver->route_kind]);
	return 0;
}

static void
rtc_timer_acknowledge(const struct timer *timer)
{
	hw_out8((uint16_t)timer->address, (uint8_t)timer->saved[FOUND_NMI] | REGISTER_C);
	(void)hw_in8((uint16_t)timer->address + RTC_DATA);
	timer_send_eoi(timer);
}

/*
 * Returns true if the timer has expired and no handler has run since. The flag IRQF in register C is then still 1,
 * because only the handler clears it.
 */
static bool
rtc_timer_has_expired(const struct timer *timer)
{
	struct device device = make_rtc_device(timer);

	return rtc_read_register(&device, REGISTER_C) & C_IRQF;
}

/*
 * Returns the RTC's seconds instead of a number of ticks, because an update interrupt is due each time that the seconds
 * change.
 */
static uint64_t
rtc_timer_get_ticks_left(const struct timer *timer)
{
	struct device device = make_rtc_device(timer);
	uint64_t interrupts = hw_interrupts_mask(), seconds;

	seconds = rtc_read_register(&device, REGISTER_SECONDS);
	rtc_restore_index(&device);
	hw_interrupts_restore(interrupts);
	return seconds;
}

static void
rtc_timer_disarm(struct timer *timer)
{
	struct device device = make_rtc_device(timer);

	rtc_write_register(&device, REGISTER_B, (uint8_t)timer->saved[FOUND_B]);
	(void)rtc_read_register(&device, REGISTER_C);
}

static void
rtc_timer_restore(struct timer *timer)
{
	struct device device = make_rtc_device(timer);

	rtc_timer_disarm(timer);
	timer_restore_interrupt_line(timer);
	rtc_write_register(&device, REGISTER_A, (uint8_t)timer->saved[FOUND_A]);
	if (timer->driver->route_kind == RTC_ALARM)
		write_alarm(&device, (uint32_t)timer->saved[FOUND_ALARM]);
	rtc_restore_index(&device);
}

#define RTC_DRIVER(name, text, ...)                                                                                 \
	{                                                                                                           \
		.id = name, .title = text, __VA_ARGS__, .open = rtc_timer_open, .set_up = rtc_timer_set_up,         \
		.arm = rtc_timer_arm, .expired = rtc_timer_has_expired, .get_ticks_left = rtc_timer_get_ticks_left, \
		.acknowledge = rtc_timer_acknowledge, .disarm = rtc_timer_disarm, .restore = rtc_timer_restore,     \
	}

const struct timer_driver timer_rtc[TIMER_RTCS] = {
	RTC_DRIVER("rtc", "RTC, periodic", .kind = TIMER_RATES, .route_kind = RTC_PERIODIC,
		   .fit = rtc_timer_get_nearest_period),
	RTC_DRIVER("rtc_update", "RTC, at the end of an update", .kind = TIMER_AWAITED, .route_kind = RTC_UPDATE),
	RTC_DRIVER("rtc_alarm", "RTC, by an alarm each second", .kind = TIMER_AWAITED, .route_kind = RTC_ALARM),
	RTC_DRIVER("rtc_pic", "RTC, periodic, by the second PIC", .kind = TIMER_RATES, .route_kind = RTC_PERIODIC,
		   .fit = rtc_timer_get_nearest_period, .secondary = true, .by_pic = true),
};
