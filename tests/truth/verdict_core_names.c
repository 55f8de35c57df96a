/*
 * Checks that the cores named in a report are the faulty ones, and that its statements about them are true. See
 * verdict.h.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sync/offsets.h"
#include "tally.h"
#include "verdict.h"
#include "verdict_cores.h"

/*
 * A TSC fault of at least this size must be reported. Two successive readings in a latency measurement are always less
 * than 20,000 ticks (5 us at 4 GHz) apart, so such a step back is visible.
 */
#define FAULT_SEEN_TICKS 20000
/*
 * A core's fault must be reported if at least this number of faults is expected in its compared readings. If 16 are
 * expected, the probability of none is e^-16, 1 in 9 million.
 */
#define FAULTS_EXPECTED_MIN 16

static size_t majority_class;
static bool has_majority;

static size_t
find_core_by_apic_id(uint32_t apic_id)
{
	size_t core = 0;

	while (core < machine.cores && machine.core[core].apic_id != apic_id)
		core++;
	return core;
}

static bool
is_outside_majority(size_t core)
{
	return has_majority && machine_find_core_with_equal_tsc(core) != majority_class;
}

/*
 * Returns true if more than half of all cores lie in a range that is narrower than CORE's distance from it. The report
 * may then name CORE even if no majority of cores agrees exactly. For example, three cores are within 20 ns, and a
 * fourth is 5 us away. It is enough to check the ranges that start at one core's position and end at another's.
 */
bool
cores_is_core_far_from_most(size_t core, const __int128 *positions)
{
	size_t most = machine.cores / 2 + 1;

	for (size_t i = 0; i < machine.cores; i++)
		for (size_t j = 0; j < machine.cores; j++) {
			__int128 low = positions[i], high = positions[j], from;
			size_t inside = 0;

			if (low > high || (positions[core] >= low && positions[core] <= high))
				continue;
			for (size_t k = 0; k < machine.cores; k++)
				inside += positions[k] >= low && positions[k] <= high;
			from = positions[core] < low ? low - positions[core] : positions[core] - high;
			if (inside >= most && high - low < from)
				return true;
		}
	return false;
}

static bool
has_wrong_offset_at(size_t core, uint64_t at_ps)
{
	__int128 positions[CORES_MAX];

	for (size_t i = 0; i < machine.cores; i++)
		positions[i] = machine_get_tsc_at(i, at_ps);
	return cores_is_core_far_from_most(core, positions);
}

static bool
does_core_drift_from_most(size_t core, struct span span)
{
	__int128 positions[CORES_MAX];

	for (size_t i = 0; i < machine.cores; i++)
		positions[i] = machine_get_tsc_at(i, span.to_ps) - machine_get_tsc_at(i, span.from_ps);
	return cores_is_core_far_from_most(core, positions);
}

/*
 * Returns true if the core differs from a majority at the start or the end of the span, or moved against it in
 * between.
 */
static bool
does_core_differ_from_majority(size_t core, struct span span)
{
	if (has_majority)
		return is_outside_majority(core);
	return has_wrong_offset_at(core, span.from_ps) || has_wrong_offset_at(core, span.to_ps) ||
	       does_core_drift_from_most(core, span);
}

/* Returns the time at which the boot core's TSC read VALUE, if it counts evenly. */
static uint64_t
get_time_of_tsc(uint64_t value)
{
	long double ticks = value - units_to_ticks(machine_get_tsc_at(0, machine.run.from_ps));

	return machine.run.from_ps + (uint64_t)(ticks / machine.hz[TSC] * SIM_PS_PER_S);
}

/* Returns the time span of MOMENT, wider by the step of the boot core's TSC and by a tick; { 0, 0 } for no moment. */
static struct span
get_span_of_moment(struct moment moment)
{
	long double ticks = machine.core[0].steps_at_ps == SIM_NEVER ? 1 : 1 + fabsl((long double)machine.core[0].step);
	uint64_t error_ps = (uint64_t)(ticks / machine.hz[TSC] * SIM_PS_PER_S);

	if (!moment.end_tsc)
		return (struct span){ 0, 0 };
	return (struct span){ get_time_of_tsc(moment.begin_tsc) - error_ps, get_time_of_tsc(moment.end_tsc) + error_ps };
}

/*
 * Returns true if the difference in FINDING overlaps RANGE, which is converted to ns with the TSC rate of the report.
 */
