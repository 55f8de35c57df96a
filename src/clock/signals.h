/*
 * Announcements of a hypervisor to its guest that there was a disruption: a pause, a restored snapshot, or a migration.
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
		const char *id;   /* id of the signal, "kvmclock", "vmclock" or "vmgenid"; static storage */
		const char *name; /* name of the signal for use in sentences; static storage */
		/* true if the signal announces only restored snapshots, and neither pauses nor migrations */
		bool restores_only;
		bool unusable;    /* true if the signal is offered, but its memory does not have the specified contents */
		bool changed;     /* true if the signal's value changed between two readings */
		uint64_t value;
	} list[SIGNALS_MAX];
};

#endif
