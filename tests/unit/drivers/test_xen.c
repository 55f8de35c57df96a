/* The driver of Xen's clock on the simulated machine. The TSC counts at 1 GHz, so a tick takes a nanosecond. */
#include "driver_checks.h"
#include "paravirtual/leaves.h"
#include "sim_paravirtual.h"

static void
plug(bool hyperv)
{
	sim_reset();
	sim_paravirtual_make_xen_guest(hyperv);
	sim_describe_platform(&platform);
}

TEST(xens_clock_is_read_from_its_page_which_xen_does_not_write_after_the_close)
{
	struct sample samples[2];

	/* In the second round, Hyper-V's interface exists too, as with Xen's option viridian=1. */
	for (unsigned hyperv = 0; hyperv < 2; hyperv++) {
		plug(hyperv);
		open_driver(&xen_driver);
		assert_state(0, CLOCK_PRESENT, "The hypervisor sets TSC_STABLE: readings on different cores may be compared.");
		take(&clocks[0], SIM_PS_PER_MS, samples, 2);
		/*
		 * the clock shows the simulated time in ns of the driver's TSC reading, which is 20 ns before the end
		 * of the bracket
		 */
		assert_int_equal(samples[0].ticks, samples[0].end - 20);
		assert_int_equal(samples[1].ticks, samples[1].end - 20);
		assert_int_equal(samples[1].begin, samples[0].end);
		assert_int_not_equal(sim_paravirtual.xen_areas[0], 0);
		xen_driver.close(&device);
		assert_true(sim_paravirtual_are_settings_restored());
		xen_driver.close(&device);
		assert_int_equal(sim_paravirtual.writes, 2);
		assert_int_equal(sim.count[SIM_MSR_READ] + sim.count[SIM_MSR_WRITE], 0);
	}
}

TEST(each_core_registers_its_own_page_and_unregisters_it)
{
	struct sample sample;

	plug(false);
	sim_paravirtual.page_lead_ns[3] = 500;
	open_driver(&xen_driver);
	sim.core = 3;
	take(&clocks[0], SIM_PS_PER_MS, &sample, 1);
	assert_int_equal(sample.ticks, sample.end - 20 + 500);
	assert_int_not_equal(sim_paravirtual.xen_areas[3], 0);
	assert_int_not_equal(sim_paravirtual.xen_areas[3] / PAGES_SIZE, sim_paravirtual.xen_areas[0] / PAGES_SIZE);
	assert_true(xen_driver.restore_core(&device));
	assert_int_equal(sim_paravirtual.xen_areas[3], 0);
	sim_paravirtual.keeps_msr = true;
	sim.core = 2;
	take(&clocks[0], 2 * SIM_PS_PER_MS, &sample, 1);
	assert_false(xen_driver.restore_core(&device));
	sim.core = 0;
}

TEST(a_faster_tsc_has_a_negative_shift)
{
	struct sample sample;

	plug(false);
	sim.tsc.counter.hz = (struct rate){ 4000000000, 1 };
	open_driver(&xen_driver);
	assert_int_equal(((const struct pvclock *)(uintptr_t)sim_paravirtual.xen_areas[0])->tsc_shift, -1);
	take(&clocks[0], SIM_PS_PER_MS, &sample, 1);
	assert_int_equal(sample.ticks, sample.end / 4 - 20);
	xen_driver.close(&device);
}

TEST(a_page_that_xen_changes_during_a_reading_is_read_again)
{
	struct sample sample;

	plug(false);
	open_driver(&xen_driver);
	sim_paravirtual.update_ns = 1000;
	/* Xen updates the page after the bracket's first TSC reading, and in the driver's first two tries */
	sim_paravirtual.updates = 3;
	take(&clocks[0], SIM_PS_PER_MS, &sample, 1);
	assert_int_equal(sample.ticks, sample.end - 20 + 3000);
	xen_driver.close(&device);
}

static void
assert_broken(const char *reason)
{
	open_driver(&xen_driver);
	assert_state(0, CLOCK_BROKEN, reason);
	assert_true(sim_paravirtual_are_settings_restored());
}

TEST(a_page_that_is_never_valid_is_broken_and_unregistered)
{
	struct sample samples[3];

	plug(false);
	sim_paravirtual.odd = true;
	assert_broken("The page is always being updated: version 1 stays odd in 1024 reads.");
	plug(false);
	sim_paravirtual.empty = true;
	assert_broken("Xen left its page without a rate: multiplier 0, shift 0.");
	plug(false);
	sim_paravirtual.odd_at_ps = SIM_PS_PER_MS;
	open_driver(&xen_driver);
	take(&clocks[0], 2 * SIM_PS_PER_MS, samples, 3);
	assert_int_equal(samples[2].ticks, samples[0].ticks);
	assert_true(samples[2].end - samples[2].begin > 20 * PAGES_TRIES);
	xen_driver.close(&device);
	assert_true(sim_paravirtual_are_settings_restored());
}

