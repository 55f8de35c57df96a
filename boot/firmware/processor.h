/* The boot core's own registers that the firmware lives on, for comparison before and after a run. */
#ifndef BARETICK_PROCESSOR_H
#define BARETICK_PROCESSOR_H

#include "as_found.h"

/* Adds the bases of IDT and GDT, CR3, CR4, and the LAPIC's timer, spurious vector and divider. */
void processor_as_found(struct as_found *registers);

#endif