static bool
is_range_in_finding(const struct report *report, struct offset_range range, const struct finding *finding)
{
	long double per_ns = verdict_get_tsc_hz(report) / 1e9L;
	long double low = units_to_ticks(range.low) / per_ns, high = units_to_ticks(range.high) / per_ns;
	bool ahead = finding->difference == DIFFERENCE_AHEAD;

	return finding->low <= (ahead ? high : -low) && (ahead ? low : -high) <= finding->high;
}

static bool
contains(struct moment outer, struct moment inner)
{
	return outer.begin_tsc <= inner.begin_tsc && inner.end_tsc <= outer.end_tsc;
}

/* Returns the number of the measurement pass (the first or the last) in which the finding's cores were measured. */
static size_t
find_pass_of_finding(const struct report *report, const struct finding *finding)
{
	const struct offsets *first = &report->figures.skew.passes[0].offsets;

	return contains((struct moment){ first->begin_tsc, first->end_tsc }, finding->seen) ? 0 : REPORT_PASSES - 1;
}

/*
 * Returns true if the subject of the sentence is right: "all 4 cores of package 1", or "4 cores (core 2 among them)".
 * MEMBERS has the COUNT cores of the group.
 */
static bool
is_group_named_right(const struct finding *finding, const bool *members, size_t count, size_t first)
{
	uint32_t package = machine.core[first].apic_id >> machine.package_bits;
	bool is_package = true;
	char text[96];

	for (size_t i = 0; i < machine.cores; i++)
		is_package &= members[i] == (machine.core[i].apic_id >> machine.package_bits == package);
	snprintf(text, sizeof(text), is_package ? "The TSCs of all %zu cores of package %u are " :
		 "The TSCs of %zu cores (core %u among them) are ", count, is_package ? package : machine.core[first].apic_id);
	return strncmp(finding->text, text, strlen(text)) == 0;
}

/*
 * Returns true if at least two cores differ from the majority in the finding's measurement pass, each of them differs
 * from core OTHER as FINDING says, and the sentence names the group.
 */
static bool
is_group_finding_true(const struct report *report, const struct finding *finding, size_t other, struct span span)
{
	const struct report_skew *skew = &report->figures.skew;
	const bool *off = report->outcomes.sync.passes[find_pass_of_finding(report, finding)].off;
	bool members[CORES_MAX] = { false };
	size_t count = 0, first = 0;

	for (size_t rank = 0; rank < skew->passes[0].offsets.cores; rank++) {
		if (!off[rank])
			continue;
		if (!is_range_in_finding(report, get_range_of_read_offset(other, skew->core_of[rank], span), finding))
			return false;
		members[skew->core_of[rank]] = true;
		first = count++ ? first : skew->core_of[rank];
	}
	return count > 1 && is_group_named_right(finding, members, count, first);
}

/* Returns true if the sentence has the words for the finding's fields: the difference and the other core. */
static bool
does_sentence_agree(const struct finding *finding)
{
	char other[32];

	snprintf(other, sizeof(other), " core %u's", finding->against);
	return finding->seen.end_tsc && strstr(finding->text, tsc_difference_words[finding->difference]) &&
	       strstr(finding->text, other);
}

/* Returns the core that differs in FINDING: the one that is proven to, or the last of a pair, or machine.cores. */
static size_t
find_differing_core(const struct finding *finding)
{
	return find_core_by_apic_id(finding->core == REPORT_NO_CORE && finding->core_count ?
				    finding->cores[finding->core_count - 1] : finding->core);
}

/* Returns true if the named core stepped in the stated time, by a size in the stated range. */
static bool
is_step_finding_true(const struct report *report, const struct finding *finding)
{
	size_t core = find_core_by_apic_id(finding->core);
	struct span span = get_span_of_moment(finding->seen);
	long double step;

	if (core == machine.cores || find_core_by_apic_id(finding->against) == machine.cores ||
	    !does_sentence_agree(finding) ||
	    machine.core[core].steps_at_ps < span.from_ps || machine.core[core].steps_at_ps > span.to_ps)
		return false;
	step = machine.core[core].step / (verdict_get_tsc_hz(report) / 1e9L);
	step = finding->difference == DIFFERENCE_STEPPED_AHEAD ? step : -step;
	return finding->low <= step + 1 && finding->high >= step - 1;
}

/*
 * Returns true if the offset in the finding was true at the stated time. It is the offset of a core or a group of
 * cores from another core.
 */
