/*
 * Cores and clocks in HLT: draws a fault, lets the cores of a trial sleep, and compares the report with the truth. The
 * phase `sleep` is simulated in drawn trials, too.
 */
#include <stdio.h>
#include <string.h>

#include "draw.h"
#include "draw_machine.h"
#include "kinds.h"
#include "rules/rules.h"
#include "sim_sleep.h"
#include "tally.h"
#include "verdict.h"

#define THERMAL 0x6u
#define ARAT    4u

static struct {
	uint32_t fault; /* drawn for this trial; SIM_SLEEP_HEALTHY in other kinds */
	bool has_arat;
} drawn;

static size_t
get_running_core(void)
{
	return sim.core;
}

static uint64_t
get_now_ps(void)
{
	return sim.now_ps;
}

static uint64_t
get_own_tsc(void)
{
	return (uint64_t)(machine_get_tsc_at(sim.core, sim.now_ps) / TICK);
}

static uint64_t
get_ps_of_ticks(int64_t ticks)
{
	return (uint64_t)(ticks * TICK / machine.core[sim.core].microhz) + 1;
}

static void
stop_tsc(size_t core, uint64_t ps)
{
	if (core >= machine.cores)
		return;
	if (machine.core[core].sleeps_at_ps == SIM_NEVER)
		machine.core[core].sleeps_at_ps = sim.now_ps - ps;
	machine.core[core].stood_ps += ps;
}

static const struct sim_sleep_cores sleeping_cores = {
	get_running_core, get_now_ps, get_own_tsc, get_ps_of_ticks, cores_sleep_until, cores_stop_running_core, stop_tsc,
	sim_advance_ps,
};

/* Draws at most one fault in HLT: of a core, of a clock, or of all TSCs. */
void
draw_sleep(void)
{
	draw_cores();
	sim_sleep.cores = &sleeping_cores;
	sim_sleep.state = SLEEP_BY_HLT;
	sim_sleep.core = (uint32_t)draw_core_number();
	sim_sleep.has_deadlines = draw_chance(50);
	sim_sleep.lapic_hz = draw_log_uniform(10000000, 1000000000);
	sim_sleep.late_ps = draw_log_uniform(10, 2000) * SIM_PS_PER_US;
	drawn.has_arat = draw_chance(70);
	sim_cpuid_set(THERMAL, 0, (struct hw_cpuid){ drawn.has_arat ? ARAT : 0, 0, 0, 0 });
	do
		drawn.fault = (uint32_t)draw_below(SIM_SLEEP_FAULTS);
	while (drawn.fault == SIM_SLEEP_NOT_ENTERED || drawn.fault == SIM_SLEEP_IS_SHALLOW);
	sim_sleep.fault = (enum sim_sleep_fault)drawn.fault;
	if (draw_chance(30))
		machine.core[draw_core_number()].microhz = draw_drifting_rate_microhz(draw_signed(draw_log_uniform(20, 100000)));
	machine.sleeps = true;
}

static bool
has_fault(enum sim_sleep_fault fault)
{
	return drawn.fault == fault;
}

/* Returns PS in ns of the report's time scale, by the TSC of CORE. */
static int64_t
to_ns(const struct report *report, size_t core, uint64_t ps)
{
	struct scale scale = report_get_tsc_scale(report);

	return (int64_t)scale_ns(&scale, (uint64_t)((unsigned __int128)ps * machine.core[core].microhz / TICK));
}

/* Checks that FIGURE, if it is known, contains TRUTH, which is rounded to 1 ns. */
static void
check_figure(struct offset figure, int64_t truth, const char *what, size_t core)
{
	if (offset_is_known(figure))
		tally_check(CHECK_SLEEP_FIGURE, figure.low <= truth + 1 && truth - 1 <= figure.high,
			    "%s of core %zu: %lld to %lld ns, not %lld", what, core, (long long)figure.low,
			    (long long)figure.high, (long long)truth);
}

static void
check_core(const struct report *report, const struct report_sleep *row)
{
	size_t core = 0;

	while (machine.core[core].apic_id != row->core)
		core++;
	bool is_faulty = core == sim_sleep.core;
	int64_t stood = is_faulty && (has_fault(SIM_SLEEP_STOPS_TSC) || has_fault(SIM_SLEEP_RESTORES_TSC));
	int64_t stopped = is_faulty && has_fault(SIM_SLEEP_STOPS_LAPIC);
	int64_t long_ns = to_ns(report, core, sim_sleep.first_ps);
	const struct report_wakes *ipi = &row->wakes[WOKEN_BY_IPI];

	tally_check(CHECK_SLEEP_FIGURE, row->lost == (is_faulty && has_fault(SIM_SLEEP_NEVER_WAKES)), "core %zu is lost: %d",
		    core, row->lost);
	if (row->lost)
		return;
	check_figure(row->tsc_gained_ns, -stood * to_ns(report, core, machine.core[core].stood_ps), "the TSC", core);
	check_figure(row->lapic_lost_ns, (stopped - stood) * long_ns, "the timer", core);
	if (ipi->count && is_faulty && has_fault(SIM_SLEEP_WAKES_LATE))
		tally_check(CHECK_SLEEP_FIGURE, ipi->p50_ns + (int64_t)ipi->error_ns >= to_ns(report, core, sim_sleep.late_ps) - 1,
			    "core %zu wakes after %lld ns, not %lld ns", core, (long long)ipi->p50_ns,
			    (long long)to_ns(report, core, sim_sleep.late_ps));
}

