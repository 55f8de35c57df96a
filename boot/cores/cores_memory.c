/*
 * Allocates the memory of started cores. Copies the boot core's page tables, descriptor table and control registers for
 * them. Their interrupt table is baretick's own. See cores_memory.h.
 */
#include "cores/cores_memory.h"

#include "cores/cores_setup.h"
#include "firmware/firmware.h"
#include "firmware/processor.h"
#include "hw/hw.h"
#include "hw/paging.h"

#define STACK_SIZE        (16u << 10)
#define TRAMPOLINE_MAX    UINT64_C(0x9ffff)    /* a SIPI can only address the first MiB, whose RAM ends here */
#define TABLES_MAX        UINT64_C(0xffffffff) /* page tables are below 4 GiB, because CR3 is loaded in 32-bit mode */
#define TABLES_PAGES      9u /* page tables: the top table, and up to four lower tables for each of two mapped pages */

/* SDM vol. 3A, 4.5.2: bits 0 to 11 of CR3, which are the PCID if CR4.PCIDE is set */
#define CR3_FLAGS         UINT64_C(0xfff)
#define CR4_PAE           (UINT64_C(1) << 5)   /* bit PAE of CR4: SDM vol. 3A, 2.5 */
#define CR4_PCIDE         (UINT64_C(1) << 17)  /* cannot be set before long mode, and is not needed on started cores */
/* Features of the boot core's CR4 that started cores do not use. CET would need a shadow stack for each core. */
#define CR4_NOT_COPIED    (CR4_PCIDE | CR4_CET | CR4_FRED)
#define MSR_EFER          0xc0000080u          /* IA32_EFER: SDM vol. 3A, 2.2.1 */
#define EFER_LME          (1u << 8)
#define EFER_NXE          (1u << 11)

#define VECTORS           256u
#define GATE_INTERRUPT    0x8eu                /* type of a gate: present, interrupt gate (SDM vol. 3A, 6.14.1) */

/* Divides one allocation into parts, each starting on a cache line. */
struct arena {
	uint8_t *next;
};

static size_t
round_to_cache_line(size_t size)
{
	return (size + 63) & ~(size_t)63;
}

static void *
arena_allocate(struct arena *arena, size_t size)
{
	void *part = arena->next;

	arena->next += round_to_cache_line(size);
	return part;
}

/*
 * Allocates a page below 1 MiB. Page 0 cannot be used, because its address, 0, means a failure. If the firmware returns
 * page 0, it stays allocated, so that the next attempt returns another page.
 */
static uint8_t *
allocate_trampoline_page(void)
{
	uint8_t *page = firmware_allocate_pages(TRAMPOLINE_MAX, 1);

	return page ? page : firmware_allocate_pages(TRAMPOLINE_MAX, 1);
}

/* Maps the page of ADDRESS to itself, executable. *FREE points to the next unused page for a table. */
static void
map_page(uint64_t *top, unsigned levels, uint64_t **free, uint64_t address)
{
	uint64_t *table = top;

	for (unsigned level = levels; level > 1; level--) {
		uint64_t *entry = &table[address >> (12 + 9 * (level - 1)) & (PAGE_ENTRIES - 1)];

		if (!*entry) {
			*entry = (uintptr_t)*free | PAGE_PRESENT | PAGE_WRITE;
			*free += PAGE_ENTRIES;
		}
		table = (uint64_t *)(uintptr_t)(*entry & PAGE_ADDRESS);
	}
	table[address >> 12 & (PAGE_ENTRIES - 1)] = (address & PAGE_ADDRESS) | PAGE_PRESENT;
}

static uint64_t
read_cr0(void)
{
	uint64_t value;

	__asm__ volatile("movq %%cr0, %0" : "=r"(value));
	return value;
}

static void
fill_interrupt_gates(struct gate *gates, uint16_t selector)
{
	for (unsigned vector = 0; vector < VECTORS; vector++) {
		gates[vector] = (struct gate){ .selector = selector, .type = GATE_INTERRUPT };
		gate_set_handler(&gates[vector], (uintptr_t)core_vectors + vector * CORE_VECTOR_STUB_SIZE);
	}
}

/*
 * Fills SETUP from the boot core's registers. The descriptor table is copied, because the firmware may change its own
 * table, and because the CPU may write to the table when it loads a segment.
 */
static void
fill_core_setup(struct core_setup *setup, struct arena *arena, const struct table_register *gdtr)
{
	struct gate *gates = arena_allocate(arena, VECTORS * sizeof(*gates));
	void *gdt = arena_allocate(arena, gdtr->limit + 1u);

	__asm__ volatile("movq %%cs, %0" : "=r"(setup->cs));
	__asm__ volatile("movq %%ss, %0" : "=r"(setup->ss));
	__builtin_memcpy(gdt, (const void *)(uintptr_t)gdtr->base, gdtr->limit + 1u);
	fill_interrupt_gates(gates, (uint16_t)setup->cs);
	setup->gdtr = (struct table_register){ gdtr->limit, (uintptr_t)gdt };
	setup->idtr = (struct table_register){ VECTORS * sizeof(*gates) - 1, (uintptr_t)gates };
	setup->cr0 = read_cr0();
	setup->cr4 = read_cr4() & ~CR4_NOT_COPIED;
}

