/* Checks of hypervisors' clocks against their specifications, on the simulated machine with a TSC of 1 GHz. */
#include "check_rows.h"
#include "sim_paravirtual.h"

#define BUDGET_NS (100 * MS_NS)

static void
look(const struct driver *driver, void (*set)(void))
{
	sim_reset();
	sim_paravirtual_make_kvm_guest(true);
	if (set)
		set();
	sim_describe_platform(&platform);
	open_driver(driver);
	check_opened(driver, BUDGET_NS);
}

TEST(pages_with_the_right_rate_pass_all_checks)
{
	look(&kvmclock_driver, NULL);
	assert_int_equal(rows.count, 1);
	assert_passed("pv-claim", "The clock's page states a TSC rate of 1000000 kHz, which differs "
		    "from the measured rate by 0 to 0 ppm.");
	look(&hv_page_driver, NULL);
	assert_int_equal(rows.count, 3);
	assert_passed("pv-fallback", "The page's sequence number was never 0.");
	assert_passed("pv-page-apart", "Each of 1024 readings of the MSR was between the page's "
		      "readings right before and after it.");
	assert_none_bad();
}

static void
take_the_tsc_for_slower(void)
{
	sim_paravirtual.fast_ppm = 150;
}

TEST(the_error_of_a_page_with_a_wrong_rate_is_measured)
{
	look(&kvmclock_driver, take_the_tsc_for_slower);
	assert_only("pv-claim", "The clock's page states a TSC rate of 999850 kHz, which differs "
		    "from the measured rate by -150 to -149 ppm.");
	assert_int_equal(row_of("pv-claim", 0)->measured, -150);
}

TEST(the_error_of_xens_page_with_a_wrong_rate_is_measured)
{
	sim_reset();
	sim_paravirtual_make_xen_guest(true);
	sim_paravirtual.fast_ppm = 150;
	sim_describe_platform(&platform);
	open_driver(&xen_driver);
	check_opened(&xen_driver, BUDGET_NS);
	assert_only("pv-claim", "The clock's page states a TSC rate of 999850 kHz, which differs "
		    "from the measured rate by -150 to -149 ppm.");
}

/*
 * If the CPU's TSC is not constant, Xen changes the rate in the page every second. Such a rate is not a nominal rate.
 */
TEST(a_page_whose_rate_changes_states_no_nominal_rate)
{
	struct pvclock *page;

	sim_reset();
	sim_paravirtual_make_xen_guest(false);
	sim_describe_platform(&platform);
	open_driver(&xen_driver);
	page = (struct pvclock *)(uintptr_t)sim_paravirtual.xen_areas[0];
	page->tsc_to_system_mul -= page->tsc_to_system_mul / 100;
	page->version += 2;
	check_opened(&xen_driver, BUDGET_NS);
	assert_not_checked("pv-claim", "The hypervisor changed the TSC rate in the clock's page during the run, from "
			   "1000000 kHz to 1010101 kHz.");
	assert_none_bad();
}

static void
let_the_msr_go_ahead(void)
{
	sim_paravirtual.msr_ahead_ticks = 7;
}

static void
let_the_msr_stay_behind(void)
{
	sim_paravirtual.msr_ahead_ticks = -5;
}

static void
let_the_msr_be_a_tick_ahead(void)
{
	sim_paravirtual.msr_ahead_ticks = 1;
}

TEST(an_msr_that_differs_from_the_page_by_more_than_a_tick_is_a_fault)
{
	look(&hv_page_driver, let_the_msr_go_ahead);
	assert_only("pv-page-apart", "In the worst of 1024 reads the MSR's time was 600 ns ahead of the page's.");
	look(&hv_page_driver, let_the_msr_stay_behind);
	assert_only("pv-page-apart", "In the worst of 1024 reads the MSR's time was 500 ns behind the page's.");
	look(&hv_page_driver, let_the_msr_be_a_tick_ahead);
	assert_none_bad();
}

static void
leave_no_sequence(void)
{
	sim_paravirtual.no_sequence = true;
}

TEST(a_sequence_number_of_0_is_a_fallback_and_no_other_fault)
{
	look(&hv_page_driver, leave_no_sequence);
	assert_int_equal(rows.count, 1);
	assert_only("pv-fallback", "The page's sequence number is 0, so readers must read the MSR instead.");
}

static void
lose_the_sequence_later(void)
{
	sim_paravirtual.no_sequence_at_ps = SIM_PS_PER_MS;
}

TEST(a_sequence_number_that_becomes_0_ends_the_checks_of_the_page)
{
	struct sample samples[5];

	look(&hv_page_driver, lose_the_sequence_later);
	take(&clocks[0], 200 * SIM_PS_PER_MS, samples, 5);
	check_opened(&hv_page_driver, BUDGET_NS);
	assert_only("pv-fallback", "The page's sequence number was 0 in 5 readings, so the MSR was read instead. The "
			"number is 0 now.");
	assert_not_checked("pv-page-apart", "The page was marked as unusable when it was read.");
	assert_not_checked("pv-claim", "The clock's page was being updated, or stated no rate, when it was read.");
}

static void
lose_the_sequence_for_a_moment(void)
{
	lose_the_sequence_later();
	sim_paravirtual.sequence_again_at_ps = 300 * SIM_PS_PER_MS;
}

/* KVM sets the sequence number to 0 for a short time while it rewrites the page. */
TEST(a_sequence_number_that_is_0_for_a_short_time_is_no_fault)
{
	struct sample samples[5];

	look(&hv_page_driver, lose_the_sequence_for_a_moment);
	take(&clocks[0], 200 * SIM_PS_PER_MS, samples, 5);
	sim_advance_ps(200 * SIM_PS_PER_MS);
	check_opened(&hv_page_driver, BUDGET_NS);
	assert_none_bad();
}
