/* Timer tests: programmed intervals, and the lateness of their interrupts. */
#include "render/sections/table_sections.h"

#include "base/number.h"

#define SOURCE_COLUMNS 14
#define CORE_COLUMNS   7
#define WIDE           7 /* columns of the minimum and of the median lateness */
#define NARROW         6 /* columns of the p99 and of the maximum lateness */

static void
put_figure(struct text *out, bool known, int64_t ns, int width)
{
	char bytes[32] = "-";
	struct text text = text_start(bytes, sizeof(bytes));

	if (known)
		text_printf(&text, "%s%s", ns < 0 ? "-" : "", number_in_cell_from_ns(ns < 0 ? (uint64_t)-ns : (uint64_t)ns).text);
	else
		text_put(&text, "-");
	text_printf(out, width == WIDE ? " %7s" : " %6s", bytes);
}

static void
put_period(struct text *out, const struct interval_figures *row)
{
	text_printf(out, "%c%6s", row->test.periodic ? '/' : ' ', number_in_cell_from_ns(row->test.asked_ns).text);
}

/*
 * Writes why a row has no figures. The period is written if interrupts were requested, because a source has a row for
 * each period. If none of them came, the sentence says so, without the state: the source may work with other periods.
 */
static void
put_reason_of_refusal(struct text *out, const struct interval_figures *row)
{
	bool silent = row->asked && row->state == CLOCK_STUCK;
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);

	if (!row->scattered && !silent)
		text_printf(text, "%s: ", row->state == CLOCK_PRESENT ? "Not tested" : clock_state_words[row->state]);
	text_put(text, row->reason);
	if (row->asked)
		put_period(out, row);
	text_put_char(out, ' ');
	table_end_sentence(out, &sentence);
}

static void
put_interval_row(struct text *out, const struct interval_figures *row, size_t columns)
{
	const struct report_lateness *late = &row->lateness;
	bool came = late->count != 0;

	table_put_label(out, row->test.source, columns);
	if (row->state != CLOCK_PRESENT || row->reason[0]) {
		put_reason_of_refusal(out, row);
		return;
	}
	put_period(out, row);
	text_printf(out, " %3lu %3lu %3lu %3lu %3lu", row->expected, row->empty, row->early, row->doubled,
		    row->excused);
	put_figure(out, came, late->min_ns, WIDE);
	put_figure(out, came, late->p50_ns, WIDE);
	put_figure(out, late->count >= REPORT_P99_MIN, late->p99_ns, NARROW);
	put_figure(out, came, late->max_ns, NARROW);
	text_printf(out, " %6s\n", came ? number_in_cell_from_ns(late->error_ns).text : "-");
}

static bool
is_row_of_boot_core(const struct report *report, const struct interval_figures *row)
{
	return report->facts.core_count == 0 || row->test.core == report->facts.cores[0].apic_id;
}

/* Writes a row for each timer test on a core other than the boot core. */
static void
put_rows_of_other_cores(struct text *out, const struct report *report)
{
	bool any = false;

	for (size_t i = 0; i < report->figures.interval_count; i++) {
		const struct interval_figures *row = &report->figures.intervals[i];

		if (is_row_of_boot_core(report, row))
			continue;
		if (!any)
			text_put(out, "\nOn the other cores, by APIC id\n\n  core source  period due mis ear dbl exc     "
				 "min     p50    p99    max  error\n");
		any = true;
		text_printf(out, "%6u ", row->test.core);
		put_interval_row(out, row, CORE_COLUMNS);
	}
}

/*
 * Writes how the timer handles deadlines while interrupts are masked: it drops their interrupts, sends them later, or
 * delays all further deadlines. No rule judges this policy.
 */
static void
put_missed_deadline_policy(struct text *out, const struct interval_figures *row)
{
	static const char *const words[] = {
		[REPORT_POLICY_UNKNOWN] = "the policy for missed deadlines is not determined",
		[REPORT_POLICY_DISCARD] = "missed interrupts are dropped (discard)",
		[REPORT_POLICY_CATCH_UP] = "missed interrupts are sent later (catch up)",
		[REPORT_POLICY_DELAY] = "the first is late, and the next follows a period later (delay)",
	};

	if (row->held_ns)
		table_put_sentence(out,
				   "After %lu periods with masked interrupts, %s sent %lu interrupts in the next %lu periods: %s%s%s.",
				   row->held_ns / row->test.asked_ns, row->test.source, row->held_delivered,
				   row->held_ns / row->test.asked_ns, words[row->policy],
				   row->policy_reason ? ", because " : "", row->policy_reason ? row->policy_reason : "");
}

static bool
has_row_with_masked_interrupts(const struct report *report)
{
	bool any = false;

	for (size_t i = 0; i < report->figures.interval_count; i++)
		any |= report->figures.intervals[i].held_ns != 0;
	return any;
}

void
table_put_intervals(struct text *out, const struct report *report)
{
	if (!report->figures.interval_count)
		return;
	text_printf_coloured(out, INK_HEADING, "\nTimer interrupts on the boot core, and by how much they came late\n\n");
	table_put_sentence(out, "A timer sends interrupts, and a clock is read. A device that does both is judged by separate "
			   "rules.");
	table_put_sentence(out, "\"due\": deadlines; of these, \"mis\": missed; \"ear\": early; \"dbl\": two interrupts; "
			   "\"exc\": excused, because preemption or slow reads of the TSC may have affected them. "
			   "\"/\": periodic, otherwise one-shots. \"min\" to \"max\": lateness, each +- \"error\".");
	text_put_char(out, '\n');
	text_put(out, "source         period due mis ear dbl exc     min     p50    p99    max  error\n");
	for (size_t i = 0; i < report->figures.interval_count; i++)
		if (is_row_of_boot_core(report, &report->figures.intervals[i]))
			put_interval_row(out, &report->figures.intervals[i], SOURCE_COLUMNS);
	put_rows_of_other_cores(out, report);
	if (!has_row_with_masked_interrupts(report))
		return;
	text_put_char(out, '\n');
	for (size_t i = 0; i < report->figures.interval_count; i++)
		put_missed_deadline_policy(out, &report->figures.intervals[i]);
	table_put_sentence(out, "Interrupts after such periods do not affect the verdict.");
}
