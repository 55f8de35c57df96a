/* The CSV report is a single tidy table. It must equal its goldens, and quote fields as RFC 4180 says. */
#include "test.h"
#include "judge/judge.h"
#include "render/csv/csv.h"
#include "golden.h"
#include "report_literal.h"

#define TEXT_SIZE (1 << 20)
#define COLUMNS   9

static char buffer[TEXT_SIZE];

LITERAL_REPORT_FIXTURE;

static struct text
rendered(void)
{
	struct text csv = text_start(buffer, sizeof(buffer));
	csv_render(&csv, report);
	assert_false(csv.truncated);
	return csv;
}

static void
compare(struct report *(*literal)(void), const char *golden)
{
	report = literal();
	literal_judge(report);
	struct text csv = rendered();
	golden_compare(golden, &csv);
}

TEST(reports_of_a_healthy_and_a_faulty_machine_and_without_measurements_match_their_goldens)
{
	compare(literal_make_clean_report, "clean.csv");
	compare(literal_make_faulty_report, "sick.csv");
	compare(literal_make_empty_report, "empty.csv");
}

/* No field in this report has a comma, so the number of commas gives the number of columns. */
TEST(every_row_has_nine_columns_and_a_line_end)
{
	size_t commas = 0, rows = 0;

	report = literal_make_faulty_report();
	report->facts.options.label[0] = report->options_given[0] = report->facts.machine.identity.vendor[0] = '\0';
	literal_judge(report);
	struct text csv = rendered();
	for (size_t i = 0; i < csv.length; i++) {
		commas += buffer[i] == ',';
		if (buffer[i] != '\n')
			continue;
		assert_int_equal(commas, COLUMNS - 1);
		commas = 0;
		rows++;
	}
	assert_int_equal(buffer[csv.length - 1], '\n');
	assert_true(rows > 200);
}

TEST(fields_with_commas_quotes_or_line_ends_are_quoted)
{
	report->outcomes.finding_count = 3;
	report->outcomes.findings[0] = (struct finding){ .rule = "a", .core = REPORT_NO_CORE, .unit = "m,s" };
	report->outcomes.findings[1] = (struct finding){ .rule = "b", .core = REPORT_NO_CORE, .unit = "\"s\"" };
	report->outcomes.findings[2] = (struct finding){ .rule = "c", .core = REPORT_NO_CORE, .unit = "s\r\n" };
	rendered();
	assert_non_null(strstr(buffer, ",finding_a,,,,\"m,s\",SN-0042\n"));
	assert_non_null(strstr(buffer, ",finding_b,,,,\"\"\"s\"\"\",SN-0042\n"));
	assert_non_null(strstr(buffer, ",finding_c,,,,\"s\r\n\",SN-0042\n"));
}

TEST(two_findings_of_one_rule_clock_and_core_have_different_names)
{
	report->outcomes.finding_count = 5;
	for (size_t i = 0; i < 5; i++)
		report->outcomes.findings[i] = (struct finding){ .rule = "a", .core = REPORT_NO_CORE };
	report->outcomes.findings[1].clock = "tsc";
	report->outcomes.findings[3].core = 2;
	rendered();
	assert_non_null(strstr(buffer, ",,,finding_a,,,,,SN-0042\n2026-01-01T00:00:05,tsc,,finding_a,,,,,SN-0042\n"
				       "2026-01-01T00:00:05,,,finding_a_2,,,,,SN-0042\n2026-01-01T00:00:05,,2,finding_a,,,,,SN-0042\n"
				       "2026-01-01T00:00:05,,,finding_a_3,,,,,SN-0042\n"));
}
