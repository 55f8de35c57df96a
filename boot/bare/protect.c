/* Sets the permissions of pages, and loads the interrupt table. See protect.h. */
#include "bare/protect.h"

#include "bare/firmware/bare.h"
#include "firmware/processor.h"
#include "hw/hw.h"
#include "hw/paging.h"

#define PAGE_NOT_EXECUTABLE (UINT64_C(1) << 63) /* bit XD of a page table entry: SDM vol. 3A, 4.5.4 */
#define MSR_EFER            0xc0000080u         /* IA32_EFER: SDM vol. 3A, 2.2.1 */
#define EFER_NXE            (UINT64_C(1) << 11)
#define GIBS                4u

#define VECTORS            256u
#define EXCEPTIONS         32u   /* number of vectors for exceptions: SDM vol. 3A, 6.3.1 */
#define STUB_SIZE          16u
#define GATE_INTERRUPT     0x8eu /* type of a gate: present, interrupt gate (SDM vol. 3A, 6.14.1) */
#define DOUBLE_FAULT       8u
/* index (IST) of the double-fault handler's stack; after a stack overflow the usual stack cannot be used */
#define DOUBLE_FAULT_STACK 1u

/* Ends and starts of the image's sections, defined in boot/bare/elf.lds. */
extern const uint8_t image_text_end[] __attribute__((visibility("hidden")));
extern const uint8_t image_data_begin[] __attribute__((visibility("hidden")));
/* Defined in boot/bare/entry.nasm: the page table of the first 2 MiB, and the guard area below the stack. */
extern uint64_t bare_low_table[PAGE_ENTRIES] __attribute__((visibility("hidden")));
extern const uint8_t bare_stack_guard[] __attribute__((visibility("hidden")));
extern const uint8_t bare_stack[] __attribute__((visibility("hidden")));

/* The handlers of exceptions and of interrupts, defined in boot/bare/entry.nasm. */
extern const uint8_t bare_stubs[] __attribute__((visibility("hidden")));
extern const uint8_t bare_ignore[] __attribute__((visibility("hidden")));

static struct gate gates[VECTORS];

static void
set_page_flags(const uint8_t *begin, const uint8_t *end, uint64_t flags)
{
	for (const uint8_t *page = begin; page < end; page += PAGE_SIZE)
		bare_low_table[(uintptr_t)page / PAGE_SIZE] = flags ? (uintptr_t)page | flags : 0;
}

/*
 * Sets NO_EXECUTE_BIT, the bit that forbids execution, in all large pages, and in the small pages outside of the
 * image's code.
 */
static void
forbid_execution_outside_code(uint64_t no_execute_bit)
{
	const uint64_t *top = (const uint64_t *)(uintptr_t)(read_cr3() & PAGE_ADDRESS);
	const uint64_t *second = (const uint64_t *)(uintptr_t)(top[0] & PAGE_ADDRESS);

	for (unsigned gib = 0; gib < GIBS; gib++) {
		uint64_t *third = (uint64_t *)(uintptr_t)(second[gib] & PAGE_ADDRESS);

		for (unsigned i = 0; i < PAGE_ENTRIES; i++)
			if (third[i] & PAGE_LARGE)
				third[i] |= no_execute_bit;
	}
	for (unsigned i = 0; i < PAGE_ENTRIES; i++)
		if (i * PAGE_SIZE < (uintptr_t)image_begin || i * PAGE_SIZE >= (uintptr_t)image_text_end)
			bare_low_table[i] |= no_execute_bit;
}

void
protect_image_pages(void)
{
	uint64_t never = hw_msr_read(MSR_EFER) & EFER_NXE ? PAGE_NOT_EXECUTABLE : 0;

	forbid_execution_outside_code(never);
	set_page_flags(image_begin, image_text_end, PAGE_PRESENT);
	set_page_flags(image_text_end + (-(uintptr_t)image_text_end & (PAGE_SIZE - 1)), image_data_begin,
		       PAGE_PRESENT | never);
	set_page_flags(bare_stack_guard, bare_stack, 0);
	bare_low_table[0] = 0;
	__asm__ volatile("movq %0, %%cr3" : : "r"(read_cr3()) : "memory");
}

void
vectors_load_idt(void)
{
	const struct table_register table = { sizeof(gates) - 1, (uintptr_t)gates };
	uint16_t selector;

	__asm__ volatile("movw %%cs, %0" : "=r"(selector));
	for (unsigned vector = 0; vector < VECTORS; vector++) {
		gates[vector] = (struct gate){ .selector = selector, .type = GATE_INTERRUPT };
		gate_set_handler(&gates[vector], vector < EXCEPTIONS ? (uintptr_t)bare_stubs + vector * STUB_SIZE :
				 (uintptr_t)bare_ignore);
	}
	gates[DOUBLE_FAULT].stack = DOUBLE_FAULT_STACK;
	processor_set_idtr(&table);
}
