/*
 * The firmware's own time: a healthy firmware has no finding, and each fault is found by its rule, for the service that
 * has the fault and no other. The simulated firmware looks at its timers at each tick, as EDK II does.
 */
#include "test.h"
#include "findings.h"
#include "firmware_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "judge/judge.h"
#include "uefi/firmware/time_services.h"

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)
#define TICK_NS   (10 * NS_PER_MS)
#define TSC_HZ    UINT64_C(1000000000) /* so that a tick of the TSC is a nanosecond */
#define READ_NS   200
#define CALL_NS   1000 /* duration of a call of a service */
#define START_NS  (3 * NS_PER_S) /* from the reset to the start of baretick */
#define STAMP_HZ  UINT64_C(3579545)
#define STAMP_RANGE (1u << 22)
#define EARLIER_S 5  /* a time that went back by so many seconds */
#define PREEMPTED_NS (7 * NS_PER_MS)
#define GAP_NS (4750 * NS_PER_MS) /* between the two times that the firmware is called */
#define RECORD_BYTES 65536

/* The firmware, its faults, and the host. */
static struct {
	uint64_t ns;            /* time since the reset */
	/* the firmware's second, in 1/1000 s; 1000 without a fault */
	uint64_t stall_permille, tick_permille, time_permille, stamp_permille, cpu_permille;
	uint64_t early_ns;      /* Stall() returns so much earlier */
	uint64_t late_ns;       /* Stall() returns so much later */
	uint64_t poll_ns;       /* duration of a reading in the loop of Stall(); 0 stands for 1000 */
	bool is_dead;           /* timer events never come */
	bool goes_back;         /* each fifth reading of each counter is lower */
	bool hangs;             /* Stall() never returns */
	bool has_no_period;     /* the firmware does not state the period of its tick */
	enum firmware_tick tick; /* the device whose interrupt is enabled */
	uint64_t preempt_every_ns; /* time between two stops of the guest by its host, of 7 ms each, or 0 if there are none */
	uint64_t preempted_ns;  /* time of the latest stop */
	uint64_t calibration_ns; /* duration of the first GetTimerValue() */
	unsigned readings, events, stalls, saves;
	EFI_EVENT_NOTIFY notify;
	void *argument;
	uint64_t armed_ns, period_ns; /* time of the next event by the firmware's clock; 0 if none */
	uint64_t ticks;
} sim;

static struct report *report;
static uint8_t record_bytes[RECORD_BYTES];
static struct record record;
static struct acpi_fpdt fpdt;
static struct scale scale;

/* Lets the time pass by NS, with the firmware's ticks and the host's stops. */
static void
pass(uint64_t ns)
{
	uint64_t real_tick_ns = TICK_NS * sim.tick_permille / 1000;

	sim.ns += ns;
	if (sim.preempt_every_ns && sim.ns - sim.preempted_ns >= sim.preempt_every_ns) {
		sim.ns += PREEMPTED_NS;
		sim.preempted_ns = sim.ns;
	}
	if ((sim.ns - START_NS) / real_tick_ns == sim.ticks)
		return;
	sim.ticks = (sim.ns - START_NS) / real_tick_ns;
	if (sim.is_dead || !sim.armed_ns || sim.ticks * TICK_NS < sim.armed_ns)
		return;
	sim.armed_ns = sim.period_ns ? sim.armed_ns + sim.period_ns : 0;
	sim.notify(&sim, sim.argument);
}

static uint64_t
tsc(void)
{
	pass(READ_NS);
	return sim.ns;
}

static uint64_t
firmware_ns(uint64_t permille)
{
	return sim.ns * 1000 / permille;
}

/* Returns VALUE, or a lower value in each fifth reading of a firmware that goes back. */
static uint64_t
step_back(uint64_t value, uint64_t by)
{
	return sim.goes_back && ++sim.readings % 5 == 0 ? value - by : value;
}

