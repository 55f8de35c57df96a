/*
 * The services that each boot provides: memory, the addresses of tables, a name. boot/uefi/firmware implements them
 * with UEFI's services, boot/bare/firmware without firmware. The linker chooses one of the two.
 */
#ifndef BARETICK_FIRMWARE_H
#define BARETICK_FIRMWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* SIZE bytes, all 0; NULL where there is no more memory. */
void *firmware_allocate(size_t size);

/* Frees memory of firmware_allocate(). Does nothing if MEMORY is NULL. */
void firmware_free(void *memory);

/* Returns PAGES pages of 4 KiB, all 0, at or below ADDRESS_MAX. Returns NULL if there is no such memory. */
void *firmware_take_pages(uint64_t address_max, size_t pages);
void firmware_give_pages(void *memory, size_t pages);

/*
 * PAGES pages below 4 GiB, all 0, that are never given back, and that no kernel uses either; NULL where there are
 * none.
 */
void *firmware_reserve_low(size_t pages);

/* The physical address of the ACPI RSDP; 0 where there is none. */
uint64_t firmware_rsdp(void);

/* The physical addresses of the 64-bit and the 32-bit SMBIOS entry point; 0 where there is none. */
uint64_t firmware_smbios_3(void);
uint64_t firmware_smbios_2(void);

/* Appends the firmware's name and version as the report has them. */
void firmware_print_name(struct text *text);

/* Appends the date and time as the report has them; nothing where the firmware has no time. */
void firmware_print_time(struct text *text);

/*
 * No callback of the firmware runs on this core between the two calls. Masked interrupts alone do not ensure that.
 * firmware_release() takes the value that firmware_hold() returned.
 */
uint64_t firmware_hold(void);
void firmware_release(uint64_t held);

#endif
