/*
 * What a machine states about the rates of its TSC, its local APICs' timer and its crystal: one row for each leaf,
 * register or page that may state a rate. A row without a rate says why. Nothing here is checked against a measurement.
 */
#ifndef BARETICK_CLAIMS_H
#define BARETICK_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"

#define CLAIMS_MAX         24 /* more than all sources of a machine with four hypervisor interfaces */
#define CLAIMS_RAW_MAX     24
#define CLAIM_SOURCE_SIZE  24
#define CLAIM_REASON_SIZE  80

/* A rate outside of these limits is taken for no rate of any such clock. */
#define CLAIM_HZ_MIN UINT64_C(1000000)
#define CLAIM_HZ_MAX UINT64_C(100000000000)

enum claim_source {
	CLAIM_LEAF_15,        /* CPUID 15h: crystal and ratio */
	CLAIM_LEAF_15_FIXED,  /* CPUID 15h without its crystal, on an Atom whose crystal is documented */
	CLAIM_LEAF_15_16,     /* CPUID 15h without its crystal: the crystal that follows from 16h */
	CLAIM_LEAF_16,        /* CPUID 16h: base frequency in MHz */
	CLAIM_KHZ_LEAF,       /* a hypervisor's CPUID leaf base+10h */
	CLAIM_HYPERV,         /* MSRs 40000022h and 40000023h */
	CLAIM_XEN,            /* Xen's CPUID leaf base+3 */
	CLAIM_PLATFORM_INFO,  /* MSR CEh */
	CLAIM_AMD_P0,         /* MSR C0010064h */
	CLAIM_SECURE_TSC,     /* MSR C0010134h */
	CLAIM_EFI,            /* EFI_TIMESTAMP_PROTOCOL */
	CLAIM_KVM_PAGE,       /* multiplier and shift of kvm-clock's page */
	CLAIM_XEN_PAGE,
	CLAIM_VMCLOCK,        /* period of the TSC in the page of vmclock, an ACPI device */
	CLAIM_HYPERV_PAGE,    /* scale of the reference TSC page */
};

enum claim_clock { CLAIM_OF_TSC, CLAIM_OF_LAPIC, CLAIM_OF_CRYSTAL };

struct claim {
	enum claim_source source;
	enum claim_clock clock;
	char by[CLAIM_SOURCE_SIZE];     /* the source, for people */
	struct rate hz;                 /* den 0: not claimed, and REASON says why */
	uint64_t within_hz;             /* its rounding: the intended rate may differ by this */
	struct rate per_tsc;            /* ticks of the clock per tick of the TSC, if the source gives them; else den 0 */
	uint32_t base;                  /* CPUID leaf at which its hypervisor's leaves start, or 0 */
	char reason[CLAIM_REASON_SIZE]; /* a sentence if it is not claimed, else "" */
};

/* A leaf or an MSR that was read for a claim, as it was. */
struct claim_raw {
	bool is_msr, faulted;
	uint32_t number;
	uint32_t eax, ebx, ecx, edx; /* an MSR's value is in EDX:EAX */
};

struct claims {
	size_t count;
	struct claim rows[CLAIMS_MAX];
	size_t raw_count;
	struct claim_raw raw[CLAIMS_RAW_MAX];
};

/* Adds RAW, unless it is there already or there is no space left. */
void claims_add_raw(struct claims *claims, const struct claim_raw *raw);

/* Adds a row without a rate. With no space left it is the last row again, which no machine needs. */
struct claim *claims_add(struct claims *claims, enum claim_source source, enum claim_clock clock, const char *by);

/* Sets the rate of CLAIM, unless it is outside of the limits above: then it stays without one. */
void claim_set(struct claim *claim, struct rate hz, uint64_t within_hz);

/* Sets the reason of a row without a rate. */
void claim_refuse(struct claim *claim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The claim on the TSC that is taken until clocks were compared. NULL: there is none. */
const struct claim *claims_first_of_tsc(const struct claims *claims);

#endif
