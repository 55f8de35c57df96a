/*
 * The firmware's tick is stopped and restarted with its protocol. Some firmware has no such protocol, or refuses the
 * calls.
 */
#include "test.h"
#include "firmware_sim.h"
#include "firmware/tick.h"

#define PERIOD 100000 /* 10 ms */

/* The protocol of the firmware's timer, as in PI 1.7, volume 2, 12.13. */
struct timer {
	void *register_handler;
	EFI_STATUS (EFIAPI *set_period)(struct timer *timer, UINT64 period_100ns);
	EFI_STATUS (EFIAPI *get_period)(struct timer *timer, UINT64 *period_100ns);
	void *interrupt;
};

static const EFI_GUID guid = { 0x26baccb3, 0x6f42, 0x11d4, { 0xbc, 0xe7, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 } };
static UINT64 period;
static bool refuses;

static EFI_STATUS EFIAPI
set_period(struct timer *timer, UINT64 period_100ns)
{
	if (refuses)
		return EFI_DEVICE_ERROR;
	period = period_100ns;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
get_period(struct timer *timer, UINT64 *period_100ns)
{
	*period_100ns = period;
	return EFI_SUCCESS;
}

static struct timer timer = { NULL, set_period, get_period, NULL };

static uint64_t now;

/* The simulated timer ticks at each hundredth read of the TSC, unless its period is 0. */
static uint64_t
tsc(void)
{
	if (++now % 100 == 0 && period)
		firmware_sim_events.notify(FIRMWARE_SIM_TIMER, firmware_sim_events.argument);
	return now;
}

static void
begin(void)
{
	firmware_sim_reset();
	period = PERIOD;
	refuses = false;
	now = 0;
	firmware_sim_offer_events(0);
}

TEST_FIXTURE(begin, NULL);

TEST(the_tick_is_stopped_and_restarted_with_its_period)
{
	struct tick tick = { 0 };

	firmware_sim_install_protocol(firmware_sim_handle(), &guid, &timer);
	assert_true(tick_set_stopped(&tick, true));
	assert_int_equal(period, 0);
	assert_true(tick_set_stopped(&tick, false));
	assert_int_equal(period, PERIOD);
	assert_false(tick_set_stopped(&tick, false)); /* returns false, because the tick already runs */
	assert_int_equal(period, PERIOD);
}

TEST(without_the_protocol_or_if_it_refuses_the_tick_continues)
{
	struct tick tick = { 0 };

	assert_false(tick_set_stopped(&tick, true));
	firmware_sim_install_protocol(firmware_sim_handle(), &guid, &timer);
	refuses = true;
	assert_false(tick_set_stopped(&tick, true));
	assert_int_equal(period, PERIOD);
	refuses = false;
	period = 0; /* the firmware had already stopped the tick, so its period is unknown */
	assert_false(tick_set_stopped(&tick, true));
	assert_int_equal(tick.period_100ns, 0);
}

TEST(the_wait_for_the_ticks_callback_ends_with_the_callback_or_at_its_limit)
{
	struct tick tick = { 0 };

	firmware_sim_install_protocol(firmware_sim_handle(), &guid, &timer);
	assert_true(tick_pause(&tick));
	assert_false(tick_is_alive(tsc, 1000));
	assert_in_range(now, 1000, 1010);
	assert_true(tick_set_stopped(&tick, false));
	assert_true(tick_is_alive(tsc, 1000));
	assert_in_range(now, 1011, 1111); /* the wait ends with the tick at TSC 1100 */
	assert_int_equal(firmware_sim_events.open, 0);
}
