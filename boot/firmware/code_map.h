/* Addresses of the firmware's own code. boot/uefi/firmware and boot/bare/firmware implement this. */
#ifndef BARETICK_CODE_MAP_H
#define BARETICK_CODE_MAP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads the memory map for code_map_contains(), which may be called until code_map_free(). Returns false, and keeps no
 * memory, if the map cannot be read.
 */
bool code_map_load(void);
void code_map_free(void);

/* Returns true if the firmware had code at ADDRESS when the map was read. */
bool code_map_contains(uint64_t address);

#endif
