/* Records readings, and calculates the narrowest interval of a rate that these readings allow. See samples.h. */
#include "samples.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_FIRST  2048 /* initial space for samples of each clock; it doubles when it is full */
#define PACED       64   /* samples in a batch of continuous readings */
/*
 * Only readings in the first and the last quarter (1 / ENDS_SHARE) of the rate window are used, because only two
 * distant readings can give the narrowest interval.
 */
#define ENDS_SHARE  4

struct recorder {
	void (*sample)(void *device, struct sample *samples, size_t count);
	void *device;
	/* count: all samples. in_window: samples in the rate window, which are recorded before all other samples. */
	size_t count, in_window;
	size_t space;
	struct sample *kept;
};

static struct recorder recorders[CLOCKS];
static bool in_window, in_rates;

static void
keep_sample(struct recorder *recorder, const struct sample *sample)
{
	if (recorder->count == recorder->space) {
		recorder->space = recorder->space ? 2 * recorder->space : KEPT_FIRST;
		recorder->kept = realloc(recorder->kept, recorder->space * sizeof(recorder->kept[0]));
		if (!recorder->kept)
			abort();
	}
	recorder->kept[recorder->count++] = *sample;
}

/*
 * Records readings in the phases that measure rates. Slows continuous readings of all clocks in these phases.
 * Continuous readings of the RTC are slowed in all phases, because other phases wait for the RTC's edges too.
 */
static void
record_samples(void *context, struct sample *samples, size_t count)
{
	struct recorder *recorder = context;

	access_make_accesses_slow((in_rates || recorder == &recorders[RTC]) && count == PACED);
	recorder->sample(recorder->device, samples, count);
	access_make_accesses_slow(false);
	for (size_t i = 0; in_rates && count != PACED && i < count; i++)
		keep_sample(recorder, &samples[i]);
}

void
samples_start_recording(struct bench *bench)
{
	for (size_t i = 0; i < bench->run.report.facts.clock_count; i++) {
		struct clock *clock = &bench->run.report.facts.clocks[i].clock;
		int which = find_clock_number(clock->id);

		if (which == CLOCKS || clock->state != CLOCK_PRESENT)
			continue;
		recorders[which].sample = clock->sample;
		recorders[which].device = clock->device;
		recorders[which].count = recorders[which].in_window = 0;
		clock->sample = record_samples;
		clock->device = &recorders[which];
	}
	in_window = in_rates = false;
}

void
samples_start_phase(const char *phase)
{
	for (int i = 0; i < CLOCKS && in_window; i++)
		recorders[i].in_window = recorders[i].count;
	in_window = strcmp(phase, "rates") == 0;
	in_rates = in_window || strcmp(phase, "rates-again") == 0;
}

/* One reading proves two limits, in ticks: the clock was below HIGH at time BEGIN, and at least LOW at time END. */
struct bound {
	long double begin, end, low, high;
};

/*
 * Returns the largest lag of a reading behind the clock's exact time, in ticks. The lag is at most a whole step. For a
 * counter that is calculated from another counter, the other counter's step is added.
 */
static long double
get_largest_lag_ticks(int clock)
{
	const struct sim_counter *counter = clock == HPET ? &sim.hpet.counter : &sim.pm.counter;

	if (clock == PIT)
		return 1;
	if (counter->source.den)
		return 1 + machine.hz[clock] / ((long double)counter->source.num / counter->source.den);
	return counter->step_ticks;
}

static size_t
collect_clock_time_bounds(int clock, bool whole_run, struct bound *bounds)
{
	const struct recorder *recorder = &recorders[clock];
	long double tsc_step = machine.step_1024 / 1024.0L + (machine.step_1024 % 1024 != 0);
	uint64_t range = clock == PIT ? 0xffff : clock == PM ? (UINT64_C(1) << sim.pm.counter.wrap_bits) - 1 : UINT64_MAX;
	uint64_t raw = recorder->kept[0].ticks, first_tsc = recorder->kept[0].begin;
	long double ticks = 0, before_tsc = 0;

	size_t count = whole_run ? recorder->count : recorder->in_window;

	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &recorder->kept[i];
		long double begin = sample->begin - first_tsc;
		long double expected = (begin - before_tsc) * machine.hz[clock] / machine.hz[TSC];
		uint64_t elapsed = clock == PIT ? sample->ticks - raw : sample->ticks - raw;

		elapsed &= range;
		if (range != UINT64_MAX)
			ticks += ((uint64_t)((expected - elapsed) / (range + 1.0L) + 0.5L)) * (range + 1.0L);
		ticks += elapsed;
		raw = sample->ticks;
		before_tsc = begin;
		bounds[i] = (struct bound){ begin, sample->end - first_tsc + tsc_step, ticks,
					    ticks + get_largest_lag_ticks(clock) };
	}
	return count;
}

long double
samples_get_best_rate_width_ppb(int clock, bool whole_run)
{
	struct bound *bounds = calloc(recorders[clock].count + 1, sizeof(*bounds));
	size_t count = bounds && recorders[clock].count ? collect_clock_time_bounds(clock, whole_run, bounds) : 0;
	long double span, fastest = 1e30L, slowest = 0;

	if (count < 2) {
		free(bounds);
		return -1;
	}
	span = bounds[count - 1].end / ENDS_SHARE;
	for (size_t i = 0; i < count && bounds[i].begin < span; i++)
		for (size_t j = count; j-- > 0 && bounds[j].begin > bounds[count - 1].end - span;) {
			long double most = (bounds[j].high - bounds[i].low) / (bounds[j].begin - bounds[i].end);
			long double least = (bounds[j].low - bounds[i].high) / (bounds[j].end - bounds[i].begin);

			fastest = most < fastest ? most : fastest;
			slowest = least > slowest ? least : slowest;
		}
	free(bounds);
	return (fastest / slowest - 1) * PPB;
}