/* Returns the clock that stops, or CLOCKS. */
static int
find_stopping_clock(void)
{
	return has_fault(SIM_SLEEP_STOPS_HPET) ? HPET : has_fault(SIM_SLEEP_STOPS_PM) ? PM : CLOCKS;
}

static void
check_clock(const struct report *report, const struct report_sleep_clock *row)
{
	bool is_faulty = row->all && find_clock_number(report_clock_id(report, row->clock)) == find_stopping_clock();
	int64_t truth = is_faulty - (row->all && has_fault(SIM_SLEEP_STOPS_TSCS));

	check_figure(row->lost_ns, truth * to_ns(report, 0, sim_sleep.all_ps), report_clock_id(report, row->clock), 0);
}

/* Returns the rule that a finding may have in this trial, and sets its clock and core. Returns NULL if none may. */
static const char *
find_allowed_rule(const struct report *report, const char **clock, uint32_t *core)
{
	static const char *const rules_of[SIM_SLEEP_FAULTS] = {
		[SIM_SLEEP_STOPS_TSC] = "tsc-sleeps", [SIM_SLEEP_STOPS_TSCS] = "tsc-sleeps", [SIM_SLEEP_STOPS_LAPIC] = "lapic-sleeps",
		[SIM_SLEEP_STOPS_HPET] = "clock-sleeps", [SIM_SLEEP_STOPS_PM] = "clock-sleeps",
		[SIM_SLEEP_NEVER_WAKES] = "wake-late", [SIM_SLEEP_WAKES_LATE] = "wake-late",
		[SIM_SLEEP_RESTORES_TSC] = "tsc-adjust-sleeps", [SIM_SLEEP_HIDES_STOP] = "tsc-adjust-sleeps",
	};
	const char *rule = rules_of[drawn.fault];
	int stopping = find_stopping_clock();
	bool is_clock = stopping < CLOCKS, is_tsc = rule && strncmp(rule, "tsc-", 4) == 0;

	*clock = is_tsc ? "tsc" : is_clock ? clock_ids[stopping] : "lapic";
	*core = is_clock ? REPORT_NO_CORE : machine.core[has_fault(SIM_SLEEP_STOPS_TSCS) ? 0 : sim_sleep.core].apic_id;
	if ((report_is_guest(report) && !is_tsc) || (has_fault(SIM_SLEEP_STOPS_LAPIC) && !drawn.has_arat) ||
	    (has_fault(SIM_SLEEP_WAKES_LATE) && sim_sleep.late_ps < rules_find("wake-late")->limit * SIM_PS_PER_NS / 2))
		return NULL;
	return rule;
}

/* Returns true if the report has the figures that prove the fault, or that prove that a core is lost. */
static bool
is_fault_measured(const struct report *report)
{
	const struct report_sleeps *sleeps = &report->figures.sleeps;
	size_t clocks = 0;

	for (size_t i = 0; i < sleeps->clock_count; i++)
		clocks += sleeps->clocks[i].all && offset_is_known(sleeps->clocks[i].lost_ns);
	if (find_stopping_clock() != CLOCKS)
		return clocks == 2;
	if (has_fault(SIM_SLEEP_STOPS_TSCS))
		return clocks == 2 && !report_is_guest(report);
	for (size_t i = 0; i < sleeps->count; i++)
		if (sleeps->rows[i].core == machine.core[sim_sleep.core].apic_id)
			return sleeps->rows[i].lost ||
			       (offset_is_known(sleeps->rows[i].tsc_gained_ns) &&
				(!has_fault(SIM_SLEEP_WAKES_LATE) ||
				 (sim_sleep.late_ps > 2 * rules_find("wake-late")->limit * SIM_PS_PER_NS)));
	return false;
}

void
verdict_check_sleeps(const struct report *report)
{
	static const char *const rules_of_sleep[] = { "tsc-sleeps", "tsc-adjust-sleeps", "lapic-sleeps", "clock-sleeps",
						      "wake-late" };
	const struct report_sleeps *sleeps = &report->figures.sleeps;
	char name[20] = ""; /* "core 1 ", or "Core 1 " at the start of a sentence */
	const char *allowed, *clock;
	uint32_t core;
	bool is_named = false;

	for (size_t i = 0; i < sleeps->count; i++)
		check_core(report, &sleeps->rows[i]);
	for (size_t i = 0; i < sleeps->clock_count; i++)
		check_clock(report, &sleeps->clocks[i]);
	allowed = find_allowed_rule(report, &clock, &core);
	if (core != REPORT_NO_CORE)
		snprintf(name, sizeof(name), "ore %u ", core);
	for (size_t i = 0; i < 5 * report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i / 5];

		if (strcmp(finding->rule, rules_of_sleep[i % 5]) != 0)
			continue;
		is_named |= tally_check(CHECK_SLEEP_NAMED, allowed && strcmp(allowed, finding->rule) == 0 &&
					strcmp(clock, finding->clock) == 0 && strstr(finding->text, name) &&
					(finding->core == core || finding->core == REPORT_NO_CORE),
					"%s: %s", finding->rule, finding->text);
	}
	if (allowed && is_fault_measured(report))
		tally_check(CHECK_SLEEP_SILENT, is_named, "no finding %s on %s", allowed, clock);
}
