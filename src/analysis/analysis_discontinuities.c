/*
 * Finds discontinuities in the record's entries `step`. A step is the interval between two successive readings of all
 * clocks. Calculates how much each clock gained on the TSC in a step, groups the clocks by this gain, and fills rows of
 * the report. See analysis.h and analysis_steps.h.
 */
#include "analysis/analysis.h"

#include "analysis/analysis_steps.h"
#include "base/set.h"
#include "base/text.h"
#include "base/units.h"

/*
 * Maximum time by which a real RTC's edge is early or late, because its update cycle does not always take the same
 * time.
 */
#define EDGE_UNEVEN_NS INT64_C(5000000)
/*
 * An RTC counts seconds from 0 to 59, so the time that it gained against the TSC is only known modulo 60 s. It is
 * assumed to be at least this.
 */
#define EDGE_BACK_NS   INT64_C(-5000000000)
#define FAR            (INT64_C(1) << 58) /* a larger difference, in ticks or ns, cannot be valid */
/*
 * Upper bound on how far QEMU moves its emulated TSC ahead between two readings of all clocks. QEMU never lets this TSC
 * go back. If a reading would be below an earlier one, QEMU moves the TSC ahead for good, by milliseconds if several
 * cores read it.
 */
#define MOVED_NS_MAX   INT64_C(100000000)

/*
 * Largest error of an RTC's rate, if its measured rate is less exact. NTP corrects no clock with a larger error. The
 * rate's error counts for all of the time that an RTC showed while the machine was stopped.
 */
#define EDGE_RATE_PPM  INT64_C(500)

static int64_t
clamp_difference(int64_t size)
{
	return size > FAR ? FAR : size < -FAR ? -FAR : size;
}

static const struct clock *
get_compared_clock(const struct analysis_step *step, const struct record_compared *clock)
{
	return &step->report->facts.clocks[clock->clock].clock;
}

/* Converts TICKS of CLOCK to TSC ticks. */
static int64_t
to_tsc_ticks(const struct analysis_step *step, const struct record_compared *clock, int64_t ticks,
	     enum scale_rounding rounding)
{
	const struct rate *claimed = &get_compared_clock(step, clock)->claimed;
	uint64_t size = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
	uint64_t tsc = scale_mul_div_wide((unsigned __int128)size * clock->implied.value, claimed->den,
					  (unsigned __int128)claimed->num * MICROHZ_PER_HZ, rounding);

	tsc = tsc < (uint64_t)FAR ? tsc : (uint64_t)FAR;
	return ticks < 0 ? -(int64_t)tsc : (int64_t)tsc;
}

/* Returns true if QEMU may have moved its emulated TSC ahead. */
static bool
may_emulator_have_moved_tsc(const struct analysis_step *step)
{
	return report_is_machine_emulated(step->report) && step->is.cores > 1;
}

static int64_t
max_edge_lateness_ns(const struct analysis_step *step, int64_t late_ns)
{
	if (!report_is_guest(step->report))
		return EDGE_UNEVEN_NS;
	return late_ns + (may_emulator_have_moved_tsc(step) ? MOVED_NS_MAX : 0);
}

/*
 * Returns the error in ticks of the time that CLOCK showed, due to the error of its rate. TSC_TICKS passed on the TSC,
 * and the clock showed up to SHOWN_TICKS of the TSC. The error grows with the longer of these times, because a clock
 * that wrapped shows too little time. ALONE is true for an RTC that alone went on: its rate is taken as right within
 * EDGE_RATE_PPM.
 */
static int64_t
error_by_rate_ticks(const struct record_rate *rate, int64_t tsc_ticks, int64_t shown_ticks, bool alone)
{
	uint64_t size = tsc_ticks < 0 ? 0 - (uint64_t)tsc_ticks : (uint64_t)tsc_ticks;
	uint64_t shown = shown_ticks < 0 ? 0 : (uint64_t)shown_ticks, longer = shown > size ? shown : size;
	int64_t error = clamp_difference((int64_t)scale_mul_div_up(longer, rate->high - rate->low, rate->low));

	if (!alone)
		return error;
	int64_t least = clamp_difference((int64_t)scale_mul_div_up(size, rate->high - rate->low, rate->low) +
					 (int64_t)scale_mul_div_up(longer, EDGE_RATE_PPM, PPM));
	return least < error ? least : error;
}

/*
 * Returns the TSC's rate in microhertz that RATE, an interval by a clock, allows and that is nearest to the TSC's rate
 * in SCALE. An interval from few edges of an RTC is wide, so its middle may be off by 0.5 %.
 */
