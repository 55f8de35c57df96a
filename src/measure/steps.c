/*
 * Steps of the run, from one reading of all main clocks to the next, and whether the clocks fit each other in each: see
 * discontinuity.h. By the TSC all are read, so what each clock says is how much it is ahead of the TSC since it fitted.
 */
#include "survey_internal.h"

#include "discontinuity.h"
#include "set.h"
#include "text.h"

#define FLOOR_NS       SURVEY_NS_PER_MS /* less is left to what is said of the rates, unless one was seen to leap */
#define LEAPS_LOOKED   8          /* at so many leaps of a run */
#define SETTLE_NS      (10 * SURVEY_NS_PER_MS) /* for which a rate that changed is looked at */
#define SETTLE_SWEEPS  10000      /* no sweep is shorter than a microsecond: bounds that by count */
#define SETTLE_SHARE   8          /* of that, all brackets together: where the core was away the rate is not known */
#define TIGHT_NS       (SETTLE_NS / 64)
#define TIGHT_SWEEPS   16         /* at most, until no bracket is longer than that */
#define READS          4          /* of which the last counts: the first are slow */
/*
 * A guest's RTC: its host's main loop was kept waiting. A window of the rates is not made of such edges, but less
 * than the worst that is seen of a busy host is nothing to be said.
 */
#define EDGE_LATE_NS   (10 * (int64_t)SURVEY_NS_PER_MS)
#define EDGE_LATEST_NS (50 * (int64_t)SURVEY_NS_PER_MS)
#define EDGE_UNEVEN_NS (5 * (int64_t)SURVEY_NS_PER_MS) /* a real one's updates begin at their own time and take some */
#define EDGE_READS     64
#define EDGE_TURNS     2400000    /* no batch is shorter than a microsecond: bounds a wait by count */
#define EDGE_NS        (2400 * SURVEY_NS_PER_MS)
#define EDGE_BACK_NS   (-5 * (int64_t)SURVEY_NS_PER_S) /* by so much at most is an RTC taken to be behind, else ahead */
#define ABSURD         1000       /* times what the TSC's rate is: it stood or leapt */
#define TICKS_FAR      (INT64_C(1) << 58) /* so much is garbage */
/*
 * QEMU's emulated TSC never goes back: a reading that is behind the one before moves it ahead for good, by milliseconds
 * where several cores read it.
 */
#define PUSHED_NS      (100 * (int64_t)SURVEY_NS_PER_MS)
#define TSC            REPORT_CLOCKS_MAX /* the place of the TSC, which all are read by, in the report or not */

static bool
is_compared(const struct survey *survey, size_t i)
{
	return survey_can_vouch(survey, &survey->report->clocks[i]) && survey->steps[i].implied.known;
}

static bool
is_edge_clock(const struct survey *survey, size_t i)
{
	return survey->report->clocks[i].clock.edges_only;
}

static int64_t
clamped(int64_t ticks)
{
	return ticks > TICKS_FAR ? TICKS_FAR : ticks < -TICKS_FAR ? -TICKS_FAR : ticks;
}

/* TICKS of clock I in ticks of the TSC. */
static int64_t
as_tsc_ticks(const struct survey *survey, size_t i, int64_t ticks, enum scale_rounding rounding)
{
	const struct rate *claimed = &survey->report->clocks[i].clock.claimed;
	uint64_t size = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
	uint64_t tsc = scale_ratio((unsigned __int128)size * survey->steps[i].implied.value, claimed->den,
				   (unsigned __int128)claimed->num * SURVEY_MICROHZ_PER_HZ, rounding);

	tsc = tsc < (uint64_t)TICKS_FAR ? tsc : (uint64_t)TICKS_FAR;
	return ticks < 0 ? -(int64_t)tsc : (int64_t)tsc;
}

static bool
is_pushed(const struct survey *survey)
{
	return text_equal(survey->report->accelerator, "tcg") && survey->report->cores_started > 1;
}

