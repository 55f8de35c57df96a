/*
 * Functions that all measurements use: batches of samples, faults, the end of the run, and failed clocks. See survey.h
 * and survey_internal.h.
 */
#include "measure/survey_internal.h"

#include "base/text.h"

#define WRAP_TICKS_MAX     UINT64_C(0xffffffff) /* largest range of a counter that may wrap during a measurement */
/*
 * Two readings are comparable if the counter counts at most 1/4 (1 / TRUST_FRACTION) of its range between them. A
 * difference of more than half the range can then only be a step back.
 */
#define TRUST_FRACTION     4
/*
 * A pass over all cores gets 1/3 (1 / PASS_SHARE) of the time that remains before the last 10 s (PASS_REST_NS) of the
 * run. The rest is for later phases.
 */
#define PASS_SHARE         3
#define PASS_REST_NS       (10 * SURVEY_NS_PER_S)
/* maximum wait for a job on all cores at once; it is long because virtual cores may share a processor */
#define TOGETHER_BOUND_NS  (20 * SURVEY_NS_PER_S)
#define SMP_BOUND_NS       (2 * SURVEY_NS_PER_S) /* additional time limit for waking cores, and for ending their jobs */
/* Number of equal readings that show that the TSC has stopped. They take at least 0.5 ms. */
#define STOPPED_READS      65536u
#define TIMER_READS        16u /* number of readings of a timer's counter */

void
survey_begin_record(struct survey *survey)
{
	struct record_run run = { .start_tsc = survey->hooks.tsc_ordered() };

	survey->report->facts.run.start_tsc = run.start_tsc;
	text_copy(run.version, sizeof(run.version), survey->report->facts.run.version);
	text_copy(run.commit, sizeof(run.commit), survey->report->facts.run.commit);
	record_begin(&survey->record, survey->memory.record, survey->memory.record_size);
	survey->record.reserved = survey->memory.facts_size;
	record_put(&survey->record, RECORD_RUN, &run, NULL, 0);
}

void
survey_set_scale(struct survey *survey, struct scale scale, bool is_doubtful)
{
	const struct rate_interval *tsc = &survey->report->figures.tsc_within;
	bool is_sure = tsc->known && !is_doubtful;
	const struct record_scale entry = { scale.hz.num, scale.hz.den, is_sure ? tsc->low : 0, is_sure ? tsc->high : 0,
					    survey->tsc.resolution_ticks };

	survey->scale = scale;
	record_put(&survey->record, RECORD_SCALE, &entry, NULL, 0);
}

void
survey_sample_batch(struct survey *survey, const struct clock *clock, size_t count)
{
	uint64_t saved = survey->hooks.interrupts_mask();

	survey->reading = clock;
	clock->sample(clock->device, survey->buffer.samples, count);
	survey->reading = NULL;
	survey->hooks.interrupts_restore(saved);
}

struct sample
survey_read_ticks_left(const struct survey *survey, const struct timer *timer)
{
	struct sample samples[TIMER_READS];

	for (size_t i = 0; i < TIMER_READS; i++) {
		samples[i].begin = survey->hooks.tsc_ordered();
		samples[i].ticks = timer->driver->get_ticks_left(timer);
		samples[i].end = survey->hooks.tsc_ordered();
	}
	return rate_shortest_sample(samples, TIMER_READS);
}

static void
run_side_of_pingpong(void *argument, size_t core)
{
	const struct survey *survey = argument;
	const struct survey_memory *memory = &survey->memory;
	size_t i = 0;

	while (memory->batch_cores[i] != core) /* the job runs only on these cores */
		i++;
	pingpong_run_side(&memory->pingpongs[i / 2], i % 2 ? PINGPONG_SECOND : PINGPONG_FIRST, survey->hooks.tsc_ordered,
			  survey->hooks.pause);
}

void
survey_run_pingpongs(struct survey *survey, size_t count, uint64_t trips, uint64_t bound_ns,
		     struct record_exchange *exchange)
{
	struct pingpong *pingpongs = survey->memory.pingpongs;

	for (size_t i = 0; i < count; i++)
		pingpong_begin(&pingpongs[i], trips, scale_ns_to_ticks(&survey->scale, bound_ns));
	exchange->begin_tsc = survey->hooks.tsc_ordered();
	survey->smp->run_some(survey->smp->context, survey->memory.batch_cores, 2 * count, run_side_of_pingpong, survey,
			      2 * bound_ns + SMP_BOUND_NS);
	exchange->end_tsc = survey->hooks.tsc_ordered();
	for (size_t i = 0; i < count; i++)
		pingpong_stop(&pingpongs[i]);
}

