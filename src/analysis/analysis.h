/*
 * Calculates the figures of a report from the record of a run. Each function is pure: its result depends only on the
 * record, on the report's options and start, and on the cores, clocks and intervals that the report lists. It may be
 * called again when the record has grown. It accepts any bytes, and uses the entries up to the first invalid one. It
 * does not calculate checksums, because the run itself wrote the record, or replay_restore_report() checked the
 * checksums.
 */
#ifndef BARETICK_ANALYSIS_H
#define BARETICK_ANALYSIS_H

#include <stddef.h>

#include "record/record.h"
#include "report/report.h"

/* Stolen time: fills report->interference, and observed_ns, gaps and worst_gap_ns of each core. */
void analysis_calculate_gaps(const void *record, size_t size, struct report *report);

/* Fills report->discontinuities, except their times in the run and their classes, which src/judge sets. */
void analysis_calculate_discontinuities(const void *record, size_t size, struct report *report);

/* Sets SCALE to the TSC's rate in an entry `scale`. Returns the TSC's resolution in this entry, in ticks. */
uint64_t analysis_read_scale(struct scale *scale, const struct record_entry *entry);

struct rate_outcome {
	bool undecided;     /* true if no majority of the clocks confirms the TSC's rate */
	bool whole_run;     /* true if the rates are over the whole run, not only over the rate window */
	/* Sets of clocks; bit I is clock I of the report. */
	uint32_t went_back; /* clocks that read less at the end of the run than at the end of the rate window */
	uint32_t unsure;    /* a guest's RTCs whose rate seems wrong, perhaps only because a tick was late */
};

/*
 * Rates: fills the TSC's rate and its source, report->rates, and the rates of each clock with their errors and changes.
 * Also fills the rates in each row of a soak. If the TSC's nominal frequency (claim) contradicts the clocks, another
 * claim may replace it. Two clocks disagree if their rates differ by more than LIMIT_PPB.
 */
struct rate_outcome analysis_calculate_rates(const void *record, size_t size, uint64_t limit_ppb,
					     struct report *report);

/*
 * Offsets and drifts of the cores' TSCs: fills report->skew except the facts of its warp checks, and the rank and the
 * number of ping-pongs of each core. The caller must have called report_divide_memory(), which sets the addresses of
 * the arrays. A pass (one measurement of the pairs of cores) that does not fit into them is skipped.
 */
void analysis_calculate_offsets(const void *record, size_t size, struct report *report);

/*
 * Returns the largest number of pairs of cores in a pass of the record, for report_divide_memory(). CORES is the number
 * of cores in the report. Ignores passes with so many pairs that the record cannot contain their ping-pongs. Therefore
 * a short record cannot make baretick allocate much memory.
 */
size_t analysis_max_pairs_in_pass(const void *record, size_t size, size_t cores);

/* Timers: fills the figures of report->intervals. The rows exist already, and name each timer and interval. */
void analysis_calculate_timers(const void *record, size_t size, struct report *report);

/* length of one tick of a timer's counter, in attoseconds (10^-18 s); VALUE is 0 if it is not known */
struct timer_tick {
	uint64_t value, low, high;
};

/*
 * Returns the length of a timer's tick, calculated from the timer's nominal rate. If the timer has no such rate, the
 * length is calculated from the TSC ticks that passed while the timer's counter ran. Used in the analysis and while
 * measuring.
 */
struct timer_tick analysis_calculate_timer_tick(const struct record_timer *timer, const struct scale *scale);

/*
 * Calibration loops: fills runs, refused, median and worst of each row of report->calibrations. Median and worst are
 * errors of a loop's results. They are relative to the rate of the calibrated clock, which is calculated from
 * report->tsc_within.
 */
void analysis_calculate_calibrations(const void *record, size_t size, struct report *report);

/* The firmware's time services: fills report->figures.firmware. There are no rows if the run had no UEFI. */
void analysis_calculate_firmware(const void *record, size_t size, struct report *report);

#endif
