/* Facts about the CPU from CPUID and MSRs, on the simulated machine. Leaves above the maximum leaf must not be read. */
#include "test.h"
#include "hw/cpu.h"
#include "cpuid_leaves.h"

static void
set_hypervisor(const char *name, uint32_t max)
{
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0, 0, UINT32_C(1) << 31, 0 });
	set_hypervisor_leaf(name, max);
}

static void
set_brand(const char *brand)
{
	for (uint32_t i = 0; i < 3; i++, brand += 16)
		sim_cpuid_set(0x80000002 + i, 0,
			      (struct hw_cpuid){ four(brand), four(brand + 4), four(brand + 8),
						 four(brand + 12) });
}

static void
set_extended_max(uint32_t max)
{
	sim_cpuid_set(0x80000000, 0, (struct hw_cpuid){ max, 0, 0, 0 });
}

static struct cpu_facts
facts_now(void)
{
	struct cpu_facts facts;

	memset(&facts, 0xa5, sizeof(facts)); /* old contents; the reader must overwrite all of them */
	cpu_read_facts(&facts);
	return facts;
}

TEST_FIXTURE(reset_machine, NULL);

/* --- names --- */

TEST(vendor_and_brand_are_read_in_the_right_order_and_trimmed)
{
	struct cpu_facts facts;

	set_vendor("AuthenticAMD", 0x10);
	set_extended_max(0x80000008);
	set_brand("     Some  Processor 9999 @ 3.00GHz        \0\0\0\0\0\0");
	facts = facts_now();
	assert_string_equal(facts.vendor, "AuthenticAMD");
	assert_string_equal(facts.brand, "Some  Processor 9999 @ 3.00GHz");
	assert_string_equal(facts.hypervisor, "");
}

TEST(a_brand_of_48_characters_is_complete_and_printable)
{
	set_extended_max(0x80000004);
	set_brand("0123456789abcdef0123456789abcdef0123456789abcde\x7f");
	assert_string_equal(facts_now().brand, "0123456789abcdef0123456789abcdef0123456789abcde?");
	set_brand("                                                ");
	assert_string_equal(facts_now().brand, "");
	set_brand("\x01\x1b[2J<script>\xe9                                      ");
	assert_string_equal(facts_now().brand, "??[2J<script>?");
}

TEST(the_brand_is_read_only_if_all_three_leaves_exist)
{
	set_brand("Some Processor                                  ");
	set_extended_max(0x80000003);
	assert_string_equal(facts_now().brand, "");
	set_extended_max(0x80000004);
	assert_string_equal(facts_now().brand, "Some Processor");
}

TEST(the_hypervisor_is_named_only_if_its_bit_is_set)
{
	set_hypervisor("KVMKVMKVM\0\0\0", 0x40000001);
	assert_string_equal(facts_now().hypervisor, "KVMKVMKVM");
	set_hypervisor("TCGTCGTCGTCG", 0x40000001);
	assert_string_equal(facts_now().hypervisor, "TCGTCGTCGTCG");
	set_hypervisor("\0\0\0\0\0\0\0\0\0\0\0\0", 0);
	assert_string_equal(facts_now().hypervisor, "unknown");
	sim_cpuid_set(0x40000000, 0, (struct hw_cpuid){ 0x40000010, 0x41414141, 0, 0 });
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0, 0, ~(UINT32_C(1) << 31), 0 });
	assert_string_equal(facts_now().hypervisor, "");
}

/* --- features --- */

TEST(each_feature_has_its_own_bit)
{
	struct cpu_facts facts;

	sim_cpuid_set(6, 0, (struct hw_cpuid){ 1u << 2, 0, 0, 0 });
	facts = facts_now();
	assert_true(facts.lapic_always_runs);
	assert_true(facts.has_tsc);
	assert_true(facts.has_tsc_adjust);
	assert_true(facts.has_rdtscp);
	assert_true(facts.tsc_is_invariant);
	/* Sets all bits except the tested bits. */
	sim_cpuid_set(1, 0, (struct hw_cpuid){ ~0u, ~0u, ~(1u << 21) & ~(1u << 31), ~(1u << 4) });
	sim_cpuid_set(6, 0, (struct hw_cpuid){ ~(1u << 2), ~0u, ~0u, ~0u });
	sim_cpuid_set(7, 0, (struct hw_cpuid){ ~0u, ~(1u << 1), ~0u, ~0u });
	sim_cpuid_set(0x80000001, 0, (struct hw_cpuid){ ~0u, ~0u, ~0u, ~(1u << 27) });
	sim_cpuid_set(0x80000007, 0, (struct hw_cpuid){ ~0u, ~0u, ~0u, ~(1u << 8) });
	facts = facts_now();
	assert_false(facts.lapic_always_runs);
	assert_false(facts.has_tsc);
	assert_false(facts.has_tsc_adjust);
	assert_false(facts.has_rdtscp);
	assert_false(facts.tsc_is_invariant);
}