void
survey_add_tsc_steps(struct survey *survey, size_t core, const struct tsc_steps *steps)
{
	if (core >= survey->memory.cores)
		return; /* without memory for the rows of cores, cores are not compared */
	struct tsc_steps *total = &survey->report->facts.cores[core].tsc;
	total->reads += steps->reads;
	total->backward += steps->backward;
	if (steps->worst_ticks > total->worst_ticks)
		total->worst_ticks = steps->worst_ticks;
}

bool
survey_run_guarded(struct survey *survey, void (*work)(void *argument), void *argument, struct fault *fault)
{
	if (survey->hooks.guarded)
		return survey->hooks.guarded(work, argument, fault);
	work(argument);
	return true;
}

enum survey_end
survey_run_catching_exceptions(struct survey *survey, const char *what, const struct clock *clock,
			       void (*work)(void *argument), void *argument)
{
	char bytes[REPORT_SENTENCE];
	const struct report_clock *found;
	struct report_clock *read;
	struct fault fault;

	survey->reading = clock;
	if (survey_run_guarded(survey, work, argument, &fault))
		return SURVEY_WHOLE;
	struct text text = text_start(bytes, sizeof(bytes));
	fault_print(&text, &fault);
	found = survey->reading ? report_find_clock(survey->report, survey->reading->id) : NULL;
	if (found) {
		read = &survey->report->facts.clocks[found - survey->report->facts.clocks];
		survey_record_clock_failure(read, survey->hooks.tsc_ordered());
		read->clock.state = CLOCK_BROKEN;
		text_format(read->clock.reason, CLOCK_REASON_SIZE, "Access to it faulted: %s.", bytes);
		return SURVEY_BROKE;
	}
	notes_add(&survey->report->notes,
		  "The boot core took an exception in the phase %s, which ended there: %s. The results "
		  "until then are reported.", what, bytes);
	survey->report->facts.run.incomplete = true;
	return SURVEY_FELL;
}

size_t
survey_count_living_cores(const struct survey *survey)
{
	const struct smp *smp = survey->smp;
	size_t living = 0;

	for (size_t core = 0; core < smp->count; core++)
		living += smp->alive(smp->context, core);
	return living;
}

bool
survey_can_clock_measure_tsc(const struct survey *survey, const struct report_clock *entry)
{
	return survey_usable(entry) && report_clock_is_main_of_device(entry) && entry->clock.claimed.den &&
	       !text_equal(entry->clock.id, "tsc") && !(survey->ticking && entry->clock.firmware_ticks);
}

static bool
is_tsc_counting(const struct survey *survey)
{
	uint64_t first = survey->hooks.tsc_ordered();

	for (unsigned i = 0; i < STOPPED_READS; i++)
		if (survey->hooks.tsc_ordered() != first)
			return true;
	return false;
}

static void
add_reason_for_untimed_reads(struct report_clock *entry)
{
	struct text reason = text_continue(entry->clock.reason, CLOCK_REASON_SIZE);

	text_printf(&reason, "%sNo read could be timed: the TSC stopped.", reason.length ? " " : "");
}

/* Ends the run, because the TSC stopped. Clocks without a timed reading stay unknown. Only the TSC counts as failed. */
static void
end_run_because_tsc_stopped(struct survey *survey)
{
	struct report *report = survey->report;

	survey->tsc.is_stopped = report->facts.run.incomplete = true;
	notes_add(&report->notes, "The TSC stopped. It times all measurements, so nothing was measured after that.");
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		struct report_clock *entry = &report->facts.clocks[i];

		if (!survey_usable(entry))
			continue;
		if (text_equal(entry->clock.main, "tsc")) {
			survey_record_clock_failure(entry, survey->hooks.tsc_ordered());
			entry->clock.state = CLOCK_STUCK;
			text_format(entry->clock.reason, CLOCK_REASON_SIZE, "Reads of this clock gave the same value %u times.",
				    STOPPED_READS);
		} else if (!entry->latency->count) {
			add_reason_for_untimed_reads(entry);
		}
	}
}

