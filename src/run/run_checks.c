/* The devices' checks. See run_checks.h. */
#include "run_checks.h"

#include "survey_plan.h"
#include "text.h"

#define SECONDS_SHARE_NUM 5 /* of 6 parts of the time, for what moves once a second only, */
#define SECONDS_SHARE_DEN 6
#define SECONDS_NS_MAX    (5 * SURVEY_NS_PER_S) /* and with so much has shown all that it can */
#define POOL_SHARE_DEN    2 /* of what is left for the others no one takes more than half */

static bool
is_in_report(const struct report *report, const char *id)
{
	for (size_t i = 0; i < report->clock_count; i++)
		if (text_equal(report->clocks[i].clock.id, id))
			return true;
	return false;
}

static uint64_t
budget_ns(const struct device_check *check, uint64_t all_ns, uint64_t left_ns)
{
	uint64_t kept_ns = all_ns / SECONDS_SHARE_DEN * SECONDS_SHARE_NUM;

	if (check->needs_seconds)
		return left_ns;
	if (kept_ns > SECONDS_NS_MAX)
		kept_ns = SECONDS_NS_MAX;
	return left_ns > kept_ns ? (left_ns - kept_ns) / POOL_SHARE_DEN : 0;
}

/* Which of the run's drivers it is; as many as there are where it is none. */
static size_t
find_driver(const struct run *run, const struct driver *driver)
{
	const struct driver *const *drivers = run->machine->drivers;
	size_t d = 0;

	while (d < RUN_DRIVERS_MAX && drivers[d] && drivers[d] != driver)
		d++;
	return drivers[d] ? d : RUN_DRIVERS_MAX;
}

/* What a driver opened, as the survey knows it by now: a clock that was seen to stop has nothing more to show. */
static void
rows_by_now(const struct run *run, size_t driver, struct clock *rows)
{
	for (size_t i = 0; i < run->machine->drivers[driver]->clock_count; i++) {
		rows[i] = run->rows[driver][i];
		for (size_t c = 0; c < run->report.clock_count; c++)
			if (text_equal(run->report.clocks[c].clock.id, rows[i].id))
				rows[i].state = run->report.clocks[c].clock.state;
	}
}

void
run_checks(struct run *run)
{
	struct survey *survey = &run->survey;
	const struct survey_hooks *hooks = &survey->hooks;
	uint64_t all_ns = survey_checks_ns(&run->report), begin_tsc = hooks->tsc_ordered();
	struct clock rows[DRIVER_CLOCKS_MAX];

	for (const struct device_check *check = run->machine->checks; check->driver; check++) {
		size_t driver = find_driver(run, check->driver);
		uint64_t spent_ns = scale_ns(&survey->scale, hooks->tsc_ordered() - begin_tsc);
		uint64_t left_ns = spent_ns < all_ns ? all_ns - spent_ns : 0;

		if (driver == RUN_DRIVERS_MAX || !is_in_report(&run->report, check->driver->rows[0].id))
			continue;
		if (survey_end_if_due(survey))
			return;
		hooks->progress(hooks->context, "checks", survey->done_ns + spent_ns, survey->total_ns);
		rows_by_now(run, driver, rows);
		const struct checking checking = {
			.platform = run->machine->platform, .device = &run->devices[driver], .rows = rows,
			.scale = &survey->scale, .begin_tsc = hooks->tsc_ordered(),
			.budget_ns = budget_ns(check, all_ns, left_ns),
		};

		check->look(&checking, &run->report.behaviours);
	}
	survey_end_if_due(survey); /* of a TSC that stopped in the last of them too */
}
