/* See lateness.h. */
#include "lateness.h"

#define PS_PER_NS   1000
#define EARLY_SHARE 4 /* an interrupt that comes less than a quarter period early belongs to the deadline that follows */

static int64_t
middle(const struct lateness *value)
{
	return value->low + (value->high - value->low) / 2;
}

static void
sift(struct lateness *values, size_t root, size_t count)
{
	for (size_t child; (child = 2 * root + 1) < count; root = child) {
		struct lateness swap = values[root];

		if (child + 1 < count && middle(&values[child + 1]) > middle(&values[child]))
			child++;
		if (middle(&swap) >= middle(&values[child]))
			return;
		values[root] = values[child];
		values[child] = swap;
	}
}

/* By heap: as it is, no order of them takes long. */
static void
sort(struct lateness *values, size_t count)
{
	for (size_t i = count / 2; i-- > 0;)
		sift(values, i, count);
	for (size_t end = count; end-- > 1;) {
		struct lateness swap = values[0];

		values[0] = values[end];
		values[end] = swap;
		sift(values, 0, end);
	}
}

/* The smallest that MILLI of a hundred thousand are not above. */
static int64_t
percentile_ns(const struct lateness *values, size_t count, uint64_t milli)
{
	uint64_t rank = (count * milli + 99999) / 100000;

	return middle(&values[rank ? rank - 1 : 0]) / PS_PER_NS;
}

void
lateness_fold(struct report_interval *row, struct lateness *values, size_t count)
{
	int64_t widest_ps = 0;

	if (!count)
		return;
	sort(values, count);
	for (size_t i = 0; i < count; i++) {
		int64_t width_ps = values[i].high - values[i].low;

		row->early += values[i].high < 0;
		widest_ps = width_ps > widest_ps ? width_ps : widest_ps;
	}
	row->lateness = (struct report_lateness){
		.count = count,
		.min_ns = percentile_ns(values, count, 0),
		.p50_ns = percentile_ns(values, count, 50000),
		.p99_ns = percentile_ns(values, count, 99000),
		.p999_ns = percentile_ns(values, count, 99900),
		.max_ns = percentile_ns(values, count, 100000),
		.error_ns = (uint64_t)(widest_ps / 2 + PS_PER_NS - 1) / PS_PER_NS,
	};
}

size_t
slots_of(const struct slots *slots, int64_t after_ps)
{
	int64_t from_first = after_ps + (int64_t)(slots->period_ps / EARLY_SHARE);
	uint64_t slot = from_first < 0 ? UINT64_MAX : (uint64_t)from_first / slots->period_ps;

	return slot < slots->count ? (size_t)slot : SIZE_MAX;
}
