/* Writes a step in which the clocks did not fit into the report. See sweeps.h. */
#include "measure/sweeps.h"

#include "base/text.h"

/* CLOCKS with the TSC at its place in the report, if it has one. */
static uint32_t
as_in_report(const struct report *report, uint32_t clocks)
{
	for (size_t i = 0; i < report->clock_count && set_has(clocks, STEPS_TSC); i++)
		if (text_equal(report->clocks[i].clock.id, "tsc"))
			return (clocks & ~set_of(STEPS_TSC)) | set_of(i);
	return clocks;
}

static struct report_group
group_of(const struct report *report, uint32_t clocks)
{
	struct report_group group = { .clocks = as_in_report(report, clocks) };

	for (size_t i = 0; i <= STEPS_TSC; i++)
		if (set_has(group.clocks, i))
			group.members[group.clock_count++] = (uint8_t)i;
	return group;
}

/*
 * Returns true if a group has edge clocks alone, and each of them had shown one edge only before this step.
 * That edge may be the end of a pause, and then the length of the pause is unknown. A reading between edges has
 * no such doubt.
 */
static bool
is_unsure(const struct survey *survey, uint32_t clocks)
{
	for (size_t i = 0; i <= STEPS_TSC; i++)
		if (set_has(clocks, i) && (i == STEPS_TSC || !steps_is_edge_clock(survey, i) || survey->steps[i].sure ||
					  !survey->steps[i].then_at_edge))
			return false;
	return true;
}

bool
steps_are_edge_clocks(const struct survey *survey, uint32_t clocks)
{
	for (size_t i = 0; i < STEPS_TSC; i++)
		if (set_has(clocks, i) && !steps_is_edge_clock(survey, i))
			return false;
	return true;
}

uint32_t
steps_beside_the_tsc(const struct discontinuity *found)
{
	uint32_t clocks = 0;

	for (size_t i = 0; i < found->count; i++)
		clocks |= set_has(found->groups[i].clocks, STEPS_TSC) ? 0 : found->groups[i].clocks;
	return clocks;
}

/* TSC at which all of CLOCKS last fitted. The step of an edge clock that is waited for may be longer. */
static uint64_t
begin_of(const struct survey *survey, uint32_t clocks)
{
	uint64_t begin = survey->step_tsc;

	for (size_t i = 0; i < STEPS_TSC; i++)
		if (set_has(clocks, i) && survey->steps[i].then.begin < begin)
			begin = survey->steps[i].then.begin;
	return begin;
}

/*
 * Additional time that edge clocks may be ahead. If a guest was stopped when an edge was due, it saw the edge
 * late, and part of the stop is before the step.
 */
static int64_t
hidden_of(const struct survey *survey, uint32_t clocks)
{
	int64_t hidden = 0;

	for (size_t i = 0; i < STEPS_TSC && steps_are_edge_clocks(survey, clocks); i++)
		if (set_has(clocks, i) && survey->steps[i].hidden_ns > hidden)
			hidden = survey->steps[i].hidden_ns;
	return hidden;
}

void
steps_record(struct survey *survey, const struct discontinuity *found, uint64_t now)
{
	struct report *report = survey->report;
	struct report_discontinuity *row = &report->discontinuities[report->discontinuity_count];
	uint64_t begin = begin_of(survey, steps_beside_the_tsc(found));
	int64_t step_ns = scale_ns_down(&survey->scale, steps_clamped((int64_t)(now - begin)));

	if (report->discontinuity_count == REPORT_DISCONTINUITIES_MAX) {
		report->discontinuities_lost++;
		return;
	}
	report->discontinuity_count++;
	*row = (struct report_discontinuity){ .from_tsc = begin, .at_tsc = now,
					      .group_count = found->count };
	for (size_t i = 0; i < found->count; i++) {
		const struct offset *elapsed = &found->groups[i].elapsed;

		row->groups[i] = group_of(report, found->groups[i].clocks);
		if (is_unsure(survey, found->groups[i].clocks))
			row->from_tsc = 0;
		else if (offset_is_known(*elapsed))
			row->groups[i].elapsed = (struct interval_ns){
				true, step_ns + elapsed->low + (elapsed->high - elapsed->low) / 2,
				step_ns + elapsed->low,
				step_ns + elapsed->high + hidden_of(survey, found->groups[i].clocks),
			};
	}
}
