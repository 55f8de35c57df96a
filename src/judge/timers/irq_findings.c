/*
 * Judges the interrupts of each timer over all its tests. Adds a row for each rule, from which
 * judge_add_behaviour_findings() makes findings. A deadline is excused, so that it does not count, if preemption or
 * slow reads of the TSC may have affected it. If more than half of the deadlines are excused, the result is not
 * determined. See judge_timers.h.
 */
#include "judge/timers/judge_timers.h"

#include "base/offset.h"
#include "base/text.h"
#include "judge/timers/irq_totals.h"
#include "report/phrase.h"
#include "rules/rules.h"

#define IN_TIME_SHARE 8 /* a tick that is later than 1/8 of its period was delayed */
/*
 * Fewer lost ticks or doubled interrupts prove no fault, because pauses of the host may be the cause. This holds even
 * if no tick was late: a pause may end just before a tick, so that the tick before it is lost and this tick is in time.
 */
#define EVENTS_MIN    4
/* interrupts have a common delay if the 1st percentile of their lateness is at most 1/8 below the median */
#define SPREAD_SHARE  8
#define FAR_FACTOR    4 /* the host is assumed to delay one timer at most this many times as long as another */
#define PIT_CLOCKS_2_NS 1677 /* the duration of two PIT clocks */
#define UNEVEN_WORDS  ", but ticks come more than 1/8 period late, so a tick may be counted in the wrong period."

/* ---- the host of an emulator ---- */

/*
 * Returns true if 99.9 % of the ticks of the test ROW were late by less than 1/8 period. Then the host did not pause
 * the timer: pauses end at any time within a period, so they would also make ticks late.
 */
static bool
are_ticks_rarely_late(const struct report_interval *row)
{
	const struct report_lateness *late = &row->lateness;

	return late->count && late->p999_ns + (int64_t)late->error_ns < (int64_t)(row->asked_ns / IN_TIME_SHARE);
}

/*
 * Returns true if a busy host explains EVENTS lost ticks (if LOST) or doubled interrupts of an emulated timer. The
 * timer is a thread of the host, so it runs late on a busy host.
 */
static bool
can_host_explain_lost_or_doubled_ticks(const struct report *report, const struct irq_totals *totals, bool lost,
				       uint64_t events)
{
	bool in_time = true;

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];

		if (text_equal(row->source, totals->source) && (lost ? row->periodic && row->empty : row->doubled != 0))
			in_time &= are_ticks_rarely_late(row);
	}
	return report_is_machine_emulated(report) && (!in_time || events < EVENTS_MIN);
}

/* Returns the length of the device's name in SOURCE. For "hpet0" and "hpet_legacy" it is 4, the length of "hpet". */
static size_t
length_of_device_name(const char *source)
{
	size_t length = 0;

	while (source[length] >= 'a' && source[length] <= 'z')
		length++;
	return length;
}

static bool
is_same_device(const char *a, const char *b)
{
	size_t length = length_of_device_name(a);

	return length_of_device_name(b) == length && __builtin_memcmp(a, b, length) == 0;
}

static bool
has_row_enough_one_shots(const struct report_interval *row)
{
	return !row->periodic && row->asked_ns && row->lateness.count >= IRQ_LATE_SHOTS_MIN;
}

/*
 * Returns an upper bound in ns of the host's delay of interrupts, from the one-shots of devices other than SOURCE's.
 * Returns -1 if no other device was tested often enough.
 */
static int64_t
max_host_delay_ns(const struct report *report, const char *source)
{
	int64_t most_ns = -1;

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];
		const struct report_lateness *late = &row->lateness;
		int64_t ns = FAR_FACTOR * late->p50_ns > late->p99_ns ? FAR_FACTOR * late->p50_ns : late->p99_ns;

		if (is_same_device(row->source, source) || !has_row_enough_one_shots(row))
			continue;
		ns += (int64_t)late->error_ns;
		most_ns = ns > most_ns ? ns : most_ns;
	}
	return most_ns;
}

/* Returns a lower bound in ns of the lateness of 99 % of SOURCE's one-shots, which holds for every length and core. */
static int64_t
min_one_shot_delay_ns(const struct report *report, const char *source)
{
	int64_t least_ns = INT64_MAX;

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];
		int64_t ns = row->lateness.p1_ns - (int64_t)row->lateness.error_ns;

		if (text_equal(row->source, source) && has_row_enough_one_shots(row) && ns < least_ns)
			least_ns = ns;
	}
	return least_ns;
}

