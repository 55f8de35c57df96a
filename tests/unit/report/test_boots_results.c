/* Tests of the results of a series of boots: the counts, the ranges, and the notes of a report. */
#include "test.h"
#include "report/boots_results.h"

static struct report report;

static void
set_up(void)
{
	memset(&report, 0, sizeof(report));
	report.facts.options.save.boots = 20;
	report.facts.boots = (struct boots){ .planned = 20, .started = 4, .died = 1 };
	report.outcomes.verdict = VERDICT_PASS;
}

TEST_FIXTURE(set_up, NULL);

static void
add_offset_finding(uint32_t core, int64_t low, int64_t high)
{
	report.outcomes.findings[report.outcomes.finding_count++] = (struct finding){
		.rule = "tsc-offset", .severity = VERDICT_FAIL, .clock = "tsc", .core = core, .has_measured = true,
		.measured = low, .low = low, .high = high, .unit = "ns",
	};
	report.outcomes.verdict = VERDICT_FAIL;
}

static void
add_rate(const char *id, uint64_t low, uint64_t high)
{
	report.facts.clocks[report.facts.clock_count].clock.id = id;
	report.figures.clocks[report.facts.clock_count++].measured = (struct interval_millihz){ true, low, low, high };
}

TEST(without_a_series_nothing_is_counted_and_no_note_is_added)
{
	report.facts.boots.planned = 0;
	add_offset_finding(2, 5, 6);
	boots_add_results(&report);
	assert_int_equal(report.outcomes.boots_so_far.entry_count, 0);
	assert_int_equal(report.notes.count, 0);
}

TEST(the_note_has_the_number_of_boots_that_reached_their_end)
{
	add_offset_finding(2, 1600000000, 1600000400);
	report.facts.boots.entry_count = 1;
	report.facts.boots.entries[0] = (struct boots_entry){ .rule = "tsc-offset", .clock = "tsc", .core = 2, .boots = 1,
							      .measured = true, .low = 1599000000, .high = 1599000100, .unit = "ns" };
	boots_add_results(&report);
	assert_string_equal(report.notes.sentences[0],
			    "This is boot 4 of 20. Boots that reached their end: 3; that did not: 1. "
			    "Verdicts: fail 1, warn 0, incomplete 0.");
	assert_string_equal(report.notes.sentences[1], "In 2 of 3 boots: tsc-offset of tsc, core 2, 1.60 s to 1.60 s.");
	assert_int_equal(report.outcomes.boots_so_far.entries[0].low, 1599000000);
	assert_int_equal(report.outcomes.boots_so_far.entries[0].high, 1600000400);
	assert_int_equal(report.facts.boots.entries[0].boots, 1);
}

TEST(a_finding_that_occurs_twice_in_a_boot_is_one_boot)
{
	add_offset_finding(2, 5, 6);
	add_offset_finding(2, 7, 8);
	boots_add_results(&report);
	assert_int_equal(report.outcomes.boots_so_far.entry_count, 1);
	assert_int_equal(report.outcomes.boots_so_far.entries[0].boots, 1);
}

TEST(the_ranges_of_all_rates_are_in_one_note)
{
	add_rate("hpet", 99999990000, 100000010000);
	add_rate("acpi_pm", 3579545000, 3579545200);
	boots_add_results(&report);
	assert_int_equal(report.notes.count, 2);
	assert_string_equal(report.notes.sentences[1], "Range of each rate over the boots: hpet 99.99999 MHz to 100.0000 MHz, "
			    "acpi_pm 3.579545 MHz to 3.579545 MHz.");
}

TEST(notes_of_a_series_leave_room_for_others)
{
	for (uint32_t core = 1; core < 60; core++)
		add_offset_finding(core, 5, 6);
	boots_add_results(&report);
	assert_true(report.notes.count <= REPORT_NOTES_MAX - 2);
	assert_true(report.outcomes.boots_so_far.full);
}
