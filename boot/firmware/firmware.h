/*
 * Services of the platform: memory, the addresses of tables, name and time. With UEFI the firmware provides them
 * (boot/uefi/firmware), without UEFI baretick itself (boot/bare/firmware). The linker chooses one of the two folders.
 */
#ifndef BARETICK_FIRMWARE_H
#define BARETICK_FIRMWARE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "hw/paging.h"

/* Returns the number of pages for SIZE bytes. */
static inline size_t
firmware_count_pages(size_t size)
{
	return (size + PAGE_SIZE - 1) / PAGE_SIZE;
}

/*
 * Sets the first SIZE bytes at MEMORY to 0, in words of 8 bytes: SIZE is rounded up. Compilers use "rep stos" for
 * memset(). If QEMU counts instructions, it needs tens of nanoseconds for each repetition.
 */
static inline void
firmware_clear(void *memory, size_t size)
{
	volatile uint64_t *words = memory;

	for (size_t i = 0; i < (size + 7) / 8; i++)
		words[i] = 0;
}

/* Returns SIZE bytes, all 0, or NULL if there is not enough memory. */
void *firmware_allocate(size_t size);

/* Frees memory of firmware_allocate(). Does nothing if MEMORY is NULL. */
void firmware_free(void *memory);

/*
 * Returns PAGES pages of 4 KiB at or below ADDRESS_MAX, with any contents. Returns NULL if there is no such memory. Use
 * it for a large buffer that is written before it is read. A debug version of EDK II fills all memory that
 * firmware_allocate() requests (DEBUG_CLEAR_MEMORY), which delayed a run in QEMU without KVM by 0.4 s.
 */
void *firmware_allocate_raw_pages(uint64_t address_max, size_t pages);

/* Frees all PAGES that were allocated at MEMORY. Does nothing if MEMORY is NULL. */
void firmware_free_pages(void *memory, size_t pages);

/* Like firmware_allocate_raw_pages(), but all bytes are 0. */
static inline void *
firmware_allocate_pages(uint64_t address_max, size_t pages)
{
	void *memory = firmware_allocate_raw_pages(address_max, pages);

	if (memory)
		firmware_clear(memory, pages * PAGE_SIZE);
	return memory;
}

/*
 * Returns PAGES pages below 4 GiB, all 0, or NULL if there are none. They are never freed, and a kernel that starts
 * later does not use them.
 */
void *firmware_reserve_low_pages(size_t pages);

/* Returns the physical address of the ACPI RSDP, or 0 if there is none. */
uint64_t firmware_find_rsdp(void);

/* Return the physical addresses of the 64-bit and the 32-bit SMBIOS entry point, or 0 if there is none. */
uint64_t firmware_find_smbios_3(void);
uint64_t firmware_find_smbios_2(void);

/*
 * Returns a physical address without RAM, at which Xen's shared page can be mapped: see struct platform. Returns 0 if
 * baretick was not started by PVH.
 */
uint64_t firmware_get_unused_page(void);

/* Appends the firmware's name and version to TEXT, in the report's format. */
void firmware_print_name(struct text *text);

/* Appends date and time to TEXT in the report's format, or nothing if the firmware provides no time. */
void firmware_print_time(struct text *text);

/*
 * Between these two calls the firmware runs no callback on this core. Masked interrupts alone do not ensure this. SAVED
 * is the value that firmware_block_callbacks() returned.
 */
uint64_t firmware_block_callbacks(void);
void firmware_restore_callbacks(uint64_t saved);

#endif
