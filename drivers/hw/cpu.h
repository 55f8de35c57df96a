/* Facts from CPUID about clocks and cores. A leaf is read only if the maximum leaf allows it. */
#ifndef BARETICK_CPU_H
#define BARETICK_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/core_facts.h"

struct cpu_facts {
	char vendor[13];     /* name from CPUID 0h, unchanged */
	char brand[49];      /* CPUID 80000002h..4h without blanks at both ends; "" if there is none */
	char hypervisor[13]; /* name from CPUID 40000000h; "" if CPUID 1h ECX[31] is clear, as on bare metal */
	uint32_t basic_leaf_max;
	uint32_t extended_leaf_max;
	/* initial APIC id of the calling core, from leaf Bh if the leaf is valid, otherwise from leaf 1h */
	uint32_t apic_id;
	bool has_tsc;
	bool has_rdtscp;
	bool has_tsc_adjust;     /* CPUID 7h EBX[1]: IA32_TSC_ADJUST exists */
	bool tsc_is_invariant;   /* CPUID 80000007h EDX[8]: the TSC has a constant rate in all power states */
	bool lapic_always_runs;  /* CPUID 6h EAX[2]: the local APIC's timer runs in all sleep states */
	/*
	 * true if LFENCE waits for earlier instructions, as on Intel, and on AMD and Hygon with CPUID 80000021h EAX[2]
	 */
	bool lfence_serialises;
	bool counts_smis;        /* true if the MSR that counts SMIs can be read */
	bool memory_encrypted;   /* true in an SEV guest or a TDX trust domain */
};

void cpu_read_facts(struct cpu_facts *facts);

/* Returns true for a CPU of AMD, or of Hygon, whose CPUs have AMD's registers. */
bool cpu_is_amd(const struct cpu_facts *facts);

/* Changes FACTS to describe a guest. Called if CPUID shows no hypervisor, but the ACPI tables are QEMU's. */
void cpu_mark_as_guest(struct cpu_facts *facts);

struct cpu_identity {
	bool known;         /* true if CPUID 1h exists, which reports the next three fields */
	uint32_t family, model, stepping; /* as in /proc/cpuinfo, with the extended fields */
	uint32_t microcode; /* microcode revision; 0 if unknown, or not read because the access might fault */
	/* the hypervisor's version, or the number of its highest CPUID leaf; "" if neither is known */
	char host[32];
};

/*
 * Reads the identity of the calling core. On Intel, writes 0 to MSR 8Bh, because the SDM requires this before the
 * microcode revision is read.
 */
void cpu_read_identity(const struct cpu_facts *facts, struct cpu_identity *identity);

/*
 * Returns true if Linux treats the TSCs of CORES cores as unsynchronised before it measures them. Linux does so if
 * there are several cores and the TSC's rate is not constant. The rate is constant if the invariant bit is set, or for
 * certain families of Intel, Centaur and Zhaoxin. In VMware and Hyper-V guests Linux may trust the TSC for other
 * reasons.
 */
bool cpu_does_linux_distrust_tsc(const struct cpu_facts *facts, size_t cores);

/* Returns the number of SMIs of the calling core since its reset, modulo 2^32. Call it only if counts_smis is true. */
uint32_t cpu_read_smi_count(void);

/* Returns the number of threads in the calling core's package according to CPUID, at least 1. */
uint32_t cpu_count_threads(void);

/* Returns the calling core's APIC id, as in struct cpu_facts. */
uint32_t cpu_read_apic_id(void);

/* Reads facts about the calling core. Reads MSRs only if CPUID reports them, and writes no MSR. */
void cpu_read_core_facts(struct core_facts *core);

#endif
