/*
 * Compares the number of interrupts with the number of deadlines. A deadline in a gap, while the core was preempted,
 * is excused: it does not count. If more than half are excused, the result is not determined. See irq_totals.h.
 */
#include "judge/timers/irq_totals.h"

#include "base/text.h"
#include "report/phrase.h"

#define PIT_CLOCKS_2_NS 1677 /* the duration of two PIT clocks */

static bool
are_most_excused(uint64_t excused, uint64_t all)
{
	return 2 * excused > all;
}

/* Returns a clause on excused deadlines, for the end of a sentence. */
static struct phrase
excused_phrase(uint64_t excused, uint64_t all)
{
	if (!excused)
		return phrase(".");
	return phrase("; %lu more do not count, because the core was preempted%s.", excused,
		      are_most_excused(excused, all) ? ", too many to decide" : "");
}

static void
skip_excused_shots(struct behaviour *row, uint64_t shots)
{
	behaviour_skip(row, UNCHECKED_OTHER, "the core was preempted when each of %lu one-shots was due.", shots);
}

static void
explain_scattered(struct behaviour *row)
{
	row->open = true;
	behaviour_say(row, "its ticks are spread over their periods, so none can be matched to its deadline.");
}

/*
 * Judges missing one-shots. Returns true if some are proven to be missing. That needs proof that the route to the core
 * works: a LAPIC timer needs no pin, and a pin of an I/O APIC works if any interrupt came through it.
 */
static bool
judge_missing(struct report *report, const struct irq_totals *totals)
{
	bool proven = totals->came || text_equal(totals->kind, "lapic");
	struct behaviour *row = totals->shots ? irq_add_row(report, "irq-missing", totals) : NULL;
	uint64_t known = totals->shots - totals->shots_unknown;

	if (!row)
		return false;
	row->failed = totals->missing && proven;
	row->open = !row->failed && totals->shots_empty;
	if (row->failed)
		behaviour_say(row, "%lu of %lu one-shots never came, and the timer's status shows that they were due.",
			      totals->missing, totals->shots);
	else if (row->open && !totals->came && irq_is_polled(totals))
		behaviour_say(row, "its counter passed the deadline, but its status never showed that.");
	else if (row->open && !totals->came)
		behaviour_say(row, "none came through pin %u: either the timer or the route to the core has failed.",
			      totals->pin);
	else if (row->open)
		behaviour_say(row, "%lu of %lu one-shots never came; the timer's status does not show that they were due.",
			      totals->shots_empty, totals->shots);
	else if (!known)
		skip_excused_shots(row, totals->shots);
	else {
		row->open = are_most_excused(totals->shots_unknown, totals->shots);
		behaviour_say(row, "none of %lu one-shot%s is missing%s", known, known == 1 ? "" : "s",
			      excused_phrase(totals->shots_unknown, totals->shots).bytes);
	}
	return row->failed;
}

/*
 * Judges early one-shots. The PIT loads its count at one of its clocks and raises OUT at another, so being early by two
 * clocks is no fault.
 */
static void
judge_early(struct report *report, const struct irq_totals *totals)
{
	struct interval_ns by = totals->earliest;
	struct behaviour *row = totals->came && totals->shots > 1 ? irq_add_row(report, "irq-early", totals) : NULL;
	uint64_t seen = totals->shots - totals->shots_excused;

	if (!row)
		return;
	if (!seen) {
		skip_excused_shots(row, totals->shots);
		return;
	}
	if (text_begins(totals->source, "pit"))
		by.low -= PIT_CLOCKS_2_NS;
	if (!by.known || by.low <= 0) {
		behaviour_set_figure(row, 0, 0, 0);
		row->open = are_most_excused(totals->shots_excused, totals->shots);
		behaviour_say(row, "none of %lu one-shot%s came earlier than its error allows%s", seen, seen == 1 ? "" : "s",
			      excused_phrase(totals->shots_excused, totals->shots).bytes);
		return;
	}
	behaviour_set_figure(row, by.value, by.low, by.high);
	row->open = !totals->early_always;
	behaviour_say(row, "%lu of %lu one-shots came early, by up to %ld to %ld ns%s", totals->early, seen, by.low, by.high,
		      row->open ? ", but only for some of the intervals." : ".");
}

/*
 * Returns true if the share of excused periods is at least the share of lost periods in the rest. Then the cause of the
 * core's gaps may also have delayed its timer.
 */
static bool
may_share_cause_of_gaps(const struct irq_totals *totals)
{
	uint64_t seen = totals->periods - totals->periods_excused;

	return 2 * totals->periods_excused >= totals->periods ||
	       totals->lost * totals->periods <= totals->periods_excused * seen;
}

