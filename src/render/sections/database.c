/* What reading a clock costs a database that times its rows. */
#include "table_sections.h"

#include "scale.h"

#define SENTENCE_SIZE 320

#define DATABASE_READS    200000 /* 100,000 rows, the clock read before and after each */
#define DATABASE_SHORT_PS 50000  /* 10 ms for all of them: below it, tenths of a millisecond matter */

void
table_database(struct text *out, const struct report *report)
{
	size_t picked[REPORT_CLOCKS_MAX];
	size_t count = table_pick_clocks(report, true, picked);
	char sentence[SENTENCE_SIZE];
	struct scale scale;
	struct text text;

	scale_init(&scale, report->tsc);
	text_init(&text, sentence, sizeof(sentence));
	text_put(&text, "Timing 100,000 rows of a database, 2 reads each:");
	for (size_t i = 0; i < count; i++) {
		const struct report_clock *entry = &report->clocks[picked[i]];
		uint64_t loop_ps = latency_loop_ps(entry->latency, &scale);

		text_printf(&text, "%s %s ", i ? "," : "", entry->clock.id);
		text_put_decimal(&text, scale_mul_div_nearest(loop_ps, DATABASE_READS, 1000000), 3,
				 loop_ps < DATABASE_SHORT_PS);
		text_put(&text, " ms");
	}
	text_put(&text, count ? "." : " -");
	text_put_char(out, '\n');
	table_wrap(out, out->length, 2, sentence);
}
