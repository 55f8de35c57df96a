/*
 * Tests every rule of the catalogue with a fault that breaks it. The fault is switched on in a whole run on the
 * simulated machine. This rule, and no other, must find the fault and name the faulty clock. The same run without the
 * fault must be clean. A rule without a fault in the table fails the test.
 *
 * With BARETICK_REPORTS=FOLDER each run writes its report to FOLDER, for tests/figures.py. These reports are the same
 * each time.
 */
#include <stdio.h>

#include "test.h"
#include "judge/judge.h"
#include "bench.h"
#include "findings.h"
#include "render/json/json.h"
#include "sim.h"
#include "sim_internal.h"
#include "sim_sleep.h"
#include "sim_paravirtual.h"
#include "base/text.h"
#include "threads.h"

#define GIB_4          (UINT64_C(1) << 32)
#define ROLLOVER       (UINT64_C(1) << 32)
#define PM_RANGE_24    (UINT64_C(1) << 24)
#define SICK_CORE      2
#define OTHER_CORE     1
#define FAR_TICKS      1000000 /* longer than any round trip between cores, in ticks */
#define TSC_STEP_PS    (45 * SIM_PS_PER_MS) /* time from the start of the latency measurements to a step of the TSC */
/* a step of the HPET: the batch of its latency measurement, and the time from the start of this batch */
#define HPET_BATCH     5
#define HPET_STEP_PS   (20 * SIM_PS_PER_US)
#define DURATION_NS    10000000 /* duration of a clock's latency measurement in ns */
#define HPET_TICKS_PER_MS 10000
/* rate error that shows that the TSC does not share the chip set's crystal */
#define TSC_FAST_PPM   40
#define MSR_TSC_ADJUST 0x3bu
#define MSR_PKG_CST_CONFIG 0xe2u

enum stage { AT_START, AFTER_RATES, WHILE_CONTENDED, IN_A_SOAK, BEFORE_CHECKS };

struct machine { /* a healthy machine, and the table of faults that are tried on it */
	const char *name;
	size_t cores;
	void (*arrange)(struct bench *bench); /* changes the machine before its clocks are opened; may be NULL */
	void (*before_checks)(void);          /* changes the machine before the devices' checks; may be NULL */
};

struct ailment {
	/* the rule that must find the fault, and the clock that must be named, or NULL for none */
	const char *rule, *clock;
	const char *name;
	const struct machine *machine;
	enum stage stage; /* stage of the run in which the fault starts */
	void (*switch_on)(struct bench *bench);
};

/* State for the callback that runs at the start of each phase. */
static struct {
	struct bench *bench;
	const struct machine *machine;
	const struct ailment *fault;
	bool is_overlapping; /* see let_reads_overlap() */
	bool is_measured; /* true once the first measurement pass over pairs of cores has started */
} stage_of;


static void
claim_no_tsc_rate_and_have_two_clocks(struct bench *bench)
{
	sim_cpuid_set(0, 0, (struct hw_cpuid){ 0xd, 0x756e6547, 0x6c65746e, 0x49656e69 });
	sim.pit.absent = sim.pit.port_61_absent = sim.rtc.absent = true;
	sim_describe_platform(&bench->platform);
}

static void
be_a_busy_guest(struct bench *bench)
{
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0x000906ea, 0, 0x80200000, 0x00000210 });
	sim_cpuid_set(0x40000000, 0, (struct hw_cpuid){ 0x40000001, 0x54474354, 0x43544743, 0x47435447 }); /* TCG */
	sim.preempt_every = 20000;
	sim.preempt_ps = 7 * SIM_PS_PER_MS;
	sim_describe_platform(&bench->platform);
}

static void
be_a_guest_with_a_pm_timer(struct bench *bench)
{
	static const char *const clocks[] = { "tsc", "acpi_pm", "hpet", NULL };

	be_a_busy_guest(bench);
	sim.preempt_every = 0;
	bench->clocks = clocks;
}

static void
allow_deep_c_states(struct bench *bench)
{
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0x000906ea, 0, 0x00200008, 0x00000210 }); /* MONITOR */
	sim_cpuid_set(5, 0, (struct hw_cpuid){ 0x40, 0x40, 3, 0x11142120 });
	sim_msr_set(MSR_PKG_CST_CONFIG, 7);
}

static void
come_to_the_rollover(void)
{
	sim_counter_set(&sim.hpet.counter, ROLLOVER - 50 * HPET_TICKS_PER_MS);
}

static void
have_32_bits(struct bench *bench)
{
	sim.pm.counter.wrap_bits = 32;
	sim_describe_platform(&bench->platform);
}

static void
come_to_bit_24(void)
{
	sim_counter_set(&sim.pm.counter, PM_RANGE_24 - 100000); /* 28 ms */
}

/* The HPET table has 56 bytes: IA-PC HPET specification 1.0a, 3.2.4. */
static void
read_hpet_table(struct bench *bench, uint8_t checksum_off)
{
	uint8_t table[56] = { 'H', 'P', 'E', 'T', sizeof(table), [36] = 0x01, 0xa2, 0x86, 0x80,
			      [40] = 0, 64, [46] = 0xd0, 0xfe };
	uint8_t sum = 0;

	for (size_t i = 0; i < sizeof(table); i++)
		sum += table[i];
	table[9] = (uint8_t)(checksum_off - sum);
	acpi_read_hpet(table, sizeof(table), &bench->platform.acpi);
}

static void
read_good_table(struct bench *bench)
{
	read_hpet_table(bench, 0);
	assert_int_equal(bench->platform.acpi.hpet.base, SIM_HPET_BASE);
}

static void
plug_timers_in(struct bench *bench)
{
	sim_interrupts_add_controllers();
	sim_describe_platform(&bench->platform);
}

/*
 * Makes a guest of KVM that also has Hyper-V's interface. CPUID states no rate of the TSC, and the chip set's
 * oscillator drives the TSC.
 */
