/* Tests when Xen's single-shot timer may be tested, and that Xen's settings are restored. */
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

	sim_describe_platform(&platform);
	paravirtual_read_interfaces(&platform.cpu, NULL, &platform.paravirtual);
	timer_xen.open(&platform, &timer);
	return timer;
}

TEST(in_a_guest_of_xen_the_timer_has_a_row_with_a_reason)
{
	sim_reset();
	assert_true(opened().unlisted);
	sim_paravirtual_make_kvm_guest(true);
	assert_true(opened().unlisted);
	sim_reset();
	sim_paravirtual_make_xen_guest(true);
	assert_false(opened().unlisted);
	assert_int_equal(opened().state, CLOCK_DISABLED);
	assert_string_equal(opened().reason,
			    "The timer's events need Xen's shared page. Only the firmware knows its address: not tested.");
	/* even the route of an untested timer has a kind, because the schema allows no empty kind */
	assert_string_equal(opened().route.kind, "lapic");
	assert_int_equal(sim.count[SIM_HYPERCALL], 0);
}

static struct timer
opened_without_firmware(void)
{
	sim_reset();
	sim_interrupts_add_controllers();
	sim_paravirtual_make_xen_guest(false);
	sim_paravirtual_offer_xen_events();
	return opened();
}

TEST(without_firmware_the_timer_is_tested_unless_xen_refuses)
{
	struct timer timer = opened_without_firmware();

	assert_int_equal(timer.state, CLOCK_PRESENT);
	assert_true(sim_paravirtual_are_settings_restored());
	sim_paravirtual.high_port = true;
	assert_int_equal(opened().state, CLOCK_BROKEN);
	assert_true(sim_paravirtual_are_settings_restored());
	sim_paravirtual.no_events = true;
	timer = opened();
	assert_int_equal(timer.state, CLOCK_BROKEN);
	assert_string_equal(timer.reason, "Xen refused to map its shared page or to bind the timer's event.");
	assert_true(sim_paravirtual_are_settings_restored());
	sim_cpuid_set(0x40000004, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
	timer = opened();
	assert_int_equal(timer.state, CLOCK_ABSENT);
	assert_string_equal(timer.reason, "Xen's CPUID leaves do not state the vCPU number of a core.");
}

TEST(the_page_the_event_and_its_vector_are_restored)
{
	struct timer timer = opened_without_firmware();
	uint64_t *masked = (uint64_t *)(uintptr_t)(sim.unused_page + 2560);

	*masked = 6;
	sim_paravirtual.xen_callback = 0x100000000000009; /* a callback by an IRQ line instead of a vector */
	timer_xen.set_up(&timer, SIM_TIMER_VECTOR);
	assert_int_equal(sim_paravirtual.xen_callback, UINT64_C(2) << 56 | SIM_TIMER_VECTOR);
	assert_int_equal(*masked, ~(UINT64_C(1) << sim_paravirtual.xen_port));
	timer_xen.arm(&timer, 100000, false);
	assert_in_range(timer_xen.get_ticks_left(&timer), 1, 100000);
	assert_false(timer_has_expired(&timer));
	sim_advance_ps(SIM_PS_PER_MS);
	assert_true(timer_has_expired(&timer));
	timer_xen.restore(&timer);
	assert_int_equal(*masked, 6);
	assert_int_equal(sim_paravirtual.xen_callback, 0x100000000000009);
	sim_paravirtual.xen_callback = 0;
	assert_true(sim_paravirtual_are_settings_restored());
}

TEST(after_a_refusal_in_the_window_the_page_and_the_port_are_not_used)
{
	struct timer timer = opened_without_firmware();
	uint8_t *has_events = (uint8_t *)(uintptr_t)sim.unused_page;
	uint64_t *masked = (uint64_t *)(uintptr_t)(sim.unused_page + 2560);
	unsigned calls;

	*masked = 6;
	*has_events = 1;
	sim_paravirtual.xen_port = 5; /* the timer's event is already bound, so Xen refuses to bind it */
	timer_xen.set_up(&timer, SIM_TIMER_VECTOR);
	calls = sim.count[SIM_HYPERCALL];
	timer_xen.arm(&timer, 100000, false);
	sim_advance_ps(SIM_PS_PER_MS);
	assert_false(timer_has_expired(&timer));
	timer_xen.acknowledge(&timer);
	timer_xen.restore(&timer);
	assert_int_equal(sim.count[SIM_HYPERCALL], calls);
	assert_int_equal(*masked, 6);
	assert_int_equal(*has_events, 1);
	assert_int_equal(sim_paravirtual.xen_port, 5);
	assert_int_equal(sim_paravirtual.xen_shared, 0);
}
