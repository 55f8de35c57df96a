/*
 * Interfaces for timekeeping that hypervisors offer to guests (CPUID from leaf 40000000h on), and the TSC's frequency
 * that they report. A hypervisor may offer several interfaces at once.
 */
#ifndef BARETICK_PARAVIRTUAL_H
#define BARETICK_PARAVIRTUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"

#define PARAVIRTUAL_MAX 4

enum paravirtual_kind { PARAVIRTUAL_KVM, PARAVIRTUAL_HYPERV, PARAVIRTUAL_XEN, PARAVIRTUAL_VMWARE, PARAVIRTUAL_ACRN,
			PARAVIRTUAL_VIRTUALBOX };

/*
 * STABLE_YES means that readings of the hypervisor's clock on different cores can be compared. The value comes from the
 * same flag that kernels use.
 */
enum paravirtual_stable { STABLE_UNKNOWN, STABLE_YES, STABLE_NO };

struct paravirtual_interface {
	enum paravirtual_kind kind;
	const char *name;         /* static storage */
	uint32_t base, leaf_max;  /* the interface's first CPUID leaf, and its maximum leaf */
	uint32_t features;        /* the features leaf of the interface, unchanged */
	char version[24];         /* version of the hypervisor; "" if it reports none */
	char offers[96];          /* the offered features as text; "" if none is known here */
	struct rate tsc;          /* the TSC's frequency that the interface reports; den is 0 if it reports none */
	uint64_t tsc_within_hz;   /* rounding error of that frequency in Hz, as far as it is known */
	const char *tsc_by;       /* name of the leaf or MSR that reports this frequency; static storage */
	enum paravirtual_stable stable;
	uint32_t features_edx;    /* Hyper-V only: register EDX of the features leaf */
	/*
	 * Hyper-V only: a feature that operating systems need and that the interface lacks. NULL if none is missing. Static
	 * storage.
	 */
	const char *missing;
	/* Hyper-V only: true if the interface offers its last synthetic timer, but an access to the timer faulted */
	bool timer_faults;
};

struct paravirtual {
	size_t count;
	struct paravirtual_interface interfaces[PARAVIRTUAL_MAX]; /* ordered by their first leaf */
};

/* Returns the first interface of KIND, or NULL. */
static inline const struct paravirtual_interface *
paravirtual_find(const struct paravirtual *paravirtual, enum paravirtual_kind kind)
{
	for (size_t i = 0; i < paravirtual->count; i++)
		if (paravirtual->interfaces[i].kind == kind)
			return &paravirtual->interfaces[i];
	return NULL;
}

#endif
