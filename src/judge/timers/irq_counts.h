/* Compares the number of interrupts with the number of deadlines. For src/judge only. */
#ifndef BARETICK_IRQ_COUNTS_H
#define BARETICK_IRQ_COUNTS_H

#include "judge/timers/irq_programmed.h"

/* Adds rows for the rules irq-missing, irq-early, irq-lost and irq-doubled on the source whose totals are TOTALS. */
void irq_judge_counts(struct report *report, const struct irq_totals *totals);

#endif