TEST(a_leaf_beyond_the_maximum_is_not_read)
{
	struct cpu_facts facts;

	sim_cpuid_set(0xb, 0, (struct hw_cpuid){ 0, 1, 0, 77 });
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0, 5u << 24, 0, 1u << 4 });
	set_vendor("GenuineIntel", 0x15);
	facts = facts_now();
	assert_int_equal(facts.basic_leaf_max, 0x15);
	set_vendor("GenuineIntel", 0xb);
	assert_int_equal(facts_now().apic_id, 77);
	set_vendor("GenuineIntel", 0xa);
	assert_int_equal(facts_now().apic_id, 5);
	set_vendor("GenuineIntel", 7);
	assert_true(facts_now().has_tsc_adjust);
	set_vendor("GenuineIntel", 6);
	assert_false(facts_now().has_tsc_adjust);
	set_vendor("GenuineIntel", 1);
	assert_true(facts_now().has_tsc);
	set_vendor("GenuineIntel", 0);
	assert_false(facts_now().has_tsc);
	assert_int_equal(facts_now().apic_id, 0);
}

TEST(an_extended_leaf_beyond_the_maximum_is_not_read)
{
	set_extended_max(0x80000007);
	assert_true(facts_now().tsc_is_invariant);
	assert_int_equal(facts_now().extended_leaf_max, 0x80000007);
	set_extended_max(0x80000006);
	assert_false(facts_now().tsc_is_invariant);
	set_extended_max(0x80000001);
	assert_true(facts_now().has_rdtscp);
	set_extended_max(0x80000000);
	assert_false(facts_now().has_rdtscp);
	/* A CPU without extended leaves returns other data for them. */
	set_extended_max(0x7fffffff);
	assert_int_equal(facts_now().extended_leaf_max, 0);
	assert_false(facts_now().has_rdtscp);
}

/*
 * With two cores of QEMU's -cpu max, Linux 6.1 prints "Marking TSC unstable due to TSCs unsynchronized", and with one
 * core it does not.
 */
TEST(linux_distrusts_a_tsc_of_several_cores_that_is_not_invariant_and_not_intels, NULL, NULL)
{
	struct cpu_facts facts = { .vendor = "AuthenticAMD" };

	assert_true(cpu_does_linux_distrust_tsc(&facts, 2));
	assert_false(cpu_does_linux_distrust_tsc(&facts, 1));
	facts.tsc_is_invariant = true;
	assert_false(cpu_does_linux_distrust_tsc(&facts, 2));
	facts.tsc_is_invariant = false;
	memcpy(facts.hypervisor, "VMwareVMware", 13);
	assert_false(cpu_does_linux_distrust_tsc(&facts, 2));
	memcpy(facts.hypervisor, "Microsoft Hv", 13);
	assert_false(cpu_does_linux_distrust_tsc(&facts, 2));
	facts = (struct cpu_facts){ .vendor = "GenuineIntel" };
	assert_false(cpu_does_linux_distrust_tsc(&facts, 2));
}

TEST(the_apic_id_is_from_leaf_b_if_it_counts_logical_processors)
{
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0, 0xfe123456, 0, 0 });
	sim_cpuid_set(0xb, 0, (struct hw_cpuid){ 1, 2, 0x100, 0x12345678 });
	assert_int_equal(facts_now().apic_id, 0x12345678);
	sim_cpuid_set(0xb, 0, (struct hw_cpuid){ 1, 0, 0x100, 0x12345678 });
	assert_int_equal(facts_now().apic_id, 0xfe);
}

/* --- LFENCE --- */

