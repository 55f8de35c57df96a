/* Facts that each core reads about itself, without judging them. */
#ifndef BARETICK_CORE_FACTS_H
#define BARETICK_CORE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct core_facts {
	bool has_tsc_adjust; /* CPUID 7h EBX[1] */
	bool has_tsc_aux;    /* RDTSCP, CPUID 80000001h EDX[27] */
	bool has_topology;   /* CPUID 1Fh or Bh, or AMD's 8000001Eh */
	int64_t tsc_adjust;  /* IA32_TSC_ADJUST, MSR 3Bh, in ticks */
	uint32_t tsc_aux;    /* IA32_TSC_AUX, MSR C0000103h */
	uint32_t package, core, thread; /* the APIC id split up: core within package, thread within core */
};

#endif
