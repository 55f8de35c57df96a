/* Judges the measurements of the cores' TSCs. Findings go to the report. */
#ifndef BARETICK_JUDGE_CORES_H
#define BARETICK_JUDGE_CORES_H

#include "report/report.h"

/*
 * Judges offsets, drifts and warps. Marks the cores whose TSC differs from the majority's or drifts, and summarises
 * their synchrony.
 */
void judge_offsets_and_warps(const struct report *report, struct outcomes *outcomes);
/* Writes the sentence on synchronisation, and chooses whether reports show the first or the last pass. */
void judge_summarize_synchrony(const struct report *report, struct outcomes *outcomes);
/*
 * Marks each core whose TSC stepped back more than ALLOWED times. Returns true if it marked any. Call it before
 * judge_offsets_and_warps(), because these steps explain warps.
 */
bool judge_mark_cores_that_step_back(const struct report *report, struct outcomes *outcomes, uint64_t allowed);
/* Adds a finding that names the cores whose TSC steps back. */
void judge_add_step_back_findings(const struct report *report, struct outcomes *outcomes);

/* Returns the steps back of the TSC that were seen on CORE, an index into facts.cores. */
struct tsc_steps judge_count_steps_back_on_core(const struct report *report, size_t core);

void judge_tsc_adjust(const struct report *report, struct outcomes *outcomes); /* judges the cores' TSC_ADJUST */

#endif
