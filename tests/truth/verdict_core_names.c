/* Which cores a report names, what it says of them, and which are sick. See verdict.h. */
#include <stdio.h>
#include <string.h>

#include "offsets.h"
#include "tally.h"
#include "verdict.h"
#include "verdict_cores.h"


static size_t majority_class;
static bool has_majority;

static size_t
core_of_id(uint32_t apic_id)
{
	size_t core = 0;

	while (core < machine.cores && machine.core[core].apic_id != apic_id)
		core++;
	return core;
}

static bool
is_sick(size_t core)
{
	return has_majority && machine_class(core) != majority_class;
}

/* A range of ns, of ticks in the hull by the report's scale; DIRECTION ahead or behind. */
static bool
holds(const struct report *report, struct hull hull, unsigned long near, unsigned long far, bool ahead)
{
	long double per_ns = verdict_tsc_hz(report) / 1e9L;
	long double low = hull_ticks(hull.low) / per_ns, high = hull_ticks(hull.high) / per_ns;

	if (!ahead) {
		long double swap = -low;

		low = -high;
		high = swap;
	}
	return near <= high && low <= far;
}

/* Whether what is said of a core, or of all that are off, against another one was true in the tournament. */
static bool
is_offset_true(const struct report *report, const struct finding *finding)
{
	const char *group = strstr(finding->text, ", are ");
	unsigned core, other;
	unsigned long near, far;
	char word[16];
	bool ahead;

	if (sscanf(finding->text, "Core %u's TSC is %lu to %lu ns %15s", &core, &near, &far, word) == 4)
		group = NULL;
	else if (!group || sscanf(group, ", are %lu to %lu ns %15s", &near, &far, word) != 3)
		return false;
	ahead = strcmp(word, "ahead") == 0;
	if (sscanf(strstr(finding->text, word) + strlen(word), ahead ? " of core %u" : " core %u", &other) != 1)
		return false;
	for (size_t i = 0; i < machine.cores; i++)
		if (group ? report->cores[i].off_majority : machine.core[i].apic_id == core)
			if (!holds(report, hull_of(core_of_id(other), i, machine.first), near, far, ahead))
				return false;
	return true;
}

/* A drift is one only where it goes on; against the boot core, or against those that are most. */
static bool
is_drift_true(const struct finding *finding)
{
	size_t other = strstr(finding->text, "than most") ? majority_class : 0, core;
	unsigned id;
	unsigned long near, far;
	long double truth;
	char word[16];

	if (sscanf(finding->text, "Core %u's TSC runs %lu to %lu ppb %15s", &id, &near, &far, word) != 4)
		return false;
	core = core_of_id(id);
	truth = ((long double)machine.core[core].microhz / machine.core[other].microhz - 1) * PPB;
	truth = strcmp(word, "faster") == 0 ? truth : -truth;
	return near <= truth + 1 && truth - 1 <= far;
}

static bool
moves(size_t core)
{
	return machine.core[core].steps_at_ps != SIM_NEVER ||
	       (has_majority ? machine.core[core].microhz != machine.core[majority_class].microhz : true);
}

static void
look_at_finding(const struct report *report, const struct finding *finding)
{
	const struct report_skew *skew = &report->skew;
	bool is_offset = strcmp(finding->rule, "tsc-offset") == 0, is_drift = strcmp(finding->rule, "tsc-drift") == 0;
	size_t named = core_of_id(finding->core);

	if ((is_offset || is_drift) && named < machine.cores && !verdict_names_nobody(finding))
		tally(CHECK_CORE_NAMED, is_sick(named), "%s%s", finding->text, has_majority ? "" : " (no class of cores is most)");
	if (is_offset)
		tally(CHECK_SENTENCE, is_offset_true(report, finding), "%s", finding->text);
	if (is_drift && (has_majority || !strstr(finding->text, "than most")))
		tally(CHECK_SENTENCE, is_drift_true(finding), "%s", finding->text);
	if (strcmp(finding->rule, "tsc-contradiction") == 0)
		tally(CHECK_SENTENCE, moves(skew->core_of[skew->summary.contradiction_a]) ||
		      moves(skew->core_of[skew->summary.contradiction_b]), "%s", finding->text);
	if (strcmp(finding->rule, "tsc-warp") == 0) {
		const struct report_contended *worst =
			skew->locked.worst_ticks > skew->lock_free.worst_ticks ? &skew->locked : &skew->lock_free;
		size_t a = core_of_id(worst->worst_a), b = core_of_id(worst->worst_b);

		tally(CHECK_SENTENCE, machine_class(a) != machine_class(b), "%s", finding->text);
	}
}

