/*
 * Checks in each step if the clocks agree with each other: see discontinuity.h. A step is the interval between two
 * readings of all devices' main clocks. The TSC times all readings, so each clock's two readings show how much it
 * gained on the TSC in the step. If these gains differ, the clocks disagree.
 */
#include "measure/survey_internal.h"

#include "analysis/analysis_steps.h"
#include "analysis/rate_readings.h"
#include "base/set.h"

/*
 * Two clocks disagree in a step if their elapsed times differ by at least this much. A smaller difference may be a
 * change of rate. Only survey_check_jump_of_clock() accepts smaller differences, because a clock has just jumped.
 */
#define FLOOR_NS      SURVEY_NS_PER_MS
/* number of jumps in a run that are checked by reading all clocks; later jumps are not checked */
#define JUMPS_CHECKED 8
/* maximum number of sweeps (readings of all clocks) in SETTLE_NS; a sweep takes at least 1 us */
#define SETTLE_SWEEPS 10000
/* duration of the observation of all clocks after they disagreed, to find changed rates */
#define SETTLE_NS     (10 * SURVEY_NS_PER_MS)
#define TIGHT_NS     (SETTLE_NS / 64)
/* maximum number of sweeps (readings of all clocks) until no reading took longer than TIGHT_NS */
#define TIGHT_SWEEPS 16
/* longest duration of an undisturbed sweep; slow reads of the RTC take 10 ms */
#define APART_NS     (50 * SURVEY_NS_PER_MS)
#define APART_SWEEPS 4          /* maximum number of sweeps until one is not longer than APART_NS */
/* number of readings of each clock; the last one is used, because the first ones are slow */
#define READS        4
#define LONG_NS      SURVEY_NS_PER_MS
#define EDGE_READS   64
/* maximum number of batches of EDGE_READS reads in the wait for an edge; a batch takes at least a microsecond */
#define EDGE_TURNS   2400000
#define EDGE_NS      (2400 * SURVEY_NS_PER_MS)

/* Returns true if clock I, an index into the report, is compared. */
static bool
is_clock_compared(const struct survey *survey, size_t i)
{
	return survey_can_clock_measure_tsc(survey, &survey->report->facts.clocks[i]) &&
	       survey->steps.clocks[i].implied.value;
}

static bool
is_edge_clock(const struct survey *survey, size_t i)
{
	return survey->report->facts.clocks[i].clock.edges_only;
}

void
survey_store_reading(struct survey *survey, size_t i, const struct sample *now, bool at_edge)
{
	struct record_compared *clock = &survey->steps.clocks[i];

	clock->now = *now;
	clock->now_at_edge = at_edge;
	if (!clock->then.end) {
		clock->then = *now;
		clock->then_at_edge = at_edge;
	}
}

bool
survey_is_edge(const struct survey *survey, const struct clock *clock, uint64_t before, uint64_t now)
{
	return now != before && (!report_is_guest(survey->report) || clock_elapsed_ticks(clock, before, now) == 1);
}

bool
survey_store_newer_edge(struct survey *survey, size_t i)
{
	const struct survey_track *track = &survey->tracks[i];
	struct sample edge = track->edge;

	if (!survey->steps.clocks[i].then.end || edge.end <= survey->steps.clocks[i].then.end)
		return false;
	edge.ticks = wraps_reading(&track->entry->clock, track->count.latest.ticks);
	survey_store_reading(survey, i, &edge, true);
	return true;
}

/* Waits for the next edge of clock I. The clock must be an edge clock (an RTC, see clock.h). */
static void
wait_for_edge_of_clock(struct survey *survey, size_t i)
{
	const struct clock *clock = &survey->report->facts.clocks[i].clock;
	uint64_t bound = scale_ns_to_ticks(&survey->scale, EDGE_NS), start;

	survey_sample_batch(survey, clock, 1);
	struct sample before = survey->buffer.samples[0];
	start = before.begin;
	for (unsigned turn = 0; turn < EDGE_TURNS && before.begin - start < bound && !survey_end_run_if_due(survey); turn++) {
		survey_sample_batch(survey, clock, EDGE_READS);
		for (size_t k = 0; k < EDGE_READS; k++) {
			struct sample now = survey->buffer.samples[k];

			if (survey_is_edge(survey, clock, before.ticks, now.ticks)) {
				now.begin = before.begin;
				survey_store_reading(survey, i, &now, true);
				return;
			}
			before = now;
		}
	}
}

