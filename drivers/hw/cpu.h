/* What CPUID says that matters to clocks and cores. Facts only; each leaf is read under its own maximum. */
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
	uint32_t apic_id;        /* of the core that asked, its initial one: leaf Bh where it counts, else leaf 1h */
	bool has_tsc;
	bool has_rdtscp;
	bool has_tsc_adjust;     /* CPUID 7h EBX[1] */
	bool tsc_is_invariant;   /* CPUID 80000007h EDX[8] */
	bool lapic_always_runs;  /* CPUID 6h EAX[2]: its timer does, in any sleep */
	bool lfence_serialises;  /* Intel: always; AMD and Hygon: only where CPUID 80000021h EAX[2] says so */
	bool counts_smis;        /* and may be asked for the count */
	bool memory_encrypted;   /* an SEV guest or a TDX trust domain */
	struct rate tsc_crystal;    /* claim of leaf 15h: crystal times ratio; den 0 where it makes none */
	struct rate tsc_base;       /* claim of leaf 16h: base MHz, rounded by the vendor; likewise */
};

void cpu_read_facts(struct cpu_facts *facts);

/* Something else shows that this is a guest, whose hypervisor hides from CPUID. */
void cpu_take_for_guest(struct cpu_facts *facts);

struct cpu_identity {
	bool known;         /* there is a CPUID 1h: */
	uint32_t family, model, stepping; /* as /proc/cpuinfo has them, with their extensions */
	uint32_t microcode; /* its revision; 0: not known, or not asked for where that might fault */
	char host[32];      /* what the hypervisor says of itself beyond its name; "": nothing, or there is none */
};

/* Of the core that asks. Writes MSR 8Bh on Intel's, which takes the write for a question. */
void cpu_read_identity(const struct cpu_facts *facts, struct cpu_identity *identity);

/*
 * Whether Linux takes the TSC of CORES cores for unsynchronised before it measures anything: more than one, no
 * constant rate (which it sees in the invariant TSC, or in the family of Intel's, Centaur's and Zhaoxin's), and no
 * VMware or Hyper-V beneath, which may vouch for it by ways of their own.
 */
bool cpu_tsc_is_distrusted(const struct cpu_facts *facts, size_t cores);

/* The SMIs that the core which asks has taken since its reset, modulo 2^32. Only where counts_smis. */
uint32_t cpu_smi_count(void);

/* How many threads the package of the core that asks has, as CPUID says; at least 1. */
uint32_t cpu_threads(void);

/* The APIC id of the core that asks, as in cpu_facts. */
uint32_t cpu_apic_id(void);

/* What the core that asks says of itself. Reads its MSRs where CPUID has them, and writes none. */
void cpu_read_core(struct core_facts *core);

#endif
