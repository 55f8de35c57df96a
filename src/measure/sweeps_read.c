/* Reads all clocks at the end of a step. See sweeps.h. */
#include "measure/sweeps.h"

#define TIGHT_NS     (STEPS_SETTLE_NS / 64)
/* maximum number of sweeps (readings of all clocks) until no reading took longer than TIGHT_NS */
#define TIGHT_SWEEPS 16
/* longest duration of an undisturbed sweep; slow reads of the RTC take 10 ms */
#define APART_NS     (50 * SURVEY_NS_PER_MS)
#define APART_SWEEPS 4          /* maximum number of sweeps until one is not longer than APART_NS */
/* number of readings of each clock; the last one is used, because the first ones are slow */
#define READS        4
#define LONG_NS      SURVEY_NS_PER_MS
#define EDGE_READS   64
/* maximum number of batches of EDGE_READS reads in the wait for an edge; a batch takes at least a microsecond */
#define EDGE_TURNS   2400000
#define EDGE_NS      (2400 * SURVEY_NS_PER_MS)

void
survey_store_reading(struct survey *survey, size_t i, const struct sample *now, bool at_edge)
{
	struct record_compared *clock = &survey->steps.clocks[i];

	clock->now = *now;
	clock->now_at_edge = at_edge;
	if (!clock->then.end) {
		clock->then = *now;
		clock->then_at_edge = at_edge;
	}
}

/* Waits for the next edge of clock I. The clock must be an edge clock (an RTC, see clock.h). */
static void
wait_for_edge_of_clock(struct survey *survey, size_t i)
{
	const struct clock *clock = &survey->report->clocks[i].clock;
	uint64_t bound = scale_ns_to_ticks(&survey->scale, EDGE_NS), start, begin, raw;

	survey_sample_batch(survey, clock, 1);
	start = begin = survey->buffer.samples[0].begin;
	raw = survey->buffer.samples[0].ticks;
	for (unsigned turn = 0; turn < EDGE_TURNS && begin - start < bound && !survey_end_run_if_due(survey); turn++) {
		survey_sample_batch(survey, clock, EDGE_READS);
		for (size_t k = 0; k < EDGE_READS; k++) {
			const struct sample *sample = &survey->buffer.samples[k];

			if (sample->ticks != raw) {
				const struct sample edge = { begin, sample->ticks, sample->end };

				survey_store_reading(survey, i, &edge, true);
				return;
			}
			begin = sample->begin;
		}
	}
}

void
sweeps_wait_for_edges(struct survey *survey, uint32_t clocks)
{
	for (size_t i = 0; i < survey->report->clock_count; i++)
		if (sweeps_is_clock_compared(survey, i) && sweeps_is_edge_clock(survey, i) && set_has(clocks, i))
			wait_for_edge_of_clock(survey, i);
}

static bool
is_reading_longer_than(const struct survey *survey, struct sample sample, uint64_t ns)
{
	return sample.end - sample.begin > scale_ns_to_ticks(&survey->scale, ns);
}

/*
 * Reads the clocks once. In a long reading the core was preempted, or the TSC jumped. A long reading agrees with the
 * readings before and after it, so it would hide a jump of the TSC. Therefore the shortest reading of a clock is used
 * if its last reading took long.
 */
static void
read_all_clocks_once(struct survey *survey, bool with_edge_clocks, uint64_t *begin, uint64_t *end)
{
	*begin = *end = 0;
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		struct sample reading;

		if (!sweeps_is_clock_compared(survey, i) || (sweeps_is_edge_clock(survey, i) && !with_edge_clocks))
			continue;
		survey_sample_batch(survey, &survey->report->clocks[i].clock, READS);
		reading = survey->buffer.samples[READS - 1];
		*begin = *end ? *begin : survey->buffer.samples[0].begin;
		*end = reading.end;
		if (is_reading_longer_than(survey, reading, LONG_NS))
			reading = rate_shortest_sample(survey->buffer.samples, READS);
		survey_store_reading(survey, i, &reading, false);
	}
}

/*
 * If the machine is restored from a snapshot during a sweep, only clocks that are read after the restore show the
 * change of time. In the next sweep, the clocks that were read before the restore would seem to jump alone. Therefore a
 * long sweep is repeated, and no step begins with it. A sweep in which the TSC stepped back is not repeated.
 */
void
sweeps_read_all_clocks(struct survey *survey, bool with_edge_clocks)
{
	int64_t apart = (int64_t)scale_ns_to_ticks(&survey->scale, APART_NS);
	uint64_t begin, end;

	for (unsigned sweeps = 0; sweeps < APART_SWEEPS; sweeps++) {
		read_all_clocks_once(survey, with_edge_clocks, &begin, &end);
		if ((int64_t)(end - begin) <= apart)
			return;
		for (size_t i = 0; i < survey->report->clock_count && sweeps < APART_SWEEPS - 1; i++)
			if (survey->steps.clocks[i].then.begin >= begin)
				survey->steps.clocks[i].then.end = 0;
	}
}

static bool
are_all_readings_tight(const struct survey *survey)
{
	for (size_t i = 0; i < survey->report->clock_count; i++)
		if (sweeps_is_clock_compared(survey, i) && !sweeps_is_edge_clock(survey, i) &&
		    is_reading_longer_than(survey, survey->steps.clocks[i].now, TIGHT_NS))
			return false;
	return true;
}

/* Rates are calculated from these readings, so a preemption during a reading would make the rates inexact. */
void
sweeps_read_all_clocks_without_preemption(struct survey *survey)
{
	unsigned sweeps = 0;

	do
		sweeps_read_all_clocks(survey, false);
	while (++sweeps < TIGHT_SWEEPS && !are_all_readings_tight(survey));
}
