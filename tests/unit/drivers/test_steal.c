/* KVM's counter of stolen time: its MSR is restored, even if the observed work causes an exception. */
#include "test.h"
#include "paravirtual/leaves.h"
#include "paravirtual/steal.h"
#include "sim.h"
#include "sim_paravirtual.h"

#define FOUND UINT64_C(0x7000040) /* value of the MSR before the test: the firmware's area, which is disabled */

static jmp_buf *guard_top;
static struct fault raised;

static bool
guard(void (*work)(void *argument), void *argument, struct fault *fault)
{
	jmp_buf here, *outer = guard_top;
	bool fell;

	guard_top = &here;
	fell = setjmp(here) != 0;
	if (!fell)
		work(argument);
	else
		*fault = raised;
	guard_top = outer;
	return !fell;
}

static void
raise_fault(const struct fault *fault)
{
	raised = *fault;
	longjmp(*guard_top, 1);
}

static uint64_t msr_in_work;

static void
look_at_msr(void *argument)
{
	msr_in_work = hw_msr_read(MSR_KVM_STEAL_TIME);
}

static void
look_and_fall(void *argument)
{
	look_at_msr(argument);
	raise_fault(&(struct fault){ .vector = 13, .at = 0x1a30 });
}

static struct stolen_counter
opened(void)
{
	struct platform platform;

	sim_reset();
	sim_paravirtual_make_kvm_guest(false);
	sim_paravirtual_offer_stolen_time();
	hw_msr_write(MSR_KVM_STEAL_TIME, FOUND);
	sim_describe_platform(&platform);
	return steal_time_open_counter(&platform.cpu, &platform.paravirtual, guard, raise_fault);
}

static void
count(void *argument)
{
	void (*const *work)(void *argument) = argument;
	struct stolen_counter counter = opened();
	struct stolen stolen;

	assert_non_null(counter.count);
	assert_true(counter.count(&counter, *work, NULL, &stolen));
}

TEST(the_msr_is_set_during_the_work_and_restored_afterwards)
{
	void (*work)(void *argument) = look_at_msr;

	count(&work);
	assert_int_equal(msr_in_work & 63, 1);
	assert_int_equal(hw_msr_read(MSR_KVM_STEAL_TIME), FOUND);
}

TEST(an_exception_reaches_the_outer_guard_after_the_msr_is_restored)
{
	void (*work)(void *argument) = look_and_fall;
	struct fault fault = { .vector = 0 };

	assert_false(guard(count, &work, &fault));
	assert_int_equal(fault.vector, 13);
	assert_int_equal(fault.at, 0x1a30);
	assert_int_equal(msr_in_work & 63, 1);
	assert_int_equal(hw_msr_read(MSR_KVM_STEAL_TIME), FOUND);
}

TEST(on_a_core_that_firmware_started_the_counter_is_not_used)
{
	struct stolen_counter counter = opened();
	struct stolen stolen;

	counter.boot_apic_id++; /* pretends that the test runs on another core */
	assert_true(counter.count(&counter, look_at_msr, NULL, &stolen));
	assert_int_equal(msr_in_work & 63, 1);
	counter.are_others_lent = true;
	assert_false(counter.count(&counter, look_at_msr, NULL, &stolen));
	assert_int_equal(msr_in_work, FOUND);
	counter.boot_apic_id--;
	assert_true(counter.count(&counter, look_at_msr, NULL, &stolen));
}
