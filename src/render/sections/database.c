/* What reading a clock costs a database that times its rows. */
#include "table_sections.h"

#include "scale.h"
#include "text.h"

#define SENTENCE_SIZE 320

#define DATABASE_READS    200000 /* 100,000 rows, the clock read before and after each */
#define DATABASE_SHORT_PS 50000  /* 10 ms for all of them: below it, tenths of a millisecond matter */

/* Without what the brackets cost, as the clock shows that reads nothing, and without stolen time. */
static uint64_t
read_ps(const struct report *report, const struct report_clock *entry)
{
	uint64_t ps = latency_clean(entry->latency, report->options.gap_ns).mean_ps, null_ps = 0;

	for (size_t i = 0; i < report->clock_count; i++)
		if (text_equal(report->clocks[i].clock.id, "null") && report->clocks[i].latency)
			null_ps = latency_clean(report->clocks[i].latency, report->options.gap_ns).mean_ps;
	return ps > null_ps ? ps - null_ps : 0;
}

void
table_database(struct text *out, const struct report *report)
{
	size_t picked[REPORT_CLOCKS_MAX];
	size_t count = table_pick_clocks(report, true, picked);
	char sentence[SENTENCE_SIZE];
	struct text text;

	text_init(&text, sentence, sizeof(sentence));
	text_put(&text, "Timing 100,000 rows of a database, 2 reads each:");
	for (size_t i = 0; i < count; i++) {
		const struct report_clock *entry = &report->clocks[picked[i]];
		uint64_t ps = read_ps(report, entry);

		text_printf(&text, "%s %s ", i ? "," : "", entry->clock.id);
		text_put_decimal(&text, scale_mul_div_nearest(ps, DATABASE_READS, 1000000), 3,
				 ps < DATABASE_SHORT_PS);
		text_put(&text, " ms");
	}
	text_put(&text, count ? "." : " -");
	text_put_char(out, '\n');
	table_wrap(out, out->length, 2, sentence);
}