/* As the tables mark it, where a finding says that it is off most. */
static bool
is_marked(const struct report *report, size_t core)
{
	for (size_t i = 0; i < report->finding_count; i++) {
		const struct finding *finding = &report->findings[i];

		if (verdict_names_nobody(finding))
			continue;
		if (strcmp(finding->rule, "tsc-offset") == 0 && report->cores[core].off_majority && !report->cores[core].drifts)
			return true;
		if (strcmp(finding->rule, "tsc-drift") == 0 && report->cores[core].drifts)
			return true;
	}
	return false;
}

/* Whether what the pair itself measured shows that one of the two is sick: at the begin, or by how it moved. */
static bool
proves(const struct bench *bench, size_t a, size_t b)
{
	const struct offsets *first = &bench->run.survey.memory.first, *latest = &bench->run.survey.memory.latest;
	struct offset before = offsets_pair(first, a, b), after = { INT64_MIN, INT64_MAX };

	if (bench->run.report.skew.drift_measured)
		after = offsets_pair(latest, a, b);
	return (offset_is_known(before) && offset_excludes_zero(before)) ||
	       (offset_is_known(after) && offset_excludes_zero(after)) || offsets_moved(first, a, b) > 0;
}

static void
look_at_silence(const struct bench *bench, size_t core)
{
	const struct report *report = &bench->run.report;
	struct hull hull = hull_of(majority_class, core, machine.run);
	__int128 most = -hull.low > hull.high ? -hull.low : hull.high;
	long double trip = report->skew.best_trip_ns * (machine.hz[TSC] / 1e9L);
	size_t proofs = 0;

	for (size_t i = 0; i < machine.cores; i++)
		proofs += machine_class(i) == majority_class && proves(bench, i, core);
	if (proofs * 2 > machine.cores - 1)
		tally(CHECK_CORE_SILENT, is_marked(report, core),
		      "core %zu is up to %.0Lf ticks off, proven by %zu of the %zu others (%s)", core, hull_ticks(most), proofs,
		      machine.cores - 1, report->finding_count ? report->findings[0].text : "nothing is said");
	else if (!is_marked(report, core))
		tally_silent("cores that no more than half prove (in round trips)", trip > 0 ? hull_ticks(most) / trip : 0);
}

static bool
is_anything_said(const struct report *report)
{
	for (size_t i = 0; i < report->finding_count; i++)
		if (strncmp(report->findings[i].rule, "tsc-", 4) == 0)
			return true;
	return false;
}

/* Nobody can be named, but that some differ can be said. */
static void
look_for_any_word(const struct bench *bench)
{
	size_t proofs = 0;

	for (size_t i = 0; i < machine.cores; i++)
		for (size_t j = i + 1; j < machine.cores; j++)
			proofs += proves(bench, i, j);
	if (proofs)
		tally(CHECK_CORE_SILENT, is_anything_said(&bench->run.report), "%zu pairs are proven to differ, and nothing is said",
		      proofs);
	else if (!is_anything_said(&bench->run.report))
		tally_silent("no class of cores is most, no pair proves it", 0);
}

void
verdict_core_names(const struct bench *bench)
{
	const struct report *report = &bench->run.report;

	majority_class = 0;
	has_majority = machine_majority(&majority_class) > 0;
	for (size_t i = 0; i < report->finding_count; i++)
		look_at_finding(report, &report->findings[i]);
	for (size_t i = 0; i < machine.cores; i++) {
		if (is_marked(report, i))
			tally(CHECK_CORE_NAMED, is_sick(i), "core %zu is marked: %s", i,
			      report->cores[i].drifts ? "it drifts" : "it is off the majority");
		if (has_majority && is_sick(i) && report->skew.measured)
			look_at_silence(bench, i);
	}
	if (!has_majority && report->skew.measured)
		look_for_any_word(bench);
}
