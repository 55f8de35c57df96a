/*
 * A bounded wait. Normally it ends when the TSC has advanced by the given time. If the TSC stops or goes back, the wait
 * ends after a maximum number of polls, or earlier after many polls in a row with the same TSC reading. The condition
 * is polled at least WAIT_POLLS_MIN times. Otherwise a snapshot or preemption could end the wait at once: the TSC may
 * then advance by seconds from one poll to the next, although the core does not run.
 *
 *	struct wait wait = wait_begin(&scale, 10 * WAIT_NS_PER_MS);
 *	while (!ready() && wait_has_time_left(&wait))
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
 * Lower bound of the duration of a poll (PAUSE, RDTSC and a test). The maximum number of polls is the waiting time
 * divided by this bound. RDTSC alone takes at least 7 ns (measured on bare metal), so the maximum ends a wait only if
 * the TSC does not run.
 */
#define WAIT_POLL_NS_MIN 4

/* A PAUSE with the test of a condition takes at least 1 ns, so four take at least as long as WAIT_POLL_NS_MIN. */
#define WAIT_PAUSES_PER_POLL 4

/*
 * The TSC has stopped if this many polls in a row read the same value. A wait of up to 16 ms has a smaller maximum
 * number of polls, and ends at that number.
 */
#define WAIT_STILL_POLLS_MAX (1u << 22)

/*
 * Minimum number of polls. A poll counts at most 1/WAIT_POLLS_MIN of the waiting time as passed, however far the TSC
 * has advanced since the previous poll.
 */
#define WAIT_POLLS_MIN 8

struct wait {
	uint64_t left_ticks; /* remaining TSC ticks of the wait */
	uint64_t most_ticks; /* largest decrease of left_ticks by a single poll */
	uint64_t polls_left;
	uint64_t last;     /* TSC reading of the previous poll */
	unsigned still;    /* number of successive polls with the same TSC reading */
};

static inline struct wait
wait_begin(const struct scale *scale, uint64_t bound_ns)
{
	uint64_t bound_ticks = scale_ns_to_ticks(scale, bound_ns);

	return (struct wait){
		.left_ticks = bound_ticks,
		.most_ticks = bound_ticks / WAIT_POLLS_MIN + 1,
		.polls_left = bound_ns / WAIT_POLL_NS_MIN + 1,
		.last = hw_tsc(),
	};
}

/*
 * Counts PAUSEs between two polls. They are WAIT_PAUSES_PER_POLL for each poll, so that the maximum number of polls
 * bounds the wait, too, if the TSC has stopped.
 */
static inline void
wait_count_pauses(struct wait *wait, unsigned pauses)
{
	uint64_t polls = pauses / WAIT_PAUSES_PER_POLL;

	wait->polls_left -= polls < wait->polls_left ? polls : wait->polls_left;
	wait->still += (unsigned)polls; /* the next poll sets it to 0 if the TSC has advanced */
}

/* Polls the TSC once. Returns false when the wait is over. If the TSC has gone back, no time counts as passed. */
static inline bool
wait_has_time_left(struct wait *wait)
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
