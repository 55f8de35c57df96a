/*
 * The machine's cores as a struct smp. Either baretick starts them by INIT-SIPI-SIPI, or the firmware's MP services
 * provide them (mp.h). A core that baretick started halts if no job comes for a while. If no other core can be started,
 * the struct smp has only the boot core. The report gets a sentence for each missing core. All memory is allocated
 * before a core starts.
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

/* A core in the report. Number 0 is the boot core. The other cores follow in the order of the table that lists them. */
struct core_record {
	uint32_t apic_id;
	bool started; /* true if the core started, even if it stopped answering later; always true for the boot core */
	bool timed_out; /* true if REASON is a time-out, which does not prove a fault */
	char reason[CLOCK_REASON_SIZE]; /* reason why the core did not start or stopped answering, else "" */
};

struct cores {
	size_t count; /* number of records, at least 1 */
	struct core_record *records;
	char reason[CLOCK_REASON_SIZE]; /* reason why fewer cores can be used than are listed, else "" */
	/* true if cores can no longer execute firmware code, so the run must end by a reset or power-off */
	bool firmware_lost_cores;

	struct core_record boot_record; /* the boot core's record, used if there is no memory for more records */
	struct startup startup;         /* set by cores_start() */
	struct core_setup *setup;       /* set by cores_start() */
	uint32_t unlisted_id;           /* set by cores_start(): id of a started core that the MADT does not list */
	struct mp *mp;                  /* set by mp_start_cores() */
};

/*
 * In QEMU's emulation this is about 2 us. If one host thread runs all cores in turn, it lets another core run soon.
 */
#define CHECKS_PER_PAUSE_IN_EMULATOR 256

/* Limits for a struct smp. Both numbers of cores include the boot core. */
struct cores_limits {
	size_t listed;  /* maximum number of cores with a number and a record, whether they are started or not */
	size_t started; /* maximum number of cores that are started */
	uint64_t awake_ns; /* time in ns that a core started by cores_start() polls for its next job before it halts */
	uint32_t checks_per_pause; /* as in struct startup */
};

/*
 * Returns the number of cores that MADT lists. Includes the boot core, whose id is OWN_APIC_ID, even if MADT lacks it.
 */
size_t cores_count_listed_in_madt(const struct acpi_madt *madt, uint32_t own_apic_id);

/*
 * Finds the cores of a machine without a MADT. Starts all other cores at once, and writes the APIC ids of at most SPACE
 * cores to IDS. The cores halt until cores_start() starts them. Takes 30 ms, and up to 1 s more if no core answers, or
 * if fewer cores answer than CPUID reports. Returns the number of ids. Returns 0 if there are no other cores, no
 * memory, or no local APIC to start them.
 */
size_t cores_find_by_broadcast(uint32_t *ids, size_t space);

/*
 * Starts the cores that MADT lists, up to LIMITS, and fills SMP with them. Returns true if at least one core in
 * addition to the boot core started. Takes 10 ms, and up to 1 s more if a core does not start.
 */
bool cores_start(struct cores *cores, const struct acpi_madt *madt, uint32_t own_apic_id,
		 struct cores_limits limits, struct rate tsc, struct smp *smp);

/*
 * Stops every started core by INIT, so that none executes code in our memory afterwards. SMP then contains only the
 * boot core. The memory is never freed, because a core that INIT did not reach might still execute code in it.
 */
void cores_stop(struct cores *cores);

/* Fills SMP with the boot core only, for the option cores=off. */
void cores_use_boot_core_only(struct cores *cores, uint32_t own_apic_id, struct smp *smp);

#endif
