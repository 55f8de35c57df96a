/* Whole runs in a simulated guest that has clocks of KVM, Xen or Hyper-V, and the findings about these clocks. */
#include "test.h"
#include "bench.h"
#include "findings.h"
#include "sim_paravirtual.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/judge_internal.h"
#include "threads.h"

#define CORES 3

static struct bench *bench;

/* Events after the measurement of rates. */
static struct {
	bool stopped; /* true if the host stops the guest for a second */
	bool flagged, marked; /* true if KVM's flag, or vmclock's marker, announces a stop */
} host;

/* Frees the bench of the last run, and makes a guest by MAKE_GUEST(HAS_HYPERV). */
static void
begin(void (*make_guest)(bool has_hyperv), bool has_hyperv)
{
	bench_free(bench);
	bench = NULL;
	memset(&host, 0, sizeof(host));
	sim_reset();
	sim.accesses_max = UINT64_MAX;
	sim_slow_tsc_reads(8);
	make_guest(has_hyperv);
}

static void
be_a_guest_of_kvm(void)
{
	begin(sim_paravirtual_make_kvm_guest, true);
}

static void
be_a_guest_of_xen(void)
{
	begin(sim_paravirtual_make_xen_guest, true);
}

static void
tear_down(void)
{
	bench_free(bench);
	bench = NULL;
}

TEST_FIXTURE(be_a_guest_of_kvm, tear_down);

static const char *const all[] = { "tsc", "acpi_pm", "hpet", "kvmclock", "hv_ref", "hv_page", NULL };
static const char *const some[] = { "tsc", "acpi_pm", "kvmclock", NULL };
static const char *const xens[] = { "tsc", "acpi_pm", "xen", NULL };
static const char *const stoppable[] = { "tsc", "acpi_pm", "kvmclock", "rtc", NULL };
static const char *const no_hypervisors[] = { "tsc", "acpi_pm", "rtc", NULL };

/*
 * Does what `host` asks for after the rates were measured. If the host steals time, it takes the time from the core
 * while baretick looks for gaps.
 */
static void
disturb(void *context, const struct run *run, const struct run_phase *phase)
{
	if (sim_paravirtual.steal_ps)
		sim_paravirtual.steal_at_ps = text_equal(phase->id, "interference") ? sim.now_ps : SIM_NEVER;
	if (!text_equal(phase->id, "latency"))
		return;
	sim.rtc.ahead_ps += host.stopped ? SIM_PS_PER_S : 0;
	sim_paravirtual.vmclock_marker += host.marked;
	if (host.flagged)
		sim_paravirtual_set_stopped_flag();
}

static void
make_bench(const char *const *clocks)
{
	bench = bench_new();
	bench->clocks = clocks;
}

static const struct report *
run_bench(size_t cores)
{
	if (cores > 1)
		/* the pages must match the TSC, which bench_use_threads() sets to this value later */
		sim.tsc.counter.origin_ticks = THREADS_WORLD_0;
	bench_open(bench, cores);
	if (cores > 1)
		bench_use_threads(bench);
	bench->machine.phase_starts = disturb;
	return bench_run(bench);
}

static const struct report *
run_with(const char *const *clocks, size_t cores)
{
	make_bench(clocks);
	return run_bench(cores);
}

static const struct report *
run_on(size_t cores)
{
	return run_with(cores > 1 ? some : all, cores);
}

static const struct behaviour *
row_of(const char *rule, const char *clock)
{
	return find_row(&bench->run.report, rule, clock);
}

/* Asserts that the only finding is by RULE and about CLOCK, or that there is none if RULE is NULL. */
static void
assert_only(const char *rule, const char *clock)
{
	if (rule)
		(void)assert_only_finding(&bench->run.report, rule, clock);
	else
		assert_no_finding(&bench->run.report);
}

static void
assert_restored(void)
{
	assert_true(sim_paravirtual_are_settings_restored());
	assert_false(has_note(&bench->run.report, "as found"));
}

