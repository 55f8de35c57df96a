/*
 * Tests of the marker file. A run writes this file to its boot volume, so that the next run knows how far the previous
 * run came.
 */
#include "test.h"
#include "run/marker.h"

static struct report report;

static enum options_cores
evaluate_marker(const char *phase, enum options_cores cores, enum options_cores least, unsigned number)
{
	struct marker found = { .cores = cores, .least = least, .report = number };

	memcpy(found.phase, phase, strlen(phase) + 1);
	return marker_make_options_safer(&found, &report);
}

static void
begin(enum options_cores cores, bool given)
{
	memset(&report, 0, sizeof(report));
	report.facts.options.cores.method = cores;
	report.facts.options.cores.given = given;
}

TEST(a_printed_marker_is_parsed_again)
{
	const struct marker marker = { "start-cores", CORES_SIPI, CORES_MP, 9999, false };
	struct marker read;
	char bytes[MARKER_SIZE + 1] = "";

	marker_print(bytes, &marker);
	assert_int_equal(strlen(bytes), MARKER_SIZE);
	assert_memory_equal(bytes, "phase=start-cores cores=sipi least=mp report=9999 #", 51);
	assert_int_equal(bytes[MARKER_SIZE - 1], '\n');
	assert_true(marker_parse(bytes, MARKER_SIZE, &read));
	assert_string_equal(read.phase, "start-cores");
	assert_int_equal(read.cores, CORES_SIPI);
	assert_int_equal(read.least, CORES_MP);
	assert_int_equal(read.report, 9999);
	marker_print(bytes, &(struct marker){ "", CORES_OFF, CORES_OFF, 0, false });
	assert_true(marker_parse(bytes, MARKER_SIZE, &read));
	assert_string_equal(read.phase, "");
}

/* The marker has a remark for a human reader. After a run, the remark must not say that a run is in progress. */
TEST(the_remark_in_a_marker_is_true_during_and_after_a_run)
{
	char bytes[MARKER_SIZE + 1] = "";

	marker_print(bytes, &(struct marker){ "a-phase-of-23-character", CORES_SIPI, CORES_SIPI, 9999, false });
	assert_non_null(strstr(bytes, " # a run is in progress, or the machine was reset or lost power in this phase "));
	marker_print(bytes, &(struct marker){ "", CORES_OFF, CORES_OFF, 9999, false });
	assert_non_null(strstr(bytes, " # no run is in progress; least=mp: a run with sipi did not finish; "
				      "least=off: a run with mp; delete this file to retry "));
	assert_null(strstr(bytes, " a run is going on"));
}

TEST(lines_that_are_no_marker_are_refused)
{
	static const char *const lines[] = {
		"",
		"phase=skew",
		"phase=skew cores=sipi least=sipi report=",
		"phase=skew cores=sipi least=sipi report=1x ",
		"phase=skew cores=sipi least=sipi report=10000 ",
		"phase=skew cores=sopi least=sipi report=1 ",
		"phase=skew cores=sipi least=4 report=1 ",
		"cores=sipi least=sipi report=1 ",
		"# phase=skew cores=sipi least=sipi report=1 ",
		"phase=a-phase-whose-name-has-no-end-at-all cores=sipi least=sipi report=1 ",
	};
	struct marker read;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char bytes[MARKER_SIZE];
		size_t length = strlen(lines[i]);

		memset(bytes, '\0', sizeof(bytes));
		memcpy(bytes, lines[i], length);
		bytes[MARKER_SIZE - 1] = '\n';
		assert_false(marker_parse(bytes, MARKER_SIZE, &read));
		assert_false(marker_parse(bytes, length, &read));
	}
}

TEST(after_a_run_that_starting_cores_ended_the_next_method_is_used)
{
	begin(CORES_SIPI, false);
	assert_int_equal(evaluate_marker("skew", CORES_SIPI, CORES_SIPI, 3), CORES_MP);
	assert_int_equal(report.facts.options.cores.method, CORES_MP);
	assert_int_equal(report.notes.count, 2);
	assert_string_equal(report.notes.sentences[0],
			    "The last run on this machine did not finish: it stopped in its phase skew, with other cores "
			    "started by INIT-SIPI-SIPI (cores=sipi); its report up to there is \\baretick\\0003.");
	assert_string_equal(report.notes.sentences[1],
			    "An earlier run, in which the other cores were started by INIT-SIPI-SIPI (cores=sipi), did "
			    "not finish. In this run they are started by the firmware's MP services (cores=mp). The "
			    "option cores=sipi tries the usual method again.");

	begin(CORES_SIPI, false);
	assert_int_equal(evaluate_marker("start-cores", CORES_MP, CORES_MP, 0), CORES_OFF);
	assert_int_equal(report.facts.options.cores.method, CORES_OFF);
}