/*
 * Waits for the next edge of each edge clock in CLOCKS. The wait ends after 2.4 s for each clock, and when the run
 * ends.
 */
static void
wait_for_edges(struct survey *survey, uint32_t clocks)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++)
		if (is_clock_compared(survey, i) && is_edge_clock(survey, i) && set_has(clocks, i))
			wait_for_edge_of_clock(survey, i);
}

static bool
is_reading_longer_than(const struct survey *survey, struct sample sample, uint64_t ns)
{
	return sample.end - sample.begin > scale_ns_to_ticks(&survey->scale, ns);
}

/*
 * Reads the clocks once. An edge clock with a newer edge is not read, because the edge is more exact.
 *
 * In a long reading the core was preempted, or the TSC jumped. A long reading agrees with the readings before and after
 * it, so it would hide a jump of the TSC. Therefore the shortest reading of a clock is used if its last reading took
 * long.
 */
static void
read_all_clocks_once(struct survey *survey, bool with_edge_clocks, uint64_t *begin, uint64_t *end)
{
	*begin = *end = 0;
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		if (!is_clock_compared(survey, i) || (is_edge_clock(survey, i) && !with_edge_clocks) ||
		    survey_store_newer_edge(survey, i))
			continue;
		survey_sample_batch(survey, &survey->report->facts.clocks[i].clock, READS);
		struct sample reading = survey->buffer.samples[READS - 1];
		*begin = *end ? *begin : survey->buffer.samples[0].begin;
		*end = reading.end;
		if (is_reading_longer_than(survey, reading, LONG_NS))
			reading = rate_shortest_sample(survey->buffer.samples, READS);
		survey_store_reading(survey, i, &reading, false);
	}
}

/*
 * Reads each compared clock a few times, and keeps its last reading. Edge clocks are left out unless WITH_EDGE_CLOCKS
 * is true.
 *
 * If the machine is restored from a snapshot during a sweep, only clocks that are read after the restore show the
 * change of time. In the next sweep, the clocks that were read before the restore would seem to jump alone. Therefore a
 * long sweep is repeated, and no step begins with it. A sweep in which the TSC stepped back is not repeated.
 */
static void
read_all_clocks(struct survey *survey, bool with_edge_clocks)
{
	int64_t apart = (int64_t)scale_ns_to_ticks(&survey->scale, APART_NS);
	uint64_t begin, end;

	for (unsigned sweeps = 0; sweeps < APART_SWEEPS; sweeps++) {
		read_all_clocks_once(survey, with_edge_clocks, &begin, &end);
		if ((int64_t)(end - begin) <= apart)
			return;
		for (size_t i = 0; i < survey->report->facts.clock_count && sweeps < APART_SWEEPS - 1; i++)
			if (survey->steps.clocks[i].then.begin >= begin)
				survey->steps.clocks[i].then.end = 0;
	}
}

static bool
are_all_readings_tight(const struct survey *survey)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++)
		if (is_clock_compared(survey, i) && !is_edge_clock(survey, i) &&
		    is_reading_longer_than(survey, survey->steps.clocks[i].now, TIGHT_NS))
			return false;
	return true;
}

/*
 * Repeats reading all clocks except edge clocks, until the core was not preempted during any reading. Rates are
 * calculated from these readings, so a preemption would make the rates inexact.
 */
static void
read_all_clocks_without_preemption(struct survey *survey)
{
	unsigned sweeps = 0;

	do
		read_all_clocks(survey, false);
	while (++sweeps < TIGHT_SWEEPS && !are_all_readings_tight(survey));
}

