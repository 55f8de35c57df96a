/*
 * Starts cores by INIT-SIPI-SIPI and stops them by INIT, with one slot for each core. The code of a
 * started core and the origin of its memory are not known here.
 */
#ifndef BARETICK_STARTUP_H
#define BARETICK_STARTUP_H

#include <stddef.h>
#include <stdint.h>

#include "clock/smp.h"
#include "hw/lapic.h"
#include "base/scale.h"
#include "base/text.h"

#define CORE_SLOT_SIZE  128     /* two cache lines: boot/cores/core_entry.nasm knows the layout */
#define CORE_FAULTED    0x100u  /* in fault: of the exception in its low byte */

enum core_standing {
	CORE_LEFT_OUT,      /* not to be started */
	CORE_ASKED,         /* to be started */
	CORE_ALIVE,         /* checked in, and has done every job in time */
	CORE_UNADDRESSABLE, /* its id does not fit the LAPIC's mode */
	CORE_UNSENT,        /* the boot core's LAPIC did not get INIT or SIPI out */
	CORE_SILENT,        /* did not check in */
	CORE_LATE,          /* did not finish a job in time */
	CORE_FELL,          /* took an exception: see fault */
	CORE_STOPPED,       /* was alive, and the run is over: it halts, with interrupts masked, until the reset */
};

struct core_slot {
	/* Written by the boot core before the core starts; constant from then on. */
	struct core_slot *self; /* the core's GS base points here */
	uint64_t stack_top;
	uint64_t eoi_address;   /* the result of lapic_eoi_address() */
	const struct lapic *lapic;
	uint32_t apic_id;
	uint32_t number;        /* in struct smp */

	/*
	 * Written by the boot core. It alone uses standing. It writes job and argument before posted, and
	 * the started core reads them.
	 */
	uint32_t standing;      /* enum core_standing */
	uint32_t posted;        /* jobs posted so far */
	smp_job *job;
	void *argument;

	/* Written by the started core, on a separate cache line. The boot core only reads these fields. */
	_Alignas(64) uint32_t arrived; /* 1 once it has checked in */
	uint32_t taken;         /* posted, as of the job that it last began */
	uint32_t done;          /* and as of the job that it last finished */
	uint32_t fault;         /* the last to be written; before it: */
	uint64_t fault_error, fault_at, fault_address; /* as in struct fault; AT is an address */
	uint64_t awake_ticks;   /* constant: TSC ticks that the core polls for the next job before it halts */
};

_Static_assert(sizeof(struct core_slot) == CORE_SLOT_SIZE, "the assembly multiplies by this");

struct startup {
	struct core_slot *slots; /* slot 0 belongs to the boot core, which never gets a command */
	size_t count;
	struct lapic lapic;
	struct scale scale;      /* the TSC's rate */
	uint8_t page;            /* number of the page below 1 MiB at which a started core starts */
};

/*
 * For a TSC whose rate is not known: faster than any, so that waits become longer, never too short.
 */
struct rate startup_tsc_rate(struct rate tsc);

/*
 * Starts all slots in state CORE_ASKED at once: INIT, 10 ms, SIPI, 200 us, and a second SIPI to cores that have not
 * checked in. Then waits for all cores, at most 1 s from the last arrival, and repeats the sequence for silent cores.
 * Each core ends as CORE_ALIVE or with the reason of its failure. A silent core is stopped, so that it does not start
 * later. Returns the number of living cores.
 */
size_t startup_cores(const struct startup *startup);

/*
 * Starts all other cores at once, whatever their ids: INIT, 10 ms, SIPI, 200 us, SIPI. Each adds 1 to ARRIVED. Waits
 * until none has come for 20 ms, or for 1 s as long as no core or fewer than EXPECTED have come.
 */
void startup_broadcast(const struct startup *startup, const uint32_t *arrived, size_t expected);

#define STARTUP_NO_ID UINT32_MAX /* the destination of a broadcast, so no core's id: SDM vol. 3A, 10.12.9 */

/*
 * A started core takes a place in IDS before it writes its id there. Cleared places show which ids are not yet written.
 * startup_gather_ids() moves the written ids among the first COUNT to the front and returns their number.
 */
void startup_clear_ids(uint32_t *ids, size_t space);
size_t startup_gather_ids(uint32_t *ids, size_t count);

/* Prints that a core came whose id no table lists, and FIRST_ID, unless that core has not written its id there yet. */
void startup_put_unlisted(struct text *text, const uint32_t *first_id);

/*
 * Stops by INIT each slot from FIRST to before END whose standing is BEFORE, and gives it AFTER.
 * Returns 10 ms later, when none of them executes any more, or at once where there was none.
 */
void startup_stop(const struct startup *startup, size_t first, size_t end,
		  enum core_standing before, enum core_standing after);

/* Returns a sentence on STANDING for the report; "" for CORE_ALIVE and CORE_STOPPED. */
const char *startup_reason(enum core_standing standing);

#endif
