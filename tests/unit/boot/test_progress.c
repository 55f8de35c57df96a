/* The deadline of a run has an alarm that does not depend on the TSC. Both must end the run at the same time. */
#include "test.h"
#include "sim.h"
#include "console/keys.h"
#include "console/progress.h"
#include "guard/guard.h"
#include "hw/hw.h"

#define PS_PER_MS UINT64_C(1000000000)
#define NS_PER_S  UINT64_C(1000000000)

static uint64_t alarm_ns; /* the latest time that alarm_set() got */

void
alarm_set(struct alarm *alarm, uint64_t ns)
{
	alarm->event = alarm;
	alarm_ns = ns;
}

bool
alarm_has_expired(struct alarm *alarm)
{
	return false;
}

void
alarm_cancel(struct alarm *alarm)
{
	alarm->event = NULL;
}

/* progress.c also needs these functions, but this test does not call them by its hooks. */
bool
guard_run(void (*work)(void *argument), void *argument, struct fault *fault)
{
	work(argument);
	return true;
}

void
keys_discard_all(void)
{
}

bool
keys_read_next(unsigned *key)
{
	return false;
}

/*
 * The TSC's rate is known 4 s after the start of a run with a deadline of 10 s, so 6 s are left. Later, 2 s pass in
 * which the run could not measure. These are added to the 3 s that are left.
 */
TEST(the_alarm_rings_at_the_deadline_after_the_start_of_the_run)
{
	struct progress progress;
	uint64_t begin_tsc;

	sim_reset();
	progress_make_hooks(&progress, NULL, true);
	sim_advance_ps(4000 * PS_PER_MS);
	progress_set_tsc_rate(&progress, sim.tsc.counter.hz, 10 * NS_PER_S);
	assert_in_range(alarm_ns, 6 * NS_PER_S - NS_PER_S / 1000, 6 * NS_PER_S);
	sim_advance_ps(3000 * PS_PER_MS);
	begin_tsc = hw_tsc();
	sim_advance_ps(2000 * PS_PER_MS);
	progress_extend_deadline(&progress, begin_tsc);
	assert_in_range(alarm_ns, 3 * NS_PER_S - NS_PER_S / 1000, 3 * NS_PER_S);
}
