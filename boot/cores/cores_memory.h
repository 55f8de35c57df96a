/* Allocates the memory of started cores, and collects the boot core's registers that they use. For cores.c only. */
#ifndef BARETICK_CORES_MEMORY_H
#define BARETICK_CORES_MEMORY_H

#include <stdbool.h>

#include "cores/cores.h"

/*
 * Allocates zeroed memory for LISTED records, WORKING slots with stacks, and WORKING ids in IDS. Fills in the setup,
 * page tables and trampoline, which all cores share. Returns false, and keeps no memory, if there is too little memory.
 */
bool cores_memory_allocate(struct cores *cores, size_t listed, size_t working, uint32_t **ids);

#endif
