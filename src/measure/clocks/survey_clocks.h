/* What reading a clock costs, from every core; and how often time is stolen from a core meanwhile. */
#ifndef BARETICK_SURVEY_CLOCKS_H
#define BARETICK_SURVEY_CLOCKS_H

#include "measure/survey.h"

void survey_latencies(struct survey *survey); /* each clock from the boot core */
void survey_cores(struct survey *survey);     /* each clock from each other core, one core at a time */
void survey_contended(struct survey *survey); /* each clock from all cores at once */
void survey_interference(struct survey *survey); /* how often time is stolen from each core, one core at a time */

#endif
