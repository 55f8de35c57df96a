/* Where the firmware's own code lies. boot/uefi/firmware and boot/bare/firmware implement it. */
#ifndef BARETICK_CODE_MAP_H
#define BARETICK_CODE_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the map, for code_map_has() until code_map_close(). False: it can't be read, and nothing is held. */
bool code_map_open(void);
void code_map_close(void);

/* Whether the firmware had code at ADDRESS when the map was read. */
bool code_map_has(uint64_t address);

#endif