TEST(a_missing_or_refused_page_has_a_reason_and_everything_is_restored)
{
	plug(true);
	sim_paravirtual.no_safe_pvclock = true;
	open_driver(&xen_driver);
	assert_state(0, CLOCK_ABSENT, "Xen's features do not offer this clock to guests like this one.");
	assert_true(clocks[0].unoffered);
	sim_cpuid_set(0x40000104, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
	open_driver(&xen_driver);
	assert_state(0, CLOCK_ABSENT, "Xen's CPUID leaves do not state the vCPU number of a core.");
	plug(false);
	sim_paravirtual.xen_error = 38;
	open_driver(&xen_driver);
	assert_state(0, CLOCK_DISABLED, "Xen refused to write its page: error 38.");
	assert_true(sim_paravirtual_are_settings_restored());
	plug(false);
	platform.pages.count = 0;
	open_driver(&xen_driver);
	assert_state(0, CLOCK_DISABLED, "The firmware has no memory below 4 GiB for the clock's pages.");
	platform.cpu.memory_encrypted = true;
	open_driver(&xen_driver);
	assert_state(0, CLOCK_DISABLED, "The guest's memory is encrypted: the hypervisor can't write the clock's "
		     "pages.");
	assert_int_equal(sim_paravirtual.writes, 0);
}

TEST(if_xen_refuses_a_cores_page_no_cores_are_compared)
{
	struct sample samples[2];

	plug(false);
	sim_paravirtual.xen_error = 22;
	sim_paravirtual.xen_error_core = 1;
	open_driver(&xen_driver);
	assert_int_equal(clocks[0].paravirtual.get_stability(&device), STABLE_YES);
	sim.core = 1;
	take(&clocks[0], SIM_PS_PER_MS, samples, 2);
	assert_int_equal(samples[1].ticks, 0);
	take(&clocks[0], SIM_PS_PER_MS, samples, 2);
	assert_int_equal(sim_paravirtual.writes, 2); /* one registration on each of the two cores */
	assert_true(xen_driver.restore_core(&device));
	sim.core = 0;
	assert_int_equal(clocks[0].paravirtual.get_stability(&device), STABLE_UNKNOWN);
	xen_driver.close(&device);
}

TEST(if_the_tsc_is_invariant_and_never_emulated_xens_clock_is_rated_below_it)
{
	plug(false);
	open_driver(&xen_driver);
	assert_int_equal(clocks[0].rating, 299);
	xen_driver.close(&device);
	platform.paravirtual.interfaces[0].features = XEN_TSC_DEFAULT;
	open_driver(&xen_driver);
	assert_int_equal(clocks[0].rating, 400);
	xen_driver.close(&device);
	platform.paravirtual.interfaces[0].features = XEN_TSC_NEVER_EMULATED;
	platform.cpu.tsc_is_invariant = false;
	open_driver(&xen_driver);
	assert_int_equal(clocks[0].rating, 400);
	xen_driver.close(&device);
}

/* KVM can offer Xen's interface to its guests, next to its own clock. */
TEST(kvms_page_and_xens_page_of_a_core_are_separate)
{
	struct device kvm = { .opened = false };
	struct clock kvmclock;
	struct sample sample;

	plug(false);
	sim_cpuid_set(0x40000100, 0, (struct hw_cpuid){ 0x40000101, 0x4b4d564b, 0x564b4d56, 0x0000004d });
	sim_cpuid_set(0x40000101, 0, (struct hw_cpuid){ KVM_CLOCKSOURCE2, 0, 0, 0 });
	sim_describe_platform(&platform);
	kvmclock_driver.open(&platform, &kvm, &kvmclock);
	sim_paravirtual.page_lead_ns[0] = 7000;
	open_driver(&xen_driver);
	assert_int_equal(kvmclock.state, CLOCK_PRESENT);
	take(&kvmclock, SIM_PS_PER_MS, &sample, 1);
	assert_int_equal(sample.ticks, sample.end - 20);
	take(&clocks[0], SIM_PS_PER_MS, &sample, 1);
	assert_int_equal(sample.ticks, sample.end - 20 + 7000);
	xen_driver.close(&device);
	kvmclock_driver.close(&kvm);
	assert_true(sim_paravirtual_are_settings_restored());
}
