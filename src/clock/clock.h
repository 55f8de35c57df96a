/*
 * A clock as all code above the drivers sees it: id, state, width, nominal frequency, and a function that takes
 * samples. A clock that the machine lacks also has a struct. Its field `reason` then states why it is absent.
 */
#ifndef BARETICK_CLOCK_H
#define BARETICK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"
#include "clock/paravirtual.h"
#include "clock/sample.h"

#define CLOCK_REASON_SIZE 128 /* size of a sentence with its final 0 */

enum clock_state {
	CLOCK_ABSENT,   /* the machine has no such clock, according to its tables or because it does not react */
	CLOCK_PRESENT,  /* the clock is open and counts; sample() may be called only in this state */
	CLOCK_DISABLED, /* the clock exists but is switched off, and could not be switched on */
	CLOCK_STUCK,    /* the clock exists, but its counter did not change while it was watched */
	CLOCK_BROKEN,   /* the clock exists, but its readings contradict each other or its ACPI table */
};

/* A clock that a hypervisor calculates from the TSC. */
struct clock_paravirtual {
	/* true if the hypervisor writes the clock's parameters to a page of baretick's memory */
	bool paged;
	/*
	 * True if the clock is disabled because the contents of its page are invalid. A kernel would then read
	 * another clock instead.
	 */
	bool falls_back;
	enum paravirtual_kind offered_by; /* the hypervisor interface that offers the clock */
	/*
	 * Returns STABLE_YES if readings on different cores can be compared. The pointer is NULL if the clock's
	 * specification guarantees this.
	 */
	enum paravirtual_stable (*get_stability)(void *device);
	/*
	 * Returns the TSC's rate according to the clock's page, in ns per tick times 2^32. Returns 0 if the page
	 * states no rate, or if the hypervisor adjusts the rate. The pointer is NULL if the clock has no page.
	 */
	uint64_t (*assumed)(void *device);
	/* Returns the argument for `read` on the calling core. The pointer is NULL if it is the device on each core. */
	void *(*get_core_device)(void *device);
	sample_read *read;           /* reads the clock once, without TSC reads before and after */
};

struct clock {
	const char *id;    /* id in report.json and in the option clocks=, in static storage */
	/* The device and the read method in words, at most 60 characters, in static storage. */
	const char *title;
	/*
	 * A device may have several rows, one for each read method. This is the id of its first row, in static
	 * storage.
	 */
	const char *main;
	/*
	 * Linux's clocksource rating; Linux prefers the clock with the highest rating. 0 if the clock should not be
	 * recommended.
	 */
	unsigned rating;
	/* Restriction on using the clock, as the end of a sentence, in static storage. NULL if there is none. */
	const char *caveat;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* a sentence that explains the state, or "" */
	const char *found_by; /* ACPI table or I/O port where the driver found the clock, or ""; in static storage */
	unsigned width_bits;  /* width of the counter; 0 if unknown */
	uint64_t wrap_ticks;  /* the highest reading, after which the counter continues with 0 */
	struct rate claimed;  /* nominal frequency, from a register of the clock, a table or a data sheet */
	/* error of the nominal frequency in ppb, due to rounding */
	uint64_t claimed_within_ppb;
	/*
	 * True for an edge clock, such as the RTC. An edge clock ticks much less often than it can be read. Therefore
	 * its readings are taken at its ticks.
	 */
	bool edges_only;
	/*
	 * True if a reading needs several accesses to the device. Readings of two cores at the same time would disturb
	 * each other, so only one core at a time may read.
	 */
	bool one_core_only;
	/* true if the machine does not announce the clock; such a clock is used only if the options name it */
	bool unoffered;
	/* True if a hypervisor calculates the clock from the TSC, so that both count as one source. */
	bool by_tsc;
	struct clock_paravirtual paravirtual; /* used only if BY_TSC is set */
	/*
	 * True if the device may also be the source of the firmware's timer interrupt. The firmware's handler of this
	 * interrupt may stop the device's counter for a short time.
	 */
	bool firmware_ticks;
	/* Takes a chain of COUNT samples on the calling core (see clock/sample.h). Interrupts must be masked. */
	void (*sample)(void *device, struct sample *samples, size_t count);
	void *device; /* memory of the driver; valid until the driver's close() */
};

/*
 * Returns true if the difference of two successive samples can be trusted: both together took at most TRUST_TICKS TSC
 * ticks. In a longer time, for example if the core was preempted, the counter may wrap, and a normal difference may
 * look like a step back. TRUST_TICKS is 0 if the counter cannot wrap during a run.
 */
static inline bool
clock_comparable(uint64_t trust_ticks, const struct sample *then, const struct sample *now)
{
	return !trust_ticks || now->end - then->begin <= trust_ticks;
}

/*
 * Returns the ticks between the readings THEN and NOW. The counter wraps from wrap_ticks to 0, and must have wrapped
 * at most once between the readings.
 */
static inline uint64_t
clock_elapsed_ticks(const struct clock *clock, uint64_t then_ticks, uint64_t now_ticks)
{
	if (now_ticks >= then_ticks)
		return now_ticks - then_ticks;
	return now_ticks + (clock->wrap_ticks - then_ticks) + 1;
}

/* Returns true if ELAPSED_TICKS is more than half of the counter's range. The counter then probably stepped back. */
static inline bool
clock_stepped_back(const struct clock *clock, uint64_t elapsed_ticks)
{
	return elapsed_ticks > clock->wrap_ticks - clock->wrap_ticks / 2;
}

/* Returns the size of a step back: the counter's range minus ELAPSED_TICKS. */
static inline uint64_t
clock_step_back_ticks(const struct clock *clock, uint64_t elapsed_ticks)
{
	return clock->wrap_ticks - elapsed_ticks + 1;
}

#endif
