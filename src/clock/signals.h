/*
 * Signals of a hypervisor that announce a disruption to its guest: a pause, a restored snapshot, or a migration.
 * They are read at the start and at the end of the measurements.
 */
#ifndef BARETICK_SIGNALS_H
#define BARETICK_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGNALS_MAX 3

struct signals {
	size_t count;
	struct signal {
		const char *id;   /* "kvmclock", "vmclock" or "vmgenid"; static storage */
		const char *name; /* for sentences; static storage */
		bool restores_only; /* it announces restores of snapshots, and neither pauses nor migrations */
		bool unusable;    /* it is offered, but its memory does not have the specified contents */
		bool changed;     /* between two readings */
		uint64_t value;
	} list[SIGNALS_MAX];
};

#endif
