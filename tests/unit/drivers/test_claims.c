/*
 * Rates of the TSC that CPUID leaves, MSRs and hypervisors state, on the simulated machine. A read of an absent MSR
 * causes an exception, as on a real machine.
 */
#include "test.h"
#include "cpuid_leaves.h"
#include "paravirtual/leaves.h"
#include "sim_paravirtual.h"

#define KVM "KVMKVMKVM\0\0\0"
#define MSR_LAPIC_FREQUENCY 0x40000023u

static struct platform platform;

TEST_FIXTURE(reset_machine, NULL);

/*
 * Simulates a guard against exceptions, which calls WORK. WORK reads an MSR, which causes an exception if the MSR is
 * absent. ARGUMENT starts with the MSR's number.
 */
static bool
guard(void (*work)(void *argument), void *argument, struct fault *fault)
{
	uint32_t msr = *(const uint32_t *)argument;

	*fault = (struct fault){ .vector = 13 };
	for (size_t i = 0; i < sim.msr_count; i++)
		if (sim.msrs[i].msr == msr) {
			work(argument);
			return true;
		}
	return false;
}

static void
read_claims(void)
{
	sim_describe_platform(&platform);
	platform_read_rate_claims(&platform, guard);
}

static void
set_cpu(const char *vendor, uint32_t signature, uint32_t features)
{
	set_vendor(vendor, 0x16);
	sim_cpuid_set(1, 0, (struct hw_cpuid){ signature, 0, features, 0x00000210 });
}

static const struct claim *
find(enum claim_source source, enum claim_clock clock)
{
	for (size_t i = 0; i < platform.claims.count; i++)
		if (platform.claims.rows[i].source == source && platform.claims.rows[i].clock == clock)
			return &platform.claims.rows[i];
	return NULL;
}

static void
assert_claim(enum claim_source source, enum claim_clock clock, const char *by, uint64_t hz, uint64_t within_hz)
{
	const struct claim *claim = find(source, clock);

	assert_non_null(claim);
	assert_string_equal(claim->by, by);
	assert_string_equal(claim->reason, "");
	assert_int_equal(claim->hz.num / claim->hz.den, hz);
	assert_int_equal(claim->within_hz, within_hz);
}

static void
assert_refused(enum claim_source source, enum claim_clock clock, const char *reason)
{
	const struct claim *claim = find(source, clock);

	assert_non_null(claim);
	assert_string_equal(claim->reason, reason);
	assert_int_equal(claim->hz.den, 0);
}

static void
set_leaf_15(uint32_t eax, uint32_t ebx, uint32_t ecx)
{
	sim_cpuid_set(0x15, 0, (struct hw_cpuid){ eax, ebx, ecx, 0 });
	read_claims();
}

TEST(leaf_15h_states_the_rates_of_tsc_crystal_and_lapic_timer)
{
	set_leaf_15(2, 192, 24000000);
	assert_claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", UINT64_C(2304000000), 0);
	assert_claim(CLAIM_LEAF_15, CLAIM_OF_CRYSTAL, "CPUID 15h ECX", 24000000, 0);
	assert_claim(CLAIM_LEAF_15, CLAIM_OF_LAPIC, "CPUID 15h ECX", 24000000, 0);
	assert_int_equal(find(CLAIM_LEAF_15, CLAIM_OF_CRYSTAL)->per_tsc.num, 2);
	assert_int_equal(find(CLAIM_LEAF_15, CLAIM_OF_CRYSTAL)->per_tsc.den, 192);
	assert_claim(CLAIM_LEAF_16, CLAIM_OF_TSC, "CPUID 16h", 1000000000, 50000000);
}

TEST(a_leaf_15h_that_states_no_rate_has_the_reason)
{
	set_leaf_15(0, 0, 0);
	assert_refused(CLAIM_LEAF_15, CLAIM_OF_TSC, "It is 0.");
	assert_null(find(CLAIM_LEAF_15, CLAIM_OF_LAPIC));
	set_leaf_15(0, 192, 24000000);
	assert_refused(CLAIM_LEAF_15, CLAIM_OF_TSC, "The leaf's ratio is 192/0.");
	set_leaf_15(2, 0, 24000000);
	assert_refused(CLAIM_LEAF_15, CLAIM_OF_TSC, "The leaf's ratio is 0/2.");
	set_leaf_15(24000000, 1, 24000000);
	assert_refused(CLAIM_LEAF_15, CLAIM_OF_TSC, "It states 1 Hz. baretick accepts 1 MHz to 100 GHz.");
	set_leaf_15(1, UINT32_C(1) << 31, UINT32_C(1) << 31);
	assert_refused(CLAIM_LEAF_15, CLAIM_OF_TSC,
		       "It states 4611686018427387904 Hz. baretick accepts 1 MHz to 100 GHz.");
	set_leaf_15(3, UINT32_MAX, UINT32_MAX);
	assert_refused(CLAIM_LEAF_15, CLAIM_OF_TSC,
		       "It states 6148914688373205675 Hz. baretick accepts 1 MHz to 100 GHz.");
}

