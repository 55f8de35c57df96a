/* Runs the checks of devices, such as the PIT. See run_internal.h. */
#include "run/run_internal.h"

#include "base/text.h"
#include "measure/survey_plan.h"
#include "rules/rules.h"

/* checks that need events with a period of one second (RTC) get 5/6 of the time for all checks */
#define SECONDS_SHARE_NUM 5
#define SECONDS_SHARE_DEN 6
/* maximum time that is kept for checks with needs_seconds */
#define SECONDS_NS_MAX    (5 * SURVEY_NS_PER_S)
#define ROUNDS_MAX        64 /* maximum number of repetitions of disturbed checks; their time is also limited */
/* each check without needs_seconds gets half of the remaining time that is not kept for checks with needs_seconds */
#define POOL_SHARE_DEN    2

/* Returns the time for CHECK in ns. ALL_NS is the time for all checks. LEFT_NS is the part of ALL_NS that is left. */
static uint64_t
time_for_check_ns(const struct device_check *check, uint64_t all_ns, uint64_t left_ns)
{
	uint64_t kept_ns = all_ns / SECONDS_SHARE_DEN * SECONDS_SHARE_NUM;

	if (check->needs_seconds)
		return left_ns;
	if (kept_ns > SECONDS_NS_MAX)
		kept_ns = SECONDS_NS_MAX;
	return left_ns > kept_ns ? (left_ns - kept_ns) / POOL_SHARE_DEN : 0;
}

size_t
run_find_driver_index(const struct run *run, const struct driver *driver)
{
	const struct driver *const *drivers = run->machine->drivers;
	size_t d = 0;

	while (d < RUN_DRIVERS_MAX && drivers[d] && drivers[d] != driver)
		d++;
	return drivers[d] ? d : RUN_DRIVERS_MAX;
}

/*
 * Copies the clocks of a driver to ROWS with their current states, so that a clock that stopped after it was opened is
 * not checked.
 */
static void
copy_clock_rows_of_driver(const struct run *run, size_t driver, struct clock *rows)
{
	for (size_t i = 0; i < run->machine->drivers[driver]->clock_count; i++) {
		const struct report_clock *entry;

		rows[i] = run->rows[driver][i];
		if ((entry = report_find_clock(&run->report, rows[i].id)))
			rows[i].state = entry->clock.state;
	}
}

static bool
is_any_row_disturbed(const struct behaviour *rows, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any |= rows[i].disturbed;
	return any;
}

/*
 * Replaces disturbed results of a device by the results of the repeated check in AGAIN. ROWS has the COUNT results of
 * the device.
 */
static void
replace_disturbed_rows(struct behaviour *rows, size_t count, const struct behaviours *again)
{
	for (size_t i = 0; i < count && i < again->count; i++)
		if (rows[i].disturbed && text_equal(rows[i].rule, again->rows[i].rule))
			rows[i] = again->rows[i];
}

/* TSC at the start of the checks, and time for all checks. */
struct budget {
	uint64_t begin_tsc, all_ns;
};

static uint64_t
time_spent_on_checks_ns(const struct survey *survey, const struct budget *budget)
{
	return scale_ns(&survey->scale, survey->hooks.tsc_ordered() - budget->begin_tsc);
}

static uint64_t
time_left_for_checks_ns(const struct survey *survey, const struct budget *budget)
{
	uint64_t spent = time_spent_on_checks_ns(survey, budget);

	return spent < budget->all_ns ? budget->all_ns - spent : 0;
}

static void
report_progress(const struct run *run, const struct budget *budget)
{
	const struct survey *survey = &run->survey;
	uint64_t spent = time_spent_on_checks_ns(survey, budget), plan_ns = survey_get_budget(&run->report)->checks_planned_ns;

	/*
	 * The duration of the checks is unknown. Their progress is one half when the planned time has passed, and then
	 * slows down.
	 */
	survey_show_progress(survey, "checks", scale_mul_div(plan_ns, spent, plan_ns + spent));
}

static uint64_t
get_limit_of_rule(const void *report, const char *rule)
{
	return rules_get_limit_by_id(report, rule);
}

/* Marks the result of a check as disturbed, so that the check is repeated. */
static void
mark_row_disturbed(struct behaviour *row)
{
	*row = (struct behaviour){ .rule = row->rule, .clock = row->clock, .disturbed = true };
	behaviour_set_text(row, "The clocks diverged during this check.");
}

static void
read_and_compare_clocks(void *survey)
{
	survey_read_and_compare_clocks(survey);
}

/* Compares all clocks. An exception in a clock's driver does not end the checks. */
static void
read_and_compare_clocks_guarded(struct survey *survey)
{
	survey_run_catching_exceptions(survey, "checks", NULL, read_and_compare_clocks, survey);
}

/*
 * Returns true if the clocks disagree on how much time passed during the check. A check may set the device's counter to
 * a new value. The device's clocks are then not compared.
 */
