/*
 * The interfaces that hypervisors offer in CPUID leaves, on the simulated machine. A read of an absent MSR causes an
 * exception.
 */
#include "test.h"
#include "cpuid_leaves.h"
#include "paravirtual/leaves.h"

TEST_FIXTURE(reset_machine, NULL);

static void
set_interface(uint32_t base, const char *name, uint32_t max)
{
	struct hw_cpuid features = { 0x000906ea, 0, UINT32_C(1) << 31, 0x00000210 };

	sim_cpuid_set(1, 0, features);
	sim_cpuid_set(base, 0, (struct hw_cpuid){ max, four(name), four(name + 4), four(name + 8) });
}

static struct paravirtual
offered_under(fault_guard *guarded)
{
	struct cpu_facts facts;
	struct paravirtual paravirtual;

	cpu_read_facts(&facts);
	paravirtual_read_interfaces(&facts, guarded, &paravirtual);
	return paravirtual;
}

static struct paravirtual
offered(void)
{
	return offered_under(NULL);
}

static bool
fault(void (*work)(void *argument), void *argument, struct fault *fault)
{
	*fault = (struct fault){ .vector = 13 };
	return false;
}

#define KVM "KVMKVMKVM\0\0\0"

TEST(on_bare_metal_and_under_tcg_nothing_is_offered_and_no_msr_is_read)
{
	sim_cpuid_set(0x40000000, 0, (struct hw_cpuid){ 0x40000001, four("KVMK"), four("VMKV"), four("M\0\0\0") });
	sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ KVM_CLOCKSOURCE2, 0, 0, 0 });
	assert_int_equal(offered().count, 0); /* CPUID 1h reports no hypervisor, so further leaves must be ignored */
	set_interface(0x40000000, "TCGTCGTCGTCG", 0x40000001);
	assert_int_equal(offered().count, 0);
	assert_int_equal(sim.count[SIM_MSR_READ] + sim.count[SIM_MSR_WRITE], 0);
}

TEST(kvms_features_and_its_rate_in_khz_are_read_up_to_its_maximum_leaf)
{
	struct paravirtual found;

	set_interface(0x40000000, KVM, 0x40000001);
	sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ KVM_CLOCKSOURCE2 | KVM_CLOCKSOURCE_STABLE, 0, 0, 0 });
	sim_cpuid_set(0x40000010, 0, (struct hw_cpuid){ 2893437, 1000000, 0, 0 });
	found = offered();
	assert_int_equal(found.count, 1);
	assert_string_equal(found.interfaces[0].name, "KVM");
	assert_string_equal(found.interfaces[0].offers, "kvm-clock, whether it is stable");
	assert_int_equal(found.interfaces[0].tsc.den, 0); /* leaf 40000010h is beyond the maximum */
	set_interface(0x40000000, KVM, 0x40000010);
	found = offered();
	assert_int_equal(found.interfaces[0].tsc.num, UINT64_C(2893437000));
	assert_int_equal(found.interfaces[0].tsc_within_hz, 1000);
	sim_cpuid_set(0x40000010, 0, (struct hw_cpuid){ 0, 1000000, 0, 0 });
	assert_int_equal(offered().interfaces[0].tsc.den, 0);
}

/* With QEMU's hv- flags, the leaves for Hyper-V come first, and then the leaves for KVM. */
TEST(several_interfaces_are_found_in_the_order_of_their_leaves)
{
	struct paravirtual found;

	set_interface(0x40000000, "Microsoft Hv", 0x40000005);
	sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ 0x31237648, 0, 0, 0 });
	sim_cpuid_set(0x40000002, 0, (struct hw_cpuid){ 14393, 0x000a0000, 0, 0 });
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ 0x00000a02, 0, 0, HV_FREQUENCY_MSRS_AVAILABLE });
	sim_msr_set(MSR_HV_TSC_FREQUENCY, UINT64_C(2893437000));
	set_interface(0x40000100, KVM, 0x40000101);
	sim_cpuid_set(0x40000101, 0, (struct hw_cpuid){ KVM_CLOCKSOURCE, 0, 0, 0 });
	found = offered();
	assert_int_equal(found.count, 2);
	assert_int_equal(found.interfaces[0].kind, PARAVIRTUAL_HYPERV);
	assert_string_equal(found.interfaces[0].version, "10.0.14393");
	assert_string_equal(found.interfaces[0].offers, "reference counter, reference TSC page, frequency MSRs");
	assert_int_equal(found.interfaces[0].tsc.num, UINT64_C(2893437000));
	assert_int_equal(found.interfaces[0].tsc_within_hz, 1000);
	assert_int_equal(found.interfaces[1].base, 0x40000100);
	assert_string_equal(found.interfaces[1].offers, "kvm-clock by its old MSRs");
	assert_ptr_equal(paravirtual_find(&found, PARAVIRTUAL_KVM), &found.interfaces[1]);
	sim_msr_set(MSR_HV_TSC_FREQUENCY, UINT64_C(2893437001));
	/* the rounding of this rate is unknown, so its error is up to 1 kHz */
	assert_int_equal(offered().interfaces[0].tsc_within_hz, 1000);
	found = offered_under(fault);
	assert_int_equal(found.interfaces[0].tsc.den, 0);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.interfaces[1].offers, "kvm-clock by its old MSRs");
}