/* By how much clock I is ahead of the TSC since it fitted, in ns; modulo its wraps. */
static struct offset
ahead(const struct survey *survey, size_t i, int64_t edge_late_ns)
{
	const struct survey_step *step = &survey->steps[i];
	const struct report_clock *entry = &survey->report->clocks[i];
	const struct rate_interval *rate = &step->implied;
	int64_t least = clamped((int64_t)(step->now.begin - step->then.end));
	int64_t most = clamped((int64_t)(step->now.end - step->then.begin));
	int64_t ticks = entry->clock.wrap_ticks == UINT64_MAX ? (int64_t)(step->now.ticks - step->then.ticks) :
			(int64_t)clock_elapsed_ticks(&entry->clock, step->then.ticks, step->now.ticks);
	int64_t slack = entry->clock.edges_only ? 0 : entry->resolution.steps ? (int64_t)entry->resolution.smallest_ticks : 1;
	int64_t more = entry->clock.edges_only && !step->at_edge ? 1 : slack;
	int64_t by_rate, late_ns = 0;
	uint64_t size;
	struct offset offset = { as_tsc_ticks(survey, i, ticks - slack, SCALE_DOWN),
				 as_tsc_ticks(survey, i, ticks + more, SCALE_UP) };

	/* What is not known of its rate is of all the time, of that before its wraps too. */
	size = most < 0 ? 0 - (uint64_t)most : (uint64_t)most;
	size = offset.high > 0 && (uint64_t)offset.high > size ? (uint64_t)offset.high : size;
	by_rate = clamped((int64_t)scale_mul_div_up(size, rate->high - rate->low, rate->low));
	if (entry->clock.edges_only)
		late_ns = !survey->report->hypervisor[0] ? EDGE_UNEVEN_NS : edge_late_ns + (is_pushed(survey) ? PUSHED_NS : 0);
	return (struct offset){ scale_ns_down(&survey->scale, clamped(offset.low - most - by_rate)) - late_ns,
				scale_ns_up(&survey->scale, clamped(offset.high - least + by_rate)) + late_ns };
}

/* An edge clock's wraps are counted here, for it may be ahead by more than behind. */
static struct offset
without_wraps(struct offset offset, int64_t wrap_ns)
{
	int64_t by = (offset.high - EDGE_BACK_NS) / wrap_ns;

	by -= offset.high - EDGE_BACK_NS < by * wrap_ns;
	return (struct offset){ offset.low - by * wrap_ns, offset.high - by * wrap_ns };
}

static uint64_t
wrap_ns(const struct survey *survey, size_t i)
{
	const struct clock *clock = &survey->report->clocks[i].clock;

	if (clock->wrap_ticks == UINT64_MAX)
		return 0;
	return scale_ns(&survey->scale, (uint64_t)as_tsc_ticks(survey, i, (int64_t)clock->wrap_ticks + 1, SCALE_NEAREST));
}

/* Whether clock I may have wrapped in its step: see clock_comparable(). */
static bool
is_too_long(const struct survey *survey, size_t i, uint64_t wrap_ns)
{
	const struct survey_step *step = &survey->steps[i];
	int64_t ticks = clamped((int64_t)(step->now.end - step->then.begin));

	return wrap_ns && scale_ns_up(&survey->scale, ticks) > (int64_t)wrap_ns / 4 && !is_edge_clock(survey, i);
}

/* By how much each clock is ahead of the TSC, in groups between which there is more than FLOOR_NS. */
static struct discontinuity
find(const struct survey *survey, int64_t edge_late_ns, uint64_t floor_ns)
{
	struct discontinuity_clock clocks[TSC + 1] = { { .known = false } };

	for (size_t i = 0; i < survey->report->clock_count; i++) {
		if (!is_compared(survey, i) || !survey->steps[i].then.end)
			continue;
		clocks[i] = (struct discontinuity_clock){ true, ahead(survey, i, edge_late_ns), wrap_ns(survey, i) };
		/* One that was first seen within the step does not know of all of it. */
		clocks[i].known = !is_too_long(survey, i, clocks[i].wrap_ns) &&
				  survey->steps[i].then.begin <= survey->step_tsc;
		if (!is_edge_clock(survey, i))
			continue;
		clocks[i].elapsed = without_wraps(clocks[i].elapsed, (int64_t)clocks[i].wrap_ns);
		clocks[i].wrap_ns = 0;
	}
	clocks[TSC] = (struct discontinuity_clock){ true, { is_pushed(survey) ? -PUSHED_NS : 0, 0 }, 0 };
	return discontinuity_find(clocks, TSC + 1, floor_ns);
}

