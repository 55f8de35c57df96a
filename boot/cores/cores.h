/*
 * The machine's cores as a struct smp. Either baretick starts them by INIT-SIPI-SIPI, and they halt if no
 * job comes for a while, or the firmware lends them (mp.h). There is always a struct smp, in the worst case
 * with the boot core alone. Each missing core has a sentence. All memory is allocated before a core starts.
 *
 * The boot core's registers are only read, except for the command register of its LAPIC.
 */
#ifndef BARETICK_CORES_H
#define BARETICK_CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acpi/acpi.h"
#include "clock/clock.h"
#include "clock/smp.h"
#include "smp/startup.h"

/*
 * A core as the report shows it. Number 0 is the boot core, the others follow in the order of their
 * table.
 */
struct core_record {
	uint32_t apic_id;
	bool started; /* true for the boot core, and stays true when it stops answering later */
	bool timed_out; /* REASON is only that a wait for it ended */
	char reason[CLOCK_REASON_SIZE]; /* why it did not start, or stopped answering; else "" */
};

struct cores {
	size_t count; /* records, at least 1 */
	struct core_record *records;
	char reason[CLOCK_REASON_SIZE]; /* why fewer work than are listed, else "" */
	bool taken; /* the firmware has lost some: the run ends by reset or power-off */

	struct core_record boot_record; /* where there was no memory for more */
	struct startup startup;         /* cores_start()'s, */
	struct core_setup *setup;       /* too, */
	uint32_t unlisted_id;           /* too: of the first core that its table does not list */
	struct mp *mp;                  /* mp_start()'s */
};

/* Limits for a struct smp. Both numbers include the boot core. */
struct cores_limits {
	size_t listed;  /* so many have a number and a record at most, whether they are started or not */
	size_t started;
	uint64_t awake_ns; /* how long a core from cores_start() polls for its next job before it halts */
};

/* How many cores MADT lists, the boot core (OWN_APIC_ID) among them in every case. */
size_t cores_listed(const struct acpi_madt *madt, uint32_t own_apic_id);

/*
 * Starts all other cores of a machine without a MADT at once, and writes the APIC ids of at most SPACE of them to
 * IDS. They halt until they are started again. Takes 30 ms, and up to 1 s more if none or fewer come than CPUID knows
 * of. Returns the number of ids. It is 0 if the boot core is alone, or has no memory or no local APIC to start others.
 */
size_t cores_find(uint32_t *ids, size_t space);

/*
 * Starts the cores of MADT within LIMITS, and makes SMP of them. True where at least one more than
 * the boot core came. Takes 10 ms and up to 1 s more where a core does not come.
 */
bool cores_start(struct cores *cores, const struct acpi_madt *madt, uint32_t own_apic_id,
		 struct cores_limits limits, struct rate tsc, struct smp *smp);

/*
 * Stops every started core by INIT: none runs from our memory afterwards, and SMP is the boot core
 * alone. The memory is kept, since a core that INIT did not reach might still fetch from it.
 */
void cores_stop(struct cores *cores);

/* The boot core alone, for cores=off. */
void cores_off(struct cores *cores, uint32_t own_apic_id, struct smp *smp);

#endif
