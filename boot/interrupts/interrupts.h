/*
 * Timer windows: short intervals in which baretick instead of the firmware handles timer interrupts. Before and after a
 * window the firmware works as usual.
 */
#ifndef BARETICK_INTERRUPTS_H
#define BARETICK_INTERRUPTS_H

#include "clock/timer.h"

/*
 * Allocates the memory of timer windows. Returns the functions that start them, or NULL pointers if there is no memory
 * or no local APIC.
 */
struct timer_window interrupts_allocate_timer_windows(void);

/* Frees the memory of interrupts_allocate_timer_windows(). */
void interrupts_free_timer_windows(struct timer_window *window);

#endif
