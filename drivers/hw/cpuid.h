/* Leaves and fields of CPUID. For Intel see SDM vol. 2A, CPUID; for AMD see APM vol. 3, appendix E. */
#ifndef BARETICK_CPUID_H
#define BARETICK_CPUID_H

#define LEAF_BASIC_MAX      0x00000000u
#define LEAF_FEATURES       0x00000001u
#define LEAF_MWAIT          0x00000005u
#define LEAF_THERMAL        0x00000006u
#define LEAF_STRUCTURED     0x00000007u
#define LEAF_TOPOLOGY       0x0000000bu
#define LEAF_TSC_CRYSTAL    0x00000015u
#define LEAF_FREQUENCY      0x00000016u
#define LEAF_TOPOLOGY_V2    0x0000001fu /* same layout as leaf 0Bh */
#define LEAF_TDX            0x00000021u /* Intel TDX Module 1.5 ABI; reads "IntelTDX    " in a trust domain */
/* Leaves from 40000000h on belong to hypervisors: see drivers/paravirtual. */
#define LEAF_HYPERVISOR_MAX   0x40000000u
/* Hyper-V's version, from Microsoft's Hypervisor Top Level Functional Specification */
#define LEAF_HYPERVISOR_BUILD 0x40000002u
#define LEAF_EXTENDED_MAX   0x80000000u
#define LEAF_EXTENDED       0x80000001u
#define LEAF_BRAND_FIRST    0x80000002u
#define LEAF_BRAND_LAST     0x80000004u
#define LEAF_POWER          0x80000007u
#define LEAF_SIZES          0x80000008u
#define LEAF_AMD_CORE       0x8000001eu
#define LEAF_ENCRYPTION     0x8000001fu
#define LEAF_EXTENDED_2     0x80000021u

#define FEATURES_EAX_FAMILY(r)  ((r).eax >> 8 & 0xfu)
#define FEATURES_EAX_MODEL(r)   ((r).eax >> 4 & 0xfu)
#define FEATURES_EAX_STEPPING(r) ((r).eax & 0xfu)
#define FEATURES_EAX_FAMILY_MORE(r) ((r).eax >> 20 & 0xffu)
/* the family as Linux counts it: x86_family() in arch/x86/lib/cpu.c adds the extended family if the family is Fh */
#define FEATURES_EAX_WHOLE_FAMILY(r) \
	(FEATURES_EAX_FAMILY(r) + (FEATURES_EAX_FAMILY(r) == 0xfu ? FEATURES_EAX_FAMILY_MORE(r) : 0))
#define FAMILY_6 6u
/*
 * True for the family of Intel's CPUs since the Pentium Pro: family 6, and since 2026 also 18 (Nova Lake) and 19
 * (Diamond Rapids). Linux: arch/x86/include/asm/intel-family.h. Family 15 is the Pentium 4, which has other MSRs.
 */
#define IS_INTEL_CORE_FAMILY(r) (FEATURES_EAX_WHOLE_FAMILY(r) == FAMILY_6 || FEATURES_EAX_WHOLE_FAMILY(r) >= 18u)
/*
 * The model as Linux counts it: x86_model() adds the extended model from family 6 on. So it is used on Zhaoxin's CPUs,
 * too, whose family is 7.
 */
#define FEATURES_EAX_WHOLE_MODEL(r) \
	(FEATURES_EAX_MODEL(r) | (FEATURES_EAX_FAMILY(r) >= FAMILY_6 ? (r).eax >> 12 & 0xf0u : 0))
#define FEATURES_ECX_MONITOR    (1u << 3)
#define FEATURES_ECX_SSE4_2     (1u << 20)
#define FEATURES_ECX_DEADLINE   (1u << 24)
#define FEATURES_ECX_AVX        (1u << 28)
#define FEATURES_ECX_HYPERVISOR (1u << 31)
#define FEATURES_EDX_TSC        (1u << 4)
#define FEATURES_EDX_APIC       (1u << 9)
#define FEATURES_EBX_APIC_SHIFT 24
#define FEATURES_EBX_COUNT(r)   ((r).ebx >> 16 & 0xffu) /* number of APIC ids in the package; valid if EDX[28] is set */
#define FEATURES_EDX_THREADS    (1u << 28)
#define MWAIT_ECX_USED          3u /* MWAIT extensions, and interrupts as break events; Linux requires both */
/*
 * Number of sub-states of the deepest C-state. If it is not 0, Linux's hpet.c assumes that the processor can enter
 * PC10.
 */
#define MWAIT_EDX_DEEPEST       (0xfu << 28)
#define THERMAL_EAX_ARAT        (1u << 2)  /* the local APIC's timer runs in all C-states */
#define STRUCTURED_EBX_ADJUST   (1u << 1)
#define STRUCTURED_EDX_HYBRID   (1u << 15) /* the CPU has several kinds of cores */
#define TOPOLOGY_EAX_SHIFT      0x1fu
#define TOPOLOGY_EBX_COUNT      0xffffu
#define TOPOLOGY_ECX_TYPE(r)    ((r).ecx >> 8 & 0xffu)
/* our limit of the number of levels; there are six types of levels, and each occurs at most once */
#define LEVELS_MAX              8u
#define TYPE_NONE               0u
#define TYPE_THREAD             1u
#define FREQUENCY_EAX_MHZ       0xffffu
#define EXTENDED_ECX_TOPOLOGY   (1u << 22) /* the CPU has AMD's topology leaves ("TopologyExtensions") */
#define EXTENDED_EDX_RDTSCP     (1u << 27)
#define POWER_EDX_INVARIANT     (1u << 8)
/* number of bits of a core's id within its package ("ApicIdSize"); if 0, SIZES_ECX_COUNT is valid instead */
#define SIZES_ECX_ID_BITS(r)    ((r).ecx >> 12 & 0xfu)
#define SIZES_ECX_COUNT(r)      (((r).ecx & 0xffu) + 1) /* number of threads in the package ("NC" plus 1) */
#define CORE_EBX_THREADS(r)     (((r).ebx >> 8 & 0xffu) + 1)
#define ENCRYPTION_EAX_SEV      (1u << 1)
#define ENCRYPTION_EBX_BIT      0x3fu    /* number of the bit in a page table entry that marks an encrypted page */
#define EXTENDED_2_EAX_LFENCE   (1u << 2) /* LFENCE waits for all earlier instructions ("LFenceAlwaysSerializing") */

#endif