static uint64_t
allowed_rate_nearest_to_scale(const struct record_rate *rate, const struct scale *scale)
{
	uint64_t hz = scale_mul_div_nearest(scale->hz.num, MICROHZ_PER_HZ, scale->hz.den);

	return hz < rate->low ? rate->low : hz > rate->high ? rate->high : hz;
}

/*
 * Returns the bounds of the time in ns that CLOCK gained on the TSC in the step, modulo the clock's range. An edge may
 * be up to LATE_NS late. ALONE: see error_by_rate_ticks().
 */
static struct offset
clock_gain_on_tsc_ns(const struct analysis_step *step, const struct record_compared *clock, int64_t late_ns, bool alone)
{
	const struct clock *of = get_compared_clock(step, clock);
	struct record_compared used = *clock; /* with the rate that is taken as right */
	const struct record_rate rate = clock->implied;
	int64_t least = clamp_difference((int64_t)(clock->now.begin - clock->then.end));
	int64_t most = clamp_difference((int64_t)(clock->now.end - clock->then.begin));
	int64_t ticks = clamp_difference(of->wrap_ticks == UINT64_MAX ? (int64_t)(clock->now.ticks - clock->then.ticks) :
					 (int64_t)clock_elapsed_ticks(of, clock->then.ticks, clock->now.ticks));
	int64_t slack = clamp_difference((int64_t)clock->resolution_ticks);
	/* between its edges, an edge clock (an RTC, see clock.h) has advanced by up to one tick more than it shows */
	int64_t less = of->edges_only ? !clock->then_at_edge : slack;
	int64_t more = of->edges_only ? !clock->now_at_edge : slack;
	struct offset offset;

	if (alone && step->scale.hz.den)
		used.implied.value = allowed_rate_nearest_to_scale(&rate, &step->scale);
	offset = (struct offset){ to_tsc_ticks(step, &used, ticks - less, SCALE_DOWN),
				  to_tsc_ticks(step, &used, ticks + more, SCALE_UP) };
	int64_t by_rate = error_by_rate_ticks(&rate, most, offset.high, alone);
	late_ns = of->edges_only ? max_edge_lateness_ns(step, late_ns) : 0;
	return (struct offset){
		clamp_difference(scale_ticks_to_ns_down(&step->scale,
							clamp_difference(offset.low - most - by_rate))) - late_ns,
		clamp_difference(scale_ticks_to_ns_up(&step->scale,
						      clamp_difference(offset.high - least + by_rate))) + late_ns,
	};
}

/*
 * OFFSET contains the time that an edge clock gained on the TSC. The clock may have wrapped unnoticed. Subtracts whole
 * wraps, so that the upper bound is between EDGE_BACK_NS and EDGE_BACK_NS + WRAP_NS.
 */
static struct offset
reduce_gain_by_whole_wraps(struct offset offset, int64_t wrap_ns)
{
	if (!wrap_ns)
		return offset;
	int64_t by = (offset.high - EDGE_BACK_NS) / wrap_ns;
	by -= offset.high - EDGE_BACK_NS < by * wrap_ns;
	return (struct offset){ offset.low - by * wrap_ns, offset.high - by * wrap_ns };
}

/* Returns the time from one wrap of CLOCK to the next, or 0 for a 64-bit counter. */
static int64_t
time_between_wraps_ns(const struct analysis_step *step, const struct record_compared *clock)
{
	uint64_t wrap_ticks = get_compared_clock(step, clock)->wrap_ticks;

	if (wrap_ticks == UINT64_MAX)
		return 0;
	int64_t tsc_ticks = to_tsc_ticks(step, clock, clamp_difference((int64_t)(wrap_ticks + 1)), SCALE_NEAREST);
	uint64_t wrap_ns = scale_ns(&step->scale, (uint64_t)tsc_ticks);
	return wrap_ns < FAR ? (int64_t)wrap_ns : FAR;
}

/*
 * Returns true if the step takes more than a quarter of the time in which CLOCK wraps. If CLOCK went back in such a
 * long step, this looks like a wrap: see clock_comparable().
 */
static bool
may_clock_have_wrapped(const struct analysis_step *step, const struct record_compared *clock, int64_t wrap_ns)
{
	int64_t ticks = clamp_difference((int64_t)(clock->now.end - clock->then.begin));

	return wrap_ns && scale_ticks_to_ns_up(&step->scale, ticks) > wrap_ns / 4;
}

