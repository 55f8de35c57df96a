/* Cores that begin together. See gather.h. */
#include "gather.h"

#define GATHER_PAUSES (1u << 22) /* a third of a second or so: cores that share a real one come one by one */

void
gather(struct gathering *gathering, size_t expected, void (*pause)(void))
{
	__atomic_add_fetch(&gathering->arrived, 1, __ATOMIC_ACQ_REL);
	for (unsigned i = 0; i < GATHER_PAUSES && !gathering_stopped(gathering); i++) {
		if (__atomic_load_n(&gathering->arrived, __ATOMIC_ACQUIRE) >= expected)
			return;
		pause();
	}
}

void
gathering_stop(struct gathering *gathering)
{
	__atomic_store_n(&gathering->stop, 1, __ATOMIC_RELAXED);
}

bool
gathering_stopped(const struct gathering *gathering)
{
	return __atomic_load_n(&gathering->stop, __ATOMIC_RELAXED) != 0;
}
