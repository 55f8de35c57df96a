/*
 * The contract of a clock for everything above its driver: an id, a state, a width, a nominal frequency, and a
 * function that takes samples. An absent clock is a clock too, with a state and a sentence.
 */
#ifndef BARETICK_CLOCK_H
#define BARETICK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"
#include "clock/paravirtual.h"
#include "clock/sample.h"

#define CLOCK_REASON_SIZE 128 /* a sentence and its final 0 */

enum clock_state {
	CLOCK_ABSENT,   /* the machine has none, by its tables or by its behaviour */
	CLOCK_PRESENT,  /* open and counting: the only state in which sample may be called */
	CLOCK_DISABLED, /* there, but switched off, and could not be switched on */
	CLOCK_STUCK,    /* there, but its counter did not move within a bounded wait */
	CLOCK_BROKEN,   /* there, but its readings contradict themselves or its table */
};

struct clock {
	const char *id;    /* as in report.json and the option clocks=; static storage */
	/* For people: the device and the read method, at most 60 characters. Static storage. */
	const char *title;
	/* Id of the main clock if this is another read method of it, otherwise its own id; static storage. */
	const char *main;
	/* Linux's clocksource rating: kernels prefer a higher one. 0 if it should not be recommended. */
	unsigned rating;
	/* Limit on its use, as the end of a sentence. NULL if there is none. Static storage. */
	const char *caveat;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* a sentence if there is something to say, else "" */
	const char *found_by; /* where the driver found it, or ""; static storage */
	unsigned width_bits;  /* width of its counter; 0 if not known */
	uint64_t wrap_ticks;  /* the highest reading; the next tick reads 0 */
	struct rate claimed;  /* nominal frequency, from its register, table or data sheet */
	/* Rounding of the nominal frequency: the intended value may differ by this. */
	uint64_t claimed_within_ppb;
	bool edges_only;      /* its ticks are far rarer than reads, so it is timed at its edges */
	/* A reading takes several accesses, which another core would disturb: cores take turns. */
	bool one_core_only;
	bool unoffered;       /* nothing here offers it: it only has a row if the options name it */
	/*
	 * A hypervisor derives it from the TSC, so both have one source. The fields down to READ are only for
	 * such clocks.
	 */
	bool by_tsc;
	bool paged;           /* it is kept in our own memory */
	/* Disabled, and a kernel that takes it anyway gets the readings of another clock. */
	bool falls_back;
	enum paravirtual_kind offered_by; /* the interface that offers it */
	/* Returns whether readings on different cores can be compared. NULL if its specification says so. */
	enum paravirtual_stable (*stable)(void *device);
	void *(*here)(void *device); /* returns the argument of READ for the calling core */
	sample_read *read;           /* one reading without a TSC bracket */
	/* The firmware's timer interrupt uses this device, and may stop its counter for a short time. */
	bool firmware_ticks;
	/* Takes COUNT chained samples on the calling core. The caller has masked interrupts. */
	void (*sample)(void *device, struct sample *samples, size_t count);
	void *device; /* owned by the driver, valid until its close() */
};

/*
 * Returns true if two chained samples can be compared: if no more than TRUST_TICKS of the TSC lie between their
 * readings. After a longer time a preempted guest may have missed a wrap, and a normal difference looks like a
 * step back. TRUST_TICKS is 0 if the counter does not wrap in any run.
 */
static inline bool
clock_comparable(uint64_t trust_ticks, const struct sample *then, const struct sample *now)
{
	return !trust_ticks || now->end - then->begin <= trust_ticks;
}

/* Ticks from THEN to NOW on a counter that wraps from wrap_ticks to 0. Less than one wrap must lie in between. */
static inline uint64_t
clock_elapsed_ticks(const struct clock *clock, uint64_t then_ticks, uint64_t now_ticks)
{
	if (now_ticks >= then_ticks)
		return now_ticks - then_ticks;
	return now_ticks + (clock->wrap_ticks - then_ticks) + 1;
}

/* Returns true if ELAPSED_TICKS is more than half the counter's range: then it is a step back. */
static inline bool
clock_stepped_back(const struct clock *clock, uint64_t elapsed_ticks)
{
	return elapsed_ticks > clock->wrap_ticks - clock->wrap_ticks / 2;
}

/* Size of a step back: the ticks missing to a whole range. */
static inline uint64_t
clock_step_back_ticks(const struct clock *clock, uint64_t elapsed_ticks)
{
	return clock->wrap_ticks - elapsed_ticks + 1;
}

#endif
