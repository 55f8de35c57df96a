/*
 * The measuring itself: which clock is sampled when, for how long and from which core. Fills a report from
 * clocks that are open; every loop ends by a count, and by the deadline that the caller keeps.
 */
#ifndef BARETICK_SURVEY_H
#define BARETICK_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crew.h"
#include "rate.h"
#include "report.h"
#include "sample.h"
#include "scale.h"
#include "warp.h"

#define SURVEY_SAMPLES_MIN 256 /* of room in the sample buffer */

struct survey_hooks {
	void *context;
	/* Mask and restore interrupts around each batch of samples. */
	uint64_t (*interrupts_mask)(void);
	void (*interrupts_restore)(uint64_t saved);
	sample_bracket *tsc_ordered; /* for the warp check: reads the TSC after all that came before */
	void (*pause)(void);
	/* True once the run's deadline is over. Called between batches. */
	bool (*expired)(void *context);
	/* How far the run is, DONE_NS of TOTAL_NS of measuring time. Called between batches; may draw. */
	void (*progress)(void *context, const char *what, uint64_t done_ns, uint64_t total_ns);
	/* A clock's latency on the boot core is measured. May draw. */
	void (*measured)(void *context, const struct report *report, const struct report_clock *clock);
};

struct survey {
	struct report *report;
	const struct crew *crew;
	struct survey_hooks hooks;
	struct sample *samples; /* the caller's, room for sample_max, at least SURVEY_SAMPLES_MIN */
	size_t sample_max;
	struct latency *scratch;        /* the caller's: for one clock from one other core at a time */
	struct resolution *scratch_resolution;
	struct warp_table *warp;        /* the caller's, with room for every core of the crew; NULL: no warp check */

	/* The survey's own, from here on. */
	struct scale scale;             /* by the provisional rate first, by report->tsc after survey_rates */
	struct rate_interval tsc;       /* the TSC's rate as measured */
	uint64_t edge_bound_ticks;      /* of the TSC, after which an RTC without an edge stands still */
	uint64_t done_ns, total_ns;     /* of measuring time, for progress */
};

/*
 * The whole of it, in this order. Before: report->clocks are open, report->cores lists the cores of the
 * crew, report->duration_ns is set. Each step may be called by itself after the ones above it.
 */
void survey_prepare(struct survey *survey);   /* warms every path up, finds a provisional TSC rate */
void survey_rates(struct survey *survey);     /* all clocks over one window */
void survey_latencies(struct survey *survey); /* each clock from the boot core */
void survey_cores(struct survey *survey);     /* each clock from each other core, one core at a time */
void survey_warps(struct survey *survey);     /* all cores at once on one shared last value */

/* How long all of it should take, from the report's clocks, cores and options, in nanoseconds. */
uint64_t survey_plan_ns(const struct report *report, size_t cores);

#endif
