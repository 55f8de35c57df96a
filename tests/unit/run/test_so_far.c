/*
 * Tests of checkpoints, which are reports of an unfinished run. A checkpoint must be valid and marked as incomplete.
 * It must not change the final report.
 */
#include <stdio.h>

#include "test.h"
#include "bench.h"
#include "render/json/json.h"
#include "report/report_sizes.h"
#include "sim.h"

#define CORES 4

static struct {
	unsigned phases;
	struct text json; /* JSON of the latest checkpoint */
} looked;

/*
 * Reads the TSC once, as making a checkpoint does, but makes none. Therefore a run with this callback is as long as a
 * run with checkpoints.
 */
static void
look_away(void *context, const struct run *run, const struct run_phase *phase)
{
	run->machine->hooks.tsc_ordered();
}

static struct text
text_of_size(size_t size)
{
	struct text text;

	text_init(&text, test_malloc(size), size);
	return text;
}

static void
look_at(void *context, const struct run *run, const struct run_phase *phase)
{
	struct report *report = test_malloc(sizeof(*report));
	char note[REPORT_SENTENCE];

	run_make_report_so_far(run, phase, report);
	assert_true(report->facts.run.incomplete);
	assert_int_equal(report->outcomes.verdict, VERDICT_INCOMPLETE);
	assert_int_equal(report->outcomes.finding_count, 0);
	snprintf(note, sizeof(note), "Saved in the phase %s, before the end of the run.", phase->id);
	assert_string_equal(report->notes.sentences[report->notes.count - 1], note);
	text_init(&looked.json, looked.json.bytes, looked.json.size);
	json_render(&looked.json, report);
	assert_false(looked.json.truncated);
	looked.phases++;
	test_free(report);
}

/* Returns the JSON report of a run on a healthy machine. The run calls BEGINS at the start of each phase. */
static struct text
json_of_run(void (*begins)(void *context, const struct run *run, const struct run_phase *phase))
{
	struct text text = text_of_size(report_size_json(CORES));
	struct bench *bench;

	sim_reset();
	sim_slow_tsc_reads(8);
	bench = bench_new();
	bench_open(bench, CORES);
	bench_use_threads(bench);
	bench->machine.phase_starts = begins;
	(void)bench_run(bench);
	assert_false(bench->run.report.facts.run.incomplete);
	json_render(&text, &bench->run.report);
	bench_free(bench);
	return text;
}

TEST(checkpoints_at_each_phase_do_not_change_the_final_report)
{
	struct text seen, unseen;
	unsigned phases = 0;

	looked.json = text_of_size(report_size_json(CORES));
	seen = json_of_run(look_at);
	unseen = json_of_run(look_away);
	for (const struct run_phase *phase = run_phases; phase->id; phase++)
		phases += !phase->with_firmware;
	assert_int_equal(looked.phases, phases);
	assert_string_equal(seen.bytes, unseen.bytes);
	assert_non_null(strstr(looked.json.bytes, "\"verdict\": \"incomplete\""));
	test_free(seen.bytes);
	test_free(unseen.bytes);
	test_free(looked.json.bytes);
}
