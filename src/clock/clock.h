/*
 * What a clock is to everything above its driver: an id, a state, a width, a claim, and a way to take
 * samples. A clock that is not there is a clock too, with its state and a sentence.
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
	CLOCK_ABSENT,   /* the machine says or shows that it has none */
	CLOCK_PRESENT,  /* open and counting: the only state in which sample may be called */
	CLOCK_DISABLED, /* there, switched off, and could not be switched on */
	CLOCK_STUCK,    /* there, and its counter never moved within a bounded wait */
	CLOCK_BROKEN,   /* there, and what it answers contradicts itself or its table */
};

struct clock {
	const char *id;    /* as in report.json and the option clocks=; static storage */
	const char *title; /* what is read and how, for people, at most 60 characters; static storage */
	const char *main;  /* id of the clock of which this is another way of reading; itself for a main one */
	unsigned rating;   /* the higher the rather a kernel takes it: Linux's clocksource rating; 0: not to be recommended */
	const char *caveat; /* what it is good for only, as the end of a sentence; NULL: for all; static storage */
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* a sentence where there is something to say, else "" */
	const char *found_by; /* where the driver learned of it, "" where nowhere; static storage */
	unsigned width_bits;  /* of its counter; 0 where not known */
	uint64_t wrap_ticks;  /* the highest reading; the next tick reads 0 */
	struct rate claimed;  /* what its register, table or data sheet says of its rate */
	uint64_t claimed_within_ppb; /* the claim is rounded: what is meant may be so far from it */
	bool edges_only;      /* its ticks are far rarer than reads: time it by its edges */
	bool one_core_only;   /* a reading takes accesses that another core's would spoil: cores take turns */
	bool unoffered;       /* nothing here offers it: it is a row only where the options name it */
	/*
	 * A hypervisor works it out from the TSC: one source with it. The rest is of such clocks alone: whose it is; whether
	 * by its own word readings on different cores can be compared (NULL: by its specification they can); a reading
	 * without brackets, which is handed what here() returns on the same core.
	 */
	bool by_tsc;
	bool paged;           /* it is kept in memory of ours */
	bool falls_back;      /* disabled, but a kernel that takes it all the same is given the readings of another clock */
	enum paravirtual_kind offered_by;
	enum paravirtual_stable (*stable)(void *device);
	void *(*here)(void *device);
	sample_read *read;
	bool firmware_ticks;  /* the firmware's timer interrupt is this device's, and may stop the counter for a moment */
	/* Takes COUNT chained samples on the core that calls; the caller has masked interrupts. */
	void (*sample)(void *device, struct sample *samples, size_t count);
	void *device; /* the driver's, alive until the driver's close */
};

/*
 * Whether two chained samples can be compared at all: while no more than TRUST_TICKS of the TSC may lie between
 * their readings. Longer, and a guest that was preempted may have missed a wrap: what then looks like a step
 * back is none. TRUST_TICKS 0: the counter doesn't wrap in any run.
 */
static inline bool
clock_comparable(uint64_t trust_ticks, const struct sample *then, const struct sample *now)
{
	return !trust_ticks || now->end - then->begin <= trust_ticks;
}

/* Ticks from THEN to NOW on a counter that goes from wrap_ticks to 0; less than one wrap must lie between. */
static inline uint64_t
clock_elapsed_ticks(const struct clock *clock, uint64_t then_ticks, uint64_t now_ticks)
{
	if (now_ticks >= then_ticks)
		return now_ticks - then_ticks;
	return now_ticks + (clock->wrap_ticks - then_ticks) + 1;
}

/* Whether ELAPSED_TICKS, as above, is more than half the counter's range: then it is a step back. */
static inline bool
clock_stepped_back(const struct clock *clock, uint64_t elapsed_ticks)
{
	return elapsed_ticks > clock->wrap_ticks - clock->wrap_ticks / 2;
}

/* The size of that step back: what is missing to a whole range. */
static inline uint64_t
clock_step_back_ticks(const struct clock *clock, uint64_t elapsed_ticks)
{
	return clock->wrap_ticks - elapsed_ticks + 1;
}

#endif
