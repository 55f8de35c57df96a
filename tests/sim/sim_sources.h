/* The sources of interrupts of the simulated machine: their counters and vectors. */
#ifndef BARETICK_SIM_SOURCES_H
#define BARETICK_SIM_SOURCES_H

#include "sim_interrupts.h"

/*
 * Returns the counter that the source compares with its deadline. The interrupt is due when the counter reaches the
 * deadline.
 */
uint64_t sim_source_get_count(enum sim_source source);

/* Returns the vector, or 0 if the interrupt cannot reach the core because its route is masked. */
uint32_t sim_source_get_vector(enum sim_source source);
void sim_source_handle_delivery(enum sim_source source); /* must be called when the core takes the interrupt */

/*
 * Must be called when the source's deadline comes. Returns false if its line was already raised, so that no new
 * interrupt follows.
 */
bool sim_source_raise_line(enum sim_source source);
/* must be called after the source's deadline, even if the interrupt was lost */
void sim_source_advance_comparator(enum sim_source source);

/*
 * Called at the end of the interrupt handler. Returns true if the source's line is level-triggered and still raised,
 * so that the interrupt comes again.
 */
bool sim_source_is_status_set(enum sim_source source);

/*
 * Arms the source for the time when its counter reaches DUE, and then again after each PERIOD. With a PERIOD of 0 only
 * one interrupt comes.
 */
void sim_source_arm(enum sim_source source, uint64_t due, uint64_t period);
void sim_source_disarm(enum sim_source source);

uint64_t sim_ioapic_read(uint64_t address, unsigned width_bytes);
void sim_ioapic_write(uint64_t address, uint64_t value, unsigned width_bytes);
void sim_ioapic_reset(void);
uint32_t sim_ioapic_get_vector(uint32_t pin); /* 0: masked */

void sim_pic_out(uint16_t port, uint8_t value);
uint32_t sim_pic_get_vector(uint32_t irq); /* returns 0 if the interrupt cannot reach the core now */
void sim_pic_set_in_service(uint32_t irq);      /* must be called when the core takes the interrupt */

#endif
