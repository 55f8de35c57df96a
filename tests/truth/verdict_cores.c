/* Checks a report's statements about the offsets and drifts of the cores' TSCs. See verdict.h. */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "sync/offsets.h"
#include "tally.h"
#include "verdict_cores.h"

static void
widen_range(struct offset_range *range, size_t other, size_t core, uint64_t at_ps)
{
	__int128 ticks = machine_get_tsc_at(core, at_ps) - machine_get_tsc_at(other, at_ps);

	range->low = ticks < range->low ? ticks : range->low;
	range->high = ticks > range->high ? ticks : range->high;
}

static void
widen_range_around_time(struct offset_range *range, size_t other, size_t core, struct span span, uint64_t at_ps)
{
	if (at_ps == SIM_NEVER || at_ps <= span.from_ps || at_ps > span.to_ps)
		return;
	widen_range(range, other, core, at_ps - 1);
	widen_range(range, other, core, at_ps);
}

/* Returns the range of CORE's true offset from OTHER in SPAN. Faulty readings, which are too high, do not count. */
static struct offset_range
get_range_of_true_offset(size_t other, size_t core, struct span span)
{
	__int128 ticks = machine_get_tsc_at(core, span.from_ps) - machine_get_tsc_at(other, span.from_ps);
	struct offset_range range = { ticks, ticks };

	widen_range(&range, other, core, span.to_ps);
	for (size_t i = 0; i < machine.cores; i++)
		widen_range_around_time(&range, other, core, span, machine.core[i].steps_at_ps);
	for (size_t i = 0; i < machine.faults && (machine_core_has_fault(core) || machine_core_has_fault(other)); i++)
		widen_range_around_time(&range, other, core, span, machine.set_back_ps[i]);
	return range;
}

struct offset_range
get_range_of_read_offset(size_t other, size_t core, struct span span)
{
	struct offset_range range = get_range_of_true_offset(other, core, span);

	if (machine_core_has_fault(core))
		range.high += machine.ahead_ticks * TICK;
	if (machine_core_has_fault(other))
		range.low -= machine.ahead_ticks * TICK;
	return range;
}

long double
units_to_ticks(__int128 units)
{
	return (long double)units / TICK;
}

/* Returns true if the interval overlaps RANGE, the range of the true offset during the span. */
static bool
contains_true_offset(struct offset offset, struct offset_range range)
{
	return (offset.low == INT64_MIN || (__int128)offset.low * TICK <= range.high) &&
	       (offset.high == INT64_MAX || (__int128)offset.high * TICK >= range.low);
}

bool
cores_are_both_stable(size_t a, size_t b)
{
	return machine.core[a].steps_at_ps == SIM_NEVER && machine.core[b].steps_at_ps == SIM_NEVER &&
	       !machine_core_has_fault(a) && !machine_core_has_fault(b);
}

static void
check_pair_offsets(const struct report_skew *skew)
{
	for (size_t i = 0; i < skew->passes[0].offsets.cores; i++)
		for (size_t j = i + 1; j < skew->passes[0].offsets.cores; j++) {
			struct offset own = offsets_get_offset(&skew->passes[0].offsets, i, j);
			size_t a = skew->core_of[i], b = skew->core_of[j];
			struct offset_range range = get_range_of_read_offset(a, b, machine.first);

			if (offset_is_known(own))
				tally_check(CHECK_PAIR_OFFSET, contains_true_offset(own, range),
					    "core %zu against %zu: %lld to %lld ticks, not %.3Lf to %.3Lf",
					    b, a, (long long)own.low, (long long)own.high, units_to_ticks(range.low),
					    units_to_ticks(range.high));
		}
}