/* By how much clock I may be ahead in a step in which it fits. */
static int64_t
hidden_ns(const struct survey *survey, size_t i)
{
	struct offset by;

	if (!is_edge_clock(survey, i) || !survey->report->hypervisor[0])
		return 0;
	by = without_wraps(ahead(survey, i, EDGE_LATEST_NS), (int64_t)wrap_ns(survey, i));
	return by.high > 0 ? by.high : 0;
}

static void
begin_steps(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		struct survey_step *step = &survey->steps[i];

		if (!is_compared(survey, i)) {
			step->then.end = 0;
		} else if (!is_edge_clock(survey, i) || step->at_edge) {
			step->sure |= step->then.end != step->now.end;
			step->hidden_ns = hidden_ns(survey, i);
			step->then = step->now;
			step->at_edge = false;
		}
	}
	survey->step_tsc = survey->hooks.tsc_ordered();
}

void
survey_step_take(struct survey *survey, size_t i, const struct sample *now, bool at_edge)
{
	struct survey_step *step = &survey->steps[i];

	step->now = *now;
	step->at_edge = at_edge;
	if (!step->then.end && (at_edge || !is_edge_clock(survey, i)))
		step->then = *now;
}

/* The next edge of edge clock I, if one comes. */
static void
take_edge(struct survey *survey, size_t i)
{
	const struct clock *clock = &survey->report->clocks[i].clock;
	uint64_t bound = scale_ticks(&survey->scale, EDGE_NS), start, begin, raw;

	survey_batch(survey, clock, 1);
	start = begin = survey->samples[0].begin;
	raw = survey->samples[0].ticks;
	for (unsigned turn = 0; turn < EDGE_TURNS && begin - start < bound && !survey_end_if_due(survey); turn++) {
		survey_batch(survey, clock, EDGE_READS);
		for (size_t k = 0; k < EDGE_READS; k++) {
			const struct sample *sample = &survey->samples[k];

			if (sample->ticks != raw) {
				const struct sample edge = { begin, sample->ticks, sample->end };

				survey_step_take(survey, i, &edge, true);
				return;
			}
			begin = sample->begin;
		}
	}
}

/* Edge clocks of CLOCKS at their next edges. */
static void
take_edges(struct survey *survey, uint32_t clocks)
{
	for (size_t i = 0; i < survey->report->clock_count; i++)
		if (is_compared(survey, i) && is_edge_clock(survey, i) && set_has(clocks, i))
			take_edge(survey, i);
}

/* All others; with ALL the edge clocks too, wherever they are. */
static void
sweep(struct survey *survey, bool all)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		if (!is_compared(survey, i) || (is_edge_clock(survey, i) && !all))
			continue;
		survey_batch(survey, &survey->report->clocks[i].clock, READS);
		survey_step_take(survey, i, &survey->samples[READS - 1], false);
	}
}

static bool
is_tight(const struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct sample *now = &survey->steps[i].now;

		if (is_compared(survey, i) && !is_edge_clock(survey, i) &&
		    now->end - now->begin > scale_ticks(&survey->scale, TIGHT_NS))
			return false;
	}
	return true;
}

