/* The boot core's own registers that the firmware lives on, for comparison before and after a run. */
#ifndef BARETICK_PROCESSOR_H
#define BARETICK_PROCESSOR_H

#include "as_found.h"

struct table_register { /* as LGDT and LIDT read it in 64-bit mode: SDM vol. 3A, 2.4 */
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

struct table_register processor_gdtr(void);

/* Adds the bases of IDT and GDT, CR3, CR4, and the LAPIC's timer, spurious vector and divider. */
void processor_as_found(struct as_found *registers);

#endif
