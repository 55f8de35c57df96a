/* Facts that each core reads from its own registers. */
#ifndef BARETICK_CORE_FACTS_H
#define BARETICK_CORE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct core_facts {
	bool has_tsc_adjust; /* true if the core has IA32_TSC_ADJUST: CPUID 7h EBX[1] */
	bool has_tsc_aux;    /* true if the core has RDTSCP: CPUID 80000001h EDX[27] */
	bool has_topology;   /* true if CPUID 1Fh, 0Bh or AMD's 8000001Eh gives the parts of the APIC id */
	int64_t tsc_adjust;  /* IA32_TSC_ADJUST, MSR 3Bh, in TSC ticks */
	uint32_t tsc_aux;    /* IA32_TSC_AUX, MSR C0000103h */
	uint32_t package, core, thread; /* parts of the APIC id: core within the package, thread within the core */
};

#endif
