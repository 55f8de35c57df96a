/*
 * Finds what each discontinuity left behind: by how much the clocks and the systems that take them are late, whether
 * the hypervisor announced it, and which timers interrupted afterwards. See recommend.h.
 */
#include "judge/recommend/recommend.h"

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
	for (size_t i = 0; i < row->group_count; i++) {
		const struct report_group *group = &row->groups[i];

		if (!group->elapsed.known)
			continue;
		if (row->class == DISCONTINUITY_JUMPED ? row->group_count == 2 && group->clocks != row->alone :
		    report->facts.machine.hypervisor[0] && has_edge_clock(report, group) && is_ahead_of_all_others(row, i))
			return i;
	}
	return REPORT_GROUPS_MAX;
}

/* Sets by how much each clock of ROW is late afterwards. */
static void
compare_clocks_with_right_group(struct report_discontinuity *row)
{
	const struct interval_ns *right = &row->groups[row->right].elapsed;

	for (size_t i = 0; i < row->clock_count; i++) {
		const struct interval_ns *elapsed = &row->clocks[i].elapsed;

		row->clocks[i].late = (struct interval_ns){ .known = false };
		if (elapsed->known && !set_has(row->groups[row->right].clocks, row->clocks[i].clock))
			row->clocks[i].late = (struct interval_ns){ true, right->value - elapsed->value, right->low - elapsed->high,
								    right->high - elapsed->low };
		else if (elapsed->known)
			row->clocks[i].late = (struct interval_ns){ true, 0, elapsed->low - elapsed->high,
								    elapsed->high - elapsed->low };
	}
}

static struct interval_ns
get_lateness_of_clock(const struct report *report, const struct report_discontinuity *row, const char *clock)
{
	for (size_t i = 0; i < row->clock_count; i++)
		if (text_equal(report_clock_id(report, row->clocks[i].clock), clock))
			return row->clocks[i].late;
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
			  report->figures.discontinuities[i].class != DISCONTINUITY_JUMPED;
	for (size_t i = 0; i < report->facts.signals.count; i++) {
		usable |= !report->facts.signals.list[i].unusable;
		changed |= report->facts.signals.list[i].changed;
	}
	if (!usable || row->class == DISCONTINUITY_JUMPED)
		return ANNOUNCED_UNKNOWN;
	return !changed ? ANNOUNCED_NO : others ? ANNOUNCED_PERHAPS : ANNOUNCED_YES;
}

static struct report_survivor *
find_or_add_source(struct report_discontinuity *row, const char *source)
{
	for (size_t i = 0; i < row->source_count; i++)
		if (text_equal(row->sources[i].source, source))
			return &row->sources[i];
	if (row->source_count == REPORT_SOURCES_MAX)
		return NULL;
	row->sources[row->source_count] = (struct report_survivor){ .source = source };
	return &row->sources[row->source_count++];
}

/* Returns true if the source of TEST interrupted on this core after ROW, in any of its tests. */
static bool
did_source_interrupt_after(const struct report *report, const struct report_discontinuity *row,
			   const struct report_interval *test)
{
	for (size_t i = 0; i < report->facts.interval_count; i++) {
		const struct report_interval *other = &report->facts.intervals[i];

		if (other->core == test->core && text_equal(other->source, test->source) && other->came_tsc > row->at_tsc)
			return true;
	}
	return false;
}

/* Sets which sources interrupted after ROW. A source that exists once for each core must do so on each tested core. */
static void
find_surviving_sources(const struct report *report, struct report_discontinuity *row)
{
	row->source_count = 0;
	for (size_t i = 0; i < report->facts.interval_count; i++) {
		const struct report_interval *test = &report->facts.intervals[i];
		struct report_survivor *source = test->armed_tsc ? find_or_add_source(row, test->source) : NULL;

		if (!source || source->survives == SURVIVES_NO || test->armed_tsc <= row->at_tsc)
			continue;
		source->survives = did_source_interrupt_after(report, row, test) ? SURVIVES_YES : SURVIVES_NO;
	}
}

void
recommend_describe_aftermath(struct report *report)
{
	for (size_t i = 0; i < report->figures.discontinuity_count; i++) {
		struct report_discontinuity *row = &report->figures.discontinuities[i];

		row->right = find_right_group(report, row);
		if (row->right < REPORT_GROUPS_MAX)
			compare_clocks_with_right_group(row);
		for (size_t k = 0; k < report->advice.taken_count; k++)
			row->late[k] = get_lateness_of_clock(report, row, report->advice.taken[k].clock);
		row->announced = find_announcement(report, row);
		find_surviving_sources(report, row);
	}
}