/* On Skylake, Linux derives the crystal's rate from leaf 16h, and uses it for the LAPIC's timer. */
TEST(a_leaf_15h_without_its_crystal_needs_leaf_16h)
{
	sim_cpuid_set(0x16, 0, (struct hw_cpuid){ 2700, 0, 0, 0 });
	set_leaf_15(2, 226, 0);
	assert_refused(CLAIM_LEAF_15, CLAIM_OF_TSC, "The leaf has a ratio, 226/2, but no crystal frequency.");
	assert_claim(CLAIM_LEAF_15_16, CLAIM_OF_LAPIC, "CPUID 15h with 16h", 23893805, 442478);
	assert_null(find(CLAIM_LEAF_15, CLAIM_OF_CRYSTAL));
	set_vendor("GenuineIntel", 0x15);
	read_claims();
	assert_null(find(CLAIM_LEAF_15_16, CLAIM_OF_LAPIC));
	assert_null(claims_find_first_tsc_rate(&platform.claims));
	set_vendor("GenuineIntel", 0x14);
	read_claims();
	assert_int_equal(platform.claims.count, 0);
}

TEST(atom_c3000_has_a_crystal_of_25_mhz)
{
	set_cpu("GenuineIntel", 0x000506f1, 0);
	set_leaf_15(2, 176, 0);
	assert_claim(CLAIM_LEAF_15_FIXED, CLAIM_OF_TSC, "CPUID 15h, Atom C3000", UINT64_C(2200000000), 0);
	assert_claim(CLAIM_LEAF_15_FIXED, CLAIM_OF_LAPIC, "CPUID 15h, Atom C3000", 25000000, 0);
	assert_ptr_equal(claims_find_first_tsc_rate(&platform.claims), find(CLAIM_LEAF_15_FIXED, CLAIM_OF_TSC));
}

TEST(leaf_16h_states_megahertz_in_16_bits)
{
	sim_cpuid_set(0x16, 0, (struct hw_cpuid){ 0xdead0e10, 0, 0, 0 });
	read_claims();
	assert_claim(CLAIM_LEAF_16, CLAIM_OF_TSC, "CPUID 16h", UINT64_C(3600000000), 50000000);
	sim_cpuid_set(0x16, 0, (struct hw_cpuid){ 0xdead0000, 0, 0, 0 });
	read_claims();
	assert_refused(CLAIM_LEAF_16, CLAIM_OF_TSC, "It is 0.");
}

static void
set_interface(uint32_t base, const char *name, uint32_t max)
{
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0x000906ea, 0, UINT32_C(1) << 31, 0x00000210 });
	sim_cpuid_set(base, 0, (struct hw_cpuid){ max, four(name), four(name + 4), four(name + 8) });
}