static struct discontinuity_clock
clock_gain_in_step(const struct analysis_step *step, const struct record_compared *clock, int64_t late_ns)
{
	int64_t wrap = time_between_wraps_ns(step, clock);
	/* a clock that was first read within the step does not cover the whole step */
	struct discontinuity_clock in = { clock->then.begin <= step->is.begin_tsc,
					  clock_gain_on_tsc_ns(step, clock, late_ns, false), (uint64_t)wrap, false };

	if (!get_compared_clock(step, clock)->edges_only) {
		in.known &= !may_clock_have_wrapped(step, clock, wrap);
		return in;
	}
	/*
	 * One reading must be at an edge, because otherwise both are uncertain by a tick. Both readings at an edge are
	 * not required, because an edge clock that stopped in the step shows no further edge.
	 */
	in.known &= clock->then_at_edge || clock->now_at_edge;
	/* A gain that is only known to a whole wrap or more, as after a long time without readings, proves nothing. */
	in.known &= !wrap || in.elapsed.high - in.elapsed.low < wrap;
	in.elapsed = reduce_gain_by_whole_wraps(in.elapsed, wrap);
	in.uncounted = wrap != 0;
	return in;
}

struct discontinuity
analysis_group_clocks_by_gain(const struct analysis_step *step, int64_t edge_late_ns, uint64_t floor_ns)
{
	struct discontinuity_clock clocks[ANALYSIS_TSC + 1] = { { .known = false } };

	for (size_t i = 0; i < step->count; i++)
		clocks[step->clocks[i].clock] = clock_gain_in_step(step, &step->clocks[i], edge_late_ns);
	clocks[ANALYSIS_TSC] =
		(struct discontinuity_clock){ true, { may_emulator_have_moved_tsc(step) ? -MOVED_NS_MAX : 0, 0 }, 0, false };
	return discontinuity_find_groups(clocks, ANALYSIS_TSC + 1, floor_ns < FAR ? floor_ns : FAR);
}

uint64_t
analysis_max_unreported_gain_ns(const struct analysis_step *step, const struct record_compared *clock)
{
	if (!get_compared_clock(step, clock)->edges_only || !report_is_guest(step->report))
		return 0;
	struct offset by = reduce_gain_by_whole_wraps(clock_gain_on_tsc_ns(step, clock, ANALYSIS_EDGE_LATEST_NS, false),
						      time_between_wraps_ns(step, clock));
	return by.high > 0 ? (uint64_t)by.high : 0;
}

uint32_t
analysis_find_clocks_outside_tsc_group(const struct discontinuity *found)
{
	uint32_t clocks = 0;

	for (size_t i = 0; i < found->count; i++)
		clocks |= set_has(found->groups[i].clocks, ANALYSIS_TSC) ? 0 : found->groups[i].clocks;
	return clocks;
}

bool
analysis_are_edge_clocks(const struct report *report, uint32_t clocks)
{
	for (size_t i = 0; i < ANALYSIS_TSC; i++)
		if (set_has(clocks, i) && !report->facts.clocks[i].clock.edges_only)
			return false;
	return true;
}

/*
 * Returns the set CLOCKS with the TSC's bit moved to the TSC's index in the report. Does not change the set if the
 * report has no TSC.
 */
static uint32_t
to_report_clock_set(const struct report *report, uint32_t clocks)
{
	for (size_t i = 0; i < report->facts.clock_count && set_has(clocks, ANALYSIS_TSC); i++)
		if (text_equal(report->facts.clocks[i].clock.id, "tsc"))
			return (clocks & ~set_of(ANALYSIS_TSC)) | set_of(i);
	return clocks;
}

static struct report_group
make_report_group(const struct report *report, uint32_t clocks)
{
	struct report_group group = { .clocks = to_report_clock_set(report, clocks) };

	for (size_t i = 0; i <= ANALYSIS_TSC; i++)
		if (set_has(group.clocks, i))
			group.members[group.clock_count++] = (uint8_t)i;
	return group;
}

/*
 * Returns true if CLOCKS are all edge clocks (such as an RTC), and each of them showed only one edge before this step.
 * A pause whose start is unknown may have delayed this edge. A reading between two edges would exclude such a pause.
 */