/* Returns true if a busy host explains the lateness of an emulated timer. */
static bool
can_host_explain_lateness(const struct report *report, const struct irq_totals *totals)
{
	const struct report_lateness *late = &totals->late->lateness;
	int64_t limit_ns = (int64_t)rules_get_limit_by_id(report, "irq-late");
	int64_t host_ns = max_host_delay_ns(report, totals->source);

	if (!report_is_machine_emulated(report) || late->p50_ns + (int64_t)late->error_ns <= limit_ns)
		return false;
	return late->p50_ns - late->p1_ns > late->p50_ns / SPREAD_SHARE || host_ns < 0 ||
	       min_one_shot_delay_ns(report, totals->source) <= host_ns;
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
explain_scattered_ticks(struct behaviour *row)
{
	row->open = true;
	behaviour_set_text(row, "the timer's ticks come anywhere in their periods, so none can be matched to a "
			   "deadline.");
}

/*
 * Judges missing one-shots. Returns true if some are proven to be missing. The proof requires a working route to the
 * core. A LAPIC timer needs no pin, and a pin of an I/O APIC works if any interrupt came through it.
 */
static bool
judge_missing_interrupts(struct report *report, const struct irq_totals *totals)
{
	bool proven = totals->came || text_equal(totals->kind, "lapic");
	struct behaviour *row = totals->shots.count ? irq_add_behaviour_row(report, "irq-missing", totals) : NULL;
	uint64_t known = totals->shots.count - totals->shots.unknown;

	if (!row)
		return false;
	row->failed = totals->shots.missing && proven;
	row->open = !row->failed && totals->shots.empty;
	if (row->failed)
		behaviour_set_text(row, "%lu of %lu one-shots never came, and the timer's status shows that they were due.",
				   totals->shots.missing, totals->shots.count);
	else if (row->open && !totals->came && irq_is_source_polled(totals))
		behaviour_set_text(row, "the timer's counter passed the deadline, but its status bit never showed "
				   "that.");
	else if (row->open && !totals->came && !totals->shots.missing)
		behaviour_set_text(row, "no interrupt came at %lu one-shots, and the timer's own status shows that none was due.",
				   totals->shots.empty);
	else if (row->open && !totals->came)
		behaviour_set_text(row, "no interrupt came through pin %u: either the timer or the route to the core has "
			"failed.",
				   totals->pin);
	else if (row->open)
		behaviour_set_text(row, "%lu of %lu one-shots never came; the timer's status does not show that they were due.",
				   totals->shots.empty, totals->shots.count);
	else if (!known)
		mark_unchecked_because_all_excused(row, "one-shots");
	else {
		row->open = are_most_excused(totals->shots.unknown, totals->shots.count);
		behaviour_set_text(row, "none of %lu one-shot%s is missing%s", known, known == 1 ? "" : "s",
				   describe_excused(totals->shots.unknown, row->open).bytes);
	}
	return row->failed;
}

/*
 * Judges early one-shots. The PIT loads its count at one edge of its clock and raises OUT at another. So an interrupt
 * that is early by two clocks is no fault.
 */
static void
judge_early_interrupts(struct report *report, const struct irq_totals *totals)
{
	struct interval_ns by = totals->shots.earliest;
	struct behaviour *row = totals->came && totals->shots.count > 1 ?
				irq_add_behaviour_row(report, "irq-early", totals) : NULL;
	uint64_t seen = totals->shots.count - totals->shots.excused;

	if (!row)
		return;
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
	row->open = !totals->shots.early_always;
	behaviour_set_text(row, "%lu of %lu one-shots came early, by up to %ld to %ld ns%s", totals->shots.early, seen, by.low,
			   by.high, row->open ? ", but only for some of the intervals." : ".");
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
	       totals->periods.lost * totals->periods.count <= totals->periods.excused * seen;
}

/* Returns the end of the sentence on periods without a tick. ROW is the result of the rule irq-lost. */
static struct phrase
describe_lost_ticks(const struct report *report, const struct irq_totals *totals, const struct behaviour *row)
{
	if (!row->checked)
		return phrase(": not judged in an emulator, because waiting for its host can delay or drop ticks.");
	if (totals->periods.lost && row->open && totals->periods.uneven)
		return phrase(UNEVEN_WORDS);
	if (totals->periods.lost && !row->open && report_is_machine_emulated(report))
		return phrase("; other ticks are late by less than 1/8 period, so waiting for the host does not "
			"explain the loss.");
	return describe_excused(totals->periods.excused, row->open);
}

static void
judge_lost_ticks(struct report *report, const struct irq_totals *totals, bool misses)
{
	struct behaviour *row = totals->periods.count ? irq_add_behaviour_row(report, "irq-lost", totals) : NULL;
	uint64_t seen = totals->periods.count - totals->periods.excused;
	int64_t lost = (int64_t)totals->periods.lost;

	if (!row)
		return;
	if (totals->periods.scattered) {
		explain_scattered_ticks(row);
		return;
	}
	row->checked = seen && totals->came &&
		       !(totals->periods.lost && (misses ||
			 can_host_explain_lost_or_doubled_ticks(report, totals, true, totals->periods.losses)));
	row->open = row->checked && (totals->periods.lost ? totals->periods.uneven || may_gaps_explain_lost_ticks(totals) :
				     are_most_excused(totals->periods.excused, totals->periods.count));
	behaviour_set_figure(row, lost, lost, lost);
	if (!seen) {
		mark_unchecked_because_all_excused(row, "periods");
	} else if (!totals->came) {
		behaviour_set_text(row, "none of %lu ticks came.", seen);
	} else if (misses && totals->periods.lost) {
		behaviour_set_text(row, "%lu of %lu periods were lost as well: see irq-missing.", totals->periods.lost, seen);
	} else {
		row->unchecked = row->checked ? UNCHECKED_OTHER : UNCHECKED_GUEST;
		behaviour_set_text(row, "%lu of %lu periods had no tick%s", totals->periods.lost, seen,
				   describe_lost_ticks(report, totals, row).bytes);
	}
}

/*
 * Judges deadlines with two interrupts. QEMU sends two for two reasons. Its hpet_timer() fires again 10 ns later if it
 * runs before the comparator's tick has passed. A tick that QEMU's main loop sends late may come together with the next
 * tick.
 */
static void
judge_doubled_interrupts(struct report *report, const struct irq_totals *totals)
{
	struct behaviour *row = totals->came && !irq_is_source_polled(totals) ?
				irq_add_behaviour_row(report, "irq-doubled", totals) : NULL;
	uint64_t excused = totals->shots.excused + totals->periods.excused;
	uint64_t all = totals->shots.count + totals->periods.count;
	uint64_t seen = all - excused;

	if (!row)
		return;
	if (totals->periods.scattered && !totals->storms && !totals->doubled) {
		explain_scattered_ticks(row);
		return;
	}
	row->checked = totals->storms ||
		       (totals->doubled ? !can_host_explain_lost_or_doubled_ticks(report, totals, false, totals->doubled) :
					  seen != 0);
	row->open = row->checked && !totals->storms &&
		    (totals->doubled ? totals->periods.uneven && totals->doubled == totals->periods.doubled :
				       are_most_excused(excused, all));
	behaviour_set_figure(row, (int64_t)totals->doubled, (int64_t)totals->doubled, (int64_t)totals->doubled);
	if (totals->storms)
		behaviour_set_text(row, "the timer's interrupts did not stop after one deadline.");
	else if (!row->checked && !totals->doubled)
		mark_unchecked_because_all_excused(row, "deadlines");
	else if (!row->checked)
		behaviour_mark_unchecked(row, UNCHECKED_GUEST, "%lu of %lu deadlines had two interrupts: not judged in an "
			"emulator, which sends delayed interrupts together.", totals->doubled, seen);
	else if (row->open && totals->doubled)
		behaviour_set_text(row, "%lu of %lu periods had two ticks%s", totals->doubled,
				   totals->periods.count - totals->periods.excused, UNEVEN_WORDS);
	else if (totals->doubled && report_is_machine_emulated(report))
		behaviour_set_text(row, "%lu of %lu deadlines had two interrupts; interrupts are late by less than 1/8 of "
			"the interval, so waiting for the host does not explain the second ones.",
				   totals->doubled, seen);
	else
		behaviour_set_text(row, "%lu of %lu deadlines had two interrupts%s", totals->doubled, seen,
				   describe_excused(excused, row->open).bytes);
}

/* ---- rates and lateness ---- */

/* Returns true if there is a finding on SOURCE's device, for example on "hpet" if SOURCE is "hpet0". */
static bool
does_device_have_finding(const struct report *report, const char *source)
{
	for (size_t i = 0; i < report->finding_count; i++)
		if (report->findings[i].clock && text_begins_with(source, report->findings[i].clock))
			return true;
	return false;
}

static void
judge_tick_rate(struct report *report, const struct irq_totals *totals)
{
	struct behaviour *row = totals->periods.count ? irq_add_behaviour_row(report, "irq-rate", totals) : NULL;
	struct interval_ppm rate = interval_in_ppm(&totals->rate);

	if (!row)
		return;
	row->checked = rate.known;
	if (!row->checked) {
		behaviour_set_text(row, "too few ticks came, or their duration is not known.");
		return;
	}
	behaviour_set_figure(row, rate.value, rate.low, rate.high);
	row->open = does_device_have_finding(report, totals->source) ||
		    behaviour_get_outcome(row, rules_get_limit_by_id(report, row->rule)) == OUTCOME_NOT_DETERMINED;
	behaviour_set_text(row, "the timer's periods are off by %ld to %ld ppm%s", row->low, row->high,
			   does_device_have_finding(report, totals->source) ? ": a finding on its clock explains that." :
			   row->open ? ": the periods are too uneven to decide." : ".");
}

static void
judge_late_interrupts(struct report *report, const struct irq_totals *totals)
{
	struct behaviour *row = totals->shots.count > 1 ? irq_add_behaviour_row(report, "irq-late", totals) : NULL;
	const struct report_lateness *late;
	struct phrase median;

	if (!row)
		return;
	row->checked = totals->late && !can_host_explain_lateness(report, totals);
	if (!totals->late) {
		behaviour_set_text(row, "fewer than %u of the one-shots of 100 us have a known lateness, too few for a median.",
				   IRQ_LATE_SHOTS_MIN);
		return;
	}
	if (!row->checked)
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
judge_interrupts_of_expired_deadlines(struct report *report, const struct irq_totals *totals)
{
	struct behaviour *row = totals->over ? irq_add_behaviour_row(report, "hpet-stale", totals) : NULL;
	bool by_qemu = report_is_machine_emulated(report) || text_equal(report->hypervisor, "KVMKVMKVM");

	if (!row)
		return;
	row->failed = 2 * totals->stale > totals->over;
	row->checked = !(totals->stale && by_qemu);
	if (!row->checked)
		row->unchecked = UNCHECKED_GUEST;
	row->open = row->checked && totals->stale && !row->failed;
	behaviour_set_text(row, "armed %lu times with a deadline that had passed, the timer interrupted %lu "
			   "times%s", totals->over, totals->stale,
			   !row->checked ? ": not judged, because QEMU's HPETs do this in every guest." :
			   row->open ? ": an earlier interrupt may have come late." : ".");
}

static bool
has_earlier_row_same_source(const struct report *report, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (text_equal(report->intervals[before].source, report->intervals[i].source))
			return true;
	return false;
}

void
judge_timer_tests(struct report *report)
{
	for (size_t i = 0; i < report->interval_count; i++) {
		struct irq_totals totals;
		bool misses;

		/*
		 * Interrupts that a core sends to itself (self_ipi) have no requested interval, and no rule judges
		 * them.
		 */
		if (has_earlier_row_same_source(report, i) || !report->intervals[i].asked_ns)
			continue;
		totals = irq_sum_up_source(report, report->intervals[i].source);
		misses = judge_missing_interrupts(report, &totals);
		judge_early_interrupts(report, &totals);
		judge_lost_ticks(report, &totals, misses);
		judge_doubled_interrupts(report, &totals);
		judge_tick_rate(report, &totals);
		judge_late_interrupts(report, &totals);
		judge_interrupts_of_expired_deadlines(report, &totals);
	}
	irq_count_cores_that_breach_rules(report);
}
