/* Xen's single-shot timer is listed with a reason, and none of Xen's state is changed. */
#include "test.h"
#include "paravirtual/leaves.h"
#include "sim.h"
#include "sim_paravirtual.h"
#include "timers/timers.h"

static struct timer
opened(void)
{
	struct timer timer = { .driver = &timer_xen };
	struct platform platform;

	sim_platform(&platform);
	paravirtual_read(&platform.cpu, NULL, &platform.paravirtual);
	timer_xen.open(&platform, &timer);
	return timer;
}

TEST(it_is_a_row_with_a_reason_only_in_a_guest_of_xen)
{
	sim_reset();
	assert_true(opened().unlisted);
	sim_paravirtual_plug(true);
	assert_true(opened().unlisted);
	sim_reset();
	sim_paravirtual_plug_xen(true);
	assert_false(opened().unlisted);
	assert_int_equal(opened().state, CLOCK_DISABLED);
	assert_string_equal(opened().reason,
			    "Its events need Xen's shared page, whose place the firmware chose: not tested.");
	/* the route needs a kind, because the schema allows no empty one */
	assert_string_equal(opened().route.kind, "lapic");
	assert_int_equal(sim.count[SIM_HYPERCALL], 0);
}
