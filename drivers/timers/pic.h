/*
 * Routes a timer's interrupts through the two PICs (Intel 8259A data sheet, initialization and operation command
 * words). The initialization words cannot be read, so they cannot be restored. Therefore the PICs are used only if the
 * firmware masked all their inputs, and all inputs are masked again afterwards.
 */
#ifndef BARETICK_PIC_H
#define BARETICK_PIC_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/timer.h"
#include "clocks/platform.h"

/*
 * Sets TIMER's route to IRQ (0 to 15) of the PICs. Calls timer_set_unusable() and returns false if there are no PICs,
 * or if one of their inputs is not masked. Does the same if LINT0 of this core's LAPIC is masked or not in mode
 * ExtINT, because the PICs then cannot interrupt this core.
 */
bool pic_check_irq_route(const struct platform *platform, struct timer *timer, uint32_t irq);

/*
 * Initializes both PICs and unmasks only IRQ, which is 0 or 8. IRQ raises VECTOR, which must be a multiple of 8. The
 * other PIC gets the eight vectors from VECTOR + 8.
 */
void pic_set_up(uint32_t irq, uint32_t vector);

/* Called in the handler. Ends the interrupt of IRQ at the PICs. Otherwise IRQ could not interrupt again. */
void pic_send_eoi(uint32_t irq);
void pic_restore(uint32_t irq); /* masks all inputs, and ends IRQ if it is in service */

#endif
