/*
 * Checks the HPET against its specification, IA-PC HPET 1.0a. A running HPET may be in use, so it is stopped for a test
 * only if baretick has started it. The main counter is never written.
 */
#include "base/text.h"
#include "checks/checks.h"
#include "checks/check_internal.h"
#include "clocks/hpet_registers.h"
#include "clocks/probe.h"
#include "hw/cpuid.h"
#include "hw/wait.h"

/* A test stops the HPET for this time in ns, which is 1,000 ticks of the slowest HPET. */
#define STOPPED_NS        (100 * UINT64_C(1000))

/* SDM vol. 4: MSR_PKG_CST_CONFIG_CONTROL. Bits 3:0 limit the package's C-state. A limit of 8 or above allows PC10. */
#define MSR_PKG_CST_CONFIG   0xe2u
#define PKG_CST_LIMIT        0xfu
#define PKG_CST_PC10         8u

static void
check_period(const struct checking *checking, struct behaviour *row)
{
	/* uses the base address from the ACPI table, because the driver may not have opened the HPET */
	uint32_t period_fs = hw_read32(checking->platform->acpi.hpet.base + HPET_PERIOD);

	check_set_outcome(row, period_fs < HPET_PERIOD_FS_MIN || period_fs > HPET_PERIOD_FS_MAX);
	behaviour_set_text(row, "The period register reads %u fs (valid: %u to %u).", period_fs,
		       HPET_PERIOD_FS_MIN, HPET_PERIOD_FS_MAX);
}

static void
check_base_address(const struct checking *checking, struct behaviour *row)
{
	uint64_t base = checking->platform->acpi.hpet.base;

	check_set_outcome(row, base >> 32);
	behaviour_set_text(row, "The HPET's ACPI table gives the base address %lxh, %s 4 GiB.", base,
		       row->failed ? "above" : "below");
}

/* Readings of the counter's low half in a test that stops the HPET. */
struct stop {
	uint32_t running, stopped, stopped_later, running_again;
	/* upper bounds of the time from RUNNING to STOPPED and from STOPPED_LATER to RUNNING_AGAIN, in TSC ticks */
	uint64_t off_ticks, on_ticks;
};

static struct stop
stop_and_restart_counter(const struct checking *checking)
{
	uint64_t configuration_at = checking->device->address + HPET_CONFIGURATION;
	uint64_t interrupts = hw_interrupts_mask(), begin = check_read_tsc(checking->device);
	uint32_t configuration = hw_read32(configuration_at);
	struct stop stop = { .running = hpet_read_low_half(checking) };

	hw_write32(configuration_at, configuration & ~HPET_ENABLE_CNF);
	stop.stopped = hpet_read_low_half(checking);
	stop.off_ticks = check_read_tsc(checking->device) - begin;
	struct wait wait = wait_begin(checking->scale, STOPPED_NS);
	while (wait_has_time_left(&wait))
		;
	stop.stopped_later = hpet_read_low_half(checking);
	begin = check_read_tsc(checking->device);
	hw_write32(configuration_at, configuration);
	stop.running_again = hpet_read_low_half(checking);
	stop.on_ticks = check_read_tsc(checking->device) - begin;
	hw_interrupts_restore(interrupts);
	return stop;
}

static void
test_counter_stopping_once(const struct checking *checking, struct behaviour *row)
{
	struct hpet_pace pace = hpet_measure_rate_by_tsc(checking);
	struct stop stop = stop_and_restart_counter(checking);

	check_set_outcome(row, true);
	if (stop.stopped != stop.stopped_later)
		behaviour_set_text(row, "The counter counts while ENABLE_CNF is 0: from %xh to %xh.", stop.stopped,
			       stop.stopped_later);
	else if (stop.stopped - stop.running > hpet_get_ticks_max_during(&pace, stop.off_ticks))
		behaviour_set_text(row, "When ENABLE_CNF became 0, the counter jumped to %xh from %xh.",
				   stop.stopped, stop.running);
	else if (stop.running_again - stop.stopped > hpet_get_ticks_max_during(&pace, stop.on_ticks))
		behaviour_set_text(row, "The counter stopped at %xh, but continues from %xh.", stop.stopped,
				   stop.running_again);
	else if (!probe_counter_moves(hpet_read32, checking->device))
		behaviour_set_text(row, "The counter stopped at %xh, and does not continue with ENABLE_CNF 1.",
				   stop.stopped);
	else
		row->failed = false;
	if (!row->failed)
		behaviour_set_text(row, "The counter stops at %xh with ENABLE_CNF 0 and continues from there.", stop.stopped);
}