static void
have_clocks_of_hypervisors(struct bench *bench, const char *const *clocks)
{
	sim_paravirtual_make_kvm_guest(true);
	sim_cpuid_set(0x15, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
	sim_cpuid_set(0x16, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
	bench->clocks = clocks;
	sim_describe_platform(&bench->platform);
}

static void
have_kvms_page(struct bench *bench)
{
	static const char *const clocks[] = { "tsc", "acpi_pm", "hpet", "kvmclock", "hv_ref", NULL };

	have_clocks_of_hypervisors(bench, clocks);
}

/*
 * Raises the limit of the rule for rate errors to 1000 ppm. The rule for the rate that the clock's page states has a
 * smaller limit. Therefore only that rule finds the fault.
 */
static void
allow_a_rate_of_1000_ppm(void)
{
	struct options *options = &stage_of.bench->run.report.facts.options;

	options->limits[options->limit_count++] = (struct options_limit){ "rate-off", 1000 };
}

static void
have_hyper_vs_page(struct bench *bench)
{
	static const char *const clocks[] = { "tsc", "acpi_pm", "hpet", "hv_page", NULL };

	have_clocks_of_hypervisors(bench, clocks);
}

static void
have_a_page_and_an_rtc(struct bench *bench)
{
	static const char *const clocks[] = { "tsc", "acpi_pm", "kvmclock", "rtc", NULL };

	have_clocks_of_hypervisors(bench, clocks);
	bench->duration_ns = 100000000;
	sim_paravirtual_offer_stolen_time();
	sim_describe_platform(&bench->platform);
}

/* Gives each core a kvm-clock page that matches its TSC. */
static void
have_kvms_pages(struct bench *bench)
{
	static const char *const clocks[] = { "tsc", "acpi_pm", "kvmclock", NULL };

	sim.tsc.counter.origin_ticks = THREADS_WORLD_0;
	have_clocks_of_hypervisors(bench, clocks);
}

/*
 * Makes the run a soak whose series has at least two rows of a second (see begins()). Reads of the TSC and the HPET
 * are slow, so that the test makes few accesses.
 */
static void
become_a_soak(struct bench *bench)
{
	static const char *const clocks[] = { "tsc", "hpet", "acpi_pm", NULL };

	bench->clocks = clocks;
	sim.accesses_max = UINT64_MAX;
	for (size_t access = SIM_TSC; access <= SIM_TSCP; access++)
		sim.cost_ps[access] *= 4;
	sim.cost_ps[SIM_READ] *= 10;
	bench->interval_ns = 1000000000;
	bench->duration_ns = 300000000;
}

/* The calls of a firmware's Stall(), and its GetNextMonotonicCount(). */
static struct {
	uint64_t permille; /* the firmware's second in 1/1000 s */
	uint64_t late_ns, early_ns; /* lateness and earliness of Stall() */
	bool goes_back;
} firmware;

static void
put_calls(struct run *run, enum firmware_service service, uint64_t asked_ns, const struct record_called *items,
	  size_t count)
{
	const struct record_firmware fixed = { .service = (uint16_t)service, .asked_ns = asked_ns };

	record_put(&run->survey.record, RECORD_FIRMWARE, &fixed, items, count);
}

static void
time_firmware(void *context, struct run *run, bool is_last)
{
	for (uint64_t ns = 100000; is_last && ns <= 1000000; ns *= 10) {
		uint64_t taken_ns = ns * firmware.permille / 1000 + firmware.late_ns - firmware.early_ns;
		uint64_t taken = scale_ns_to_ticks(&run->survey.scale, taken_ns), tsc = hw_tsc();
		struct record_called items[4];

		for (size_t i = 0; i < 4; i++)
			items[i] = (struct record_called){ tsc, tsc + taken, 0 };
		put_calls(run, FIRMWARE_STALL, ns, items, 4);
	}
	if (is_last)
		put_calls(run, FIRMWARE_COUNTER, 0,
			  (const struct record_called[]){ { 1, 2, 10 }, { 3, 4, firmware.goes_back ? 9 : 11 } }, 2);
}

static void
have_firmware(struct bench *bench)
{
	bench->time_firmware = time_firmware;
	firmware.permille = 1000;
	firmware.late_ns = firmware.early_ns = 0;
	firmware.goes_back = false;
}

static void
let_cores_sleep(struct bench *bench)
{
	static const char *const clocks[] = { "tsc", "hpet", "acpi_pm", NULL };

	sim_cpuid_set(6, 0, (struct hw_cpuid){ 4, 0, 0, 0 }); /* ARAT */
	sim_describe_platform(&bench->platform);
	bench->clocks = clocks;
	bench->sleeps = true;
}

static const struct machine
	plain = { "one core", 1, NULL, NULL },
	few_clocks = { "no PIT or RTC, no claim for the TSC", 1, claim_no_tsc_rate_and_have_two_clocks, NULL },
	mobile = { "deep C-states", 1, allow_deep_c_states, NULL },
	rolling = { "HPET near its rollover", 1, NULL, come_to_the_rollover },
	wide_pm = { "PM timer of 32 bits", 1, have_32_bits, come_to_bit_24 },
	told = { "HPET table read", 1, read_good_table, NULL },
	told_by_firmware = { "firmware with time services", 1, have_firmware, NULL },
	guest = { "guest, preempted for 7 ms", 1, be_a_busy_guest, NULL },
	ticking = { "timers that interrupt", 1, plug_timers_in, NULL },
	kvms = { "guest with KVM's page", 1, have_kvms_page, NULL },
	lenient = { "guest with KVM's page, limit.rate-off=1000", 1, have_kvms_page, allow_a_rate_of_1000_ppm },
	hyper_vs = { "guest with Hyper-V's page", 1, have_hyper_vs_page, NULL },
	stoppable = { "guest with KVM's page and an RTC", 1, have_a_page_and_an_rtc, NULL },
	kvms_cores = { "guest with KVM's pages, three cores", 3, have_kvms_pages, NULL },
	soaked = { "soak", 1, become_a_soak, NULL },
	crowd = { "guest with 12 cores", 12, be_a_guest_with_a_pm_timer, NULL },
	three = { "three cores", 3, NULL, NULL },
	sleepy = { "three cores that sleep", 3, let_cores_sleep, NULL },
	several = { "four cores", 4, NULL, NULL };

static const struct machine *const machines[] = {
	&plain, &few_clocks, &mobile, &rolling, &wide_pm, &told, &guest, &ticking, &kvms, &lenient, &hyper_vs, &kvms_cores,
	&stoppable, &told_by_firmware,
	&soaked, &crowd, &three, &sleepy, &several,
};

#define MACHINES (sizeof(machines) / sizeof(machines[0]))

/* FAULT(name, ...) defines a function that causes a fault with these statements. */
#define FAULT(name, ...) \
	static void \
	name(struct bench *bench) \
	{ \
		__VA_ARGS__; \
	}

static void
step_back(struct sim_counter *counter, uint64_t ticks)
{
	counter->backward_at_ps = sim.now_ps + TSC_STEP_PS;
	counter->backward_ticks = ticks;
}

static void
step_hpet_back_in_batch(void)
{
	sim.hpet.counter.backward_at_ps = sim.now_ps + HPET_STEP_PS;
}

static void
step_hpet_back(struct bench *bench, uint64_t ticks)
{
	sim.hpet.counter.backward_ticks = ticks;
	bench_call_before_batch(bench, "hpet", HPET_BATCH, step_hpet_back_in_batch);
}

FAULT(hpet_500_ticks_back, step_hpet_back(bench, 500))
FAULT(hpet_a_second_back, step_hpet_back(bench, 1000 * HPET_TICKS_PER_MS))
FAULT(hpet_500_ticks_ahead, step_hpet_back(bench, 0 - UINT64_C(500)))
FAULT(pit_gated, sim.pit.gated = true)
FAULT(hpet_answers_all_ones, sim.hpet.absent = true)
FAULT(seconds_halted, sim.rtc.b |= 0x80) /* SET */
FAULT(seconds_stop, sim.rtc.halted_at_ps = sim.now_ps)
FAULT(flag_never_comes, sim.rtc.pf_never = true)
FAULT(tsc_50_us_back, step_back(&sim.tsc.counter, 50000))
FAULT(tsc_1_ms_ahead, step_back(&sim.tsc.counter, 0 - UINT64_C(1000000)))
FAULT(tsc_a_second_ahead, step_back(&sim.tsc.counter, 0 - UINT64_C(1000000000)))
FAULT(tsc_and_rtc_a_second_ahead, tsc_a_second_ahead(bench); sim.rtc.ahead_ps += SIM_PS_PER_S)
FAULT(hpet_above_4_gib_is_not_there, bench->platform.acpi.hpet.base += GIB_4)
FAULT(hpet_15_us_slower, sim.hpet.counter.extra_ps = 15 * SIM_PS_PER_US)
FAULT(pm_30_us_slower, sim.pm.counter.extra_ps = 30 * SIM_PS_PER_US)
FAULT(pm_waits_for_9_reads, sim.pm.counter.extra_ps = 9 * sim.cost_ps[SIM_IN])

static void
only_the_tsc(struct bench *bench)
{
	bench->platform.acpi.hpet.found = false;
	sim.pm.absent = sim.pit.absent = sim.pit.port_61_absent = sim.rtc.absent = true;
}

FAULT(stall_a_fifth_too_long, firmware.permille = 1200)
FAULT(stall_20_us_early, firmware.early_ns = 20000)
FAULT(stall_55_ms_late, firmware.late_ns = 55000000)
FAULT(count_goes_back, firmware.goes_back = true)

FAULT(hpet_1000_ppm_fast, sim_counter_speed_up(&sim.hpet.counter, 1000))
FAULT(hpet_90_ppm_fast, sim_counter_speed_up(&sim.hpet.counter, 90))
FAULT(hpet_at_ten_times_its_rate, sim_counter_speed_up(&sim.hpet.counter, 9000000))
FAULT(pit_at_a_fifth_of_its_rate, sim.pit.hz.den *= 5)
FAULT(pit_at_ten_times_its_rate, sim.pit.hz.num *= 10)
FAULT(pit_that_counts_ns, sim.pit.hz = ((struct rate){ 1000000000, 1 }))
FAULT(pit_at_a_hundredth_of_its_rate, sim.pit.hz.den *= 100)
FAULT(rtc_1000_ppm_fast, sim.rtc.fast_ppm = 1000)
FAULT(rtc_a_fifth_slow, sim.rtc.fast_ppm = -200000)
FAULT(rtc_at_half_its_rate, sim.rtc.fast_ppm = -500000)
FAULT(rtc_at_a_third_of_its_rate, sim.rtc.fast_ppm = -666667)
FAULT(pm_150_ppm_slow, sim_counter_speed_up(&sim.pm.counter, -150))
FAULT(tsc_1000_ppm_fast, sim_counter_speed_up(&sim.tsc.counter, 1000))

static void
set_leaf_15(struct bench *bench, uint32_t denominator, uint32_t numerator, uint32_t crystal_hz)
{
	sim_cpuid_set(0x15, 0, (struct hw_cpuid){ denominator, numerator, crystal_hz, 0 });
	sim_describe_platform(&bench->platform);
}

FAULT(leaf_300_ppm_too_high, set_leaf_15(bench, 10000, 100030, 100000000))
FAULT(leaf_of_another_host, set_leaf_15(bench, 2, 56, 100000000))
FAULT(crystal_of_25_mhz, set_leaf_15(bench, 2, 80, 25000000))
FAULT(not_invariant, sim_cpuid_set(0x80000007, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
		     sim_describe_platform(&bench->platform))
FAULT(tsc_by_200, sim.tsc.counter.step_ticks = 200)
FAULT(period_of_200_ns, sim.hpet.capability = UINT64_C(200000000) << 32 | (uint32_t)sim.hpet.capability)

static uint64_t
read_above_4_gib(uint64_t address, unsigned width_bytes)
{
	return sim_hpet_read(address - GIB_4, width_bytes);
}

static void
write_above_4_gib(uint64_t address, uint64_t value, unsigned width_bytes)
{
	sim_hpet_write(address - GIB_4, value, width_bytes);
}

static void
hpet_above_4_gib(struct bench *bench)
{
	bench->platform.acpi.hpet.base += GIB_4;
	sim_map_region((struct sim_region){ SIM_HPET_BASE + GIB_4, 4096, read_above_4_gib, write_above_4_gib });
}

FAULT(hpet_counts_when_off, sim.hpet.counts_when_off = true)
FAULT(hpet_starts_anew, sim.hpet.loses_value = true)
FAULT(hpet_high_half_late, sim.hpet.high_late_ps = 5 * SIM_PS_PER_US)
FAULT(pc10_allowed, sim_msr_set(MSR_PKG_CST_CONFIG, 8))
FAULT(pm_with_high_bits, sim.pm.high_bits = 0xa5000000)

static void
pm_counts_32_bits(struct bench *bench)
{
	(void)bench; /* nothing to change, because the platform already states 24 bits */
	sim.pm.counter.wrap_bits = 32;
	/* the counter has 32 bits, so bit 24 is set after 28 ms */
	sim_counter_set(&sim.pm.counter, PM_RANGE_24 - 100000);
}

FAULT(pm_wraps_at_24, sim.pm.counter.wrap_bits = 24) /* the counter wraps at 24 bits, but the platform states 32 bits */
FAULT(pm_not_latched, sim.pm.glitch_ps = 3 * SIM_PS_PER_NS)
FAULT(pit_by_two, sim.pit.step = 2)
FAULT(pit_counts_mode_3_for_2, sim.pit.mode_2_as_3 = true)
FAULT(latch_does_not_hold, sim.pit.latch_ignored = true)
FAULT(latch_takes_a_second_count, sim.pit.latches_again = true)
FAULT(status_of_another_mode, sim.pit.status_flipped = 0x02)
FAULT(out_stays_low, sim.pit.out_never_high = true)
FAULT(out_400_us_late, sim.pit.out_late_ps = 400 * SIM_PS_PER_US)
FAULT(pit_stays_at_end, sim.pit.stays_at_end = true)
FAULT(mode_7_counts_by_one, sim.pit.mode_7_as_2 = true)
FAULT(uip_stays, sim.rtc.uip_stuck = true)
FAULT(uip_never_rises, sim.rtc.uip_never = true)
FAULT(uip_of_7_ms, sim.rtc.uip_late_ps = 5 * SIM_PS_PER_MS)
FAULT(seconds_by_two, sim.rtc.second_step = 2)
FAULT(seconds_that_are_none, sim.rtc.seconds_invalid = true)
FAULT(flag_at_64_hz, sim.rtc.pf_select = 10)
/* DURATION_NS is less than a period of 64 Hz, so each clock is read for twice this time */
FAULT(flag_at_64_hz_with_longer_reads, flag_at_64_hz(bench); bench->duration_ns = 2 * DURATION_NS)
FAULT(battery_dead, sim.rtc.d = 0)
FAULT(table_with_a_wrong_sum, read_hpet_table(bench, 1))
FAULT(core_silent, bench->mute = SICK_CORE; bench->is_dead = true)
FAULT(core_ahead, sim.tsc.offset_ticks[SICK_CORE] = FAR_TICKS)

/* The drift has time to show: begins() lets ten seconds pass before the second measurement pass. */
FAULT(core_100_ppm_fast, threads_cores[SICK_CORE].drift_ppb = 100000)

/* Runs a job with one core's TSC ahead, as if its virtual core moved to another CPU socket for the job. */
static size_t
run_all_with_one_ahead(void *context, smp_job *job, void *argument, uint64_t bound_ns)
{
	struct bench *bench = context;
	uint32_t all[] = { 0, 1, 2, 3 };
	size_t finished;

	sim.tsc.offset_ticks[SICK_CORE] = FAR_TICKS;
	finished = bench->run.smp.run_some(context, all, bench->run.smp.count, job, argument, bound_ns);
	sim.tsc.offset_ticks[SICK_CORE] = 0;
	return finished;
}

FAULT(core_ahead_in_the_races, bench->run.smp.run_all = run_all_with_one_ahead)

static size_t (*run_pingpongs)(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument,
			       uint64_t bound_ns);

static bool
is_among(uint32_t core, const uint32_t *cores, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (cores[i] == core)
			return true;
	return false;
}

/*
 * Runs ping-pongs of several pairs, and disturbs one pair. CORES lists the cores: the two cores of each pair follow
 * each other.
 */
static size_t
run_some_with_one_pair_off(void *context, const uint32_t *cores, size_t count, smp_job *job, void *argument,
			   uint64_t bound_ns)
{
	size_t finished;

	for (size_t i = 0; i + 1 < count; i += 2)
		if (is_among(SICK_CORE, &cores[i], 2) && is_among(OTHER_CORE, &cores[i], 2))
			sim.tsc.offset_ticks[SICK_CORE] = FAR_TICKS;
	finished = run_pingpongs(context, cores, count, job, argument, bound_ns);
	sim.tsc.offset_ticks[SICK_CORE] = 0;
	return finished;
}

static void
core_ahead_of_one_other(struct bench *bench)
{
	run_pingpongs = bench->run.smp.run_some;
	bench->run.smp.run_some = run_some_with_one_pair_off;
}

FAULT(all_adjusted, sim_msr_set(MSR_TSC_ADJUST, 12345))

static void
read_unequal_facts(struct core_facts *facts)
{
	sim_msr_set(MSR_TSC_ADJUST, sim.core == SICK_CORE ? 12345 : 0);
	cpu_read_core_facts(facts);
}

FAULT(one_adjusted, bench->run.survey.hooks.core_facts = read_unequal_facts)
FAULT(lapic_never, sim.interrupts.lapic.never = true)
FAULT(lapic_5_us_early, sim.interrupts.lapic.early_ps = 5 * SIM_PS_PER_US)
FAULT(comparator_drops_one_in_nine, sim.interrupts.hpet.drop_every = 9)
FAULT(comparator_fires_twice, sim.interrupts.hpet.double_every = 7)
FAULT(comparator_storms, sim.interrupts.hpet.storms = true)
FAULT(comparator_is_stale, sim.interrupts.hpet.stale = true)
FAULT(lapic_ticks_700_ppm_fast, sim.interrupts.lapic.fast_ppm = 700)
FAULT(lapic_100_us_late, sim.interrupts.lapic.late_ps = 100 * SIM_PS_PER_US)
FAULT(page_2000_ppm_fast, sim_paravirtual.fast_ppm = 2000)
FAULT(page_300_ppm_fast, sim_paravirtual.fast_ppm = 300)
FAULT(msr_a_second_ahead, sim_paravirtual.msr_ahead_ticks = 10000000)
FAULT(page_of_one_core_behind, sim_paravirtual.page_lead_ns[OTHER_CORE] = -50000)
FAULT(page_loses_its_sequence, sim_paravirtual.no_sequence_at_ps = 30 * SIM_PS_PER_MS)
FAULT(stopped_for_a_second, sim.rtc.ahead_ps += SIM_PS_PER_S)

static void
stolen_and_not_counted(struct bench *bench)
{
	sim_paravirtual.steal_percent = 0;
	sim_paravirtual.steal_ps = 2 * SIM_PS_PER_MS;
	sim_paravirtual.steal_every_ps = 10 * SIM_PS_PER_MS;
	sim_paravirtual.steal_at_ps = sim.now_ps;
}

static void
set_sleep_fault(enum sim_sleep_fault fault)
{
	sim_sleep.fault = fault;
	sim_sleep.state = SLEEP_BY_HLT;
}

FAULT(tsc_stops_in_halt, set_sleep_fault(SIM_SLEEP_STOPS_TSC))
FAULT(tsc_restored_after_halt, set_sleep_fault(SIM_SLEEP_RESTORES_TSC))
FAULT(lapic_stops_in_halt, set_sleep_fault(SIM_SLEEP_STOPS_LAPIC))
FAULT(hpet_stops_in_halt, set_sleep_fault(SIM_SLEEP_STOPS_HPET))
FAULT(core_wakes_late, set_sleep_fault(SIM_SLEEP_WAKES_LATE))

static const struct ailment faults[] = {
	{ "irq-missing", "lapic", "the LAPIC's timer never interrupts", &ticking, AT_START, lapic_never },
	{ "irq-early", "lapic", "it is 5 us early", &ticking, AT_START, lapic_5_us_early },
	{ "irq-lost", "hpet0", "a comparator drops one tick in nine", &ticking, AT_START, comparator_drops_one_in_nine },
	{ "irq-doubled", "hpet0", "it interrupts twice, one time in seven", &ticking, AT_START, comparator_fires_twice },
	{ "irq-doubled", "hpet0", "its interrupts do not end", &ticking, AT_START, comparator_storms },
	{ "irq-rate", "lapic", "the LAPIC's ticks are 700 ppm fast", &ticking, AT_START, lapic_ticks_700_ppm_fast },
	{ "irq-late", "lapic", "its interrupts are 50 to 150 us late", &ticking, AT_START, lapic_100_us_late },
	{ "hpet-stale", "hpet0", "it interrupts when it is enabled behind its deadline", &ticking, AT_START,
	  comparator_is_stale },
	{ "efi-rate", "efi_stall", "the firmware's second lasts 1.2 s", &told_by_firmware, AT_START, stall_a_fifth_too_long },
	{ "efi-short", "efi_stall", "Stall() returns 20 us early", &told_by_firmware, AT_START, stall_20_us_early },
	{ "efi-late", "efi_stall", "Stall() returns 55 ms late", &told_by_firmware, AT_START, stall_55_ms_late },
	{ "efi-back", "efi_counter", "a count of the firmware goes back", &told_by_firmware, AT_START, count_goes_back },
	{ "pv-warp", "kvmclock", "one core's page 50 us behind", &kvms_cores, AT_START, page_of_one_core_behind },
	{ "pv-rate", "kvmclock", "KVM's page 2000 ppm fast", &kvms, AT_START, page_2000_ppm_fast },
	{ "pv-claim", "kvmclock", "KVM's page takes the TSC for 300 ppm slower", &lenient, AT_START, page_300_ppm_fast },
	{ "pv-page-apart", "hv_page", "the MSR a second ahead of the page", &hyper_vs, AT_START, msr_a_second_ahead },
	{ "pv-fallback", "hv_page", "the page's sequence becomes 0", &hyper_vs, AT_START, page_loses_its_sequence },
	{ "pv-untold", "kvmclock", "stopped for a second, and no flag", &stoppable, AFTER_RATES, stopped_for_a_second },
	{ "pv-steal", "kvm_steal", "2 ms stolen in 12, and not counted", &stoppable, AFTER_RATES, stolen_and_not_counted },
	{ "clock-backward", "hpet", "HPET moved 500 ticks back", &plain, AFTER_RATES, hpet_500_ticks_back },
	{ "clock-backward", "hpet", "HPET moved a second back", &plain, AFTER_RATES, hpet_a_second_back },
	{ "clock-stuck", "pit", "PIT that never counts", &guest, AT_START, pit_gated },
	{ "clock-backward", "tsc", "TSC moved 50 us back", &plain, AFTER_RATES, tsc_50_us_back },
	{ "clock-stuck", "rtc", "SET halts the seconds", &plain, AT_START, seconds_halted },
	{ "clock-stuck", "rtc", "seconds stop after the rates", &plain, AFTER_RATES, seconds_stop },
	{ "clock-stuck", "rtc", "UIP sticks after the rates", &plain, AFTER_RATES, uip_stays },
	{ "clock-stuck", "rtc_pf", "periodic flag never comes", &plain, AT_START, flag_never_comes },
	{ "clock-broken", "hpet", "HPET answers all ones", &plain, AT_START, hpet_answers_all_ones },
	{ "clock-broken", "hpet", "table points above 4 GiB, where nothing is", &plain, AT_START,
	  hpet_above_4_gib_is_not_there },
	{ "clock-jumped", "hpet", "HPET moved 500 ticks ahead", &plain, AFTER_RATES, hpet_500_ticks_ahead },
	{ "clock-slow", "acpi_pm", "a read of the PM timer takes 30 us more", &plain, AT_START, pm_30_us_slower },
	{ "clock-slow", "hpet", "each of three accesses of the HPET takes 15 us more", &rolling, AT_START, hpet_15_us_slower },
	{ "clock-contended", "acpi_pm", "a read of the PM timer waits for 9 others", &crowd, WHILE_CONTENDED,
	  pm_waits_for_9_reads },
	{ "no-reference", NULL, "no HPET, PM timer, PIT or RTC", &plain, AT_START, only_the_tsc },
	{ "rate-changed", "hpet", "HPET 1000 ppm faster after the window", &plain, AFTER_RATES, hpet_1000_ppm_fast },
	{ "rate-changed", "tsc", "TSC 1000 ppm faster after the window", &plain, AFTER_RATES, tsc_1000_ppm_fast },
	{ "rate-changed", "tsc", "TSC moved 1 ms ahead", &plain, AFTER_RATES, tsc_1_ms_ahead },
	{ "rate-trend", "hpet", "HPET 90 ppm faster in a soak", &soaked, IN_A_SOAK, hpet_90_ppm_fast },
	{ "clock-jumped", "tsc", "TSC moved a second ahead", &plain, AFTER_RATES, tsc_a_second_ahead },
	{ "clocks-parted", NULL, "TSC and RTC a second ahead, as after a snapshot", &guest, AFTER_RATES,
	  tsc_and_rtc_a_second_ahead },
	{ "rate-wrong", "hpet", "HPET 1000 ppm fast", &guest, AT_START, hpet_1000_ppm_fast },
	{ "rate-wrong", "hpet", "HPET at ten times its rate", &rolling, AT_START, hpet_at_ten_times_its_rate },
	{ "rate-wrong", "pit", "PIT at a fifth of its rate", &plain, AT_START, pit_at_a_fifth_of_its_rate },
	{ "rate-wrong", "pit", "PIT at ten times its rate", &plain, AT_START, pit_at_ten_times_its_rate },
	{ "rate-wrong", "pit", "PIT that counts nanoseconds", &plain, AT_START, pit_that_counts_ns },
	{ "rate-wrong", "pit", "PIT at a hundredth of its rate", &plain, AT_START, pit_at_a_hundredth_of_its_rate },
	{ "rate-wrong", "rtc", "RTC 1000 ppm fast", &plain, AT_START, rtc_1000_ppm_fast },
	{ "rate-wrong", "rtc", "RTC at four fifths of its rate", &plain, AT_START, rtc_a_fifth_slow },
	{ "rate-wrong", "rtc", "RTC at half its rate", &plain, AT_START, rtc_at_half_its_rate },
	{ "clock-stuck", "rtc", "RTC at a third of its rate", &plain, AT_START, rtc_at_a_third_of_its_rate },
	{ "tsc-claim", NULL, "TSC 1000 ppm faster than CPUID 15h says", &plain, AT_START, tsc_1000_ppm_fast },
	{ "tsc-claim", NULL, "CPUID 15h says 300 ppm too much", &plain, AT_START, leaf_300_ppm_too_high },
	{ "tsc-claim", NULL, "CPUID 15h of another host", &guest, AT_START, leaf_of_another_host },
	{ "lapic-claim", NULL, "CPUID 15h says a crystal of 25 MHz", &ticking, AT_START, crystal_of_25_mhz },
	{ "rate-off", "acpi_pm", "PM timer 150 ppm slow", &plain, AT_START, pm_150_ppm_slow },
	{ "rate-disagree", NULL, "HPET 1000 ppm fast", &few_clocks, AT_START, hpet_1000_ppm_fast },
	{ "tsc-warp", "tsc", "one core 1 ms ahead while all race", &several, AT_START, core_ahead_in_the_races },
	{ "tsc-offset", "tsc", "one core 1 ms ahead", &several, AT_START, core_ahead },
	{ "tsc-drift", "tsc", "one core 100 ppm fast", &several, AT_START, core_100_ppm_fast },
	{ "tsc-contradiction", "tsc", "one core 1 ms ahead of one other alone", &several, AT_START, core_ahead_of_one_other },
	{ "tsc-adjust", "tsc", "TSC_ADJUST 12345 on all cores", &several, AT_START, all_adjusted },
	{ "tsc-adjust-unequal", "tsc", "TSC_ADJUST 12345 on one core", &several, AT_START, one_adjusted },
	{ "tsc-sleeps", "tsc", "one core's TSC stops in HLT", &sleepy, AT_START, tsc_stops_in_halt },
	{ "tsc-adjust-sleeps", "tsc", "firmware sets one core's TSC back after HLT", &sleepy, AT_START,
	  tsc_restored_after_halt },
	{ "lapic-sleeps", "lapic", "one core's timer stops in HLT", &sleepy, AT_START, lapic_stops_in_halt },
	{ "clock-sleeps", "hpet", "the HPET stops while all cores are in HLT", &sleepy, AT_START, hpet_stops_in_halt },
	{ "wake-late", "lapic", "one core wakes 200 us late", &sleepy, AT_START, core_wakes_late },
	{ "tsc-not-invariant", "tsc", "CPUID 80000007h EDX[8] is 0", &plain, AT_START, not_invariant },
	{ "tsc-step", "tsc", "TSC counts by 200", &plain, AT_START, tsc_by_200 },
	{ "hpet-period", "hpet", "period register of 200 ns", &plain, AT_START, period_of_200_ns },
	{ "hpet-base", "hpet", "HPET above 4 GiB", &plain, AT_START, hpet_above_4_gib },
	{ "hpet-stops", "hpet", "HPET counts while it is off", &plain, AT_START, hpet_counts_when_off },
	{ "hpet-stops", "hpet", "HPET starts anew when it is switched off", &plain, BEFORE_CHECKS, hpet_starts_anew },
	{ "hpet-torn", "hpet", "HPET's high half 5 us late", &rolling, AT_START, hpet_high_half_late },
	{ "hpet-pc10", "hpet", "C-state limit 8", &mobile, AT_START, pc10_allowed },
	{ "pm-high-bits", "acpi_pm", "bits 24 to 31 not 0", &plain, AT_START, pm_with_high_bits },
	{ "pm-width", "acpi_pm", "wraps at 24 bits, called 32", &wide_pm, AT_START, pm_wraps_at_24 },
	{ "pm-high-bits", "acpi_pm", "counts 32 bits, called 24", &plain, AT_START, pm_counts_32_bits },
	{ "pm-glitch", "acpi_pm", "not latched, 3 ns", &plain, AT_START, pm_not_latched },
	{ "pit-step", "pit", "PIT counts by two", &plain, AT_START, pit_by_two },
	{ "pit-step", "pit", "PIT counts mode 3 for mode 2", &plain, AT_START, pit_counts_mode_3_for_2 },
	{ "pit-latch", "pit", "latched count goes on", &plain, AT_START, latch_does_not_hold },
	{ "pit-latch", "pit", "second latch takes a new count", &plain, AT_START, latch_takes_a_second_count },
	{ "pit-status", "pit", "status reads mode 3 for 2", &plain, AT_START, status_of_another_mode },
	{ "pit-out", "pit", "OUT stays low", &plain, AT_START, out_stays_low },
	{ "pit-out", "pit", "OUT 400 us late", &plain, AT_START, out_400_us_late },
	{ "pit-end", "pit", "PIT stays at 0", &plain, AT_START, pit_stays_at_end },
	{ "pit-modes", "pit", "mode 7 counts by one", &plain, AT_START, mode_7_counts_by_one },
	{ "rtc-update", "rtc", "UIP stuck at 1", &plain, AT_START, uip_stays },
	{ "rtc-update", "rtc", "UIP never 1", &plain, AT_START, uip_never_rises },
	{ "rtc-update", "rtc", "UIP of 7 ms", &plain, AT_START, uip_of_7_ms },
	{ "rtc-seconds", "rtc", "seconds advance by two", &plain, AT_START, seconds_by_two },
	{ "rtc-seconds", "rtc", "seconds register reads 7Fh", &plain, AT_START, seconds_that_are_none },
	{ "rtc-periodic", "rtc", "flag at 64 Hz whatever is asked", &plain, BEFORE_CHECKS, flag_at_64_hz },
	{ "rtc-periodic", "rtc", "flag at 64 Hz from the start", &plain, AT_START, flag_at_64_hz_with_longer_reads },
	{ "rtc-battery", "rtc", "VRT is 0", &plain, AT_START, battery_dead },
	{ "core-missing", NULL, "one core does not start", &several, AT_START, core_silent },
	{ "acpi-table", NULL, "HPET table's checksum off by 1", &told, AT_START, table_with_a_wrong_sum },
};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))


static void
reach(struct bench *bench, const struct ailment *fault, enum stage stage)
{
	if (fault && fault->stage == stage)
		fault->switch_on(bench);
}

/*
 * The simulated cores run in turns, so the accesses of N cores take N times as long as on a real machine. While IS_ON,
 * each access is N times as short.
 */
static void
let_reads_overlap(bool is_on)
{
	uint64_t cores = stage_of.machine->cores;

	if (stage_of.is_overlapping == is_on)
		return;
	stage_of.is_overlapping = is_on;
	for (size_t access = 0; access < SIM_ACCESSES; access++)
		sim.cost_ps[access] = is_on ? sim.cost_ps[access] / cores : sim.cost_ps[access] * cores;
}

/* Starts the faults of a stage. Before the second measurement pass it lets time pass, so that a drift can show. */
static void
begins(void *context, const struct run *run, const struct run_phase *phase)
{
	if (strcmp(phase->id, "latency") == 0)
		reach(stage_of.bench, stage_of.fault, AFTER_RATES);
	let_reads_overlap(strcmp(phase->id, "contended") == 0);
	/* each TSC reading takes 41 ns in the phase sleep, so that a sleep takes few readings */
	for (size_t core = 0; core < stage_of.machine->cores; core++)
		threads_cores[core].late_ticks = strcmp(phase->id, "sleep") == 0 ? 40 : 0;
	if (strcmp(phase->id, "contended") == 0)
		reach(stage_of.bench, stage_of.fault, WHILE_CONTENDED);
	if (strcmp(phase->id, "skew") == 0 && stage_of.is_measured && stage_of.machine->cores > 1)
		sim_advance_ps(10 * SIM_PS_PER_S);
	stage_of.is_measured |= strcmp(phase->id, "skew") == 0;
	if (strcmp(phase->id, "series") == 0 && stage_of.machine == &soaked) {
		sim_advance_ps(2 * SIM_PS_PER_S); /* ends the present row of the series */
		reach(stage_of.bench, stage_of.fault, IN_A_SOAK);
	}
	if (strcmp(phase->id, "checks") != 0)
		return;
	if (stage_of.machine->before_checks) {
		stage_of.machine->before_checks();
		/* Removes all earlier readings, so that the counter seems to have had this value from the start. */
		for (size_t series = 0; series < RUN_DRIVERS_MAX; series++)
			survey_drop_earlier_readings(&stage_of.bench->run.survey, series);
	}
	reach(stage_of.bench, stage_of.fault, BEFORE_CHECKS);
}

static void
leave_report(struct report *report)
{
	static unsigned number;
	static char bytes[8 << 20];
	const char *folder = getenv("BARETICK_REPORTS");
	char path[512];
	struct text text;
	FILE *file;

	if (!folder)
		return;
	report->facts.run.version = report->facts.run.commit = report->facts.machine.fence = "-";
	text_init(&text, bytes, sizeof(bytes));
	json_render(&text, report);
	snprintf(path, sizeof(path), "%s/%03u.json", folder, number++);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(text.bytes, 1, text.length, file), text.length);
	assert_int_equal(fclose(file), 0);
}

