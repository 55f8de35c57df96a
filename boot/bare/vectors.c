/* Fills and loads the interrupt table. See vectors.h. */
#include "bare/vectors.h"

#include <stdint.h>

#include "firmware/processor.h"

#define VECTORS            256u
#define EXCEPTIONS         32u   /* SDM vol. 3A, 6.3.1 */
#define STUB_SIZE          16u
#define GATE_INTERRUPT     0x8eu /* present, interrupt gate: 6.14.1 */
#define DOUBLE_FAULT       8u
#define DOUBLE_FAULT_STACK 1u    /* a separate stack, because after a stack overflow the usual stack is full */

/* The handlers of exceptions and of interrupts, defined in boot/bare/entry.nasm. */
extern const uint8_t bare_stubs[] __attribute__((visibility("hidden")));
extern const uint8_t bare_ignore[] __attribute__((visibility("hidden")));

static struct gate gates[VECTORS];

void
vectors_load(void)
{
	const struct table_register table = { sizeof(gates) - 1, (uintptr_t)gates };
	uint16_t selector;

	__asm__ volatile("movw %%cs, %0" : "=r"(selector));
	for (unsigned vector = 0; vector < VECTORS; vector++) {
		gates[vector] = (struct gate){ .selector = selector, .type = GATE_INTERRUPT };
		gate_aim(&gates[vector], vector < EXCEPTIONS ? (uintptr_t)bare_stubs + vector * STUB_SIZE :
				 (uintptr_t)bare_ignore);
	}
	gates[DOUBLE_FAULT].stack = DOUBLE_FAULT_STACK;
	processor_set_idtr(&table);
}
