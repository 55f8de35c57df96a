/*
 * A struct smp by the firmware's EFI_MP_SERVICES_PROTOCOL (PI 1.7, volume 2, 13.4). The firmware keeps
 * control of the cores, so the application may return to its caller.
 */
#ifndef BARETICK_MP_H
#define BARETICK_MP_H

#include "cores/cores.h"

/* How many cores the firmware has, the boot core included; 1 where it does not say. */
size_t mp_listed(void);

/*
 * Fills CORES with the firmware's cores within LIMITS, and makes SMP of them. True where at least
 * one more than the boot core can be used; else SMP is the boot core alone, and cores->reason says
 * why where the machine has more.
 */
bool mp_start(struct cores *cores, uint32_t own_apic_id, struct cores_limits limits,
	      struct rate tsc, struct smp *smp);

/* Gives back all but cores->records, which stay readable; SMP is the boot core alone then. */
void mp_stop(struct cores *cores);

#endif
