/*
 * The drivers of KVM's and Hyper-V's clocks on the simulated machine. The TSC counts at 1 GHz, so a tick takes a
 * nanosecond.
 */
#include "driver_checks.h"
#include "paravirtual/leaves.h"
#include "sim_paravirtual.h"

static void
plug(bool hyperv)
{
	sim_reset();
	sim_paravirtual_make_kvm_guest(hyperv);
	sim_describe_platform(&platform);
}

TEST(without_a_hypervisor_no_msr_is_accessed)
{
	static const struct driver *const all[] = { &kvmclock_driver, &xen_driver, &hv_ref_driver, &hv_page_driver };

	for (size_t i = 0; i < 4; i++) {
		reset();
		open_driver(all[i]);
		assert_int_equal(clocks[0].state, CLOCK_ABSENT);
		assert_true(clocks[0].unoffered);
		all[i]->close(&device);
		assert_int_equal(sim.count[SIM_MSR_READ] + sim.count[SIM_MSR_WRITE] + sim.count[SIM_HYPERCALL], 0);
	}
	assert_state(0, CLOCK_ABSENT, "This clock needs Hyper-V's interface, which was not found.");
}

TEST(kvmclock_reads_its_page_and_restores_the_msr)
{
	struct sample samples[2];

	plug(false);
	open_driver(&kvmclock_driver);
	assert_state(0, CLOCK_PRESENT, "By MSR 4b564d01h. The hypervisor sets TSC_STABLE: readings on different cores "
			"may be compared.");
	assert_int_equal(sim_paravirtual.kvm_msrs[0] & 1, 1);
	take(&clocks[0], SIM_PS_PER_MS, samples, 2);
	/* the value is the time in ns of the driver's TSC read, which is 20 ns before the sample's end */
	assert_int_equal(samples[0].ticks, samples[0].end - 20);
	assert_int_equal(samples[1].ticks, samples[1].end - 20);
	assert_int_equal(samples[1].begin, samples[0].end);
	kvmclock_driver.close(&device);
	assert_true(sim_paravirtual_are_settings_restored());
	kvmclock_driver.close(&device);
	assert_int_equal(sim_paravirtual.writes, 2);
}

TEST(each_core_registers_its_own_page_and_unregisters_it)
{
	struct sample sample;

	plug(false);
	sim_paravirtual.page_lead_ns[3] = 500;
	open_driver(&kvmclock_driver);
	sim.core = 3;
	take(&clocks[0], SIM_PS_PER_MS, &sample, 1);
	assert_int_equal(sample.ticks, sample.end - 20 + 500);
	assert_int_not_equal(sim_paravirtual.kvm_msrs[3], sim_paravirtual.kvm_msrs[0]);
	assert_true(kvmclock_driver.restore_core(&device));
	assert_int_equal(sim_paravirtual.kvm_msrs[3], 0);
	sim_paravirtual.keeps_msr = true;
	sim.core = 2;
	take(&clocks[0], 2 * SIM_PS_PER_MS, &sample, 1);
	/* restore_core() returns false, because the MSR keeps the written value */
	assert_false(kvmclock_driver.restore_core(&device));
	sim.core = 0;
}

TEST(a_page_without_the_stable_flag_and_the_old_msr_are_reported)
{
	plug(false);
	sim_paravirtual.not_stable = true;
	open_driver(&kvmclock_driver);
	assert_state(0, CLOCK_PRESENT,
		     "By MSR 4b564d01h. The hypervisor does not set TSC_STABLE: readings on different cores must not be compared.");
	assert_int_equal(clocks[0].paravirtual.get_stability(&device), STABLE_NO);
	kvmclock_driver.close(&device);
	plug(false);
	/* neither bit 0 nor bit 3, which offer the clock */
	sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ 0x00000002, 0, 0, 0 });
	sim_describe_platform(&platform);
	open_driver(&kvmclock_driver);
	assert_state(0, CLOCK_ABSENT, "KVM's CPUID leaf of features does not offer this clock.");
	assert_int_equal(sim_paravirtual.writes, 0);
}

TEST(a_page_that_is_never_valid_is_broken_and_unregistered)
{
	plug(false);
	sim_paravirtual.odd = true;
	open_driver(&kvmclock_driver);
	assert_state(0, CLOCK_BROKEN, "The page is always being updated: version 1 stays odd in 1024 reads.");
	assert_true(sim_paravirtual_are_settings_restored());
	plug(false);
	sim_paravirtual.empty = true;
	open_driver(&kvmclock_driver);
	assert_state(0, CLOCK_BROKEN, "KVM left its page without a rate: multiplier 0, shift 0.");
	assert_true(sim_paravirtual_are_settings_restored());
	plug(false);
	platform.pages.count = 0;
	open_driver(&kvmclock_driver);
	assert_state(0, CLOCK_DISABLED, "The firmware has no memory below 4 GiB for the clock's pages.");
	assert_int_equal(sim_paravirtual.writes, 0);
}

TEST(a_clock_whose_page_stays_odd_later_does_not_move)
{
	struct sample samples[3];

	plug(false);
	sim_paravirtual.odd_at_ps = SIM_PS_PER_MS;
	open_driver(&kvmclock_driver);
	assert_int_equal(clocks[0].paravirtual.get_stability(&device), STABLE_YES);
	take(&clocks[0], 2 * SIM_PS_PER_MS, samples, 3);
	assert_int_equal(samples[1].ticks, samples[0].ticks);
	assert_int_equal(samples[2].ticks, samples[0].ticks);
	assert_int_equal(clocks[0].paravirtual.get_stability(&device), STABLE_UNKNOWN);
	assert_true(samples[2].end - samples[2].begin > 20 * PAGES_TRIES);
	kvmclock_driver.close(&device);
	assert_true(sim_paravirtual_are_settings_restored());
}

