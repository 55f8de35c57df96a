/*
 * The crew by the firmware's own means: EFI_MP_SERVICES_PROTOCOL (PI 1.7 volume 2, 13.4). The cores stay the
 * firmware's, so the application may return to whoever called it.
 */
#ifndef BARETICK_MP_H
#define BARETICK_MP_H

#include "cores.h"

/*
 * Fills CORES with the firmware's cores, at most CORES_MAX that work, and makes CREW of them. False: the
 * firmware has no such service, or the boot core is alone; CORES->reason says which, CREW is the boot core.
 */
bool mp_start(struct cores *cores, uint32_t own_apic_id, uint32_t cores_max, struct rate tsc,
	      struct crew *crew);

/* Closes what mp_start() opened. The cores were the firmware's all the time. */
void mp_stop(struct cores *cores);

#endif
