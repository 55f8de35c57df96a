/* The drivers' checks. See checks.h. */
#include "checks.h"

#include "text.h"

#define RTC_SHARE_NUM  5 /* of 6 parts of the time, for it moves once a second only, */
#define RTC_SHARE_DEN  6
#define RTC_NS_MAX     (5 * UINT64_C(1000000000)) /* and with so much has shown all that it can */
#define POOL_SHARE_DEN 2 /* of what is left for the others no one takes more than half */

static bool
is_in_report(const struct report *report, const char *id)
{
	for (size_t i = 0; i < report->clock_count; i++)
		if (text_equal(report->clocks[i].clock.id, id))
			return true;
	return false;
}

static uint64_t
budget_ns(const struct driver *driver, uint64_t all_ns, uint64_t left_ns)
{
	uint64_t rtc_ns = all_ns / RTC_SHARE_DEN * RTC_SHARE_NUM;

	if (driver == &rtc_driver)
		return left_ns;
	if (rtc_ns > RTC_NS_MAX)
		rtc_ns = RTC_NS_MAX;
	return left_ns > rtc_ns ? (left_ns - rtc_ns) / POOL_SHARE_DEN : 0;
}

/* What a driver opened, as the survey knows it by now: a clock that was seen to stop has nothing more to show. */
static void
rows_by_now(const struct report *report, const struct driver *driver, const struct clock *opened, struct clock *rows)
{
	for (size_t i = 0; i < driver->clock_count; i++) {
		rows[i] = opened[i];
		for (size_t c = 0; c < report->clock_count; c++)
			if (text_equal(report->clocks[c].clock.id, rows[i].id))
				rows[i].state = report->clocks[c].clock.state;
	}
}

void
checks_run(const struct platform *platform, struct device *devices,
	   const struct clock (*opened)[DRIVER_CLOCKS_MAX], struct survey *survey)
{
	const struct survey_hooks *hooks = &survey->hooks;
	uint64_t all_ns = survey_checks_ns(survey->report), begin_tsc = hooks->tsc_ordered();
	struct clock rows[DRIVER_CLOCKS_MAX];

	for (size_t d = 0; drivers[d]; d++) {
		uint64_t spent_ns = scale_ns(&survey->scale, hooks->tsc_ordered() - begin_tsc);
		uint64_t left_ns = spent_ns < all_ns ? all_ns - spent_ns : 0;

		if (!drivers[d]->check || !is_in_report(survey->report, drivers[d]->ids[0]))
			continue;
		if (survey_expired(survey))
			return;
		hooks->progress(hooks->context, "checks", survey->done_ns + spent_ns, survey->total_ns);
		rows_by_now(survey->report, drivers[d], opened[d], rows);
		drivers[d]->check(platform, &devices[d], rows, &survey->scale,
				  budget_ns(drivers[d], all_ns, left_ns), &survey->report->behaviours);
	}
	survey_expired(survey); /* a TSC that stopped in the last of them is told of too */
}
