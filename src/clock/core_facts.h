/* Properties of a core, which each core reads from its own registers. */
#ifndef BARETICK_CORE_FACTS_H
#define BARETICK_CORE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct core_facts {
	bool has_tsc_adjust; /* CPUID 7h EBX[1]: the core has the MSR IA32_TSC_ADJUST */
	bool has_tsc_aux;    /* CPUID 80000001h EDX[27]: the core has RDTSCP, and so the MSR IA32_TSC_AUX */
	bool has_topology;   /* true if CPUID leaf 1Fh, 0Bh or AMD's 8000001Eh describes the parts of the APIC id */
	int64_t tsc_adjust;  /* value of IA32_TSC_ADJUST (MSR 3Bh) in TSC ticks */
	uint32_t tsc_aux;    /* value of IA32_TSC_AUX (MSR C0000103h) */
	/* parts of the APIC id: number of the package, of the core in the package, and of the thread in the core */
	uint32_t package, core, thread;
};

#endif