TEST(lfence_serialises_on_intel_and_on_amd_if_its_bit_is_set)
{
	set_extended_max(0x80000021);
	set_vendor("GenuineIntel", 1);
	assert_true(facts_now().lfence_serialises);
	set_vendor("CentaurHauls", 1);
	assert_true(facts_now().lfence_serialises);
	set_vendor("  Shanghai  ", 1);
	assert_true(facts_now().lfence_serialises);
	set_vendor("GenuineTMx86", 1);
	assert_false(facts_now().lfence_serialises);
	set_vendor("HygonGenuine", 1);
	assert_false(facts_now().lfence_serialises);
	set_vendor("AuthenticAMD", 1);
	assert_false(facts_now().lfence_serialises);
	sim_cpuid_set(0x80000021, 0, (struct hw_cpuid){ ~(1u << 2), ~0u, ~0u, ~0u });
	assert_false(facts_now().lfence_serialises);
	sim_cpuid_set(0x80000021, 0, (struct hw_cpuid){ 1u << 2, 0, 0, 0 });
	assert_true(facts_now().lfence_serialises);
	set_vendor("HygonGenuine", 1);
	assert_true(facts_now().lfence_serialises);
	set_vendor("GenuineTMx86", 1); /* this vendor does not define the bit */
	assert_false(facts_now().lfence_serialises);
	set_vendor("AuthenticAMD", 1);
	set_extended_max(0x80000020);
	assert_false(facts_now().lfence_serialises);
}

/* --- SMIs --- */

#define SSE4_2 (1u << 20)

static bool
counts_smis(uint32_t family_model, uint32_t ecx)
{
	sim_cpuid_set(0x1, 0, (struct hw_cpuid){ family_model, 0, ecx, 1u << 4 });
	return facts_now().counts_smis;
}

TEST(smis_are_counted_on_intels_families_6_18_and_19_with_sse4_2_on_bare_metal)
{
	assert_true(counts_smis(0x000106a5, SSE4_2));  /* Nehalem */
	assert_true(counts_smis(0x00030673, SSE4_2));  /* Silvermont */
	assert_false(counts_smis(0x0001067a, 1u << 19)); /* a Core 2, which has only SSE4.1 */
	assert_false(counts_smis(0x000106c2, 0));      /* Bonnell */
	assert_false(counts_smis(0x00000f29, SSE4_2)); /* family 15 */
	assert_true(counts_smis(0x00300f10, SSE4_2));  /* family 18: Nova Lake */
	assert_true(counts_smis(0x00400f10, SSE4_2));  /* family 19: Diamond Rapids */
	set_vendor("AuthenticAMD", 1);
	assert_false(counts_smis(0x000106a5, SSE4_2));
	set_vendor("GenuineIntel", 0);
	assert_false(counts_smis(0x000106a5, SSE4_2));
}

static bool
counts_smis_under(const char *hypervisor)
{
	set_hypervisor(hypervisor, 0x40000001);
	return counts_smis(0x000106a5, SSE4_2 | UINT32_C(1) << 31);
}

TEST(in_a_guest_smis_are_read_only_under_tcg_which_never_faults)
{
	set_vendor("GenuineIntel", 1);
	assert_false(counts_smis_under("KVMKVMKVM\0\0"));
	assert_true(counts_smis_under("TCGTCGTCGTCG"));
	assert_false(counts_smis_under("Microsoft Hv"));
	assert_false(counts_smis_under("VMwareVMware"));
	set_vendor("AuthenticAMD", 1);
	assert_false(counts_smis_under("KVMKVMKVM\0\0"));
	assert_true(counts_smis_under("TCGTCGTCGTCG"));
}

#define SEV_STATUS 0xc0010131u /* MSR SEV_STATUS: AMD APM vol. 2, 15.34.10 */

/*
 * Returns whether the memory of a KVM guest on an AMD processor counts as encrypted. EAX is the register of leaf
 * 8000001Fh, and STATUS is the value of MSR SEV_STATUS.
 */
static bool
is_encrypted_by_amd(uint32_t eax, uint64_t status)
{
	set_vendor("AuthenticAMD", 0x10);
	set_hypervisor("KVMKVMKVM\0\0\0", 0x40000001);
	set_extended_max(0x8000001f);
	sim_cpuid_set(0x8000001f, 0, (struct hw_cpuid){ eax, 51, 0, 0 });
	sim_msr_set(SEV_STATUS, status);
	return facts_now().memory_encrypted;
}