/* Does a whole run. FAULT may be NULL. The caller frees the bench. */
static struct bench *
run(const struct machine *machine, const struct ailment *fault)
{
	struct bench *bench;
	const struct acpi_facts *acpi;

	sim_reset();
	/* slow accesses, so that the test makes few of them */
	sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = 4 * SIM_PS_PER_US;
	sim_slow_tsc_reads(8);
	if (machine->cores == 1)
		sim_counter_speed_up(&sim.tsc.counter, TSC_FAST_PPM);
	bench = bench_new();
	bench->duration_ns = DURATION_NS;
	if (machine->arrange)
		machine->arrange(bench);
	/* Faults of clocks start before the clocks are opened. Faults of cores start when the cores exist. */
	if (machine->cores == 1)
		reach(bench, fault, AT_START);
	bench_open(bench, machine->cores);
	if (machine->cores > 1) {
		bench_use_threads(bench);
		reach(bench, fault, AT_START);
	}
	acpi = &bench->platform.acpi;
	for (size_t i = 0; i < acpi->problem_count; i++)
		notes_add(&bench->run.report.facts.table_problems, "%s", acpi->problems[i]);
	stage_of.bench = bench;
	stage_of.machine = machine;
	stage_of.fault = fault;
	stage_of.is_measured = stage_of.is_overlapping = false;
	bench->machine.phase_starts = begins;
	(void)bench_run(bench);
	for (size_t i = 0; i <
	     bench->run.report.outcomes.behaviours.count; i++) { /* checks that all sentences are complete */
		const char *text = bench->run.report.outcomes.behaviours.rows[i].text;

		assert_true(!text[0] || text[strlen(text) - 1] == '.');
	}
	leave_report(&bench->run.report);
	return bench;
}