static bool
is_offset_finding_true(const struct report *report, const struct finding *finding)
{
	size_t core = find_differing_core(finding), other = find_core_by_apic_id(finding->against);
	struct span span = get_span_of_moment(finding->seen);

	if (other == machine.cores || !does_sentence_agree(finding) ||
	    (finding->difference != DIFFERENCE_AHEAD && finding->difference != DIFFERENCE_BEHIND))
		return false;
	if (finding->core == REPORT_NO_CORE && !finding->core_count)
		return is_group_finding_true(report, finding, other, span);
	return core < machine.cores && is_range_in_finding(report, get_range_of_read_offset(other, core, span), finding);
}

/* Returns by how many ppb CORE's TSC was faster than OTHER's. Time is measured in ticks of the boot core's TSC. */
static long double
get_average_drift_ppb(size_t core, size_t other, uint64_t from_ps, uint64_t to_ps)
{
	__int128 own = machine_get_tsc_at(core, to_ps) - machine_get_tsc_at(core, from_ps);
	__int128 others = machine_get_tsc_at(other, to_ps) - machine_get_tsc_at(other, from_ps);
	__int128 boot = machine_get_tsc_at(0, to_ps) - machine_get_tsc_at(0, from_ps);

	return (long double)(own - others) / (long double)boot * PPB;
}

#define POSSIBLE_TIMES_MAX (6 + 2 * SET_BACK_MAX)

/* Adds the times just before and after a step at STEP_PS to the COUNT times in MOMENTS, if the step is in SPAN. */
static size_t
add_times_around_step(struct span span, uint64_t step_ps, uint64_t *moments, size_t count)
{
	if (step_ps <= span.from_ps || step_ps >= span.to_ps)
		return count;
	moments[count++] = step_ps - 1;
	moments[count++] = step_ps;
	return count;
}

/*
 * Stores the times at which the pair may have been measured in SPAN: its ends, and the times just before and after each
 * step of the two cores in it. If one of the cores has a fault, this may be any time in TOURNAMENT, the span of the
 * measurement pass, and each time at which the core's TSC is set back is a step. Returns the number of stored times.
 */
static size_t
find_possible_times(struct span span, struct span tournament, size_t core, size_t other, uint64_t *moments)
{
	bool has_fault = machine_core_has_fault(core) || machine_core_has_fault(other);
	struct span said = has_fault ? tournament : span;
	size_t count = 0;

	moments[count++] = said.from_ps;
	moments[count++] = said.to_ps;
	count = add_times_around_step(said, machine.core[core].steps_at_ps, moments, count);
	count = add_times_around_step(said, machine.core[other].steps_at_ps, moments, count);
	for (size_t i = 0; has_fault && machine.set_back_ticks && i < machine.faults; i++)
		count = add_times_around_step(said, machine.set_back_ps[i], moments, count);
	return count;
}

/*
 * Returns true if the average drift between two time spans can be from LEAST to MOST ppb. The drift is calculated for
 * all possible times in the two spans.
 */
static bool
is_average_drift_in_range(size_t core, size_t other, const struct span *stretch, long double least, long double most)
{
	static uint64_t from[POSSIBLE_TIMES_MAX], to[POSSIBLE_TIMES_MAX];
	size_t begins = find_possible_times(stretch[0], machine.first, core, other, from),
	       ends = find_possible_times(stretch[1], machine.last, core, other, to);
	long double low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < begins; i++)
		for (size_t j = 0; j < ends; j++) {
			long double ppb = get_average_drift_ppb(core, other, from[i], to[j]);

			low = ppb < low ? ppb : low;
			high = ppb > high ? ppb : high;
		}
	/* a faulty core's reading at the start or the end may be too high by ahead_ticks */
	if (machine_core_has_fault(core) || machine_core_has_fault(other)) {
		__int128 boot = machine_get_tsc_at(0, stretch[1].to_ps) - machine_get_tsc_at(0, stretch[0].from_ps);
		long double too_high_ppb = (long double)(machine.ahead_ticks * TICK) / (long double)boot * PPB;

		low -= too_high_ppb;
		high += too_high_ppb;
	}
	return least <= high && low <= most;
}

/* Returns when the cores A and B were measured against each other in PASS. */
static struct moment
get_moment_of_pair(const struct report *report, const struct report_pass *pass, size_t a, size_t b)
{
	size_t rank_a = report_get_core_figures(report, &report->facts.cores[a])->rank,
	       rank_b = report_get_core_figures(report, &report->facts.cores[b])->rank;

	if (rank_a >= pass->offsets.cores || rank_b >= pass->offsets.cores)
		return (struct moment){ 0, 0 };
	return offsets_get_time_of_pair(&pass->offsets, rank_a, rank_b);
}

