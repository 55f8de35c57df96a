/* Samples into read latency. See latency.h. */
#include "latency.h"

#define PS_PER_NS UINT64_C(1000)
#define PS_PER_S  UINT64_C(1000000000000)

void
latency_clear(struct latency *latency)
{
	latency->count = latency->min_ns = latency->max_ns = latency->max_count = 0;
	latency->total_ticks = latency->total_ns = 0;
	histogram_clear(&latency->histogram);
	for (size_t i = 0; i < LATENCY_EXACT_NS; i++)
		latency->exact[i] = 0;
}

/* Runs once a sample, so it costs a multiplication and no division. */
static void
record(struct latency *latency, uint64_t ticks, uint64_t ns)
{
	histogram_record(&latency->histogram, ns);
	if (ns < LATENCY_EXACT_NS)
		latency->exact[ns]++;
	if (ns < latency->min_ns || !latency->count)
		latency->min_ns = ns;
	if (ns > latency->max_ns) {
		latency->max_ns = ns;
		latency->max_count = 0;
	}
	latency->max_count += ns == latency->max_ns;
	latency->count++;
	latency->total_ticks += ticks;
	latency->total_ns += ns;
}

void
latency_fold(struct latency *latency, const struct scale *scale, const struct sample *samples,
	     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t ticks = samples[i].end - samples[i].begin;

		if (samples[i].end >= samples[i].begin)
			record(latency, ticks, scale_ns(scale, ticks));
	}
}

/* Of the COUNT shortest. */
static uint64_t
percentile_of(const struct latency *latency, uint64_t count, uint32_t per_hundred_thousand)
{
	uint64_t ns = histogram_quantile_of(&latency->histogram, count, per_hundred_thousand);

	if (ns < latency->min_ns)
		return latency->min_ns;
	return ns < latency->max_ns ? ns : latency->max_ns;
}

uint64_t
latency_percentile_ns(const struct latency *latency, uint32_t per_hundred_thousand)
{
	return percentile_of(latency, latency->count, per_hundred_thousand);
}

struct latency_clean
latency_clean(const struct latency *latency, uint64_t threshold_ns)
{
	uint64_t bound_ns = latency_percentile_ns(latency, 50000) + threshold_ns, count = 0, twice_ns = 0;

	for (size_t i = 0; i <= histogram_bucket(bound_ns); i++) {
		count += latency->histogram.counts[i];
		twice_ns += latency->histogram.counts[i] * (histogram_bucket_low(i) + histogram_bucket_high(i));
	}
	return (struct latency_clean){
		.hit = latency->count - count,
		.count = count,
		.p99_ns = percentile_of(latency, count, 99000),
		.p999_ns = percentile_of(latency, count, 99900),
		.max_ns = percentile_of(latency, count, 100000),
		.mean_ps = count ? scale_mul_div_nearest(twice_ns, PS_PER_NS, 2 * count) : 0,
	};
}

uint64_t
latency_mean_ps(const struct latency *latency)
{
	return latency->count ? scale_mul_div_nearest(latency->total_ns, PS_PER_NS, latency->count) : 0;
}

uint64_t
latency_loop_ps(const struct latency *latency, const struct scale *scale)
{
	if (!latency->count)
		return 0;
	return scale_ratio((unsigned __int128)latency->total_ticks * scale->hz.den, PS_PER_S,
			   (unsigned __int128)scale->hz.num * latency->count, SCALE_NEAREST);
}
