/* The sources of interrupts of the simulated machine: their counters and vectors. */
#ifndef BARETICK_SIM_SOURCES_H
#define BARETICK_SIM_SOURCES_H

#include "sim_interrupts.h"

/*
 * Returns the counter that the source compares with its deadline. The interrupt is due when the counter reaches the
 * deadline.
 */
uint64_t sim_source_get_count(enum sim_source source);

/* Returns the interrupt vector of SOURCE, or 0 if the route of its interrupt is masked. */
uint32_t sim_source_get_vector(enum sim_source source);
void sim_source_handle_delivery(enum sim_source source); /* must be called when the core takes the interrupt */

/*
 * Must be called when the source's deadline comes. Returns false if the source's line was already raised, so that no
 * new interrupt follows.
 */
bool sim_source_try_raise_irq(enum sim_source source);
/* adds the period to a periodic HPET comparator; must be called after each deadline, even if the interrupt is lost */
void sim_source_advance_comparator(enum sim_source source);

/*
 * Called at the end of the interrupt handler. Returns true if the source's line is level-triggered and still raised,
 * so that the interrupt comes again.
 */
bool sim_source_is_status_set(enum sim_source source);

/*
 * Arms SOURCE for the time when its counter reaches DUE, and again after each PERIOD (both in ticks of this counter).
 * Only one interrupt comes if PERIOD is 0.
 */
void sim_source_arm(enum sim_source source, uint64_t due, uint64_t period);
void sim_source_disarm(enum sim_source source);

uint64_t sim_ioapic_read(uint64_t address, unsigned width_bytes);
void sim_ioapic_write(uint64_t address, uint64_t value, unsigned width_bytes);
void sim_ioapic_reset(void);
uint32_t sim_ioapic_get_vector(uint32_t pin); /* 0: masked */

void sim_pic_out(uint16_t port, uint8_t value);
/* returns the interrupt vector of input IRQ, or 0 if the interrupt cannot reach the core now */
uint32_t sim_pic_get_vector(uint32_t irq);
void sim_pic_set_in_service(uint32_t irq);      /* must be called when the core takes the interrupt */

#endif
