/* A barrier for several cores. See barrier.h. */
#include "clock/barrier.h"

/*
 * Maximum number of pauses for which a core waits. They take about a third of a second. A wait must be this long,
 * because several virtual cores of a guest may share a processor, so that they arrive one after another.
 */
#define BARRIER_PAUSES (1u << 22)

void
barrier_wait(struct barrier *barrier, size_t expected, void (*pause)(void))
{
	__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL);
	for (unsigned i = 0; i < BARRIER_PAUSES && !barrier_is_stopped(barrier); i++) {
		if (__atomic_load_n(&barrier->arrived, __ATOMIC_ACQUIRE) >= expected)
			return;
		pause();
	}
}

void
barrier_stop(struct barrier *barrier)
{
	__atomic_store_n(&barrier->stop, 1, __ATOMIC_RELAXED);
}

bool
barrier_is_stopped(const struct barrier *barrier)
{
	return __atomic_load_n(&barrier->stop, __ATOMIC_RELAXED) != 0;
}
