/*
 * The memory of started cores, and what they take over from the boot core. For cores.c only.
 */
#ifndef BARETICK_CORES_MEMORY_H
#define BARETICK_CORES_MEMORY_H

#include <stdbool.h>

#include "cores/cores.h"

/*
 * Takes memory for LISTED records and WORKING slots with their stacks, all zeroed, and fills in
 * what does not depend on the single core: setup, tables, trampoline. False: the firmware has too
 * little, and nothing is held. IDS gets space for WORKING ids.
 */
bool cores_memory_take(struct cores *cores, size_t listed, size_t working, uint32_t **ids);

#endif