/*
 * Returns the number of findings of the fault's rule about the fault's clock. If OTHERS is true, returns the number of
 * all other findings.
 */
static size_t
count_findings(const struct report *report, const struct ailment *fault, bool others)
{
	size_t count = 0;

	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];
		bool is_it = strcmp(finding->rule, fault->rule) == 0 && !finding->clock == !fault->clock &&
			     (!finding->clock || strcmp(finding->clock, fault->clock) == 0);

		count += is_it != others;
		if (others && !is_it)
			print_message("    %s: %s\n", finding->rule, finding->text);
	}
	return count;
}

/* Returns true if the finding changes the verdict of the clock that it names, and of no other clock. */
static bool
verdicts_fit(const struct report *report, const struct ailment *fault)
{
	enum verdict severity = rules_find(fault->rule)->severity;

	/* a wrong stated rate is a failure only if some system uses it */
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		if (strcmp(report->outcomes.findings[i].rule, fault->rule) == 0)
			severity = report->outcomes.findings[i].severity;
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];
		bool has_finding = fault->clock && strcmp(entry->clock.id, fault->clock) == 0;
		bool is_its_other_way = fault->clock && strcmp(entry->clock.main, fault->clock) == 0;

		if (has_finding ? report->outcomes.clocks[i].verdict != severity :
		    !is_its_other_way && report->outcomes.clocks[i].verdict != VERDICT_PASS &&
			    report->outcomes.clocks[i].verdict != VERDICT_ABSENT)
			return false;
	}
	return report->outcomes.verdict == severity;
}