/* Asserts that the clock ID was measured on all cores, and passed. */
static void
assert_healthy(const char *id)
{
	const struct report *report = &bench->run.report;
	const struct report_clock *entry = bench_find_clock(bench, id);
	const struct report_core *last = &report->facts.cores[CORES - 1];

	assert_int_equal(entry->clock.state, CLOCK_PRESENT);
	assert_int_equal(report_get_clock_outcome(report, entry)->verdict, VERDICT_PASS);
	assert_true(entry->latency->count && report_get_figures(report, entry)->measured.known && entry->monotonic.reads);
	assert_true(last->latency[entry - report->facts.clocks].count);
	assert_true(last->contended[entry - report->facts.clocks].count);
	assert_int_equal(row_of("pv-warp", id)->measured, 0);
	assert_true(row_of("pv-warp", id)->checked);
}

static void
take_away_the_cpus_claims(void)
{
	sim_cpuid_set(0x15, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
	sim_cpuid_set(0x16, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
}

TEST(healthy_clocks_of_hypervisors_have_rows_and_no_finding)
{
	const struct report *report = run_with(all, CORES);

	assert_only(NULL, NULL);
	assert_healthy("kvmclock");
	assert_healthy("hv_ref");
	assert_healthy("hv_page");
	assert_true(text_equal(report->figures.relative_to, "acpi_pm") ||
		    text_equal(report->figures.relative_to, "hpet"));
	assert_int_equal(report->facts.machine.paravirtual.count, 2);
	assert_int_equal(report->facts.machine.paravirtual.interfaces[0].stable, STABLE_YES);
	assert_int_equal(report->facts.machine.paravirtual.interfaces[1].stable, STABLE_YES);
	assert_restored();
}

TEST(xens_clock_and_hypervs_clock_have_rows_and_no_finding)
{
	static const char *const clocks[] = { "tsc", "acpi_pm", "hpet", "hv_ref", "hv_page", "xen", NULL };
	const struct report *report;

	be_a_guest_of_xen();
	report = run_with(clocks, CORES);
	assert_only(NULL, NULL);
	assert_healthy("xen");
	assert_true(row_of("pv-claim", "xen")->checked);
	assert_int_equal(report->facts.machine.paravirtual.count, 2);
	assert_string_equal(report->facts.machine.paravirtual.interfaces[1].name, "Xen");
	assert_int_equal(report->facts.machine.paravirtual.interfaces[1].stable, STABLE_YES);
	assert_restored();
}

static const struct {
	const char *name;
	void (*begin)(void);
	const char *const *clocks;
	const char *page; /* the clock that has a page for each core */
} guests[] = {
	{ "KVM", be_a_guest_of_kvm, some, "kvmclock" },
	{ "Xen", be_a_guest_of_xen, xens, "xen" },
};

#define GUESTS (sizeof(guests) / sizeof(guests[0]))

TEST(a_core_whose_page_lags_is_the_only_finding)
{
	for (size_t i = 0; i < GUESTS; i++) {
		print_message("%s\n", guests[i].name);
		guests[i].begin();
		sim_paravirtual.page_lead_ns[1] = -50000;
		(void)run_with(guests[i].clocks, CORES);
		assert_only("pv-warp", guests[i].page);
		assert_non_null(strstr(row_of("pv-warp", guests[i].page)->text, "ahead of core 1 by "));
	}
}

TEST(a_page_that_stops_is_stuck_and_no_other_clock_is_named)
{
	for (size_t i = 0; i < GUESTS; i++) {
		print_message("%s\n", guests[i].name);
		guests[i].begin();
		sim_paravirtual.odd_at_ps = 30 * SIM_PS_PER_MS;
		(void)run_with(guests[i].clocks, 1);
		assert_only("clock-stuck", guests[i].page);
		assert_true(sim_paravirtual_are_settings_restored());
	}
}

TEST(a_core_whose_page_lags_is_no_fault_if_pages_are_not_called_stable)
{
	sim_paravirtual.page_lead_ns[1] = -50000;
	sim_paravirtual.not_stable = true;
	assert_int_equal(run_on(CORES)->facts.machine.paravirtual.interfaces[1].stable, STABLE_NO);
	assert_only(NULL, NULL);
	assert_false(row_of("pv-warp", "kvmclock")->checked);
}

/* Hyper-V promises that its counter is the same on all cores. Only its page says whether the TSC is the same too. */
TEST(only_hypervs_page_says_whether_the_tsc_is_the_same_on_all_cores)
{
	sim_paravirtual.no_sequence = true;
	assert_int_equal(run_with(all, CORES)->facts.machine.paravirtual.interfaces[0].stable, STABLE_UNKNOWN);
	assert_true(row_of("pv-warp", "hv_ref")->checked);
}

static bool
are_some_short_of_time(void)
{
	const struct behaviours *behaviours = &bench->run.report.outcomes.behaviours;

	for (size_t i = 0; i < behaviours->count; i++)
		if (!behaviours->rows[i].checked && strstr(behaviours->rows[i].text, " were left "))
			return true;
	return false;
}

/* In a nested guest, accesses to devices are so slow that the checks of devices use up their time. */
TEST(slow_accesses_to_devices_leave_time_for_the_checks_of_pages)
{
	for (size_t i = SIM_IN; i <= SIM_MSR_WRITE; i++)
		sim.cost_ps[i] = SIM_PS_PER_MS;
	(void)run_with(all, 1);
	assert_true(row_of("pv-claim", "kvmclock")->checked);
	assert_true(row_of("pv-claim", "hv_page")->checked);
	assert_true(row_of("pv-page-apart", "hv_page")->checked);
	assert_true(are_some_short_of_time());
}

/* The page sets the time scale here. Its rate is not checked, because it would be compared with itself. */
TEST(the_rate_in_a_page_that_sets_the_time_scale_is_not_checked)
{
	static const char *const alone[] = { "tsc", "kvmclock", NULL };

	take_away_the_cpus_claims();
	assert_string_equal(run_with(alone, 1)->figures.relative_to, "kvmclock");
	assert_false(row_of("pv-claim", "kvmclock")->checked);
	assert_string_equal(row_of("pv-claim", "kvmclock")->text,
			    "No clock that is independent of the TSC and the hypervisor measured the TSC's rate.");
}

TEST(an_msr_that_is_not_restored_on_other_cores_is_reported)
{
	sim_paravirtual.keeps_msr = true;
	assert_true(has_note(run_on(CORES), "Not restored: a hypervisor's clock on 2 other cores."));
}

TEST(a_core_that_does_not_answer_at_the_end_is_reported)
{
	make_bench(some);
	bench->mute = 2;
	bench->mute_after_jobs = 0;
	assert_true(has_note(run_bench(CORES), "Possibly not restored: a hypervisor's clock on 1 other core that was not "
			     "asked to restore it or did not answer"));
}

/* Hyper-V's counter is present, but is not named, because the hypervisor does not calculate it from the page. */
TEST(pages_that_state_a_wrong_rate_are_named)
{
	static const char *const found[][2] = {
		{ "pv-rate", "kvmclock" }, { "pv-page-apart", "hv_page" }, { "pv-claim", "hv_page" },
	};
	const struct report *report;

	take_away_the_cpus_claims();
	sim_paravirtual.fast_ppm = 2000;
	report = run_on(1);
	assert_int_equal(report->outcomes.finding_count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(report->outcomes.findings[i].rule, found[i][0]);
		assert_string_equal(report->outcomes.findings[i].clock, found[i][1]);
	}
	assert_int_equal(report->outcomes.findings[0].measured, 2004);
}

/* The only other clocks are devices of one host, so nothing shows whether the page or the devices are wrong. */
TEST(a_page_with_a_wrong_rate_is_not_named_if_only_devices_contradict_it)
{
	const struct report *report;

	begin(sim_paravirtual_make_kvm_guest, false);
	take_away_the_cpus_claims();
	sim_paravirtual.fast_ppm = 2000;
	report = run_on(1);
	assert_only("rate-disagree", NULL);
	assert_false(row_of("pv-claim", "kvmclock")->checked && !row_of("pv-claim", "kvmclock")->open);
	assert_true(text_equal(report->figures.relative_to, "acpi_pm") ||
		    text_equal(report->figures.relative_to, "hpet"));
}

/*
 * A pause stops the counter that Xen offers through Hyper-V's interface. The counter loses time, but does not step
 * back.
 */
TEST(a_clock_that_its_hypervisor_stops_in_a_pause_is_not_named)
{
	static const char *const clocks[] = { "tsc", "acpi_pm", "hv_ref", "xen", NULL };
	const struct report *report;

	be_a_guest_of_xen();
	sim_paravirtual.paused_at_ps = 150 * SIM_PS_PER_MS;
	sim_paravirtual.paused_ps = 114 * SIM_PS_PER_MS;
	report = run_with(clocks, 1);
	assert_int_equal(sim_paravirtual.paused_at_ps, SIM_NEVER);
	assert_int_equal(report->figures.discontinuity_count, 1);
	assert_int_equal(report->outcomes.discontinuities[0].class, DISCONTINUITY_PARTED);
	assert_only("clocks-parted", NULL);
}

TEST(a_stop_is_a_finding_only_if_kvms_flag_does_not_announce_it)
{
	static const struct {
		const char *name;
		bool stopped, flagged;
		const char *rule, *text;
	} cases[] = {
		{ "announced", true, true, NULL,
		  "The clocks show 1 disruption, which kvm-clock's flag GUEST_STOPPED announced." },
		{ "not announced", true, false, "pv-untold",
		  "The clocks show 1 disruption, but kvm-clock's flag GUEST_STOPPED announced none." },
		{ "announced without a stop", false, true, NULL, "No clock shows a disruption, but see the notes." },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].name);
		be_a_guest_of_kvm();
		host.stopped = cases[i].stopped;
		host.flagged = cases[i].flagged;
		(void)run_with(stoppable, 1);
		assert_only(cases[i].rule, "kvmclock");
		assert_string_equal(row_of("pv-untold", "kvmclock")->text, cases[i].text);
		assert_int_equal(has_note(&bench->run.report, "announced by kvm-clock's flag GUEST_STOPPED"), !cases[i].stopped);
		assert_true(sim_paravirtual_are_settings_restored());
	}
}

