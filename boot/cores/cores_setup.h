/*
 * The data that boot/cores/cores.c passes to a started core. boot/cores/cores.inc has the same layouts for the assembly
 * files. Only files in this folder include this header.
 */
#ifndef BARETICK_CORES_SETUP_H
#define BARETICK_CORES_SETUP_H

#include <stddef.h>
#include <stdint.h>

#include "firmware/processor.h"
#include "smp/startup.h"

struct core_setup { /* constant after the first core has started, except for unlisted and unlisted_ids */
	uint64_t cr0, cr4;
	struct table_register gdtr;
	uint8_t padding_gdtr[6];
	struct table_register idtr;
	uint8_t padding_idtr[6];
	uint64_t cs, ss;
	const uint32_t *ids;
	uint64_t count;
	struct core_slot *slots;
	uint64_t x2apic;
	/*
	 * The number of cores whose APIC id is not in IDS, and the ids of at most unlisted_space of them. Written by
	 * these cores.
	 */
	uint32_t unlisted, unlisted_space;
	uint32_t *unlisted_ids;
};

struct far_pointer {
	uint32_t offset;
	uint16_t selector;
} __attribute__((packed));

struct trampoline_parameters {
	struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) gdtr;
	uint16_t padding_gdtr;
	struct far_pointer to_protected;
	uint16_t padding_protected;
	struct far_pointer to_long;
	uint16_t padding_long;
	uint32_t cr3, cr4, efer, padding_efer;
	uint64_t boot_cr3, entry;
	const struct core_setup *setup;
};

#define SAME_OFFSET(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset),                                   \
		       "boot/cores/cores.inc: " #type "." #field)

SAME_OFFSET(core_slot, self, 0);
SAME_OFFSET(core_slot, stack_top, 8);
SAME_OFFSET(core_slot, eoi_address, 16);
SAME_OFFSET(core_slot, lapic, 24);
SAME_OFFSET(core_slot, apic_id, 32);
SAME_OFFSET(core_slot, number, 36);
SAME_OFFSET(core_slot, state, 40);
SAME_OFFSET(core_slot, posted, 44);
SAME_OFFSET(core_slot, job, 48);
SAME_OFFSET(core_slot, argument, 56);
SAME_OFFSET(core_slot, arrived, 64);
SAME_OFFSET(core_slot, started, 68);
SAME_OFFSET(core_slot, done, 72);
SAME_OFFSET(core_slot, fault, 76);
SAME_OFFSET(core_slot, fault_error, 80);
SAME_OFFSET(core_slot, fault_at, 88);
SAME_OFFSET(core_slot, fault_address, 96);
SAME_OFFSET(core_slot, awake_ticks, 104);

SAME_OFFSET(core_setup, cr0, 0);
SAME_OFFSET(core_setup, cr4, 8);
SAME_OFFSET(core_setup, gdtr, 16);
SAME_OFFSET(core_setup, idtr, 32);
SAME_OFFSET(core_setup, cs, 48);
SAME_OFFSET(core_setup, ss, 56);
SAME_OFFSET(core_setup, ids, 64);
SAME_OFFSET(core_setup, count, 72);
SAME_OFFSET(core_setup, slots, 80);
SAME_OFFSET(core_setup, x2apic, 88);
SAME_OFFSET(core_setup, unlisted, 96);
SAME_OFFSET(core_setup, unlisted_space, 100);
SAME_OFFSET(core_setup, unlisted_ids, 104);

SAME_OFFSET(trampoline_parameters, gdtr, 0);
SAME_OFFSET(trampoline_parameters, to_protected, 8);
SAME_OFFSET(trampoline_parameters, to_long, 16);
SAME_OFFSET(trampoline_parameters, cr3, 24);
SAME_OFFSET(trampoline_parameters, cr4, 28);
SAME_OFFSET(trampoline_parameters, efer, 32);
SAME_OFFSET(trampoline_parameters, boot_cr3, 40);
SAME_OFFSET(trampoline_parameters, entry, 48);
SAME_OFFSET(trampoline_parameters, setup, 56);

#undef SAME_OFFSET

/*
 * The code in boot/cores/trampoline.nasm. It is position-independent and copied below 1 MiB. boot/cores/cores_memory.c
 * writes to the copy at these labels.
 */
#define HIDDEN __attribute__((visibility("hidden")))
extern const uint8_t trampoline[] HIDDEN, trampoline_gdt[] HIDDEN, trampoline_protected[] HIDDEN;
extern const uint8_t trampoline_long[] HIDDEN, trampoline_fields[] HIDDEN, trampoline_end[] HIDDEN;

#define TRAMPOLINE_CODE32 0x08u /* selectors CODE32 and CODE64 of trampoline.nasm */
#define TRAMPOLINE_CODE64 0x18u
#define TRAMPOLINE_GDT_LIMIT 31u /* size of four descriptors of 8 bytes, minus one */

/* Defined in boot/cores/core_entry.nasm. */
extern const uint8_t core_entry[] HIDDEN;   /* lies within one page */
extern const uint8_t core_vectors[] HIDDEN; /* an array of 256 stubs, one for each vector */
#define CORE_VECTOR_STUB_SIZE 16u

/* Called by core_entry on the core's own stack; does not return. */
void core_main(struct core_slot *slot) __attribute__((noreturn));

#endif