/* Returns the current step with the clocks that can be compared in it. */
static struct analysis_step
get_current_step(const struct survey *survey)
{
	struct analysis_step step = { .report = survey->report, .scale = survey->scale, .is = survey->steps.now };

	step.is.cores = survey->report->facts.machine.cores_started;
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		const struct resolution *resolution = &survey->report->facts.clocks[i].resolution;
		struct record_compared *clock = &step.clocks[step.count];

		if (!is_clock_compared(survey, i) || !survey->steps.clocks[i].then.end)
			continue;
		*clock = survey->steps.clocks[i];
		clock->resolution_ticks = resolution->steps ? resolution->smallest_ticks : 1;
		step.count++;
	}
	return step;
}

static struct discontinuity
find_groups_of_agreeing_clocks(const struct survey *survey, int64_t edge_late_ns, uint64_t floor_ns)
{
	struct analysis_step step = get_current_step(survey);

	return analysis_group_clocks_by_gain(&step, edge_late_ns, floor_ns);
}

/*
 * Records the current step, in which the clocks disagreed. If the report has no row for it, the step is only counted.
 */
static void
record_clock_disagreement(struct survey *survey, uint64_t floor_ns, uint64_t seen_tsc)
{
	struct analysis_step step = get_current_step(survey);
	struct record *record = &survey->record;

	step.is.floor_ns = floor_ns;
	step.is.seen_tsc = seen_tsc;
	if (record->entries_of[RECORD_STEP] < REPORT_DISCONTINUITIES_MAX) {
		record_put(record, RECORD_STEP, &step.is, step.clocks, step.count);
		return;
	}
	step.is.more = ++survey->steps.now.more;
	record_put_or_replace(record, &survey->steps.more_at, RECORD_STEP, &step.is, NULL, 0);
}

static void
drop_earlier_readings_of_clock(struct survey *survey, size_t i)
{
	survey->steps.clocks[i].then.end = survey->steps.before[i].end = 0;
}

static void
begin_next_step(struct survey *survey)
{
	struct analysis_step step = get_current_step(survey);

	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		struct record_compared *clock = &survey->steps.clocks[i];

		if (!is_clock_compared(survey, i)) {
			drop_earlier_readings_of_clock(survey, i);
		} else if (!is_edge_clock(survey, i) || clock->now_at_edge) {
			/*
			 * The first edge of an edge clock (an RTC) has no earlier edge to be compared with, so it is
			 * compared with itself. Whether it came late is unknown.
			 */
			if (!clock->then_at_edge)
				clock->then = clock->now;
			clock->then_at_edge = clock->now_at_edge;
			clock->confirmed |= clock->then.end != clock->now.end;
			clock->hidden_ns = analysis_max_unreported_gain_ns(&step, clock);
			clock->then = clock->now;
			clock->now_at_edge = false;
		}
	}
	survey->steps.now.begin_tsc = survey->hooks.tsc_ordered();
}

static uint64_t
expected_ticks(const struct survey *survey, size_t i, uint64_t tsc_ticks)
{
	const struct rate *claimed = &survey->report->facts.clocks[i].clock.claimed;

	return scale_mul_div_wide((unsigned __int128)tsc_ticks * claimed->num, SURVEY_MICROHZ_PER_HZ,
				  (unsigned __int128)survey->steps.clocks[i].implied.value * claimed->den, SCALE_DOWN);
}

/*
 * Widens the interval of each clock's rate, so that it also contains the clock's latest rate: from the readings in
 * BEFORE until now. WAITED is the set of edge clocks (RTCs) for whose edges the caller waited.
 */
