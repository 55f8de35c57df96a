/*
 * Judges the interrupts of each timer over all its tests. Adds a row for each rule, from which
 * judge_checks() makes findings. A deadline is excused, so that it does not count, if preemption or
 * slow reads of the TSC may have affected it. If more than half of the deadlines are excused, the result is not
 * determined. See judge_timers.h.
 */
#include "judge/timers/judge_timers.h"

#include "base/offset.h"
#include "base/text.h"
#include "judge/timers/irq_totals.h"
#include "report/phrase.h"
#include "rules/rules.h"

/*
 * Fewer lost ticks or doubled interrupts prove no fault, because pauses of the host may be the cause. This holds even
 * if no tick was late: a pause may end just before a tick, so that the tick before it is lost and this tick is in time.
 */
#define EVENTS_MIN    4
/* interrupts have a common delay if the 1st percentile of their lateness is at most 1/8 below the median */
#define SPREAD_SHARE  8
#define DEVICE_LETTERS 3 /* sources of one device have the same first letters, for example hpet0 and hpet_fsb */
#define FAR_FACTOR    4 /* the host is assumed to delay one timer at most this many times as long as another */
#define PIT_CLOCKS_2_NS 1677 /* the duration of two PIT clocks */
#define RULES         7
#define EXPIRED_SOURCE "hpet0" /* the only source that is armed with deadlines that have passed */
/*
 * A timer stands still in gaps if at least 5 one-shots over gaps, and 3/4 of them, came late by as long as the gap.
 * With 2 to 4 such one-shots this is not determined.
 */
#define DELAYED_MIN   5
#define DELAYED_OPEN  2
#define DELAYED_NUM   3
#define DELAYED_DEN   4

/* ---- the host of an emulator ---- */

/*
 * Returns true if a busy host explains EVENTS lost ticks or doubled interrupts of an emulated timer. DELAYED is true if
 * others were late. The timer is a thread of the host, so it runs late on a busy host.
 */
static bool
can_host_explain_events(const struct report *report, uint64_t events, bool delayed)
{
	return report_is_machine_emulated(report) && (delayed || events < EVENTS_MIN);
}

static bool
are_sources_of_one_device(const char *a, const char *b)
{
	size_t i = 0;

	while (i < DEVICE_LETTERS && a[i] && a[i] == b[i])
		i++;
	return i == DEVICE_LETTERS || a[i] == b[i];
}

/*
 * Returns true if a busy host explains the lateness of an emulated timer: if the lateness varies, or if the host may
 * delay another device's one-shots as long. The lateness must hold for every length of one-shots and every core.
 */
static bool
can_host_explain_lateness(const struct report *report, const struct irq_totals *totals)
{
	const struct report_lateness *judged = &totals->late->lateness;
	int64_t least_ns = INT64_MAX; /* lower bound of the lateness of 99 % of the source's one-shots */
	int64_t host_ns = -1;         /* upper bound of the host's delay of other devices; -1 if none was tested */

	if (!report_is_machine_emulated(report) ||
	    judged->p50_ns + (int64_t)judged->error_ns <= (int64_t)rules_get_limit_by_id(report, "irq-late"))
		return false;
	for (size_t i = 0; i < report->figures.interval_count; i++) {
		const struct interval_figures *row = &report->figures.intervals[i];
		const struct report_lateness *late = &row->lateness;
		int64_t error_ns = (int64_t)late->error_ns, far_ns = FAR_FACTOR * late->p50_ns;

		if (row->test.periodic || !row->test.asked_ns || late->count < IRQ_LATE_SHOTS_MIN)
			continue;
		far_ns = (far_ns > late->p99_ns ? far_ns : late->p99_ns) + error_ns;
		if (text_equal(row->test.source, totals->source))
			least_ns = late->p1_ns - error_ns < least_ns ? late->p1_ns - error_ns : least_ns;
		else if (!are_sources_of_one_device(row->test.source, totals->source))
			host_ns = far_ns > host_ns ? far_ns : host_ns;
	}
	return judged->p50_ns - judged->p1_ns > judged->p50_ns / SPREAD_SHARE || host_ns < 0 || least_ns <= host_ns;
}

/* ---- the number of interrupts ---- */