/* A rate comes of these readings: the core should not be away in one of them. */
static void
sweep_tightly(struct survey *survey)
{
	unsigned sweeps = 0;

	do
		sweep(survey, false);
	while (++sweeps < TIGHT_SWEEPS && !is_tight(survey));
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

/* Whether no rate comes of two readings: the core was away for a good part of the time between them. */
static bool
is_coarse(const struct sample *first, const struct sample *last)
{
	uint64_t brackets = (first->end - first->begin) + (last->end - last->begin);

	return brackets > (last->begin - first->end) / SETTLE_SHARE;
}

/* Lets the rate of each clock be what it was or what it is from BEFORE to now. */
static void
widen_rates(struct survey *survey, const struct survey_step *before, uint32_t asked)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct report_clock *entry = &survey->report->clocks[i];
		struct survey_step *step = &survey->steps[i];
		struct rate_window window = { before[i].now, step->now, 0, survey->tsc_resolution_ticks };
		uint64_t late = scale_ticks(&survey->scale, EDGE_LATE_NS);
		struct rate_slope slope;
		struct rate_interval since;

		if (is_edge_clock(survey, i) && set_has(asked, i) && !step->at_edge)
			step->implied.known = false; /* it stopped, or is so slow that nothing can be said of its time */
		if (!is_compared(survey, i) || before[i].now.end == step->now.end)
			continue;
		if (!is_edge_clock(survey, i) && is_coarse(&window.first, &window.last)) {
			step->implied.known = false;
			continue;
		}
		if (is_edge_clock(survey, i) && survey->report->hypervisor[0]) {
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
			step->implied.known = false; /* it stopped, which is another thing */
		slope = rate_slope(&window);
		since = rate_implied_tsc(&slope, entry->clock.claimed);
		if (!since.known || !survey_is_rate(survey, &since))
			continue;
		step->implied.low = since.low < step->implied.low ? since.low : step->implied.low;
		step->implied.high = since.high > step->implied.high ? since.high : step->implied.high;
		step->implied.value = step->implied.low + (step->implied.high - step->implied.low) / 2;
	}
}

/* CLOCKS with the TSC in its place in the report, where it has one. */
static uint32_t
as_in_report(const struct report *report, uint32_t clocks)
{
	for (size_t i = 0; i < report->clock_count && set_has(clocks, TSC); i++)
		if (text_equal(report->clocks[i].clock.id, "tsc"))
			return (clocks & ~set_of(TSC)) | set_of(i);
	return clocks;
}

static struct report_group
group_of(const struct report *report, uint32_t clocks)
{
	struct report_group group = { .clocks = as_in_report(report, clocks) };

	for (size_t i = 0; i <= TSC; i++)
		if (set_has(group.clocks, i))
			group.members[group.clock_count++] = (uint8_t)i;
	return group;
}

/*
 * Whether a group is of edge clocks alone that had shown no two edges before which fit: the first may have been none,
 * but the end of a pause, and then nothing says how long that was.
 */
static bool
is_unsure(const struct survey *survey, uint32_t clocks)
{
	for (size_t i = 0; i <= TSC; i++)
		if (set_has(clocks, i) && (i == TSC || !is_edge_clock(survey, i) || survey->steps[i].sure))
			return false;
	return true;
}

static bool
are_edge_clocks(const struct survey *survey, uint32_t clocks)
{
	for (size_t i = 0; i < TSC; i++)
		if (set_has(clocks, i) && !is_edge_clock(survey, i))
			return false;
	return true;
}

/* Those that are in a group without the TSC. */
static uint32_t
beside_the_tsc(const struct discontinuity *found)
{
	uint32_t clocks = 0;

	for (size_t i = 0; i < found->count; i++)
		clocks |= set_has(found->groups[i].clocks, TSC) ? 0 : found->groups[i].clocks;
	return clocks;
}

/* When all of CLOCKS fitted: those whose edges are waited for may be in a longer step. */
static uint64_t
begin_of(const struct survey *survey, uint32_t clocks)
{
	uint64_t begin = survey->step_tsc;

	for (size_t i = 0; i < TSC; i++)
		if (set_has(clocks, i) && survey->steps[i].then.begin < begin)
			begin = survey->steps[i].then.begin;
	return begin;
}

/*
 * What edge clocks may be ahead by more: a guest that was stopped as an edge was due saw it late, and part of that stop
 * lies before the step.
 */
