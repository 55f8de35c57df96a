/* Compares the number of interrupts with the number of deadlines. For src/judge only. */
#ifndef BARETICK_IRQ_COUNTS_H
#define BARETICK_IRQ_COUNTS_H

#include "judge/timers/irq_programmed.h"

/* Adds rows of irq-missing, irq-early, irq-lost and irq-doubled. No row passes if gaps excused more than half. */
void interval_counts_judge(struct report *report, const struct asked *asked);

#endif