/* Asserts that the clocks of the hypervisors count from BEHIND_NS after the moment at which the TSC was 0. */
static void
assert_counts_behind_tsc(const struct report *report, int64_t behind_ns)
{
	static const char *const ids[] = { "kvmclock", "hv_ref", "hv_page" };

	assert_only(NULL, NULL);
	for (size_t i = 0; i < 3; i++) {
		const struct interval_ns *behind = &report_get_figures(report, bench_find_clock(bench, ids[i]))->behind_tsc;

		assert_true(behind->known && behind->low <= behind_ns && behind_ns <= behind->high);
		assert_true(behind->high - behind->low < (int64_t)NS_PER_MS);
	}
	assert_false(report_get_figures(report, bench_find_clock(bench, "hpet"))->behind_tsc.known);
	assert_int_equal(has_note(report, "Counted from 0, the TSC is ahead of kvmclock by 36.2"), behind_ns > 0);
	assert_int_equal(has_note(report, "Counted from 0, the TSC is behind kvmclock by 21.2"), behind_ns < 0);
}

TEST(clocks_that_a_hypervisor_reset_without_the_tsc_are_a_note)
{
	sim.tsc.counter.origin_ticks = 3626 * sim.tsc.counter.hz.num / sim.tsc.counter.hz.den / 100;
	assert_counts_behind_tsc(run_on(1), 36260 * (int64_t)NS_PER_MS);
}

