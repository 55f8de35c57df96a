/* A row for each core, the warp check on all of them, and what a clock costs a database. */
#include "table_internal.h"

#include "number.h"
#include "scale.h"

#define APIC_COLUMNS  8
#define LABEL_COLUMNS (APIC_COLUMNS + 1) /* and the mark of the boot core */
#define CLOCK_COLUMNS 14                 /* two figures of 6 and their blanks */
#define SENTENCE_SIZE 320

#define DATABASE_READS      200000 /* 100,000 rows, the clock read before and after each */
#define DATABASE_SHORT_PS   50000  /* 10 ms for all of them: below it, tenths of a millisecond matter */

static void
put_heading(struct text *out, const struct report *report, const size_t *picked, size_t count)
{
	text_put(out, "\nRead latency from each core (* the boot core), by APIC id\n\n");
	text_printf(out, "%*s", LABEL_COLUMNS, "");
	for (size_t i = 0; i < count; i++)
		text_printf(out, "  %-*.*s", CLOCK_COLUMNS - 2, CLOCK_COLUMNS - 2,
			    report->clocks[picked[i]].clock.id);
	if (count)
		table_end_line(out);
	else
		text_put(out, "  no clock was measured\n");
	text_printf(out, "%*s ", APIC_COLUMNS, "core");
	for (size_t i = 0; i < count || i == 0; i++)
		text_printf(out, " %6s %6s", "p50", "p99");
	table_end_line(out);
}

static void
put_reason(struct text *out, size_t line_start, const struct report_core *core)
{
	char sentence[CLOCK_REASON_SIZE + 32];
	struct text text;

	text_init(&text, sentence, sizeof(sentence));
	text_printf(&text, "%s%s%s", core->started ? "stopped answering" : "did not start",
		    core->reason[0] ? ": " : "", core->reason);
	table_pad(out, line_start, LABEL_COLUMNS + 1);
	table_wrap(out, line_start, LABEL_COLUMNS + 1, sentence);
}

static void
put_core(struct text *out, const struct report_core *core, const size_t *picked, size_t count)
{
	char label[16];
	size_t line_start;
	struct text text;

	text_init(&text, label, sizeof(label));
	text_printf(&text, "%*u%s", APIC_COLUMNS, core->apic_id, core->boot ? "*" : "");
	table_label(out, label, LABEL_COLUMNS);
	line_start = out->length - LABEL_COLUMNS;
	if (!core->started) {
		put_reason(out, line_start, core);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct core_latency *latency = &core->latency[picked[i]];

		text_printf(out, " %6s", latency->count ? number_ns(latency->p50_ns).text : "-");
		text_printf(out, " %6s", latency->count ? number_ns(latency->p99_ns).text : "-");
	}
	if (!count)
		text_printf(out, " %6s %6s", "-", "-");
	table_end_line(out);
	if (core->reason[0])
		put_reason(out, out->length, core);
}

static void
put_warps(struct text *out, const struct report_skew *skew)
{
	char sentence[SENTENCE_SIZE];
	struct text text;

	text_init(&text, sentence, sizeof(sentence));
	text_put(&text, "Contended warp check of the TSC: ");
	if (!skew->measured)
		text_put(&text, "not measured.");
	else
		text_printf(&text, "%zu cores took %lu turns on one shared last value: ", skew->cores,
			    skew->iterations);
	if (skew->measured && skew->warps)
		text_printf(&text,
			    "%lu warp%s, the worst %lu ns (%lu ticks): core %u was ahead of core %u, which "
			    "read after it.",
			    skew->warps, skew->warps == 1 ? "" : "s", skew->worst_ns, skew->worst_ticks,
			    skew->worst_a, skew->worst_b);
	else if (skew->measured)
		text_put(&text, skew->starved ? "inconclusive: no warp, but a core got too few turns." :
						"no warp.");
	text_put_char(out, '\n');
	table_wrap(out, out->length, 0, sentence);
}

void
table_cores(struct text *out, const struct report *report)
{
	size_t picked[REPORT_CLOCKS_MAX];
	size_t count = table_pick_clocks(report, true, picked);

	if (count > TABLE_CLOCKS_ABREAST)
		count = TABLE_CLOCKS_ABREAST;
	put_heading(out, report, picked, count);
	for (size_t i = 0; i < report->core_count; i++)
		put_core(out, &report->cores[i], picked, count);
	if (!report->core_count)
		text_printf(out, "%*s\n", APIC_COLUMNS, "-");
	put_warps(out, &report->skew);
}

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
	text_put(&text, "100,000 rows, each timed twice, cost a database:");
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
