/* Notes when in a soak time was stolen, if most of it was in one stretch. See judge_internal.h. */
#include "judge/judge_internal.h"

#include "base/text.h"

#define GAPS_MIN   32 /* fewest gaps in the stretch */
#define RATE_TIMES 10 /* gaps come this many times as often as in the rest */
#define EDGE_SHARE 4  /* a neighbouring row with 1/4 of the worst row's rate belongs to the stretch */

struct gap_rate {
	uint64_t gaps, observed_ns;
};

/* Returns true if gaps come at least TIMES as often in A as in B. Both were observed. */
static bool
is_as_often(struct gap_rate a, uint64_t times, struct gap_rate b)
{
	return (unsigned __int128)a.gaps * b.observed_ns >= (unsigned __int128)times * b.gaps * a.observed_ns;
}

static struct gap_rate
sum_of(const struct series *series, size_t from, size_t to)
{
	struct gap_rate sum = { 0, 0 };

	for (size_t i = from; i < to; i++) {
		sum.gaps += series->rows[i].gaps;
		sum.observed_ns += series->rows[i].observed_ns;
	}
	return sum;
}

static size_t
worst_row(const struct series *series)
{
	size_t worst = 0;

	for (size_t i = 1; i < series->count; i++)
		if (series->rows[i].observed_ns && (!series->rows[worst].observed_ns ||
		    !is_as_often(sum_of(series, worst, worst + 1), 1, sum_of(series, i, i + 1))))
			worst = i;
	return worst;
}

/* Returns true if row I has a large part of WORST's rate. */
static bool
belongs(const struct series *series, size_t i, struct gap_rate worst)
{
	struct gap_rate row = sum_of(series, i, i + 1);

	return row.gaps && is_as_often((struct gap_rate){ row.gaps * EDGE_SHARE, row.observed_ns }, 1, worst);
}

void
judge_gaps(struct report *report)
{
	const struct series *series = &report->series;
	size_t from = series->count ? worst_row(series) : 0, to = from + 1;
	struct gap_rate worst, in, all;
	char bytes[REPORT_SENTENCE];
	struct text when;

	if (series->count < 2)
		return;
	worst = sum_of(series, from, to);
	while (from > 0 && belongs(series, from - 1, worst))
		from--;
	while (to < series->count && belongs(series, to, worst))
		to++;
	in = sum_of(series, from, to);
	all = sum_of(series, 0, series->count);
	if (in.gaps < GAPS_MIN || in.observed_ns == all.observed_ns ||
	    !is_as_often(in, RATE_TIMES, (struct gap_rate){ all.gaps - in.gaps, all.observed_ns - in.observed_ns }))
		return;
	text_init(&when, bytes, sizeof(bytes));
	report_put_moment(&when, report, series->rows[from].from_tsc);
	text_put(&when, " and ");
	report_put_moment(&when, report, series->rows[to - 1].to_tsc);
	report_note(report, "Time was stolen mostly between %s: %lu of %lu gaps came then, in %lu of %lu ms that cores were "
		    "observed.", bytes, in.gaps, all.gaps, in.observed_ns / 1000000, all.observed_ns / 1000000);
}