TEST(a_hypervisors_leaf_in_khz_is_used_before_15h_and_16h)
{
	set_interface(0x40000000, KVM, 0x40000010);
	sim_cpuid_set(0x40000010, 0, (struct hw_cpuid){ 2893437, 1000000, 0, 0 });
	read_claims();
	assert_claim(CLAIM_KHZ_LEAF, CLAIM_OF_TSC, "CPUID 40000010h EAX", UINT64_C(2893437000), 1000);
	assert_claim(CLAIM_KHZ_LEAF, CLAIM_OF_LAPIC, "CPUID 40000010h EBX", 1000000000, 1000);
	assert_int_equal(find(CLAIM_KHZ_LEAF, CLAIM_OF_TSC)->base, 0x40000000);
	assert_ptr_equal(claims_find_first_tsc_rate(&platform.claims), find(CLAIM_KHZ_LEAF, CLAIM_OF_TSC));
	sim_cpuid_set(0x40000010, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
	read_claims();
	assert_refused(CLAIM_KHZ_LEAF, CLAIM_OF_TSC, "It is 0.");
	assert_refused(CLAIM_KHZ_LEAF, CLAIM_OF_LAPIC, "It is 0.");
	assert_ptr_equal(claims_find_first_tsc_rate(&platform.claims), find(CLAIM_LEAF_15, CLAIM_OF_TSC));
	set_interface(0x40000000, "ACRNACRNACRN", 0x40000010);
	sim_cpuid_set(0x40000010, 0, (struct hw_cpuid){ 2304000, 0, 0, 0 });
	read_claims();
	assert_claim(CLAIM_KHZ_LEAF, CLAIM_OF_TSC, "CPUID 40000010h EAX", UINT64_C(2304000000), 1000);
	assert_null(find(CLAIM_KHZ_LEAF, CLAIM_OF_LAPIC));
}

TEST(hyperv_states_its_rates_in_msrs_and_xen_in_a_leaf)
{
	set_interface(0x40000000, "Microsoft Hv", 0x40000005);
	sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ 0x31237648, 0, 0, 0 });
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ HV_ACCESS_FREQUENCY_MSRS, 0, 0, HV_FREQUENCY_MSRS_AVAILABLE });
	set_interface(0x40000100, "XenVMMXenVMM", 0x40000105);
	sim_cpuid_set(0x40000103, 0, (struct hw_cpuid){ 0, 2, 2445424, 0 });
	sim_msr_set(MSR_HV_TSC_FREQUENCY, UINT64_C(2893437000));
	sim_msr_set(MSR_LAPIC_FREQUENCY, 200000000);
	read_claims();
	assert_claim(CLAIM_HYPERV, CLAIM_OF_TSC, "MSR 40000022h", UINT64_C(2893437000), 1000);
	assert_claim(CLAIM_HYPERV, CLAIM_OF_LAPIC, "MSR 40000023h", 200000000, 1000);
	assert_claim(CLAIM_XEN, CLAIM_OF_TSC, "Xen's CPUID 40000103h", UINT64_C(2445424000), 1000);
	sim_msr_set(MSR_LAPIC_FREQUENCY, UINT64_C(1) << 63);
	read_claims();
	assert_refused(CLAIM_HYPERV, CLAIM_OF_LAPIC,
		       "It states 9223372036854775808 Hz. baretick accepts 1 MHz to 100 GHz.");
	for (size_t i = 0; i < sim.msr_count; i++)
		if (sim.msrs[i].msr == MSR_LAPIC_FREQUENCY)
			sim.msrs[i].msr = 0xdead;
	platform_read_rate_claims(&platform, guard);
	assert_refused(CLAIM_HYPERV, CLAIM_OF_LAPIC, "Reading the MSR caused an exception.");
	assert_claim(CLAIM_HYPERV, CLAIM_OF_TSC, "MSR 40000022h", UINT64_C(2893437000), 1000);
}

/* A hypervisor's MSR states the rate in Hz. Each case has the stated rate and the row that results. */
TEST(an_msr_that_is_absent_or_states_an_impossible_rate_has_the_reason)
{
	static const struct {
		uint64_t hz;
		const char *reason;
	} rows[] = {
		{ 0, "It is 0." },
		{ 1, "It states 1 Hz. baretick accepts 1 MHz to 100 GHz." },
		{ CLAIM_HZ_MIN - 1, "It states 999999 Hz. baretick accepts 1 MHz to 100 GHz." },
		{ CLAIM_HZ_MAX + 1, "It states 100000000001 Hz. baretick accepts 1 MHz to 100 GHz." },
		{ UINT64_C(1) << 63, "It states 9223372036854775808 Hz. baretick accepts 1 MHz to 100 GHz." },
		{ UINT64_MAX, "It states 18446744073709551615 Hz. baretick accepts 1 MHz to 100 GHz." },
	};
	static const uint32_t msrs[] = { MSR_HV_TSC_FREQUENCY, MSR_LAPIC_FREQUENCY };

	set_interface(0x40000000, "Microsoft Hv", 0x40000005);
	sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ 0x31237648, 0, 0, 0 });
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ HV_ACCESS_FREQUENCY_MSRS, 0, 0, HV_FREQUENCY_MSRS_AVAILABLE });
	sim_msr_set(MSR_HV_TSC_FREQUENCY, 1000000000);
	sim_msr_set(MSR_LAPIC_FREQUENCY, 1000000000);
	read_claims();
	sim.msr_count -= 2; /* both MSRs are absent from now on */
	platform_read_rate_claims(&platform, guard);
	assert_refused(CLAIM_HYPERV, CLAIM_OF_TSC, "Reading the MSR caused an exception.");
	assert_refused(CLAIM_HYPERV, CLAIM_OF_LAPIC, "Reading the MSR caused an exception.");
	sim_msr_set(MSR_HV_TSC_FREQUENCY, 1000000000);
	for (size_t i = 0; i < 2; i++) {
		enum claim_clock clock = i ? CLAIM_OF_LAPIC : CLAIM_OF_TSC;

		sim_msr_set(msrs[1 - i], 1000000000);
		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
			sim_msr_set(msrs[i], rows[k].hz);
			read_claims();
			assert_refused(CLAIM_HYPERV, clock, rows[k].reason);
			assert_claim(CLAIM_HYPERV, i ? CLAIM_OF_TSC : CLAIM_OF_LAPIC, i ? "MSR 40000022h" : "MSR 40000023h",
				     1000000000, 1000);
		}
	}
	assert_ptr_equal(claims_find_first_tsc_rate(&platform.claims), find(CLAIM_HYPERV, CLAIM_OF_TSC));
}

