/*
 * Judges how reliable the latencies are under stolen time. In a soak, notes when time was stolen if most of it was in
 * one stretch. See judge_internal.h.
 */
#include "judge/judge_internal.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/text.h"

#define TENTHS_FROM       UINT64_C(1000)   /* above 1 % one decimal is printed, below three */
#define P999              99900
#define GAPS_MIN   32 /* fewest gaps in the stretch */
#define RATE_TIMES 10 /* gaps come this many times as often as in the rest */
#define EDGE_SHARE 4  /* a neighbouring row with 1/4 of the worst row's rate belongs to the stretch */

/*
 * Returns true if p99.9 of the boot core's reads was hit by stolen time. An RTC's reads wait for its update,
 * which is no stolen time. If no time is stolen, a long read is the clock's own.
 */
static bool
is_hit(const struct report *report, const struct report_clock *entry)
{
	const struct report_interference *all = &report->interference;

	return entry->clock.state == CLOCK_PRESENT && entry->latency && entry->latency->count &&
	       report_clock_is_main(entry) && !entry->clock.edges_only && (all->gaps || !all->measured) &&
	       latency_percentile_is_hit(entry->latency, P999, report->options.gap_ns);
}

static void
put_stolen(struct text *text, const struct report *report)
{
	const struct report_interference *all = &report->interference;
	unsigned digits = report->quality.stolen_millipercent >= TENTHS_FROM ? 1 : 3;

	if (!all->measured)
		text_put(text, "Stolen time was not observed");
	else if (!all->gaps)
		text_put(text, "No stolen time was observed");
	else
		text_printf(text, "%s %% of the observed time was stolen",
			    number_percent(all->total_ns, all->observed_ns, digits).text);
}

/* Lists the clocks whose p99.9 was hit. Returns their number. */
static size_t
put_hit(struct text *text, const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->clock_count; i++)
		if (is_hit(report, &report->clocks[i]))
			text_printf(text, "%s%s", count++ ? ", " : "", report->clocks[i].clock.id);
	return count;
}

/* Short enough for one line of 80 columns in most cases. */
static void
put_tails(struct text *text, const struct report_quality *quality, const char *hit, size_t hits)
{
	if (!quality->tails_known) {
		text_put(text, ": latency tails may be unreliable.");
		return;
	}
	text_printf(text, ": %s", quality->reliable_tails ? "tails reliable up to p99.9" : "latency tails are unreliable");
	if (hits)
		text_printf(text, "; p99.9 of %s %s hit", hit, hits == 1 ? "was" : "were");
	text_put_char(text, '.');
}

void
judge_quality(struct report *report)
{
	const struct report_interference *all = &report->interference;
	struct report_quality *quality = &report->quality;
	uint64_t stolen = all->measured ? scale_mul_div_nearest(all->total_ns, MILLIPERCENT, all->observed_ns) : 0;
	char bytes[REPORT_SENTENCE];
	struct text hit, text;
	size_t hits;

	text_init(&hit, bytes, sizeof(bytes));
	hits = put_hit(&hit, report);
	quality->stolen_known = all->measured;
	quality->stolen_millipercent = stolen;
	quality->tails_known = all->measured || hits;
	quality->reliable_tails = all->measured && !hits && stolen < STOLEN_MAX_MILLIPERCENT;
	text_init(&text, quality->text, sizeof(quality->text));
	put_stolen(&text, report);
	put_tails(&text, quality, bytes, hits);
}

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
