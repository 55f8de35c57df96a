/*
 * Defines a clock for all code above its driver: an id, a state, a width, a nominal frequency, and a function that
 * takes samples. A clock that the machine lacks is listed too, with a sentence that says why.
 */
#ifndef BARETICK_CLOCK_H
#define BARETICK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"
#include "clock/paravirtual.h"
#include "clock/sample.h"

#define CLOCK_REASON_SIZE 128 /* a sentence with its final 0 */

enum clock_state {
	CLOCK_ABSENT,   /* the machine has no such clock, according to its tables or its behaviour */
	CLOCK_PRESENT,  /* open and counting: only in this state may sample() be called */
	CLOCK_DISABLED, /* it exists but is switched off, and could not be switched on */
	CLOCK_STUCK,    /* it exists, but its counter did not move within a bounded wait */
	CLOCK_BROKEN,   /* it exists, but its readings contradict each other or its table */
};

struct clock {
	const char *id;    /* id as in report.json and in the option clocks=; static storage */
	/* The device and the read method in words, at most 60 characters. Static storage. */
	const char *title;
	/* Several rows may be read methods of one clock. This is the id of the clock's first row. Static storage. */
	const char *main;
	/* Linux's clocksource rating: Linux prefers the highest. 0 if the clock should not be recommended. */
	unsigned rating;
	/* Restriction of the clock's use, as the end of a sentence, or NULL. Static storage. */
	const char *caveat;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* a sentence about the clock's state, or "" */
	const char *found_by; /* table or port where the driver found the clock, or ""; static storage */
	unsigned width_bits;  /* width of the counter; 0 if unknown */
	uint64_t wrap_ticks;  /* the highest reading, after which the counter continues with 0 */
	struct rate claimed;  /* nominal frequency, from the clock's register, a table or its data sheet */
	/* Rounding error of the nominal frequency in ppb. */
	uint64_t claimed_within_ppb;
	/*
	 * true for an edge clock, such as the RTC: it ticks much less often than it can be read, so readings are taken at
	 * its ticks
	 */
	bool edges_only;
	/*
	 * True if a reading takes several accesses, which a reading on another core would disturb. Therefore cores take
	 * turns.
	 */
	bool one_core_only;
	/* true if the machine does not offer the clock, so that it is listed only if the options name it */
	bool unoffered;
	/*
	 * True if a hypervisor derives the clock from the TSC. Both then count as one source. The fields from here to READ
	 * are only for such clocks.
	 */
	bool by_tsc;
	bool paged;           /* true if the hypervisor writes the clock to a page of baretick's memory */
	/*
	 * True if the clock is disabled because its page is invalid. A kernel that uses this clock would read another clock
	 * instead.
	 */
	bool falls_back;
	enum paravirtual_kind offered_by; /* the hypervisor interface that offers the clock */
	/*
	 * Returns STABLE_YES if readings on different cores can be compared. NULL if this is always so, by the clock's
	 * specification.
	 */
	enum paravirtual_stable (*get_stability)(void *device);
	/*
	 * Returns the TSC's rate that the clock's page assumes, in ns per tick times 2^32. Returns 0 if the page has no
	 * rate, or if the hypervisor adjusts it. NULL if the clock has no page.
	 */
	uint64_t (*assumed)(void *device);
	void *(*get_core_device)(void *device); /* returns the argument of READ on the calling core */
	sample_read *read;           /* reads the clock once, without the TSC reads around it */
	/* True if the firmware's timer interrupt uses this device, and may stop its counter for a short time. */
	bool firmware_ticks;
	/* Takes a chain of COUNT samples (sample.h) on the calling core. Interrupts must be masked. */
	void (*sample)(void *device, struct sample *samples, size_t count);
	void *device; /* memory of the driver, valid until the driver's close() */
};

/*
 * Returns true if the difference of two successive samples can be trusted, because at most TRUST_TICKS of the TSC are
 * between their readings. After a longer time, for example after preemption, the counter may have wrapped. A normal
 * difference may then look like a step back. TRUST_TICKS is 0 if the counter cannot wrap during a run.
 */
static inline bool
clock_comparable(uint64_t trust_ticks, const struct sample *then, const struct sample *now)
{
	return !trust_ticks || now->end - then->begin <= trust_ticks;
}

/*
 * Returns the ticks from THEN to NOW on a counter that wraps from wrap_ticks to 0. The counter must have wrapped at
 * most once.
 */
static inline uint64_t
clock_elapsed_ticks(const struct clock *clock, uint64_t then_ticks, uint64_t now_ticks)
{
	if (now_ticks >= then_ticks)
		return now_ticks - then_ticks;
	return now_ticks + (clock->wrap_ticks - then_ticks) + 1;
}

/* Returns true if ELAPSED_TICKS is more than half the counter's range. This counts as a step back. */
static inline bool
clock_stepped_back(const struct clock *clock, uint64_t elapsed_ticks)
{
	return elapsed_ticks > clock->wrap_ticks - clock->wrap_ticks / 2;
}

/* Returns the size of a step back: the range of the counter minus ELAPSED_TICKS. */
static inline uint64_t
clock_step_back_ticks(const struct clock *clock, uint64_t elapsed_ticks)
{
	return clock->wrap_ticks - elapsed_ticks + 1;
}

#endif
