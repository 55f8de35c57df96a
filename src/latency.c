/* Read latency. See latency.h. */
#include "latency.h"

#define PS_PER_NS 1000

void
latency_clear(struct latency *latency)
{
	latency->count = latency->max_ns = latency->max_count = 0;
	latency->min_ns = UINT64_MAX;
	latency->total_ticks = latency->total_ns = 0;
	histogram_clear(&latency->histogram);
	for (size_t i = 0; i < sizeof(latency->octave) / sizeof(latency->octave[0]); i++)
		latency->octave[i] = 0;
	for (size_t i = 0; i < LATENCY_EXACT_NS; i++)
		latency->exact[i] = 0;
}

static void
record(struct latency *latency, uint64_t ns)
{
	if (!histogram_record(&latency->histogram, ns))
		return;
	latency->count++;
	latency->total_ns += ns;
	latency->octave[ns ? 64 - __builtin_clzll(ns) : 0]++;
	if (ns < LATENCY_EXACT_NS)
		latency->exact[ns]++;
	if (ns < latency->min_ns)
		latency->min_ns = ns;
	if (ns > latency->max_ns) {
		latency->max_ns = ns;
		latency->max_count = 0;
	}
	latency->max_count += ns == latency->max_ns;
}

void
latency_fold(struct latency *latency, const struct scale *scale, const struct sample *samples,
	     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t ticks = samples[i].end - samples[i].begin;

		if (samples[i].end < samples[i].begin)
			continue;
		record(latency, scale_ns(scale, ticks));
		latency->total_ticks += ticks;
	}
}

uint64_t
latency_percentile_ns(const struct latency *latency, uint32_t per_hundred_thousand)
{
	uint64_t ns = histogram_quantile(&latency->histogram, per_hundred_thousand);

	if (!latency->count)
		return 0;
	if (ns < latency->min_ns)
		return latency->min_ns;
	return ns < latency->max_ns ? ns : latency->max_ns;
}

uint64_t
latency_mean_ps(const struct latency *latency)
{
	return latency->count ? scale_mul_div_nearest(latency->total_ns, PS_PER_NS, latency->count) : 0;
}

uint64_t
latency_loop_ps(const struct latency *latency, const struct scale *scale)
{
	uint64_t hz = scale->hz.num;

	if (!latency->count)
		return 0;
	/* ticks * den * 10^12 / (num * count), in two steps that each fit: ps of all turns, then of one */
	uint64_t all_ns = scale_mul_div_nearest(latency->total_ticks, scale->hz.den * UINT64_C(1000000000), hz);

	return scale_mul_div_nearest(all_ns, PS_PER_NS, latency->count);
}
