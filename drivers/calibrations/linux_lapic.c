/*
 * Linux's calibration of the local APIC's timer: Linux 6.16, arch/x86/kernel/apic/apic.c, calibrate_APIC_clock() and
 * calibrate_by_pmtimer(), with HZ = 250 as in Debian's kernel. It measures the timer for 25 ticks of 4 ms. In Linux
 * these are ticks of the kernel. Here the TSC measures 4 ms for each tick. The result is corrected only if the 25 ticks
 * took less than 99 ms or more than 101 ms by the PM timer.
 */
#include "calibrations/calibrations.h"
#include "clocks/acpi_pm_registers.h"
#include "clocks/drivers.h"
#include "hw/lapic.h"
#include "hw/wait.h"

#define HZ            250u
#define TICKS         (HZ / 10)
#define TICK_NS       (WAIT_NS_PER_S / HZ)
#define DIVIDE_BY_16  0x3u /* value of the divide configuration register: SDM vol. 3A, 10.5.4, APIC Timer */
#define DIVISOR       16u
#define PM_100_MS     357954u
#define PM_WITHIN     (PM_100_MS / 100)
#define PERIOD_MIN    (1000000u / HZ)

enum { TOO_SLOW, NO_TIME };

struct reading {
	uint32_t count, pm;
	uint64_t before_tsc, after_tsc; /* TSC before and after the read of the count */
};

static struct reading
read_lapic_count_and_pm_timer(const struct calibrating *c, const struct lapic *lapic)
{
	struct reading r = { .before_tsc = hw_tsc_lfence() };

	r.count = lapic_read(lapic, LAPIC_CURRENT_COUNT);
	r.after_tsc = hw_tsc_lfence();
	r.pm = acpi_pm_read_24_bits(c->devices[0]);
	return r;
}

/*
 * Waits until the TSC reaches *DUE_TSC, and then adds the TSC ticks of 4 ms to *DUE_TSC. Returns false if the TSC
 * stopped.
 */
static bool
wait_until_tick_is_due(const struct calibrating *c, uint64_t *due_tsc)
{
	struct wait wait = wait_begin(c->scale, 2 * TICK_NS);
	bool waits;

	while ((waits = (int64_t)(hw_tsc() - *due_tsc) < 0) && wait_has_time_left(&wait))
		;
	*due_tsc += scale_ns_to_ticks(c->scale, TICK_NS);
	return !waits;
}

static bool
read_at_first_and_last_tick(const struct calibrating *c, const struct lapic *lapic, struct reading *first,
			    struct reading *last)
{
	uint64_t due_tsc = hw_tsc() + scale_ns_to_ticks(c->scale, TICK_NS);

	if (!wait_until_tick_is_due(c, &due_tsc))
		return false;
	*first = read_lapic_count_and_pm_timer(c, lapic);
	for (unsigned i = 0; i < TICKS; i++)
		if (!wait_until_tick_is_due(c, &due_tsc))
			return false;
	*last = read_lapic_count_and_pm_timer(c, lapic);
	return true;
}

static void
store_reading(struct calibration_result *result, const struct reading *reading)
{
	calibration_add_reading(result, reading->before_tsc);
	calibration_add_reading(result, reading->count);
	calibration_add_reading(result, reading->after_tsc);
	calibration_add_reading(result, reading->pm);
}

static void
calculate_lapic_rate(const struct reading *first, const struct reading *last, struct calibration_result *result)
{
	uint64_t ticks = first->count - last->count, pm = (last->pm - first->pm) & ACPI_PM_MASK_24, period;

	store_reading(result, first);
	store_reading(result, last);
	result->refusal = CALIBRATION_NONE;
	result->ticks = ticks * DIVISOR;
	result->tsc_ticks = last->before_tsc - first->before_tsc;
	/*
	 * The result's uncertainty has two causes: the count was read between two TSC readings, and it changes only
	 * once in DIVISOR ticks of the timer's input clock.
	 */
	result->slack_ticks = scale_mul_div_up(last->after_tsc - last->before_tsc + first->after_tsc - first->before_tsc,
					       result->ticks, result->tsc_ticks) + DIVISOR;
	if (pm && (pm <= PM_100_MS - PM_WITHIN || pm >= PM_100_MS + PM_WITHIN))
		ticks = ticks * PM_100_MS / pm;
	period = ticks * DIVISOR / TICKS;
	if (period < PERIOD_MIN)
		calibration_set_failure(result, TOO_SLOW);
	else
		result->hz = period * HZ;
}

/*
 * Measures the rate of the local APIC's timer. Saves and restores the timer's registers, because the firmware's tick
 * may use the timer. The count is restored last, because writing the count starts the timer.
 */
static void
linux_lapic_calibrate(const struct calibrating *c, struct calibration_result *result)
{
	uint64_t interrupts = hw_interrupts_mask();
	struct reading first, last;
	struct lapic lapic;

	(void)lapic_open(&lapic); /* cannot fail: linux_lapic_find_obstacle() has called it successfully */
	uint32_t entry = lapic_read(&lapic, LAPIC_LVT_TIMER), initial = lapic_read(&lapic, LAPIC_INITIAL_COUNT);
	uint32_t divide = lapic_read(&lapic, LAPIC_DIVIDE);

	lapic_write(&lapic, LAPIC_LVT_TIMER, LAPIC_LVT_MASKED | LAPIC_SPURIOUS_VECTOR);
	lapic_write(&lapic, LAPIC_DIVIDE, DIVIDE_BY_16);
	lapic_write(&lapic, LAPIC_INITIAL_COUNT, UINT32_MAX);
	if (read_at_first_and_last_tick(c, &lapic, &first, &last))
		calculate_lapic_rate(&first, &last, result);
	else
		calibration_set_failure(result, NO_TIME);
	lapic_write(&lapic, LAPIC_INITIAL_COUNT, 0);
	lapic_write(&lapic, LAPIC_DIVIDE, divide);
	lapic_write(&lapic, LAPIC_LVT_TIMER, entry);
	lapic_write(&lapic, LAPIC_INITIAL_COUNT, initial);
	hw_interrupts_restore(interrupts);
}

static const char *
linux_lapic_find_obstacle(const struct calibrating *c)
{
	struct lapic lapic;

	if (lapic_open(&lapic))
		return "This core's local APIC cannot be used.";
	/* Leaving deadline mode disarms the timer, so the firmware's tick would not occur again. */
	if (lapic_read(&lapic, LAPIC_LVT_TIMER) & LAPIC_LVT_DEADLINE)
		return "The firmware uses this core's local APIC timer in TSC-deadline mode.";
	if (c->devices[0])
		return NULL;
	return c->left_out[0] ? "The option clocks= leaves out the PM timer." :
	       "No PM timer can be read in this run; Linux then measures by its timer tick.";
}

const struct calibration_loop calibration_linux_lapic = {
	.id = "linux_lapic",
	.user = "Linux 6.16, calibrate_APIC_clock",
	.clock = "lapic",
	.uses = { &acpi_pm_driver },
	.refusals = {
		[TOO_SLOW] = "the timer counts at less than 1 MHz",
		[NO_TIME] = "the TSC stopped",
	},
	.longest_ns = 110000000,
	.missing = linux_lapic_find_obstacle,
	.run = linux_lapic_calibrate,
};
