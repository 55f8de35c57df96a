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

#define PRINTED_STEP_PS       (SIM_PS_PER_S / 10) /* times in the report have one decimal: a tenth of a second */
/* 1/20,000 is 50 ppm, the largest drawn error of a healthy oscillator, see draw_rates() */
#define CRYSTAL_PARTS 20000

static const char *
parse_seconds(const char *text, uint64_t *at_ps)
{
	char unit[4] = "";
	double number;
	int length = 0;

	if (sscanf(text, "%lf %3[ms]%n", &number, unit, &length) != 2 || (strcmp(unit, "s") != 0 && strcmp(unit, "ms") != 0))
		return NULL;
	*at_ps = machine.run.from_ps + (uint64_t)(number * (strcmp(unit, "s") == 0 ? 1e12 : 1e9));
	return text + length;
}

/* Parses "at 3.1 s" or "between 3.1 s and 9.8 s". */
static bool
parse_time_or_pair(const char *text, struct span *span)
{
	const char *at = strstr(text, " at "), *between = strstr(text, " between ");

	if (!between)
		return at && parse_seconds(at + 4, &span->from_ps) && parse_seconds(at + 4, &span->to_ps);
	between = parse_seconds(between + 9, &span->from_ps);
	return between && strncmp(between, " and ", 5) == 0 && parse_seconds(between + 5, &span->to_ps);
}

/* Parses "3.1 s" or "3.1 s to 3.4 s". */
static const char *
parse_time(const char *text, struct span *time)
{
	text = parse_seconds(text, &time->from_ps);
	time->to_ps = time->from_ps;
	return text && strncmp(text, " to ", 4) == 0 ? parse_seconds(text + 4, &time->to_ps) : text;
}

/* Parses "between 3.1 s and 9.8 s". Each of the two times may also be a span of time. */
static bool
parse_time_pair(const char *text, struct span *from, struct span *to)
{
	const char *between = strstr(text, " between ");

	between = between ? parse_time(between + 9, from) : NULL;
	return between && strncmp(between, " and ", 5) == 0 && parse_time(between + 5, to);
}

/*
 * Widens a printed span of time by the rounding in the text, and by the error of the crystal that defines the report's
 * second.
 */
static struct span
widen_by_rounding(struct span span)
{
	return (struct span){ span.from_ps - PRINTED_STEP_PS - span.from_ps / CRYSTAL_PARTS,
			      span.to_ps + PRINTED_STEP_PS + span.to_ps / CRYSTAL_PARTS };
}

/*
 * Returns true if the printed range of NEAR to FAR ns overlaps RANGE, which is converted to ns with the TSC rate of the
 * report. AHEAD is true if the printed offset is positive.
 */
static bool
is_offset_in_printed_range(const struct report *report, struct offset_range range, long double near,
			   long double far, bool ahead)
{
	long double per_ns = verdict_get_tsc_hz(report) / 1e9L;
	long double low = units_to_ticks(range.low) / per_ns, high = units_to_ticks(range.high) / per_ns;

	if (!ahead) {
		long double swap = -low;

		low = -high;
		high = swap;
	}
	return near <= high && low <= far;
}

/*
 * Returns true if a statement about several cores is true. A statement about a package must be true for all of its
 * cores. A statement about "5 cores (core 3 among them)" must be true for core 3, and for at least five cores.
 */
static bool
is_group_sentence_true(const struct report *report, const char *text, size_t other, struct span span,
		       long double near, long double far, bool ahead)
{
	size_t package, count, one, right = 0;
	bool is_package = sscanf(text, "The TSCs of all %zu cores of package %zu", &count, &package) == 2;

	if (!is_package && sscanf(text, "The TSCs of %zu cores (core %zu among them)", &count, &one) != 2)
		return false;
	for (size_t i = 0; i < machine.cores; i++) {
		bool is_it = is_offset_in_printed_range(report, get_range_of_read_offset(other, i, span), near, far, ahead);

		if (is_package ? machine.core[i].apic_id >> machine.package_bits == package : machine.core[i].apic_id == one)
			if (!is_it)
				return false;
		right += is_it;
	}
	return right >= count;
}

/*
 * Reads the first range of durations in TEXT, such as "10 to 20 ns" or "3.18 to 3.19 s". Stores it in ns. Returns the
 * text after it, or NULL if there is none.
 */
