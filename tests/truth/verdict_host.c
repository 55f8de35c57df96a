/* Checks the findings about a hypervisor: its announcements of stops, and its counter of stolen time. See verdict.h. */
#include "verdict.h"

#include <string.h>

#include "sim_paravirtual.h"
#include "tally.h"

/*
 * If the host took more than this time, a counter that does not show it must be reported. This is twice the tolerated
 * time, because the loop that looks for gaps may not see all of the stolen time.
 */
#define LONG_ENOUGH_PS (20 * SIM_PS_PER_MS)

static const struct finding *
find_finding(const struct report *report, const char *rule)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		if (strcmp(report->outcomes.findings[i].rule, rule) == 0)
			return &report->outcomes.findings[i];
	return NULL;
}

/* Returns how often the report says that the guest was stopped. A TSC that moved alone does not prove that. */
static size_t
count_disruptions(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->figures.discontinuity_count; i++)
		count += report->outcomes.discontinuities[i].class == DISCONTINUITY_STOPPED ||
			 report->outcomes.discontinuities[i].class == DISCONTINUITY_PARTED;
	return count;
}

static void
check_stolen_time(const struct report *report)
{
	const struct report_stolen *stolen = &report->figures.interference.stolen;
	const struct finding *finding = find_finding(report, "pv-steal");
	bool is_wrong = machine.counts_stolen && sim_paravirtual.steal_percent != 100;

	if (finding)
		tally_check(CHECK_HOST_NAMED, is_wrong, "%s", finding->text);
	if (is_wrong && !sim_paravirtual.steal_percent && sim_paravirtual.stolen_long_ps > LONG_ENOUGH_PS &&
	    !report->figures.discontinuity_count)
		tally_check(CHECK_HOST_SILENT, finding != NULL, "%lu us stolen, %lu to %lu us by the gaps",
			    sim_paravirtual.stolen_long_ps / SIM_PS_PER_US, stolen->low_ns / 1000, stolen->high_ns / 1000);
}

static void
check_disruption_marker(const struct report *report)
{
	const struct finding *finding = find_finding(report, "pv-untold");
	bool is_untold = machine.has_marker && !machine.announces && machine.at_ps != SIM_NEVER;

	if (finding)
		tally_check(CHECK_HOST_NAMED, is_untold, "%s", finding->text);
	if (is_untold && count_disruptions(report))
		tally_check(CHECK_HOST_SILENT, finding != NULL, "%zu disruptions, and none is called untold",
			    count_disruptions(report));
}

void
verdict_check_host(const struct report *report)
{
	check_stolen_time(report);
	check_disruption_marker(report);
}
