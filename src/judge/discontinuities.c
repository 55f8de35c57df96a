/*
 * Classifies discontinuities: times at which the clocks disagree on how much time passed. If one clock jumped against
 * others with different sources, the finding names it. If only the RTC is ahead, the machine was stopped. If groups of
 * clocks diverge, as in a guest that was restored from a snapshot, the finding lists the groups. See judge_internal.h.
 */
#include "judge/judge_internal.h"

#include "base/set.h"
#include "base/text.h"
#include "base/units.h"
#include "consensus/falseticker.h"
#include "report/clock_sources.h"
#include "report/phrase.h"

#define PPM_MAX   UINT64_C(1000000000000) /* a larger change is not printed */
#define NS_PER_MINUTE (60 * NS_PER_S)

static struct phrase
list_clocks_of_group(const struct report *report, const struct report_group *group)
{
	struct phrase phrase = { "" };

	for (size_t i = 0; i < group->clock_count; i++)
		phrase_add(&phrase, "%s%s", phrase_list_separator(i, group->clock_count), report_clock_id(report, group->members[i]));
	return phrase;
}

/* Returns by how much GROUP advanced more than OTHER. Both must be known. */
static struct interval_ns
gain_of_group(const struct report_group *group, const struct report_group *other)
{
	return (struct interval_ns){ true, group->elapsed.value - other->elapsed.value,
				     group->elapsed.low - other->elapsed.high, group->elapsed.high - other->elapsed.low };
}

/* Returns true if the RTC does not count seconds or minutes correctly. */
static bool
has_rtc_failed(const struct report *report)
{
	for (size_t i = 0; i < report->facts.checks.count; i++)
		if (text_equal(report->facts.checks.rows[i].rule, "rtc-seconds") &&
		    rules_has_check_failed(report, &report->facts.checks.rows[i]))
			return true;
	return false;
}

/* Returns the time after which the readings of CLOCK repeat, or 0 if they do not. */
static uint64_t
time_between_wraps_ns(const struct report *report, const struct clock *clock)
{
	if (clock->edges_only && has_rtc_failed(report))
		return NS_PER_MINUTE;
	if (clock->wrap_ticks == UINT64_MAX || !clock->claimed.num)
		return 0;
	return scale_mul_div_wide((unsigned __int128)clock->wrap_ticks + 1, clock->claimed.den * NS_PER_S, clock->claimed.num,
				  SCALE_NEAREST);
}

/*
 * Returns ", or whole multiples of 60 s more" if all clocks of GROUP wrap, otherwise "". The time by such clocks is
 * only known without whole wraps.
 */
static struct phrase
describe_unknown_wraps(const struct report *report, const struct report_group *group)
{
	uint64_t shortest_ns = UINT64_MAX;

	for (size_t i = 0; i < group->clock_count; i++) {
		uint64_t ns = group->members[i] < report->facts.clock_count ?
			time_between_wraps_ns(report, &report->facts.clocks[group->members[i]].clock) : 0;

		if (!ns)
			return (struct phrase){ "" };
		shortest_ns = ns < shortest_ns ? ns : shortest_ns;
	}
	return phrase(", or whole multiples of %s more", phrase_duration((int64_t)shortest_ns, (int64_t)shortest_ns,
									 (int64_t)shortest_ns).bytes);
}

/* Returns the group of ROW that is not GROUP. ROW must have two groups. */
static const struct report_group *
get_other_group(const struct report_discontinuity *row, const struct report_group *group)
{
	return &row->groups[group == &row->groups[0]];
}

/* Adds a note that the machine was stopped. RTC is the group of ROW whose clock continued during the stop. */
static void
note_machine_stop(const struct report *report, struct outcomes *outcomes, const struct report_discontinuity *row,
		  const struct report_group *rtc)
{
	const struct report_group *other = get_other_group(row, rtc);
	struct interval_ns by = gain_of_group(rtc, other);
	struct phrase at = phrase_tsc_time(report, row->at_tsc);
	const char *id = report_clock_id(report, rtc->members[0]);

	if (rtc->elapsed.known)
		notes_add(&outcomes->notes, "The machine was stopped for %s%s at %s (shown by the %s, unless it was set then).",
			  phrase_duration(by.value, by.low, by.high).bytes, describe_unknown_wraps(report, rtc).bytes,
			  at.bytes, id);
	else
		notes_add(&outcomes->notes, "The machine was stopped before %s (shown by the %s); for how long is not known.",
			  at.bytes, id);
}

