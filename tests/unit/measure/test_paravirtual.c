/* Whole runs in a simulated guest that has clocks of KVM, Xen or Hyper-V, and the findings about these clocks. */
#include "test.h"
#include "bench.h"
#include "sim_paravirtual.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/judge_internal.h"
#include "threads.h"

#define CORES 3

static struct bench *bench;

static void
set_up(void)
{
	sim_reset();
	sim.accesses_max = UINT64_MAX;
	sim_slow_tsc_reads(8);
	sim_paravirtual_make_kvm_guest(true);
}

static void
tear_down(void)
{
	bench_free(bench);
	bench = NULL;
}

TEST_FIXTURE(set_up, tear_down);

static const char *const all[] = { "tsc", "acpi_pm", "hpet", "kvmclock", "hv_ref", "hv_page", NULL };
static const char *const some[] = { "tsc", "acpi_pm", "kvmclock", NULL };

static const struct report *
run_with(const char *const *clocks, size_t cores)
{
	bench = bench_new();
	bench->clocks = clocks;
	if (cores > 1)
		/* the pages must match the TSC, which bench_use_threads() sets to this value later */
		sim.tsc.counter.origin_ticks = THREADS_WORLD_0;
	bench_open(bench, cores);
	if (cores > 1)
		bench_use_threads(bench);
	run_measure(&bench->run);
	bench_close(bench);
	return &bench->run.report;
}

static const struct report *
run_on(size_t cores)
{
	return run_with(cores > 1 ? some : all, cores);
}

static const struct behaviour *
row_of(const char *rule, const char *clock)
{
	const struct behaviour *row = rules_find_row(&bench->run.report, rule, clock);

	if (!row)
		fail_msg("no row %s of %s", rule, clock);
	return row;
}

/* Asserts that only CLOCK has findings, and only by RULE. If CLOCK is NULL, no clock has findings. */
static void
assert_only(const char *rule, const char *clock)
{
	const struct report *report = &bench->run.report;
	size_t named = 0;

	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		if (!rule || !text_equal(finding->rule, rule) || !finding->clock || !text_equal(finding->clock, clock))
			fail_msg("%s of %s: %s", finding->rule, finding->clock ? finding->clock : "-", finding->text);
		named++;
	}
	assert_int_equal(named, rule != NULL);
}

