/* Measures the read latency of each clock on every core, and the time that is stolen from each core. */
#ifndef BARETICK_SURVEY_CLOCKS_H
#define BARETICK_SURVEY_CLOCKS_H

#include "measure/survey.h"

void survey_latencies(struct survey *survey); /* each clock on the boot core */
void survey_cores(struct survey *survey);     /* each clock on each other core, one core at a time */
void survey_contended(struct survey *survey); /* each clock on all cores at the same time */
void survey_interference(struct survey *survey); /* stolen time on each core, one core at a time */

#endif