/* Returns GAIN_NS as ppm of ELAPSED_NS, which is positive. */
static int64_t
to_ppm(int64_t gain_ns, int64_t elapsed_ns)
{
	uint64_t ppm = scale_mul_div(gain_ns < 0 ? 0 - (uint64_t)gain_ns : (uint64_t)gain_ns, PPM, (uint64_t)elapsed_ns);

	ppm = ppm > PPM_MAX ? PPM_MAX : ppm;
	return gain_ns < 0 ? -(int64_t)ppm : (int64_t)ppm;
}

/*
 * Adds a finding that a clock jumped. ALONE is the group of ROW that contains only this clock. Does nothing if the
 * clock already has such a finding, or if its device failed a check, because wrong readings look like jumps.
 */
static void
add_jump_finding(const struct report *report, struct outcomes *outcomes, const struct report_discontinuity *row,
		 const struct report_group *alone)
{
	const struct report_group *other = get_other_group(row, alone);
	const char *id = report_clock_id(report, alone->members[0]);
	const struct report_clock *entry = report_find_clock(report, id); /* NULL for a TSC that is not in the report */
	bool known = alone->elapsed.known && other->elapsed.known;
	struct interval_ns gain = gain_of_group(alone, other);
	bool back = known && gain.value < 0;
	bool slow = known && row->gradual && other->elapsed.value > 0 && (!back || alone->elapsed.low > 0);
	const char *rule = slow ? "rate-changed" : back ? "clock-backward" : "clock-jumped";
	uint64_t jumps = judge_count_jumps_of_clock(report, id);
	uint64_t leaps = back || !entry ? 0 : entry->monotonic.leaps;
	struct phrase by = { "" }, more = { "" };
	struct finding *finding;

	if ((!slow && jumps <= rules_get_limit_by_id(report, rule)) || rules_find_finding(report, rule, id) ||
	    (!slow && !text_equal(id, "tsc") && rules_has_failed_check(report, id)))
		return;
	if (entry && !outcomes->clocks[entry - report->facts.clocks].jumped_tsc)
		outcomes->clocks[entry - report->facts.clocks].jumped_tsc = row->at_tsc;
	if (known)
		by = phrase("%s%s%s", back ? " back by " : " ahead by ",
			    (back ? phrase_duration(-gain.value, -gain.high, -gain.low) :
				    phrase_duration(gain.value, gain.low, gain.high)).bytes,
			    describe_unknown_wraps(report, alone).bytes);
	if (leaps > jumps)
		more = phrase(" In all, %s jumped ahead %lu times.", id, leaps);
	if (slow) {
		finding = rules_add_finding(report, outcomes, rule, id, REPORT_NO_CORE,
					    "%s had another rate for a time, and %s%s between %s "
					    "and %s; %s agreed with each other.", id, back ? "fell" : "got", by.bytes,
					    phrase_tsc_time(report, row->from_tsc).bytes, phrase_tsc_time(report, row->at_tsc).bytes,
					    list_clocks_of_group(report, other).bytes);
		rules_set_figure(finding, to_ppm(gain.value, other->elapsed.value), to_ppm(gain.low, other->elapsed.value),
				 to_ppm(gain.high, other->elapsed.value));
	} else {
		finding = rules_add_finding(report, outcomes, rule, id, REPORT_NO_CORE,
					    "%s jumped%s at %s; %s agreed with each other.%s", id,
					    by.bytes, phrase_tsc_time(report, row->at_tsc).bytes,
					    list_clocks_of_group(report, other).bytes, more.bytes);
		rules_set_count(finding, leaps > jumps ? leaps : jumps);
	}
	if (finding)
		/* other clocks prove that the counter jumped, so the finding is on all its read methods */
		finding->one_way = false;
}

