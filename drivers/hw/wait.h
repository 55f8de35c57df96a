/*
 * A bounded wait. It ends by the TSC, or by the number of polls if the TSC stops or goes backwards; a TSC that reads
 * the same in all polls ends it sooner. The condition is always checked several times. After a pause, a snapshot or
 * preemption the TSC may be seconds ahead at one poll, although the core did not run in that time.
 *
 *	struct wait wait = wait_begin(&scale, 10 * WAIT_NS_PER_MS);
 *	while (!ready() && wait_goes_on(&wait))
 *		;
 */
#ifndef BARETICK_WAIT_H
#define BARETICK_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scale.h"
#include "hw/hw.h"

#define WAIT_NS_PER_MS UINT64_C(1000000)
#define WAIT_NS_PER_S  UINT64_C(1000000000)

/*
 * No core polls (PAUSE, RDTSC and a test) in less: RDTSC alone costs 7 ns and more (measured
 * on bare metal). So on a healthy TSC it is never the count that ends a wait.
 */
#define WAIT_POLL_NS_MIN 4

/* A TSC that reads the same in so many polls has stopped; waits of 16 ms and less run to their count. */
#define WAIT_STILL_POLLS_MAX (1u << 22)

/* No poll counts for more of the bound than one of so many parts, however far on the TSC is: so no fewer polls. */
#define WAIT_POLLS_MIN 8

struct wait {
	uint64_t left_ticks; /* remaining TSC ticks */
	uint64_t most_ticks; /* the largest number of ticks that one poll subtracts */
	uint64_t polls_left;
	uint64_t last;     /* reading of the TSC, */
	unsigned still;    /* and in how many polls it was the same */
};

static inline struct wait
wait_begin(const struct scale *scale, uint64_t bound_ns)
{
	uint64_t bound_ticks = scale_ticks(scale, bound_ns);

	return (struct wait){
		.left_ticks = bound_ticks,
		.most_ticks = bound_ticks / WAIT_POLLS_MIN + 1,
		.polls_left = bound_ns / WAIT_POLL_NS_MIN + 1,
		.last = hw_tsc(),
	};
}

/*
 * One poll; false when the time or the polls are over. A step back of the TSC takes no time.
 */
static inline bool
wait_goes_on(struct wait *wait)
{
	uint64_t now, ticks;

	if (wait->polls_left == 0)
		return false;
	wait->polls_left--;
	hw_pause();
	now = hw_tsc();
	ticks = (int64_t)(now - wait->last) < 0 ? 0 : now - wait->last;
	if (ticks > wait->most_ticks)
		ticks = wait->most_ticks;
	wait->left_ticks -= ticks < wait->left_ticks ? ticks : wait->left_ticks;
	wait->still = now == wait->last ? wait->still + 1 : 0;
	wait->last = now;
	return wait->still < WAIT_STILL_POLLS_MAX && wait->left_ticks > 0;
}

#endif