static void
take_away_the_cpus_claims(void)
{
	sim_cpuid_set(0x15, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
	sim_cpuid_set(0x16, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
}

TEST(healthy_clocks_of_hypervisors_have_rows_and_no_finding)
{
	static const char *const ids[] = { "kvmclock", "hv_ref", "hv_page" };
	const struct report *report = run_with(all, CORES);

	assert_only(NULL, NULL);
	for (size_t i = 0; i < 3; i++) {
		const struct report_clock *entry = bench_find_clock(bench, ids[i]);

		assert_int_equal(entry->clock.state, CLOCK_PRESENT);
		assert_int_equal(report_get_clock_outcome(report, entry)->verdict, VERDICT_PASS);
		assert_true(entry->latency->count && report_get_figures(report, entry)->measured.known && entry->monotonic.reads);
		assert_true(report->facts.cores[CORES - 1].latency[entry - report->facts.clocks].count);
		assert_true(report->facts.cores[CORES - 1].contended[entry - report->facts.clocks].count);
		assert_int_equal(row_of("pv-warp", ids[i])->measured, 0);
		assert_true(row_of("pv-warp", ids[i])->checked);
	}
	assert_true(text_equal(report->figures.relative_to, "acpi_pm") ||
		    text_equal(report->figures.relative_to, "hpet"));
	assert_int_equal(report->facts.machine.paravirtual.count, 2);
	assert_int_equal(report->facts.machine.paravirtual.interfaces[0].stable, STABLE_YES);
	assert_int_equal(report->facts.machine.paravirtual.interfaces[1].stable, STABLE_YES);
	assert_true(sim_paravirtual_are_settings_restored());
	for (size_t i = 0; i < report->notes.count; i++)
		assert_null(strstr(report->notes.sentences[i], "as found"));
}

TEST(a_core_whose_kvm_page_lags_is_the_only_finding)
{
	sim_paravirtual.page_lead_ns[1] = -50000;
	(void)run_on(CORES);
	assert_only("pv-warp", "kvmclock");
	assert_non_null(strstr(row_of("pv-warp", "kvmclock")->text, "ahead of core 1 by "));
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
	const struct report *report;
	bool said = false;

	sim_paravirtual.keeps_msr = true;
	report = run_on(CORES);
	for (size_t i = 0; i < report->notes.count; i++)
		said |= strstr(report->notes.sentences[i], "Not restored: a hypervisor's clock on 2 other cores.") != NULL;
	assert_true(said);
}

TEST(a_core_that_does_not_answer_at_the_end_is_reported)
{
	const struct report *report;
	bool said = false;

	bench = bench_new();
	bench->clocks = some;
	bench->mute = 2;
	bench->mute_after_jobs = 0;
	sim.tsc.counter.origin_ticks = THREADS_WORLD_0;
	bench_open(bench, CORES);
	bench_use_threads(bench);
	run_measure(&bench->run);
	bench_close(bench);
	report = &bench->run.report;
	for (size_t i = 0; i < report->notes.count; i++)
		said |= strstr(report->notes.sentences[i],
			       "Possibly not restored: a hypervisor's clock on 1 other core that was not "
			       "asked to restore it or did not answer") != NULL;
	assert_true(said);
}

TEST(a_page_that_stops_is_stuck_and_no_other_clock_is_named)
{
	sim_paravirtual.odd_at_ps = 30 * SIM_PS_PER_MS;
	(void)run_on(1);
	assert_only("clock-stuck", "kvmclock");
	assert_true(sim_paravirtual_are_settings_restored());
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

	sim_reset();
	sim.accesses_max = UINT64_MAX;
	sim_slow_tsc_reads(8);
	sim_paravirtual_make_kvm_guest(false);
	take_away_the_cpus_claims();
	sim_paravirtual.fast_ppm = 2000;
	report = run_on(1);
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(report->outcomes.findings[0].rule, "rate-disagree");
	assert_null(report->outcomes.findings[0].clock);
	assert_false(row_of("pv-claim", "kvmclock")->checked && !row_of("pv-claim", "kvmclock")->open);
	assert_true(text_equal(report->figures.relative_to, "acpi_pm") ||
		    text_equal(report->figures.relative_to, "hpet"));
}

static void
be_a_guest_of_xen(void)
{
	sim_reset();
	sim.accesses_max = UINT64_MAX;
	sim_slow_tsc_reads(8);
	sim_paravirtual_make_xen_guest(true);
}

static const char *const xens[] = { "tsc", "acpi_pm", "xen", NULL };

TEST(xens_clock_and_hypervs_clock_have_rows_and_no_finding)
{
	static const char *const clocks[] = { "tsc", "acpi_pm", "hpet", "hv_ref", "hv_page", "xen", NULL };
	const struct report *report;
	const struct report_clock *entry;

	be_a_guest_of_xen();
	report = run_with(clocks, CORES);
	assert_only(NULL, NULL);
	entry = bench_find_clock(bench, "xen");
	assert_int_equal(report_get_clock_outcome(report, entry)->verdict, VERDICT_PASS);
	assert_true(entry->latency->count && report_get_figures(report, entry)->measured.known && entry->monotonic.reads);
	assert_true(report->facts.cores[CORES - 1].latency[entry - report->facts.clocks].count);
	assert_true(report->facts.cores[CORES - 1].contended[entry - report->facts.clocks].count);
	assert_true(row_of("pv-warp", "xen")->checked);
	assert_true(row_of("pv-claim", "xen")->checked);
	assert_int_equal(report->facts.machine.paravirtual.count, 2);
	assert_string_equal(report->facts.machine.paravirtual.interfaces[1].name, "Xen");
	assert_int_equal(report->facts.machine.paravirtual.interfaces[1].stable, STABLE_YES);
	assert_true(sim_paravirtual_are_settings_restored());
	for (size_t i = 0; i < report->notes.count; i++)
		assert_null(strstr(report->notes.sentences[i], "as found"));
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
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(report->outcomes.findings[0].rule, "clocks-parted");
	assert_null(report->outcomes.findings[0].clock);
}

static const char *const stoppable[] = { "tsc", "acpi_pm", "kvmclock", "rtc", NULL };

static struct {
	bool stopped, flagged, marked;
} host;

/* After the rates were measured, stops the machine for a second or announces a stop, as set in `host`. */
static void
disrupt(void *context, const struct run *run, const struct run_phase *phase)
{
	if (!text_equal(phase->id, "latency"))
		return;
	sim.rtc.ahead_ps += host.stopped ? SIM_PS_PER_S : 0;
	sim_paravirtual.vmclock_marker += host.marked;
	if (host.flagged)
		sim_paravirtual_set_stopped_flag();
}

static const struct report *
run_disrupted(const char *const *clocks, bool vmclock)
{
	bench = bench_new();
	bench->clocks = clocks;
	bench_open(bench, 1);
	if (vmclock) {
		sim_paravirtual_add_vmclock();
		bench->platform.acpi.vmclock = SIM_VMCLOCK_BASE;
	}
	bench->machine.phase_starts = disrupt;
	run_measure(&bench->run);
	bench_close(bench);
	return &bench->run.report;
}

static bool
is_noted(const struct report *report, const char *words)
{
	bool any = false;

	for (size_t i = 0; i < report->notes.count; i++)
		any |= strstr(report->notes.sentences[i], words) != NULL;
	return any;
}

TEST(a_stop_that_kvms_flag_announces_is_no_finding)
{
	host.stopped = host.flagged = true;
	assert_int_equal(run_disrupted(stoppable, false)->outcomes.finding_count, 0);
	assert_string_equal(row_of("pv-untold", "kvmclock")->text,
			    "The clocks show 1 disruption, which kvm-clock's flag GUEST_STOPPED announced.");
	assert_true(sim_paravirtual_are_settings_restored());
}

TEST(a_stop_without_the_flag_is_the_only_finding)
{
	host.stopped = true;
	host.flagged = false;
	assert_int_equal(run_disrupted(stoppable, false)->outcomes.finding_count, 1);
	assert_only("pv-untold", "kvmclock");
	assert_string_equal(row_of("pv-untold", "kvmclock")->text,
			    "The clocks show 1 disruption, but kvm-clock's flag GUEST_STOPPED announced none.");
}

TEST(a_flag_without_a_stop_is_a_note)
{
	host.stopped = false;
	host.flagged = true;
	assert_int_equal(run_disrupted(stoppable, false)->outcomes.finding_count, 0);
	assert_true(is_noted(&bench->run.report, "announced by kvm-clock's flag GUEST_STOPPED"));
	assert_string_equal(row_of("pv-untold", "kvmclock")->text, "No clock shows a disruption, but see the notes.");
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
	assert_int_equal(is_noted(report, "Counted from 0, the TSC is ahead of kvmclock by 36.2"), behind_ns > 0);
	assert_int_equal(is_noted(report, "Counted from 0, the TSC is behind kvmclock by 21.2"), behind_ns < 0);
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

TEST(a_marker_that_does_not_change_is_named_and_one_that_changes_is_not)
{
	static const char *const clocks[] = { "tsc", "acpi_pm", "rtc", NULL };

	host.stopped = true;
	host.flagged = host.marked = false;
	assert_int_equal(run_disrupted(clocks, true)->outcomes.finding_count, 1);
	assert_only("pv-untold", "vmclock");
	bench_free(bench);
	(void)set_up();
	host.marked = true;
	assert_int_equal(run_disrupted(clocks, true)->outcomes.finding_count, 0);
	assert_true(row_of("pv-untold", "vmclock")->checked);
	host.marked = false;
}

TEST(a_page_that_stays_zero_is_a_row_with_a_reason)
{
	static const char *const clocks[] = { "tsc", "acpi_pm", "rtc", NULL };

	host.stopped = true;
	host.flagged = false;
	sim_paravirtual.vmclock_empty = true;
	assert_int_equal(run_disrupted(clocks, true)->outcomes.finding_count, 0);
	assert_false(row_of("pv-untold", "vmclock")->checked);
	assert_string_equal(row_of("pv-untold", "vmclock")->text,
			    "The hypervisor offers vmclock's disruption marker, but without the contents that its specification requires.");
}

TEST(a_core_whose_xen_page_lags_is_the_only_finding)
{
	be_a_guest_of_xen();
	sim_paravirtual.page_lead_ns[1] = -50000;
	(void)run_with(xens, CORES);
	assert_only("pv-warp", "xen");
	assert_non_null(strstr(row_of("pv-warp", "xen")->text, "ahead of core 1 by "));
}

TEST(a_xen_page_that_stops_is_stuck_and_no_other_clock_is_named)
{
	be_a_guest_of_xen();
	sim_paravirtual.odd_at_ps = 30 * SIM_PS_PER_MS;
	(void)run_with(xens, 1);
	assert_only("clock-stuck", "xen");
	assert_true(sim_paravirtual_are_settings_restored());
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

/* Takes 2 ms from the core several times, while baretick looks for gaps. */
static void
take_time(void *context, const struct run *run, const struct run_phase *phase)
{
	sim_paravirtual.steal_at_ps = text_equal(phase->id, "interference") ? sim.now_ps : SIM_NEVER;
}

static const struct report *
run_stolen(fault_guard *guard)
{
	sim_paravirtual.steal_ps = 2 * SIM_PS_PER_MS;
	if (!sim_paravirtual.steal_every_ps)
		sim_paravirtual.steal_every_ps = 10 * SIM_PS_PER_MS;
	bench = bench_new();
	bench->clocks = some;
	bench->duration_ns = 100000000;
	bench->guard = guard;
	bench_open(bench, 1);
	bench->machine.phase_starts = take_time;
	run_measure(&bench->run);
	bench_close(bench);
	return &bench->run.report;
}

static const struct report *
run_stolen_by_kvm(unsigned percent)
{
	sim_paravirtual_offer_stolen_time();
	sim_paravirtual.steal_percent = percent;
	return run_stolen(NULL);
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

TEST(stolen_time_that_kvm_does_not_count_is_the_only_finding)
{
	(void)run_stolen_by_kvm(0);
	assert_only("pv-steal", "kvm_steal");
	assert_string_equal(row_of("pv-steal", "kvm_steal")->text,
			    "The host took at least 16.6 % of the cores' time, and reports 0.0 % as stolen.");
}

TEST(stolen_time_that_kvm_counts_several_times_is_the_only_finding)
{
	(void)run_stolen_by_kvm(600);
	assert_only("pv-steal", "kvm_steal");
	assert_non_null(strstr(row_of("pv-steal", "kvm_steal")->text, "took at most "));
}

TEST(an_unwritten_counter_of_kvm_is_a_row_with_a_reason)
{
	sim_paravirtual.steal_silent = true;
	(void)run_stolen_by_kvm(0);
	assert_only(NULL, NULL);
	assert_false(row_of("pv-steal", "kvm_steal")->checked);
	assert_string_equal(row_of("pv-steal", "kvm_steal")->text,
			    "KVM's CPUID leaf offers its counter of stolen time, but KVM does not write it.");
	assert_true(sim_paravirtual_are_settings_restored());
}

static bool
fault_at_once(void (*work)(void *argument), void *argument, struct fault *fault)
{
	return false;
}

TEST(a_counter_whose_msr_faults_is_a_row_with_a_reason)
{
	sim_paravirtual_offer_stolen_time();
	sim_paravirtual.steal_percent = 0;
	(void)run_stolen(fault_at_once);
	assert_only(NULL, NULL);
	assert_string_equal(row_of("pv-steal", "kvm_steal")->text,
			    "KVM's CPUID leaf offers its counter of stolen time, but an access to MSR 4B564D03h faulted.");
}

/* Gaps that the host does not report as stolen may come from page faults in the host. */
TEST(a_few_long_gaps_that_no_host_counts_are_no_finding)
{
	sim_paravirtual.steal_every_ps = 30 * SIM_PS_PER_MS;
	(void)run_stolen_by_kvm(0);
	assert_only(NULL, NULL);
	assert_string_equal(row_of("pv-steal", "kvm_steal")->text,
			    "The host took at least 5.6 % of the cores' time, and reports 0.0 % as stolen.");
}

/* A host may hide its counter of stolen time, as QEMU does with -cpu host,kvm-steal-time=off. */
TEST(without_a_counter_of_stolen_time_there_is_no_row)
{
	const struct report *report = run_stolen(NULL);

	assert_only(NULL, NULL);
	assert_null(report->facts.stolen_counters.counter);
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++)
		assert_string_not_equal(report->outcomes.behaviours.rows[i].rule, "pv-steal");
}

static void
take_time_and_stop(void *context, const struct run *run, const struct run_phase *phase)
{
	take_time(context, run, phase);
	sim.rtc.ahead_ps += text_equal(phase->id, "latency") ? SIM_PS_PER_S : 0;
}

TEST(stolen_time_is_not_determined_after_a_discontinuity)
{
	sim_paravirtual_offer_stolen_time();
	sim_paravirtual.steal_percent = 0;
	sim_paravirtual.steal_ps = 2 * SIM_PS_PER_MS;
	sim_paravirtual.steal_every_ps = 10 * SIM_PS_PER_MS;
	bench = bench_new();
	bench->clocks = stoppable;
	bench->duration_ns = 100000000;
	bench_open(bench, 1);
	bench->machine.phase_starts = take_time_and_stop;
	run_measure(&bench->run);
	bench_close(bench);
	assert_only("pv-untold", "kvmclock");
	assert_true(row_of("pv-steal", "kvm_steal")->open);
}

TEST(stolen_time_is_a_finding_only_if_xen_does_not_count_it)
{
	be_a_guest_of_xen();
	(void)run_stolen(NULL);
	assert_only(NULL, NULL);
	assert_true(row_of("pv-steal", "xen_runstate")->checked);
	bench_free(bench);
	be_a_guest_of_xen();
	sim_paravirtual.steal_percent = 0;
	(void)run_stolen(NULL);
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
	bench = bench_new();
	bench->clocks = some;
	bench->platform.acpi.vmclock = SIM_VMCLOCK_BASE;
	platform_read_rate_claims(&bench->platform, NULL);
	bench_open(bench, 1);
	run_measure(&bench->run);
	bench_close(bench);
}

TEST(vmclocks_rate_is_a_finding_only_beyond_its_stated_error)
{
	run_with_vmclock(40);
	assert_only(NULL, NULL);
	bench_free(bench);
	(void)set_up();
	run_with_vmclock(300);
	assert_int_equal(bench->run.report.outcomes.finding_count, 1);
	assert_string_equal(bench->run.report.outcomes.findings[0].rule, "tsc-claim");
	assert_non_null(strstr(bench->run.report.outcomes.findings[0].text, "vmclock's page"));
}
