/*
 * The two PICs as the way of a timer's interrupts: Intel 8259A data sheet, initialization and operation command words.
 * What they were initialized with can't be read, so only those are taken of which no input is open, and they are left
 * with all of them masked.
 */
#ifndef BARETICK_PIC_H
#define BARETICK_PIC_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/timer.h"
#include "clocks/platform.h"

/* IRQ, 0 to 15, as TIMER's route, where the PICs are unused and lead to this core (LINT0, ExtINT); else refuses. */
bool pic_find(const struct platform *platform, struct timer *timer, uint32_t irq);

/*
 * Initializes both, and opens IRQ, 0 or 8, alone: it comes as VECTOR, which is a multiple of 8. The other PIC's inputs
 * would come as the eight vectors behind those of this one.
 */
void pic_take(uint32_t irq, uint32_t vector);

void pic_end(uint32_t irq); /* of its interrupt, in the handler: no other comes before */
void pic_give_back(uint32_t irq); /* all masked, and none of it in service */

#endif
