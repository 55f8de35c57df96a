/*
 * Judges how devices conform to their data sheets, and whether the TSC's resolution and references are good
 * enough. See judge_internal.h.
 */
#include "judge/judge_internal.h"

#include "base/scale.h"
#include "base/text.h"

#define PS_PER_NS 1000

static uint64_t
farthest(const struct finding *finding)
{
	return offset_max_size((struct offset){ finding->low, finding->high });
}

static bool
is_rate_rule(const char *rule)
{
	return text_equal(rule, "rate-wrong") || text_equal(rule, "pv-rate") || text_equal(rule, "rate-off") ||
	       text_equal(rule, "rate-changed");
}

/*
 * Returns true if the TSC's rate changed, or if no majority of the clocks confirms it. Figures timed by the TSC
 * may then be off by any amount.
 */
static bool
is_scale_doubtful(const struct report *report)
{
	for (size_t i = 0; i < report->finding_count; i++) {
		const struct finding *finding = &report->findings[i];

		if ((text_equal(finding->rule, "rate-changed") || text_equal(finding->rule, "rate-disagree")) &&
		    (!finding->clock || text_equal(finding->clock, "tsc")))
			return true;
	}
	return false;
}

/* Returns the largest error of CLOCK's rate by its findings, in ppm. All its timer periods have the same error. */
static uint64_t
clock_error_ppm(const struct report *report, const char *clock)
{
	uint64_t doubt = 0;

	for (size_t i = 0; i < report->finding_count; i++) {
		const struct finding *finding = &report->findings[i];

		if (is_rate_rule(finding->rule) && finding->clock && text_equal(finding->clock, clock) &&
		    farthest(finding) > doubt)
			doubt = farthest(finding);
	}
	return doubt;
}

static bool
exceeds_limit(const struct report *report, const struct behaviour *row, uint64_t doubt)
{
	uint64_t limit = rules_limit_of(report, row->rule);

	return behaviour_outcome(row, limit + doubt) == OUTCOME_FAILED;
}

/*
 * Withdraws a failed rate (of timer ticks, for example) that the error of its clock's own rate explains, or that comes
 * from a clock that stopped.
 */
static void
drop_doubtful_rates(struct report *report)
{
	for (size_t i = 0; i < report->behaviours.count; i++) {
		struct behaviour *row = &report->behaviours.rows[i];
		const struct rule *rule = rules_find(row->rule);
		uint64_t doubt = clock_error_ppm(report, row->clock);
		bool stopped = rules_find_finding(report, "clock-stuck", row->clock);
		bool doubtful = is_scale_doubtful(report);

		if (!rules_failed(report, row) || !row->has_figure || !text_equal(rule->unit, "ppm") ||
		    (!stopped && !doubtful && (!doubt || exceeds_limit(report, row, doubt))))
			continue;
		row->open = doubtful;
		row->checked = doubtful;
		if (doubtful)
			behaviour_say(row, "It is off by %ld ppm, but it was timed by a TSC whose own rate is uncertain.", row->measured);
		else if (stopped)
			behaviour_say(row, "It is off by %ld ppm, but the clock itself is stuck.",
				      row->measured);
		else
			behaviour_say(row, "It is off by %ld ppm, but the clock's own rate is off by up to %lu ppm.",
				      row->measured, doubt);
	}
}

/* Withdraws all failed figures, because the TSC timed them. WHAT is the fault of the TSC. */
static void
drop_timed_rows(struct report *report, const char *what)
{
	for (size_t i = 0; i < report->behaviours.count; i++) {
		struct behaviour *row = &report->behaviours.rows[i];

		if (!rules_failed(report, row) || !row->has_figure)
			continue;
		row->checked = false;
		behaviour_say(row, "It is off by %ld %s, but it was timed by a TSC %s.", row->measured,
			      rules_find(row->rule)->unit, what);
	}
}

/* Returns the number of rows from FROM on that failed the same rule of the same clock. A rule may have many checks. */
static size_t
count_failed(const struct report *report, size_t from)
{
	const struct behaviour *rows = report->behaviours.rows;
	size_t count = 0;

	for (size_t i = from; i < report->behaviours.count; i++)
		count += text_equal(rows[i].rule, rows[from].rule) &&
			 text_equal(rows[i].clock, rows[from].clock) && rules_failed(report, &rows[i]);
	return count;
}

