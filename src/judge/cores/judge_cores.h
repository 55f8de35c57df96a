/* The judge of the cores' TSCs, by what was measured of them; findings go to the report. */
#ifndef BARETICK_JUDGE_CORES_H
#define BARETICK_JUDGE_CORES_H

#include "report.h"

void judge_skew(struct report *report);      /* against each other, with the marks of those that are off or drift */
void judge_synchrony(struct report *report); /* after it: a clause on that, and the tournament that is shown */
void judge_adjust(struct report *report); /* their TSC_ADJUST */

#endif
