/* Judges the firmware's own time. */
#ifndef BARETICK_JUDGE_FIRMWARE_H
#define BARETICK_JUDGE_FIRMWARE_H

#include "report/report.h"

/*
 * Adds to the report a row for each rule of each time service of the firmware that was called. The rows name a service
 * and never a clock, so they have no vote on the rates of clocks. judge_checks() makes findings of these rows.
 */
void judge_firmware_times(const struct report *report, struct outcomes *outcomes);

#endif