TEST(a_guests_memory_is_encrypted_only_if_sev_is_active)
{
	assert_true(is_encrypted_by_amd(1u << 1, 1));
	assert_true(is_encrypted_by_amd(1u << 1, 7)); /* SEV-ES and SEV-SNP are active */
	assert_false(is_encrypted_by_amd(1u << 1, 0));
	assert_false(is_encrypted_by_amd(1u << 0, 1)); /* with SME only, the host encrypts its own memory */
	set_extended_max(0x8000001e);
	assert_false(facts_now().memory_encrypted);
	is_encrypted_by_amd(1u << 1, 1);
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0 });
	/* the host supports encrypted guests, but this machine is not one */
	assert_false(facts_now().memory_encrypted);
}

TEST(the_memory_of_a_tdx_trust_domain_is_encrypted)
{
	set_vendor("GenuineIntel", 0x21);
	sim_cpuid_set(0x21, 0, (struct hw_cpuid){ 0, four("Inte"), four("    "), four("lTDX") });
	set_hypervisor("KVMKVMKVM\0\0\0", 0x40000001);
	assert_true(facts_now().memory_encrypted);
	sim_cpuid_set(0x21, 0, (struct hw_cpuid){ 0 });
	assert_false(facts_now().memory_encrypted);
}

TEST(the_smi_count_is_the_low_half_of_its_msr)
{
	sim_msr_set(0x34, UINT64_C(0x7654321000000017));
	assert_int_equal(cpu_read_smi_count(), 0x17);
}

/* ECX of Intel's topology leaves: number and type of a level */
#define LEVEL(n, type) ((uint32_t)(type) << 8 | (n))
#define THREAD 1
#define CORE   2
#define DIE    5

static struct core_facts
core_now(void)
{
	struct core_facts core;

	memset(&core, 0xa5, sizeof(core));
	cpu_read_core_facts(&core);
	return core;
}

static void
assert_place(uint32_t package, uint32_t core, uint32_t thread)
{
	struct core_facts now = core_now();

	assert_true(now.has_topology);
	assert_int_equal(now.package, package);
	assert_int_equal(now.core, core);
	assert_int_equal(now.thread, thread);
}

/*
 * Sets Intel's topology leaf of a core with ID. One bit of the id is the thread, and the next three bits are the core.
 */
static void
set_levels(uint32_t leaf, uint32_t id)
{
	sim_cpuid_set(leaf, 0, (struct hw_cpuid){ 1, 2, LEVEL(0, THREAD), id });
	sim_cpuid_set(leaf, 1, (struct hw_cpuid){ 4, 12, LEVEL(1, CORE), id });
	sim_cpuid_set(leaf, 2, (struct hw_cpuid){ 0, 0, LEVEL(2, 0), id });
}

TEST(tsc_adjust_is_signed_and_read_only_if_cpuid_reports_it)
{
	sim_msr_set(0xc0000103, 0);
	sim_msr_set(0x3b, (uint64_t)-2000);
	assert_true(core_now().has_tsc_adjust);
	assert_int_equal(core_now().tsc_adjust, -2000);
	sim_cpuid_set(7, 0, (struct hw_cpuid){ ~0u, ~(1u << 1), ~0u, ~0u });
	uint64_t before = sim.count[SIM_MSR_READ];

	assert_false(core_now().has_tsc_adjust);
	assert_int_equal(core_now().tsc_adjust, 0);
	assert_int_equal(sim.count[SIM_MSR_READ] - before, 2); /* TSC_AUX is read twice */
	assert_int_equal(sim.count[SIM_MSR_WRITE], 0);
}

TEST(tsc_aux_has_32_bits_and_is_read_only_with_rdtscp)
{
	sim_msr_set(0xc0000103, UINT64_C(0x1234567800001007));
	assert_true(core_now().has_tsc_aux);
	assert_int_equal(core_now().tsc_aux, 0x1007);
	sim_cpuid_set(0x80000001, 0, (struct hw_cpuid){ ~0u, ~0u, ~0u, ~(1u << 27) });
	uint64_t before = sim.count[SIM_MSR_READ];

	assert_false(core_now().has_tsc_aux);
	assert_int_equal(core_now().tsc_aux, 0);
	assert_int_equal(sim.count[SIM_MSR_READ] - before, 2); /* TSC_ADJUST is read twice */
}

