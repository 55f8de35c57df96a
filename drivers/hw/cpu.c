/* Reads facts about the CPU from CPUID. See cpu.h. */
#include "base/text.h"
#include "hw/cpu.h"
#include "hw/cpuid.h"
#include "hw/hw.h"

#define MSR_SMI_COUNT 0x00000034u /* number of SMIs in bits 31:0; SDM vol. 4, MSRs of Nehalem and of Silvermont */
#define MSR_SEV_STATUS 0xc0010131u /* APM vol. 2, 15.34.10: bit 0 SEV, bit 1 SEV-ES, bit 2 SEV-SNP */
#define SEV_ACTIVE    UINT64_C(7)

#define UNNAMED "unknown" /* name of a hypervisor that reports no name, because "" means that there is no hypervisor */

/* Appends the four characters in a CPUID register to TEXT, lowest byte first. Returns the new end of TEXT. */
static char *
append_4_characters(char *text, uint32_t value)
{
	for (unsigned i = 0; i < sizeof(value); i++, value >>= 8) {
		char c = (char)(value & 0xff);

		*text++ = c == 0 || (c >= ' ' && c <= '~') ? c : '?';
	}
	return text;
}

/* Removes the blanks at both ends of TEXT. */
static void
remove_outer_blanks(char *text)
{
	size_t first = 0, length = text_length(text);

	while (text[first] == ' ')
		first++;
	while (length > first && text[length - 1] == ' ')
		length--;
	for (size_t i = first; i < length; i++)
		text[i - first] = text[i];
	text[length - first] = 0;
}

uint32_t
cpu_read_apic_id(void)
{
	uint32_t basic_leaf_max = hw_cpuid(0, 0).eax;
	struct hw_cpuid r = { 0, 0, 0, 0 };

	if (basic_leaf_max >= LEAF_TOPOLOGY)
		r = hw_cpuid(LEAF_TOPOLOGY, 0);
	if (r.ebx != 0) /* SDM vol. 2A: if EBX is 0, the leaf does not exist, even if it is below the maximum leaf */
		return r.edx;
	if (basic_leaf_max >= LEAF_FEATURES)
		return hw_cpuid(LEAF_FEATURES, 0).ebx >> FEATURES_EBX_APIC_SHIFT;
	return 0;
}

uint32_t
cpu_count_threads(void)
{
	uint32_t basic_leaf_max = hw_cpuid(0, 0).eax, count = 0;
	struct hw_cpuid r;

	if (basic_leaf_max >= LEAF_TOPOLOGY)
		for (uint32_t level = 0; level < LEVELS_MAX; level++) {
			r = hw_cpuid(LEAF_TOPOLOGY, level);
			if (TOPOLOGY_ECX_TYPE(r) == TYPE_NONE)
				break;
			/*
			 * A level's count includes all lower levels, so the last level's count is the number of threads
			 * in the package.
			 */
			count = r.ebx & TOPOLOGY_EBX_COUNT;
		}
	if (!count && basic_leaf_max >= LEAF_FEATURES) {
		r = hw_cpuid(LEAF_FEATURES, 0);
		count = r.edx & FEATURES_EDX_THREADS ? FEATURES_EBX_COUNT(r) : 0;
	}
	return count ? count : 1;
}

static void
read_features(struct cpu_facts *facts, bool *hypervisor)
{
	struct hw_cpuid r;

	if (facts->basic_leaf_max >= LEAF_FEATURES) {
		r = hw_cpuid(LEAF_FEATURES, 0);
		facts->has_tsc = r.edx & FEATURES_EDX_TSC;
		*hypervisor = r.ecx & FEATURES_ECX_HYPERVISOR;
	}
	if (facts->basic_leaf_max >= LEAF_THERMAL)
		facts->lapic_always_runs = hw_cpuid(LEAF_THERMAL, 0).eax & THERMAL_EAX_ARAT;
	if (facts->basic_leaf_max >= LEAF_STRUCTURED)
		facts->has_tsc_adjust = hw_cpuid(LEAF_STRUCTURED, 0).ebx & STRUCTURED_EBX_ADJUST;
	facts->apic_id = cpu_read_apic_id();
}

static void
name_unknown_hypervisor(struct cpu_facts *facts)
{
	for (unsigned i = 0; i < sizeof(UNNAMED); i++)
		facts->hypervisor[i] = UNNAMED[i];
}

void
cpu_mark_as_guest(struct cpu_facts *facts)
{
	name_unknown_hypervisor(facts);
	facts->counts_smis = false;
}

static void
read_hypervisor(struct cpu_facts *facts)
{
	struct hw_cpuid r = hw_cpuid(LEAF_HYPERVISOR_MAX, 0);

	append_4_characters(append_4_characters(append_4_characters(facts->hypervisor, r.ebx), r.ecx), r.edx);
	remove_outer_blanks(facts->hypervisor);
	if (facts->hypervisor[0] == 0)
		name_unknown_hypervisor(facts);
}

static void
read_brand(struct cpu_facts *facts)
{
	char *end = facts->brand;

	for (uint32_t leaf = LEAF_BRAND_FIRST; leaf <= LEAF_BRAND_LAST; leaf++) {
		struct hw_cpuid r = hw_cpuid(leaf, 0);

		end = append_4_characters(append_4_characters(end, r.eax), r.ebx);
		end = append_4_characters(append_4_characters(end, r.ecx), r.edx);
	}
	remove_outer_blanks(facts->brand);
}

