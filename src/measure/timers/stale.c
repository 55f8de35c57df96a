/* Sources that interrupt when they are enabled, for a deadline that was over before. See asking.h. */
#include "asking.h"

#define TRIES      4u
#define DUE_NS     UINT64_C(20000)
#define WATCHED_NS UINT64_C(50000) /* behind the arming: what is stale comes at once */

/* It has a deadline, during which it is not armed, and whatever came of that is taken. */
static void
let_pass(struct asking *asking)
{
	const struct timer_window *window = asking->all->window;
	struct timer *timer = asking->timer;
	uint64_t polls = 2 * DUE_NS * ASKING_POLLS_PER_NS;

	asking_arm(asking, asking_ticks(asking, DUE_NS), false);
	timer->driver->disarm(timer);
	while (timer->driver->left(timer) && polls-- > 0)
		asking->survey->hooks.pause();
	window->open();
	window->close();
	window->slot->taken = 0;
}

void
stale_window(void *argument)
{
	struct asking *asking = argument;
	uint64_t (*tsc)(void) = asking->survey->hooks.tsc_ordered;
	uint64_t watched = scale_ticks(&asking->survey->scale, WATCHED_NS), begin;

	if (!asking_begin(asking))
		return;
	for (unsigned i = 0; i < TRIES; i++) {
		let_pass(asking);
		begin = tsc();
		asking->timer->driver->arm_over(asking->timer);
		asking_watch(asking, begin, begin + watched, 1);
		asking->timer->driver->disarm(asking->timer);
		asking->row->over++;
		asking->row->stale += asking->all->window->slot->taken != 0;
	}
}
