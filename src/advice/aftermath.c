/*
 * Finds what each discontinuity left behind: by how much the clocks and the systems that take them are late, whether
 * the hypervisor announced it, and which timers interrupted afterwards. See recommend.h.
 */
#include "advice/recommend.h"

#include "base/set.h"
#include "base/text.h"

static bool
is_ahead_of_all_others(const struct report_discontinuity *row, size_t group)
{
	for (size_t i = 0; i < row->group_count; i++)
		if (i != group && !(row->groups[i].elapsed.known && row->groups[group].elapsed.known &&
				    row->groups[group].elapsed.low > row->groups[i].elapsed.high))
			return false;
	return true;
}

static bool
has_edge_clock(const struct report *report, const struct report_group *group)
{
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (set_has(group->clocks, i) && report->facts.clocks[i].clock.edges_only)
			return true;
	return false;
}

/*
 * Returns the index of the group of ROW that shows the true time, or REPORT_GROUPS_MAX. If one clock is proven to have
 * jumped, the other group is right. An RTC of a guest shows the host's time of day, which continues while the guest is
 * stopped. So its group is right if it is ahead of all others, unless the RTC was set then.
 */
static size_t
find_right_group(const struct report *report, const struct report_discontinuity *row)
{
	const struct discontinuity_outcome *outcome = report_get_discontinuity_outcome(report, row);

	for (size_t i = 0; i < row->group_count; i++) {
		const struct report_group *group = &row->groups[i];

		if (!group->elapsed.known)
			continue;
		if (outcome->class == DISCONTINUITY_JUMPED ? row->group_count == 2 && group->clocks != outcome->alone :
		    report_is_guest(report) && has_edge_clock(report, group) && is_ahead_of_all_others(row, i))
			return i;
	}
	return REPORT_GROUPS_MAX;
}

/* Sets by how much each clock of ROW is late afterwards. */
static void
compare_clocks_with_right_group(const struct report_discontinuity *row, struct aftermath *aftermath)
{
	const struct report_group *group = &row->groups[aftermath->right];
	const struct interval_ns *right = &group->elapsed;

	for (size_t i = 0; i < row->clock_count; i++) {
		const struct interval_ns *elapsed = &row->clocks[i].elapsed;

		if (elapsed->known && !set_has(group->clocks, row->clocks[i].clock))
			aftermath->clocks[i] = (struct interval_ns){ true, right->value - elapsed->value,
								     right->low - elapsed->high, right->high - elapsed->low };
		else if (elapsed->known)
			aftermath->clocks[i] = (struct interval_ns){ true, 0, elapsed->low - elapsed->high,
								     elapsed->high - elapsed->low };
	}
}

static struct interval_ns
get_lateness_of_clock(const struct report *report, const struct report_discontinuity *row,
		      const struct aftermath *aftermath, const char *clock)
{
	for (size_t i = 0; i < row->clock_count; i++)
		if (text_equal(report_clock_id(report, row->clocks[i].clock), clock))
			return aftermath->clocks[i];
	return (struct interval_ns){ .known = false };
}

/*
 * Returns whether a signal announced ROW. A signal only shows that something happened during the run. So if there are
 * several discontinuities, it may have announced another one.
 */
static enum report_announced
find_announcement(const struct report *report, const struct report_discontinuity *row)
{
	size_t others = report->figures.discontinuities_lost;
	bool usable = false, changed = false;

	for (size_t i = 0; i < report->figures.discontinuity_count; i++)
		others += &report->figures.discontinuities[i] != row &&
			  report->outcomes.discontinuities[i].class != DISCONTINUITY_JUMPED;
	for (size_t i = 0; i < report->facts.signals.count; i++) {
		usable |= !report->facts.signals.list[i].unusable;
		changed |= report->facts.signals.list[i].changed;
	}
	if (!usable || report_get_discontinuity_outcome(report, row)->class == DISCONTINUITY_JUMPED)
		return ANNOUNCED_UNKNOWN;
	return !changed ? ANNOUNCED_NO : others ? ANNOUNCED_PERHAPS : ANNOUNCED_YES;
}

static struct report_survivor *
find_or_add_source(struct aftermath *aftermath, const char *source)
{
	for (size_t i = 0; i < aftermath->source_count; i++)
		if (text_equal(aftermath->sources[i].source, source))
			return &aftermath->sources[i];
	if (aftermath->source_count == REPORT_SOURCES_MAX)
		return NULL;
	aftermath->sources[aftermath->source_count] = (struct report_survivor){ .source = source };
	return &aftermath->sources[aftermath->source_count++];
}

/* Returns true if the source of TEST interrupted on this core after ROW, in any of its tests. */
static bool
did_source_interrupt_after(const struct report *report, const struct report_discontinuity *row,
			   const struct interval_figures *test)
{
	for (size_t i = 0; i < report->figures.interval_count; i++) {
		const struct interval_figures *other = &report->figures.intervals[i];

		if (other->test.core == test->test.core && text_equal(other->test.source, test->test.source) &&
		    other->came_tsc > row->at_tsc)
			return true;
	}
	return false;
}

/* Sets which sources interrupted after ROW. A source that exists once for each core must do so on each tested core. */
static void
find_surviving_sources(const struct report *report, const struct report_discontinuity *row, struct aftermath *aftermath)
{
	for (size_t i = 0; i < report->figures.interval_count; i++) {
		const struct interval_figures *test = &report->figures.intervals[i];
		struct report_survivor *source = test->armed_tsc ? find_or_add_source(aftermath, test->test.source) : NULL;

		if (!source || source->survives == SURVIVES_NO || test->armed_tsc <= row->at_tsc)
			continue;
		source->survives = did_source_interrupt_after(report, row, test) ? SURVIVES_YES : SURVIVES_NO;
	}
}

void
recommend_describe_aftermath(const struct report *report, struct advice *advice)
{
	for (size_t i = 0; i < report->figures.discontinuity_count; i++) {
		const struct report_discontinuity *row = &report->figures.discontinuities[i];
		struct aftermath *aftermath = &advice->aftermaths[i];

		*aftermath = (struct aftermath){ .right = find_right_group(report, row),
						 .announced = find_announcement(report, row) };
		if (aftermath->right < REPORT_GROUPS_MAX)
			compare_clocks_with_right_group(row, aftermath);
		for (size_t k = 0; k < advice->taken_count; k++)
			aftermath->systems[k] = get_lateness_of_clock(report, row, aftermath, advice->taken[k].clock);
		find_surviving_sources(report, row, aftermath);
	}
}