/* Returns true if the report advises against the failed clocks and no others. */
static bool
advice_fits(const struct report *report, const struct ailment *fault)
{
	bool fails = rules_find(fault->rule)->severity == VERDICT_FAIL;

	for (size_t i = 0; i < report->advice.ranking.count; i++) {
		bool has_finding = fault->clock && strcmp(report->advice.ranking.rows[i].clock, fault->clock) == 0;

		if (report->advice.ranking.rows[i].avoid != (fails && has_finding))
			return false;
	}
	return true;
}

/* The test cases that qemu/run makes of a report: each rule and clock of its rows and findings. */
struct cases {
	size_t count;
	struct test_case { char rule[32], clock[24]; } list[2 * BEHAVIOURS_MAX + REPORT_OTHER_RULES_MAX];
};

static bool
has_case(const struct cases *cases, const struct test_case *wanted)
{
	for (size_t i = 0; i < cases->count; i++)
		if (!strcmp(cases->list[i].rule, wanted->rule) && !strcmp(cases->list[i].clock, wanted->clock))
			return true;
	return false;
}

/* Adds a case of RULE. A read method has the case of its device's main clock, as in qemu/results/cases.py. */
static void
add_case(struct cases *cases, const struct report *report, const char *rule, const char *clock)
{
	const struct report_clock *entry = clock ? report_find_clock(report, clock) : NULL;
	struct test_case added;

	snprintf(added.rule, sizeof(added.rule), "%s", rule);
	snprintf(added.clock, sizeof(added.clock), "%s", entry ? entry->clock.main : clock ? clock : "");
	if (!has_case(cases, &added))
		cases->list[cases->count++] = added;
}