static bool
was_check_disturbed(struct run *run, const struct device_check *check, size_t driver)
{
	unsigned cuts = run->survey.steps.cuts;

	if (check->sets_counter)
		survey_drop_earlier_readings(&run->survey, driver);
	read_and_compare_clocks_guarded(&run->survey);
	if (check->sets_counter)
		survey_drop_earlier_readings(&run->survey, driver);
	return run->survey.steps.cuts != cuts;
}

/*
 * Returns true if the scale (the TSC's rate, which converts ticks to ns) comes from the TSC itself. It is then the
 * TSC's nominal frequency, or was measured against a clock that a hypervisor derives from the TSC.
 */
static bool
is_tsc_rate_from_tsc_itself(const struct report *report)
{
	const struct report_clock *entry = report->figures.relative_to ?
					   report_find_clock(report, report->figures.relative_to) :
								 NULL;

	return !entry || entry->clock.by_tsc;
}

struct check_call {
	const struct device_check *check;
	const struct checking *checking;
	struct behaviours *behaviours;
};

static void
call_device_check(void *argument)
{
	const struct check_call *call = argument;

	call->check->run(call->checking, call->behaviours);
}

/*
 * Runs the checks of one device. BEFORE is NULL, or has the results of an earlier check. Checks with undisturbed
 * results are then not repeated. Returns false if the run does not include the device.
 */
static bool
check_device(struct run *run, const struct device_check *check, uint64_t budget_ns, const struct behaviours *before,
	     struct behaviours *behaviours)
{
	size_t driver = run_find_driver_index(run, check->driver);
	struct clock rows[DRIVER_CLOCKS_MAX];
	const struct report_clock *entry;

	if (driver == RUN_DRIVERS_MAX || !(entry = report_find_clock(&run->report, check->driver->rows[0].id)))
		return false;
	copy_clock_rows_of_driver(run, driver, rows);
	const struct checking checking = {
		.platform = run->machine->platform, .device = &run->devices[driver], .rows = rows,
		.scale = &run->survey.scale, .begin_tsc = run->survey.hooks.tsc_ordered(), .budget_ns = budget_ns,
		.before = before, .limit = get_limit_of_rule, .limits = &run->report,
		.pace = survey_get_pace(&run->survey, entry->clock.id), .scale_by_tsc = is_tsc_rate_from_tsc_itself(&run->report),
	};

	size_t first = behaviours->count;
	read_and_compare_clocks_guarded(&run->survey);
	survey_run_catching_exceptions(&run->survey, "checks", &entry->clock, call_device_check,
				       &(struct check_call){ check, &checking, behaviours });
	if (was_check_disturbed(run, check, driver))
		for (size_t i = first; i < behaviours->count; i++)
			mark_row_disturbed(&behaviours->rows[i]);
	return true;
}

/* Checks each device once. The results of device I get the indices from FIRST[I] to FIRST[I + 1] - 1. */
static void
check_all_devices(struct run *run, const struct budget *budget, size_t first[RUN_DRIVERS_MAX + 1])
{
	const struct device_check *check = run->machine->checks;
	struct behaviours *behaviours = &run->report.facts.checks;

	for (size_t i = 0; i < RUN_DRIVERS_MAX && check[i].driver; i++) {
		first[i] = first[i + 1] = behaviours->count;
		if (survey_end_run_if_due(&run->survey))
			continue;
		report_progress(run, budget);
		check_device(run, &check[i],
			     time_for_check_ns(&check[i], budget->all_ns, time_left_for_checks_ns(&run->survey, budget)), NULL,
			     behaviours);
		first[i + 1] = behaviours->count;
	}
}

/* Repeats disturbed checks until no result is disturbed, or the repetitions took the time planned for all checks. */
static void
repeat_disturbed_checks(struct run *run, const size_t first[RUN_DRIVERS_MAX + 1])
{
	struct survey *survey = &run->survey;
	struct budget budget = { survey->hooks.tsc_ordered(), survey_get_budget(&run->report)->checks_max_ns };
	const struct device_check *check = run->machine->checks;

	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		struct behaviour *rows = run->report.facts.checks.rows;
		size_t checked = 0;

		for (size_t i = 0; i < RUN_DRIVERS_MAX && check[i].driver; i++) {
			size_t count = first[i + 1] - first[i];
			struct behaviours before = { .count = count }, again = { .count = 0 };

			if (!is_any_row_disturbed(&rows[first[i]], count))
				continue;
			if (time_left_for_checks_ns(survey, &budget) == 0 || survey_end_run_if_due(survey))
				return;
			__builtin_memcpy(before.rows, &rows[first[i]], count * sizeof(*rows));
			checked += check_device(run, &check[i], time_left_for_checks_ns(survey, &budget), &before, &again);
			replace_disturbed_rows(&rows[first[i]], count, &again);
		}
		if (!checked)
			return;
	}
}

void
run_device_checks(struct run *run)
{
	struct budget budget = { run->survey.hooks.tsc_ordered(), survey_get_budget(&run->report)->checks_max_ns };
	size_t first[RUN_DRIVERS_MAX + 1] = { 0 };

	check_all_devices(run, &budget, first);
	repeat_disturbed_checks(run, first);
	survey_end_run_if_due(&run->survey); /* ends the run if the TSC stopped while the final device was checked */
}
