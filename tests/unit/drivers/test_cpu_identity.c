/* Family, model, stepping, microcode, and the hypervisor's version, on the simulated machine. */
#include "test.h"
#include "hw/cpu.h"
#include "cpuid_leaves.h"

#define MICROCODE 0x8bu

TEST_FIXTURE(reset_machine, NULL);

static void
set_cpu(const char *vendor, uint32_t signature, bool guest)
{
	set_vendor(vendor, 1);
	sim_cpuid_set(1, 0, (struct hw_cpuid){ signature, 0, guest ? UINT32_C(1) << 31 : 0, 0 });
}

static void
set_host(const char *name, uint32_t max)
{
	set_hypervisor_leaf(name, max);
}

static struct cpu_identity
identity_now(void)
{
	struct cpu_facts facts;
	struct cpu_identity identity;

	memset(&identity, 0xa5, sizeof(identity));
	cpu_read_facts(&facts);
	cpu_read_identity(&facts, &identity);
	return identity;
}

static void
assert_signature(const char *vendor, uint32_t signature, uint32_t family, uint32_t model, uint32_t stepping)
{
	struct cpu_identity identity;

	set_cpu(vendor, signature, false);
	sim_msr_set(MICROCODE, 0);
	identity = identity_now();
	assert_true(identity.known);
	assert_int_equal(identity.family, family);
	assert_int_equal(identity.model, model);
	assert_int_equal(identity.stepping, stepping);
	assert_string_equal(identity.host, "");
}

TEST(extended_family_and_model_are_used_if_the_short_fields_are_full)
{
	assert_signature("GenuineIntel", 0x00050654, 6, 85, 4);   /* signature of Skylake-SP */
	assert_signature("GenuineIntel", 0x00000f29, 15, 2, 9);   /* Pentium 4 */
	assert_signature("  Shanghai  ", 0x000307b0, 7, 59, 0);   /* Zhaoxin KX-6000 */
	assert_signature("AuthenticAMD", 0x00a00f11, 25, 1, 1);   /* Milan */
	assert_signature("AuthenticAMD", 0x00000662, 6, 6, 2);    /* Athlon */
	/* signature of a Pentium MMX, with reserved upper bits that must be ignored */
	assert_signature("GenuineIntel", 0xfff0f543, 5, 4, 3);
}

/* The simulated MSR has the revision only after CPUID 1h was executed. Its earlier value must not be used. */
TEST(intels_microcode_revision_is_in_the_msr_after_cpuid)
{
	set_cpu("GenuineIntel", 0x00050654, false);
	sim_msr_set(MICROCODE, UINT64_C(0x7777777700000000));
	sim.microcode = 0x0200006b;
	assert_int_equal(identity_now().microcode, 0x0200006b);
	sim_msr_set(MICROCODE, UINT64_C(0x7777777700000000));
	sim.microcode = 0; /* no microcode is loaded */
	assert_int_equal(identity_now().microcode, 0);
}

TEST(amds_microcode_revision_is_the_lower_half_and_is_not_written)
{
	set_cpu("AuthenticAMD", 0x00a00f11, false);
	sim_msr_set(MICROCODE, UINT64_C(0x12345678) << 32 | 0x0a0011d5);
	assert_int_equal(identity_now().microcode, 0x0a0011d5);
	assert_int_equal(sim_msr_get(MICROCODE) >> 32, 0x12345678);
}

/* The simulated machine fails the test if an absent MSR is accessed. */
TEST(the_msr_is_not_read_if_it_may_be_absent)
{
	set_cpu("GenuineIntel", 0x00050654, true);
	set_host("VMwareVMware", 0x40000010);
	assert_int_equal(identity_now().microcode, 0);
	set_host("\0\0\0\0\0\0\0\0\0\0\0\0", 0);
	assert_int_equal(identity_now().microcode, 0);
	set_cpu("GenuineIntel", 0x00000543, false); /* older than family 6 */
	assert_int_equal(identity_now().microcode, 0);
	set_cpu("AuthenticAMD", 0x00000662, false);
	assert_int_equal(identity_now().microcode, 0);
	set_cpu("CentaurHauls", 0x000006f2, false);
	assert_int_equal(identity_now().microcode, 0);
}

TEST(under_kvm_and_tcg_the_microcode_revision_is_read)
{
	static const char *const hosts[] = { "KVMKVMKVM\0\0\0", "TCGTCGTCGTCG" };

	for (size_t i = 0; i < 2; i++) {
		sim_reset();
		set_cpu("GenuineIntel", 0x00050654, true);
		set_host(hosts[i], 0x40000001);
		sim_msr_set(MICROCODE, 0);
		sim.microcode = 1;
		assert_int_equal(identity_now().microcode, 1);
		assert_string_equal(identity_now().host, "CPUID leaves to 40000001h");
	}
}

TEST(hyper_v_has_a_version_and_a_hypervisor_with_one_leaf_has_none)
{
	set_cpu("GenuineIntel", 0x00050654, true);
	set_host("Microsoft Hv", 0x40000006);
	sim_cpuid_set(0x40000002, 0, (struct hw_cpuid){ 17763, 10 << 16 | 3, 0, 0 });
	assert_string_equal(identity_now().host, "version 10.3.17763");
	set_host("Microsoft Hv", 0x40000001); /* the leaf with the version does not exist */
	assert_string_equal(identity_now().host, "CPUID leaves to 40000001h");
	set_host("bhyve bhyve ", 0x40000000);
	assert_string_equal(identity_now().host, "");
	sim_cpuid_set(0x40000002, 0, (struct hw_cpuid){ UINT32_MAX, UINT32_MAX, 0, 0 });
	set_host("Microsoft Hv", UINT32_MAX);
	assert_string_equal(identity_now().host, "version 65535.65535.4294967295"); /* the longest version fits */
}

TEST(a_cpu_without_leaf_1_has_no_identity)
{
	sim_cpuid_set(0, 0, (struct hw_cpuid){ 0, four("Genu"), four("ntel"), four("ineI") });
	assert_false(identity_now().known);
	assert_int_equal(identity_now().microcode, 0);
}