TEST(a_checkpoint_that_was_not_renamed_has_its_present_name_in_the_note)
{
	const struct marker found = { "rates", CORES_OFF, CORES_SIPI, .report = 3, .unrenamed = true };

	begin(CORES_SIPI, false);
	marker_make_options_safer(&found, &report);
	assert_string_equal(report.notes.sentences[0],
			    "The last run on this machine did not finish: it stopped in its phase "
					     "rates; its report up to there is \\baretick\\0003.new.");
}

TEST(a_run_that_ended_while_no_other_core_worked_changes_no_option)
{
	begin(CORES_SIPI, false);
	assert_int_equal(evaluate_marker("rates", CORES_OFF, CORES_SIPI, 0), CORES_SIPI);
	assert_int_equal(report.facts.options.cores.method, CORES_SIPI);
	assert_int_equal(report.notes.count, 1);
	assert_string_equal(report.notes.sentences[0],
			    "The last run on this machine did not finish: it stopped in its phase rates.");
}

TEST(after_a_run_that_ended_in_timer_tests_the_next_run_tests_no_interrupts)
{
	begin(CORES_SIPI, false);
	report.facts.options.irq = IRQ_AUTO;
	assert_int_equal(evaluate_marker("timers", CORES_OFF, CORES_SIPI, 2), CORES_SIPI);
	assert_int_equal(report.facts.options.irq, IRQ_OFF);
	assert_string_equal(report.notes.sentences[1],
			    "Therefore this run tests no timer interrupts (irq=off); the next one will.");

	begin(CORES_SIPI, false);
	report.facts.options.irq = IRQ_AUTO;
	evaluate_marker("checks", CORES_OFF, CORES_SIPI, 2);
	evaluate_marker("", CORES_OFF, CORES_SIPI, 0);
	assert_int_equal(report.facts.options.irq, IRQ_AUTO);
}

TEST(a_complete_run_keeps_the_method_that_an_earlier_run_found)
{
	begin(CORES_SIPI, false);
	assert_int_equal(evaluate_marker("", CORES_OFF, CORES_MP, 0), CORES_MP);
	assert_int_equal(report.facts.options.cores.method, CORES_MP);
	assert_int_equal(report.notes.count, 1);

	begin(CORES_SIPI, false);
	assert_int_equal(evaluate_marker("", CORES_OFF, CORES_SIPI, 0), CORES_SIPI);
	assert_int_equal(report.notes.count, 0);
}

TEST(options_of_the_user_replace_the_method_in_the_marker)
{
	begin(CORES_SIPI, true);
	assert_int_equal(evaluate_marker("skew", CORES_SIPI, CORES_SIPI, 3), CORES_MP);
	assert_int_equal(report.facts.options.cores.method, CORES_SIPI);
	assert_int_equal(report.notes.count, 1);

	/* without other cores (CORES_OFF) a run is already safest, so the option must not be changed */
	begin(CORES_OFF, false);
	assert_int_equal(evaluate_marker("skew", CORES_SIPI, CORES_SIPI, 3), CORES_MP);
	assert_int_equal(report.facts.options.cores.method, CORES_OFF);
	assert_int_equal(report.notes.count, 1);
}

TEST(after_a_hang_in_a_sleep_state_only_this_state_is_left_out)
{
	begin(CORES_SIPI, false);
	report.facts.options.cores.sleep = SLEEP_DEEP;
	assert_int_equal(evaluate_marker("sleep=mwait-20h", CORES_SIPI, CORES_SIPI, 0), CORES_SIPI);
	assert_int_equal(report.facts.options.cores.method, CORES_SIPI);
	assert_int_equal(report.facts.options.cores.sleep, SLEEP_DEEP);
	assert_string_equal(report.facts.sleep_left_out, "mwait-20h");
	assert_string_equal(report.notes.sentences[1],
				    "Therefore this run does not test the sleep state mwait-20h; the next one will.");
}

TEST(after_a_hang_in_halt_no_sleep_state_is_tested)
{
	static const char *const phases[] = { "sleep", "sleep=halt" };

	for (size_t i = 0; i < 2; i++) {
		begin(CORES_SIPI, false);
		report.facts.options.cores.sleep = SLEEP_DEEP;
		assert_int_equal(evaluate_marker(phases[i], CORES_SIPI, CORES_SIPI, 0), CORES_SIPI);
		assert_int_equal(report.facts.options.cores.sleep, SLEEP_OFF);
		assert_string_equal(report.facts.sleep_left_out, "");
		assert_string_equal(report.notes.sentences[1],
				    "Therefore this run tests no sleep states (sleep=off); the next one will.");
	}
}