/* Returns true if a finding's statement about a core's drift is true. The drift is relative to another core. */
static bool
is_drift_finding_true(const struct report *report, const struct finding *finding)
{
	size_t core = find_differing_core(finding), other = find_core_by_apic_id(finding->against);
	bool faster = finding->difference == DIFFERENCE_FASTER;
	struct span stretch[2];
	struct moment from, to;

	if (core == machine.cores || other == machine.cores || !does_sentence_agree(finding) ||
	    (!faster && finding->difference != DIFFERENCE_SLOWER))
		return false;
	from = get_moment_of_pair(report, report->figures.skew.passes, other, core);
	to = get_moment_of_pair(report, report_get_last_pass(report), other, core);
	if (!from.end_tsc || finding->seen.begin_tsc != from.begin_tsc || finding->seen.end_tsc != to.end_tsc)
		return false;
	stretch[0] = get_span_of_moment(from);
	stretch[1] = get_span_of_moment(to);
	return is_average_drift_in_range(core, other, stretch, faster ? finding->low : -finding->high,
					 faster ? finding->high : -finding->low);
}

/* Checks the word "steadily" in the finding. "Steadily or by a step" and "unevenly" say nothing that could be false. */
static void
check_drift_steady_or_step(const struct finding *finding, size_t core)
{
	bool stepped = machine.core[core].steps_at_ps != SIM_NEVER;

	if (strstr(finding->text, ", steadily, "))
		tally_check(CHECK_MOTION, !stepped, "core %zu stepped: %s", core, finding->text);
	else
		tally_count_unreported_fault(stepped ? "a step that is not told from a drift" :
					     "a drift that is not told from a step", 0);
}

static bool
does_core_drift_or_step(size_t core)
{
	return machine.core[core].steps_at_ps != SIM_NEVER || machine_core_has_fault(core) ||
	       (has_majority ? machine.core[core].microhz != machine.core[majority_class].microhz : true);
}

/*
 * Returns true if a finding about cores whose offsets are inconsistent is right: the TSC of at least one of the named
 * cores steps, or has another rate than the majority's TSCs.
 */
static bool
is_contradiction_finding_true(const struct finding *finding)
{
	size_t moving = 0;

	for (size_t i = 0; i < finding->core_count; i++) {
		if (find_core_by_apic_id(finding->cores[i]) == machine.cores)
			return false;
		moving += does_core_drift_or_step(find_core_by_apic_id(finding->cores[i]));
	}
	return moving && finding->seen.end_tsc;
}

/* Checks a finding that a core's TSC stepped back: the named core must have this fault. */
static void
check_step_back_finding(const struct finding *finding)
{
	if (finding->core != REPORT_NO_CORE)
		tally_check(CHECK_CORE_NAMED, find_core_by_apic_id(finding->core) < machine.cores &&
					machine_does_tsc_step_back(find_core_by_apic_id(finding->core)),
			    "%s", finding->text);
	for (size_t i = 0; i < finding->core_count; i++)
		tally_check(CHECK_CORE_NAMED, find_core_by_apic_id(finding->cores[i]) < machine.cores &&
					machine_does_tsc_step_back(find_core_by_apic_id(finding->cores[i])),
			    "%s", finding->text);
}