/* Adds a finding on the groups of ROW if it is unknown which group is wrong. */
static void
add_divergence_finding(const struct report *report, struct outcomes *outcomes, const struct report_discontinuity *row)
{
	bool tsc_moved = report_get_discontinuity_outcome(report, row)->class == DISCONTINUITY_TSC_MOVED;
	struct phrase groups = { "" };

	for (size_t i = 0; i < row->group_count; i++) {
		const struct report_group *group = &row->groups[i];
		const struct interval_ns *elapsed = &group->elapsed;
		struct phrase time = phrase("an unknown time");

		if (elapsed->known)
			time = phrase("%s%s", phrase_duration(elapsed->value, elapsed->low, elapsed->high).bytes,
				      describe_unknown_wraps(report, group).bytes);
		phrase_add(&groups, "%s%s advanced by %s", phrase_list_separator(i, row->group_count),
			   list_clocks_of_group(report, group).bytes, time.bytes);
	}
	rules_add_finding(report, outcomes, "clocks-parted", tsc_moved ? "tsc" : NULL, REPORT_NO_CORE,
			  "At %s the clocks diverged: %s.%s", phrase_tsc_time(report, row->at_tsc).bytes, groups.bytes,
			  tsc_moved ? " The TSC moved, or all others were stopped." : "");
}

/*
 * Returns true if any two clocks of SET have different sources. A TSC that is not in the report counts as another
 * source.
 */
static bool
do_clocks_have_several_sources(const struct falseticker_sources *sources, uint32_t set)
{
	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++)
		if (set_has(set, i) && sources->separate[i] & set)
			return true;
	return set_has(set, REPORT_CLOCKS_MAX) && set_size(set) > 1;
}

uint32_t
judge_get_clock_bit(const struct report *report, const char *id)
{
	const struct report_clock *entry = report_find_clock(report, id);

	if (!entry)
		return text_equal(id, "tsc") ? set_of(REPORT_CLOCKS_MAX) : 0;
	return set_of((size_t)(entry - report->facts.clocks));
}

/* Returns true if GROUP has only an edge clock: an RTC, which is read at its ticks. */
static bool
is_group_of_edge_clocks(const struct report *report, const struct report_group *group)
{
	return group->clock_count == 1 && group->members[0] < report->facts.clock_count &&
	       report->facts.clocks[group->members[0]].clock.edges_only;
}

/*
 * Returns true if the TSC alone diverged from clocks other than the RTC. If only the RTC differs, the guest was
 * stopped, and the TSC is not at fault.
 */
static bool
is_tsc_alone_in_group(const struct report *report, const struct report_discontinuity *row)
{
	uint32_t tsc = judge_get_clock_bit(report, "tsc");
	bool alone = false, others = false;

	for (size_t i = 0; i < row->group_count; i++) {
		alone |= row->groups[i].clocks == tsc;
		others |= !(row->groups[i].clocks & tsc) && !is_group_of_edge_clocks(report, &row->groups[i]);
	}
	return alone && others;
}

bool
judge_has_tsc_diverged(const struct report *report)
{
	for (size_t i = 0; i < report->figures.discontinuity_count; i++)
		if (is_tsc_alone_in_group(report, &report->figures.discontinuities[i]))
			return true;
	return false;
}

/*
 * Returns true if the set OTHERS proves that the single clock ALONE jumped. On bare metal two clocks in OTHERS are
 * enough. In a guest they must have several sources, because all devices jump together with the host's clock, and the
 * RTC jumps with the host's time of day. Nothing is proven if the guest's TSC stops at times: ALONE may have been read
 * before a stop, and the others after it.
 */
static bool
is_jump_of_single_clock_proven(const struct report *report, uint32_t alone, uint32_t others)
{
	struct falseticker_sources sources = find_clock_sources_for_jumps(report);

	if (set_size(alone) != 1 || set_size(others) < 2)
		return false;
	if (!report_is_guest(report))
		return true;
	return !judge_has_tsc_diverged(report) && do_clocks_have_several_sources(&sources, others) &&
	       (!(alone & sources.same_source) || others & sources.same_source);
}

static bool
is_group_ahead_of_other(const struct report_group *group, const struct report_group *other)
{
	return group->elapsed.known && other->elapsed.known && group->elapsed.low > other->elapsed.high;
}

/* Returns true if some clock is in neither of two groups, because it agrees with both or is too inexact. */
static bool
is_any_clock_in_neither_group(const struct report *report, const struct report_discontinuity *row)
{
	uint32_t decided = row->groups[0].clocks | row->groups[1].clocks;

	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (report_clock_is_main_of_device(&report->facts.clocks[i]) &&
		    report->facts.clocks[i].clock.state == CLOCK_PRESENT && !set_has(decided, i))
			return true;
	return false;
}