static bool
have_clocks_shown_only_one_edge(const struct analysis_step *step, uint32_t clocks)
{
	if (set_has(clocks, ANALYSIS_TSC) || !analysis_are_edge_clocks(step->report, clocks))
		return false;
	for (size_t i = 0; i < step->count; i++)
		if (set_has(clocks, step->clocks[i].clock) &&
		    (step->clocks[i].confirmed || !step->clocks[i].then_at_edge))
			return false;
	return true;
}

/*
 * Returns the TSC's value when all of CLOCKS last agreed with the TSC. For edge clocks this is the time of their latest
 * edge, which may be before the step.
 */
static uint64_t
last_agreement_tsc(const struct analysis_step *step, uint32_t clocks)
{
	uint64_t begin = step->is.begin_tsc;

	for (size_t i = 0; i < step->count; i++)
		if (set_has(clocks, step->clocks[i].clock) && step->clocks[i].then.begin < begin)
			begin = step->clocks[i].then.begin;
	return begin;
}

/*
 * Returns the upper bound in ns of an additional gain on the TSC that the readings of the step do not show. Only edge
 * clocks have such a gain. If the guest was stopped when an edge was due, the edge came late, and a part of the stop
 * was before the step.
 */
static int64_t
max_unreported_gain_of_clocks_ns(const struct analysis_step *step, uint32_t clocks)
{
	int64_t hidden = 0;

	for (size_t i = 0; i < step->count && analysis_are_edge_clocks(step->report, clocks); i++)
		if (set_has(clocks, step->clocks[i].clock) && clamp_difference((int64_t)step->clocks[i].hidden_ns) > hidden)
			hidden = clamp_difference((int64_t)step->clocks[i].hidden_ns);
	return hidden;
}

/* Returns the time that the RTC gained on the TSC, if CLOCKS contains only one clock and this is an RTC. */
static struct offset
gain_of_lone_edge_clock(const struct analysis_step *step, uint32_t clocks)
{
	for (size_t i = 0; i < step->count; i++)
		if (clocks == set_of(step->clocks[i].clock) && analysis_are_edge_clocks(step->report, clocks))
			return reduce_gain_by_whole_wraps(clock_gain_on_tsc_ns(step, &step->clocks[i], ANALYSIS_EDGE_LATEST_NS, true),
							  time_between_wraps_ns(step, &step->clocks[i]));
	return OFFSET_UNKNOWN;
}

/* Returns the group of ROW that contains CLOCK, an index into the report, or NULL. */
static const struct report_group *
find_group_of_clock(const struct report_discontinuity *row, size_t clock)
{
	for (size_t i = 0; i < row->group_count; i++)
		if (set_has(row->groups[i].clocks, clock))
			return &row->groups[i];
	return NULL;
}

/*
 * Returns the duration of the step by a clock that gained BY on the TSC, or up to HIDDEN_NS more. The step took STEP_NS
 * by the TSC.
 */
static struct interval_ns
elapsed_of_gain(struct offset step_ns, struct offset by, int64_t hidden_ns)
{
	return (struct interval_ns){
		true, step_ns.low + offset_middle(by), step_ns.low + by.low, step_ns.high + by.high + hidden_ns,
	};
}

/*
 * Returns the duration of the step by CLOCK alone. A clock that wraps allows several durations. The result is the
 * nearest to GROUP, the duration by the clocks that agree with CLOCK. GROUP is unknown if there are none.
 */
static struct interval_ns
elapsed_by_clock(const struct analysis_step *step, const struct record_compared *clock, struct offset step_ns,
		 const struct interval_ns *group)
{
	struct discontinuity_clock in = clock_gain_in_step(step, clock, ANALYSIS_EDGE_LATEST_NS);
	bool edges = get_compared_clock(step, clock)->edges_only;
	struct interval_ns elapsed = elapsed_of_gain(step_ns, in.elapsed, 0);
	int64_t wrap = (int64_t)in.wrap_ns, by;

	if (!in.known || (wrap && (!group->known || elapsed.high - elapsed.low >= wrap)))
		return (struct interval_ns){ .known = false };
	if (!wrap || edges)
		return elapsed;
	by = (group->value - elapsed.value + (group->value < elapsed.value ? -wrap : wrap) / 2) / wrap * wrap;
	return (struct interval_ns){ true, elapsed.value + by, elapsed.low + by, elapsed.high + by };
}