/* Returns the end of the sentence on periods without a tick, whose row is ROW. */
static struct phrase
lost_phrase(const struct report *report, const struct irq_totals *totals, const struct behaviour *row)
{
	if (!row->checked)
		return phrase(": not judged in an emulator, which waits for its host.");
	if (totals->lost && row->open && totals->uneven)
		return phrase(", but ticks come late by more than an eighth of a period.");
	if (totals->lost && row->open)
		return phrase("; the cause of gaps in %lu others may also have delayed its timer.", totals->periods_excused);
	if (totals->lost && report_is_emulated(report))
		return phrase("; other ticks are late by less than 1/8 period, so waiting for the host does not explain that.");
	return excused_phrase(totals->periods_excused, totals->periods);
}

static void
judge_lost(struct report *report, const struct irq_totals *totals, bool misses)
{
	struct behaviour *row = totals->periods ? irq_add_row(report, "irq-lost", totals) : NULL;
	uint64_t seen = totals->periods - totals->periods_excused;

	if (!row)
		return;
	if (totals->scattered) {
		explain_scattered(row);
		return;
	}
	row->checked = seen && totals->came && !(totals->lost && (misses || host_wait_explains_lost(report, totals)));
	row->open = row->checked && (totals->lost ? totals->uneven || may_share_cause_of_gaps(totals) :
				     are_most_excused(totals->periods_excused, totals->periods));
	behaviour_set_figure(row, (int64_t)totals->lost, (int64_t)totals->lost, (int64_t)totals->lost);
	if (!seen) {
		behaviour_say(row, "the core was preempted in each of %lu periods.", totals->periods);
	} else if (!totals->came) {
		behaviour_say(row, "none of %lu ticks came.", seen);
	} else if (misses && totals->lost) {
		behaviour_say(row, "%lu of %lu periods were lost as well: see irq-missing.", totals->lost, seen);
	} else {
		row->unchecked = row->checked ? UNCHECKED_OTHER : UNCHECKED_GUEST;
		behaviour_say(row, "%lu of %lu periods had no tick%s", totals->lost, seen, lost_phrase(report, totals, row).bytes);
	}
}

/*
 * Judges deadlines with two interrupts. QEMU has two reasons for these. Its hpet_timer() fires again 10 ns later if it
 * runs before the comparator's tick has passed. And a tick that its main loop sends late may come together with the
 * next tick.
 */
static void
judge_doubled(struct report *report, const struct irq_totals *totals)
{
	struct behaviour *row = totals->came && !irq_is_polled(totals) ? irq_add_row(report, "irq-doubled", totals) : NULL;
	uint64_t excused = totals->shots_excused + totals->periods_excused, all = totals->shots + totals->periods;
	uint64_t seen = all - excused;

	if (!row)
		return;
	if (totals->scattered && !totals->storms && !totals->doubled) {
		explain_scattered(row);
		return;
	}
	row->checked = totals->storms || (totals->doubled ? !host_wait_explains_doubled(report, totals) : seen != 0);
	row->open = row->checked && !totals->storms &&
		    (totals->doubled ? totals->uneven && totals->doubled == totals->doubled_periods : are_most_excused(excused, all));
	behaviour_set_figure(row, (int64_t)totals->doubled, (int64_t)totals->doubled, (int64_t)totals->doubled);
	if (totals->storms)
		behaviour_say(row, "its interrupts did not stop after one deadline.");
	else if (!row->checked && !totals->doubled)
		behaviour_say(row, "the core was preempted at each of its deadlines.");
	else if (!row->checked)
		behaviour_skip(row, UNCHECKED_GUEST, "%lu of %lu deadlines had two interrupts: not judged in an emulator, which "
			       "sends late ones at once.", totals->doubled, seen);
	else if (row->open && totals->doubled)
		behaviour_say(row, "%lu of %lu periods had two ticks, but ticks come late by more than an eighth of a period.",
			      totals->doubled, totals->periods - totals->periods_excused);
	else if (totals->doubled && report_is_emulated(report))
		behaviour_say(row, "%lu of %lu deadlines had two interrupts; interrupts are late by less than 1/8 of the "
			      "interval, so waiting for the host does not explain that.", totals->doubled, seen);
	else
		behaviour_say(row, "%lu of %lu deadlines had two interrupts%s", totals->doubled, seen,
			      excused_phrase(excused, all).bytes);
}

void
irq_judge_counts(struct report *report, const struct irq_totals *totals)
{
	bool misses = judge_missing(report, totals);

	judge_early(report, totals);
	judge_lost(report, totals, misses);
	judge_doubled(report, totals);
}
