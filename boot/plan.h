/*
 * The memory of a run. It is allocated before a core is started, for all cores that may start. If there is too little
 * memory, the plan first omits the measurement of all pairs of cores. It then halves the number of cores until the
 * memory is enough.
 */
#ifndef BARETICK_PLAN_H
#define BARETICK_PLAN_H

#include "base/deflate.h"
#include "base/text.h"
#include "console/progress.h"
#include "report/folders.h"
#include "report/report.h"
#include "sync/pair_schedule.h"

/* Functions for report.html and the screen. Only a boot with UEFI has them. */
struct plan_page {
	size_t (*size)(size_t cores); /* maximum size of the page in bytes, without the series of a soak */
	void (*render)(struct text *page, const struct report *report);
	size_t screen_size;           /* bytes of the pager's buffer */
};

struct plan {
	struct progress *progress; /* owned by the caller; NULL if no progress is printed, as for a checkpoint */
	const struct plan_page *page; /* owned by the caller; NULL without page and screen */
	size_t cores;            /* the buffers have space for this number of cores, including the boot core */
	enum pair_schedule widest;
	void *memory;            /* zeroed memory for the measurements: see survey_divide_memory() */
	size_t memory_pages;
	void *series;            /* memory for the series of a soak; NULL if the run has no series */
	/*
	 * Buffers for the report's formats, each as large as the longest text of its format. Without a page, html has
	 * size 0.
	 */
	struct text table, json, html, csv;
	struct text record;      /* set by plan_render_files(); its bytes belong to the run */
	struct text base64;      /* the record for the serial line */
	struct text screen;      /* the pager's buffer */
	struct deflate_work *pack; /* work memory of serial=compact, else NULL */
};

/*
 * Allocates a plan for at most CORES cores. If it is for fewer cores, REPORT gets a note. PAGE may be NULL. Returns
 * false, and keeps no memory, if there is not even memory for the boot core.
 */
bool plan_allocate_memory(struct plan *plan, size_t cores, const struct plan_page *page, struct report *report);

/* Prints a progress line for WHAT, a step that may take long on a slow processor. See progress_show_step(). */
void plan_show_step(const struct plan *plan, const char *what);

/*
 * Renders all saved formats of REPORT into the plan's buffers, and sets TEXTS to them. Returns false if a text does not
 * fit. This is not expected, because the buffers have the maximum sizes.
 */
bool plan_render_files(struct plan *plan, const struct report *report, const struct text *texts[SAVE_FILES]);

/*
 * Renders the texts for a serial line into the same buffers. Call this after the report was saved. With many cores,
 * sending JSON and CSV would take minutes, so short forms replace them. The short CSV overwrites the CSV. The short
 * JSON overwrites the page, because the JSON may still be sent to a server. Without a page it overwrites the JSON.
 */
void plan_render_serial_texts(struct plan *plan, const struct report *report, const struct text **json,
			      const struct text **csv);

/*
 * Returns the record in base64. Returns NULL if the report has no record. Also returns NULL if the report has so many
 * cores that sending the record would take too long.
 */
const struct text *plan_render_record(struct plan *plan, const struct report *report);

/* Returns the lines of serial=compact, which overwrite the CSV. Call it after the report was saved. See compact.h. */
const struct text *plan_render_compact_report(struct plan *plan, const struct report *report);

void plan_free(struct plan *plan);

#endif