static bool
are_most_excused(uint64_t excused, uint64_t all)
{
	return 2 * excused > all;
}

/* Returns a clause on excused deadlines, for the end of a sentence. TOO_MANY is true if they prevent a result. */
static struct phrase
describe_excused(uint64_t excused, bool too_many)
{
	if (!excused)
		return phrase(".");
	return phrase("; %lu more do%s not count, because preemption or slow reads of the TSC may have affected %s%s.",
		      excused, excused == 1 ? "es" : "", excused == 1 ? "it" : "them",
		      too_many ? ", too many to decide" : "");
}

/* DEADLINES is what the rule counts, for example "one-shots". */
static void
mark_unchecked_because_all_excused(struct behaviour *row, const char *deadlines)
{
	behaviour_mark_unchecked(row, UNCHECKED_OTHER,
				 "preemption or slow reads of the TSC may have affected each of the timer's %s.", deadlines);
}

static void
mark_unchecked_because_none_came(struct behaviour *row)
{
	behaviour_mark_unchecked(row, UNCHECKED_OTHER, "no interrupt came.");
}

/*
 * Returns the end of a sentence on EVENTS lost ticks or doubled interrupts. ROW is the result of the rule, and EXCUSED
 * is the number of excused deadlines.
 */
static struct phrase
describe_count(const struct report *report, const struct irq_totals *totals, const struct behaviour *row,
	       uint64_t events, uint64_t excused)
{
	if (!row->checked)
		return phrase(": not judged in an emulator, because a busy host makes it drop interrupts or send two together.");
	if (events && row->open && totals->uneven)
		return phrase(", but ticks come more than 1/8 period late, so a tick may be counted in the wrong period.");
	if (events && !row->open && report_is_machine_emulated(report))
		return phrase("; the other interrupts are late by less than 1/8 of the interval, so waiting for the host "
			      "does not explain this.");
	return describe_excused(excused, row->open);
}

static void
explain_scattered_ticks(struct behaviour *row)
{
	row->open = true;
	behaviour_set_text(row, "the timer's ticks come anywhere in their periods, so none can be matched to a "
			   "deadline.");
}

/*
 * Returns true if some one-shots are proven to be missing. The proof requires a working route to the core. A LAPIC
 * timer needs no pin, and a pin of an I/O APIC works if any interrupt came through it.
 */
static bool
are_one_shots_missing(const struct irq_totals *totals)
{
	return totals->missing && (totals->came || text_equal(totals->kind, "lapic"));
}

/*
 * Returns a sentence if the only one-shot without an interrupt was armed in a time in which the machine was stopped.
 * With several such one-shots it is not known which of them a stop explains, so there is no sentence.
 */
static struct phrase
describe_stop_while_armed(const struct report *report, const struct irq_totals *totals)
{
	for (size_t i = 0; totals->missing == 1 && i < report->figures.discontinuity_count; i++) {
		const struct report_discontinuity *row = &report->figures.discontinuities[i];
		enum discontinuity_class class = report_get_discontinuity_outcome(report, row)->class;

		if ((class == DISCONTINUITY_STOPPED || class == DISCONTINUITY_PARTED) && row->from_tsc &&
		    totals->gaps.lost_tsc >= row->from_tsc && totals->gaps.lost_tsc <= row->at_tsc)
			return phrase(" It was likely armed before the stop between %s and %s.",
				      phrase_tsc_time(report, row->from_tsc).bytes, phrase_tsc_time(report, row->at_tsc).bytes);
	}
	return (struct phrase){ "" };
}

