/* Calculates a clock's rate between two readings, and the TSC's rate from it. See rate_readings.h. */
#include "analysis/rate_readings.h"

#include "stats/resolution.h"

#define MICROHZ      UINT64_C(1000000)
#define NS_PER_S     UINT64_C(1000000000)
#define PPB          UINT64_C(1000000000)
/* a calculated TSC rate that differs from the known rate by this factor shows that the TSC stopped or jumped */
#define ABSURD       1000
/*
 * An RTC's edge is the end of its update cycle, which a chip derives from its crystal. An emulator signals the edge in
 * its main loop, which a busy host delays. The delay was 47 us to 1.3 ms with QEMU, and several ms on an overloaded
 * host.
 */
#define EDGE_LATE_NS UINT64_C(10000000) /* longest delay of an edge in a guest */

/* Returns NS in TSC ticks, calculated from the periods of an edge clock (an RTC, see clock.h). */
static uint64_t
clock_ns_to_tsc_ticks(const struct rate_readings *readings, uint64_t ns)
{
	const struct rate *claimed = &readings->entry->clock.claimed;
	uint64_t periods = readings->last.ticks - readings->first.ticks;

	return scale_mul_div_wide((unsigned __int128)(readings->last.end - readings->first.begin) * ns, claimed->num,
				  (unsigned __int128)periods * claimed->den * NS_PER_S, SCALE_UP);
}

uint64_t
rate_readings_expected_ticks(const struct rate_readings *readings, uint64_t passed_tsc)
{
	uint64_t window_ticks = readings->last.begin - readings->first.begin;

	return window_ticks ? scale_mul_div(readings->last.ticks - readings->first.ticks, passed_tsc, window_ticks) : 0;
}

struct rate_ends
rate_readings_get_batches_between(const struct rate_readings *readings, const struct sample *from,
				  const struct sample *to)
{
	struct rate_ends ends = { .even_ticks = readings->gcd_ticks,
				  .uneven_ticks = readings->smallest_ticks + RESOLUTION_UNEVEN_TICKS,
				  .tsc_resolution_ticks = readings->tsc_resolution_ticks };

	for (size_t i = 0; i < readings->batch_count; i++) {
		const struct rate_batch *batch = &readings->batches[i];

		if (batch->sample.begin >= from->begin && batch->sample.begin <= to->begin &&
		    (!ends.count || batch->sample.begin > ends.ends[ends.count - 1].sample.begin))
			ends.ends[ends.count++] = (struct rate_end){ batch->sample, &batch->corners };
	}
	return ends;
}

struct rate_slope
rate_readings_fit_slope(const struct rate_readings *readings, const struct sample *from, const struct sample *to,
			enum rate_fit *fit)
{
	struct rate_window window = { *from, *to, 0, readings->tsc_resolution_ticks };

	*fit = RATE_FIT_NONE;
	if (!readings->entry->clock.edges_only) {
		struct rate_ends ends = rate_readings_get_batches_between(readings, from, to);

		if (ends.count < 2)
			return (struct rate_slope){ .known = false };
		return rate_fit_line(&ends, fit);
	}
	if (readings->report->hypervisor[0] && from->end < to->begin && readings->last.ticks != readings->first.ticks) {
		uint64_t late = clock_ns_to_tsc_ticks(readings, EDGE_LATE_NS);

		/* each edge may have come that long before it was seen */
		window.first.begin -= late < from->begin ? late : from->begin;
		window.last.begin -= late < to->begin ? late : to->begin;
	}
	return rate_calculate_slope(&window);
}

struct rate_interval
rate_readings_implied_rate_if_claim_exact(const struct rate_readings *readings, const struct sample *from,
					  const struct sample *to)
{
	enum rate_fit fit;
	struct rate_slope slope = rate_readings_fit_slope(readings, from, to, &fit);
	struct rate_interval implied = rate_of_tsc_implied_by_clock(&slope, readings->entry->clock.claimed);

	implied.known &= readings->smallest_ticks && rate_is_tsc_rate_plausible(&readings->scale, &implied);
	return implied;
}

struct rate_interval
rate_readings_implied_rate(const struct rate_readings *readings, const struct sample *from, const struct sample *to)
{
	return rate_widen(rate_readings_implied_rate_if_claim_exact(readings, from, to),
			  readings->entry->clock.claimed_within_ppb);
}

struct rate_interval
rate_readings_implied_rate_of_two_samples(const struct rate_readings *readings, const struct sample *from,
					  const struct sample *to)
{
	struct rate_window window = { *from, *to, readings->smallest_ticks + RESOLUTION_UNEVEN_TICKS,
				      readings->tsc_resolution_ticks };
	struct rate_slope slope = rate_calculate_slope(&window);
	struct rate_interval implied = rate_of_tsc_implied_by_clock(&slope, readings->entry->clock.claimed);

	implied.known &= readings->smallest_ticks != 0;
	return implied;
}

struct interval_ppb
rate_readings_rate_change(const struct rate_readings *readings, const struct sample *from, const struct sample *middle,
			  const struct sample *to)
{
	struct rate_interval before = rate_readings_implied_rate_if_claim_exact(readings, from, middle);
	struct rate_interval after = rate_readings_implied_rate_if_claim_exact(readings, middle, to);

	return rate_relative_difference(&after, &before);
}

struct rate_interval
rate_get_claimed_tsc_rate(const struct clock *tsc)
{
	const struct rate *claimed = &tsc->claimed;

	if (!claimed->den)
		return (struct rate_interval){ .known = false };
	return rate_widen((struct rate_interval){
		true,
		scale_mul_div_nearest(claimed->num, MICROHZ, claimed->den),
		scale_mul_div(claimed->num, MICROHZ, claimed->den),
		scale_mul_div_up(claimed->num, MICROHZ, claimed->den),
	}, tsc->claimed_within_ppb);
}

bool
rate_may_wraps_be_miscounted(const struct clock *clock, const struct rate_interval *implied, uint64_t expected,
			     uint64_t change_ppb)
{
	uint64_t range = clock->wrap_ticks + 1; /* 0 for a 64-bit counter */
	uint64_t doubt_ticks = scale_mul_div_up(expected, implied->high - implied->low, implied->low);
	uint64_t change_ticks = scale_mul_div_up(expected, change_ppb, PPB);

	return range && (doubt_ticks > range / RATE_AMBIGUOUS_SHARE || change_ticks > range / RATE_AMBIGUOUS_SHARE);
}

bool
rate_is_tsc_rate_plausible(const struct scale *scale, const struct rate_interval *tsc)
{
	uint64_t microhz = scale_mul_div(scale->hz.num, MICROHZ, scale->hz.den);

	return tsc->low > microhz / ABSURD && tsc->high / ABSURD < microhz;
}
