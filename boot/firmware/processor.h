/* Registers of the boot core that the firmware needs unchanged. They are compared before and after a run. */
#ifndef BARETICK_PROCESSOR_H
#define BARETICK_PROCESSOR_H

#include "clock/as_found.h"

struct table_register { /* layout of the operand of LGDT and LIDT in 64-bit mode: SDM vol. 3A, 2.4 */
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

struct table_register processor_read_gdtr(void);
struct table_register processor_read_idtr(void);
void processor_set_idtr(const struct table_register *value);

struct gate { /* an entry of the interrupt table in 64-bit mode */
	uint16_t offset_0, selector;
	uint8_t stack, type;
	uint16_t offset_16;
	uint32_t offset_32, reserved;
};

_Static_assert(sizeof(struct gate) == 16, "SDM vol. 3A, figure 6-8");

static inline void
gate_set_handler(struct gate *gate, uint64_t handler)
{
	gate->offset_0 = (uint16_t)handler;
	gate->offset_16 = (uint16_t)(handler >> 16);
	gate->offset_32 = (uint32_t)(handler >> 32);
}

static inline uint64_t
gate_get_handler(const struct gate *gate)
{
	return (uint64_t)gate->offset_32 << 32 | (uint64_t)gate->offset_16 << 16 | gate->offset_0;
}

#define CR4_CET  (UINT64_C(1) << 23) /* bit CET of CR4, shadow stacks: SDM vol. 3A, 2.5 */
#define CR4_FRED (UINT64_C(1) << 32) /* Linux's X86_CR4_FRED; if set, exceptions do not use the interrupt table */

/* Adds to REGISTERS the bases of IDT and GDT, CR3, CR4, and the LAPIC's timer registers and spurious vector. */
void processor_read_registers(struct as_found *registers);

#endif