/*
 * Repeats a failed test once. A counter that cannot be stopped fails both tests. A counter that only jumped once passes
 * the second test.
 */
static void
check_counter_stopping(const struct checking *checking, struct behaviour *row)
{
	if (!checking->device->opened) {
		behaviour_set_text(row, "The firmware left the HPET running and may use it.");
		return;
	}
	test_counter_stopping_once(checking, row);
	if (!row->failed)
		return;
	struct behaviour first = *row;
	test_counter_stopping_once(checking, row);
	if (row->failed)
		*row = first;
}

/*
 * Returns true if the processor can enter the sleep state PC10, by the same test as in Linux. Only Intel processors on
 * bare metal are tested, because others lack the MSR, and in a guest the access may fault.
 */
static bool
can_reach_pc10(const struct cpu_facts *cpu)
{
	struct hw_cpuid mwait = { 0, 0, 0, 0 };

	if (cpu->basic_leaf_max >= LEAF_MWAIT && (hw_cpuid(LEAF_FEATURES, 0).ecx & FEATURES_ECX_MONITOR))
		mwait = hw_cpuid(LEAF_MWAIT, 0);
	return (mwait.ecx & MWAIT_ECX_USED) == MWAIT_ECX_USED && (mwait.edx & MWAIT_EDX_DEEPEST);
}

static void
check_pc10_is_excluded(const struct checking *checking, struct behaviour *row)
{
	const struct cpu_facts *cpu = &checking->platform->cpu;

	if (check_is_guest(checking) || !text_equal(cpu->vendor, "GenuineIntel")) {
		row->unchecked = check_is_guest(checking) ? UNCHECKED_GUEST : UNCHECKED_OTHER;
		behaviour_set_text(row, "This is checked only on Intel processors on bare metal.");
		return;
	}
	if (!can_reach_pc10(cpu)) {
		check_set_outcome(row, false);
		behaviour_set_text(row, "CPUID 5h reports no C-state as deep as PC10.");
		return;
	}
	unsigned limit = (unsigned)(hw_msr_read(MSR_PKG_CST_CONFIG) & PKG_CST_LIMIT);
	check_set_outcome(row, limit >= PKG_CST_PC10);
	behaviour_set_text(row, "The package's C-state limit (MSR E2h) is %u, which %s PC10.", limit,
		       row->failed ? "allows" : "excludes");
}

/* Returns true if an HPET responds at the address in the ACPI table, even if open() found it broken. */
static bool
hpet_responds(const struct acpi_hpet *table)
{
	if (!table->base || table->base % sizeof(uint64_t) || !hw_is_mapped(table->base, HPET_SIZE))
		return false;
	uint32_t id = hw_read32(table->base + HPET_ID);
	return (id != 0 && id != UINT32_MAX) || id != hw_read32(table->base + HPET_PERIOD);
}

void
hpet_check(const struct checking *checking, struct behaviours *behaviours)
{
	static const struct check always[] = {
		{ "hpet-period", 0, check_period },
		{ "hpet-base", 0, check_base_address },
		{ NULL, 0, NULL },
	};
	static const struct check running[] = {
		{ "hpet-stops", WAIT_NS_PER_MS, check_counter_stopping },
		{ "hpet-torn", 0, hpet_check_torn_readings },
		{ "hpet-pc10", 0, check_pc10_is_excluded },
		{ NULL, 0, NULL },
	};
	const struct acpi_hpet *table = &checking->platform->acpi.hpet;

	if (!table->found || table->space != ACPI_SPACE_MEMORY)
		return;
	if (hpet_responds(table))
		check_run_all(checking, always, behaviours);
	if (checking->rows->state == CLOCK_PRESENT)
		check_run_all(checking, running, behaviours);
}
