/*
 * What hypervisors offer their guests for timekeeping, by CPUID from leaf 40000000h up: interfaces, several of which
 * may be stacked, and what they claim of the TSC.
 */
#ifndef BARETICK_PARAVIRTUAL_H
#define BARETICK_PARAVIRTUAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/scale.h"

#define PARAVIRTUAL_MAX 4

enum paravirtual_kind { PARAVIRTUAL_KVM, PARAVIRTUAL_HYPERV, PARAVIRTUAL_XEN, PARAVIRTUAL_VMWARE, PARAVIRTUAL_ACRN,
			PARAVIRTUAL_VIRTUALBOX };

/* What the hypervisor says of its own clock's readings on several cores, as a kernel asks for it. */
enum paravirtual_stable { STABLE_UNKNOWN, STABLE_YES, STABLE_NO };

struct paravirtual_interface {
	enum paravirtual_kind kind;
	const char *name;         /* static storage */
	uint32_t base, leaf_max;  /* of CPUID */
	uint32_t features;        /* as the interface's own leaf has them */
	char version[24];         /* "": it says none */
	char offers[96];          /* in words, "": nothing that is known here */
	struct rate tsc;          /* the rate that it claims of the TSC; den 0: it claims none */
	uint64_t tsc_within_hz;   /* that is rounded by no more, as far as is known */
	const char *tsc_by;       /* where that stands; static storage */
	enum paravirtual_stable stable;
};

struct paravirtual {
	size_t count;
	struct paravirtual_interface interfaces[PARAVIRTUAL_MAX]; /* the lowest leaf first */
};

/* The first of that kind; NULL: it is not there. */
static inline const struct paravirtual_interface *
paravirtual_find(const struct paravirtual *paravirtual, enum paravirtual_kind kind)
{
	for (size_t i = 0; i < paravirtual->count; i++)
		if (paravirtual->interfaces[i].kind == kind)
			return &paravirtual->interfaces[i];
	return NULL;
}

#endif
