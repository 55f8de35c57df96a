/* Measures the cores' TSCs against each other. */
#ifndef BARETICK_SURVEY_SKEW_H
#define BARETICK_SURVEY_SKEW_H

#include "measure/survey.h"

void survey_read_core_facts(struct survey *survey); /* reads facts about each core, such as its TSC_ADJUST */

/*
 * Runs a measurement pass over the pairs of cores. The first pass gives each core's offset, and a later pass shows how
 * the offsets changed. Call it at least twice, with other measurements in between.
 */
void survey_measure_offsets(struct survey *survey);

/*
 * Runs another pass between the first and the last one, if the first one was short. It distinguishes a step of an
 * offset from a drift.
 */
void survey_run_middle_pair_pass(struct survey *survey);

/*
 * Measures each core against the boot core for the current row of the series. Takes at most two seconds. If this time
 * is too short for all cores, the next row starts with the remaining cores.
 */
void survey_measure_soak_row_offsets(struct survey *survey);

/* Runs the warp checks (see sync/warp.h) on all cores at once, with a lock and without. */
void survey_check_for_warps(struct survey *survey);

#endif