static const struct claim_raw *
find_raw(bool is_msr, uint32_t number)
{
	for (size_t i = 0; i < platform.claims.raw_count; i++)
		if (platform.claims.raw[i].is_msr == is_msr && platform.claims.raw[i].number == number)
			return &platform.claims.raw[i];
	fail_msg("%xh is not kept", number);
	return NULL;
}

TEST(each_leaf_and_msr_is_kept_once_as_it_was_read)
{
	set_interface(0x40000000, "Microsoft Hv", 0x40000005);
	sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ 0x31237648, 0, 0, 0 });
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ HV_ACCESS_FREQUENCY_MSRS, 0, 0, HV_FREQUENCY_MSRS_AVAILABLE });
	sim_msr_set(MSR_HV_TSC_FREQUENCY, UINT64_C(0x123456789));
	sim_msr_set(MSR_LAPIC_FREQUENCY, 1);
	set_leaf_15(0, 192, 24000000);
	sim.msr_count--; /* the last MSR is absent from now on */
	platform_read_rate_claims(&platform, guard);
	assert_memory_equal(find_raw(false, 0x15), &((struct claim_raw){ .number = 0x15, .ebx = 192, .ecx = 24000000 }),
			    sizeof(struct claim_raw));
	assert_int_equal(find_raw(false, 1)->eax, 0x000906ea);
	assert_int_equal(find_raw(false, 0)->ebx, four("Genu"));
	assert_int_equal(find_raw(false, 0x40000000)->ebx, four("Micr"));
	assert_int_equal(find_raw(true, MSR_HV_TSC_FREQUENCY)->eax, 0x23456789);
	assert_int_equal(find_raw(true, MSR_HV_TSC_FREQUENCY)->edx, 1);
	assert_false(find_raw(true, MSR_HV_TSC_FREQUENCY)->faulted);
	assert_true(find_raw(true, MSR_LAPIC_FREQUENCY)->faulted);
	for (size_t i = 0; i < platform.claims.raw_count; i++)
		assert_ptr_equal(find_raw(platform.claims.raw[i].is_msr, platform.claims.raw[i].number), &platform.claims.raw[i]);
}

TEST(a_leaf_of_0_and_a_denominator_of_0_state_no_rate)
{
	struct claim claim = { .hz = { 0, 0 } };

	set_interface(0x40000000, "XenVMMXenVMM", 0x40000005);
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
	read_claims();
	assert_refused(CLAIM_XEN, CLAIM_OF_TSC, "It is 0.");
	claim_set_rate(&claim, (struct rate){ 1000000000, 0 }, 0);
	assert_string_equal(claim.reason, "It is 0.");
	assert_int_equal(claim.hz.den, 0);
	set_leaf_15(1, 1000, 1); /* a crystal of 1 Hz */
	assert_refused(CLAIM_LEAF_15, CLAIM_OF_CRYSTAL, "It states 1 Hz. baretick accepts 1 MHz to 100 GHz.");
	assert_refused(CLAIM_LEAF_15, CLAIM_OF_LAPIC, "It states 1 Hz. baretick accepts 1 MHz to 100 GHz.");
}

