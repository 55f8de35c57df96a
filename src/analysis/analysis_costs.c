/* Calculates the cost of a clock read for a program, see struct report_cost. See analysis.h. */
#include "analysis/analysis.h"

#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"

/* the costs on two cores count as equal if they differ by at most 1/4 */
#define SAME_COST_SHARE 4
/* and if they differ by at most half of the bracket, because a CPU may overlap a short read with the bracket */
#define SAME_BRACKET_SHARE 2
#define ROWS_READS INT64_C(200000) /* EXPLAIN ANALYZE of 100,000 rows reads the clock before and after each row */

/*
 * The read methods of Linux and of PostgreSQL 19, which also reads the TSC itself (src/port/pg_cpu_x86.c). Each has
 * the place where the read is executed. User space reads the TSC, the pages of kvm-clock and Xen, and Hyper-V's page
 * through the vDSO: VDSO_ARCH_CLOCKMODES in Linux's arch/x86/include/asm/vdso/clocksource.h. All other clocks need a
 * system call, and so do kvm-clock and Xen without PVCLOCK_TSC_STABLE_BIT (arch/x86/kernel/kvmclock.c,
 * arch/x86/xen/time.c). Linux reads the HPET by one access of 32 bits: read_hpet() in arch/x86/kernel/hpet.c.
 */
static const struct {
	const char *id, *read_in;
} kernel_reads[] = {
	{ "tsc", "user space" }, { "tsc_lfence", "user space" }, { "tsc_rdtscp", "user space" },
	{ "hv_page", "user space" }, { "kvmclock", "either" }, { "xen", "either" },
	{ "hpet_32", "kernel" }, { "acpi_pm", "kernel" }, { "hv_ref", "kernel" },
};

/* Returns where a kernel's reads of the clock ID are executed, or NULL if no kernel keeps time by this read method. */
static const char *
find_place_of_read(const char *id)
{
	for (size_t i = 0; i < sizeof(kernel_reads) / sizeof(kernel_reads[0]); i++)
		if (text_equal(kernel_reads[i].id, id))
			return kernel_reads[i].read_in;
	return NULL;
}

static int64_t
difference_or_zero(uint64_t a, uint64_t b)
{
	return a > b ? (int64_t)(a - b) : 0;
}

/*
 * Returns the typical duration of a read of CLOCK on CORE, minus the typical duration for the null clock. The null
 * clock measures only the two TSC reads around a read. The cost is unknown unless both clocks were read on CORE.
 */
static struct interval_ns
get_read_cost_on_core_ps(const struct report_core *core, size_t clock, size_t null)
{
	const struct core_latency *read = &core->latency[clock], *bracket = &core->latency[null];

	if (!read->count || !bracket->count)
		return (struct interval_ns){ .known = false };
	return (struct interval_ns){
		true,
		difference_or_zero(read->typical_ps, bracket->typical_ps),
		difference_or_zero(read->typical_low_ps, bracket->typical_high_ps),
		difference_or_zero(read->typical_high_ps, bracket->typical_low_ps),
	};
}

/* Returns the number of cores whose cost is known and below BOUND_PS. */
static size_t
count_cores_below_cost(const struct report *report, int64_t bound_ps, size_t clock, size_t null)
{
	size_t count = 0;

	for (size_t i = 0; i < report->facts.core_count; i++) {
		struct interval_ns one = get_read_cost_on_core_ps(&report->facts.cores[i], clock, null);

		count += one.known && one.value < bound_ps;
	}
	return count;
}

/*
 * Returns the core that is number RANK, from 0, in the order of cost. Cores of equal cost are in the order of the
 * report. Bisects the range of costs, because comparing each pair of cores takes seconds for thousands of cores.
 */
