/* Notes and findings on discontinuities. For src/judge only. */
#ifndef BARETICK_DISCONTINUITY_SAID_H
#define BARETICK_DISCONTINUITY_SAID_H

#include "report/report.h"

/* Number of the report's discontinuities at which only CLOCK, an id, jumped. */
uint64_t discontinuity_jumps(const struct report *report, const char *clock);

/* Adds a note that the machine was stopped. RTC is the group of ROW's two that went on during the stop. */
void discontinuity_note_stop(struct report *report, const struct report_discontinuity *row,
			     const struct report_group *rtc);

/* Adds a finding, once for each clock. ALONE is the group of ROW that jumped. */
void discontinuity_name_jump(struct report *report, const struct report_discontinuity *row,
			     const struct report_group *alone);

/* Adds a finding on the groups of ROW if it is unknown which is wrong. */
void discontinuity_name_parted(struct report *report, const struct report_discontinuity *row);

#endif