TEST(platform_info_states_a_multiple_of_100_mhz_on_cores_with_avx)
{
	set_cpu("GenuineIntel", 0x000906ea, UINT32_C(1) << 28);
	read_claims();
	assert_refused(CLAIM_PLATFORM_INFO, CLAIM_OF_TSC, "Reading the MSR caused an exception.");
	sim_msr_set(0xce, UINT64_C(0x80000000001700));
	read_claims();
	assert_claim(CLAIM_PLATFORM_INFO, CLAIM_OF_TSC, "MSR CEh", UINT64_C(2300000000), 23000000);
	set_cpu("GenuineIntel", 0x00300f10, UINT32_C(1) << 28); /* family 18: Nova Lake */
	read_claims();
	assert_claim(CLAIM_PLATFORM_INFO, CLAIM_OF_TSC, "MSR CEh", UINT64_C(2300000000), 23000000);
	set_cpu("GenuineIntel", 0x000906ea, UINT32_C(1) << 28);
	sim_msr_set(0xce, UINT64_C(1) << 31); /* the value that KVM returns */
	read_claims();
	assert_refused(CLAIM_PLATFORM_INFO, CLAIM_OF_TSC, "It is 0.");
	set_cpu("GenuineIntel", 0x000906ea, 0);
	read_claims();
	assert_null(find(CLAIM_PLATFORM_INFO, CLAIM_OF_TSC));
}

TEST(amds_p0_state_and_secure_tsc_state_rates)
{
	set_cpu("AuthenticAMD", 0x00a20f12, UINT32_C(1) << 31); /* family 19h */
	set_hypervisor_leaf(KVM, 0x40000000);
	read_claims();
	assert_refused(CLAIM_AMD_P0, CLAIM_OF_TSC, "Reading the MSR caused an exception.");
	sim_msr_set(0xc0010064, UINT64_C(1) << 63 | 8 << 8 | 148);
	read_claims();
	assert_claim(CLAIM_AMD_P0, CLAIM_OF_TSC, "MSR C0010064h", UINT64_C(3700000000), 37000000);
	sim_msr_set(0xc0010064, UINT64_C(1) << 63 | 148); /* the divisor is 0 */
	read_claims();
	assert_refused(CLAIM_AMD_P0, CLAIM_OF_TSC, "It is 0.");
	sim_msr_set(0xc0010064, 8 << 8 | 148); /* the definition of this P-state is not enabled */
	read_claims();
	assert_refused(CLAIM_AMD_P0, CLAIM_OF_TSC, "It is 0.");
	assert_null(find(CLAIM_SECURE_TSC, CLAIM_OF_TSC));
	set_cpu("AuthenticAMD", 0x00b40f40, UINT32_C(1) << 31); /* a processor of family 1Ah */
	sim_msr_set(0xc0010064, UINT64_C(1) << 63 | 860);
	sim_cpuid_set(0x80000000, 0, (struct hw_cpuid){ 0x8000001f, 0, 0, 0 });
	sim_cpuid_set(0x8000001f, 0, (struct hw_cpuid){ 2, 0, 0, 0 });
	sim_msr_set(0xc0010131, 1 << 11 | 7);
	read_claims();
	assert_claim(CLAIM_AMD_P0, CLAIM_OF_TSC, "MSR C0010064h", UINT64_C(4300000000), 43000000);
	assert_refused(CLAIM_SECURE_TSC, CLAIM_OF_TSC, "Reading the MSR caused an exception.");
	sim_msr_set(0xc0010134, 0xfff00000 + 2400);
	read_claims();
	assert_claim(CLAIM_SECURE_TSC, CLAIM_OF_TSC, "MSR C0010134h", UINT64_C(2400000000), 24000000);
}

TEST(without_a_guard_only_msrs_that_cpuid_reports_are_read)
{
	set_cpu("GenuineIntel", 0x000906ea, UINT32_C(1) << 28);
	sim_describe_platform(&platform);
	assert_null(find(CLAIM_PLATFORM_INFO, CLAIM_OF_TSC));
	assert_int_equal(sim.count[SIM_MSR_READ], 0);
}



static void
read_vmclock(uint32_t counter, uint64_t period, uint64_t max_error)
{
	sim_paravirtual.vmclock_counter = counter;
	sim_paravirtual.vmclock_period = period;
	sim_paravirtual.vmclock_max_error = max_error;
	sim_describe_platform(&platform);
	platform.acpi.vmclock = SIM_VMCLOCK_BASE;
	platform_read_rate_claims(&platform, guard);
}

#define PERIOD UINT64_C(19342813113834066) /* 1 ns in units of 2^-84 s */

