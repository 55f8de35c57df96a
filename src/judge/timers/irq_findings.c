/*
 * Judges the interrupts of timers over all tests of each source. Deadlines during a gap of the core's time
 * prove nothing. Its rows must be there before judge_behaviours(), which makes findings of them. See
 * judge_timers.h.
 */
#include "judge/timers/judge_timers.h"

#include "base/number.h"
#include "base/offset.h"
#include "base/text.h"
#include "judge/timers/host_wait.h"
#include "judge/timers/irq_programmed.h"
#include "judge/timers/irq_totals.h"
#include "judge/timers/irq_counts.h"
#include "rules/rules.h"

/* Returns true if a finding names SOURCE's device: "hpet" for hpet0. */
static bool
is_device_named(const struct report *report, const char *source)
{
	for (size_t i = 0; i < report->finding_count; i++)
		if (report->findings[i].clock && text_begins(source, report->findings[i].clock))
			return true;
	return false;
}

static void
judge_rate(struct report *report, const struct asked *asked)
{
	struct behaviour *row = asked->periods ? asked_row(report, "irq-rate", asked) : NULL;
	struct interval_ppm rate = interval_in_ppm(&asked->rate);

	if (!row)
		return;
	row->checked = rate.known;
	if (!row->checked) {
		behaviour_say(row, "too few ticks came, or their duration is not known.");
		return;
	}
	asked_set_figure(row, rate.value, rate.low, rate.high);
	row->open = is_device_named(report, asked->source) ||
		    behaviour_outcome(row, rules_limit_of(report, row->rule)) == OUTCOME_NOT_DETERMINED;
	behaviour_say(row, "its periods are off by %ld to %ld ppm%s", row->low, row->high,
		      is_device_named(report, asked->source) ? ": a finding on its clock explains that." :
		      row->open ? ": they are too uneven to decide." : ".");
}

static void
judge_late(struct report *report, const struct asked *asked)
{
	struct behaviour *row = asked->shots > 1 ? asked_row(report, "irq-late", asked) : NULL;
	const struct report_lateness *late;
	struct number_within told;

	if (!row)
		return;
	row->checked = asked->late && !host_wait_explains_late(report, asked);
	if (!asked->late) {
		behaviour_say(row, "fewer than %u one-shots of 100 us came without a gap.", ASKED_LATE_SHOTS_MIN);
		return;
	}
	if (!row->checked)
		row->unchecked = UNCHECKED_GUEST;
	late = &asked->late->lateness;
	if (late->p50_ns + (int64_t)late->error_ns < 0) {
		asked_set_figure(row, 0, 0, 0);
		behaviour_say(row, "half of its one-shots of 100 us came before they were due: see irq-early.");
		return;
	}
	asked_set_figure(row, late->p50_ns, late->p50_ns - (int64_t)late->error_ns, late->p50_ns + (int64_t)late->error_ns);
	if (row->low < 0)
		row->low = 0;
	told = number_within(late->p50_ns, late->error_ns);
	behaviour_say(row, "half of its one-shots of 100 us are %ld ns late or more, +-%lu%s", told.value, told.error,
		      !row->checked ? ": not judged in an emulator, which waits for its host." :
		      report_is_emulated(report) && rules_failed(report, row) ?
			      "; nearly all of them are, and no other source is so late." :
		      ".");
}

/*
 * QEMU's hpet_timer() fires at once for a deadline that has passed, in every guest, and kernels and firmware
 * cope with that.
 */
static void
judge_stale(struct report *report, const struct asked *asked)
{
	struct behaviour *row = asked->over ? asked_row(report, "hpet-stale", asked) : NULL;
	bool by_qemu = report_is_emulated(report) || text_equal(report->hypervisor, "KVMKVMKVM");

	if (!row)
		return;
	row->failed = 2 * asked->stale > asked->over;
	row->checked = !(asked->stale && by_qemu);
	if (!row->checked)
		row->unchecked = UNCHECKED_GUEST;
	row->open = row->checked && asked->stale && !row->failed;
	behaviour_say(row, "armed %lu times with a deadline that had passed, it interrupted %lu times%s", asked->over,
		      asked->stale, !row->checked ? ": not judged in QEMU, whose HPETs do so." :
		      row->open ? ": an earlier interrupt may have come late." : ".");
}

static bool
was_seen_before(const struct report *report, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (text_equal(report->intervals[before].source, report->intervals[i].source))
			return true;
	return false;
}

void
judge_intervals(struct report *report)
{
	for (size_t i = 0; i < report->interval_count; i++) {
		struct asked asked;

		/* Interrupts that come at once have no interval. */
		if (was_seen_before(report, i) || !report->intervals[i].asked_ns)
			continue;
		asked = asked_all_of(report, report->intervals[i].source);
		interval_counts_judge(report, &asked);
		judge_rate(report, &asked);
		judge_late(report, &asked);
		judge_stale(report, &asked);
	}
	interval_cores_judge(report);
}
