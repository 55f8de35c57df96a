/* Without UEFI there is no timer tick to stop, so these functions only report success. See tick.h. */
#include "firmware/tick.h"

bool
tick_pause(struct tick *tick)
{
	tick->period_100ns = 0;
	return true;
}

bool
tick_set_stopped(struct tick *, bool)
{
	return false;
}

bool
tick_is_alive(uint64_t (*)(void), uint64_t)
{
	return false;
}
