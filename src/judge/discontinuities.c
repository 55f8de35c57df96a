/*
 * Classifies discontinuities, at which the clocks disagree on how much time passed. If one clock jumped against
 * others with different sources, it is named. If only the RTC is ahead, the machine was stopped. If groups of
 * clocks diverge, for example in a guest restored from a snapshot, the groups are named without a culprit. See
 * judge_internal.h.
 */
#include "judge/judge_internal.h"

#include "base/set.h"
#include "base/text.h"
#include "consensus/falseticker.h"
#include "judge/discontinuity_said.h"
#include "report/witnesses.h"

#define NS_PER_MS INT64_C(1000000)

/*
 * Returns true if any two clocks of SET have different sources. A TSC that is not in the report counts as its
 * own source.
 */
static bool
are_several_sources(const struct falseticker_sources *sources, uint32_t set)
{
	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++)
		if (set_has(set, i) && sources->separate[i] & set)
			return true;
	return set_has(set, REPORT_CLOCKS_MAX) && set_size(set) > 1;
}

uint32_t
judge_tsc(const struct report *report)
{
	for (size_t i = 0; i < report->clock_count; i++)
		if (text_equal(report->clocks[i].clock.id, "tsc"))
			return set_of(i);
	return set_of(REPORT_CLOCKS_MAX);
}

static bool
is_edge_clock(const struct report *report, uint32_t clocks)
{
	for (size_t i = 0; i < report->clock_count; i++)
		if (clocks == set_of(i))
			return report->clocks[i].clock.edges_only;
	return false;
}

/*
 * Returns true if the TSC alone diverged from clocks other than the RTC. An RTC that diverges means that a
 * guest was stopped.
 */
static bool
is_tsc_alone(const struct report *report, const struct report_discontinuity *row)
{
	uint32_t tsc = judge_tsc(report);
	bool alone = false, others = false;

	for (size_t i = 0; i < row->group_count; i++) {
		alone |= row->groups[i].clocks == tsc;
		others |= !(row->groups[i].clocks & tsc) && !is_edge_clock(report, row->groups[i].clocks);
	}
	return alone && others;
}

bool
judge_tsc_parts(const struct report *report)
{
	for (size_t i = 0; i < report->discontinuity_count; i++)
		if (is_tsc_alone(report, &report->discontinuities[i]))
			return true;
	return false;
}

/*
 * Returns true if OTHERS prove that the single clock ALONE jumped. On bare metal each counter jumps by itself,
 * whatever its crystal. In a guest all devices jump together with the host's clock behind them, and the RTC
 * with the host's time of day. If the guest's TSC stops at times, one clock may have been read before the stop
 * and the others after it.
 */
static bool
is_outvoted(const struct report *report, uint32_t alone, uint32_t others)
{
	struct falseticker_sources sources = witnesses_of_leaps(report);

	if (set_size(alone) != 1 || set_size(others) < 2)
		return false;
	if (!report->hypervisor[0])
		return true;
	return !judge_tsc_parts(report) && are_several_sources(&sources, others) &&
	       (!(alone & sources.siblings) || others & sources.siblings);
}

static bool
is_ahead(const struct report_group *group, const struct report_group *other)
{
	return group->elapsed.known && other->elapsed.known && group->elapsed.low > other->elapsed.high;
}

/*
 * Returns true if a clock is in neither of two groups: it agrees with both, or is too inexact. If it agreed
 * with the RTC's group only, it would be there.
 */
static bool
is_undecided(const struct report *report, const struct report_discontinuity *row)
{
	uint32_t decided = row->groups[0].clocks | row->groups[1].clocks;

	for (size_t i = 0; i < report->clock_count; i++)
		if (report_clock_is_main(&report->clocks[i]) && report->clocks[i].clock.state == CLOCK_PRESENT &&
		    !set_has(decided, i))
			return true;
	return false;
}

/*
 * A hypervisor may stop its own clock while it pauses the guest, as Xen does with its Hyper-V clock. That clock
 * is then behind the others, as after a step back, but none of its readings was below the one before.
 */
static bool
may_have_been_held(const struct report *report, const struct report_group *group, const struct report_group *other)
{
	const struct report_clock *entry = &report->clocks[group->members[0]];

	return entry->clock.by_tsc && !entry->monotonic.backward && is_ahead(other, group) && group->elapsed.low > 0;
}

/*
 * The group of two that consists of one clock that jumped, or of the RTC of a stopped machine. NULL if there is
 * none.
 */
static const struct report_group *
alone_of(const struct report *report, struct report_discontinuity *row)
{
	for (size_t i = 0; i < 2 && row->group_count == 2; i++) {
		const struct report_group *group = &row->groups[i], *other = &row->groups[1 - i];

		bool ahead = is_ahead(group, other) || !group->elapsed.known;
		bool several = set_size(other->clocks) > 1 || is_undecided(report, row);

		if (is_edge_clock(report, group->clocks) && report->hypervisor[0] && ahead && several) {
			row->class = DISCONTINUITY_STOPPED;
			return group;
		}
		if (is_edge_clock(report, group->clocks) && report->hypervisor[0])
			continue;
		if (is_outvoted(report, group->clocks, other->clocks) && !may_have_been_held(report, group, other)) {
			row->class = DISCONTINUITY_JUMPED;
			return group;
		}
	}
	return NULL;
}

bool
judge_jumped_at(const struct report *report, size_t i, const char *clock)
{
	const struct report_discontinuity *row = &report->discontinuities[i];

	for (size_t g = 0; g < row->group_count && row->class == DISCONTINUITY_JUMPED; g++)
		if (row->alone == row->groups[g].clocks &&
		    text_equal(report_clock_id(report, row->groups[g].members[0]), clock))
			return true;
	return false;
}

uint64_t
discontinuity_jumps(const struct report *report, const char *clock)
{
	uint64_t count = 0;

	for (size_t i = 0; i < report->discontinuity_count; i++)
		count += judge_jumped_at(report, i, clock);
	return count;
}

bool
judge_jumped(const struct report *report, const char *clock)
{
	return discontinuity_jumps(report, clock) > 0;
}

void
judge_discontinuities(struct report *report)
{
	const struct report_group *alone[REPORT_DISCONTINUITIES_MAX];

	for (size_t i = 0; i < report->discontinuity_count; i++) {
		struct report_discontinuity *row = &report->discontinuities[i];

		row->from_ms = report_moment_ns(report, row->from_tsc) / NS_PER_MS;
		row->at_ms = report_moment_ns(report, row->at_tsc) / NS_PER_MS;
		row->class = DISCONTINUITY_PARTED;
		alone[i] = alone_of(report, row);
		row->alone = alone[i] ? alone[i]->clocks : 0;
	}
	for (size_t i = 0; i < report->discontinuity_count; i++) {
		const struct report_discontinuity *row = &report->discontinuities[i];

		/* A TSC that is set back repeatedly is behind by the sum, and already has a finding. */
		if (judge_tsc_steps(report) && !(row->class == DISCONTINUITY_JUMPED && judge_jumped_at(report, i, "tsc")))
			continue;
		if (row->class == DISCONTINUITY_STOPPED)
			discontinuity_note_stop(report, row, alone[i]);
		else if (row->class == DISCONTINUITY_JUMPED)
			discontinuity_name_jump(report, row, alone[i]);
		else
			discontinuity_name_parted(report, row);
	}
	if (report->discontinuities_lost)
		report_note(report, "The clocks disagreed at %lu more moments, which are not listed.",
			    (uint64_t)report->discontinuities_lost);
}
