/* Decides whether waiting for the host explains an emulator's timer faults. For src/judge/timers only. */
#ifndef BARETICK_HOST_WAIT_H
#define BARETICK_HOST_WAIT_H

#include "judge/timers/irq_programmed.h"

/*
 * An emulator's timers are threads of its host. A busy host delays them, and they then leave ticks out or send several
 * at once. Each function returns true if that can explain the figures of the source TOTALS, false if it cannot, and
 * false outside of an emulator.
 */
bool host_wait_explains_lost(const struct report *report, const struct irq_totals *totals);
bool host_wait_explains_doubled(const struct report *report, const struct irq_totals *totals);
bool host_wait_explains_late(const struct report *report, const struct irq_totals *totals);

#endif