/* Makes the rest of the run a quick run. */
static void
end_run_early(const struct survey *survey)
{
	struct report *report = survey->report;

	report->facts.run.ended_early = true;
	report->facts.run.ended_early_ms = scale_ns(&survey->scale, survey->hooks.tsc_ordered() -
						    report->facts.run.start_tsc) / SURVEY_NS_PER_MS;
	notes_add(&report->notes, "The user ended the run early at %lu.%lu s (a key, or Ctrl-C of qemu/run): the rest was "
		  "measured as with profile=quick.", report->facts.run.ended_early_ms / 1000,
		  report->facts.run.ended_early_ms % 1000 / 100);
}

bool
survey_end_run_if_due(struct survey *survey)
{
	struct report *report = survey->report;

	if (report->facts.run.incomplete)
		return true;
	if (!is_tsc_counting(survey)) {
		end_run_because_tsc_stopped(survey);
	} else if (!survey->hooks.ticks_left(survey->hooks.context)) {
		report->facts.run.incomplete = true;
		notes_add(&report->notes, "The deadline of the run passed. The results until then are reported.");
	}
	if (!report->facts.run.incomplete && !report->facts.run.ended_early && survey->hooks.asked &&
	    survey->hooks.asked(survey->hooks.context))
		end_run_early(survey);
	return report->facts.run.incomplete;
}

uint64_t
survey_core_pass_end_tsc(const struct survey *survey)
{
	uint64_t left = survey->hooks.ticks_left(survey->hooks.context);
	uint64_t rest = scale_ns_to_ticks(&survey->scale, PASS_REST_NS);

	return survey->hooks.tsc_ordered() + (left - survey_smaller(rest, left / 2)) / PASS_SHARE;
}

bool
survey_is_core_pass_over(const struct survey *survey, uint64_t end_tsc)
{
	return survey->hooks.tsc_ordered() > end_tsc;
}

void
survey_run_on_all_cores(struct survey *survey, smp_job *job, void *argument, uint64_t work_ticks)
{
	uint64_t begin_tsc = survey->hooks.tsc_ordered(), end_tsc;

	survey->smp->run_all(survey->smp->context, job, argument, TOGETHER_BOUND_NS);
	end_tsc = survey->hooks.tsc_ordered();
	if (end_tsc > begin_tsc && end_tsc - begin_tsc > work_ticks) /* the condition is false if the TSC stepped back */
		survey->joint_job_ticks = end_tsc - begin_tsc - work_ticks;
}

bool
survey_is_time_for_joint_job(const struct survey *survey, uint64_t end_tsc, uint64_t extra_ticks)
{
	uint64_t now = survey->hooks.tsc_ordered();

	return now <= end_tsc && survey->joint_job_ticks + extra_ticks <= end_tsc - now;
}

void
survey_record_clock_failure(struct report_clock *entry, uint64_t now_tsc)
{
	if (!entry->failed_tsc)
		entry->failed_tsc = now_tsc;
}

void
survey_mark_clock_stuck(struct report_clock *entry, uint64_t stopped_ns, uint64_t now_tsc)
{
	/*
	 * A driver only opens a counter that has moved, so a counter that stands still has failed after it was opened.
	 * An edge clock (an RTC) has failed only if it ticked earlier in this run.
	 */
	if (!entry->clock.edges_only || entry->resolution.steps)
		survey_record_clock_failure(entry, now_tsc);
	entry->clock.state = CLOCK_STUCK;
	text_format(entry->clock.reason, CLOCK_REASON_SIZE,
		    "The clock's reading did not change in %lu us, as timed by the TSC.", stopped_ns / 1000);
}

uint64_t
survey_tsc_ticks_in_clock_periods(const struct survey *survey, const struct clock *clock, uint64_t count)
{
	if (!clock->claimed.den || !clock->claimed.num)
		return 0;
	return scale_ns_to_ticks(&survey->scale, scale_mul_div_up(count * SURVEY_NS_PER_S, clock->claimed.den,
								  clock->claimed.num));
}

uint64_t
survey_get_pace(const struct survey *survey, const char *id)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++)
		if (text_equal(survey->report->facts.clocks[i].clock.id, id) && survey->tracks[i].count.pace)
			return survey->tracks[i].count.pace;
	return 1;
}

uint64_t
survey_max_ticks_between_compared_reads(const struct survey *survey, const struct clock *clock)
{
	uint64_t ticks = survey_tsc_ticks_in_clock_periods(survey, clock, clock->wrap_ticks / TRUST_FRACTION + 1) /
			 survey_get_pace(survey, clock->main);

	if (clock->wrap_ticks > WRAP_TICKS_MAX)
		return 0;
	return ticks ? ticks : 1;
}
