/*
 * A wait that ends: by the TSC, and, should the TSC stop or step back, by the number of polls, the sooner where it
 * reads the same in all of them.
 *
 *	struct wait wait = wait_begin(&scale, 10 * WAIT_NS_PER_MS);
 *	while (!ready() && wait_goes_on(&wait))
 *		;
 */
#ifndef BARETICK_WAIT_H
#define BARETICK_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "hw.h"
#include "scale.h"

#define WAIT_NS_PER_MS UINT64_C(1000000)
#define WAIT_NS_PER_S  UINT64_C(1000000000)

/*
 * No core polls (PAUSE, RDTSC and a test) in less: RDTSC alone costs 7 ns and more (measured
 * on bare metal). So on a healthy TSC it is never the count that ends a wait.
 */
#define WAIT_POLL_NS_MIN 4

/* A TSC that reads the same in so many polls has stopped; waits of 16 ms and less run to their count. */
#define WAIT_STILL_POLLS_MAX (1u << 22)

struct wait {
	uint64_t begin, bound_ticks; /* of the TSC */
	uint64_t polls_left;
	uint64_t last;     /* reading of the TSC, */
	unsigned still;    /* and in how many polls it was the same */
};

static inline struct wait
wait_begin(const struct scale *scale, uint64_t bound_ns)
{
	return (struct wait){
		.begin = hw_tsc(),
		.bound_ticks = scale_ticks(scale, bound_ns),
		.polls_left = bound_ns / WAIT_POLL_NS_MIN + 1,
	};
}

/*
 * One poll; false when the time or the polls are over. A step back of the TSC does not end the wait.
 */
static inline bool
wait_goes_on(struct wait *wait)
{
	uint64_t now;

	if (wait->polls_left == 0)
		return false;
	wait->polls_left--;
	hw_pause();
	now = hw_tsc();
	wait->still = now == wait->last ? wait->still + 1 : 0;
	wait->last = now;
	return wait->still < WAIT_STILL_POLLS_MAX && (int64_t)(now - wait->begin) < (int64_t)wait->bound_ticks;
}

#endif
