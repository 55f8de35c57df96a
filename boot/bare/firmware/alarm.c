/*
 * Implements the alarm by the PM timer. The alarm counts only the time in which the TSC stands still, so a faulty PM
 * timer cannot end a run whose TSC counts. See alarm.h.
 */
#include "firmware/alarm.h"

#include "bare/firmware/bare.h"
#include "base/units.h"
#include "hw/hw.h"

#define PM_TIMER_HZ UINT64_C(3579545) /* rate of the PM timer: ACPI 6.5, 4.8.3.3 */

static struct {
	uint16_t port; /* I/O port of the PM timer; 0 if there is no PM timer */
	uint32_t mask, last;
	uint64_t last_tsc, left_ticks;
} pm;

void
alarm_set_pm_timer_port(uint16_t port, uint32_t mask)
{
	pm.port = port;
	pm.mask = mask;
}

void
alarm_set(struct alarm *alarm, uint64_t ns)
{
	alarm->event = pm.port ? &pm : NULL;
	if (!pm.port)
		return;
	pm.last = hw_in32(pm.port);
	pm.last_tsc = hw_tsc();
	pm.left_ticks = ns / NS_PER_S * PM_TIMER_HZ + ns % NS_PER_S * PM_TIMER_HZ / NS_PER_S;
}

bool
alarm_has_expired(struct alarm *alarm)
{
	uint64_t tsc = hw_tsc();
	uint32_t now, ticks;

	if (!alarm->event)
		return false;
	now = hw_in32(pm.port);
	ticks = tsc == pm.last_tsc ? (now - pm.last) & pm.mask : 0;
	pm.last = now;
	pm.last_tsc = tsc;
	pm.left_ticks -= ticks < pm.left_ticks ? ticks : pm.left_ticks;
	return pm.left_ticks == 0;
}

void
alarm_cancel(struct alarm *alarm)
{
	alarm->event = NULL;
}