bool
cpu_is_amd(const struct cpu_facts *facts)
{
	return text_equal(facts->vendor, "AuthenticAMD") || text_equal(facts->vendor, "HygonGenuine");
}

/* Returns true if LFENCE waits for all earlier instructions. LFENCE alone then orders a read of the TSC. */
static bool
lfence_serialises(const struct cpu_facts *facts)
{
	/* LFENCE waits on the processors of Intel (SDM vol. 2B, RDTSC), Centaur and Zhaoxin. */
	if (text_equal(facts->vendor, "GenuineIntel") || text_equal(facts->vendor, "CentaurHauls") ||
	    text_equal(facts->vendor, "  Shanghai  "))
		return true;
	/*
	 * APM vol. 3, LFENCE: without this CPUID bit, LFENCE waits only if a bit in an MSR is set. baretick does not
	 * set it.
	 */
	if (cpu_is_amd(facts))
		return facts->extended_leaf_max >= LEAF_EXTENDED_2 &&
		       (hw_cpuid(LEAF_EXTENDED_2, 0).eax & EXTENDED_2_EAX_LFENCE);
	return false;
}

/*
 * Returns true if the MSR with the SMI count can be read without a fault. Intel's CPUs have this MSR since Nehalem
 * (Atoms since Silvermont), and CPUs since then are recognized by SSE4.2. Hypervisors may lack the MSR. KVM has it
 * since Linux 4.15, but a guest cannot detect this. QEMU's TCG has it for every CPU model.
 */
static bool
can_count_smis(const struct cpu_facts *facts)
{
	if (text_equal(facts->hypervisor, "TCGTCGTCGTCG"))
		return true;
	if (facts->hypervisor[0] || !text_equal(facts->vendor, "GenuineIntel") ||
	    facts->basic_leaf_max < LEAF_FEATURES)
		return false;
	struct hw_cpuid r = hw_cpuid(LEAF_FEATURES, 0);
	return IS_INTEL_CORE_FAMILY(r) && (r.ecx & FEATURES_ECX_SSE4_2);
}

bool
cpu_does_linux_distrust_tsc(const struct cpu_facts *facts, size_t cores)
{
	static const char *const trusted[] = { "GenuineIntel", "CentaurHauls", "  Shanghai  " };

	for (size_t i = 0; i < sizeof(trusted) / sizeof(trusted[0]); i++)
		if (text_equal(facts->vendor, trusted[i]))
			return false;
	return cores > 1 && !facts->tsc_is_invariant && !text_equal(facts->hypervisor, "VMwareVMware") &&
	       !text_equal(facts->hypervisor, "Microsoft Hv");
}

static bool
is_trust_domain(const struct cpu_facts *facts)
{
	char name[13] = "";

	if (facts->basic_leaf_max < LEAF_TDX)
		return false;
	struct hw_cpuid r = hw_cpuid(LEAF_TDX, 0);
	append_4_characters(append_4_characters(append_4_characters(name, r.ebx), r.edx), r.ecx);
	return text_equal(name, "IntelTDX    ");
}

static bool
is_memory_encrypted(const struct cpu_facts *facts)
{
	if (!facts->hypervisor[0])
		return false;
	if (is_trust_domain(facts))
		return true;
	return facts->extended_leaf_max >= LEAF_ENCRYPTION &&
	       (hw_cpuid(LEAF_ENCRYPTION, 0).eax & ENCRYPTION_EAX_SEV) && (hw_msr_read(MSR_SEV_STATUS) & SEV_ACTIVE);
}

uint32_t
cpu_read_smi_count(void)
{
	return (uint32_t)hw_msr_read(MSR_SMI_COUNT);
}

static void
read_extended_cpuid_leaves(struct cpu_facts *facts)
{
	uint32_t max = hw_cpuid(LEAF_EXTENDED_MAX, 0).eax;

	/* A CPU without extended leaves returns another leaf's EAX here. This value is below LEAF_EXTENDED_MAX. */
	if (max < LEAF_EXTENDED_MAX)
		return;
	facts->extended_leaf_max = max;
	if (max >= LEAF_EXTENDED)
		facts->has_rdtscp = hw_cpuid(LEAF_EXTENDED, 0).edx & EXTENDED_EDX_RDTSCP;
	if (max >= LEAF_BRAND_LAST)
		read_brand(facts);
	if (max >= LEAF_POWER)
		facts->tsc_is_invariant = hw_cpuid(LEAF_POWER, 0).edx & POWER_EDX_INVARIANT;
}

void
cpu_read_facts(struct cpu_facts *facts)
{
	struct hw_cpuid r = hw_cpuid(LEAF_BASIC_MAX, 0);
	bool hypervisor = false;

	*facts = (struct cpu_facts){ .basic_leaf_max = r.eax };
	append_4_characters(append_4_characters(append_4_characters(facts->vendor, r.ebx), r.edx), r.ecx);
	read_features(facts, &hypervisor);
	if (hypervisor)
		read_hypervisor(facts);
	read_extended_cpuid_leaves(facts);
	facts->lfence_serialises = lfence_serialises(facts);
	facts->counts_smis = can_count_smis(facts);
	facts->memory_encrypted = is_memory_encrypted(facts);
}
