/* Tests of the table of calibration loops, whose lines have at most 79 columns. */
#include "test.h"
#include "render/sections/table_sections.h"

static char bytes[8192];
static struct report report;
static const struct calibration_loop loops[] = {
	{ .id = "linux_pit", .clock = "tsc" },
	{ .id = "linux_lapic", .clock = "lapic" },
};

static const char *
render(void)
{
	struct text out = text_start(bytes, sizeof(bytes));
	table_put_calibrations(&out, &report);
	return bytes;
}

TEST(each_loop_has_a_row_and_each_reason_a_sentence)
{
	memset(&report, 0, sizeof(report));
	report.figures.tsc_within = (struct rate_interval){ true, 1000000000000000, 999999900000000, 1000000100000000 };
	report.figures.calibration_count = 2;
	report.figures.calibrations[0] = (struct calibration_figures){
		.loop = &loops[0], .runs = 500, .refused = 12, .refusal_count = 1,
		.refusals = { { "a value of the PIT was missed (\"Fast TSC calibration failed\")", 12 } },
		.median = { true, -12340, -12400, -12300 }, .worst = { true, -2000000000000, 0, 0 },
	};
	report.figures.calibrations[1] = (struct calibration_figures){ .loop = &loops[1],
							      .reason = "There was no time for this loop." };
	strcpy(report.advice.remarks[0], "The run was interrupted.");
	strcpy(report.advice.calibrated, "A sentence.");
	assert_string_equal(render(),
		"\nCalibration loops: how systems measure a clock's rate, tried here\n\n"
		"loop            clock  runs refused median ppm  worst ppm\n"
		"linux_pit       tsc     500      12      -12.3      <-1e6\n"
		"linux_lapic     lapic  There was no time for this loop.\n"
		"  linux_pit gave no rate in 12 of 500 runs: a value of the PIT was missed\n"
		"  (\"Fast TSC calibration failed\").\n"
		"  The run was interrupted.\n"
		"\"refused\": runs in which the loop gave no rate. Errors are against the TSC's\n"
		"rate, measured to +-0.1 ppm against the reference clock.\n"
		"A sentence.\n");
}

TEST(a_run_without_loops_has_no_table)
{
	memset(&report, 0, sizeof(report));
	assert_string_equal(render(), "");
}