/* KVM does this at a reset of its guest: QEMU 7.2, system_reset 21 s after the start. */
TEST(a_tsc_that_a_hypervisor_reset_without_its_clocks_is_a_note)
{
	sim_advance_ps(30 * SIM_PS_PER_S);
	sim.tsc.counter.origin_ps = 21200 * SIM_PS_PER_MS;
	assert_counts_behind_tsc(run_on(1), -21200 * (int64_t)NS_PER_MS);
}

TEST(clocks_that_count_from_the_same_moment_as_the_tsc_are_no_note)
{
	sim.tsc.counter.origin_ticks = 0;
	assert_counts_behind_tsc(run_on(1), 0);
}

TEST(rates_of_a_guest_whose_clocks_have_one_source_have_no_reference)
{
	take_away_the_cpus_claims();
	assert_true(run_on(1)->advice.answer.no_reference);
	assert_int_equal(row_of("rate-off", "hpet")->unchecked, UNCHECKED_NO_REFERENCE);
}

TEST(rates_that_two_sources_confirm_have_a_reference)
{
	sim.hpet.counter.hz.num = sim.hpet.counter.hz.num / 1000000 * 1000020;
	sim.pm.counter.hz.num = sim.pm.counter.hz.num * 1000020;
	sim.pm.counter.hz.den *= 1000000;
	assert_false(run_on(1)->advice.answer.no_reference);
}

