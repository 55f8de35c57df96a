/*
 * Compares jumps of the clocks with a hypervisor's announcements of disruptions. A signal is an interface for such
 * announcements. See judge_internal.h.
 */
#include "judge/judge_internal.h"

#include "base/text.h"
#include "base/units.h"
#include "report/phrase.h"

/* a hypervisor may create its clock and the TSC up to 1 s apart */
#define APART_NS ((int64_t)NS_PER_S)

static size_t
count_discontinuities(const struct report *report, enum discontinuity_class class)
{
	size_t count = 0;

	for (size_t i = 0; i < report->figures.discontinuity_count; i++)
		count += report->outcomes.discontinuities[i].class == class;
	return count;
}

/* Returns the first signal that changed during the run, or NULL. */
static const struct signal *
find_first_changed_disruption_signal(const struct signals *signals)
{
	for (size_t i = 0; i < signals->count; i++)
		if (signals->list[i].changed)
			return &signals->list[i];
	return NULL;
}

/* Returns a usable signal, preferably one that announces more than restored snapshots; NULL if none is usable. */
static const struct signal *
find_usable_disruption_signal(const struct signals *signals)
{
	const struct signal *best = NULL;

	for (size_t i = 0; i < signals->count; i++) {
		const struct signal *signal = &signals->list[i];

		if (!signal->unusable && (!best || (best->restores_only && !signal->restores_only)))
			best = signal;
	}
	return best;
}

/*
 * Adds a note on hypervisor's clocks that do not count from the same moment as the TSC. This is no fault, because they
 * are only promised to have its rate. But a guest that compares them needs it (openvmm pull request 4253: by 36 s).
 */
static void
note_clocks_set_apart_from_tsc(const struct report *report, struct outcomes *outcomes)
{
	struct phrase apart = { "" };

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct interval_ns *behind = &report->figures.clocks[i].behind_tsc;
		bool is_ahead = behind->high < 0;

		if (behind->known && (behind->low > APART_NS || behind->high < -APART_NS))
			phrase_add(&apart, "%s %s %s by %s", apart.bytes[0] ? "," : "", is_ahead ? "behind" : "ahead of",
				   report->facts.clocks[i].clock.id,
				   is_ahead ? phrase_duration(-behind->value, -behind->high, -behind->low).bytes :
					      phrase_duration(behind->value, behind->low, behind->high).bytes);
	}
	if (apart.bytes[0])
		notes_add(&outcomes->notes, "Counted from 0, the TSC is%s: they were not set at the same time.",
			  apart.bytes);
}

void
judge_announcements_of_disruptions(const struct report *report, struct outcomes *outcomes)
{
	const struct signals *signals = &report->facts.signals;
	const struct signal *changed = find_first_changed_disruption_signal(signals);
	const struct signal *best = find_usable_disruption_signal(signals);
	size_t moves = count_discontinuities(report, DISCONTINUITY_TSC_MOVED);
	/*
	 * How often the machine was stopped, restored or moved. Moves of a single clock are not counted. An
	 * announcement proves that the guest was stopped or moved when its TSC alone diverged.
	 */
	size_t disruptions = count_discontinuities(report, DISCONTINUITY_STOPPED) +
			     count_discontinuities(report, DISCONTINUITY_PARTED) + (changed ? moves : 0);
	bool tsc_moved = !disruptions && moves;
	const char *plural = disruptions == 1 ? "" : "s";
	struct behaviour *row;

	note_clocks_set_apart_from_tsc(report, outcomes);
	if (!signals->count)
		return;
	row = behaviour_add_row(&outcomes->behaviours, "pv-untold", (best ? best : signals->list)->id);
	if (!row)
		return;
	if (judge_has_tsc_stepped(report)) {
		behaviour_mark_unchecked(row, UNCHECKED_OTHER, "The TSC stepped back, so the clocks show no disruptions.");
		return;
	}
	if (tsc_moved && best) {
		behaviour_mark_unchecked(row, UNCHECKED_OTHER, "The TSC alone diverged from the clocks, which does not prove a stop "
					 "of the guest; %s announced none.", best->name);
		return;
	}
	row->checked = best != NULL;
	row->failed = best && disruptions && !changed;
	row->open = row->failed && best->restores_only;
	if (!best)
		behaviour_set_text(row, "The hypervisor offers %s, but without the contents that its specification requires.",
				   signals->list[0].name);
	else if (row->open)
		behaviour_set_text(row, "The clocks show %zu disruption%s, which may be a pause: %s announces only "
				   "restored snapshots.", disruptions, plural, best->name);
	else if (row->failed)
		behaviour_set_text(row, "The clocks show %zu disruption%s, but %s announced none.", disruptions,
				   plural, best->name);
	else if (disruptions)
		behaviour_set_text(row, "The clocks show %zu disruption%s, which %s announced.", disruptions, plural, changed->name);
	else
		behaviour_set_text(row, "No clock shows a disruption%s.", changed ? ", but see the notes" : "");
	if (changed && !disruptions)
		notes_add(&outcomes->notes, "A disruption was announced by %s during the run, but no clock shows one.",
			  changed->name);
}
