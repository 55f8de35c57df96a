/*
 * Judges the interrupts of each timer over all its tests. Adds rows, of which judge_behaviours() makes findings.
 * Deadlines in a gap, while the core was preempted, do not count. See judge_timers.h.
 */
#include "judge/timers/judge_timers.h"

#include "base/number.h"
#include "base/offset.h"
#include "base/text.h"
#include "judge/timers/irq_totals.h"
#include "rules/rules.h"

/* Returns true if there is a finding on SOURCE's device, as on "hpet" for hpet0. */
static bool
has_device_finding(const struct report *report, const char *source)
{
	for (size_t i = 0; i < report->finding_count; i++)
		if (report->findings[i].clock && text_begins(source, report->findings[i].clock))
			return true;
	return false;
}

static void
judge_rate(struct report *report, const struct irq_totals *totals)
{
	struct behaviour *row = totals->periods ? irq_add_row(report, "irq-rate", totals) : NULL;
	struct interval_ppm rate = interval_in_ppm(&totals->rate);

	if (!row)
		return;
	row->checked = rate.known;
	if (!row->checked) {
		behaviour_say(row, "too few ticks came, or their duration is not known.");
		return;
	}
	behaviour_set_figure(row, rate.value, rate.low, rate.high);
	row->open = has_device_finding(report, totals->source) ||
		    behaviour_outcome(row, rules_limit_of(report, row->rule)) == OUTCOME_NOT_DETERMINED;
	behaviour_say(row, "its periods are off by %ld to %ld ppm%s", row->low, row->high,
		      has_device_finding(report, totals->source) ? ": a finding on its clock explains that." :
		      row->open ? ": they are too uneven to decide." : ".");
}

static void
judge_late(struct report *report, const struct irq_totals *totals)
{
	struct behaviour *row = totals->shots > 1 ? irq_add_row(report, "irq-late", totals) : NULL;
	const struct report_lateness *late;
	struct number_within rounded;

	if (!row)
		return;
	row->checked = totals->late && !host_wait_explains_late(report, totals);
	if (!totals->late) {
		behaviour_say(row, "the core was preempted at all but a few of the one-shots of 100 us: fewer than %u "
				   "are left.", IRQ_LATE_SHOTS_MIN);
		return;
	}
	if (!row->checked)
		row->unchecked = UNCHECKED_GUEST;
	late = &totals->late->lateness;
	if (late->p50_ns + (int64_t)late->error_ns < 0) {
		behaviour_set_figure(row, 0, 0, 0);
		behaviour_say(row, "half of its one-shots of 100 us came before they were due: see irq-early.");
		return;
	}
	behaviour_set_figure(row, late->p50_ns, late->p50_ns - (int64_t)late->error_ns,
			     late->p50_ns + (int64_t)late->error_ns);
	if (row->low < 0)
		row->low = 0;
	rounded = number_within(late->p50_ns, late->error_ns);
	behaviour_say(row, "half of its one-shots of 100 us are %ld ns late or more, +-%lu%s", rounded.value, rounded.error,
		      !row->checked ? ": not judged in an emulator, which waits for its host." :
		      report_is_emulated(report) && rules_failed(report, row) ?
			      "; nearly all are late, and no other source is." :
		      ".");
}

/*
 * Judges interrupts for deadlines that had passed before the timer was armed. QEMU's hpet_timer() sends these in every
 * guest, and kernels and firmware cope with them.
 */
static void
judge_stale(struct report *report, const struct irq_totals *totals)
{
	struct behaviour *row = totals->over ? irq_add_row(report, "hpet-stale", totals) : NULL;
	bool by_qemu = report_is_emulated(report) || text_equal(report->hypervisor, "KVMKVMKVM");

	if (!row)
		return;
	row->failed = 2 * totals->stale > totals->over;
	row->checked = !(totals->stale && by_qemu);
	if (!row->checked)
		row->unchecked = UNCHECKED_GUEST;
	row->open = row->checked && totals->stale && !row->failed;
	behaviour_say(row, "armed %lu times with a deadline that had passed, it interrupted %lu times%s", totals->over,
		      totals->stale, !row->checked ? ": not judged in QEMU, whose HPETs do so." :
		      row->open ? ": an earlier interrupt may have come late." : ".");
}

static bool
is_source_seen_before(const struct report *report, size_t i)
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

		/* Interrupts that a core sends to itself (self_ipi) have no interval. */
		if (is_source_seen_before(report, i) || !report->intervals[i].asked_ns)
			continue;
		totals = irq_sum_up(report, report->intervals[i].source);
		irq_judge_counts(report, &totals);
		judge_rate(report, &totals);
		judge_late(report, &totals);
		judge_stale(report, &totals);
	}
	irq_judge_cores(report);
}
