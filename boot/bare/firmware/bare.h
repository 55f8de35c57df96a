/* The machine as the loader left it. All is physical memory below 4 GiB, which is mapped to itself. */
#ifndef BARETICK_BARE_H
#define BARETICK_BARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bare/firmware/ram.h"
#include "bare/firmware/start_info.h"
#include "firmware/firmware.h"

#define BARE_MEMORY_MAX      (UINT64_C(4) << 30) /* what boot/bare/entry.nasm maps */
#define BARE_COMMAND_LINE_MAX (1u << 20)

/*
 * Takes the memory map, the addresses of tables and the command line from HANDED: the start info of PVH, or if MAGIC is
 * MULTIBOOT2_MAGIC the information of multiboot2. It is called first. Returns NULL, or a sentence why baretick can't
 * run; then no memory can be allocated.
 */
const char *bare_take_over(const void *handed, uint32_t magic);

/* The free part of the loader's memory map. */
struct ram *bare_ram(void);

/* Returns the loader's command line and its LENGTH; it is cut at BARE_COMMAND_LINE_MAX. */
const char *bare_command_line(size_t *length);

/* boot/bare/elf.lds: each on a page of its own. */
extern const uint8_t image_begin[] __asm__("ImageBase") __attribute__((visibility("hidden")));
extern const uint8_t image_end[] __attribute__((visibility("hidden")));

#endif