static struct cases
collect_cases(const struct report *report)
{
	struct cases cases = { .count = 0 };

	for (size_t i = 0; i < report->outcomes.behaviours.count; i++)
		add_case(&cases, report, report->outcomes.behaviours.rows[i].rule, report->outcomes.behaviours.rows[i].clock);
	for (size_t i = 0; i < report->outcomes.other_rule_count; i++)
		add_case(&cases, report, report->outcomes.other_rules[i].rule, report->outcomes.other_rules[i].clock);
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		/* a source of interrupts that broke has the cases of its group */
		if (strcmp(finding->rule, "clock-broken") || report_find_clock(report, finding->clock))
			add_case(&cases, report, finding->rule, finding->clock);
	}
	return cases;
}

/* Prints the cases of A that B lacks, and returns their number. A clock that is absent in REPORT needs no cases. */
static size_t
count_lacking_cases(const struct report *report, const struct cases *a, const struct cases *b, const char *words)
{
	size_t lacking = 0;

	for (size_t i = 0; i < a->count; i++) {
		const struct report_clock *entry = report_find_clock(report, a->list[i].clock);

		if (has_case(b, &a->list[i]) || (entry && entry->clock.state == CLOCK_ABSENT))
			continue;
		print_error("%s: %s (%s)\n", words, a->list[i].rule, a->list[i].clock);
		lacking++;
	}
	return lacking;
}