static const char *
missing_of(uint32_t eax, uint32_t edx)
{
	const char *missing;

	set_interface(0x40000000, "Microsoft Hv", 0x40000005);
	sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ 0x31237648, 0, 0, 0 });
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ eax, 0, 0, edx });
	missing = offered().interfaces[0].missing;
	return missing ? missing : "";
}

TEST(a_feature_that_hyper_v_lacks_is_named)
{
	const uint32_t clocks = HV_ACCESS_REFERENCE_COUNTER | HV_ACCESS_REFERENCE_TSC;
	const uint32_t timers = HV_ACCESS_TIMERS | HV_ACCESS_SYNIC;

	assert_string_equal(missing_of(0, 0), "");
	assert_string_equal(missing_of(clocks | timers, HV_DIRECT_TIMERS_AVAILABLE), "");
	assert_non_null(strstr(missing_of(HV_ACCESS_REFERENCE_COUNTER, 0), "EAX bit 9"));
	assert_non_null(strstr(missing_of(HV_ACCESS_REFERENCE_TSC, 0), "EAX bit 1)"));
	assert_non_null(strstr(missing_of(clocks | HV_ACCESS_TIMERS, HV_DIRECT_TIMERS_AVAILABLE), "EAX bit 2"));
	assert_non_null(strstr(missing_of(clocks | timers, 0), "EDX bit 19"));
}

/* VirtualBox offers these leaves without presenting itself as Hyper-V, KVM or Xen: see its source GIMMinimal.cpp. */
TEST(virtualboxs_stated_rate_is_read)
{
	struct paravirtual found;

	set_interface(0x40000000, "VBoxVBoxVBox", 0x40000010);
	sim_cpuid_set(0x40000010, 0, (struct hw_cpuid){ 2592001, 1000000, 0, 0 });
	found = offered();
	assert_int_equal(found.count, 1);
	assert_string_equal(found.interfaces[0].name, "VirtualBox");
	assert_int_equal(found.interfaces[0].tsc.num, UINT64_C(2592001000));
	assert_int_equal(found.interfaces[0].tsc_within_hz, 1000);
}

TEST(a_hypervisors_name_without_its_interface_proves_nothing)
{
	struct paravirtual found;

	set_interface(0x40000000, "Microsoft Hv", 0x40000005); /* leaf 40000001h does not have the interface Hv#1 */
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ 0x00000a02, 0, 0, HV_FREQUENCY_MSRS_AVAILABLE });
	found = offered();
	assert_int_equal(found.count, 1);
	assert_int_equal(found.interfaces[0].features, 0);
	assert_string_equal(found.interfaces[0].offers, "");
	sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ 0x31237648, 0, 0, 0 });
	/* EDX does not report that these MSRs exist */
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ HV_ACCESS_FREQUENCY_MSRS, 0, 0, 0 });
	assert_int_equal(offered().interfaces[0].features, 0);
	assert_int_equal(sim.count[SIM_MSR_READ], 0);
}

/* With Xen's option viridian=1, Hyper-V's leaves come before Xen's. */
TEST(xens_leaf_states_the_tscs_mode_and_its_rate_in_khz)
{
	struct paravirtual found;

	set_interface(0x40000000, "Microsoft Hv", 0x40000006);
	set_interface(0x40000100, "XenVMMXenVMM", 0x40000105);
	sim_cpuid_set(0x40000101, 0, (struct hw_cpuid){ 0x00040011, 0, 0, 0 });
	sim_cpuid_set(0x40000103, 0, (struct hw_cpuid){ 0, 2, 2445424, 0 });
	found = offered();
	assert_int_equal(found.count, 2);
	assert_string_equal(found.interfaces[1].version, "4.17");
	assert_string_equal(found.interfaces[1].offers, "pvclock, TSC mode 2 (never emulated)");
	assert_int_equal(found.interfaces[1].tsc.num, UINT64_C(2445424000));
	assert_int_equal(found.interfaces[1].tsc_within_hz, 1000);
	sim_cpuid_set(0x40000103, 0, (struct hw_cpuid){ XEN_TSC_EMULATED, XEN_TSC_DEFAULT, 2445424, 0 });
	assert_string_equal(offered().interfaces[1].offers, "pvclock, TSC mode 0 (emulated)");
	sim_cpuid_set(0x40000103, 0, (struct hw_cpuid){ 0, XEN_TSC_DEFAULT, 2445424, 0 });
	assert_string_equal(offered().interfaces[1].offers, "pvclock, TSC mode 0 (not emulated now)");
}