/* Stops a guest that has vmclock's page. */
static void
stop_with_vmclock(void)
{
	host.stopped = true;
	sim_paravirtual_add_vmclock();
	make_bench(no_hypervisors);
	bench->platform.acpi.vmclock = SIM_VMCLOCK_BASE;
	(void)run_bench(1);
}

TEST(a_marker_that_does_not_change_is_named_and_one_that_changes_is_not)
{
	stop_with_vmclock();
	assert_only("pv-untold", "vmclock");
	be_a_guest_of_kvm();
	host.marked = true;
	stop_with_vmclock();
	assert_only(NULL, NULL);
	assert_true(row_of("pv-untold", "vmclock")->checked);
}

TEST(a_page_that_stays_zero_is_a_row_with_a_reason)
{
	sim_paravirtual.vmclock_empty = true;
	stop_with_vmclock();
	assert_only(NULL, NULL);
	assert_false(row_of("pv-untold", "vmclock")->checked);
	assert_string_equal(row_of("pv-untold", "vmclock")->text,
			    "The hypervisor offers vmclock's disruption marker, but without the contents that its specification requires.");
}

TEST(cores_whose_page_xen_refuses_are_counted_and_no_fault_is_found)
{
	be_a_guest_of_xen();
	sim_paravirtual.xen_error = 22;
	sim_paravirtual.xen_error_core = 1;
	(void)run_with(xens, CORES);
	assert_only(NULL, NULL);
	assert_false(row_of("pv-warp", "xen")->checked);
	assert_non_null(strstr(row_of("pv-claim", "xen")->text, " The hypervisor refused a page for 2 other cores."));
}

static const struct report *
run_stolen(const char *const *clocks, fault_guard *guard)
{
	sim_paravirtual.steal_ps = 2 * SIM_PS_PER_MS;
	if (!sim_paravirtual.steal_every_ps)
		sim_paravirtual.steal_every_ps = 10 * SIM_PS_PER_MS;
	make_bench(clocks);
	bench->duration_ns = 100000000;
	bench->guard = guard;
	return run_bench(1);
}

static const struct report *
run_stolen_by_kvm(unsigned percent)
{
	sim_paravirtual_offer_stolen_time();
	sim_paravirtual.steal_percent = percent;
	return run_stolen(some, NULL);
}

TEST(stolen_time_that_kvm_counts_is_no_finding)
{
	const struct report_stolen *stolen = &run_stolen_by_kvm(100)->figures.interference.stolen;

	assert_only(NULL, NULL);
	assert_true(row_of("pv-steal", "kvm_steal")->checked);
	assert_true(stolen->reported_ns && stolen->reported_low_ns <= stolen->high_ns);
	assert_true(stolen->low_ns && stolen->low_ns <= stolen->reported_ns);
	assert_true(sim_paravirtual_are_settings_restored());
}

/*
 * If firmware starts the cores, baretick cannot read their counters of stolen time. The simulated machine has no
 * firmware. Therefore the test adds 1 ms of observation in which no counter was read.
 */
TEST(counters_of_cores_that_firmware_starts_are_not_read_and_the_row_says_so)
{
	struct report *report;

	(void)run_stolen_by_kvm(100);
	report = &bench->run.report;
	assert_null(strstr(row_of("pv-steal", "kvm_steal")->text, "lends"));
	report->facts.options.cores.method = CORES_MP;
	report->figures.interference.observed_ns += SIM_PS_PER_MS;
	report->outcomes.behaviours.count = 0;
	judge_reported_stolen_time(report, &report->outcomes);
	assert_true(row_of("pv-steal", "kvm_steal")->checked);
	assert_non_null(strstr(row_of("pv-steal", "kvm_steal")->text,
			       " The stolen-time counters of cores that run through the firmware's MP services "
			       "(cores=mp) were not read."));
}

static bool
fault_at_once(void (*work)(void *argument), void *argument, struct fault *fault)
{
	return false;
}

