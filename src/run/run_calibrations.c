/* Runs the calibration loops of operating systems. See run_internal.h. */
#include "run/run_internal.h"

#include "base/text.h"
#include "measure/survey_plan.h"

/* Number of times that each loop is run. The index is a value of enum options_profile. */
static const unsigned runs_of_profile[] = {
	[PROFILE_QUICK] = 3,
	[PROFILE_STANDARD] = 50,
	[PROFILE_SOAK] = CALIBRATION_RUNS_MAX,
};

/* State of one calibration loop, which is run repeatedly. */
struct loop_state {
	struct run *run;
	const struct calibration_loop *loop;
	struct report_calibration *row;
	struct calibrating calibrating;
	uint64_t begin_tsc; /* TSC at the start of the phase */
	uint32_t runs;
	size_t count;       /* number of results that are not yet in the record */
	struct record_calibration sums;
	struct record_calibrated results[SURVEY_CALIBRATION_BATCH];
};

/* Returns the device of DRIVER, or NULL if its main clock is not in the report. */
static struct device *
find_device(struct run *run, const struct driver *driver)
{
	size_t d = driver ? run_find_driver_index(run, driver) : RUN_DRIVERS_MAX;

	return d < RUN_DRIVERS_MAX && report_has_clock(&run->report, driver->rows[0].id) ? &run->devices[d] : NULL;
}

/* Returns true if the report has no main clock of DRIVER because the option clocks= leaves it out. */
static bool
is_driver_left_out(const struct run *run, const struct driver *driver)
{
	return driver && run->report.facts.options.clocks.count && !report_find_clock(&run->report, driver->rows[0].id);
}

static void
record_loop_results(struct loop_state *state)
{
	if (!state->count)
		return;
	text_copy(state->sums.loop, sizeof(state->sums.loop), state->loop->id);
	record_put(&state->run->survey.record, RECORD_CALIBRATION, &state->sums, state->results,
		   state->count);
	state->sums = (struct record_calibration){ .ticks = 0 };
	state->count = 0;
}

/* Adds the readings in RESULT to the record, but only for the first few runs of each loop. */
static void
record_readings_of_loop_run(struct loop_state *state, const struct calibration_result *result)
{
	struct record_loop loop = { .run = state->runs };
	struct record_taken taken[CALIBRATION_READINGS];

	if (state->runs++ >= SURVEY_CALIBRATION_READ)
		return;
	text_copy(loop.loop, sizeof(loop.loop), state->loop->id);
	for (size_t i = 0; i < result->reading_count; i++)
		taken[i].value = result->readings[i];
	record_put(&state->run->survey.record, RECORD_LOOP, &loop, taken, result->reading_count);
}

static void
run_loop_once(struct loop_state *state)
{
	struct calibration_result result = { .hz = 0 };

	state->loop->run(&state->calibrating, &result);
	record_readings_of_loop_run(state, &result);
	state->results[state->count++] = (struct record_calibrated){ result.hz, result.refusal };
	state->sums.ticks += result.ticks;
	state->sums.slack_ticks += result.slack_ticks;
	state->sums.tsc_ticks += result.tsc_ticks;
	if (state->count == SURVEY_CALIBRATION_BATCH)
		record_loop_results(state);
}

/* Returns true if the longest run of the loop would end before the deadline, and within the time for all loops. */
static bool
has_time_for_loop_run(const struct loop_state *state)
{
	const struct survey *survey = &state->run->survey;
	const struct calibration_loop *loop = state->loop;
	bool is_longer = loop->without_first_ns && !state->calibrating.devices[0];
	uint64_t longest_ns = is_longer ? loop->without_first_ns : loop->longest_ns;
	uint64_t now = survey->hooks.tsc_ordered();

	return scale_ns(&survey->scale, now - state->begin_tsc) + longest_ns <=
		       survey_planned_calibrations_ns(survey->report) &&
	       survey->hooks.ticks_left(survey->hooks.context) > scale_ns_to_ticks(&survey->scale, longest_ns);
}

/* Adds a row for the loop to the report. Returns false if the loop cannot be run. */
static bool
prepare_calibration_loop(struct loop_state *state, struct run *run, const struct calibration_loop *loop,
			 uint64_t begin_tsc)
{
	struct report_calibration *row = &run->report.facts.calibrations[run->report.facts.calibration_count++];
	const char *missing;

	*row = (struct report_calibration){ .loop = loop };
	*state = (struct loop_state){
		.run = run, .loop = loop, .row = row, .begin_tsc = begin_tsc,
		.calibrating = { .platform = run->machine->platform, .scale = &run->survey.scale },
	};
	for (size_t d = 0; d < CALIBRATION_DEVICES; d++) {
		state->calibrating.devices[d] = find_device(run, loop->uses[d]);
		state->calibrating.left_out[d] = is_driver_left_out(run, loop->uses[d]);
	}
	missing = loop->missing(&state->calibrating);
	text_copy(row->reason, sizeof(row->reason), missing ? missing : "There was no time for this loop.");
	return !missing;
}

static void
report_progress(const struct survey *survey, uint64_t begin_tsc)
{
	survey_show_progress(survey, "calibrations", scale_ns(&survey->scale, survey->hooks.tsc_ordered() - begin_tsc));
}

static void
run_each_calibration_loop_once(struct loop_state *loops, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!has_time_for_loop_run(&loops[i]) || survey_end_run_if_due(&loops[i].run->survey))
			continue;
		loops[i].row->reason[0] = '\0';
		run_loop_once(&loops[i]);
	}
}

void
run_calibration_loops(struct run *run)
{
	struct survey *survey = &run->survey;
	uint64_t begin_tsc = survey->hooks.tsc_ordered();
	struct loop_state loops[CALIBRATION_LOOPS];
	size_t count = 0;

	run->report.facts.calibration_count = 0;
	for (size_t i = 0; i < CALIBRATION_LOOPS && run->machine->calibrations && run->machine->calibrations[i]; i++)
		count += prepare_calibration_loop(&loops[count], run, run->machine->calibrations[i], begin_tsc);
	for (unsigned round = 0; count && round < runs_of_profile[survey_current_profile(&run->report)]; round++) {
		report_progress(survey, begin_tsc);
		run_each_calibration_loop_once(loops, count);
	}
	for (size_t i = 0; i < count; i++)
		record_loop_results(&loops[i]);
}
