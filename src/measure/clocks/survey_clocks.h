/* Measures the read latency of each clock on every core, and the time that is stolen from each core. */
#ifndef BARETICK_SURVEY_CLOCKS_H
#define BARETICK_SURVEY_CLOCKS_H

#include "measure/survey.h"

void survey_latencies(struct survey *survey); /* measures the latency of each clock on the boot core */
/* measures the latency of each clock on each other core, one core at a time */
void survey_cores(struct survey *survey);
/* measures the latency of each clock while all cores read it at the same time */
void survey_contended(struct survey *survey);
void survey_interference(struct survey *survey); /* measures stolen time on each core, one core at a time */

#endif
