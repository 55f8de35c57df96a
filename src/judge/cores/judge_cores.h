/* The judge of the cores' TSCs, by what was measured of them; findings go to the report. */
#ifndef BARETICK_JUDGE_CORES_H
#define BARETICK_JUDGE_CORES_H

#include "report/report.h"

void judge_skew(struct report *report);      /* against each other, with the marks of those that are off or drift */
void judge_synchrony(struct report *report); /* after it: a clause on that, and the tournament that is shown */
/*
 * Marks the cores with more steps back of their TSC than ALLOWED, and returns true if there is one; before
 * judge_skew(), since these steps explain warps.
 */
bool judge_core_steps(struct report *report, uint64_t allowed);
void judge_name_core_steps(struct report *report); /* adds a finding that names these cores */

/* Returns the steps back of the TSC that were seen on CORE, an index into report.cores. */
struct tsc_steps judge_steps_on(const struct report *report, size_t core);

void judge_adjust(struct report *report); /* their TSC_ADJUST */

#endif
