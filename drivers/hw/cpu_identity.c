/* Reads the identity of the CPU and of the hypervisor. See cpu.h. */
#include "base/text.h"
#include "hw/cpu.h"
#include "hw/cpuid.h"
#include "hw/hw.h"

#define MSR_MICROCODE 0x0000008bu /* IA32_BIOS_SIGN_ID of Intel (SDM vol. 4), PatchLevel of AMD (APM vol. 2) */
#define FAMILY_15     0x0fu       /* first AMD family with MSR_MICROCODE: 0Fh (K8) */

static void
read_signature(struct cpu_identity *identity)
{
	struct hw_cpuid r = hw_cpuid(LEAF_FEATURES, 0);

	identity->known = true;
	identity->family = FEATURES_EAX_WHOLE_FAMILY(r);
	identity->model = FEATURES_EAX_WHOLE_MODEL(r);
	identity->stepping = FEATURES_EAX_STEPPING(r);
}

/*
 * Returns the microcode revision, or 0 if unknown. On Intel, 0 is written to the MSR, CPUID is executed, and the upper
 * half is read (SDM vol. 3A, Microcode Update Resources). On AMD the lower half is read (APM vol. 2, Microcode Patch
 * Level). These accesses work under KVM and TCG, but may fault under other hypervisors.
 */
static uint32_t
read_microcode(const struct cpu_facts *facts, uint32_t family)
{
	const char *host = facts->hypervisor;

	if (host[0] && !text_equal(host, "KVMKVMKVM") && !text_equal(host, "TCGTCGTCGTCG"))
		return 0;
	if (text_equal(facts->vendor, "GenuineIntel") && family >= FAMILY_6) { /* the first Intel family with the MSR */
		hw_msr_write(MSR_MICROCODE, 0);
		hw_cpuid(LEAF_FEATURES, 0);
		return (uint32_t)(hw_msr_read(MSR_MICROCODE) >> 32);
	}
	if (cpu_is_amd(facts) && family >= FAMILY_15)
		return (uint32_t)hw_msr_read(MSR_MICROCODE);
	return 0;
}

/*
 * Writes the hypervisor's version to HOST. Hyper-V reports its version in a leaf. For other hypervisors HOST is the
 * number of the highest leaf, which depends on the version.
 */
static void
read_hypervisor_version(const struct cpu_facts *facts, char *host, size_t size)
{
	uint32_t max = hw_cpuid(LEAF_HYPERVISOR_MAX, 0).eax;
	struct hw_cpuid r;
	struct text text = text_start(host, size);

	if (text_equal(facts->hypervisor, "Microsoft Hv") && max >= LEAF_HYPERVISOR_BUILD) {
		r = hw_cpuid(LEAF_HYPERVISOR_BUILD, 0);
		text_printf(&text, "version %u.%u.%u", r.ebx >> 16, r.ebx & 0xffff, r.eax);
	} else if (max > LEAF_HYPERVISOR_MAX) {
		text_printf(&text, "CPUID leaves to %xh", max);
	}
}

void
cpu_read_identity(const struct cpu_facts *facts, struct cpu_identity *identity)
{
	*identity = (struct cpu_identity){ .known = false };
	if (facts->basic_leaf_max >= LEAF_FEATURES) {
		read_signature(identity);
		identity->microcode = read_microcode(facts, identity->family);
	}
	if (facts->hypervisor[0])
		read_hypervisor_version(facts, identity->host, sizeof(identity->host));
}
