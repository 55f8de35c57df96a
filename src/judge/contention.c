/*
 * Judges how much longer a read takes while all cores read the clock at the same time. On hardware, the reads of a
 * device queue, so N cores may each wait N times as long. This is no fault, and only guests are judged there: an
 * emulator may serialise the exits of all virtual cores. A TSC belongs to its core, so its reads must not wait on any
 * machine.
 */
#include "judge/judge_internal.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/text.h"

#define TENTHS 10
/*
 * Reads that wait for each of N cores once take at most N times as long, with an error of 1/4. If they take longer, the
 * virtual cores did not all run: the host has fewer processors, which is no fault of the clock.
 */
#define QUEUE_ERROR_SHARE 4

/* Median latencies of a clock on one core in ns, without the bracket: alone, and while all cores read. */
struct contended_read {
	uint64_t alone_ns, together_ns;
};

/*
 * Returns false if the clock was not measured on CORE in both ways. The bracket is not subtracted from a read that is
 * as short as the bracket, because the difference of two short times is too inexact.
 */
static bool
get_contended_read(const struct report_core *core, size_t clock, size_t null, struct contended_read *read)
{
	uint64_t alone_ns = core->latency[clock].p50_ns, bracket_ns = core->latency[null].p50_ns;

	if (!core->latency[clock].count || !core->contended[clock].count || !core->latency[null].count || !alone_ns)
		return false;
	if (alone_ns < 2 * bracket_ns || core->contended[clock].p50_ns < bracket_ns)
		bracket_ns = 0;
	*read = (struct contended_read){ alone_ns - bracket_ns, core->contended[clock].p50_ns - bracket_ns };
	return true;
}

static uint64_t
factor_in_tenths(const struct contended_read *read)
{
	return scale_mul_div(read->together_ns, TENTHS, read->alone_ns);
}

/* Returns the number of measured cores. Sets BELOW to the number of cores with a factor below BOUND. */
static size_t
count_contended_cores(const struct report *report, size_t clock, size_t null, uint64_t bound, size_t *below)
{
	struct contended_read read;
	size_t count = 0;

	*below = 0;
	for (size_t i = 0; i < report->facts.core_count; i++) {
		if (!get_contended_read(&report->facts.cores[i], clock, null, &read))
			continue;
		count++;
		*below += factor_in_tenths(&read) < bound;
	}
	return count;
}

/*
 * Returns the core with the median factor, the lower one of two, or NULL. Sets COUNT to the number of measured cores.
 */
static const struct report_core *
find_median_core(const struct report *report, size_t clock, size_t null, size_t *count)
{
	uint64_t median = 0;
	size_t below;
	struct contended_read read;

	for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1) {
		*count = count_contended_cores(report, clock, null, median | bit, &below);
		if (*count && below <= (*count - 1) / 2)
			median |= bit;
	}
	for (size_t i = 0; i < report->facts.core_count && *count; i++)
		if (get_contended_read(&report->facts.cores[i], clock, null, &read) &&
		    factor_in_tenths(&read) == median)
			return &report->facts.cores[i];
	return NULL;
}

static void
judge_contended_clock(const struct report *report, struct outcomes *outcomes, size_t clock, size_t null)
{
	const struct report_clock *entry = &report->facts.clocks[clock];
	uint64_t limit = rules_get_limit_by_id(report, "clock-contended") * TENTHS, factor;
	size_t cores;
	const struct report_core *core = find_median_core(report, clock, null, &cores);
	struct contended_read read;

	if (!core || (!report_is_guest(report) && !text_equal(entry->clock.main, "tsc")))
		return;
	get_contended_read(core, clock, null, &read);
	factor = factor_in_tenths(&read);
	if (factor <= limit || factor > cores * TENTHS + cores * TENTHS / QUEUE_ERROR_SHARE)
		return;
	rules_set_count(rules_add_finding(report, outcomes, "clock-contended", entry->clock.id, REPORT_NO_CORE,
					  "While %zu cores read %s at the same time, a read takes %lu times as long as on one core "
					  "alone: %s instead of %s on the median core.", cores, entry->clock.id,
					  scale_mul_div_nearest(factor, 1, TENTHS), number_from_ns(read.together_ns).text,
					  number_from_ns(read.alone_ns).text),
			scale_mul_div_nearest(factor, 1, TENTHS));
}

void
judge_contended_reads(const struct report *report, struct outcomes *outcomes)
{
	const struct report_clock *null = report_find_clock(report, "null");

	for (size_t i = 0; null && i < report->facts.clock_count; i++)
		judge_contended_clock(report, outcomes, i, (size_t)(null - report->facts.clocks));
}
