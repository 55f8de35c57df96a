/* Runs the warp checks (see warp.h) on all cores, for the TSC and for hypervisors' clocks. */
#include "measure/skew/pair_pass.h"

/*
 * number of turns (reads) of all cores together; with many cores each has fewer turns, so that the check does not take
 * longer
 */
#define TURNS_ALL   (UINT64_C(1) << 17)
#define TURNS_MIN   UINT64_C(256)       /* limits of the number of turns of a core */
#define TURNS_MAX   UINT64_C(20000)
#define CHECK_NS    (5 * SURVEY_NS_PER_S) /* longest duration of a check, after which the cores stop */
/* shortest duration of a check; if there is less time, the check is left out */
#define CHECK_MIN_NS (100 * SURVEY_NS_PER_MS)

/* The time for all warp checks. */
struct warp_time {
	uint64_t end_tsc;
	uint64_t checks; /* number of checks that are still to come; they share the time until END_TSC */
};

struct warp_job {
	struct warp_table *table;
	size_t expected;
	sample_bracket *tsc;
	const struct clock *clock; /* the clock that is checked; NULL for the TSC */
	void (*pause)(void);
};

static uint64_t
read_tsc(void *context)
{
	const struct warp_job *job = context;

	return job->tsc();
}

static void
take_warp_turns_on_core(void *argument, size_t core)
{
	struct warp_job *job = argument;
	struct warp_reader reader = { read_tsc, job, NULL };
	const struct clock_paravirtual *by = job->clock ? &job->clock->paravirtual : NULL;

	if (by)
		reader = (struct warp_reader){ by->read, by->get_core_device ? by->get_core_device(job->clock->device) :
							 job->clock->device, job->tsc };
	warp_run_core(job->table, core, job->expected, reader, job->pause);
}

static struct report_contended
warp_result_to_report(const struct survey *survey, const struct warp_result *result)
{
	const struct report_core *cores = survey->report->facts.cores;

	return (struct report_contended){
		.measured = true,
		.starved = result->starved,
		.cores = result->cores,
		.iterations = result->turns,
		.warps = result->warps,
		.worst_ticks = result->worst_ticks,
		.worst_a = cores[result->worst_ahead].apic_id,
		.worst_b = cores[result->worst_behind].apic_id,
	};
}

static bool
can_check_for_warps(struct survey *survey)
{
	return survey_count_living_cores(survey) > 1 && survey->smp->count <= WARP_CORES_MAX && !survey_end_run_if_due(survey);
}

/* Returns the time that the next check may take: an equal share of the time that is left for all remaining checks. */
static uint64_t
time_for_next_warp_check_ticks(const struct survey *survey, const struct warp_time *time)
{
	uint64_t now = survey->hooks.tsc_ordered(), overhead = survey->joint_job_ticks;
	uint64_t share = time->end_tsc > now ? (time->end_tsc - now) / time->checks : 0;

	return survey_clamp(share > overhead ? share - overhead : 0, scale_ns_to_ticks(&survey->scale, CHECK_MIN_NS),
			    scale_ns_to_ticks(&survey->scale, CHECK_NS));
}

/*
 * Runs one check on all cores, for CLOCK, or for the TSC if CLOCK is NULL. Returns false if TIME is too short for it.
 */
static bool
run_warp_check(struct survey *survey, struct warp_time *time, enum warp_kind kind, const struct clock *clock)
{
	struct warp_table *table = survey->memory.warp;
	size_t living = survey_count_living_cores(survey);
	struct warp_job job = { table, living, survey->hooks.tsc_ordered, clock, survey->hooks.pause };
	bool fits = survey_is_time_for_joint_job(survey, time->end_tsc, scale_ns_to_ticks(&survey->scale, CHECK_MIN_NS));

	if (fits) {
		survey_show_progress(survey, "warp check", 0);
		warp_begin(table, kind, survey->smp->count, survey_clamp(TURNS_ALL / living, TURNS_MIN, TURNS_MAX),
			   survey->hooks.tsc_ordered());
		table->bound_ticks = time_for_next_warp_check_ticks(survey, time);
		survey_run_on_all_cores(survey, take_warp_turns_on_core, &job, table->bound_ticks);
		warp_stop(table);
	}
	time->checks--;
	return fits;
}

static void
mark_row_not_checked(struct behaviour *row, const char *what)
{
	if (!row)
		return;
	row->unchecked = UNCHECKED_TIME;
	behaviour_set_text(row, "The warp check%s would have taken too much of the time left.", what);
}

