/*
 * The rates that a machine states for its TSC, the timer of its local APICs, and its crystal. Each leaf, register or
 * page that may state a rate has one row. A row without a rate has a reason. Rates are not compared with measurements
 * here.
 */
#ifndef BARETICK_CLAIMS_H
#define BARETICK_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"

/* maximum number of rows, which is enough for a machine with four hypervisor interfaces */
#define CLAIMS_MAX         24
#define CLAIMS_RAW_MAX     24
#define CLAIM_SOURCE_SIZE  24
#define CLAIM_REASON_SIZE  80

/* A rate outside of these limits is ignored, because no such clock has it. */
#define CLAIM_HZ_MIN UINT64_C(1000000)
#define CLAIM_HZ_MAX UINT64_C(100000000000)

enum claim_source {
	CLAIM_LEAF_15,        /* CPUID leaf 15h, which states the crystal's rate and the TSC's ratio to it */
	CLAIM_LEAF_15_FIXED,  /* CPUID leaf 15h without the crystal's rate, on an Atom with a documented crystal */
	CLAIM_LEAF_15_16,     /* CPUID leaf 15h without the crystal's rate, which is calculated from leaf 16h */
	CLAIM_LEAF_16,        /* CPUID leaf 16h, which states the base frequency in MHz */
	CLAIM_KHZ_LEAF,       /* a hypervisor's CPUID leaf base+10h */
	CLAIM_HYPERV,         /* MSRs 40000022h and 40000023h */
	CLAIM_XEN,            /* Xen's CPUID leaf base+3 */
	CLAIM_PLATFORM_INFO,  /* MSR CEh */
	CLAIM_AMD_P0,         /* MSR C0010064h */
	CLAIM_SECURE_TSC,     /* MSR C0010134h */
	CLAIM_EFI,            /* the protocol EFI_TIMESTAMP_PROTOCOL of the firmware */
	CLAIM_KVM_PAGE,       /* multiplier and shift of kvm-clock's page */
	CLAIM_XEN_PAGE,
	CLAIM_VMCLOCK,        /* period of the TSC in the page of vmclock, an ACPI device */
	CLAIM_HYPERV_PAGE,    /* scale of the reference TSC page */
};

enum claim_clock { CLAIM_OF_TSC, CLAIM_OF_LAPIC, CLAIM_OF_CRYSTAL };

struct claim {
	enum claim_source source;
	enum claim_clock clock;
	char by[CLAIM_SOURCE_SIZE];     /* the source as text */
	struct rate hz;                 /* the stated rate; if den is 0 there is none, and REASON has the reason */
	uint64_t within_hz;             /* rounding error of HZ: the intended rate may differ by this */
	/* ticks of the clock per tick of the TSC, if the source states them; otherwise den is 0 */
	struct rate per_tsc;
	uint32_t base;                  /* CPUID leaf at which the leaves of the claim's hypervisor start, or 0 */
	char reason[CLAIM_REASON_SIZE]; /* reason as a sentence if there is no rate, otherwise "" */
};

/* A CPUID leaf or an MSR that was read for a claim, with its raw value. */
struct claim_raw {
	bool is_msr, faulted;
	uint32_t number;
	uint32_t eax, ebx, ecx, edx; /* the leaf's registers, or an MSR's value in EDX:EAX */
};

struct claims {
	size_t count;
	struct claim rows[CLAIMS_MAX];
	size_t raw_count;
	struct claim_raw raw[CLAIMS_RAW_MAX];
};

/* Adds RAW, unless it is already in the list or there is no space left. */
void claims_add_raw(struct claims *claims, const struct claim_raw *raw);

/* Adds a row without a rate. If there is no space, returns the last row again, but no machine has so many claims. */
struct claim *claims_add(struct claims *claims, enum claim_source source, enum claim_clock clock, const char *by);

/* Sets the rate of CLAIM. If the rate is outside of the limits above, the row stays without a rate. */
void claim_set(struct claim *claim, struct rate hz, uint64_t within_hz);

/* Sets the reason of a row without a rate. */
void claim_refuse(struct claim *claim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the claim for the TSC's rate that is used until the clocks have been compared, or NULL if there is none. */
const struct claim *claims_first_of_tsc(const struct claims *claims);

#endif