/* Gaps of 30 ms that the host does not report as stolen may come from page faults in the host. */
TEST(stolen_time_is_a_finding_only_if_kvm_counts_much_of_it_wrong)
{
	static const struct {
		const char *name;
		unsigned percent, every_ms;
		bool is_silent;
		fault_guard *guard;
		const char *rule, *text;
	} cases[] = {
		{ "not counted", 0, 10, false, NULL, "pv-steal",
		  "The host took at least 16.6 % of the cores' time, and reports 0.0 % as stolen." },
		{ "counted six times", 600, 10, false, NULL, "pv-steal", NULL }, /* the text has measured durations */
		{ "a few long gaps, not counted", 0, 30, false, NULL, NULL,
		  "The host took at least 5.6 % of the cores' time, and reports 0.0 % as stolen." },
		{ "no counter is written", 0, 10, true, NULL, NULL,
		  "KVM's CPUID leaf offers its counter of stolen time, but KVM does not write it." },
		{ "the counter's MSR faults", 0, 10, false, fault_at_once, NULL,
		  "KVM's CPUID leaf offers its counter of stolen time, but an access to MSR 4B564D03h faulted." },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].name);
		be_a_guest_of_kvm();
		sim_paravirtual_offer_stolen_time();
		sim_paravirtual.steal_percent = cases[i].percent;
		sim_paravirtual.steal_every_ps = cases[i].every_ms * SIM_PS_PER_MS;
		sim_paravirtual.steal_silent = cases[i].is_silent;
		(void)run_stolen(some, cases[i].guard);
		assert_only(cases[i].rule, "kvm_steal");
		if (cases[i].text)
			assert_string_equal(row_of("pv-steal", "kvm_steal")->text, cases[i].text);
		else
			assert_non_null(strstr(row_of("pv-steal", "kvm_steal")->text, "took at most "));
		assert_int_equal(row_of("pv-steal", "kvm_steal")->checked, !cases[i].is_silent && !cases[i].guard);
		assert_true(sim_paravirtual_are_settings_restored());
	}
}

/* A host may hide its counter of stolen time, as QEMU does with -cpu host,kvm-steal-time=off. */
TEST(without_a_counter_of_stolen_time_there_is_no_row)
{
	const struct report *report = run_stolen(some, NULL);

	assert_only(NULL, NULL);
	assert_null(report->facts.stolen_counters.counter);
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++)
		assert_string_not_equal(report->outcomes.behaviours.rows[i].rule, "pv-steal");
}

TEST(stolen_time_is_not_determined_after_a_discontinuity)
{
	sim_paravirtual_offer_stolen_time();
	sim_paravirtual.steal_percent = 0;
	host.stopped = true;
	(void)run_stolen(stoppable, NULL);
	assert_only("pv-untold", "kvmclock");
	assert_true(row_of("pv-steal", "kvm_steal")->open);
}

TEST(stolen_time_is_a_finding_only_if_xen_does_not_count_it)
{
	be_a_guest_of_xen();
	(void)run_stolen(some, NULL);
	assert_only(NULL, NULL);
	assert_true(row_of("pv-steal", "xen_runstate")->checked);
	be_a_guest_of_xen();
	sim_paravirtual.steal_percent = 0;
	(void)run_stolen(some, NULL);
	assert_only("pv-steal", "xen_runstate");
}

/*
 * Runs with a vmclock page that states a rate of the TSC FAST_PPM above its true rate, and a maximum error of 50 ppm.
 */
static void
run_with_vmclock(uint64_t fast_ppm)
{
	const uint64_t period = UINT64_C(19342813113834066); /* 1 ns in units of 2^-84 s */

	sim_paravirtual.vmclock_counter = 1;
	sim_paravirtual.vmclock_period = period - period / 1000000 * fast_ppm;
	sim_paravirtual.vmclock_max_error = period / 1000000 * 50;
	sim_paravirtual_add_vmclock();
	make_bench(some);
	bench->platform.acpi.vmclock = SIM_VMCLOCK_BASE;
	platform_read_rate_claims(&bench->platform, NULL);
	(void)run_bench(1);
}

TEST(vmclocks_rate_is_a_finding_only_beyond_its_stated_error)
{
	run_with_vmclock(40);
	assert_only(NULL, NULL);
	be_a_guest_of_kvm();
	run_with_vmclock(300);
	assert_only("tsc-claim", NULL);
	assert_non_null(strstr(bench->run.report.outcomes.findings[0].text, "vmclock's page"));
}