/* Writes on which cores ROW's rule failed, unless on all. Returns the core's APIC id if it is only one. */
static uint32_t
put_failed_cores(struct text *text, const struct behaviour *row)
{
	if (!row->cores || row->cores == row->cores_asked)
		return REPORT_NO_CORE;
	if (row->cores > 1)
		text_printf(text, " on %u of %u cores, most on core %u", row->cores, row->cores_asked, row->core);
	else
		text_printf(text, " on core %u, one of %u", row->core, row->cores_asked);
	return row->cores > 1 ? REPORT_NO_CORE : row->core;
}

/* Adds one finding for each rule and clock that failed. */
void
judge_behaviours(struct report *report)
{
	drop_doubtful_rates(report);
	if (judge_tsc_moved(report))
		drop_timed_rows(report, "that stepped back or jumped");
	else if (!report->tsc.den)
		drop_timed_rows(report, "whose rate is not known");
	else if (judge_tsc_diverged(report))
		drop_timed_rows(report, "that diverged from all other clocks in this run");
	for (size_t i = 0; i < report->behaviours.count; i++) {
		const struct behaviour *row = &report->behaviours.rows[i];
		const struct rule *rule = rules_find(row->rule);
		struct finding *finding;
		char more[48] = "", where[72] = "";
		struct text text;
		uint32_t core;

		if (!rules_failed(report, row) || rules_find_finding(report, row->rule, row->clock))
			continue;
		text_init(&text, more, sizeof(more));
		if (count_failed(report, i) > 1)
			text_printf(&text, " It failed in %zu more check%s.", count_failed(report, i) - 1,
				    count_failed(report, i) == 2 ? "" : "s");
		text_init(&text, where, sizeof(where));
		core = put_failed_cores(&text, row);
		finding = rules_add_finding(report, row->rule, row->clock, core, "%s%s: %s%s", row->clock, where,
					    row->text, more);
		if (row->has_figure)
			rules_set_figure(finding, row->measured, row->low, row->high,
					 rules_limit(rule, &report->options));
	}
}

static void
judge_resolution(struct report *report, const struct report_clock *entry)
{
	uint64_t limit_ns = rules_limit_of(report, "tsc-step");
	uint64_t step_ps = report_clock_ps(report, entry, entry->resolution.gcd_ticks);

	if (!text_equal(entry->clock.id, "tsc") || !entry->resolution.steps || step_ps / PS_PER_NS <= limit_ns)
		return;
	rules_set_count(rules_add_finding(report, "tsc-step", "tsc", REPORT_NO_CORE,
					  "The TSC's resolution is %lu ticks, which are %lu ns.",
					  entry->resolution.gcd_ticks, step_ps / PS_PER_NS),
			step_ps / PS_PER_NS, limit_ns);
}

/* Returns true if CLOCK can confirm the TSC's rate, or could if it were present: it has a frequency of its own. */
static bool
can_confirm_tsc(const struct clock *clock)
{
	return !text_equal(clock->id, "tsc") && !clock->by_tsc && (clock->state != CLOCK_PRESENT || clock->claimed.den);
}

static void
judge_references(struct report *report)
{
	size_t asked = 0, witnesses = 0;

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *entry = &report->clocks[i];

		if (!report_clock_is_main_method(entry) || !can_confirm_tsc(&entry->clock))
			continue;
		asked++;
		witnesses += entry->clock.state == CLOCK_PRESENT;
	}
	if (asked && !witnesses)
		rules_add_finding(report, "no-reference", NULL, REPORT_NO_CORE,
				  "None of %zu clocks that could confirm the TSC's rate is present and counts.", asked);
}

void
judge_tsc_fitness(struct report *report)
{
	bool tsc_read = false;

	for (size_t i = 0; i < report->clock_count; i++) {
		judge_resolution(report, &report->clocks[i]);
		tsc_read |= text_equal(report->clocks[i].clock.id, "tsc") && report->clocks[i].monotonic.reads;
	}
	/* A hypervisor that may migrate its guest hides this bit, which is no fault of a clock. */
	if (tsc_read && !report->tsc_is_invariant && !report->hypervisor[0])
		rules_add_finding(report, "tsc-not-invariant", "tsc", REPORT_NO_CORE,
				  "CPUID 80000007h EDX[8] is 0: the TSC is not reported as invariant.");
	judge_references(report);
}