/*
 * Runs a warp check of the TSC. The result is "not measured" in four cases: there are fewer than two cores, the run is
 * over, there is not enough time, or the TSC stops.
 */
static struct report_contended
check_tsc_warps(struct survey *survey, struct warp_time *time, enum warp_kind kind)
{
	struct report_contended none = { .measured = false };
	size_t living = survey_count_living_cores(survey); /* a core may die in the check, and then has too few turns */
	struct warp_result result;

	if (!can_check_for_warps(survey))
		return none;
	if (!run_warp_check(survey, time, kind, NULL)) {
		mark_row_not_checked(behaviour_add_row(&survey->report->facts.checks, "tsc-warp", "tsc"),
				     kind == WARP_LOCKED ? " with a lock" : " without a lock");
		return none;
	}
	if (survey_end_if_untimed(survey))
		return none;
	result = warp_get_result(survey->memory.warp, living);
	/* if the two readings of the worst warp are from the same core, this core's TSC stepped back */
	if (result.warps && result.worst_ahead == result.worst_behind)
		survey_add_tsc_steps(survey, result.worst_ahead, &(struct tsc_steps){ 1, 1, result.worst_ticks });
	return warp_result_to_report(survey, &result);
}

static void
describe_warps(const struct survey *survey, const struct clock *clock, const struct warp_result *result,
	  struct behaviour *row)
{
	const struct report_core *cores = survey->report->facts.cores;
	const struct rate *claimed = &clock->claimed;

	if (result->starved && !result->warps) {
		behaviour_set_text(row, "Some core made too few of the %lu reads, so the absence of steps back proves "
				   "nothing.", result->turns);
		return;
	}
	row->checked = row->has_figure = true;
	row->measured = row->low = row->high = (int64_t)result->warps;
	if (result->warps)
		behaviour_set_text(row, "In %lu of %lu reads the clock stepped back; core %u was ahead of core %u by %lu ns.",
				   result->warps, result->turns, cores[result->worst_ahead].apic_id,
				   cores[result->worst_behind].apic_id,
				   scale_mul_div_up(result->worst_ticks, claimed->den * SURVEY_NS_PER_S, claimed->num));
	else
		behaviour_set_text(row, "None of %lu reads by %zu cores was below the read before it.", result->turns,
				   result->cores);
}

/*
 * Runs the warp check with a lock for a hypervisor's clock. If the hypervisor does not mark the clock as stable, a
 * difference between cores is no fault, so the check is omitted.
 */
static void
check_hypervisor_clock_for_warps(struct survey *survey, struct warp_time *time, const struct clock *clock)
{
	size_t living = survey_count_living_cores(survey);
	struct behaviour *row;
	enum paravirtual_stable stable;

	if (!can_check_for_warps(survey) ||
	    !(row = behaviour_add_row(&survey->report->facts.checks, "pv-warp", clock->id)))
		return;
	if (!run_warp_check(survey, time, WARP_LOCKED, clock)) {
		mark_row_not_checked(row, "");
		return;
	}
	struct warp_result result = warp_get_result(survey->memory.warp, living);
	stable = clock->paravirtual.get_stability ? clock->paravirtual.get_stability(clock->device) : STABLE_YES;
	if (stable == STABLE_UNKNOWN)
		behaviour_set_text(row, "The hypervisor's page for a core was missing, or changed in all tries of a "
				   "read. Therefore readings of different cores cannot be compared.");
	else if (stable == STABLE_NO)
		behaviour_set_text(row, "The clock's page does not mark the clock as stable, so readings of different cores "
				   "are not compared.");
	else if (!survey_end_if_untimed(survey))
		describe_warps(survey, clock, &result, row);
}

void
survey_check_for_warps(struct survey *survey)
{
	struct report *report = survey->report;
	struct warp_time time = { survey_core_pass_end_tsc(survey), survey_count_warp_checks(report) };

	if (!survey->memory.cores)
		return;
	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (report->facts.clocks[i].clock.by_tsc && survey_usable(&report->facts.clocks[i]))
			check_hypervisor_clock_for_warps(survey, &time, &report->facts.clocks[i].clock);
	report->facts.warp_checks.locked = check_tsc_warps(survey, &time, WARP_LOCKED);
	report->facts.warp_checks.lock_free = check_tsc_warps(survey, &time, WARP_LOCK_FREE);
}
