/* Runs the calibration loops. See run_internal.h. */
#include "run/run_internal.h"

#include "base/text.h"
#include "measure/survey_plan.h"

/* Number of runs of each loop. The index is a value of enum options_profile. */
static const unsigned runs_of_profile[] = {
	[PROFILE_QUICK] = 3,
	[PROFILE_STANDARD] = 50,
	[PROFILE_SOAK] = CALIBRATION_RUNS_MAX,
};

/* State of one loop while it is run repeatedly. */
struct rehearsal {
	struct run *run;
	const struct calibration_loop *loop;
	struct report_calibration *row;
	struct calibrating calibrating;
	uint64_t begin_tsc; /* TSC at the start of the phase */
	uint32_t plays;
	size_t count;       /* results that are not in the record yet */
	struct record_calibration sums;
	struct record_calibrated results[SURVEY_CALIBRATION_BATCH];
};

/* Returns the driver's device, or NULL if its main clock is not in the report. */
static struct device *
find_device(struct run *run, const struct driver *driver)
{
	size_t d = driver ? run_find_driver(run, driver) : RUN_DRIVERS_MAX;

	return d < RUN_DRIVERS_MAX && report_has_clock(&run->report, driver->rows[0].id) ? &run->devices[d] : NULL;
}

static void
put_results(struct rehearsal *rehearsal)
{
	struct text id;

	if (!rehearsal->count)
		return;
	text_init(&id, rehearsal->sums.loop, sizeof(rehearsal->sums.loop));
	text_put(&id, rehearsal->loop->id);
	record_put(&rehearsal->run->survey.record, RECORD_CALIBRATION, &rehearsal->sums, rehearsal->results,
		   rehearsal->count);
	rehearsal->sums = (struct record_calibration){ .ticks = 0 };
	rehearsal->count = 0;
}

/* Records the readings of a loop's first runs. */
static void
put_readings(struct rehearsal *rehearsal, const struct calibration_result *result)
{
	struct record_loop loop = { .run = rehearsal->plays };
	struct record_taken taken[CALIBRATION_READINGS];
	struct text id;

	if (rehearsal->plays++ >= SURVEY_CALIBRATION_READ)
		return;
	text_init(&id, loop.loop, sizeof(loop.loop));
	text_put(&id, rehearsal->loop->id);
	for (size_t i = 0; i < result->reading_count; i++)
		taken[i].value = result->readings[i];
	record_put(&rehearsal->run->survey.record, RECORD_LOOP, &loop, taken, result->reading_count);
}

static void
play_once(struct rehearsal *rehearsal)
{
	struct calibration_result result = { .hz = 0 };

	rehearsal->loop->run(&rehearsal->calibrating, &result);
	put_readings(rehearsal, &result);
	rehearsal->results[rehearsal->count++] = (struct record_calibrated){ result.hz, result.refusal };
	rehearsal->sums.ticks += result.ticks;
	rehearsal->sums.slack_ticks += result.slack_ticks;
	rehearsal->sums.tsc_ticks += result.tsc_ticks;
	if (rehearsal->count == SURVEY_CALIBRATION_BATCH)
		put_results(rehearsal);
}

/* Returns true if one more run of the loop ends before the deadline and within the time for all loops. */
static bool
fits(const struct rehearsal *rehearsal)
{
	const struct survey *survey = &rehearsal->run->survey;
	const struct calibration_loop *loop = rehearsal->loop;
	bool is_longer = loop->without_first_ns && !rehearsal->calibrating.devices[0];
	uint64_t longest_ns = is_longer ? loop->without_first_ns : loop->longest_ns;
	uint64_t now = survey->hooks.tsc_ordered(), longest = scale_ticks(&survey->scale, longest_ns);

	return scale_ns(&survey->scale, now - rehearsal->begin_tsc) + longest_ns <= survey_calibrations_ns(survey->report) &&
	       (!survey->deadline_tsc || (int64_t)(survey->deadline_tsc - now - longest) > 0);
}

/* Adds a row for a loop. Returns false if it cannot be run. */
static bool
begin_loop(struct rehearsal *rehearsal, struct run *run, const struct calibration_loop *loop, uint64_t begin_tsc)
{
	struct report_calibration *row = &run->report.calibrations[run->report.calibration_count++];
	const char *missing;
	struct text reason;

	*row = (struct report_calibration){ .loop = loop };
	*rehearsal = (struct rehearsal){
		.run = run, .loop = loop, .row = row, .begin_tsc = begin_tsc,
		.calibrating = { .platform = run->machine->platform, .scale = &run->survey.scale },
	};
	for (size_t d = 0; d < CALIBRATION_DEVICES; d++)
		rehearsal->calibrating.devices[d] = find_device(run, loop->uses[d]);
	missing = loop->missing(&rehearsal->calibrating);
	text_init(&reason, row->reason, sizeof(row->reason));
	text_put(&reason, missing ? missing : "There was no time for it.");
	return !missing;
}

static void
report_progress(const struct survey *survey, uint64_t begin_tsc)
{
	uint64_t spent = scale_ns(&survey->scale, survey->hooks.tsc_ordered() - begin_tsc);

	survey->hooks.progress(survey->hooks.context, "calibrations", survey->plan.done_ns +
			       (spent < survey->plan.calibrations_ns ? spent : survey->plan.calibrations_ns), survey->plan.total_ns);
}

static void
play_round(struct rehearsal *rehearsals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!fits(&rehearsals[i]) || survey_end_if_due(&rehearsals[i].run->survey))
			continue;
		rehearsals[i].row->reason[0] = '\0';
		play_once(&rehearsals[i]);
	}
}

void
run_calibrations(struct run *run)
{
	struct survey *survey = &run->survey;
	uint64_t begin_tsc = survey->hooks.tsc_ordered();
	struct rehearsal rehearsals[CALIBRATION_LOOPS];
	size_t count = 0;

	run->report.calibration_count = 0;
	for (size_t i = 0; i < CALIBRATION_LOOPS && run->machine->calibrations && run->machine->calibrations[i]; i++)
		count += begin_loop(&rehearsals[count], run, run->machine->calibrations[i], begin_tsc);
	survey_set_stage(survey, SURVEY_AT_CALIBRATIONS);
	for (unsigned round = 0; count && round < runs_of_profile[survey_current_profile(&run->report)]; round++) {
		report_progress(survey, begin_tsc);
		play_round(rehearsals, count);
	}
	for (size_t i = 0; i < count; i++)
		put_results(&rehearsals[i]);
	survey->plan.done_ns += survey->plan.calibrations_ns;
}
