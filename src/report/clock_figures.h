/* The figures of a clock: its rate with an error budget, and the cost of a read. src/analysis calculates them. */
#ifndef BARETICK_REPORT_CLOCK_FIGURES_H
#define BARETICK_REPORT_CLOCK_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interval.h"
#include "consensus/rate.h"
#include "consensus/rate_fit.h"

/*
 * Error budget of a clock's rate, in parts per 10^12. Each cause of error makes the interval of the rate wider. Its
 * part in the budget is half of this additional width.
 */
struct rate_budget {
	bool known;
	/* part due to the duration of a reading, from the shortest samples at both ends of the rate window */
	uint64_t bracket;
	/* part due to the clock's resolution, as far as many readings do not average it out */
	uint64_t resolution;
	/* part due to the resolution of the TSC, which is read before and after each reading of the clock */
	uint64_t tsc_resolution;
	/* part due to the error of the TSC's rate, which includes the whole error of the clock that sets the scale */
	uint64_t tsc_rate;
	uint64_t claim;          /* part due to rounding of the nominal frequency of the clock that sets the scale */
	uint64_t conversion;     /* part due to rounding, and due to combinations of the other parts */
};

/*
 * The cost of one read for a program that uses the clock. On each core, it is the typical latency of the clock minus
 * the typical latency of the null clock: see latency_get_typical(). A program may run on any core, so the result is the
 * median of all cores: the mean of two middle values, or the lower one if DIFFERS. Its interval contains those of all
 * cores.
 */
struct report_cost {
	struct interval_ns read_ps; /* in ps */
	/*
	 * Duration of two reads for each of 100,000 database rows, in ps. It is a lower bound of what timing the rows
	 * costs, because it leaves out the system call and the database's own work.
	 */
	struct interval_ns rows_ps;
	/* "user space", "kernel" (by a system call) or "either"; NULL if no kernel keeps time by this read method */
	const char *read_in;
	size_t cores;               /* number of cores on which both clocks were read */
	/*
	 * The costs on the cores with the cheapest and the dearest read. DIFFERS is true if the intervals of two cores
	 * do not overlap, and their costs differ by more than 1/4 and by more than half of the cheapest core's bracket.
	 */
	int64_t least_ps, most_ps;
	bool differs;
	/* typical latency of the null clock that was subtracted, on the core or the two cores of the median cost */
	uint64_t null_ps;
	/*
	 * Time per read in a loop on the boot core, minus the typical latency of the null clock. It includes reads that
	 * a gap interrupted. PostgreSQL's pg_test_timing prints at least this value.
	 */
	uint64_t loop_ps;
};

struct clock_figures { /* The rate of a clock, and the cost of a read. */
	/*
	 * The clock's rate, if the clock that sets the scale (figures.relative_to) has exactly its nominal frequency.
	 */
	struct interval_millihz measured;
	/* MEASURED, widened by the possible error of the crystal of the clock that sets the scale. */
	struct interval_millihz absolute;
	struct rate_budget budget;        /* error budget of MEASURED */
	struct interval_ppb error; /* difference between MEASURED and the nominal frequency clock.claimed */
	/*
	 * The TSC's rate if this clock has exactly its nominal frequency. For the TSC itself, its own nominal
	 * frequency. Wrong clocks are found by comparing these rates.
	 */
	struct rate_interval implied;
	enum rate_fit rate_fit;    /* the readings that IMPLIED is calculated from */
	/* true if IMPLIED was measured over the whole run, and not only over the rate window */
	bool rate_whole_run;
	/*
	 * The same as IMPLIED, but measured only over the rate window. For an edge clock (an RTC) in a guest, the field
	 * may be the rate over only the first half of the window.
	 */
	struct rate_interval implied_window;
	/*
	 * The same as IMPLIED, but measured from the end of the rate window to the end of the run. If an edge clock (an
	 * RTC) was measured once more at the run's end, the field is the rate in only that additional measurement.
	 */
	struct rate_interval implied_since;
	/*
	 * Time between the clock's first and last reading in the rate window, and in the rest of the run. 0 if there
	 * are no readings.
	 */
	uint64_t window_ns, since_ns;
	/*
	 * Changes of the clock's rate relative to the TSC. HALVES is the change from the first to the second half of the
	 * rate window. SINCE is the change from the window to the rest of the run. CHANGE is the larger of the two. If
	 * all clocks show the same change, the TSC's rate has changed.
	 */
	struct interval_ppb change_halves, change_since, change;
	/*
	 * True if the clock has no rate, because the core was preempted for so long that the number of wraps is
	 * unknown.
	 */
	bool uncounted;
	/* how far a hypervisor's clock, which is calculated from the TSC, is behind the TSC if both counted from 0 */
	struct interval_ns behind_tsc;
	struct report_cost cost;
};

#endif
