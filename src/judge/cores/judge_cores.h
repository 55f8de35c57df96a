/* Judges the measurements of the cores' TSCs. Findings go to the report. */
#ifndef BARETICK_JUDGE_CORES_H
#define BARETICK_JUDGE_CORES_H

#include "report/report.h"

/* Judges offsets and drifts. Marks the cores whose TSC differs from the majority's or drifts. */
void judge_offsets_and_warps(struct report *report);
/*
 * Writes the sentence on synchronisation, and chooses whether reports show the first or the last pass over the cores.
 * Call it after judge_offsets_and_warps().
 */
void judge_summarize_synchrony(struct report *report);
/*
 * Marks each core whose TSC stepped back more than ALLOWED times. Returns true if it marked any. Call it before
 * judge_offsets_and_warps(), because these steps explain warps.
 */
bool judge_mark_cores_that_step_back(struct report *report, uint64_t allowed);
void judge_add_step_back_findings(struct report *report); /* adds a finding that names the cores whose TSC steps back */

/* Returns the steps back of the TSC that were seen on CORE, an index into report.cores. */
struct tsc_steps judge_count_steps_back_on_core(const struct report *report, size_t core);

void judge_tsc_adjust(struct report *report); /* judges the cores' TSC_ADJUST */

#endif