static const struct report_core *
find_core_of_cost_rank(const struct report *report, size_t rank, size_t clock, size_t null)
{
	int64_t low_ps = 0, high_ps = INT64_MAX / 2; /* low_ps <= cost < high_ps */

	while (high_ps - low_ps > 1) {
		int64_t middle_ps = low_ps + (high_ps - low_ps) / 2;

		if (count_cores_below_cost(report, middle_ps, clock, null) > rank)
			high_ps = middle_ps;
		else
			low_ps = middle_ps;
	}
	rank -= count_cores_below_cost(report, low_ps, clock, null);
	for (size_t i = 0; i < report->facts.core_count; i++) {
		struct interval_ns one = get_read_cost_on_core_ps(&report->facts.cores[i], clock, null);

		if (one.known && one.value == low_ps && !rank--)
			return &report->facts.cores[i];
	}
	return NULL;
}

static void
widen_interval(struct interval_ns *all, struct interval_ns by)
{
	if (!all->known || by.low < all->low)
		all->low = by.low;
	if (!all->known || by.high > all->high)
		all->high = by.high;
	all->known = true;
}

/*
 * Sets COST to the median of the cores. If the number of cores is even, this is the mean of the two middle values. But
 * if costs really differ, it is the lower one of the two, because their mean would be the cost on no core.
 */
static void
set_median_read_cost(const struct report *report, struct report_cost *cost, size_t clock, size_t null)
{
	size_t lower = (cost->cores - 1) / 2, higher = cost->differs ? lower : cost->cores / 2;
	const struct report_core *core = find_core_of_cost_rank(report, lower, clock, null);
	const struct report_core *upper = higher == lower ? core : find_core_of_cost_rank(report, higher, clock, null);

	cost->read_ps.value = (get_read_cost_on_core_ps(core, clock, null).value +
			       get_read_cost_on_core_ps(upper, clock, null).value) / 2;
	cost->null_ps = (core->latency[null].typical_ps + upper->latency[null].typical_ps) / 2;
}

/* Finds the cores with the cheapest and the dearest read, and whether their costs really differ. */
static void
set_range_of_cores(const struct report *report, struct report_cost *cost, size_t clock, size_t null)
{
	const struct report_core *cheapest = find_core_of_cost_rank(report, 0, clock, null);
	struct interval_ns least = get_read_cost_on_core_ps(cheapest, clock, null);
	struct interval_ns most = get_read_cost_on_core_ps(find_core_of_cost_rank(report, cost->cores - 1, clock, null),
							   clock, null);

	cost->least_ps = least.value;
	cost->most_ps = most.value;
	cost->differs = most.low > least.high && most.value - least.value > least.value / SAME_COST_SHARE &&
			most.value - least.value > (int64_t)cheapest->latency[null].typical_ps / SAME_BRACKET_SHARE;
}

static void
calculate_read_cost(const struct report *report, struct report_cost *cost, size_t clock, size_t null)
{
	const struct report_clock *entry = &report->facts.clocks[clock];
	struct scale scale;

	*cost = (struct report_cost){ .read_in = find_place_of_read(entry->clock.id) };
	for (size_t i = 0; i < report->facts.core_count; i++) {
		struct interval_ns one = get_read_cost_on_core_ps(&report->facts.cores[i], clock, null);

		if (one.known)
			widen_interval(&cost->read_ps, one);
		cost->cores += one.known;
	}
	if (!cost->cores)
		return;
	set_range_of_cores(report, cost, clock, null);
	set_median_read_cost(report, cost, clock, null);
	cost->rows_ps = (struct interval_ns){ cost->read_ps.known, cost->read_ps.value * ROWS_READS,
					      cost->read_ps.low * ROWS_READS, cost->read_ps.high * ROWS_READS };
	scale_init(&scale, report->figures.tsc);
	/*
	 * latency_loop_time_ps() is from a loop on the boot core, so the boot core's latency of the null clock is
	 * subtracted
	 */
	if (report->facts.cores[0].latency[null].count)
		cost->loop_ps = (uint64_t)difference_or_zero(latency_loop_time_ps(entry->latency, &scale),
						     report->facts.cores[0].latency[null].typical_ps);
}

void
analysis_calculate_costs(const struct report *report, struct figures *figures)
{
	const struct report_clock *null = report_find_clock(report, "null");

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		figures->clocks[i].cost = (struct report_cost){ .read_in = NULL };
		if (null && &report->facts.clocks[i] != null)
			calculate_read_cost(report, &figures->clocks[i].cost, i, (size_t)(null - report->facts.clocks));
	}
}
