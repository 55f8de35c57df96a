/* Reads the data that the loader passed. All addresses are physical, below 4 GiB, and mapped to themselves. */
#ifndef BARETICK_BARE_H
#define BARETICK_BARE_H

#include <stddef.h>
#include <stdint.h>

#include "bare/firmware/ram.h"
#include "bare/firmware/start_info.h"
#include "firmware/firmware.h"

#define BARE_MEMORY_MAX      (UINT64_C(4) << 30) /* number of bytes of memory that boot/bare/entry.nasm maps */
#define BARE_COMMAND_LINE_MAX (1u << 20) /* maximum number of bytes of the command line that are read */

/*
 * Reads the memory map, the addresses of tables and the command line from LOADER_DATA. MAGIC selects its format:
 * multiboot2's information for MULTIBOOT2_MAGIC, Linux's boot_params for LINUX_PARAMS_MAGIC, and PVH's start info for
 * 0. Call this function first. Returns NULL, or a sentence with the reason why baretick cannot run. After such an error
 * no memory can be allocated.
 */
const char *bare_read_loader_data(const void *loader_data, uint32_t magic);

/*
 * Returns the free memory: the RAM below 4 GiB in the loader's memory map, without page 0, the image, the loader's data
 * and allocated pages.
 */
struct ram *bare_get_ram(void);

/* Returns the loader's command line, cut at BARE_COMMAND_LINE_MAX, and sets LENGTH. */
const char *bare_get_command_line(size_t *length);

/* Addresses of the image's sections, defined in boot/bare/elf.lds. Each section starts at a page boundary. */
extern const uint8_t image_begin[] __asm__("ImageBase") __attribute__((visibility("hidden")));
extern const uint8_t image_end[] __attribute__((visibility("hidden")));

/*
 * Searches SIZE bytes at BEGIN for ANCHOR, at multiples of 16 bytes. Returns the address of the first match whose first
 * CHECKED bytes have the sum 0, or 0 if there is none. Only ANCHOR itself must be within the SIZE bytes.
 */
uint64_t anchor_find(uint64_t begin, size_t size, const char *anchor, size_t checked);

/* Sets the PM timer's I/O PORT, and the MASK of its valid bits. Until this call, alarm_set() sets no alarm. */
void alarm_set_pm_timer_port(uint16_t port, uint32_t mask);

#endif
