/*
 * Calculates the figures of a report from the record of a run and the facts. FIGURES is report->figures, the only value
 * that these functions write. They may be called again when the record has grown. They accept any bytes, and use the
 * entries up to the first invalid one. They do not calculate checksums, because the run itself wrote the record, or
 * replay_restore_report() checked the checksums.
 */
#ifndef BARETICK_ANALYSIS_H
#define BARETICK_ANALYSIS_H

#include <stddef.h>

#include "record/record.h"
#include "report/report.h"

/* Stolen time: fills figures->interference, and observed_ns, gaps and worst_gap_ns of figures->cores. */
void analysis_calculate_gaps(const void *record, size_t size, const struct report *report, struct figures *figures);

/* Fills figures->discontinuities. */
void analysis_calculate_discontinuities(const void *record, size_t size, const struct report *report,
					struct figures *figures);

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
 * Rates: fills the TSC's rate and its source, figures->rates, and the rates of each clock with their errors and
 * changes. Also fills the rates in each row of a soak. If the TSC's nominal frequency (claim) contradicts the clocks,
 * figures->tsc_claim is another claim. Two clocks disagree if their rates differ by more than LIMIT_PPB.
 */
struct rate_outcome analysis_calculate_rates(const void *record, size_t size, uint64_t limit_ppb,
					     const struct report *report, struct figures *figures);

/*
 * Offsets and drifts of the cores' TSCs: fills figures->skew, and the rank and the number of ping-pongs of each of
 * figures->cores. The caller must have called report_divide_memory(), which sets the addresses of the arrays. A pass
 * (one measurement of the pairs of cores) that does not fit into them is skipped.
 */
void analysis_calculate_offsets(const void *record, size_t size, const struct report *report, struct figures *figures);

/*
 * Returns the largest number of pairs of cores in a pass of the record, for report_divide_memory(). CORES is the number
 * of cores in the report. Ignores passes with so many pairs that the record cannot contain their ping-pongs. Therefore
 * a short record cannot make baretick allocate much memory.
 */
size_t analysis_max_pairs_in_pass(const void *record, size_t size, size_t cores);

/* Timers: fills figures->intervals with a row for each timer test in report->facts.intervals. */
void analysis_calculate_timers(const void *record, size_t size, const struct report *report, struct figures *figures);

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
 * Calibration loops: fills figures->calibrations with a row for each loop in report->facts.calibrations. The errors are
 * relative to the rate of the calibrated clock, which is calculated from figures->tsc_within.
 */
void analysis_calculate_calibrations(const void *record, size_t size, const struct report *report,
				     struct figures *figures);

/*
 * Costs of a read: fills the cost of each clock in figures->clocks from the latencies on the cores, without the
 * record. Call it after analysis_calculate_rates(), because the cost of a read in a loop is converted with the TSC's
 * rate.
 */
void analysis_calculate_costs(const struct report *report, struct figures *figures);

/* The firmware's time services: fills figures->firmware. There are no rows if the run had no UEFI. */
void analysis_calculate_firmware(const void *record, size_t size, const struct report *report, struct figures *figures);

#endif
