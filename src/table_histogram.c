/* Read latency of the clocks side by side: a row for each power of two of nanoseconds, a share and a bar each. */
#include "table_internal.h"

#include "number.h"
#include "scale.h"

#define LABEL_COLUMNS 9 /* "<= 1.02us" */
#define SHARE_COLUMNS 5 /* "100.0" */
#define BAR_COLUMNS   7 /* the whole of it is all samples */
#define ID_COLUMNS    (SHARE_COLUMNS + BAR_COLUMNS)
#define OCTAVES       64

static uint64_t
octave_bound_ns(size_t octave)
{
	return (UINT64_C(1) << octave) - 1;
}

/* Neither nothing nor all is said of a share that only rounds to it. */
static struct number
share_of(uint64_t count, uint64_t total)
{
	uint64_t tenths = scale_mul_div_nearest(count, 1000, total); /* of a percent */

	if (tenths == 0)
		return (struct number){ "<0.1" };
	if (tenths == 1000 && count < total)
		return (struct number){ ">99.9" };
	return number_percent(count, total, 1);
}

static void
put_share(struct text *out, uint64_t count, uint64_t total)
{
	uint64_t bar = scale_mul_div_nearest(count, BAR_COLUMNS, total);

	if (count == 0) {
		text_printf(out, " %*s", SHARE_COLUMNS + 1 + BAR_COLUMNS, "");
		return;
	}
	text_printf(out, " %*s ", SHARE_COLUMNS, share_of(count, total).text);
	for (uint64_t i = 0; i < BAR_COLUMNS; i++)
		text_put_char(out, i < bar ? '#' : i == 0 ? '.' : ' ');
}

static bool
is_hit(const struct report *report, const size_t *picked, size_t count, size_t octave)
{
	for (size_t i = 0; i < count; i++)
		if (report->clocks[picked[i]].latency->octave[octave])
			return true;
	return false;
}

static void
put_row(struct text *out, const struct report *report, const size_t *picked, size_t count, size_t octave)
{
	text_printf(out, "<= %6s", number_ns(octave_bound_ns(octave)).text);
	for (size_t i = 0; i < count; i++) {
		const struct latency *latency = report->clocks[picked[i]].latency;

		put_share(out, latency->octave[octave], latency->count);
	}
	table_end_line(out);
}

static void
put_block(struct text *out, const struct report *report, const size_t *picked, size_t count)
{
	size_t first = 0, last = OCTAVES - 1;

	while (first < last && !is_hit(report, picked, count, first))
		first++;
	while (last > first && !is_hit(report, picked, count, last))
		last--;
	text_printf(out, "\n%*s", LABEL_COLUMNS, "");
	for (size_t i = 0; i < count; i++)
		text_printf(out, "  %-*.*s", ID_COLUMNS, ID_COLUMNS, report->clocks[picked[i]].clock.id);
	table_end_line(out);
	for (size_t octave = first; octave <= last; octave++)
		put_row(out, report, picked, count, octave);
}

void
table_histogram(struct text *out, const struct report *report)
{
	text_put(out, "\nRead latency side by side, % of each clock's reads (each bar is out of 100 %)\n");
	for (int main = 1; main >= 0; main--) {
		size_t picked[REPORT_CLOCKS_MAX];
		size_t count = table_pick_clocks(report, main, picked);

		if (main && !count)
			text_put(out, "\nNo clock's latency was measured.\n");
		for (size_t at = 0; at < count; at += TABLE_CLOCKS_ABREAST) {
			size_t rest = count - at;

			put_block(out, report, picked + at,
				  rest < TABLE_CLOCKS_ABREAST ? rest : TABLE_CLOCKS_ABREAST);
		}
	}
}
