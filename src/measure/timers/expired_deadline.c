/* Tests whether a source interrupts when it is enabled after its deadline has passed. See timer_test.h. */
#include "measure/timers/timer_test.h"

#define TRIES      4u
#define ATTEMPTS   16u /* the core may be preempted in some */
#define DUE_NS     UINT64_C(20000)
#define WATCHED_NS UINT64_C(50000) /* after arming; a stale interrupt comes at once */

/*
 * Lets a deadline pass while the source is disarmed. Returns false if the deadline had passed before the source
 * was disarmed.
 */
static bool
let_pass(struct asking *asking)
{
	const struct timer_window *window = asking->all->window;
	struct timer *timer = asking->timer;
	uint64_t polls = 2 * DUE_NS * ASKING_POLLS_PER_NS;
	bool in_time;

	asking_arm(asking, asking_ticks(asking, DUE_NS), false);
	timer->driver->disarm(timer);
	in_time = timer->driver->left(timer) != 0;
	while (timer->driver->left(timer) && polls-- > 0)
		asking->survey->hooks.pause();
	window->open();
	window->close();
	window->slot->taken = 0;
	return in_time;
}

void
stale_window(void *argument)
{
	struct asking *asking = argument;
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	uint64_t watched = scale_ticks(&asking->survey->scale, WATCHED_NS), begin;

	if (!asking_begin(asking))
		return;
	for (unsigned i = 0; i < ATTEMPTS && asking->row->over < TRIES; i++) {
		if (!let_pass(asking))
			continue;
		begin = tsc();
		asking->timer->driver->arm_over(asking->timer);
		asking_watch(asking, begin, begin + watched, 1);
		asking->timer->driver->disarm(asking->timer);
		asking->row->over++;
		asking->row->stale += asking->all->window->slot->taken != 0;
	}
}
