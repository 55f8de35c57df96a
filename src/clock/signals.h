/*
 * Signals by which a hypervisor informs its guest of a pause, a restored snapshot or a migration. They are read at
 * the start and at the end of the measurements.
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
		const char *id;   /* "kvmclock", "vmclock" or "vmgenid", in static storage */
		const char *name; /* name of the signal in sentences, in static storage */
		/* true if the signal shows only restored snapshots, but neither pauses nor migrations */
		bool restores_only;
		/* true if the hypervisor offers the signal, but the memory of the signal is not as specified */
		bool unusable;
		bool changed;     /* true if the value differs between the start and the end of the measurements */
		uint64_t value;
	} list[SIGNALS_MAX];
};

#endif