static void
widen_rate_intervals_to_latest_rates(struct survey *survey, const struct record_compared *before, uint32_t waited)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		const struct report_clock *entry = &survey->report->facts.clocks[i];
		struct record_compared *step = &survey->steps.clocks[i];
		struct rate_window window = { before[i].now, step->now, 0, survey->tsc.resolution_ticks };
		uint64_t late = scale_ns_to_ticks(&survey->scale, ANALYSIS_EDGE_LATE_NS);

		if (is_edge_clock(survey, i) && set_has(waited, i) && !step->now_at_edge)
			/* no edge came: the clock stopped, or is too slow for a measurement of its rate */
			step->implied.value = 0;
		if (!is_clock_compared(survey, i) || before[i].now.end == step->now.end)
			continue;
		if (is_edge_clock(survey, i) && report_is_guest(survey->report))
			rate_allow_late_edges(&window, late);
		window.first.ticks = 0;
		window.last.ticks = rate_unwrap_ticks(&entry->clock, before[i].now.ticks, step->now.ticks,
						      expected_ticks(survey, i, step->now.end - before[i].now.end));
		if (!entry->clock.edges_only)
			window.slack_ticks = entry->resolution.steps ? entry->resolution.smallest_ticks : 1;
		else if (!step->now_at_edge)
			continue;
		if (window.last.ticks == 0)
			step->implied.value = 0; /* the clock stopped, so it has no rate */
		struct rate_slope slope = rate_calculate_slope(&window);
		struct rate_interval since = rate_of_tsc_implied_by_clock(&slope, entry->clock.claimed);
		if (!since.known || !rate_is_tsc_rate_plausible(&survey->scale, &since))
			continue;
		/* an RTC that seems 4 times as fast as before is not: the guest was stopped once more, at or after an edge */
		if (entry->clock.edges_only && report_is_guest(survey->report) && since.high < step->implied.low / 4)
			continue;
		step->implied.low = since.low < step->implied.low ? since.low : step->implied.low;
		step->implied.high = since.high > step->implied.high ? since.high : step->implied.high;
		step->implied.value = step->implied.low + (step->implied.high - step->implied.low) / 2;
	}
}

/*
 * Accepts each clock's rate after the step as its rate in the step, too. For this, reads all clocks for SETTLE_NS, and
 * waits for edges of the edge clocks in WAITED. Keeps the latest readings of the step.
 */
static void
accept_rates_after_step(struct survey *survey, uint32_t waited)
{
	struct survey_steps at_end = survey->steps;
	uint64_t until = survey->hooks.tsc_ordered() + scale_ns_to_ticks(&survey->scale, SETTLE_NS);

	for (unsigned i = 0; i < SETTLE_SWEEPS && survey->hooks.tsc_ordered() < until; i++)
		read_all_clocks(survey, false);
	read_all_clocks_without_preemption(survey);
	wait_for_edges(survey, waited);
	widen_rate_intervals_to_latest_rates(survey, at_end.clocks, waited);
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		at_end.clocks[i].implied = survey->steps.clocks[i].implied;
		survey->steps.clocks[i] = at_end.clocks[i];
	}
}

/*
 * Returns true if the clocks still diverged after they were read as FIRST, before the TSC was SEEN. One of them then
 * has another rate or jumped again, and the disagreement ended later. An edge clock is compared if it has a new edge.
 */
static bool
have_clocks_diverged_since(const struct survey *survey, const struct survey_steps *first, uint64_t seen)
{
	struct analysis_step step = get_current_step(survey);
	size_t count = 0;

	step.is.begin_tsc = seen;
	for (size_t k = 0; k < step.count; k++) {
		struct record_compared clock = step.clocks[k];

		clock.then = first->clocks[clock.clock].now;
		clock.then_at_edge = first->clocks[clock.clock].now_at_edge;
		if ((!is_edge_clock(survey, clock.clock) || clock.now_at_edge) && clock.then.end)
			step.clocks[count++] = clock;
	}
	step.count = count;
	return analysis_group_clocks_by_gain(&step, ANALYSIS_EDGE_LATEST_NS, FLOOR_NS).count > 1;
}

/* Returns the TSC after the latest reading of all clocks. */
static uint64_t
latest_reading_tsc(const struct survey *survey)
{
	uint64_t tsc = 0;

	for (size_t i = 0; i < survey->report->facts.clock_count; i++)
		if (is_clock_compared(survey, i) && survey->steps.clocks[i].now.end > tsc)
			tsc = survey->steps.clocks[i].now.end;
	return tsc;
}