static void
check_finding(const struct report *report, const struct finding *finding)
{
	bool is_step = finding->difference == DIFFERENCE_STEPPED_AHEAD || finding->difference == DIFFERENCE_STEPPED_BACK;
	bool is_offset = !is_step && strcmp(finding->rule, "tsc-offset") == 0;
	bool is_drift = strcmp(finding->rule, "tsc-drift") == 0;
	size_t named = find_core_by_apic_id(finding->core);

	if ((is_offset || is_step || is_drift) && named < machine.cores)
		tally_check(CHECK_CORE_NAMED, finding->seen.end_tsc &&
			    does_core_differ_from_majority(named, get_span_of_moment(finding->seen)),
			    "%s%s", finding->text, has_majority ? "" : " (no class of cores is most)");
	if (is_offset)
		tally_check(CHECK_SENTENCE, is_offset_finding_true(report, finding), "%s", finding->text);
	if (is_step && !machine_core_has_fault(named))
		tally_check(CHECK_MOTION, is_step_finding_true(report, finding), "core %zu, step %lld: %s", named,
			    (long long)machine.core[named].step, finding->text);
	if (is_drift)
		tally_check(CHECK_SENTENCE, is_drift_finding_true(report, finding), "%s", finding->text);
	if (strcmp(finding->rule, "clock-backward") == 0)
		check_step_back_finding(finding);
	if (is_drift && named < machine.cores && has_majority && !machine_core_has_fault(named))
		check_drift_steady_or_step(finding, named);
	if (strcmp(finding->rule, "tsc-contradiction") == 0)
		tally_check(CHECK_SENTENCE, is_contradiction_finding_true(finding), "%s", finding->text);
	if (strcmp(finding->rule, "tsc-warp") == 0) {
		const struct warp_checks *checks = &report->facts.warp_checks;
		const struct report_contended *worst =
			checks->locked.worst_ticks > checks->lock_free.worst_ticks ? &checks->locked : &checks->lock_free;
		size_t a = find_core_by_apic_id(worst->worst_a), b = find_core_by_apic_id(worst->worst_b);

		tally_check(CHECK_SENTENCE,
			    machine_find_core_with_equal_tsc(a) != machine_find_core_with_equal_tsc(b), "%s", finding->text);
	}
}

/*
 * Returns true if the report's tables mark the core as off, and a finding says that cores with this mark are off the
 * majority.
 */
static bool
is_marked_as_off(const struct report *report, size_t core)
{
	const struct sync_outcome *sync = &report->outcomes.sync;
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		if (finding->core == REPORT_NO_CORE &&
		    (finding->core_count || sync->passes[find_pass_of_finding(report, finding)].no_majority))
			continue;
		if (strcmp(finding->rule, "tsc-offset") == 0 &&
		    (sync->cores[core].stepped || (sync->cores[core].off_majority && !sync->cores[core].drifts)))
			return true;
		if (strcmp(finding->rule, "tsc-drift") == 0 && sync->cores[core].drifts)
			return true;
	}
	return false;
}

/*
 * Returns true if one measurement pass proves that the pair's offset is at least 1 ns. The limits are in ns, so
 * smaller offsets are not reported.
 */
static bool
is_offset_proven(const struct report *report, const struct offsets *offsets, size_t a, size_t b)
{
	struct offset offset = offsets_get_offset(offsets, a, b);

	return offset_is_known(offset) && offset_min_abs(offset) / (verdict_get_tsc_hz(report) / 1e9L) >= 1;
}

/* Returns true if the pass proves that cores I and SPEAKER are nearer to each other than CORE is to either of them. */
static bool
is_core_far_from_pair(const struct offsets *offsets, size_t speaker, size_t i, size_t core)
{
	uint64_t spread = i == speaker ? 0 : offset_max_abs(offsets_get_offset(offsets, speaker, i));

	return spread <= offset_min_abs(offsets_get_offset(offsets, i, core)) &&
	       spread <= offset_min_abs(offsets_get_offset(offsets, speaker, core));
}

/*
 * Returns true if the report had enough proof to name CORE. One measurement pass must prove that CORE differs from more
 * than half of all cores. With AS_GROUP, the pass must also prove is_core_far_from_pair() for each of these cores and
 * one common core. Without such a proof, the report cannot tell which core is off.
 */
static bool
can_core_be_named(const struct report *report, const struct offsets *offsets, size_t core, bool as_group)
{
	for (size_t s = 0; s < machine.cores; s++) {
		size_t count = 0;

		for (size_t i = 0; i < machine.cores && machine_find_core_with_equal_tsc(s) == majority_class; i++)
			count += machine_find_core_with_equal_tsc(i) == majority_class &&
				 is_offset_proven(report, offsets, i, core) &&
				 (!as_group || is_core_far_from_pair(offsets, s, i, core));
		if (count * 2 > machine.cores)
			return true;
	}
	return false;
}

static bool
has_report_any_finding(const struct report *report)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		if (strncmp(report->outcomes.findings[i].rule, "tsc-", 4) == 0 ||
		    (report->outcomes.findings[i].clock && strcmp(report->outcomes.findings[i].clock, "tsc") == 0))
			return true;
	return false;
}

