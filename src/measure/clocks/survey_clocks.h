/* What reading a clock costs, from every core; and how often a core is taken away meanwhile. */
#ifndef BARETICK_SURVEY_CLOCKS_H
#define BARETICK_SURVEY_CLOCKS_H

#include "survey.h"

void survey_latencies(struct survey *survey); /* each clock from the boot core */
void survey_cores(struct survey *survey);     /* each clock from each other core, one core at a time */
void survey_contended(struct survey *survey); /* each clock from all cores at once */
void survey_interference(struct survey *survey); /* how often each core is taken away, one core at a time */

#endif
