/* Windows in which the boot core takes timer interrupts itself, with the firmware alive before and after. */
#ifndef BARETICK_INTERRUPTS_H
#define BARETICK_INTERRUPTS_H

#include "clock/timer.h"

/* Returns the functions for a run. They are NULL if there is no memory. */
struct timer_window interrupts_open(void);

/* Gives the memory back. */
void interrupts_end(struct timer_window *window);

#endif
