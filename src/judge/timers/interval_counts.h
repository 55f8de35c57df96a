/* How many interrupts came, against how many were asked for. For src/judge only. */
#ifndef BARETICK_INTERVAL_COUNTS_H
#define BARETICK_INTERVAL_COUNTS_H

#include "judge/timers/interval_asked.h"

/* Rows of irq-missing, irq-early, irq-lost and irq-doubled. Where gaps excused more than half, none is passed. */
void interval_counts_judge(struct report *report, const struct asked *asked);

#endif
