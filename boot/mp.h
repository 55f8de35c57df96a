/*
 * The crew by the firmware's own means: EFI_MP_SERVICES_PROTOCOL (PI 1.7, volume 2, 13.4). The
 * cores stay the firmware's, so the application may return to whoever called it.
 */
#ifndef BARETICK_MP_H
#define BARETICK_MP_H

#include "cores.h"

/*
 * Fills CORES with the firmware's cores, at most CORES_MAX of them to be used, and makes CREW of
 * them. True where at least one more than the boot core can be used; else CREW is the boot core
 * alone, and cores->reason says why where the machine has more.
 */
bool mp_start(struct cores *cores, uint32_t own_apic_id, uint32_t cores_max, struct rate tsc,
	      struct crew *crew);

/* Gives back all but cores->records, which stay readable; CREW is the boot core alone then. */
void mp_stop(struct cores *cores);

#endif