TEST(if_the_tsc_is_invariant_kvmclock_is_rated_below_it)
{
	plug(false);
	open_driver(&kvmclock_driver);
	assert_int_equal(clocks[0].rating, 299);
	kvmclock_driver.close(&device);
	platform.cpu.tsc_is_invariant = false;
	open_driver(&kvmclock_driver);
	assert_int_equal(clocks[0].rating, 400);
	kvmclock_driver.close(&device);
}

TEST(hypervs_counter_and_page_agree_and_everything_is_restored)
{
	struct sample sample;

	plug(true);
	open_driver(&hv_ref_driver);
	assert_state(0, CLOCK_PRESENT, "");
	take(&clocks[0], SIM_PS_PER_MS, &sample, 1);
	assert_int_equal(sample.ticks, 10001); /* 1 ms and 120 ns, in units of 100 ns */
	assert_true(sim_msr_get(0x40000000) >> 63); /* bit 63: an open source system */
	hv_ref_driver.close(&device);
	open_driver(&hv_page_driver);
	assert_state(0, CLOCK_PRESENT, "");
	take(&clocks[0], SIM_PS_PER_MS, &sample, 1);
	/* 1 ms and 40 ns, in units of 100 ns; the page's factor is rounded */
	assert_in_range(sample.ticks, 9999, 10000);
	hv_page_driver.close(&device);
	assert_true(sim_paravirtual_are_settings_restored());
}

/* The firmware may use the same clocks, so their MSRs may have values before the run. */
TEST(values_of_the_msrs_that_are_not_zero_are_restored)
{
	static struct pvclock firmware_page;
	const uint64_t kvm_found = (uintptr_t)&firmware_page | 1, hv_found = 0x7000ffe;
	static const uint32_t features[] = { KVM_CLOCKSOURCE2, KVM_CLOCKSOURCE };

	for (size_t i = 0; i < 2; i++) {
		plug(false);
		sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ features[i], 0, 0, 0 });
		sim_describe_platform(&platform);
		sim_paravirtual.kvm_msrs[0] = kvm_found;
		open_driver(&kvmclock_driver);
		assert_int_equal(clocks[0].state, CLOCK_PRESENT);
		assert_non_null(strstr(clocks[0].reason, i ? "By MSR 12h." : "By MSR 4b564d01h."));
		assert_int_not_equal(sim_paravirtual.kvm_msrs[0], kvm_found);
		kvmclock_driver.close(&device);
		assert_int_equal(sim_paravirtual.kvm_msrs[0], kvm_found);
	}
	plug(true);
	sim_msr_set(MSR_HV_REFERENCE_TSC, hv_found);
	open_driver(&hv_page_driver);
	assert_int_equal(clocks[0].state, CLOCK_PRESENT);
	/* reserved bits keep their values, and bit 0 is set */
	assert_int_equal(sim_msr_get(MSR_HV_REFERENCE_TSC) & 0xfff, 0xfff);
	hv_page_driver.close(&device);
	assert_int_equal(sim_msr_get(MSR_HV_REFERENCE_TSC), hv_found);
}

TEST(a_guest_id_that_the_firmware_wrote_is_kept)
{
	plug(true);
	sim_msr_set(0x40000000, 77);
	open_driver(&hv_ref_driver);
	hv_ref_driver.close(&device);
	assert_int_equal(sim_msr_get(0x40000000), 77);
	assert_int_equal(sim_paravirtual.writes, 0);
}

TEST(a_page_with_the_sequence_number_0_is_not_used)
{
	struct sample sample;

	plug(true);
	sim_paravirtual.no_sequence = true;
	open_driver(&hv_page_driver);
	assert_state(0, CLOCK_DISABLED, "The page's sequence number is 0: readers must read the MSR instead, as the "
		     "clock hv_ref does.");
	assert_true(clocks[0].paravirtual.falls_back);
	assert_true(sim_paravirtual_are_settings_restored());
	plug(true);
	sim_paravirtual.no_sequence_at_ps = SIM_PS_PER_MS;
	open_driver(&hv_page_driver);
	take(&clocks[0], 2 * SIM_PS_PER_MS, &sample, 1);
	assert_int_equal(sample.ticks, 20001); /* read from the MSR, because the page is invalid */
	assert_int_equal(clocks[0].paravirtual.get_stability(&device), STABLE_NO);
	hv_page_driver.close(&device);
}

TEST(if_hypervs_page_is_never_valid_later_its_msr_is_read)
{
	struct sample samples[3];

	plug(true);
	sim_paravirtual.torn_at_ps = SIM_PS_PER_MS;
	open_driver(&hv_page_driver);
	assert_state(0, CLOCK_PRESENT, "");
	take(&clocks[0], 2 * SIM_PS_PER_MS, samples, 3);
	for (size_t i = 0; i < 3; i++)
		assert_in_range(samples[i].ticks, 20000, 22000);
	assert_true(samples[0].ticks < samples[1].ticks && samples[1].ticks < samples[2].ticks);
	hv_page_driver.close(&device);
}

TEST(with_encrypted_memory_no_page_is_registered)
{
	static const struct driver *const paged[] = { &kvmclock_driver, &hv_page_driver };

	for (size_t i = 0; i < 2; i++) {
		plug(true);
		platform.cpu.memory_encrypted = true;
		open_driver(paged[i]);
		assert_int_equal(clocks[0].state, CLOCK_DISABLED);
		paged[i]->close(&device);
		assert_int_equal(sim_paravirtual.writes, 0);
	}
}