static void
check_core_offset(const struct report *report, size_t core)
{
	struct offset place = report_get_core_offset(report, &report->figures.skew.passes[0], &report->facts.cores[core]);
	struct offset ns = report_offset_to_ns(report, place);
	struct offset_range range = get_range_of_read_offset(0, core, machine.first);
	long double per_ns = verdict_get_tsc_hz(report) / 1e9L;

	if (core == 0 || !offset_is_known(place))
		return;
	if (tally_check(CHECK_PLACE, contains_true_offset(place, range),
			"core %zu: %lld to %lld ticks, not %.3Lf to %.3Lf", core,
			(long long)place.low, (long long)place.high, units_to_ticks(range.low), units_to_ticks(range.high)) &&
	    offset_is_known(ns))
		tally_check(CHECK_PLACE_NS, ns.low <= units_to_ticks(range.high) / per_ns &&
			    ns.high >= units_to_ticks(range.low) / per_ns,
			    "core %zu: %lld to %lld ns, not %.3Lf to %.3Lf", core, (long long)ns.low, (long long)ns.high,
			    units_to_ticks(range.low) / per_ns, units_to_ticks(range.high) / per_ns);
}

/* Checks the core's drift against the boot core. Time is measured in the boot core's ticks. */
static void
check_drift(const struct report *report, size_t core)
{
	struct offset drift = report_get_core_drift(report, &report->facts.cores[core]);
	long double truth = ((long double)machine.core[core].microhz / machine.core[0].microhz - 1) * PPB;

	if (core == 0 || !offset_is_known(drift) || !cores_are_both_stable(0, core))
		return;
	tally_check(CHECK_DRIFT, drift.low <= truth && truth <= drift.high, "core %zu: %lld to %lld ppb, not %.3Lf", core,
		    (long long)drift.low, (long long)drift.high, truth);
}

static bool
is_in_span(uint64_t at_ps, struct span span)
{
	return at_ps >= span.from_ps && at_ps <= span.to_ps;
}

/* Returns true if the machine's fault (a TSC that is set back, or a reading that is too high) was during a pass. */
static bool
did_fault_occur_in_pass(void)
{
	for (size_t i = 0; i < machine.faults; i++)
		if (is_in_span(machine.set_back_ps[i], machine.first) || is_in_span(machine.set_back_ps[i], machine.last))
			return true;
	return false;
}

/*
 * Returns the largest true offset between any two cores from the start of the first measurement pass until the first
 * core starts its last ping-pong. The report cannot show how this core's TSC moves later. Readings that are too high
 * count only if a pass had one, because only a pass compares the readings of two cores.
 */
static __int128
get_largest_true_offset(void)
{
	struct span span = { machine.first.from_ps, UINT64_MAX };
	bool has_fault = did_fault_occur_in_pass();
	__int128 most = 0;

	for (size_t i = 0; i < machine.cores; i++)
		span.to_ps = machine.core[i].last_seen_ps < span.to_ps ? machine.core[i].last_seen_ps : span.to_ps;

	for (size_t a = 0; a < machine.cores; a++)
		for (size_t b = a + 1; b < machine.cores; b++) {
			struct offset_range range = has_fault ? get_range_of_read_offset(a, b, span) : get_range_of_true_offset(a, b, span);

			most = -range.low > most ? -range.low : most;
			most = range.high > most ? range.high : most;
		}
	return most;
}

static void
check_offset_bound(const struct report *report)
{
	const struct report_skew *skew = &report->figures.skew;
	long double truth = units_to_ticks(get_largest_true_offset()), truth_ns = truth / verdict_get_tsc_hz(report) * 1e9L;
	long double trips_ns = 4.0L * skew->best_trip_ns < 10000 ? 4.0L * skew->best_trip_ns : 10000;
	long double loose_ns = trips_ns > 1000 ? trips_ns : 1000;

	if (!report->outcomes.sync.within_known)
		return;
	tally_check(CHECK_WITHIN, truth_ns <= report->outcomes.sync.within_ns,
		    "within %llu ns, not %.1Lf (%.1Lf ticks)%s",
		    (unsigned long long)report->outcomes.sync.within_ns, truth_ns, truth,
			    report->outcomes.sync.synchronised ? "" : "; said as \"at best\"");
	/* if synchronised is false, within_ns is only the best known bound, and may be large */
	if (report->outcomes.sync.synchronised)
		tally_check(CHECK_WITHIN_LOOSE, report->outcomes.sync.within_ns <= loose_ns,
			    "within %llu ns; best round trip %llu ns",
			    (unsigned long long)report->outcomes.sync.within_ns,
				    (unsigned long long)skew->best_trip_ns);
}

