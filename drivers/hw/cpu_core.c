/* Reads facts about one core: its TSC_ADJUST, and its position in the package. See cpu.h. */
#include "hw/cpu.h"
#include "hw/cpuid.h"
#include "hw/hw.h"

#define MSR_TSC_ADJUST 0x0000003bu /* IA32_TSC_ADJUST: SDM vol. 4, table 2-2 */
#define MSR_TSC_AUX    0xc0000103u

/*
 * The parts of an APIC id: the thread's number starts at bit 0, the core's number at bit thread_bits, and the package's
 * number at bit package_bits.
 */
struct split {
	uint32_t apic_id;
	uint32_t thread_bits, package_bits;
};

/* Splits the APIC id by a CPUID leaf whose subleaves describe the levels of the topology. */
static bool
split_apic_id_by_levels(uint32_t leaf, struct split *split)
{
	uint32_t level = 0;

	for (; level < LEVELS_MAX; level++) {
		struct hw_cpuid r = hw_cpuid(leaf, level);

		if (TOPOLOGY_ECX_TYPE(r) == TYPE_NONE || (r.ebx & TOPOLOGY_EBX_COUNT) == 0)
			break;
		split->apic_id = r.edx;
		split->package_bits = r.eax & TOPOLOGY_EAX_SHIFT;
		if (TOPOLOGY_ECX_TYPE(r) == TYPE_THREAD)
			split->thread_bits = split->package_bits;
	}
	return level > 0;
}

/* Returns the number of bits that are needed to number COUNT items. */
static uint32_t
get_bits_for_count(uint32_t count)
{
	uint32_t bits = 0;

	while (UINT32_C(1) << bits < count)
		bits++;
	return bits;
}

static bool
split_apic_id_by_amd_leaf(const struct cpu_facts *facts, struct split *split)
{
	struct hw_cpuid core, sizes;

	if (facts->extended_leaf_max < LEAF_AMD_CORE ||
	    !(hw_cpuid(LEAF_EXTENDED, 0).ecx & EXTENDED_ECX_TOPOLOGY))
		return false;
	core = hw_cpuid(LEAF_AMD_CORE, 0);
	sizes = hw_cpuid(LEAF_SIZES, 0);
	split->apic_id = core.eax;
	split->thread_bits = get_bits_for_count(CORE_EBX_THREADS(core));
	split->package_bits = SIZES_ECX_ID_BITS(sizes) ? SIZES_ECX_ID_BITS(sizes) :
							 get_bits_for_count(SIZES_ECX_COUNT(sizes));
	return true;
}

/*
 * Finds the parts of the APIC id. Returns false on older processors, which report only the maximum number of threads in
 * a package.
 */
static bool
split_apic_id(const struct cpu_facts *facts, struct split *split)
{
	uint32_t max = facts->basic_leaf_max;

	return (max >= LEAF_TOPOLOGY_V2 && split_apic_id_by_levels(LEAF_TOPOLOGY_V2, split)) ||
	       (max >= LEAF_TOPOLOGY && split_apic_id_by_levels(LEAF_TOPOLOGY, split)) ||
	       split_apic_id_by_amd_leaf(facts, split);
}

void
cpu_read_core_facts(struct core_facts *core)
{
	struct cpu_facts facts;
	struct split split = { 0, 0, 0 };

	cpu_read_facts(&facts);
	*core = (struct core_facts){
		.has_tsc_adjust = facts.has_tsc_adjust,
		.has_tsc_aux = facts.has_rdtscp,
		.has_topology = split_apic_id(&facts, &split) && split.thread_bits <= split.package_bits,
	};
	if (core->has_tsc_adjust)
		core->tsc_adjust = (int64_t)hw_msr_read(MSR_TSC_ADJUST);
	if (core->has_tsc_aux)
		core->tsc_aux = (uint32_t)hw_msr_read(MSR_TSC_AUX);
	if (!core->has_topology)
		return;
	uint32_t within_package = split.apic_id & ((UINT32_C(1) << split.package_bits) - 1);

	core->package = split.apic_id >> split.package_bits;
	core->core = within_package >> split.thread_bits;
	core->thread = within_package & ((UINT32_C(1) << split.thread_bits) - 1);
}
