/*
 * The memory of a run, taken before a core is started, from the number of cores that may come. Where
 * the firmware has too little the plan gets smaller: first without the pairs, then with half as many
 * cores, and so on.
 */
#ifndef BARETICK_PLAN_H
#define BARETICK_PLAN_H

#include "report.h"
#include "save.h"
#include "text.h"
#include "tournament.h"

struct plan {
	size_t cores;            /* that may be listed, the boot core included */
	enum tournament widest;
	void *memory;            /* for survey_lay_out(), zeroed */
	void *series;            /* for run_machine.series; NULL where the run has none */
	/* The report's, each large enough for whatever it may say; not initialised. */
	struct text table, json, html, csv;
	struct text screen;      /* the pager's buffer */
	void *taken;             /* the memory as the firmware gave it */
};

/*
 * For at most CORES cores; a smaller plan is a note in REPORT. False: there is not even memory for
 * the boot core alone, and nothing is held.
 */
bool plan_take(struct plan *plan, size_t cores, struct report *report);

/*
 * All that is saved of REPORT, in the plan's own TEXTS. False: one of them does not fit, which its size is there
 * to rule out.
 */
bool plan_render(struct plan *plan, const struct report *report, const struct text *texts[SAVE_FILES]);

void plan_give_back(struct plan *plan);

#endif
