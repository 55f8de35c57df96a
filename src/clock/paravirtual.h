/*
 * Timekeeping interfaces that hypervisors offer to guests, from CPUID leaf 40000000h up. Several may be present
 * at once. Also the TSC frequency that they report.
 */
#ifndef BARETICK_PARAVIRTUAL_H
#define BARETICK_PARAVIRTUAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"

#define PARAVIRTUAL_MAX 4

enum paravirtual_kind { PARAVIRTUAL_KVM, PARAVIRTUAL_HYPERV, PARAVIRTUAL_XEN, PARAVIRTUAL_VMWARE, PARAVIRTUAL_ACRN,
			PARAVIRTUAL_VIRTUALBOX };

/* Whether readings of the hypervisor's clock on several cores can be compared, by the flag that kernels use. */
enum paravirtual_stable { STABLE_UNKNOWN, STABLE_YES, STABLE_NO };

struct paravirtual_interface {
	enum paravirtual_kind kind;
	const char *name;         /* static storage */
	uint32_t base, leaf_max;  /* CPUID leaves */
	uint32_t features;        /* as in the interface's own leaf */
	char version[24];         /* "" if it reports none */
	char offers[96];          /* in words; "" if it offers nothing known here */
	struct rate tsc;          /* the TSC's frequency that it reports; den is 0 if none */
	uint64_t tsc_within_hz;   /* rounding of that frequency, as far as is known */
	const char *tsc_by;       /* where it is reported; static storage */
	enum paravirtual_stable stable;
};

struct paravirtual {
	size_t count;
	struct paravirtual_interface interfaces[PARAVIRTUAL_MAX]; /* the lowest leaf first */
};

/* The first interface of KIND; NULL if there is none. */
static inline const struct paravirtual_interface *
paravirtual_find(const struct paravirtual *paravirtual, enum paravirtual_kind kind)
{
	for (size_t i = 0; i < paravirtual->count; i++)
		if (paravirtual->interfaces[i].kind == kind)
			return &paravirtual->interfaces[i];
	return NULL;
}

#endif