/*
 * Returns true if a hypervisor may have stopped its own clock while it paused the guest, as Xen does with its Hyper-V
 * clock, or restored it from a snapshot. That clock is then behind the others, as after a step back, but its readings
 * never decreased.
 */
static bool
may_machine_have_been_paused(const struct report *report, const struct report_group *group,
			     const struct report_group *other)
{
	const struct report_clock *entry = &report->facts.clocks[group->members[0]];

	return !entry->monotonic.backward && is_group_ahead_of_other(other, group) &&
	       (entry->clock.by_tsc ? group->elapsed.low > 0 : report_is_guest(report) &&
		group->elapsed.high > 0);
}

/*
 * Returns the group of ROW that differs from all other clocks: the only clock that jumped, the RTC, which goes on while
 * a hypervisor stops the machine, or the TSC of a guest. Sets CLASS. Returns NULL if there is no such group.
 */
static const struct report_group *
find_lone_group(const struct report *report, const struct report_discontinuity *row, enum discontinuity_class *class)
{
	for (size_t i = 0; i < 2 && row->group_count == 2; i++) {
		const struct report_group *group = &row->groups[i], *other = &row->groups[1 - i];

		bool ahead = is_group_ahead_of_other(group, other) || !group->elapsed.known;
		bool several = set_size(other->clocks) > 1 || is_any_clock_in_neither_group(report, row);

		if (is_group_of_edge_clocks(report, group) && report_is_guest(report) && ahead && several) {
			*class = DISCONTINUITY_STOPPED;
			return group;
		}
		if (is_group_of_edge_clocks(report, group) && report_is_guest(report))
			continue;
		if (is_jump_of_single_clock_proven(report, group->clocks, other->clocks) &&
		    !may_machine_have_been_paused(report, group, other)) {
			*class = DISCONTINUITY_JUMPED;
			return group;
		}
		if (group->clocks == judge_get_clock_bit(report, "tsc") && set_size(other->clocks) > 1) {
			*class = DISCONTINUITY_TSC_MOVED;
			return group;
		}
	}
	return NULL;
}

/* Returns true if only CLOCK jumped at the discontinuity ROW. */
static bool
did_only_clock_jump_at(const struct report *report, const struct report_discontinuity *row, const char *clock)
{
	const struct discontinuity_outcome *outcome = report_get_discontinuity_outcome(report, row);

	return outcome->class == DISCONTINUITY_JUMPED && outcome->alone == judge_get_clock_bit(report, clock);
}

uint64_t
judge_count_jumps_of_clock(const struct report *report, const char *clock)
{
	uint64_t count = 0;

	for (size_t i = 0; i < report->figures.discontinuity_count; i++)
		count += did_only_clock_jump_at(report, &report->figures.discontinuities[i], clock);
	return count;
}

void
judge_discontinuities(const struct report *report, struct outcomes *outcomes)
{
	const struct report_group *alone[REPORT_DISCONTINUITIES_MAX];

	for (size_t i = 0; i < report->figures.discontinuity_count; i++) {
		struct discontinuity_outcome *outcome = &outcomes->discontinuities[i];

		outcome->class = DISCONTINUITY_PARTED;
		alone[i] = find_lone_group(report, &report->figures.discontinuities[i], &outcome->class);
		outcome->alone = alone[i] ? alone[i]->clocks : 0;
	}
	for (size_t i = 0; i < report->figures.discontinuity_count; i++) {
		const struct report_discontinuity *row = &report->figures.discontinuities[i];

		/*
		 * A TSC that steps back falls behind all other clocks. Such a discontinuity gets no finding here,
		 * because state.c makes the finding on the steps.
		 */
		if (judge_has_tsc_stepped(report) && !did_only_clock_jump_at(report, row, "tsc"))
			continue;
		if (report_get_discontinuity_outcome(report, row)->class == DISCONTINUITY_STOPPED)
			note_machine_stop(report, outcomes, row, alone[i]);
		else if (report_get_discontinuity_outcome(report, row)->class == DISCONTINUITY_JUMPED)
			add_jump_finding(report, outcomes, row, alone[i]);
		else
			add_divergence_finding(report, outcomes, row);
	}
	if (report->figures.discontinuities_lost)
		notes_add(&outcomes->notes, "The clocks disagreed %lu more times, which are not listed.",
			  (uint64_t)report->figures.discontinuities_lost);
}