static const char *
parse_duration_range(const char *text, long double *near, long double *far)
{
	static const struct {
		char unit[3];
		long double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3L }, { "ms", 1e6L }, { "s", 1e9L } };
	char unit[3];
	int used = 0;

	for (; *text; text++) {
		if (*text < '0' || *text > '9' || sscanf(text, "%Lf to %Lf %2[a-z]%n", near, far, unit, &used) != 3)
			continue;
		for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
			if (strcmp(unit, units[i].unit) == 0) {
				*near *= units[i].ns;
				*far *= units[i].ns;
				return *near <= *far ? text + used : NULL;
			}
	}
	return NULL;
}

/*
 * Returns true if the named core stepped in the printed time, and if the printed size contains the true size of the
 * step.
 */
static bool
is_step_finding_true(const struct report *report, const struct finding *finding)
{
	long double per_ns = verdict_get_tsc_hz(report) / 1e9L, near, far, step;
	const char *size = strstr(finding->text, "'s TSC stepped "), *against = strstr(finding->text, " against core ");
	size_t core = find_core_by_apic_id(finding->core), other;
	unsigned id;
	struct span span;

	if (!size || !against || !parse_duration_range(size, &near, &far) || sscanf(against, " against core %u's", &id) != 1 ||
	    !parse_time_or_pair(against, &span) || core == machine.cores)
		return false;
	other = find_core_by_apic_id(id);
	span = widen_by_rounding(span);
	if (other == machine.cores || machine.core[core].steps_at_ps < span.from_ps ||
	    machine.core[core].steps_at_ps > span.to_ps)
		return false;
	step = machine.core[core].step / per_ns;
	return strncmp(size, "'s TSC stepped ahead", 20) == 0 ? near <= step && step <= far : near <= -step && -step <= far;
}

/*
 * Returns true if the offset in the finding was true at the stated time. It is the offset of a core or a group of
 * cores from another core.
 */
