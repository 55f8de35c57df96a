/*
 * Starts cores by INIT-SIPI-SIPI and stops them by INIT. Each core has a slot. The callers provide the slots' memory
 * and the code that a started core executes.
 */
#ifndef BARETICK_STARTUP_H
#define BARETICK_STARTUP_H

#include <stddef.h>
#include <stdint.h>

#include "clock/smp.h"
#include "hw/lapic.h"
#include "base/scale.h"
#include "base/text.h"

#define CORE_SLOT_SIZE  128     /* two cache lines, in bytes; boot/cores/core_entry.nasm depends on the slot's layout */
#define CORE_FAULTED    0x100u  /* flag in the field fault after an exception; the low byte is the exception's vector */

enum core_state {
	CORE_NOT_REQUESTED, /* the core will not be started */
	CORE_REQUESTED,     /* the core will be started */
	CORE_ALIVE,         /* the core has checked in, and has finished each job in time */
	CORE_UNADDRESSABLE, /* the core's APIC id cannot be addressed in the LAPIC's mode */
	CORE_UNSENT,        /* the boot core's LAPIC failed to send INIT or SIPI */
	CORE_SILENT,        /* the core did not check in */
	CORE_LATE,          /* the core did not finish a job in time */
	CORE_EXCEPTION,     /* an exception ended the core's job: see the field fault */
	/* the core was alive until the end of the run, and then was halted with interrupts masked until the reset */
	CORE_STOPPED,
};

struct core_slot {
	/* Written by the boot core before this core starts, and constant afterwards. */
	struct core_slot *self; /* address of this slot; the core's GS base has the same value */
	uint64_t stack_top;
	uint64_t eoi_address;   /* address of the LAPIC's EOI register: see lapic_get_eoi_address() */
	const struct lapic *lapic;
	uint32_t apic_id;
	uint32_t number;        /* the core's number in struct smp */

	/*
	 * Written by the boot core. The started core reads posted, job and argument. The boot core writes posted last.
	 */
	uint32_t state;      /* enum core_state */
	uint32_t posted;        /* number of jobs posted so far */
	smp_job *job;
	void *argument;

	/* Written by the started core, on a separate cache line. The boot core only reads these fields. */
	_Alignas(64) uint32_t arrived; /* 1 after the core has checked in */
	uint32_t started;       /* value of posted when the core started its latest job */
	uint32_t done;          /* value of posted when the core finished its latest job */
	uint32_t fault;         /* CORE_FAULTED | the exception's vector; written after the next three fields */
	/* as in struct fault; fault_at is the address of the instruction */
	uint64_t fault_error, fault_at, fault_address;
	/* the core halts if it has polled this number of TSC ticks for its next job; constant */
	uint64_t awake_ticks;
};

_Static_assert(sizeof(struct core_slot) == CORE_SLOT_SIZE, "the assembly multiplies by this");

struct startup {
	struct core_slot *slots; /* slot 0 is for the boot core, which is not started by these functions */
	size_t count;
	struct lapic lapic;
	struct scale scale;      /* the TSC's rate */
	/*
	 * A waiting core executes PAUSE after this number of checks, or after each check if it is 0. In QEMU's emulation
	 * a PAUSE takes the lock that reads of devices need, so a core that only pauses makes them take several times
	 * as long.
	 */
	uint32_t checks_per_pause;
	uint8_t page;            /* number of the page below 1 MiB at which a started core starts to execute */
};

/*
 * Returns the rate TSC if it is known, otherwise a rate above any TSC's. Waits then are too long, but never too
 * short.
 */
struct rate startup_get_tsc_rate_or_default(struct rate tsc);

/*
 * Starts all cores in state CORE_REQUESTED at once: INIT, 10 ms, SIPI, 200 us, and a second SIPI to cores that have not
 * checked in. Then waits for all cores, at most 1 s from the latest arrival. Repeats the sequence once for cores that
 * have not checked in. Afterwards each state is CORE_ALIVE or the reason of the failure. A silent core is stopped by
 * INIT, so that it does not start later. Returns the number of living cores.
 */
size_t startup_start_cores(const struct startup *startup);

/*
 * Starts all other cores at once, whatever their APIC ids are: INIT, 10 ms, SIPI, 200 us, SIPI. Each started core adds
 * 1 to ARRIVED. Returns when no further core arrives within 20 ms, or within 1 s while none or fewer than EXPECTED
 * cores have arrived.
 */
void startup_start_by_broadcast(const struct startup *startup, const uint32_t *arrived, size_t expected);

/* no core has this id, because it addresses all cores: SDM vol. 3A, 10.12.9, ICR Operation in x2APIC Mode */
#define STARTUP_NO_ID UINT32_MAX

/*
 * Started cores write their APIC ids to IDS. Each core first reserves an entry, so an entry may be reserved but not
 * written. The function startup_clear_apic_ids() marks all entries as not written. The function
 * startup_compact_apic_ids() moves the written ids among the first COUNT entries to the front, and returns their
 * number.
 */
void startup_clear_apic_ids(uint32_t *ids, size_t space);
size_t startup_compact_apic_ids(uint32_t *ids, size_t count);

/*
 * Appends a sentence about started cores whose id the MADT does not list. The sentence includes *FIRST_ID if the first
 * such core has written its id.
 */
void startup_print_unlisted_apic_id(struct text *text, const uint32_t *first_id);

/*
 * Stops, by INIT, the cores in slots FIRST to END - 1 whose state is BEFORE, and sets their state to AFTER. Then waits
 * 10 ms, after which these cores execute nothing. Does not wait if no core has this state.
 */
void startup_stop_cores(const struct startup *startup, size_t first, size_t end,
			enum core_state before, enum core_state after);

/* The explanation of each enum core_state in the report. CORE_ALIVE and CORE_STOPPED have "". */
extern const char *const startup_explanations[];

#endif
