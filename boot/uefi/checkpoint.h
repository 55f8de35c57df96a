/*
 * Saves checkpoints on the boot volume during a run: a marker file with the current phase, and the report up to this
 * phase. If the machine hangs, is reset or loses its power, the results are not lost, and the next boot knows the last
 * phase.
 *
 * The run's final report gets the first free folder number. Its checkpoints alternate between the next two numbers. A
 * checkpoint is removed when the next checkpoint is complete. So after the first checkpoint the volume always has a
 * complete folder of this run.
 */
#ifndef BARETICK_CHECKPOINT_H
#define BARETICK_CHECKPOINT_H

#include "console/progress.h"
#include "plan.h"
#include "run/marker.h"
#include "run/run.h"
#include "smbios/smbios.h"
#include "uefi/volume/marker_file.h"
#include "uefi/volume/save.h"

struct checkpoint {
	struct plan *plan;      /* owned by the caller; renders the report */
	struct progress *progress; /* owned by the caller; the run's deadline moves by the duration of each write */
	struct report report;   /* the report of the latest checkpoint */
	struct marker marker;
	char name[MARKER_FILE_NAME_SIZE];
	char damage[SAVE_SENTENCE_SIZE]; /* reason why the volume is not used; "" if it is used */
	bool marks;             /* true while the volume accepts a marker */
	bool marked;            /* true once the volume has this run's marker */
	bool saves;             /* true while the volume accepts checkpoints */
	bool folder_made;
	unsigned number;        /* number of the folder for the run's report, 0 if not known */
	const struct run *run;  /* set from the first phase on */
	const struct run_phase *phase; /* set from the first phase on */
	uint64_t saved_tsc, took_ticks; /* end and duration of the latest checkpoint */
};

/*
 * Evaluates the marker of an earlier run on this machine: see marker_make_options_safer(). Call it before the cores and
 * phases are planned. Writes a marker for the start of this run. REPORT already describes the machine.
 */
void checkpoint_open(struct checkpoint *checkpoint, struct report *report, const struct smbios_facts *smbios);

/*
 * Sets PLAN and PROGRESS before the first phase. Checkpoints use the text buffers of PLAN. The time to write markers
 * and checkpoints does not count for the deadline in PROGRESS, because a slow volume may need minutes.
 */
void checkpoint_set_plan(struct checkpoint *checkpoint, struct plan *plan, struct progress *progress);

/* The next five functions are for struct machine_boot. CONTEXT is the struct checkpoint. */

/*
 * Called at the start of PHASE. Writes the phase into the marker. From the phase that starts cores on, it also saves a
 * checkpoint, as long as checkpoints take at most a tenth of the run's time.
 */
void checkpoint_mark_phase_start(void *context, const struct run *run, const struct run_phase *phase);

/* Called if the current phase starts the cores by another method than the marker states. Writes the marker again. */
void checkpoint_set_core_start_method(void *context, enum options_cores cores);

/* Writes the sleep state NAME into the marker, before the state is tested. */
void checkpoint_mark_sleep_state(void *context, const char *name);

/*
 * Returns true if a new checkpoint is due, at least a minute after the latest checkpoint. Called between batches of a
 * phase that may last for hours.
 */
bool checkpoint_is_due(const void *context);

/* Saves a checkpoint, if the volume accepts it, because the next call of the firmware may never return. */
void checkpoint_save_before_dangerous_call(void *context);

void checkpoint_save(void *context); /* saves a checkpoint; called if one is due */

/* Called after the measurements. Writes the marker, and returns the folder number for the run's report. */
unsigned checkpoint_mark_end_and_get_number(struct checkpoint *checkpoint);

/*
 * Called at the end, with SAVED set if the run's final report was saved. Removes the marker. Also removes the latest
 * checkpoint, unless it is the only result of the run.
 */
void checkpoint_close(struct checkpoint *checkpoint, bool saved);

#endif