/* Adds to ROW what each clock of the step did. */
static void
add_advances_of_clocks(struct report_discontinuity *row, const struct analysis_step *step, struct offset step_ns)
{
	uint32_t tsc = to_report_clock_set(step->report, set_of(ANALYSIS_TSC));

	for (size_t i = 0; i <= ANALYSIS_TSC; i++)
		if (set_has(tsc, i))
			row->clocks[row->clock_count++] = (struct report_advance){
				.clock = (uint8_t)i, .elapsed = elapsed_of_gain(step_ns, (struct offset){ 0, 0 }, 0),
			};
	for (size_t i = 0; i < step->count; i++) {
		const struct report_group *group = find_group_of_clock(row, step->clocks[i].clock);
		static const struct interval_ns unknown = { .known = false };

		if (set_has(tsc, step->clocks[i].clock))
			continue;
		row->clocks[row->clock_count++] = (struct report_advance){
			.clock = (uint8_t)step->clocks[i].clock,
			.elapsed = group && group->clock_count == 1 ? group->elapsed :
				   elapsed_by_clock(step, &step->clocks[i], step_ns, group ? &group->elapsed : &unknown),
		};
	}
}

/*
 * Returns true if the clocks still diverged at the latest readings of the step. The step then ends with these readings,
 * and otherwise before them, when the clocks were first seen to disagree.
 */
static bool
did_clocks_diverge_until_end(const struct analysis_step *step)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < step->count; i++)
		if (step->clocks[i].now.end > latest)
			latest = step->clocks[i].now.end;
	return step->is.seen_tsc == latest;
}

static void
add_discontinuity(const struct report *report, struct figures *figures, const struct analysis_step *step)
{
	struct discontinuity found = analysis_group_clocks_by_gain(step, ANALYSIS_EDGE_LATEST_NS, step->is.floor_ns);
	struct report_discontinuity *row = &figures->discontinuities[figures->discontinuity_count];
	uint64_t begin = last_agreement_tsc(step, analysis_find_clocks_outside_tsc_group(&found));
	int64_t step_ticks = clamp_difference((int64_t)(step->is.seen_tsc - begin));
	struct offset step_ns = { clamp_difference(scale_ticks_to_ns_down(&step->scale, step_ticks)),
				  clamp_difference(scale_ticks_to_ns_up(&step->scale, step_ticks)) };

	if (found.count < 2 || figures->discontinuity_count == REPORT_DISCONTINUITIES_MAX)
		return;
	figures->discontinuity_count++;
	*row = (struct report_discontinuity){ .from_tsc = begin, .at_tsc = step->is.seen_tsc, .group_count = found.count,
					  .gradual = did_clocks_diverge_until_end(step) };
	for (size_t i = 0; i < found.count; i++) {
		struct offset alone = gain_of_lone_edge_clock(step, found.groups[i].clocks);
		const struct offset *elapsed = offset_is_known(alone) ? &alone : &found.groups[i].elapsed;

		row->groups[i] = make_report_group(report, found.groups[i].clocks);
		if (have_clocks_shown_only_one_edge(step, found.groups[i].clocks))
			row->from_tsc = 0;
		else if (offset_is_known(*elapsed))
			row->groups[i].elapsed = elapsed_of_gain(step_ns, *elapsed,
								 max_unreported_gain_of_clocks_ns(step, found.groups[i].clocks));
	}
	add_advances_of_clocks(row, step, step_ns);
}

/* Copies the clocks of ENTRY that are in the report and whose rate is known. */
static void
read_compared_clocks(struct analysis_step *step, const struct record_entry *entry)
{
	step->count = 0;
	for (size_t i = 0; i < entry->item_count && step->count < REPORT_CLOCKS_MAX; i++) {
		struct record_compared *clock = &step->clocks[step->count];

		record_read_item(entry, i, clock);
		step->count += clock->clock < step->report->facts.clock_count && clock->implied.low &&
			       clock->implied.low <= clock->implied.value && clock->implied.value <= clock->implied.high;
	}
}

void
analysis_calculate_discontinuities(const void *record, size_t size, const struct report *report,
				   struct figures *figures)
{
	struct analysis_step step = { .report = report };
	struct record_reader reader = record_open_without_checksums(record, size);
	struct record_entry entry;

	figures->discontinuity_count = figures->discontinuities_lost = 0;
	scale_init(&step.scale, figures->tsc);
	while (record_read_next(&reader, &entry)) {
		if (entry.kind == RECORD_SCALE)
			analysis_read_scale(&step.scale, &entry);
		if (entry.kind != RECORD_STEP)
			continue;
		record_read_fixed_part(&entry, &step.is);
		figures->discontinuities_lost += step.is.more;
		read_compared_clocks(&step, &entry);
		add_discontinuity(report, figures, &step);
	}
}
