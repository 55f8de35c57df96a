/* Measures the read latency of each clock on every core, and how often time is stolen from a core. */
#ifndef BARETICK_SURVEY_CLOCKS_H
#define BARETICK_SURVEY_CLOCKS_H

#include "measure/survey.h"

void survey_latencies(struct survey *survey); /* each clock from the boot core */
void survey_cores(struct survey *survey);     /* each clock from each other core, one core at a time */
void survey_contended(struct survey *survey); /* each clock from all cores at once */
void survey_interference(struct survey *survey); /* stolen time of each core, one core at a time */

#endif
