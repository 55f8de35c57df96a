/* Lists observed durations. See observed.h. */
#include "stats/observed.h"

#define ALL_MILLIONTHS UINT64_C(100000000) /* 100 percent, times 1,000,000 */

struct observed_list
observed_make_duration_list(const struct latency *latency, uint32_t cutoff_millionths)
{
	return (struct observed_list){ latency, cutoff_millionths, 0, 0 };
}

/*
 * Returns true if the rows so far have reached the cut-off (see observed.h). The row that reaches the cut-off belongs
 * to the list. Therefore the list has at least one row, even with a cut-off of 0.
 */
static bool
has_list_reached_cutoff(const struct observed_list *list)
{
	return list->running &&
	       (unsigned __int128)list->running * ALL_MILLIONTHS >=
		       (unsigned __int128)list->latency->count * list->cutoff_millionths;
}

static bool
get_next_row_before_cutoff(struct observed_list *list, struct observed *row)
{
	while (list->next_ns < LATENCY_EXACT_NS && !has_list_reached_cutoff(list)) {
		uint64_t ns = list->next_ns++;
		uint64_t count = list->latency->exact[ns];

		if (!count)
			continue;
		list->running += count;
		*row = (struct observed){ ns, count, list->running, false };
		return true;
	}
	return false;
}

bool
observed_get_next_row(struct observed_list *list, struct observed *row)
{
	const struct latency *latency = list->latency;

	if (!latency->count || get_next_row_before_cutoff(list, row))
		return latency->count != 0;
	if (list->running == latency->count)
		return false;
	list->running = latency->count;
	*row = (struct observed){ latency->max_ns, latency->max_count, latency->count, true };
	return true;
}