/*
 * Examines a step in which the clocks disagreed. The clocks are read again, because the cause may still continue. A
 * change of rate would explain the disagreement, so each clock's rate after the step is also accepted as its rate in
 * the step.
 */
static bool
examine_clock_disagreement(struct survey *survey, int64_t edge_late_ns)
{
	uint64_t seen = survey->hooks.tsc_ordered();
	bool edges = survey->record.entries_of[RECORD_STEP] < REPORT_DISCONTINUITIES_MAX;
	struct survey_steps first = survey->steps;

	read_all_clocks(survey, true);
	wait_for_edges(survey, edges ? UINT32_MAX : 0);
	read_all_clocks_without_preemption(survey);
	struct discontinuity found = find_groups_of_agreeing_clocks(survey, edge_late_ns, FLOOR_NS);
	if (found.count < 2)
		return false;
	uint32_t off_tsc = analysis_find_clocks_outside_tsc_group(&found);
	accept_rates_after_step(survey, edges ? off_tsc : 0);
	if (survey_end_run_if_due(survey))
		return false;
	found = find_groups_of_agreeing_clocks(survey, ANALYSIS_EDGE_LATEST_NS, FLOOR_NS);
	if (found.count > 1 && have_clocks_diverged_since(survey, &first, seen))
		seen = latest_reading_tsc(survey); /* as record.h says */
	if (found.count > 1)
		record_clock_disagreement(survey, FLOOR_NS, seen);
	/*
	 * While this function waited for the edge of one RTC, edges of another RTC may have been missed. Therefore, if
	 * EDGE_LATE_NS is short, a disagreement of RTCs alone counts even if FOUND no longer shows it.
	 */
	if (found.count < 2 && (edge_late_ns == ANALYSIS_EDGE_LATEST_NS ||
				(find_groups_of_agreeing_clocks(survey, edge_late_ns, FLOOR_NS).count < 2 &&
				 !analysis_are_edge_clocks(survey->report, off_tsc))))
		return false;
	survey->steps.cuts++;
	return true;
}

bool
survey_end_step_and_find_disagreement(struct survey *survey, bool check_late_edges)
{
	int64_t edge_late_ns = check_late_edges ? ANALYSIS_EDGE_LATE_NS : ANALYSIS_EDGE_LATEST_NS;
	bool cut = false;

	if (survey->report->facts.run.incomplete || survey->tsc.is_stopped)
		return false;
	if (find_groups_of_agreeing_clocks(survey, edge_late_ns, FLOOR_NS).count > 1)
		cut = examine_clock_disagreement(survey, edge_late_ns);
	begin_next_step(survey);
	return cut;
}

/* Stores the latest readings. A sweep follows that ends this step and starts the next one. */
static void
keep_readings_before_next_step(struct survey *survey)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++)
		survey->steps.before[i] = survey->steps.clocks[i].now;
}

static bool
are_groups_equal(const struct discontinuity *a, const struct discontinuity *b)
{
	for (size_t i = 0; i < a->count && a->count == b->count; i++)
		if (a->groups[i].clocks != b->groups[i].clocks)
			return false;
	return a->count == b->count;
}

/* Groups the clocks by their gain since their readings before the step. Edge clocks keep their latest edge. */
static struct discontinuity
find_groups_from_readings_before(const struct survey *survey, uint64_t floor_ns)
{
	struct analysis_step step = get_current_step(survey);
	size_t count = 0;

	for (size_t k = 0; k < step.count; k++) {
		struct record_compared clock = step.clocks[k];

		if (!is_edge_clock(survey, clock.clock))
			clock.then = survey->steps.before[clock.clock];
		if (clock.then.end)
			step.clocks[count++] = clock;
	}
	step.count = count;
	return analysis_group_clocks_by_gain(&step, ANALYSIS_EDGE_LATEST_NS, floor_ns);
}

/*
 * Returns true if wrong rates may explain that two clocks of a guest disagree by NS in the current step. The TSC may
 * have stopped between the readings of two clocks at each end of the rate window, each time for up to FLOOR_NS. The
 * ratio of their rates is then wrong by as much.
 */
