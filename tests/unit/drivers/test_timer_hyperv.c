/* Tests when Hyper-V's synthetic timer may be used, and that its registers are restored. */
#include "test.h"
#include "paravirtual/leaves.h"
#include "sim.h"
#include "sim_paravirtual.h"
#include "timers/timers.h"

#define CONFIG UINT64_C(0x1e08) /* configuration: direct mode, vector E0h, auto-enable */
#define COUNT  UINT64_C(123456)

static void
set_up(void)
{
	sim_reset();
	sim_interrupts_add_controllers();
	sim_paravirtual_make_kvm_guest(true);
	sim_paravirtual_offer_timers();
}

TEST_FIXTURE(set_up, NULL);

static struct timer
opened_under(fault_guard *guarded)
{
	struct timer timer = { .driver = &timer_hyperv };
	struct platform platform;

	sim_describe_platform(&platform);
	paravirtual_read_interfaces(&platform.cpu, guarded, &platform.paravirtual);
	timer_hyperv.open(&platform, &timer);
	return timer;
}

static struct timer
opened(void)
{
	return opened_under(NULL);
}

/* Sets EAX and EDX of leaf 40000003h, which list the offered features. */
static void
offer(uint32_t eax, uint32_t edx)
{
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ eax, 0, 0, edx });
}

TEST(the_timer_is_listed_only_if_hyper_v_offers_timers)
{
	assert_int_equal(opened().state, CLOCK_PRESENT);
	assert_false(opened().unlisted);
	offer(HV_ACCESS_REFERENCE_COUNTER, HV_DIRECT_TIMERS_AVAILABLE);
	assert_true(opened().unlisted);
	sim_reset();
	assert_true(opened().unlisted);
	assert_int_equal(sim.count[SIM_MSR_WRITE], 0);
}

TEST(for_each_missing_part_the_row_has_a_reason)
{
	struct timer timer;

	offer(HV_ACCESS_REFERENCE_COUNTER | HV_ACCESS_TIMERS, 0);
	timer = opened();
	assert_int_equal(timer.state, CLOCK_ABSENT);
	assert_non_null(strstr(timer.reason, "EDX bit 19"));
	offer(HV_ACCESS_TIMERS, HV_DIRECT_TIMERS_AVAILABLE);
	timer = opened();
	assert_int_equal(timer.state, CLOCK_ABSENT);
	assert_non_null(strstr(timer.reason, "EAX bit 1"));
	assert_int_equal(sim.count[SIM_MSR_WRITE], 0);
}

static unsigned ran;

static bool
refuse_access(void (*work)(void *argument), void *argument, struct fault *fault)
{
	*fault = (struct fault){ .vector = 13 };
	return false;
}

static bool
run(void (*work)(void *argument), void *argument, struct fault *fault)
{
	work(argument);
	ran++;
	return true;
}

TEST(an_offered_timer_whose_msr_is_absent_is_broken_and_not_used_again)
{
	struct timer timer = opened_under(refuse_access);

	assert_int_equal(timer.state, CLOCK_BROKEN);
	assert_non_null(strstr(timer.reason, "400000B6h faulted"));
	ran = 0;
	assert_int_equal(opened_under(run).state, CLOCK_PRESENT);
	assert_int_equal(ran, 1);
	assert_int_equal(sim_paravirtual.writes, 1); /* the only write restored the configuration */
}

TEST(a_timer_that_the_firmware_uses_is_not_changed_or_tested)
{
	struct timer timer;

	hw_msr_write(MSR_HV_TIMER_CONFIG, CONFIG);
	hw_msr_write(MSR_HV_TIMER_COUNT, UINT32_MAX);
	sim_paravirtual.writes = 0;
	timer = opened_under(run);
	assert_int_equal(timer.state, CLOCK_DISABLED);
	assert_non_null(strstr(timer.reason, "In use"));
	assert_int_equal(sim_paravirtual.writes, 0);
}

TEST(the_timers_configuration_and_count_are_restored)
{
	struct timer timer;

	hw_msr_write(MSR_HV_TIMER_COUNT, COUNT);
	hw_msr_write(MSR_HV_TIMER_CONFIG, CONFIG);
	timer = opened();
	timer_hyperv.set_up(&timer, 0xe0);
	timer_hyperv.arm(&timer, 1000, false);
	assert_in_range(timer_hyperv.get_ticks_left(&timer), 1, 1001);
	assert_false(timer_hyperv.expired(&timer));
	sim_advance_ps(SIM_PS_PER_MS);
	assert_int_equal(timer_hyperv.get_ticks_left(&timer), 0);
	assert_true(timer_hyperv.expired(&timer));
	timer_hyperv.arm(&timer, 1000, true);
	timer_hyperv.disarm(&timer);
	timer_hyperv.restore(&timer);
	assert_int_equal(hw_msr_read(MSR_HV_TIMER_CONFIG), CONFIG);
	assert_int_equal(hw_msr_read(MSR_HV_TIMER_COUNT), COUNT);
}
