/* The report as a table. See table.h. */
#include "table_internal.h"

#include "number.h"
#include "rules.h"

#define LABEL_COLUMNS  9
#define LINE_SIZE      320
#define FINDING_INDENT 6

static const char *
or_dash(const char *string)
{
	return string && string[0] ? string : "-";
}

/* A line of the heading: LABEL, then a sentence. */
static void __attribute__((format(printf, 3, 4)))
put_line(struct text *out, const char *label, const char *format, ...)
{
	size_t line_start = out->length;
	char line[LINE_SIZE];
	struct text text;
	va_list arguments;

	text_init(&text, line, sizeof(line));
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
	text_printf(out, "%-*s", LABEL_COLUMNS, label);
	table_wrap(out, line_start, LABEL_COLUMNS, line);
}

/* What ran, on what machine: five lines, of which a long one takes two. */
static void
put_machine(struct text *out, const struct report *report)
{
	struct text elapsed;
	char bytes[24];
	struct rate tsc = report->tsc;
	uint64_t tsc_millihz = tsc.den ? scale_mul_div_nearest(tsc.num, 1000, tsc.den) : 0;

	text_init(&elapsed, bytes, sizeof(bytes));
	if (report->elapsed_known)
		text_put_decimal(&elapsed, report->elapsed_ms, 3, 3);
	put_line(out, "baretick", "%s (%s), started %s, ran %s%s", report->version, report->commit,
		 or_dash(report->started_at), or_dash(bytes), report->elapsed_known ? " s" : "");
	put_line(out, "cpu", "%s", or_dash(report->cpu));
	if (report->hypervisor[0])
		put_line(out, "machine", "hypervisor %s (%s), firmware %s", report->hypervisor,
			 or_dash(report->accelerator), or_dash(report->firmware));
	else
		put_line(out, "machine", "bare metal, firmware %s", or_dash(report->firmware));
	put_line(out, "cores", "%u listed, %u started; %s per clock; bracket %s",
		 report->cores_listed, report->cores_started, number_ns(report->duration_ns).text,
		 or_dash(report->fence));
	put_line(out, "tsc", "%s%s%s, %s",
		 tsc_millihz ? number_rate(tsc_millihz).text : "rate unknown: 1 tick is shown as 1 ns",
		 report->tsc_source[0] ? ", " : "", report->tsc_source,
		 report->tsc_is_invariant ? "invariant" : "not invariant");
}

/* One line, or two where there is much to say. */
static void
put_skew(struct text *out, const struct report *report)
{
	char line[LINE_SIZE];
	struct text text;

	text_init(&text, line, sizeof(line));
	table_skew_in_short(&text, report);
	put_line(out, "skew", "%s", line);
}

static void
put_verdict(struct text *out, const struct report *report)
{
	static const char *const loud[] = {
		[VERDICT_PASS] = "PASS",	     [VERDICT_WARN] = "WARN",	  [VERDICT_FAIL] = "FAIL",
		[VERDICT_INCOMPLETE] = "INCOMPLETE", [VERDICT_ABSENT] = "ABSENT",
	};

	put_line(out, "verdict", "%s, %zu finding%s%s", loud[report->verdict], report->finding_count,
		 report->finding_count == 1 ? "" : "s",
		 report->incomplete ? "; not all that was asked for has been measured" : "");
}

/* LABEL and SENTENCE below a finding; nothing where there is no sentence. */
static void
put_below(struct text *out, const char *label, const char *sentence)
{
	size_t line_start = out->length;

	if (!sentence)
		return;
	text_printf(out, "%*s%s", FINDING_INDENT, "", label);
	table_wrap(out, line_start, FINDING_INDENT, sentence);
}

static void
put_finding(struct text *out, const struct finding *finding, bool detailed)
{
	const struct rule *rule = rules_find(finding->rule);
	size_t line_start = out->length;

	text_printf(out, "%-*s%s: ", FINDING_INDENT, verdict_word(finding->severity), finding->rule);
	table_wrap(out, line_start, FINDING_INDENT, finding->text);
	if (!detailed || !rule)
		return;
	put_below(out, "", rule->sentence);
	put_below(out, "Mostly from: ", rule->cause);
	put_below(out, "Next: ", rule->advice);
	put_below(out, "Known from: ", finding->source);
}