static bool
may_wrong_rates_explain_jump(const struct survey *survey, uint64_t ns)
{
	uint64_t step_ns = scale_ns(&survey->scale, survey->hooks.tsc_ordered() - survey->steps.now.begin_tsc);

	for (size_t i = 0; i < survey->report->facts.clock_count && report_is_guest(survey->report); i++)
		if (is_clock_compared(survey, i) && !is_edge_clock(survey, i) &&
		    scale_mul_div(survey->report->figures.clocks[i].window_ns, ns, 2 * FLOOR_NS) < step_ns)
			return true;
	return false;
}

/*
 * Returns true if a second sweep at each end of the step gives the same groups as FOUND. A clock that jumped is ahead
 * from either sweep to either sweep. If the TSC stopped during a sweep, the groups change with the sweep: after a stop
 * in the sweep at the start, only clocks that were read before the stop are ahead. After a stop in the sweep at the
 * end, only clocks that were read after the stop are ahead.
 */
static bool
do_second_sweeps_find_groups(struct survey *survey, const struct discontinuity *found, uint64_t floor_ns)
{
	struct discontinuity again = find_groups_from_readings_before(survey, floor_ns);

	if (!are_groups_equal(&again, found))
		return false;
	keep_readings_before_next_step(survey);
	read_all_clocks(survey, true);
	if (may_wrong_rates_explain_jump(survey, floor_ns))
		accept_rates_after_step(survey, 0);
	again = find_groups_of_agreeing_clocks(survey, ANALYSIS_EDGE_LATEST_NS, floor_ns);
	return are_groups_equal(&again, found);
}

/*
 * Reads and compares all clocks. A jump of up to 2 * FLOOR_NS is recorded without examine_clock_disagreement(), if no
 * wrong rates explain it, and if second sweeps confirm it.
 */
bool
survey_check_jump_of_clock(struct survey *survey, uint64_t jump_ns)
{
	if (survey->steps.jumps_checked == JUMPS_CHECKED || survey_end_run_if_due(survey))
		return false;
	survey->steps.jumps_checked++;
	read_all_clocks(survey, true);
	uint64_t seen = survey->hooks.tsc_ordered();
	struct discontinuity found = find_groups_of_agreeing_clocks(survey, ANALYSIS_EDGE_LATEST_NS, jump_ns / 2);
	if (jump_ns / 2 > FLOOR_NS || found.count < 2 || !do_second_sweeps_find_groups(survey, &found, jump_ns / 2))
		return survey_read_and_compare_clocks(survey);
	record_clock_disagreement(survey, jump_ns / 2, seen);
	survey->steps.cuts++;
	begin_next_step(survey);
	return true;
}

void
survey_drop_earlier_readings(struct survey *survey, size_t series)
{
	for (size_t i = 0; i < survey->report->facts.clock_count; i++)
		if (survey->report->facts.clocks[i].series == series)
			drop_earlier_readings_of_clock(survey, i);
}

void
survey_note_firmware_tick(struct survey *survey, bool ticking)
{
	struct record_mark mark = { .what = RECORD_MARK_TICK, .value = ticking };

	survey->ticking = ticking;
	if (survey->record.length) { /* at the first call there is no record yet */
		mark.tsc = survey->hooks.tsc_ordered();
		record_put(&survey->record, RECORD_MARK, &mark, NULL, 0);
	}
	for (size_t i = 0; i < survey->report->facts.clock_count; i++) {
		if (!survey->report->facts.clocks[i].clock.firmware_ticks)
			continue;
		drop_earlier_readings_of_clock(survey, i);
		survey->tracks[i].last = (struct sample){ 0, 0, 0 }; /* ends the tracking of this clock */
	}
}

bool
survey_read_and_compare_clocks(struct survey *survey)
{
	if (survey_end_run_if_due(survey))
		return false;
	read_all_clocks(survey, false);
	keep_readings_before_next_step(survey);
	read_all_clocks(survey, true);
	return survey_end_step_and_find_disagreement(survey, false);
}
