/*
 * A step is the time from one reading of all main clocks to the next. In each step, checks whether the clocks
 * fit each other: see discontinuity.h. All clocks are timed by the TSC, so each shows how far it is ahead of
 * the TSC since it last fitted.
 */
#include "measure/sweeps.h"

#define FLOOR_NS      SURVEY_NS_PER_MS /* smaller differences count as changes of rate, except after a jump */
#define LEAPS_LOOKED  8          /* jumps of a run after which all clocks are read */
#define SETTLE_SWEEPS 10000      /* a sweep takes at least a microsecond: bounds the sweeps by a count */
/* If brackets take more than 1/8 of it, the core was preempted and gives no rate. */
#define SETTLE_SHARE  8
#define ABSURD        1000       /* If the TSC's rate differs by this factor, it stopped or jumped. */

static void
begin_steps(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		struct survey_step *step = &survey->steps[i];

		if (!steps_is_compared(survey, i)) {
			step->then.end = 0;
		} else if (!steps_is_edge_clock(survey, i) || step->at_edge) {
			/*
			 * The first edge of an edge clock agrees with no earlier edge: it may be the end of a
			 * stop.
			 */
			if (!step->then_at_edge)
				step->then = step->now;
			step->then_at_edge = step->at_edge;
			step->sure |= step->then.end != step->now.end;
			step->hidden_ns = steps_hidden_ns(survey, i);
			step->then = step->now;
			step->at_edge = false;
		}
	}
	survey->step_tsc = survey->hooks.tsc_ordered();
}

static uint64_t
expected_ticks(const struct survey *survey, size_t i, uint64_t tsc_ticks)
{
	const struct rate *claimed = &survey->report->clocks[i].clock.claimed;

	return scale_ratio((unsigned __int128)tsc_ticks * claimed->num, SURVEY_MICROHZ_PER_HZ,
			   (unsigned __int128)survey->steps[i].implied.value * claimed->den, SCALE_DOWN);
}

bool
survey_is_rate(const struct survey *survey, const struct rate_interval *tsc)
{
	uint64_t microhz = scale_mul_div(survey->scale.hz.num, SURVEY_MICROHZ_PER_HZ, survey->scale.hz.den);

	return tsc->low > microhz / ABSURD && tsc->high / ABSURD < microhz;
}

/*
 * Returns true if no rate follows from two readings, because the core was preempted for much of the time
 * between them.
 */
static bool
is_coarse(const struct sample *first, const struct sample *last)
{
	uint64_t brackets = (first->end - first->begin) + (last->end - last->begin);

	return brackets > (last->begin - first->end) / SETTLE_SHARE;
}

/* Widens the rate of each clock so that it includes its rate from BEFORE to now. */
static void
widen_rates(struct survey *survey, const struct survey_step *before, uint32_t asked)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct report_clock *entry = &survey->report->clocks[i];
		struct survey_step *step = &survey->steps[i];
		struct rate_window window = { before[i].now, step->now, 0, survey->tsc_resolution_ticks };
		uint64_t late = scale_ticks(&survey->scale, STEPS_EDGE_LATE_NS);
		struct rate_slope slope;
		struct rate_interval since;

		if (steps_is_edge_clock(survey, i) && set_has(asked, i) && !step->at_edge)
			step->implied.known = false; /* it stopped, or is too slow to tell */
		if (!steps_is_compared(survey, i) || before[i].now.end == step->now.end)
			continue;
		if (!steps_is_edge_clock(survey, i) && is_coarse(&window.first, &window.last)) {
			step->implied.known = false;
			continue;
		}
		if (steps_is_edge_clock(survey, i) && survey->report->hypervisor[0]) {
			window.first.begin -= late;
			window.last.end += late;
		}
		window.first.ticks = 0;
		window.last.ticks = rate_unwrap(&entry->clock, before[i].now.ticks, step->now.ticks,
						expected_ticks(survey, i, step->now.end - before[i].now.end));
		if (!entry->clock.edges_only)
			window.slack_ticks = entry->resolution.steps ? entry->resolution.smallest_ticks : 1;
		else if (!step->at_edge)
			continue;
		if (window.last.ticks == 0)
			step->implied.known = false; /* it stopped, which is no change of rate */
		slope = rate_slope(&window);
		since = rate_implied_tsc(&slope, entry->clock.claimed);
		if (!since.known || !survey_is_rate(survey, &since))
			continue;
		step->implied.low = since.low < step->implied.low ? since.low : step->implied.low;
		step->implied.high = since.high > step->implied.high ? since.high : step->implied.high;
		step->implied.value = step->implied.low + (step->implied.high - step->implied.low) / 2;
	}
}