static bool
is_offset_finding_true(const struct report *report, const struct finding *finding)
{
	const char *group = strstr(finding->text, " are ");
	unsigned core, other;
	long double near, far;
	struct span span;
	char word[16];
	bool ahead;
	const char *end = strstr(finding->text, "'s TSC is ");

	if (sscanf(finding->text, "Core %u's TSC is ", &core) == 1 && end)
		group = NULL;
	end = parse_duration_range(group ? group : end ? end : "", &near, &far);
	if (!end || sscanf(end, " %15s", word) != 1)
		return false;
	ahead = strcmp(word, "ahead") == 0;
	if (sscanf(strstr(end, word) + strlen(word), ahead ? " of core %u" : " core %u", &other) != 1 ||
	    find_core_by_apic_id(other) == machine.cores || !parse_time_or_pair(finding->text, &span))
		return false;
	if (group)
		return is_group_sentence_true(report, finding->text, find_core_by_apic_id(other),
					      widen_by_rounding(span), near, far, ahead);
	return find_core_by_apic_id(core) < machine.cores &&
	       is_offset_in_printed_range(report, get_range_of_read_offset(find_core_by_apic_id(other),
								      find_core_by_apic_id(core),
								      widen_by_rounding(span)), near, far, ahead);
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
 * Stores the times that the printed TIME may mean: the earliest, the latest, and the times just before and after each
 * step of the two cores in this range. If one of the cores has a fault, TIME may mean any time in TOURNAMENT, the span
 * of the measurement pass, and each time at which the core's TSC is set back is a step. Returns the number of stored
 * times.
 */
static size_t
find_possible_times(struct span time, struct span tournament, size_t core, size_t other, uint64_t *moments)
{
	bool has_fault = machine_core_has_fault(core) || machine_core_has_fault(other);
	struct span said = has_fault ? tournament : widen_by_rounding(time);
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
 * Returns true if the average drift between two printed times can be in the printed range. The drift is calculated for
 * all times that the two printed times may mean.
 */
static bool
is_average_drift_in_range(size_t core, size_t other, const struct span *stretch, long double near, long double far)
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
	return near <= high && low <= far;
}

/* Returns true if a finding's statement about a core's drift is true. The drift is relative to another core. */
static bool
is_drift_finding_true(const struct finding *finding)
{
	const char *than = strstr(finding->text, " than ");
	unsigned id, other;
	size_t core;
	unsigned long near, far;
	struct span stretch[2];
	char word[16];
	bool faster;

	if (sscanf(finding->text, "Core %u's TSC ran %lu to %lu ppb %15s", &id, &near, &far, word) != 4 || !than ||
	    !parse_time_pair(finding->text, &stretch[0], &stretch[1]) || near > far)
		return false;
	core = find_core_by_apic_id(id);
	faster = strcmp(word, "faster") == 0;
	if (core == machine.cores || (!faster && strcmp(word, "slower") != 0))
		return false;
	if (sscanf(than, " than core %u's", &other) != 1 || find_core_by_apic_id(other) == machine.cores)
		return false;
	return faster ? is_average_drift_in_range(core, find_core_by_apic_id(other), stretch, near, far)
		      : is_average_drift_in_range(core, find_core_by_apic_id(other), stretch, -(long double)far,
						  -(long double)near);
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
	const char *worst = strstr(finding->text, "the worst is "), *by = worst ? strstr(worst, ", by ") : NULL;
	size_t count = 0, known = 0, moving = 0;
	struct span span;
	unsigned ids[3];

	if (worst && sscanf(worst, "the worst is between core %u and core %u,", &ids[0], &ids[1]) == 2)
		count = 2;
	else if (worst && sscanf(worst, "the worst is among cores %u, %u and %u,", &ids[0], &ids[1], &ids[2]) == 3)
		count = 3;
	for (size_t i = 0; i < count; i++) {
		known += find_core_by_apic_id(ids[i]) < machine.cores;
		moving += find_core_by_apic_id(ids[i]) < machine.cores &&
			  does_core_drift_or_step(find_core_by_apic_id(ids[i]));
	}
	return count && known == count && moving && by && parse_time_or_pair(by, &span);
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
	const struct report_skew *skew = &report->figures.skew;
	bool is_step = strstr(finding->text, "'s TSC stepped ") && strcmp(finding->rule, "tsc-offset") == 0;
	bool is_offset = !is_step && strcmp(finding->rule, "tsc-offset") == 0;
	bool is_drift = strcmp(finding->rule, "tsc-drift") == 0;
	size_t named = find_core_by_apic_id(finding->core);
	struct span span = { 0, 0 }, end = { 0, 0 };
	bool has_time = is_drift ? parse_time_pair(finding->text, &span, &end) : parse_time_or_pair(finding->text, &span);

	if (is_drift)
		span.to_ps = end.to_ps;
	if ((is_offset || is_step || is_drift) && named < machine.cores)
		tally_check(CHECK_CORE_NAMED, has_time && does_core_differ_from_majority(named, span), "%s%s", finding->text,
			    has_majority ? "" : " (no class of cores is most)");
	if (is_offset)
		tally_check(CHECK_SENTENCE, is_offset_finding_true(report, finding), "%s", finding->text);
	if (is_step && !machine_core_has_fault(named))
		tally_check(CHECK_MOTION, is_step_finding_true(report, finding), "core %zu, step %lld: %s", named,
			    (long long)machine.core[named].step, finding->text);
	if (is_drift)
		tally_check(CHECK_SENTENCE, is_drift_finding_true(finding), "%s", finding->text);
	if (strcmp(finding->rule, "clock-backward") == 0)
		check_step_back_finding(finding);
	if (is_drift && named < machine.cores && has_majority && !machine_core_has_fault(named))
		check_drift_steady_or_step(finding, named);
	if (strcmp(finding->rule, "tsc-contradiction") == 0)
		tally_check(CHECK_SENTENCE, is_contradiction_finding_true(finding), "%s", finding->text);
	if (strcmp(finding->rule, "tsc-warp") == 0) {
		const struct report_contended *worst =
			skew->locked.worst_ticks > skew->lock_free.worst_ticks ? &skew->locked : &skew->lock_free;
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
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		if (finding->core == REPORT_NO_CORE && strstr(finding->text, "nothing shows"))
			continue;
		if (strcmp(finding->rule, "tsc-offset") == 0 &&
		    (report->facts.cores[core].stepped ||
		     (report->facts.cores[core].off_majority && !report->facts.cores[core].drifts)))
			return true;
		if (strcmp(finding->rule, "tsc-drift") == 0 && report->facts.cores[core].drifts)
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
		tally_check(CHECK_CORE_SILENT, is_marked_as_off(report, core) || report->facts.cores[core].steps_back,
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
				    report->facts.cores[i].drifts ? "it drifts" : "it is off the majority");
		if (has_majority && is_outside_majority(i) && report->figures.skew.pass_count > 0)
			check_core_is_reported(bench, i);
	}
	if (machine.faults && machine.ahead_ticks + machine.set_back_ticks >= FAULT_SEEN_TICKS)
		tally_check(CHECK_CORE_SILENT, report->facts.cores[machine.fault_core].steps_back,
			    "core %zu has its fault every %llu reads",
			    machine.fault_core, (unsigned long long)machine.fault_reads);
	if (report->figures.skew.pass_count > 0)
		check_any_core_fault_is_reported(bench);
}
