/*
 * Computes the cost of a clock read for a program, see struct report_cost, and judges which clocks are too
 * slow.
 */
#include "judge/judge_internal.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/text.h"
#include "report/phrase.h"

/* the reference for the cost of an exit: VMX always makes CPUID exit, and hypervisors on SVM intercept it */
#define CPUID_CLOCK    "tsc_cpuid"
#define EXIT_NS_MIN    300u              /* a CPUID that took less time than this did not exit to the hypervisor */
/* a read that costs at least 1/2 as much as CPUID also exits to the hypervisor */
#define EXIT_SHARE_MIN 2u
/* A read that costs at most 1/4 of CPUID's cost does not exit. Between 1/4 and 1/2, an exit is possible. */
#define NO_EXIT_SHARE  4u
/* the costs on two cores count as equal if they differ by at most 1/4 */
#define SAME_COST_SHARE 4
/* and if they differ by at most half of the bracket, because a CPU may overlap a short read with the bracket */
#define SAME_BRACKET_SHARE 2
#define MEDIAN         50000u            /* 50 % in units of 1/1000 % */
#define PS_PER_NS      1000
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
 * Sets the clock's cost to that of the median core. If the number of cores is even, it is the lower one of the two
 * middle values: their mean would be the cost on no core.
 */
static void
set_median_read_cost(struct report *report, size_t clock, size_t null)
{
	struct report_cost *cost = &report->facts.clocks[clock].cost;
	const struct report_core *core = find_core_of_cost_rank(report, (cost->cores - 1) / 2, clock, null);

	cost->read_ps.value = get_read_cost_on_core_ps(core, clock, null).value;
	cost->null_ps = core->latency[null].typical_ps;
}

/* Finds the cores with the cheapest and the dearest read, and whether their costs really differ. */
static void
set_range_of_cores(struct report *report, size_t clock, size_t null)
{
	struct report_cost *cost = &report->facts.clocks[clock].cost;
	struct interval_ns least = get_read_cost_on_core_ps(find_core_of_cost_rank(report, 0, clock, null), clock, null);
	struct interval_ns most = get_read_cost_on_core_ps(find_core_of_cost_rank(report, cost->cores - 1, clock, null),
							   clock, null);

	cost->least_ps = least.value;
	cost->most_ps = most.value;
	cost->differs = most.low > least.high && most.value - least.value > least.value / SAME_COST_SHARE &&
			most.value - least.value > (int64_t)cost->null_ps / SAME_BRACKET_SHARE;
}

static void
calculate_read_cost(struct report *report, size_t clock, size_t null)
{
	struct report_clock *entry = &report->facts.clocks[clock];
	struct report_cost *cost = &entry->cost;
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
	set_median_read_cost(report, clock, null);
	set_range_of_cores(report, clock, null);
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
judge_calculate_read_costs(struct report *report)
{
	const struct report_clock *null = report_find_clock(report, "null");

	for (size_t i = 0; null && i < report->facts.clock_count; i++)
		if (&report->facts.clocks[i] != null)
			calculate_read_cost(report, i, (size_t)(null - report->facts.clocks));
}

/* Returns the median duration of ENTRY's reads in ns, or 0 if it was not read. */
static uint64_t
median_latency_ns(const struct report_clock *entry)
{
	bool read = entry && entry->clock.state == CLOCK_PRESENT && entry->latency && entry->latency->count;

	return read ? latency_percentile_ns(entry->latency, MEDIAN) : 0;
}

/* Returns a list of the clocks whose median read takes FROM_NS to TO_NS, without CPUID itself and the null clock. */
static struct phrase
list_clocks_in_median_range(const struct report *report, uint64_t from_ns, uint64_t to_ns)
{
	struct phrase phrase = { "" };

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const char *id = report->facts.clocks[i].clock.id;
		uint64_t ns = median_latency_ns(&report->facts.clocks[i]);

		if (ns && ns >= from_ns && ns <= to_ns && !text_equal(id, CPUID_CLOCK) && !text_equal(id, "null"))
			phrase_add(&phrase, "%s%s", phrase.bytes[0] ? ", " : "", id);
	}
	if (!phrase.bytes[0])
		phrase_add(&phrase, "none");
	return phrase;
}

void
judge_note_reads_with_vm_exit(struct report *report)
{
	uint64_t exit_ns = median_latency_ns(report_find_clock(report, CPUID_CLOCK));

	if (!report->facts.machine.hypervisor[0] || report_is_machine_emulated(report) || exit_ns < EXIT_NS_MIN)
		return;
	report_add_note(report, "Reads that exit to the hypervisor, as shown by their cost (at least about CPUID's, %s): "
			    "%s. Reads without an exit: %s.", number_from_ns(exit_ns).text,
			list_clocks_in_median_range(report, exit_ns / EXIT_SHARE_MIN, UINT64_MAX).bytes,
			list_clocks_in_median_range(report, 0, exit_ns / NO_EXIT_SHARE).bytes);
}

/*
 * Adds a finding if a read of ENTRY's clock is proven to cost more than the limit on each core. Other read methods of
 * its counter are judged only if its main method is slow, because kernels read by the main method or a cheaper one.
 */
static void
judge_read_cost(struct report *report, const struct report_clock *entry)
{
	const struct report_clock *main = report_find_clock(report, entry->clock.main);
	const struct interval_ns *cost = &entry->cost.read_ps;
	int64_t limit_ps = (int64_t)(rules_get_limit_by_id(report, "clock-slow") * PS_PER_NS);
	struct finding *finding;

	if (!cost->known || cost->low <= limit_ps || (main && main->cost.read_ps.low <= limit_ps) ||
	    !report->figures.tsc.den ||
	    (judge_has_tsc_stepped_or_jumped(report) && !text_equal(entry->clock.main, "tsc")))
		return;
	finding = rules_add_finding(report, "clock-slow", entry->clock.id, REPORT_NO_CORE,
				    "A read of %s costs %s (without the bracket): more than the limit of %lu ns.", entry->clock.id,
				    phrase_read_cost(report, entry->clock.id).bytes, (uint64_t)limit_ps / PS_PER_NS);
	rules_set_figure(finding, cost->value / PS_PER_NS, cost->low / PS_PER_NS, cost->high / PS_PER_NS);
	if (!finding || !entry->clock.caveat)
		return;
	/* No kernel uses this clock as its clocksource, so the rule's advice (another clocksource=) does not help. */
	text_format(finding->advice, sizeof(finding->advice),
		    "Read this clock seldom; kernels do not keep time by it: %s.", entry->clock.caveat);
}

void
judge_slow_clocks(struct report *report)
{
	for (size_t i = 0; i < report->facts.clock_count; i++)
		judge_read_cost(report, &report->facts.clocks[i]);
}