static void
put_note(struct text *out, const char *about, const char *sentence)
{
	size_t line_start = out->length;

	text_printf(out, "note  %s%s", about, about[0] ? ": " : "");
	table_wrap(out, line_start, 6, sentence);
}

/* Whether the row before it, of the same device, has the same sentence. */
static bool
says_the_same(const struct report *report, size_t i)
{
	const struct clock *clock = &report->clocks[i].clock;

	return i > 0 && text_equal(report->clocks[i - 1].clock.main, clock->main) &&
	       text_equal(report->clocks[i - 1].clock.reason, clock->reason);
}

/*
 * The INDEXth of all sentences: the findings, the notes, then what there is to say of clocks that are
 * present. False: there are not so many.
 */
static bool
put_sentence(struct text *out, const struct report *report, size_t index, bool detailed)
{
	if (index < report->finding_count) {
		put_finding(out, &report->findings[index], detailed);
		return true;
	}
	index -= report->finding_count;
	if (index < report->note_count) {
		put_note(out, "", report->notes[index]);
		return true;
	}
	index -= report->note_count;
	for (size_t i = 0; i < report->clock_count; i++) {
		const struct clock *clock = &report->clocks[i].clock;

		if (clock->state != CLOCK_PRESENT || !clock->reason[0] || says_the_same(report, i) || index--)
			continue;
		put_note(out, clock->id, clock->reason);
		return true;
	}
	return false;
}

static size_t
line_count(const struct text *out, size_t from)
{
	size_t lines = 0;

	for (size_t i = from; i < out->length; i++)
		lines += out->bytes[i] == '\n';
	return lines;
}

static void
cut_back(struct text *out, size_t length)
{
	out->length = length;
	out->bytes[length] = '\0';
}

/* As many sentences as fit below what stands there since START; the last line counts those that don't. True: all do. */
static bool
put_fitting_sentences(struct text *out, const struct report *report, size_t start)
{
	size_t index = 0, mark = out->length, left = 0;
	char scratch_bytes[1];
	struct text scratch;

	text_init(&scratch, scratch_bytes, sizeof(scratch_bytes));
	while (put_sentence(out, report, index, false)) {
		bool last = !put_sentence(&scratch, report, index + 1, false);

		if (line_count(out, start) + !last > TABLE_SUMMARY_LINES)
			break;
		mark = out->length;
		index++;
	}
	cut_back(out, mark);
	while (put_sentence(&scratch, report, index + left, false))
		left++;
	if (left)
		text_printf(out, "%zu more finding%s or note%s: see the full table.\n", left, left == 1 ? "" : "s",
			    left == 1 ? "" : "s");
	return !left;
}

static void
put_top(struct text *out, const struct report *report, bool with_skew)
{
	put_machine(out, report);
	if (with_skew)
		put_skew(out, report);
	put_verdict(out, report);
	text_put_char(out, '\n');
	table_clocks(out, report);
}

/* The line on skew is there where it costs no sentence. */
void
table_summary(struct text *out, const struct report *report)
{
	size_t start = out->length;

	put_top(out, report, true);
	if (put_fitting_sentences(out, report, start) && line_count(out, start) <= TABLE_SUMMARY_LINES)
		return;
	cut_back(out, start);
	put_top(out, report, false);
	put_fitting_sentences(out, report, start);
}

void
table_render(struct text *out, const struct report *report)
{
	put_top(out, report, true);
	text_put_char(out, '\n');
	for (size_t i = 0; put_sentence(out, report, i, true); i++)
		;
	if (!report->finding_count)
		text_put(out, "No findings.\n");
	table_advice(out, report);
	table_histogram(out, report);
	table_interference(out, report);
	table_cores(out, report);
	table_skew(out, report);
	table_behaviours(out, report);
	table_database(out, report);
	table_durations(out, report);
}