/*
 * Returns the cases of MACHINE without a fault. The first call runs the machine, and fails if there is a finding; later
 * calls return the stored cases.
 */
static const struct cases *
get_cases_of_healthy_machine(const struct machine *machine)
{
	static struct cases healthy[MACHINES];
	size_t i = 0;

	while (i < MACHINES && machines[i] != machine)
		i++;
	assert_true(i < MACHINES);
	if (!healthy[i].count) {
		struct bench *bench = run(machine, NULL);
		const struct report *report = &bench->run.report;

		print_message("none / %s / - / %zu\n", machine->name, report->outcomes.finding_count);
		assert_no_finding(report);
		assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
		healthy[i] = collect_cases(report);
		bench_free(bench);
	}
	return &healthy[i];
}

/*
 * Returns true if REPORT has the same cases as HEALTHY. JUnit needs the same cases in each run of one machine, whatever
 * the run finds.
 */
static bool
has_same_cases(const struct report *report, const struct cases *healthy)
{
	struct cases cases = collect_cases(report);

	return !(count_lacking_cases(report, healthy, &cases, "missing") +
		 count_lacking_cases(report, &cases, healthy, "only here"));
}

static bool
is_caught(const struct ailment *fault)
{
	const struct cases *healthy = get_cases_of_healthy_machine(fault->machine);
	struct bench *bench = run(fault->machine, fault);
	const struct report *report = &bench->run.report;
	size_t others = count_findings(report, fault, true), findings = count_findings(report, fault, false);
	bool caught = findings == 1, fits = verdicts_fit(report, fault) && advice_fits(report, fault);
	bool same = has_same_cases(report, healthy);

	print_message("%s / %s, %s / %s%s / %zu\n", fault->rule, fault->name, fault->machine->name,
		      caught ? fits ? "caught" : "caught, verdicts wrong" : "NOT CAUGHT", same ? "" : ", other test cases", others);
	bench_free(bench);
	return caught && fits && same && others == 0;
}