static void
judge_missing_interrupts(const struct report *report, const struct irq_totals *totals, struct behaviour *row)
{
	uint64_t known = totals->shots.delivered + totals->shots.empty;
	/* a damaged record may have more interrupts than one-shots */
	uint64_t unknown = known < totals->shots.count ? totals->shots.count - known : 0;

	row->failed = are_one_shots_missing(totals);
	row->open = !row->failed && totals->shots.empty;
	if (row->failed)
		behaviour_set_text(row, "%lu of %lu one-shots never came, and the timer's status shows that they were due.%s",
				   totals->missing, totals->shots.count, describe_stop_while_armed(report, totals).bytes);
	else if (row->open && !totals->came && totals->polled)
		behaviour_set_text(row, "the timer's counter passed the deadline, but its status bit never showed "
				   "that.");
	else if (row->open && !totals->came && totals->missing)
		behaviour_set_text(row, "no interrupt came through pin %u: either the timer or the route to the core has "
			"failed.",
				   totals->pin);
	else if (row->open)
		behaviour_set_text(row, "%lu of %lu one-shots never came; the timer's status does not show that they were due.",
				   totals->shots.empty, totals->shots.count);
	else if (!known)
		mark_unchecked_because_all_excused(row, "one-shots");
	else {
		row->open = are_most_excused(unknown, totals->shots.count);
		behaviour_set_text(row, "none of %lu one-shot%s is missing%s", known, known == 1 ? "" : "s",
				   describe_excused(unknown, row->open).bytes);
	}
}

/*
 * Returns true if early one-shots are a fault of the timer. A timer that rounds deadlines or counts a wrong clock is
 * early in every test. If all tests have one-shots of the same length, more than half of them must be early.
 */
static bool
is_timer_always_early(const struct irq_totals *totals)
{
	return !totals->timely_tests &&
	       (totals->shot_ns == UINT64_MAX || 2 * totals->early > totals->shots.delivered);
}

/*
 * Judges early one-shots. The PIT loads its count at one edge of its clock and raises OUT at another. So an interrupt
 * that is early by two clocks is no fault.
 */
static void
judge_early_interrupts(const struct report *, const struct irq_totals *totals, struct behaviour *row)
{
	struct interval_ns by = totals->earliest;
	uint64_t seen = totals->shots.count - totals->shots.excused;

	if (!totals->came) {
		mark_unchecked_because_none_came(row);
		return;
	}
	if (!seen) {
		mark_unchecked_because_all_excused(row, "one-shots");
		return;
	}
	if (text_begins_with(totals->source, "pit"))
		by.low -= PIT_CLOCKS_2_NS;
	if (!by.known || by.low <= 0) {
		behaviour_set_figure(row, 0, 0, 0);
		row->open = are_most_excused(totals->shots.excused, totals->shots.count);
		behaviour_set_text(row, "none of %lu one-shot%s came earlier than the measurement error allows%s",
				   seen, seen == 1 ? "" : "s",
				   describe_excused(totals->shots.excused, row->open).bytes);
		return;
	}
	behaviour_set_figure(row, by.value, by.low, by.high);
	row->open = !is_timer_always_early(totals);
	behaviour_set_text(row, "%lu of %lu one-shots came early, by up to %ld to %ld ns%s", totals->early, seen, by.low,
			   by.high, !row->open ? "." : totals->timely_tests ? ", but not in every test." :
			   ", too few to prove a fault of the timer.");
}

/*
 * Returns true if at least half of the periods are excused because the core had a gap, or if the share of excused
 * periods is at least the share of lost periods among the others. Gaps are then so frequent that their cause may also
 * have delayed the timer.
 */
static bool
may_gaps_explain_lost_ticks(const struct irq_totals *totals)
{
	uint64_t seen = totals->periods.count - totals->periods.excused;

	return 2 * totals->periods.excused >= totals->periods.count ||
	       totals->periods.empty * totals->periods.count <= totals->periods.excused * seen;
}

static void
judge_lost_ticks(const struct report *report, const struct irq_totals *totals, struct behaviour *row)
{
	uint64_t seen = totals->periods.count - totals->periods.excused;
	int64_t lost = (int64_t)totals->periods.empty;
	bool misses = are_one_shots_missing(totals);

	if (totals->scattered) {
		explain_scattered_ticks(row);
		return;
	}
	row->checked = seen && totals->came &&
		       !(lost && (misses || can_host_explain_events(report, totals->losses, totals->periods.delayed)));
	row->open = row->checked && (totals->periods.empty ? totals->uneven || may_gaps_explain_lost_ticks(totals) :
				     are_most_excused(totals->periods.excused, totals->periods.count));
	behaviour_set_figure(row, lost, lost, lost);
	if (!seen) {
		mark_unchecked_because_all_excused(row, "periods");
	} else if (!totals->came) {
		behaviour_set_text(row, "none of %lu ticks came.", seen);
	} else if (misses && totals->periods.empty) {
		row->explained_by = (struct rule_fault){ "irq-missing", totals->source, REPORT_NO_CORE, OFFSET_UNKNOWN };
		behaviour_set_text(row, "%lu of %lu periods were lost as well: see irq-missing.", totals->periods.empty, seen);
	} else {
		row->unchecked = UNCHECKED_GUEST;
		behaviour_set_text(row, "%lu of %lu periods had no tick%s", totals->periods.empty, seen,
				   describe_count(report, totals, row, totals->periods.empty, totals->periods.excused).bytes);
	}
}

