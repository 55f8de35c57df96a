/*
 * The interfaces for timekeeping that hypervisors offer to guests (CPUID leaves from 40000000h), and the TSC
 * frequency that they report. A hypervisor may offer several interfaces at once.
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
 * STABLE_YES means that readings of the hypervisor's clock on different cores can be compared. The hypervisor sets a
 * flag for this, which kernels also use.
 */
enum paravirtual_stable { STABLE_UNKNOWN, STABLE_YES, STABLE_NO };

struct paravirtual_interface {
	enum paravirtual_kind kind;
	const char *name;         /* in static storage */
	uint32_t base, leaf_max;  /* first and last CPUID leaf of the interface */
	uint32_t features;        /* raw value of the interface's CPUID leaf for features */
	char version[24];         /* version of the hypervisor; "" if it reports none */
	char offers[96];          /* names of the offered features; "" if none of them is known to baretick */
	struct rate tsc;          /* TSC frequency that the interface reports; den is 0 if it reports none */
	uint64_t tsc_within_hz;   /* rounding error of the reported TSC frequency in Hz, if known */
	/* name of the CPUID leaf or MSR that reports the TSC frequency, in static storage */
	const char *tsc_by;
	enum paravirtual_stable stable;
	uint32_t features_edx;    /* Hyper-V only: register EDX of the CPUID leaf for features */
	/*
	 * Hyper-V only: a feature that operating systems need, but that this interface lacks. NULL if none is
	 * missing. In static storage.
	 */
	const char *missing;
	/*
	 * Hyper-V only: true if the interface offers its last synthetic timer, but accessing that timer caused an
	 * exception
	 */
	bool timer_faults;
};

struct paravirtual {
	size_t count;
	struct paravirtual_interface interfaces[PARAVIRTUAL_MAX]; /* sorted by their first CPUID leaf */
};

/* Returns the interface of KIND with the lowest CPUID leaf, or NULL. */
static inline const struct paravirtual_interface *
paravirtual_find(const struct paravirtual *paravirtual, enum paravirtual_kind kind)
{
	for (size_t i = 0; i < paravirtual->count; i++)
		if (paravirtual->interfaces[i].kind == kind)
			return &paravirtual->interfaces[i];
	return NULL;
}

#endif
