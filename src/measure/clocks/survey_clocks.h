/* Measures the read latency of each clock on every core, and the time that is stolen from each core. */
#ifndef BARETICK_SURVEY_CLOCKS_H
#define BARETICK_SURVEY_CLOCKS_H

#include "measure/survey.h"

/* measures the latency of each clock on the boot core */
void survey_measure_latencies_on_boot_core(struct survey *survey);
/* measures the latency of each clock on each other core, one core at a time */
void survey_measure_latencies_on_cores(struct survey *survey);
/* measures the latency of each clock while all cores read it at the same time */
void survey_measure_contended_latencies(struct survey *survey);
void survey_observe_gaps(struct survey *survey); /* measures stolen time on each core, one core at a time */

#endif
