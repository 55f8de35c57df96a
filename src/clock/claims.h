/*
 * Claims: the rates that a machine itself states for its TSC, its local APIC timers and its crystal. Each CPUID
 * leaf, register or memory page that may state a rate has a row. A row without a rate contains the reason.
 * Claims are not compared with measurements here.
 */
#ifndef BARETICK_CLAIMS_H
#define BARETICK_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"

/* maximum number of rows; enough for a machine with four hypervisor interfaces */
#define CLAIMS_MAX         24
#define CLAIMS_RAW_MAX     24
#define CLAIM_SOURCE_SIZE  24
#define CLAIM_REASON_SIZE  80

/* Limits in Hz. A claimed rate outside of them is ignored, because it cannot be right. */
#define CLAIM_HZ_MIN UINT64_C(1000000)
#define CLAIM_HZ_MAX UINT64_C(100000000000)

enum claim_source {
	CLAIM_LEAF_15,        /* CPUID leaf 15h, which states the crystal's rate and the TSC's ratio to it */
	CLAIM_LEAF_15_FIXED,  /* CPUID leaf 15h without the crystal's rate, on an Atom with a documented crystal */
	CLAIM_LEAF_15_16,     /* CPUID leaf 15h without the crystal's rate, which is calculated from leaf 16h */
	CLAIM_LEAF_16,        /* CPUID leaf 16h, which states the base frequency in MHz */
	CLAIM_KHZ_LEAF,       /* a hypervisor's CPUID leaf base + 10h, which states rates in kHz */
	CLAIM_HYPERV,         /* Hyper-V's MSRs 40000022h (TSC) and 40000023h (APIC) */
	CLAIM_XEN,            /* Xen's CPUID leaf base + 3, which states the TSC's rate in kHz */
	/* Intel's MSR CEh (PLATFORM_INFO), which states the ratio of the TSC to the bus clock */
	CLAIM_PLATFORM_INFO,
	CLAIM_AMD_P0,         /* AMD's MSR C0010064h, which states the frequency of P-state 0 */
	CLAIM_SECURE_TSC,     /* AMD's MSR C0010134h, the TSC frequency of a guest with Secure TSC */
	CLAIM_EFI,            /* the firmware's EFI_TIMESTAMP_PROTOCOL */
	CLAIM_KVM_PAGE,       /* multiplier and shift in the memory page of kvm-clock */
	CLAIM_XEN_PAGE,
	CLAIM_VMCLOCK,        /* period of the TSC in the memory page of vmclock, an ACPI device */
	CLAIM_HYPERV_PAGE,    /* scale in Hyper-V's reference TSC page */
	CLAIM_CPU_NAME,       /* the CPU's name, for example "... @ 3.10GHz", which some programs parse */
	CLAIM_COREBOOT,       /* coreboot's table of time stamps, which states whole MHz */
};

enum claim_clock { CLAIM_OF_TSC, CLAIM_OF_LAPIC, CLAIM_OF_CRYSTAL };

struct claim {
	enum claim_source source;
	enum claim_clock clock;
	char by[CLAIM_SOURCE_SIZE];     /* name of the source, for the report */
	struct rate hz;                 /* the stated rate; den is 0 if there is none, see `reason` */
	/* rounding error of `hz`: the largest possible difference between `hz` and the rate before rounding, in Hz */
	uint64_t within_hz;
	/* ticks of the clock per TSC tick, if the source states this ratio; otherwise den is 0 */
	struct rate per_tsc;
	/* the first CPUID leaf of the hypervisor interface that states the rate, or 0 */
	uint32_t base;
	char reason[CLAIM_REASON_SIZE]; /* a sentence that states why there is no rate, otherwise "" */
};

/* A CPUID leaf or an MSR that was read for a claim, with its raw contents. */
struct claim_raw {
	bool is_msr, faulted;
	uint32_t number;
	uint32_t eax, ebx, ecx, edx; /* the registers that CPUID returned, or the MSR's value in EDX:EAX */
};

struct claims {
	size_t count;
	struct claim rows[CLAIMS_MAX];
	size_t raw_count;
	struct claim_raw raw[CLAIMS_RAW_MAX];
};

/* Adds RAW, unless it is already in the list or the list is full. */
void claims_add_raw(struct claims *claims, const struct claim_raw *raw);

/* Adds a row without a rate. If the array is full, the last row is overwritten, but no machine has so many claims. */
struct claim *claims_add(struct claims *claims, enum claim_source source, enum claim_clock clock, const char *by);

/* Sets the rate of CLAIM. If it is outside of CLAIM_HZ_MIN and CLAIM_HZ_MAX, only the reason is set. */
void claim_set_rate(struct claim *claim, struct rate hz, uint64_t within_hz);

/* Sets the reason why CLAIM has no rate. */
void claim_set_refusal(struct claim *claim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns true if CLAIM is only compared, and never used as a rate: the CPU's name and coreboot's table. */
bool claim_is_only_compared(const struct claim *claim);

/*
 * Returns the claim whose rate is used for the TSC until the TSC has been compared with other clocks. Returns NULL if
 * no claim states a rate of the TSC.
 */
const struct claim *claims_find_first_tsc_rate(const struct claims *claims);

#endif
