/*
 * The memory of a run, taken before a core is started, from the number of cores that may come. Where
 * there is too little the plan gets smaller: first without the pairs, then with half as many
 * cores, and so on.
 */
#ifndef BARETICK_PLAN_H
#define BARETICK_PLAN_H

#include "base/deflate.h"
#include "base/text.h"
#include "report/folders.h"
#include "report/report.h"
#include "sync/pair_schedule.h"

/* The page report.html and the screen, which only some boots have. */
struct plan_page {
	size_t (*size)(size_t cores); /* the most bytes of the page, without the series */
	void (*render)(struct text *page, const struct report *report);
	size_t screen_size;           /* bytes of the pager's buffer */
};

struct plan {
	const struct plan_page *page; /* owned by the caller; NULL without page and screen */
	size_t cores;            /* that may be listed, the boot core included */
	enum tournament widest;
	void *memory;            /* for survey_lay_out(), zeroed */
	void *series;            /* for run_machine.series; NULL where the run has none */
	/* Buffers for the report's forms, each as large as the longest text. Without a page html has no bytes. */
	struct text table, json, html, csv;
	struct text record;      /* in the memory of the run, after plan_render() */
	struct text base64;      /* the record for the serial line */
	struct text screen;      /* the buffer of the pager */
	struct deflate_work *pack; /* with serial=compact, else NULL */
	void *taken;             /* the memory as the firmware gave it */
};

/*
 * For at most CORES cores; a smaller plan is a note in REPORT. False: there is not even memory for
 * the boot core alone, and nothing is held. PAGE may be NULL.
 */
bool plan_take(struct plan *plan, size_t cores, const struct plan_page *page, struct report *report);

/*
 * All that is saved of REPORT, in the plan's own TEXTS. False: one of them does not fit, which its size is there
 * to rule out.
 */
bool plan_render(struct plan *plan, const struct report *report, const struct text *texts[SAVE_FILES]);

/*
 * After the report was saved: what a serial line gets of it, in the same texts. With many cores JSON and CSV would take
 * minutes. Their short forms then take the place of the CSV and of the page; JSON stays for a server. Without a page
 * there is no server, and the short form takes the place of JSON.
 */
void plan_render_serial(struct plan *plan, const struct report *report, const struct text **json,
			const struct text **csv);

/* Returns the record in base64, or NULL if the report has none or so many cores that it would take long. */
const struct text *plan_render_record(struct plan *plan, const struct report *report);

/* Likewise, with serial=compact: the report in lines, in place of the CSV. See compact.h. */
const struct text *plan_render_compact(struct plan *plan, const struct report *report);

void plan_give_back(struct plan *plan);

#endif