/*
 * Copies the trampoline into PAGE, and writes its parameters: its own address, the page tables, and the address of
 * core_entry.
 */
static void
fill_trampoline(uint8_t *page, uint64_t *tables, const struct core_setup *setup)
{
	uint32_t base = (uint32_t)(uintptr_t)page;
	uint64_t cr4 = read_cr4();
	uint64_t *free = tables + PAGE_ENTRIES;
	unsigned levels = cr4 & CR4_LA57 ? 5 : 4;
	size_t fields = (size_t)(trampoline_fields - trampoline);
	struct trampoline_parameters *parameters = (void *)(page + fields);

	__builtin_memcpy(page, trampoline, (size_t)(trampoline_end - trampoline));
	map_page(tables, levels, &free, base);
	map_page(tables, levels, &free, (uintptr_t)core_entry);
	parameters->gdtr.limit = TRAMPOLINE_GDT_LIMIT;
	parameters->gdtr.base = base + (uint32_t)(trampoline_gdt - trampoline);
	parameters->to_protected.offset = base + (uint32_t)(trampoline_protected - trampoline);
	parameters->to_protected.selector = TRAMPOLINE_CODE32;
	parameters->to_long.offset = base + (uint32_t)(trampoline_long - trampoline);
	parameters->to_long.selector = TRAMPOLINE_CODE64;
	parameters->cr3 = (uint32_t)(uintptr_t)tables;
	parameters->cr4 = (uint32_t)(CR4_PAE | (cr4 & CR4_LA57));
	parameters->efer = EFER_LME | ((uint32_t)hw_msr_read(MSR_EFER) & EFER_NXE);
	parameters->boot_cr3 = cr4 & CR4_PCIDE ? read_cr3() & ~CR3_FLAGS : read_cr3();
	parameters->entry = (uintptr_t)core_entry;
	parameters->setup = setup;
}

static void
fill_core_slots(struct cores *cores, size_t working, uint8_t *stacks)
{
	for (size_t i = 1; i < working; i++) {
		struct core_slot *slot = &cores->startup.slots[i];

		slot->self = slot;
		/* The boot core needs no stack here, so slot i uses stack i - 1. A stack grows down from its end. */
		slot->stack_top = (uintptr_t)stacks + i * STACK_SIZE;
		slot->eoi_address = lapic_get_eoi_address(&cores->startup.lapic);
		slot->lapic = &cores->startup.lapic;
		slot->number = (uint32_t)i;
	}
}

bool
cores_memory_allocate(struct cores *cores, size_t listed, size_t working, uint32_t **ids)
{
	struct table_register gdtr = processor_read_gdtr();
	size_t records_size = listed * sizeof(*cores->records);
	size_t slots_size = working * sizeof(*cores->startup.slots);
	size_t ids_size = working * sizeof(**ids);
	size_t stacks_size = (working - 1) * STACK_SIZE;
	size_t size = round_to_cache_line(stacks_size) + round_to_cache_line(slots_size) +
		      round_to_cache_line(sizeof(struct core_setup)) +
		      round_to_cache_line(VECTORS * sizeof(struct gate)) + round_to_cache_line(gdtr.limit + 1u) +
		      round_to_cache_line(ids_size) + round_to_cache_line(records_size);
	size_t pages = firmware_count_pages(size);
	uint8_t *memory = firmware_allocate_pages(UINT64_MAX, pages);
	uint64_t *tables = firmware_allocate_pages(TABLES_MAX, TABLES_PAGES);
	uint8_t *page = allocate_trampoline_page();

	if (!memory || !tables || !page) {
		firmware_free_pages(memory, pages);
		firmware_free_pages(tables, TABLES_PAGES);
		firmware_free_pages(page, 1);
		return false;
	}
	struct arena arena = { memory };
	uint8_t *stacks = arena_allocate(&arena, stacks_size);

	cores->startup.slots = arena_allocate(&arena, slots_size);
	cores->startup.count = working;
	cores->startup.page = (uint8_t)((uintptr_t)page / PAGE_SIZE);
	struct core_setup *setup = arena_allocate(&arena, sizeof(*setup));

	fill_core_setup(setup, &arena, &gdtr);
	*ids = arena_allocate(&arena, ids_size);
	cores->records = arena_allocate(&arena, records_size);
	setup->ids = *ids;
	setup->count = working;
	setup->slots = cores->startup.slots;
	setup->x2apic = cores->startup.lapic.x2apic;
	cores->setup = setup;
	fill_core_slots(cores, working, stacks);
	fill_trampoline(page, tables, setup);
	return true;
}
