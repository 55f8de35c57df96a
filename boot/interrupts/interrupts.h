/*
 * Timer windows: short times in which baretick handles the interrupts of timers itself, in place of the firmware. The
 * firmware works as usual before and after a window.
 */
#ifndef BARETICK_INTERRUPTS_H
#define BARETICK_INTERRUPTS_H

#include "clock/timer.h"

/* Returns the functions that a run calls for windows. They are NULL if there is no memory. */
struct timer_window interrupts_open(void);

/* Frees the memory of interrupts_open(). */
void interrupts_end(struct timer_window *window);

#endif