TEST(apic_id_37_with_1_bit_of_threads_and_4_of_both_is_package_2_core_2_thread_1)
{
	sim_msr_set(0xc0000103, 0);
	set_levels(0xb, 37);
	assert_place(2, 2, 1);
	sim_cpuid_set(0xb, 0, (struct hw_cpuid){ 0, 1, LEVEL(0, THREAD), 37 });
	assert_place(2, 5, 0); /* the core has one thread, so its id has no bit for the thread */
	set_levels(0xb, 0xffffffff);
	assert_place(0x0fffffff, 7, 1);
}

TEST(leaf_1f_is_used_before_leaf_b_and_dies_belong_to_the_package)
{
	sim_msr_set(0xc0000103, 0);
	set_levels(0xb, 37);
	set_vendor("GenuineIntel", 0x1f);
	assert_place(2, 2, 1); /* leaf 1Fh is allowed by the maximum leaf, but it is empty */
	set_levels(0x1f, 37);
	sim_cpuid_set(0x1f, 2, (struct hw_cpuid){ 5, 24, LEVEL(2, DIE), 37 });
	sim_cpuid_set(0x1f, 3, (struct hw_cpuid){ 0, 0, LEVEL(3, 0), 37 });
	assert_place(1, 2, 1);
	set_vendor("GenuineIntel", 0x1e);
	assert_place(2, 2, 1);
}

TEST(topology_levels_without_an_end_are_read_up_to_the_8th)
{
	sim_msr_set(0xc0000103, 0);
	for (uint32_t i = 0; i < 20; i++)
		sim_cpuid_set(0xb, i, (struct hw_cpuid){ i + 1, 2, LEVEL(i, CORE), 0x1ff });
	assert_place(1, 0xff, 0);
}

TEST(on_amd_without_leaf_b_leaf_8000001e_splits_the_id)
{
	sim_msr_set(0xc0000103, 0);
	set_vendor("AuthenticAMD", 0xd);
	set_extended_max(0x8000001e);
	sim_cpuid_set(0x80000001, 0, (struct hw_cpuid){ 0, 0, 1u << 22, 1u << 27 });
	sim_cpuid_set(0x80000008, 0, (struct hw_cpuid){ 0, 0, 4u << 12 | 11, 0 });
	sim_cpuid_set(0x8000001e, 0, (struct hw_cpuid){ 37, 1u << 8 | 2, 0, 0 });
	assert_place(2, 2, 1);
	/* If ECX states no size of the id, the id has as many bits as the 12 threads need, which is 4. */
	sim_cpuid_set(0x80000008, 0, (struct hw_cpuid){ 0, 0, 11, 0 });
	assert_place(2, 2, 1);
	sim_cpuid_set(0x80000008, 0, (struct hw_cpuid){ 0, 0, 15, 0 });
	assert_place(2, 2, 1);
	sim_cpuid_set(0x80000008, 0, (struct hw_cpuid){ 0, 0, 16, 0 });
	assert_place(1, 2, 1);
	set_extended_max(0x8000001d);
	assert_false(core_now().has_topology);
	set_extended_max(0x8000001e);
	sim_cpuid_set(0x80000001, 0, (struct hw_cpuid){ 0, 0, ~(1u << 22), ~0u });
	assert_false(core_now().has_topology);
	set_levels(0xb, 21);
	assert_place(1, 2, 1);
}

TEST(the_threads_of_a_package_are_from_its_last_level_or_leaf_1)
{
	set_levels(0xb, 21);
	assert_int_equal(cpu_count_threads(), 12);
	sim_cpuid_set(0xb, 0, (struct hw_cpuid){ 0, 0, 0, 0 });
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0, 4u << 16, 0, 1u << 28 });
	assert_int_equal(cpu_count_threads(), 4);
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0, 4u << 16, 0, 0 });
	assert_int_equal(cpu_count_threads(), 1);
}

TEST(a_topology_that_is_contradictory_or_missing_is_unknown)
{
	sim_msr_set(0xc0000103, 0);
	assert_false(core_now().has_topology);
	sim_cpuid_set(0xb, 0, (struct hw_cpuid){ 4, 2, LEVEL(0, THREAD), 37 });
	sim_cpuid_set(0xb, 1, (struct hw_cpuid){ 1, 12, LEVEL(1, CORE), 37 });
	assert_false(core_now().has_topology);
	assert_int_equal(core_now().package, 0);
}