/*
 * Looks closer at a step in which the clocks did not fit. The event may not be over for all clocks, and a
 * change of rate would explain it as well. Therefore the step ends with one more reading, and the rates after
 * it are allowed for the whole step.
 */
static bool
look_closer(struct survey *survey, int64_t edge_late_ns)
{
	uint64_t seen = survey->hooks.tsc_ordered(), until;
	bool edges = survey->report->discontinuity_count < REPORT_DISCONTINUITIES_MAX;
	struct survey_step at_end[REPORT_CLOCKS_MAX];
	struct discontinuity found;
	uint32_t beside;

	steps_sweep(survey, true);
	steps_take_edges(survey, edges ? UINT32_MAX : 0);
	steps_sweep_tightly(survey);
	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++)
		at_end[i] = survey->steps[i];
	found = steps_find(survey, edge_late_ns, FLOOR_NS);
	if (found.count < 2)
		return false;
	beside = steps_beside_the_tsc(&found);
	until = survey->hooks.tsc_ordered() + scale_ticks(&survey->scale, STEPS_SETTLE_NS);
	for (unsigned i = 0; i < SETTLE_SWEEPS && survey->hooks.tsc_ordered() < until; i++)
		steps_sweep(survey, false);
	steps_sweep_tightly(survey);
	steps_take_edges(survey, edges ? beside : 0);
	if (survey_end_if_due(survey))
		return false;
	widen_rates(survey, at_end, edges ? beside : 0);
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		survey->steps[i].now = at_end[i].now;
		survey->steps[i].at_edge = at_end[i].at_edge;
	}
	found = steps_find(survey, STEPS_EDGE_LATEST_NS, FLOOR_NS);
	if (found.count > 1)
		steps_record(survey, &found, seen);
	/* While the window waited for one edge, edges of another clock may have been missed. */
	if (found.count < 2 && (edge_late_ns == STEPS_EDGE_LATEST_NS ||
				(steps_find(survey, edge_late_ns, FLOOR_NS).count < 2 && !steps_are_edge_clocks(survey, beside))))
		return false;
	survey->cuts++;
	return true;
}

bool
survey_steps_compare(struct survey *survey, bool strictly)
{
	int64_t edge_late_ns = strictly ? STEPS_EDGE_LATE_NS : STEPS_EDGE_LATEST_NS;
	bool cut = false;

	if (survey->report->incomplete || survey->tsc_stopped)
		return false;
	if (steps_find(survey, edge_late_ns, FLOOR_NS).count > 1)
		cut = look_closer(survey, edge_late_ns);
	begin_steps(survey);
	return cut;
}

/*
 * Returns true if one more sweep gives the same groups as FOUND. Clocks that jumped stay ahead. If the TSC
 * stopped within a sweep, the clocks read before that catch up in the next sweep.
 */
static bool
is_found_again(struct survey *survey, const struct discontinuity *found, uint64_t floor_ns)
{
	struct discontinuity again;

	steps_sweep(survey, true);
	again = steps_find(survey, STEPS_EDGE_LATEST_NS, floor_ns);
	if (again.count != found->count)
		return false;
	for (size_t i = 0; i < again.count; i++)
		if (again.groups[i].clocks != found->groups[i].clocks)
			return false;
	return true;
}

/* A jump between two consecutive readings is no change of rate, so one below the floor needs no closer look. */
bool
survey_leapt(struct survey *survey, uint64_t leap_ns)
{
	struct discontinuity found;
	uint64_t seen;

	if (survey->leaps_looked == LEAPS_LOOKED || survey_end_if_due(survey))
		return false;
	survey->leaps_looked++;
	steps_sweep(survey, true);
	seen = survey->hooks.tsc_ordered();
	found = steps_find(survey, STEPS_EDGE_LATEST_NS, leap_ns / 2);
	if (leap_ns / 2 > FLOOR_NS || found.count < 2 || !is_found_again(survey, &found, leap_ns / 2))
		return survey_steps_compare(survey, false);
	steps_record(survey, &found, seen);
	survey->cuts++;
	begin_steps(survey);
	return true;
}

void
survey_forget(struct survey *survey, size_t series)
{
	for (size_t i = 0; i < survey->report->clock_count; i++)
		if (survey->report->clocks[i].series == series)
			survey->steps[i].then.end = 0;
}

void
survey_tick(struct survey *survey, bool ticking)
{
	survey->ticking = ticking;
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		if (!survey->report->clocks[i].clock.firmware_ticks)
			continue;
		survey->steps[i].then.end = 0;
		survey->tracks[i].stood = true;
	}
}

bool
survey_observe(struct survey *survey)
{
	if (survey_end_if_due(survey))
		return false;
	steps_sweep(survey, true);
	return survey_steps_compare(survey, false);
}
