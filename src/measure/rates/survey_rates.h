/* The clocks' rates against each other: over one window, and on to the end of the run. */
#ifndef BARETICK_SURVEY_RATES_H
#define BARETICK_SURVEY_RATES_H

#include "measure/survey.h"

void survey_prepare(struct survey *survey);   /* warms every path up, finds a provisional TSC rate */
void survey_rates(struct survey *survey);     /* all clocks over one window; behind it a soak's series begins */

/*
 * The last: each clock once more, against its rate in the window. What changed or jumped in between is seen; where
 * nothing did, and in a soak, the report's rates are then those over the whole run.
 */
void survey_rates_again(struct survey *survey);

/* The series' row is over, and all clocks are read once more. The next row begins, unless that was the LAST. */
void survey_series_close(struct survey *survey, bool last);

/* All clocks are read, so that the wraps of those can be counted that wrap in seconds. */
void survey_series_follow(struct survey *survey);

#endif
