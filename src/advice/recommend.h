/* The recommendation at the end of a run: which clocks a kernel should use, in what order, and why. */
#ifndef BARETICK_RECOMMEND_H
#define BARETICK_RECOMMEND_H

#include "report/phrase.h"

/*
 * Fills advice->taken: the clocks that systems would use, and why. systems.c has the table of systems. Also sets
 * advice->answer.linux_takes. ADVICE is that of REPORT, here and below.
 */
void recommend_predict_clocksources(const struct report *report, struct advice *advice);

/* Fills advice->aftermaths: what each discontinuity left behind in the clocks of advice->taken. */
void recommend_describe_aftermath(const struct report *report, struct advice *advice);

/* Returns the rule of the first finding with SEVERITY on CLOCK, or NULL. */
const char *recommend_find_first_rule_against(const struct report *report, const char *clock, enum verdict severity);

/*
 * Returns the cost of a read by the method ID (a clock's row, such as hpet_32 or tsc_rdtscp) in ps, with its interval.
 * It is not known if the row is absent or was not measured.
 */
struct interval_ns recommend_get_read_cost_ps(const struct report *report, const char *id);

/*
 * Returns the read method (a row, such as hpet_32) that a kernel uses for the clock ID. Linux reads an HPET by one
 * access of 32 bits, and not by three accesses.
 */
const char *recommend_get_kernel_read_row(const struct report *report, const char *id);

/* Fills advice->answer, which summarises all other members of ADVICE. */
void recommend_write_answer(const struct report *report, struct advice *advice);

/* Returns the results of the calibration loop ID if it ran, or NULL. */
const struct calibration_figures *recommend_find_calibration_loop(const struct report *report, const char *id);

/* Returns the worst error of the loop ROW, as "1.2 ppm". The error must be known. */
struct phrase recommend_describe_worst_error(const struct calibration_figures *row);

/*
 * Fills advice->remarks and advice->calibrated: sentences on the errors of Linux's calibration loops for the TSC, as
 * they ran here.
 */
void recommend_describe_calibrations(const struct report *report, struct advice *advice);

/*
 * Fills advice->tick: the timer that Linux takes for its tick. The choice does not depend on the timers' lateness,
 * because Linux does not check it.
 */
void recommend_predict_tick_timer(const struct report *report, struct advice *advice);

/*
 * Fills advice->ranking and all other advice, from facts, figures and outcomes. The healthy clocks come first: by the
 * hundreds of their ratings in Linux, and within a hundred by the cost of a read. Healthy clocks that kernels switch
 * off follow: a clock whose rate changed, and an HPET that the sleep state PC10 stops. Failed clocks come last, as
 * clocks to avoid. A clock that is absent or was not measured is left out.
 */
void recommend_clocks(const struct report *report, struct advice *advice);

#endif