static int64_t
hidden_of(const struct survey *survey, uint32_t clocks)
{
	int64_t hidden = 0;

	for (size_t i = 0; i < TSC && are_edge_clocks(survey, clocks); i++)
		if (set_has(clocks, i) && survey->steps[i].hidden_ns > hidden)
			hidden = survey->steps[i].hidden_ns;
	return hidden;
}

/* What happened in the step up to NOW. */
static void
record(struct survey *survey, const struct discontinuity *found, uint64_t now)
{
	struct report *report = survey->report;
	struct report_discontinuity *row = &report->discontinuities[report->discontinuity_count];
	uint64_t begin = begin_of(survey, beside_the_tsc(found));
	int64_t step_ns = scale_ns_down(&survey->scale, clamped((int64_t)(now - begin)));

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

/*
 * A step in which the clocks did not fit: it may not be over for all of them, and a rate that changed explains as much.
 * So it is ended by one more reading, and in all of it the clocks may have run at the rate that they have after it.
 */
static bool
look_closer(struct survey *survey, int64_t edge_late_ns)
{
	uint64_t seen = survey->hooks.tsc_ordered(), until;
	bool edges = survey->report->discontinuity_count < REPORT_DISCONTINUITIES_MAX;
	struct survey_step at_end[REPORT_CLOCKS_MAX];
	struct discontinuity found;
	uint32_t beside;

	sweep(survey, true);
	take_edges(survey, edges ? UINT32_MAX : 0);
	sweep_tightly(survey);
	for (size_t i = 0; i < REPORT_CLOCKS_MAX; i++)
		at_end[i] = survey->steps[i];
	found = find(survey, edge_late_ns, FLOOR_NS);
	if (found.count < 2)
		return false;
	beside = beside_the_tsc(&found);
	until = survey->hooks.tsc_ordered() + scale_ticks(&survey->scale, SETTLE_NS);
	for (unsigned i = 0; i < SETTLE_SWEEPS && survey->hooks.tsc_ordered() < until; i++)
		sweep(survey, false);
	sweep_tightly(survey);
	take_edges(survey, edges ? beside : 0);
	if (survey_end_if_due(survey))
		return false;
	widen_rates(survey, at_end, edges ? beside : 0);
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		survey->steps[i].now = at_end[i].now;
		survey->steps[i].at_edge = at_end[i].at_edge;
	}
	found = find(survey, EDGE_LATEST_NS, FLOOR_NS);
	if (found.count > 1)
		record(survey, &found, seen);
	/* Where edges were waited for in a window others were missed. */
	if (found.count < 2 && (edge_late_ns == EDGE_LATEST_NS ||
				(find(survey, edge_late_ns, FLOOR_NS).count < 2 && !are_edge_clocks(survey, beside))))
		return false;
	survey->cuts++;
	return true;
}

bool
survey_steps_compare(struct survey *survey, bool strictly)
{
	int64_t edge_late_ns = strictly ? EDGE_LATE_NS : EDGE_LATEST_NS;
	bool cut = false;

	if (survey->report->incomplete || survey->tsc_stopped)
		return false;
	if (find(survey, edge_late_ns, FLOOR_NS).count > 1)
		cut = look_closer(survey, edge_late_ns);
	begin_steps(survey);
	return cut;
}

/* A leap from one reading to the next is no rate that changed: so one below the floor needs no closer look. */
bool
survey_leapt(struct survey *survey, uint64_t leap_ns)
{
	struct discontinuity found;
	uint64_t seen;

	if (survey->leaps_looked == LEAPS_LOOKED || survey_end_if_due(survey))
		return false;
	survey->leaps_looked++;
	sweep(survey, true);
	seen = survey->hooks.tsc_ordered();
	found = find(survey, EDGE_LATEST_NS, leap_ns / 2);
	if (leap_ns / 2 > FLOOR_NS || found.count < 2)
		return survey_steps_compare(survey, false);
	record(survey, &found, seen);
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
	sweep(survey, true);
	return survey_steps_compare(survey, false);
}
