/*
 * Provides a struct smp by means of the firmware's EFI_MP_SERVICES_PROTOCOL (PI 1.7, volume 2, 13.4). The firmware
 * keeps control of the cores, so that the application may return to its caller.
 */
#ifndef BARETICK_MP_H
#define BARETICK_MP_H

#include "cores/cores.h"

/* Returns the number of the firmware's cores, including the boot core. Returns 1 if the firmware has no MP services. */
size_t mp_count_listed_cores(void);

/*
 * Fills CORES with the firmware's cores within LIMITS, and SMP with functions that use them. Returns true if at least
 * one core in addition to the boot core can be used. Otherwise SMP contains only the boot core, and cores->reason is a
 * sentence with the reason, if the machine has more cores.
 */
bool mp_start_cores(struct cores *cores, uint32_t own_apic_id, struct cores_limits limits,
		    struct rate tsc, struct smp *smp);

/*
 * Returns all resources to the firmware, except for cores->records, which stay readable. Afterwards SMP contains only
 * the boot core.
 */
void mp_stop_cores(struct cores *cores);

#endif