/*
 * Judges deadlines with two interrupts. QEMU sends two for two reasons. Its hpet_timer() fires again 10 ns later if it
 * runs before the comparator's tick has passed. A tick that QEMU's main loop sends late may come together with the next
 * tick.
 */
static void
judge_doubled_interrupts(const struct report *report, const struct irq_totals *totals, struct behaviour *row)
{
	uint64_t excused = totals->shots.excused + totals->periods.excused;
	uint64_t all = totals->shots.count + totals->periods.count, seen = all - excused;
	uint64_t doubled = totals->shots.doubled + totals->periods.doubled;
	bool delayed = (totals->shots.doubled && totals->shots.delayed) ||
		       (totals->periods.doubled && totals->periods.delayed);

	if (!totals->came) {
		mark_unchecked_because_none_came(row);
		return;
	}
	if (totals->scattered && !totals->storms && !doubled) {
		explain_scattered_ticks(row);
		return;
	}
	row->checked = totals->storms || (doubled ? !can_host_explain_events(report, doubled, delayed) : seen != 0);
	row->open = row->checked && !totals->storms &&
		    (doubled ? totals->uneven && !totals->shots.doubled :
				       are_most_excused(excused, all));
	behaviour_set_figure(row, (int64_t)doubled, (int64_t)doubled, (int64_t)doubled);
	if (totals->storms)
		behaviour_set_text(row, "the timer's interrupts did not stop after one deadline.");
	else if (!row->checked && !doubled)
		mark_unchecked_because_all_excused(row, "deadlines");
	else {
		row->unchecked = UNCHECKED_GUEST;
		behaviour_set_text(row, "%lu of %lu deadlines had two interrupts%s", doubled, seen,
				   describe_count(report, totals, row, doubled, excused).bytes);
	}
}

/* ---- rates and lateness ---- */

static void
judge_tick_rate(const struct report *report, const struct irq_totals *totals, struct behaviour *row)
{
	struct interval_ppm rate = interval_in_ppm(&totals->rate);

	row->checked = rate.known;
	if (!row->checked) {
		behaviour_set_text(row, "too few ticks came, or their duration is not known.");
		return;
	}
	behaviour_set_figure(row, rate.value, rate.low, rate.high);
	row->open = behaviour_get_outcome(row, rules_get_limit_by_id(report, row->rule)) == OUTCOME_NOT_DETERMINED;
	behaviour_set_text(row, "the timer's periods are off by %ld to %ld ppm%s", row->low, row->high,
			   row->open ? ": the periods are too uneven to decide." : ".");
}

/*
 * Returns true if nearly all one-shots that were armed while the core was preempted came late by as long as it was
 * preempted, and if these are at least DELAYED_OPEN. Their timer stands still while the core does not run. The host of
 * an emulator may delay both in turn.
 */
static bool
does_timer_stand_still_in_gaps(const struct report *report, const struct irq_totals *totals)
{
	return totals->gaps.delayed >= DELAYED_OPEN && DELAYED_DEN * totals->gaps.delayed >= DELAYED_NUM * totals->gaps.over &&
	       !report_is_machine_emulated(report);
}

