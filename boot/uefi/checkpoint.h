/*
 * What the boot volume has of a run while it goes on: a marker with the phase, and the report up to now. So a machine
 * that hangs, is reset or loses its power leaves what was measured, and the next boot knows what ended it.
 *
 * The run's report gets the number after all that are taken; its checkpoints get the two numbers after that, in
 * turn, and each is removed when the next one is whole. So from the first checkpoint on the volume has a whole
 * folder of this run at any moment.
 */
#ifndef BARETICK_CHECKPOINT_H
#define BARETICK_CHECKPOINT_H

#include "plan.h"
#include "run/marker.h"
#include "run/run.h"
#include "smbios/smbios.h"
#include "uefi/volume/running.h"
#include "uefi/volume/save.h"

struct checkpoint {
	struct plan *plan;      /* whose texts it renders into; the caller's */
	struct report report;   /* the latest, as it is saved */
	struct marker marker;
	char name[RUNNING_NAME_SIZE];
	char damage[SAVE_SENTENCE_SIZE]; /* why the volume is left alone; "": it is not */
	bool marks;             /* the volume takes a marker, */
	bool marked;            /* and has one of this run */
	bool saves;             /* and reports, as far as was seen */
	bool folder_made;
	unsigned number;        /* of the folder for the run's report; 0: not known */
	const struct run *run;  /* from the first phase on, */
	const struct run_phase *phase;
	uint64_t saved_tsc, took_ticks; /* when the latest checkpoint was whole, and what it cost */
};

/*
 * Heeds what an earlier run on this machine left: see marker_heed(), to be called before anything is planned.
 * Marks that the run begins. REPORT describes the machine already.
 */
void checkpoint_open(struct checkpoint *checkpoint, struct report *report, const struct smbios_facts *smbios);

/* From here on PLAN's texts are there. */
void checkpoint_planned(struct checkpoint *checkpoint, struct plan *plan);

/* PHASE begins: saves what there is, from the end of the boot core's part on, and marks the phase. Whether it saved. */
bool checkpoint_begins(struct checkpoint *checkpoint, const struct run *run, const struct run_phase *phase);

/* The cores of this phase are to be started in another way than its begin said. */
void checkpoint_falls_back(struct checkpoint *checkpoint, enum options_cores cores);

/* Between two batches of a phase that may last for hours: whether it is time to save, once a minute. */
bool checkpoint_is_due(const struct checkpoint *checkpoint);

void checkpoint_meanwhile(struct checkpoint *checkpoint); /* saves then */

/* The run is measured. Returns the number for its report. */
unsigned checkpoint_measured(struct checkpoint *checkpoint);

/*
 * The run's report is saved, or can't be: takes away the checkpoint, unless nothing else is left of the run, and
 * the marker.
 */
void checkpoint_close(struct checkpoint *checkpoint, bool saved);

#endif
