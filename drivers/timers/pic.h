/*
 * Routes a timer's interrupts through the two PICs (Intel 8259A data sheet, initialization and operation command
 * words). The initialization words cannot be read back, and therefore not restored. So the PICs are used only if all
 * their inputs are masked, and all inputs are masked again afterwards.
 */
#ifndef BARETICK_PIC_H
#define BARETICK_PIC_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/timer.h"
#include "clocks/platform.h"

/*
 * Sets TIMER's route to IRQ (0 to 15) of the PICs. Returns false and refuses the timer if an input of a PIC is in use.
 * It is also refused if LINT0 of this core's LAPIC is masked or not in mode ExtINT, because the PICs then cannot
 * interrupt this core.
 */
bool pic_find(const struct platform *platform, struct timer *timer, uint32_t irq);

/*
 * Initializes both PICs and unmasks only IRQ, which is 0 or 8. IRQ raises VECTOR, a multiple of 8. The other PIC gets
 * the next eight vectors.
 */
void pic_set_up(uint32_t irq, uint32_t vector);

void pic_end(uint32_t irq); /* called in the handler: ends the interrupt, so that the next one can come */
void pic_restore(uint32_t irq); /* masks all inputs, and ends IRQ if it is in service */

#endif
