/* Facts from CPUID about clocks and cores. A leaf is read only if the maximum leaf allows it. */
#ifndef BARETICK_CPU_H
#define BARETICK_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/core_facts.h"

struct cpu_facts {
	char vendor[13];     /* CPUID 0h, as it reads */
	char brand[49];      /* CPUID 80000002h..4h, blanks at both ends removed; "" where there is none */
	char hypervisor[13]; /* CPUID 40000000h; "" on bare metal (CPUID 1h ECX[31] clear) */
	uint32_t basic_leaf_max;
	uint32_t extended_leaf_max;
	uint32_t apic_id;        /* initial APIC id of the calling core: from leaf Bh if valid, else leaf 1h */
	bool has_tsc;
	bool has_rdtscp;
	bool has_tsc_adjust;     /* CPUID 7h EBX[1] */
	bool tsc_is_invariant;   /* CPUID 80000007h EDX[8] */
	bool lapic_always_runs;  /* CPUID 6h EAX[2]: its timer does, in any sleep */
	bool lfence_serialises;  /* always on Intel; on AMD and Hygon if CPUID 80000021h EAX[2] is set */
	bool counts_smis;        /* the MSR with the count of SMIs may be read */
	bool memory_encrypted;   /* an SEV guest or a TDX trust domain */
	struct rate tsc_crystal;    /* from leaf 15h, crystal times ratio; den 0 if not given */
	struct rate tsc_base;       /* from leaf 16h, base MHz rounded by the vendor; den 0 if not given */
};

void cpu_read_facts(struct cpu_facts *facts);

/* Something else shows that this is a guest, whose hypervisor hides from CPUID. */
void cpu_take_for_guest(struct cpu_facts *facts);

struct cpu_identity {
	bool known;         /* there is a CPUID 1h: */
	uint32_t family, model, stepping; /* as /proc/cpuinfo has them, with their extensions */
	uint32_t microcode; /* microcode revision, or 0 if not known or not read because the access might fault */
	char host[32];      /* the hypervisor's version or a similar text; "" if there is none */
};

/* Reads the identity of the calling core. On Intel it writes 0 to MSR 8Bh, which the SDM requires for the revision. */
void cpu_read_identity(const struct cpu_facts *facts, struct cpu_identity *identity);

/*
 * Returns true if Linux treats the TSCs of CORES cores as unsynchronised before it measures them. It does so for
 * several cores without a constant TSC rate. Linux knows the rate as constant by the invariant bit, or by the family
 * of Intel, Centaur and Zhaoxin processors. VMware and Hyper-V may confirm the TSC in their own ways.
 */
bool cpu_tsc_is_distrusted(const struct cpu_facts *facts, size_t cores);

/* The SMIs that the core which asks has taken since its reset, modulo 2^32. Only where counts_smis. */
uint32_t cpu_smi_count(void);

/* How many threads the package of the core that asks has, as CPUID says; at least 1. */
uint32_t cpu_threads(void);

/* The APIC id of the core that asks, as in cpu_facts. */
uint32_t cpu_apic_id(void);

/* Reads the facts of the calling core. Reads MSRs only if CPUID reports them, and writes none. */
void cpu_read_core(struct core_facts *core);

#endif