TEST(vmclock_states_the_tscs_rate_with_its_maximum_error)
{
	sim_paravirtual_make_kvm_guest(false);
	sim_paravirtual_add_vmclock();
	read_vmclock(1, PERIOD, PERIOD / 1000000 * 50);
	assert_claim(CLAIM_VMCLOCK, CLAIM_OF_TSC, "vmclock's page", 1000000000, 50001);
	read_vmclock(1, PERIOD, 0);
	assert_claim(CLAIM_VMCLOCK, CLAIM_OF_TSC, "vmclock's page", 1000000000, 1);
}

TEST(a_page_of_vmclock_that_changes_while_it_is_read_is_read_again)
{
	sim_paravirtual_make_kvm_guest(false);
	sim_paravirtual_add_vmclock();
	sim_paravirtual.vmclock_updates = 3;
	read_vmclock(1, PERIOD, 0);
	assert_int_equal(sim_paravirtual.vmclock_sequence, 6);
	assert_claim(CLAIM_VMCLOCK, CLAIM_OF_TSC, "vmclock's page", 1000000000, 1);
	sim_paravirtual.vmclock_updates = 1000000;
	read_vmclock(1, PERIOD, 0);
	assert_refused(CLAIM_VMCLOCK, CLAIM_OF_TSC, "The page was being updated in each of 1024 reads.");
	sim_paravirtual.vmclock_updates = 0;
	/* an odd sequence number that stays, so that the page can never be read */
	sim_paravirtual.vmclock_sequence = 1;
	read_vmclock(1, PERIOD, 0);
	assert_refused(CLAIM_VMCLOCK, CLAIM_OF_TSC, "The page was being updated in each of 1024 reads.");
}

/* QEMU 10 fills in only the disruption marker of the page. */
TEST(vmclock_without_a_time_has_the_reason)
{
	sim_paravirtual_make_kvm_guest(false);
	read_vmclock(1, PERIOD, 0); /* an address without memory */
	assert_null(find(CLAIM_VMCLOCK, CLAIM_OF_TSC));
	sim_paravirtual_add_vmclock();
	read_vmclock(0xff, 0, 0);
	assert_refused(CLAIM_VMCLOCK, CLAIM_OF_TSC, "The page has no time: its counter id is FFh, invalid.");
	read_vmclock(0, PERIOD, 0); /* counter id of ARM */
	assert_refused(CLAIM_VMCLOCK, CLAIM_OF_TSC, "The page describes another counter than the TSC: its counter id is 0.");
	read_vmclock(1, 0, 0);
	assert_refused(CLAIM_VMCLOCK, CLAIM_OF_TSC, "The page states 0 s, or nearly 0 s, as the duration of a TSC tick.");
}

static void
set_cpu_name(const char *name)
{
	char text[48] = { 0 };

	memcpy(text, name, strlen(name));
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t r[4];

		memcpy(r, text + 16 * i, 16);
		sim_cpuid_set(0x80000002 + i, 0, (struct hw_cpuid){ r[0], r[1], r[2], r[3] });
	}
	read_claims();
}

TEST(a_cpus_name_states_a_rate_within_half_a_unit_of_its_last_digit)
{
	static const struct {
		const char *name;
		uint64_t hz, within_hz;
	} names[] = {
		{ "Intel(R) Core(TM) i5-4440S CPU @ 3.10GHz", UINT64_C(3100000000), 5000000 },
		{ "Intel(R) Xeon(R) CPU @ 2.60 GHz", UINT64_C(2600000000), 5000000 },
		{ "AMD FX 4.2GHz 8-Core Processor", UINT64_C(4200000000), 50000000 },
		{ "Intel(R) Pentium(R) III CPU 933MHz", 933000000, 500000 },
		{ "CPU @ 2GHz", UINT64_C(2000000000), 500000000 },
		{ "13th Gen Intel(R) Core(TM) i9-13900K", 0, 0 },
		{ "AMD Ryzen 7 3700U with Radeon Vega Mobile Gfx", 0, 0 },
		{ "QEMU Virtual CPU version 2.5+", 0, 0 },
		{ "12345678901234567890GHz 1.2345678901GHz", 0, 0 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		set_cpu_name(names[i].name);
		if (names[i].hz)
			assert_claim(CLAIM_CPU_NAME, CLAIM_OF_TSC, "the CPU's name", names[i].hz, names[i].within_hz);
		else
			assert_null(find(CLAIM_CPU_NAME, CLAIM_OF_TSC));
		assert_true(!claims_find_first_tsc_rate(&platform.claims) ||
			    claims_find_first_tsc_rate(&platform.claims)->source != CLAIM_CPU_NAME);
	}
}