static void
check_core_is_reported(const struct bench *bench, size_t core)
{
	const struct report *report = &bench->run.report;
	const struct offsets *first = &report->figures.skew.passes[0].offsets,
				      *latest = &report_get_last_pass(report)->offsets;
	bool again = report->figures.skew.pass_count > 1;
	struct offset_range range = get_range_of_read_offset(majority_class, core, machine.run);
	__int128 most = -range.low > range.high ? -range.low : range.high;
	long double trip = report->figures.skew.best_trip_ns * (machine.hz[TSC] / 1e9L),
		size = trip > 0 ? units_to_ticks(most) / trip : 0;

	if (can_core_be_named(report, first, core, true) || (again && can_core_be_named(report, latest, core, true)))
		tally_check(CHECK_CORE_SILENT, is_marked_as_off(report, core) || report->outcomes.sync.cores[core].steps_back,
			    "core %zu is up to %.0Lf ticks off, proven by most (%s)", core, units_to_ticks(most),
			    report->outcomes.finding_count ? report->outcomes.findings[0].text : "nothing is said");
	else if (is_marked_as_off(report, core))
		return;
	else if (can_core_be_named(report, first, core, false) ||
		 (again && can_core_be_named(report, latest, core, false)))
		tally_count_unreported_fault("cores not further off than the others may be from each other", size);
	else
		tally_count_unreported_fault("cores that no more than half prove (in round trips)", size);
}

/* Checks that the report says at least that some cores differ or moved, even if it cannot name a core. */
static void
check_any_core_fault_is_reported(const struct bench *bench)
{
	const struct report *report = &bench->run.report;
	const struct offsets *first = &report->figures.skew.passes[0].offsets,
				      *latest = &report_get_last_pass(report)->offsets;
	size_t proofs = 0;

	for (size_t i = 0; i < machine.cores; i++)
		for (size_t j = i + 1; j < machine.cores; j++)
			proofs += is_offset_proven(report, first, i, j) || offsets_get_movement_ticks(first, i, j) > 0 ||
				  (report->figures.skew.pass_count > 1 &&
				   (is_offset_proven(report, latest, i, j) || offsets_get_movement_ticks(latest, i, j) > 0));
	if (proofs)
		tally_check(CHECK_CORE_SILENT, has_report_any_finding(report),
			    "%zu pairs are proven to differ, and nothing is said", proofs);
	else if (!has_majority && !has_report_any_finding(report))
		tally_count_unreported_fault("no class of cores is most, no pair proves it", 0);
}

/*
 * Checks that the core whose readings are faulty is named, if enough of them were compared with the reading before. The
 * others are stamps of ping-pongs, the first readings of a batch and readings as a clock, which prove no step back.
 */
static void
check_faulty_core_is_named(const struct report *report)
{
	const struct report_core *core = &report->facts.cores[machine.fault_core];
	bool is_named = report->outcomes.sync.cores[machine.fault_core].steps_back;
	long double expected = (long double)core->tsc.reads / (long double)machine.fault_reads;

	if (!machine.faults || machine.ahead_ticks + machine.set_back_ticks < FAULT_SEEN_TICKS)
		return;
	/* After SET_BACK_MAX faults, the core is healthy, and perhaps its readings are compared only then. */
	if (is_named || (expected >= FAULTS_EXPECTED_MIN && machine.faults < SET_BACK_MAX))
		tally_check(CHECK_CORE_SILENT, is_named, "core %zu has its fault every %llu reads, of which %llu were compared",
			    machine.fault_core, (unsigned long long)machine.fault_reads,
			    (unsigned long long)core->tsc.reads);
	else
		tally_count_unreported_fault("cores with too few faults in the compared reads",
					     expected / FAULTS_EXPECTED_MIN);
}

void
verdict_check_core_names(const struct bench *bench)
{
	const struct report *report = &bench->run.report;
	struct span tournaments = { machine.first.to_ps, machine.last.to_ps ? machine.last.from_ps : machine.first.to_ps };

	majority_class = 0;
	has_majority = machine_count_majority_cores(&majority_class) > 0;
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		check_finding(report, &report->outcomes.findings[i]);
	for (size_t i = 0; i < machine.cores; i++) {
		if (is_marked_as_off(report, i))
			tally_check(CHECK_CORE_NAMED, does_core_differ_from_majority(i, tournaments),
				    "core %zu is marked: %s", i,
				    report->outcomes.sync.cores[i].drifts ? "it drifts" : "it is off the majority");
		if (has_majority && is_outside_majority(i) && report->figures.skew.pass_count > 0)
			check_core_is_reported(bench, i);
	}
	check_faulty_core_is_named(report);
	if (report->figures.skew.pass_count > 0)
		check_any_core_fault_is_reported(bench);
}