TEST(the_same_machines_without_a_fault_are_clean)
{
	for (size_t i = 0; i < MACHINES; i++)
		assert_true(get_cases_of_healthy_machine(machines[i])->count > 0);
}

TEST(each_fault_is_found_by_its_rule_and_no_other)
{
	size_t missed = 0;

	print_message("rule / fault, machine / caught / other findings\n");
	for (size_t i = 0; i < FAULTS; i++)
		missed += !is_caught(&faults[i]);
	assert_int_equal(missed, 0);
}

static void
fault_every_1000_reads(uint64_t *ticks)
{
	sim.tsc.fault_core = OTHER_CORE;
	sim.tsc.fault_reads = 1000;
	*ticks = 5000;
}

FAULT(set_back_every_1000_reads, fault_every_1000_reads(&sim.tsc.set_back_ticks))
FAULT(ahead_in_one_read_of_1000, fault_every_1000_reads(&sim.tsc.ahead_ticks))

static const struct ailment core_faults[] = {
	{ "clock-backward", "tsc", "one core's TSC set back by 5,000 ticks every 1,000 reads", &three, AT_START,
	  set_back_every_1000_reads },
	{ "clock-backward", "tsc", "5,000 ticks added to one read of 1,000 of one core", &three, AT_START,
	  ahead_in_one_read_of_1000 },
};

/*
 * The faulty core's TSC also drifts and causes warps. The core may be named for the drift, but the warps must add no
 * finding, and no other core may be named.
 */
TEST(a_core_whose_tsc_steps_back_is_named_and_no_other_core)
{
	for (size_t i = 0; i < sizeof(core_faults) / sizeof(core_faults[0]); i++) {
		struct bench *bench = run(&three, &core_faults[i]);
		const struct report *report = &bench->run.report;

		assert_int_equal(count_findings(report, &core_faults[i], false), 1);
		assert_string_equal(report->outcomes.findings[0].rule, "clock-backward");
		assert_int_equal(report->outcomes.findings[0].core, OTHER_CORE);
		print_message("%s\n", report->outcomes.findings[0].text);
		assert_non_null(strstr(report->outcomes.findings[0].text,
				       " No step back was seen on 2 other cores in "));
		for (size_t f = 0; f < report->outcomes.finding_count; f++) {
			print_message("%s\n", report->outcomes.findings[f].text);
			assert_true(rules_does_finding_name_core(&report->outcomes.findings[f], OTHER_CORE));
			assert_string_not_equal(report->outcomes.findings[f].rule, "tsc-warp");
		}
		assert_true(report->facts.warp_checks.locked.warps + report->facts.warp_checks.lock_free.warps > 0);
		for (size_t core = 0; core < report->facts.core_count; core++) {
			assert_int_equal(report->outcomes.sync.cores[core].steps_back, core == OTHER_CORE);
			assert_int_equal(report->facts.cores[core].tsc.backward > 0, core == OTHER_CORE);
			assert_true(report->facts.cores[core].tsc.reads > 1000);
		}
		bench_free(bench);
	}
}

TEST(every_rule_has_a_fault_in_the_table_and_every_fault_has_a_rule)
{
	for (const struct rule *rule = rules; rule->id; rule++) {
		size_t rows = 0;

		for (size_t i = 0; i < FAULTS; i++)
			rows += strcmp(faults[i].rule, rule->id) == 0;
		if (!rows != (rule->severity == VERDICT_PASS))
			fail_msg("no fault of rule %s is switched on here", rule->id);
	}
	for (size_t i = 0; i < FAULTS; i++)
		assert_non_null(rules_find(faults[i].rule));
}