/*
 * Compares the widths of the report's offsets with the best possible widths. If no core's TSC moves, the best widths
 * follow from all pairs and all indirect paths over other cores.
 */
static void
check_offset_widths(const struct report_skew *skew)
{
	struct offset best[CORES_MAX][CORES_MAX];
	size_t count = skew->passes[0].offsets.cores;

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			best[i][j] = offsets_get_offset(&skew->passes[0].offsets, i, j);
	for (size_t k = 0; k < count; k++)
		for (size_t i = 0; i < count; i++)
			for (size_t j = 0; j < count; j++)
				best[i][j] = offset_intersect(best[i][j], offset_add(best[i][k], best[k][j]));
	for (size_t i = 1; i < count; i++) {
		struct offset place = skew->passes[0].core_offsets[i];

		if (!offset_is_known(place) || best[0][i].low >= best[0][i].high)
			continue;
		tally_record_width(WIDTH_OFFSET, (long double)place.high - place.low);
		tally_record_width(WIDTH_OFFSET_BEST,
				   ((long double)place.high - place.low) / (best[0][i].high - best[0][i].low));
	}
}

/* Returns the value of TSC_ADJUST that is wrong, as the rule RULE measures it; 0 if the rule is kept. */
static uint64_t
get_adjust_fault_ticks(const char *rule)
{
	size_t odd = machine.adjusted_core, other = odd == 0;

	if (odd == CORES_MAX)
		return strcmp(rule, "tsc-adjust") == 0 ? (uint64_t)llabs(machine.core[0].adjust) : 0;
	while (other < machine.cores && (other == odd || (machine.core[other].apic_id ^ machine.core[odd].apic_id) >>
							 machine.package_bits))
		other++;
	return strcmp(rule, "tsc-adjust") == 0 ? 0 :
	       (uint64_t)llabs(machine.core[odd].adjust - machine.core[other].adjust);
}

/* Checks that a finding on TSC_ADJUST exists exactly if a value is wrong, and has the right figure and core. */
static void
check_tsc_adjust(const struct report *report, const char *rule)
{
	const struct finding *finding = rules_find_finding(report, rule, "tsc");
	uint64_t ticks = get_adjust_fault_ticks(rule);

	tally_check(finding ? CHECK_CORE_NAMED : CHECK_CORE_SILENT,
		    finding ? (uint64_t)finding->measured == ticks &&
			      (finding->core == REPORT_NO_CORE || machine.adjusted_core == CORES_MAX ||
			       finding->core == machine.core[machine.adjusted_core].apic_id) : !ticks,
		    "%s of %llu ticks: %s", rule, (unsigned long long)ticks, finding ? finding->text : "no finding");
}

void
verdict_check_cores(const struct bench *bench)
{
	const struct report *report = &bench->run.report;
	bool still = true;

	if (report->figures.skew.pass_count > 0) {
		check_pair_offsets(&report->figures.skew);
		for (size_t i = 0; i < machine.cores; i++) {
			check_core_offset(report, i);
			check_drift(report, i);
			still &= cores_are_both_stable(i, i) && machine.core[i].microhz == machine.core[0].microhz;
		}
		check_offset_bound(report);
		if (still)
			check_offset_widths(&report->figures.skew);
	}
	if (machine.cores > 1)
		verdict_check_core_names(bench);
	check_tsc_adjust(report, "tsc-adjust");
	check_tsc_adjust(report, "tsc-adjust-unequal");
}