static void
judge_late_interrupts(const struct report *report, const struct irq_totals *totals, struct behaviour *row)
{
	const struct report_lateness *late;
	struct phrase median;

	if (does_timer_stand_still_in_gaps(report, totals)) {
		row->open = totals->gaps.delayed < DELAYED_MIN;
		behaviour_set_figure(row, totals->gaps.delay.value, totals->gaps.delay.low, totals->gaps.delay.high);
		behaviour_set_text(row, "%lu of %lu one-shots over which the core was preempted came late, after the gap had "
				   "ended, by as long as the gap: by up to %s%s", totals->gaps.delayed, totals->gaps.over,
				   phrase_duration_range((uint64_t)totals->gaps.delay.low, (uint64_t)totals->gaps.delay.high).bytes,
				   row->open ? ". They are too few to decide." : ".");
		return;
	}
	row->checked = totals->late && !can_host_explain_lateness(report, totals);
	if (!totals->late) {
		behaviour_set_text(row, "fewer than %u of the one-shots of 100 us have a known lateness, too few for a median.",
				   IRQ_LATE_SHOTS_MIN);
		return;
	}
	row->unchecked = UNCHECKED_GUEST;
	late = &totals->late->lateness;
	median = phrase_median_lateness(late);
	if (late->p50_ns + (int64_t)late->error_ns < 0) {
		behaviour_set_figure(row, 0, 0, 0);
		behaviour_set_text(row, "half of the one-shots of 100 us %s: see irq-early.", median.bytes);
		return;
	}
	behaviour_set_figure(row, late->p50_ns, late->p50_ns - (int64_t)late->error_ns,
			     late->p50_ns + (int64_t)late->error_ns);
	if (row->low < 0)
		row->low = 0;
	behaviour_set_text(row, "half of the one-shots of 100 us %s%s", median.bytes,
			   !row->checked ? ": not judged in an emulator, because waiting for its host can delay interrupts." :
			   report_is_machine_emulated(report) && rules_has_check_failed(report, row) ?
			      "; nearly all of them are late, and no other timer's interrupts are." :
			   ".");
}

/*
 * Judges interrupts for deadlines that had passed before the timer was armed. QEMU's hpet_timer() sends these in every
 * guest, and kernels and firmware cope with them.
 */
static void
judge_interrupts_of_expired_deadlines(const struct report *report, const struct irq_totals *totals,
				      struct behaviour *row)
{
	bool by_qemu = report_is_machine_emulated(report) || text_equal(report->facts.machine.hypervisor, "KVMKVMKVM");

	if (!totals->expired.over) {
		behaviour_mark_unchecked(row, UNCHECKED_OTHER, "no deadline passed while the timer's interrupt was disabled.");
		return;
	}
	row->failed = 2 * totals->expired.stale > totals->expired.over;
	row->checked = !(totals->expired.stale && by_qemu);
	row->unchecked = UNCHECKED_GUEST;
	row->open = row->checked && totals->expired.stale && !row->failed;
	behaviour_set_text(row, "armed %lu times with a deadline that had passed, the timer interrupted %lu "
			   "times%s", totals->expired.over, totals->expired.stale,
			   !row->checked ? ": not judged, because QEMU's HPETs do this in every guest." :
			   row->open ? ": an earlier interrupt may have come late." : ".");
}

/* ---- all rules, sources and cores ---- */

/*
 * Judges TOTALS by each rule. A rule that does not apply to the source has no sentence in its row. Whether a rule
 * applies depends only on the planned tests, so that each run of one configuration has the same rows.
 */
static void
judge_by_each_rule(const struct report *report, const struct irq_totals *totals, struct behaviour rows[RULES])
{
	const struct irq_mode_totals *shots = &totals->shots, *periods = &totals->periods;
	const struct {
		const char *id;
		bool applies, is_tested; /* IS_TESTED: there were enough deadlines in this run */
		void (*judge)(const struct report *report, const struct irq_totals *totals, struct behaviour *row);
	} tests[RULES] = {
		{ "irq-missing", shots->tests, shots->count, judge_missing_interrupts },
		{ "irq-early", shots->tests && shots->many, shots->count > 1, judge_early_interrupts },
		{ "irq-lost", periods->tests, periods->count, judge_lost_ticks },
		{ "irq-doubled", !totals->polled && shots->tests + periods->tests,
		  totals->storms || shots->count + periods->count, judge_doubled_interrupts },
		{ "irq-rate", periods->tests, periods->count, judge_tick_rate },
		{ "irq-late", shots->tests && shots->many, shots->count > 1, judge_late_interrupts },
		{ "hpet-stale", totals->expired.over || (shots->tests && text_equal(totals->source, EXPIRED_SOURCE)), true,
		  judge_interrupts_of_expired_deadlines },
	};

	for (size_t i = 0; i < RULES; i++) {
		rows[i] = (struct behaviour){ .rule = tests[i].id, .clock = totals->source, .checked = true };
		if (tests[i].applies && tests[i].is_tested)
			tests[i].judge(report, totals, &rows[i]);
		else if (tests[i].applies)
			behaviour_mark_unchecked(&rows[i], UNCHECKED_OTHER, "the timer had too few deadlines in this run.");
	}
}