static EFI_STATUS EFIAPI
stall(UINTN us)
{
	uint64_t ns = us * 1000 * sim.stall_permille / 1000, end_ns = sim.ns + CALL_NS;

	sim.stalls++;
	if (sim.hangs && us)
		ns = 2 * NS_PER_S; /* as far as a test can go */
	end_ns += (ns > sim.early_ns ? ns - sim.early_ns : 0) + sim.late_ns;
	while (sim.ns < end_ns)
		pass(sim.poll_ns ? sim.poll_ns : end_ns - sim.ns < 1000 ? end_ns - sim.ns : 1000);
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
create_event(UINT32 type, EFI_TPL tpl, EFI_EVENT_NOTIFY notify, void *context, EFI_EVENT *event)
{
	if (notify) {
		sim.notify = notify;
		sim.argument = context;
	}
	*event = &sim;
	sim.events++;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
close_event(EFI_EVENT event)
{
	if (--sim.events == 0)
		sim.armed_ns = 0;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
check_event(EFI_EVENT event)
{
	pass(CALL_NS);
	return EFI_NOT_READY;
}

static EFI_STATUS EFIAPI
set_timer(EFI_EVENT event, EFI_TIMER_DELAY type, UINT64 time_100ns)
{
	sim.armed_ns = sim.ticks * TICK_NS + time_100ns * 100;
	sim.period_ns = type == TimerPeriodic ? time_100ns * 100 : 0;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
get_period(void *timer, UINT64 *period_100ns)
{
	*period_100ns = TICK_NS / 100;
	return sim.has_no_period ? EFI_UNSUPPORTED : EFI_SUCCESS;
}

static struct {
	void *register_handler, *set_period;
	EFI_STATUS (EFIAPI *get_period)(void *timer, UINT64 *period_100ns);
} timer = { NULL, NULL, get_period };

static EFI_STATUS EFIAPI
get_time(EFI_TIME *now, EFI_TIME_CAPABILITIES *able)
{
	/* two seconds before the end of a leap day, so that the date changes during the test */
	uint64_t s = 86398 + step_back(firmware_ns(sim.time_permille) / NS_PER_S, EARLIER_S);

	pass(CALL_NS);
	*now = (EFI_TIME){ .Year = 2028, .Month = s < 86400 ? 2 : 3, .Day = s < 86400 ? 29 : 1,
			   .Hour = s % 86400 / 3600,
			   .Minute = s / 60 % 60, .Second = s % 60 };
	if (able)
		*able = (EFI_TIME_CAPABILITIES){ .Resolution = 1, .Accuracy = 50000000 };
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
get_next_monotonic_count(UINT64 *count)
{
	static uint64_t last;

	*count = step_back(++last, 3);
	return EFI_SUCCESS;
}

/* The counter has 22 bits, so that it wraps during the test. */
static UINT64 EFIAPI
get_timestamp(VOID)
{
	return step_back(firmware_ns(sim.stamp_permille) * STAMP_HZ / NS_PER_S, 1000) % STAMP_RANGE;
}

static EFI_STATUS EFIAPI
get_properties(UINT64 *properties)
{
	properties[0] = STAMP_HZ;
	properties[1] = STAMP_RANGE - 1;
	return EFI_SUCCESS;
}

static struct {
	UINT64 (EFIAPI *timestamp)(VOID);
	EFI_STATUS (EFIAPI *properties)(UINT64 *properties);
} stamp = { get_timestamp, get_properties };

static EFI_STATUS EFIAPI
get_timer_value(void *cpu, UINT32 index, UINT64 *value, UINT64 *period_fs)
{
	*value = step_back(sim.ns, 100 * NS_PER_MS);
	*period_fs = 1000000 * 1000 / sim.cpu_permille;
	pass(sim.calibration_ns);
	sim.calibration_ns = 0;
	return EFI_SUCCESS;
}

static struct {
	void *other[6];
	EFI_STATUS (EFIAPI *get_timer_value)(void *cpu, UINT32 index, UINT64 *value, UINT64 *period_fs);
} cpu = { .get_timer_value = get_timer_value };

static void
install(uint32_t first, uint16_t second, uint16_t third, const uint8_t rest[8], void *interface)
{
	EFI_GUID guid = { first, second, third, { 0 } };

	memcpy(guid.Data4, rest, 8);
	firmware_sim_install_protocol(firmware_sim_handle(), &guid, interface);
}

static void
begin(void)
{
	static const uint8_t arch[8] = { 0xbc, 0xe7, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 };
	static const uint8_t of_stamp[8] = { 0xba, 0x65, 0x62, 0xb9, 0x23, 0x6e, 0x54, 0x95 };

	memset(&sim, 0, sizeof(sim));
	sim.stall_permille = sim.tick_permille = sim.time_permille = sim.stamp_permille = sim.cpu_permille = 1000;
	sim.ns = sim.preempted_ns = START_NS;
	sim.tick = FIRMWARE_TICK_LAPIC;
	firmware_sim_reset();
	firmware_boot->Stall = stall;
	firmware_boot->CreateEvent = create_event;
	firmware_boot->CloseEvent = close_event;
	firmware_boot->CheckEvent = check_event;
	firmware_boot->SetTimer = set_timer;
	firmware_boot->GetNextMonotonicCount = get_next_monotonic_count;
	firmware_system->RuntimeServices->GetTime = get_time;
	firmware_start_tsc = START_NS;
	install(0x26baccb1, 0x6f42, 0x11d4, arch, &cpu);
	install(0x26baccb3, 0x6f42, 0x11d4, arch, &timer);
	install(0xafbfde41, 0x2e6e, 0x4262, of_stamp, &stamp);
	fpdt = (struct acpi_fpdt){ true, { 100, 2 * NS_PER_S, START_NS, 0, 0 } };
	report = calloc(1, sizeof(*report));
	report->facts.cores = calloc(1, sizeof(*report->facts.cores));
	report->figures.cores = calloc(1, sizeof(*report->figures.cores));
	report->outcomes.sync.cores = calloc(1, sizeof(*report->outcomes.sync.cores));
	report->facts.core_count = 1;
	report->facts.cores[0].started = report->facts.cores[0].facts_known = true;
	report->facts.cores[0].facts.has_tsc_adjust = true;
	options_set_defaults(&report->facts.options);
	report->figures.tsc = (struct rate){ TSC_HZ, 1 };
	report->figures.tsc_within = (struct rate_interval){ true, TSC_HZ * 1000000, TSC_HZ * 1000000,
							     TSC_HZ * 1000000 };
	scale_init(&scale, report->figures.tsc);
}

static void
end(void)
{
	free(report->facts.cores);
	free(report->figures.cores);
	free(report->outcomes.sync.cores);
	free(report);
}

TEST_FIXTURE(begin, end);

static void
restart(void)
{
	end();
	begin();
}

static void
count_save(void *context)
{
	assert_ptr_equal(context, &sim);
	assert_int_equal(sim.stalls, 0);
	sim.saves++;
}

static struct time_services
services(void)
{
	return (struct time_services){
		.tsc = tsc, .scale = &scale, .record = &record, .tick = sim.tick, .fpdt = &fpdt,
		.is_quick = report->facts.options.profile == PROFILE_QUICK, .before_stall = count_save, .context = &sim,
	};
}

static void
judge_record(void)
{
	record_end(&record);
	analysis_calculate_firmware(record_bytes, record.length, report, &report->figures);
	judge_report(report, &report->outcomes);
}

/* Calls the firmware as a run does, with GAP_NS between the two times, and judges it. Returns the duration in ns. */
static uint64_t
run_with_gap(uint64_t gap_ns)
{
	struct time_services all = services();
	uint64_t begin_ns = sim.ns, taken_ns;

	record_begin(&record, record_bytes, sizeof(record_bytes));
	time_services_find_second(&all);
	taken_ns = sim.ns - begin_ns;
	pass(gap_ns);
	begin_ns = sim.ns;
	time_services_measure(&all);
	assert_int_equal(record.dropped, 0);
	assert_int_equal(sim.events, 0);
	judge_record();
	return taken_ns + sim.ns - begin_ns;
}

static uint64_t
run(void)
{
	return run_with_gap(GAP_NS);
}

static const struct behaviour *
row_of(const char *rule, const char *service)
{
	return find_row(report, rule, service);
}

static enum outcome
outcome_of(const char *rule, const char *service)
{
	return find_outcome(report, rule, service);
}

/* Fails unless the findings are exactly the words of WANTED, each a rule and a service. */
static void
assert_findings(const char *wanted)
{
	char found[1024] = "";

	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s/%s", i ? " " : "",
			 report->outcomes.findings[i].rule, report->outcomes.findings[i].clock);
	print_findings(report);
	assert_string_equal(found, wanted);
}

TEST(a_healthy_firmware_passes_all_rules)
{
	static const char *const services_with_rate[] = { "efi_stall", "efi_timer", "efi_time", "efi_stamp", "efi_cpu",
							  "fpdt" };
	static const char *const services_that_count[] = { "efi_time", "efi_stamp", "efi_counter", "efi_cpu" };
	uint64_t ns = run();

	assert_findings("");
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(outcome_of("efi-rate", services_with_rate[i]), OUTCOME_PASSED);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(outcome_of("efi-back", services_that_count[i]), OUTCOME_PASSED);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(outcome_of("efi-short", services_with_rate[i]), OUTCOME_PASSED);
		assert_int_equal(outcome_of("efi-late", services_with_rate[i]), OUTCOME_PASSED);
	}
	assert_int_equal(report->outcomes.behaviours.count, 14);
	assert_int_equal(sim.saves, 1);
	assert_true(ns < 1500 * NS_PER_MS);
}

TEST(a_run_takes_at_most_one_and_a_half_seconds_wherever_the_second_changes)
{
	unsigned passed = 0;

	for (uint64_t ms = 0; ms < 1000; ms += 100) {
		restart();
		sim.ns += ms * 977 * 1000;
		assert_true(run_with_gap(GAP_NS + ms * 3 * NS_PER_MS) < 1500 * NS_PER_MS);
		assert_findings("");
		passed += outcome_of("efi-rate", "efi_time") == OUTCOME_PASSED;
	}
	print_message("the length of the second is known in %u of 10 runs\n", passed);
	assert_true(passed > 5);
}

TEST(a_quick_run_takes_less_than_100_ms_and_waits_for_no_second)
{
	report->facts.options.profile = PROFILE_QUICK;
	assert_true(run() < 100 * NS_PER_MS);
	assert_findings("");
	assert_int_equal(outcome_of("efi-rate", "efi_time"), OUTCOME_NOT_CHECKED);
	assert_int_equal(outcome_of("efi-rate", "efi_stall"), OUTCOME_PASSED);
	assert_int_equal(outcome_of("efi-rate", "efi_timer"), OUTCOME_PASSED);
}

/* Returns the device that is said to drive the tick, or NULL. */
static const char *
device_of_tick(void)
{
	for (size_t i = 0; i < report->figures.firmware_count; i++)
		if (report->figures.firmware[i].service == FIRMWARE_PERIODIC)
			return report_firmware_ticks[report->figures.firmware[i].tick];
	fail_msg("no row of the periodic timer");
	return NULL;
}

/*
 * The first item of each entry has no end, as an event that did not come. The next reading is then not known to have
 * changed within its bracket, so a second may be up to a second longer or shorter in two seconds.
 */
TEST(a_reading_after_an_item_without_an_end_is_known_to_a_second_only)
{
	const struct record_firmware fixed = { .service = FIRMWARE_TIME };

	record_begin(&record, record_bytes, sizeof(record_bytes));
	for (uint64_t s = 10; s <= 12; s += 2) {
		const struct record_called items[] = { { s * NS_PER_S, 0, 0 },
						       { s * NS_PER_S, s * NS_PER_S + 1000, s * NS_PER_S } };

		record_put(&record, RECORD_FIRMWARE, &fixed, items, 2);
	}
	judge_record();
	assert_int_equal(report->figures.firmware[0].count, 2);
	assert_true(report->figures.firmware[0].second.low < -300000000);
	assert_true(report->figures.firmware[0].second.high > 900000000);
}

TEST(the_pit_drives_the_tick_of_a_firmware_that_states_a_period)
{
	sim.tick = FIRMWARE_TICK_PIT;
	run();
	assert_string_equal(device_of_tick(), "pit");
}

/* U-Boot polls its timers, and leaves the PIT's interrupt enabled. */
TEST(an_enabled_interrupt_of_the_pit_alone_shows_no_tick)
{
	sim.tick = FIRMWARE_TICK_PIT;
	sim.has_no_period = true;
	run();
	assert_null(device_of_tick());
}

TEST(firmware_whose_second_lasts_half_a_second_is_named_for_each_service)
{
	sim.stall_permille = sim.tick_permille = sim.time_permille = sim.stamp_permille = sim.cpu_permille = 500;
	fpdt.times_ns[2] = 2 * START_NS;
	run();
	assert_findings("efi-short/efi_stall efi-rate/efi_time efi-rate/fpdt efi-rate/efi_timer efi-rate/efi_stall "
			"efi-rate/efi_stamp efi-rate/efi_cpu");
	assert_string_equal(row_of("efi-rate", "efi_time")->text,
			    "By the firmware's GetTime(), a second lasts 499.79 to 500.21 ms.");
	assert_string_equal(row_of("efi-rate", "efi_timer")->text,
			    "By the firmware's timer tick, a second lasts 499.76 to 500.24 ms.");
}

/* Lets a check of the RTC fail by FIGURE. */
static void
break_rule_of_rtc(const char *rule, int64_t figure)
{
	struct behaviour *row = behaviour_add_row(&report->facts.checks, rule, "rtc");

	row->checked = row->failed = true;
	row->low = row->high = figure;
}

/*
 * The firmware may read the time of day from the RTC. An RTC that is only slow to read still has the right time, and
 * one that is off by 0.1 % does not explain a second of half the length.
 */
TEST(a_wrong_time_of_day_is_excused_by_an_rtc_that_is_as_wrong_but_not_by_a_slow_one)
{
	break_rule_of_rtc("clock-slow", 1);
	sim.time_permille = 500;
	run();
	assert_findings("clock-slow/rtc efi-rate/efi_time");
	restart();
	break_rule_of_rtc("rate-wrong", 1000);
	sim.time_permille = 500;
	run();
	assert_findings("rate-wrong/rtc efi-rate/efi_time");
	restart();
	break_rule_of_rtc("rate-wrong", 1000000);
	sim.time_permille = 500;
	run();
	assert_findings("rate-wrong/rtc");
	restart();
	break_rule_of_rtc("rate-wrong", -500000);
	sim.time_permille = 2000;
	run();
	assert_findings("rate-wrong/rtc");
	assert_int_equal(outcome_of("efi-rate", "efi_time"), OUTCOME_NOT_DETERMINED);
}

/* A device check of the RTC is a row before the firmware is judged, and becomes a finding after it. */
TEST(a_wrong_time_of_day_is_excused_by_a_failed_check_of_the_rtc_but_not_by_a_check_that_it_passed)
{
	for (int fails = 0; fails < 2; fails++) {
		struct behaviour *row = behaviour_add_row(&report->facts.checks, "rtc-seconds", "rtc");

		row->checked = true;
		row->failed = fails;
		sim.time_permille = 500;
		run();
		assert_findings(fails ? "rtc-seconds/rtc" : "efi-rate/efi_time");
		assert_int_equal(outcome_of("efi-rate", "efi_time"), fails ? OUTCOME_NOT_DETERMINED : OUTCOME_FAILED);
		restart();
	}
}

TEST(a_stall_that_is_short_by_a_factor_of_5_is_named_and_no_other_service)
{
	sim.stall_permille = 200;
	run();
	assert_findings("efi-short/efi_stall efi-rate/efi_stall");
	assert_string_equal(row_of("efi-short", "efi_stall")->text,
			    "The firmware's Stall() of 100 ms came after 20.0 ms at the earliest.");
}

TEST(a_fault_of_one_service_is_found_by_its_rule_for_this_service_only)
{
	static const struct {
		const char *name, *finding;
		uint64_t *where, value;
	} faults[] = {
		{ "Stall() returns 20 us early, with a right second", "efi-short/efi_stall", &sim.early_ns, 20000 },
		{ "Stall() returns 55 ms late, with a right second", "efi-late/efi_stall", &sim.late_ns, 55 * NS_PER_MS },
		{ "slow tick", "efi-rate/efi_timer", &sim.tick_permille, 3000 },
		{ "time of day that never advances", "efi-rate/efi_time", &sim.time_permille, 1000000000 },
		{ "wrong rate of the time stamps", "efi-rate/efi_stamp", &sim.stamp_permille, 1050 },
		{ "start in the FPDT later than the TSC allows", "efi-rate/fpdt", &fpdt.times_ns[2], 17 * 60 * NS_PER_S },
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		print_message("%s\n", faults[i].name);
		restart();
		*faults[i].where = faults[i].value;
		run();
		assert_findings(faults[i].finding);
	}
}

TEST(slow_firmware_is_named_and_its_measurement_ends)
{
	sim.stall_permille = 20000;
	assert_true(run() < 4 * NS_PER_S);
	assert_findings("efi-rate/efi_stall");
}

TEST(ticks_of_a_guest_that_its_host_delayed_prove_no_fault)
{
	strcpy(report->facts.machine.hypervisor, "TCGTCGTCGTCG");
	sim.tick_permille = 3000;
	run();
	assert_findings("");
	assert_int_equal(outcome_of("efi-rate", "efi_timer"), OUTCOME_NOT_DETERMINED);
}

/*
 * OVMF in QEMU with a busy host: the first tick of 10 ms was 11.7 ms late, and the second came in time. So an event of
 * 20 ms came after 8.29 ms.
 */
TEST(an_event_after_a_delayed_tick_is_short_only_without_a_host)
{
	const struct record_firmware asked = { .service = FIRMWARE_RELATIVE, .tick = FIRMWARE_TICK_LAPIC, .wanted = 1,
					       .asked_ns = 20 * NS_PER_MS, .stated = 10 * NS_PER_MS };
	const struct record_called event = { .begin = 1000, .value = 1000, .end = 1000 + TSC_HZ / 100000 * 829 };

	for (int guest = 0; guest < 2; guest++) {
		restart();
		strcpy(report->facts.machine.hypervisor, guest ? "TCGTCGTCGTCG" : "");
		record_begin(&record, record_bytes, sizeof(record_bytes));
		record_put(&record, RECORD_FIRMWARE, &asked, &event, 1);
		judge_record();
		assert_findings(guest ? "" : "efi-short/efi_timer");
		assert_int_equal(outcome_of("efi-short", "efi_timer"), guest ? OUTCOME_NOT_DETERMINED : OUTCOME_FAILED);
	}
}

TEST(timer_events_that_never_come_are_named_and_the_wait_ends)
{
	sim.is_dead = true;
	assert_true(run() < 3 * NS_PER_S);
	assert_findings("efi-late/efi_timer");
	assert_int_equal(outcome_of("efi-rate", "efi_timer"), OUTCOME_NOT_DETERMINED);
}

TEST(each_counter_that_goes_back_is_named)
{
	sim.goes_back = true;
	run();
	assert_findings("efi-back/efi_time efi-back/efi_stamp efi-back/efi_counter efi-back/efi_cpu");
}

TEST(a_stall_that_never_returns_is_in_the_checkpoint)
{
	const struct record_firmware called = { .service = FIRMWARE_STALL, .asked_ns = 10000 };

	record_begin(&record, record_bytes, sizeof(record_bytes));
	record_put(&record, RECORD_FIRMWARE, &called, NULL, 0);
	judge_record();
	assert_findings("");
	assert_int_equal(outcome_of("efi-late", "efi_stall"), OUTCOME_NOT_DETERMINED);
	assert_string_equal(row_of("efi-late", "efi_stall")->text,
			    "The firmware's Stall() of 10.0 us was called, and had not returned when this was saved.");
}

TEST(a_host_that_stops_its_guest_again_and_again_gives_no_finding)
{
	strcpy(report->facts.machine.hypervisor, "KVMKVMKVM");
	for (uint64_t ms = 1; ms < 30; ms += 4) {
		restart();
		strcpy(report->facts.machine.hypervisor, "KVMKVMKVM");
		sim.preempt_every_ns = ms * NS_PER_MS + ms * 1237;
		run();
		assert_findings("");
	}
}

/* In a guest of a busy host a reading of the PM timer may take 257 us. Stall() then ends later by up to one reading. */
TEST(a_stall_that_polls_a_slow_clock_has_no_wrong_rate)
{
	for (uint64_t permille = 1000; permille <= 5000; permille += 4000) {
		restart();
		report->facts.options.profile = PROFILE_QUICK;
		sim.poll_ns = 257000;
		sim.stall_permille = permille;
		run();
		assert_findings(permille == 1000 ? "" : "efi-rate/efi_stall");
		assert_int_equal(outcome_of("efi-rate", "efi_stall"), permille == 1000 ? OUTCOME_NOT_DETERMINED : OUTCOME_FAILED);
	}
}

TEST(a_period_that_the_firmware_measures_while_the_host_may_stop_it_is_not_determined)
{
	sim.cpu_permille = 1200;
	sim.calibration_ns = 120000;
	strcpy(report->facts.machine.hypervisor, "KVMKVMKVM");
	run();
	assert_findings("");
	assert_int_equal(outcome_of("efi-rate", "efi_cpu"), OUTCOME_NOT_DETERMINED);
}

TEST(a_tsc_that_counted_before_the_reset_or_was_set_proves_nothing_about_the_table)
{
	fpdt.times_ns[2] = START_NS / 2;
	run();
	assert_findings("");
	assert_int_equal(outcome_of("efi-rate", "fpdt"), OUTCOME_NOT_CHECKED);
	restart();
	fpdt.times_ns[2] = 2 * START_NS;
	report->facts.cores[0].facts.tsc_adjust = -5;
	run();
	assert_int_equal(outcome_of("efi-rate", "fpdt"), OUTCOME_NOT_DETERMINED);
}
