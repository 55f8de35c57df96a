/*
 * Measures the clocks' rates against each other: over the rate window (a time interval near the start of the run), and
 * from there to the end of the run.
 */
#ifndef BARETICK_SURVEY_RATES_H
#define BARETICK_SURVEY_RATES_H

#include "measure/survey.h"

/* executes all code once, and estimates the TSC's rate */
void survey_warm_up_and_estimate_tsc_rate(struct survey *survey);
void survey_measure_rates(struct survey *survey);     /* measures the rate window; a soak's series starts after it */

/*
 * Reads each clock once more at the end of the run. Compares its rate since the rate window with its rate in the
 * window, to find changes of rate and jumps after the window. Without a change or jump, or in a soak, the report's
 * rates are over the whole run.
 */
void survey_measure_rates_at_end_of_run(struct survey *survey);

/* Ends the current row of a soak's series, and reads all clocks. Starts the next row unless this was the LAST. */
void survey_soak_rows_close_row(struct survey *survey, bool last);

/* Reads all clocks, so that wraps of counters that wrap within seconds are counted. */
void survey_soak_rows_count_wraps(struct survey *survey);

#endif