/* Returns true if row I is the first test of its source, or the first one on its core if ON_CORE is true. */
static bool
is_first_test_of_source(const struct report *report, size_t i, bool on_core)
{
	const struct interval_figures *rows = report->figures.intervals;

	for (size_t before = 0; before < i; before++)
		if (text_equal(rows[before].test.source, rows[i].test.source) &&
		    (!on_core || rows[before].test.core == rows[i].test.core))
			return false;
	return true;
}

/*
 * Judges the tests of each single core of a source. Counts in ROWS the cores, and the cores that break each rule, and
 * finds the core that breaks it most. If the tests of all cores together prove no fault, ROWS gets the result of this
 * core.
 */
static void
count_cores_that_break_rules(const struct report *report, const char *source, struct behaviour rows[RULES])
{
	struct behaviour of_core[RULES], worst[RULES];
	uint64_t most[RULES] = { 0 };

	for (size_t i = 0; i < report->figures.interval_count; i++) {
		if (!text_equal(report->figures.intervals[i].test.source, source) || !is_first_test_of_source(report, i, true))
			continue;
		struct irq_totals totals = irq_sum_up_source(report, source, report->figures.intervals[i].test.core);
		judge_by_each_rule(report, &totals, of_core);
		for (size_t rule = 0; rule < RULES; rule++) {
			struct offset figure = { of_core[rule].low, of_core[rule].high };
			uint64_t size = of_core[rule].has_figure ? offset_min_abs(figure) : totals.missing;

			rows[rule].cores_asked++;
			if (!rules_has_check_failed(report, &of_core[rule]))
				continue;
			rows[rule].cores++;
			if (size > most[rule]) {
				most[rule] = size;
				worst[rule] = of_core[rule];
				rows[rule].core = report->figures.intervals[i].test.core;
			}
		}
	}
	for (size_t rule = 0; rule < RULES; rule++) {
		if (!most[rule] || rules_has_check_failed(report, &rows[rule]))
			continue;
		worst[rule].cores_asked = rows[rule].cores_asked;
		worst[rule].cores = rows[rule].cores;
		worst[rule].core = rows[rule].core;
		rows[rule] = worst[rule];
	}
}

/* Adds a finding on each source whose tests ended with an exception. */
static void
judge_faulting_sources(const struct report *report, struct outcomes *outcomes)
{
	for (size_t i = 0; i < report->figures.interval_count; i++) {
		const struct interval_figures *row = &report->figures.intervals[i];

		if (row->test.faulted && !rules_find_finding(report, "clock-broken", row->test.source))
			rules_add_finding(report, outcomes, "clock-broken", row->test.source, row->test.core, "%s: %s",
					  row->test.source, row->reason);
	}
}

void
judge_timer_tests(const struct report *report, struct outcomes *outcomes)
{
	judge_faulting_sources(report, outcomes);
	for (size_t i = 0; i < report->figures.interval_count; i++) {
		const char *source = report->figures.intervals[i].test.source;
		struct behaviour rows[RULES], *added;

		/* No rule judges interrupts that a core sends to itself (self_ipi). They have no requested interval. */
		if (!report->figures.intervals[i].test.asked_ns || !is_first_test_of_source(report, i, false))
			continue;
		struct irq_totals totals = irq_sum_up_source(report, source, REPORT_NO_CORE);
		judge_by_each_rule(report, &totals, rows);
		count_cores_that_break_rules(report, source, rows);
		for (size_t rule = 0; rule < RULES; rule++)
			if (rows[rule].text[0] &&
			    (added = behaviour_add_row(&outcomes->behaviours, rows[rule].rule, source)))
				*added = rows[rule];
	}
}
