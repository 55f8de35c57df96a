/* What is said of a moment at which clocks parted. For src/judge only. */
#ifndef BARETICK_DISCONTINUITY_SAID_H
#define BARETICK_DISCONTINUITY_SAID_H

#include "report/report.h"

/* At how many of the report's discontinuities CLOCK, an id, alone jumped. */
uint64_t discontinuity_jumps(const struct report *report, const char *clock);

/* A note: the machine was stopped, by RTC, the group of ROW's two that went on meanwhile. */
void discontinuity_note_stop(struct report *report, const struct report_discontinuity *row,
			     const struct report_group *rtc);

/* A finding, once a clock: ALONE, the group of ROW that jumped. */
void discontinuity_name_jump(struct report *report, const struct report_discontinuity *row,
			     const struct report_group *alone);

/* A finding: the groups of ROW, of which none is known to be the odd one. */
void discontinuity_name_parted(struct report *report, const struct report_discontinuity *row);

#endif
