/*
 * The measuring itself: which clock is sampled when, for how long and from which core. Fills a report from
 * clocks that are open; every loop ends by a count, and by the deadline that the caller keeps.
 */
#ifndef BARETICK_SURVEY_H
#define BARETICK_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/smp.h"
#include "clock/fault.h"
#include "stats/gaps.h"
#include "sync/pingpong.h"
#include "sync/offsets.h"
#include "consensus/rate.h"
#include "consensus/rate_fit.h"
#include "report/report.h"
#include "clock/sample.h"
#include "base/scale.h"
#include "sync/warp.h"

#define SURVEY_AWAKE_NS    UINT64_C(10000000) /* a core that waits for its next batch should not halt for so long */
#define SURVEY_SPIN_NS     UINT64_C(15000000) /* for hooks.spin_ns on a machine */
#define SURVEY_SAMPLES_MIN 256 /* that the sample buffer has space for */

struct survey_hooks {
	void *context;
	/* Mask and restore interrupts around each batch of samples. */
	uint64_t (*interrupts_mask)(void);
	void (*interrupts_restore)(uint64_t saved);
	sample_bracket *tsc_ordered; /* for ping-pongs and warp checks: reads the TSC after all that came before */
	void (*pause)(void);
	uint64_t spin_ns; /* a core out of a halt spins so long before its batch; 0: it has no frequency to rise */
	/* What the core that calls says of itself. May be called on any core. */
	void (*core_facts)(struct core_facts *facts);
	/* True once the run's deadline is over. Called between batches. */
	bool (*expired)(void *context);
	/* True once somebody asked for the end: the run goes on as a quick one. Called between batches. NULL: nobody can. */
	bool (*asked)(void *context);
	/* How far the run is, DONE_NS of TOTAL_NS of measuring time. Called between batches; may draw. */
	void (*progress)(void *context, const char *what, uint64_t done_ns, uint64_t total_ns);
	/* A clock's latency on the boot core is measured. May draw. */
	void (*measured)(void *context, const struct report *report, const struct report_clock *clock);
	/* A row of the series is over. May draw. NULL: nobody looks. */
	void (*row)(void *context, const struct report *report);
	/* On the boot core, within each other. NULL: what takes an exception is not come back from. */
	fault_guard *guarded;
};

/* What the cores' measuring needs, all in one block that is planned before a core starts. */
struct survey_memory {
	size_t cores;            /* of survey->smp, at most */
	enum tournament widest;  /* the tournament that it is large enough for */
	struct report_core *rows; /* for report->cores, zeroed */
	struct warp_table *warp;
	struct pingpong *pingpongs; /* cores / 2 */
	uint32_t *core_of;       /* core number, by rank */
	struct offsets first, middle, latest;
	struct offsets star; /* of a round of a soak: each core with the boot core alone */
	struct offset *solved;   /* by rank: the offset against the boot core */
	bool *outlier, *disputed; /* likewise */
	bool *latest_outlier, *moved;
	struct offset *drifts;    /* of each pair, from the first to the latest */
	uint32_t *batch_cores;   /* the cores of one batch of ping-pongs: the first and the second of each */
	uint32_t *batch_ranks;   /* likewise: their ranks */
	uint64_t *medians;       /* of the round trips of each ping-pong of a batch */
	struct sample *samples;  /* SURVEY_CONTENDED_SAMPLES to each core */
	uint32_t *others;        /* of each core: how many others read the clock while it did */
};

#define SURVEY_CONTENDED_SAMPLES 128 /* of one clock by one core while all read it */

/* A clock on its way from the begin of the rates' window to the end of the run. */
#define SURVEY_CORNERS_MAX 4

/* A few samples: the tightest, wraps undone, and all. */
struct survey_look {
	struct sample tightest;
	struct rate_corners corners;
};

struct survey_track {
	struct report_clock *entry; /* NULL: not followed */
	struct sample first, middle, last;   /* of the window; zeroed while it was not reached */
	struct sample end;          /* last, or at the run's end */
	struct sample edge;         /* edge clocks: the latest edge */
	/* Of the ends that were taken, each found by its begin; edges have none. */
	struct rate_corners corners[SURVEY_CORNERS_MAX];
	size_t corners_taken;
	struct survey_look between[RATE_BETWEEN_MAX]; /* of the window: one of each 2^between_log2 that were taken */
	size_t between_count, looks;
	unsigned between_log2;
	uint64_t raw, begin, tsc;   /* the latest reading, and the TSC readings around it */
	uint64_t ticks;             /* from the first reading to the latest, wraps undone */
	struct sample fit;          /* the latest that fitted all others: where an epoch ends that something cuts off */
	bool stood;                 /* after the window its counter may have been stopped for moments */
	bool uncounted;             /* in the window: by other clocks it wrapped more or less often than was counted */
	uint64_t counted_ticks, counted_tsc; /* ticks and tsc, when that was last looked at */
	bool edge_seen;
};

/* A clock compared with all others, from when they fitted to its latest reading: see steps.c. */
struct survey_step {
	struct sample then, now;      /* readings as they are; then.end 0: none yet */
	bool at_edge, then_at_edge;   /* NOW, and THEN, is an edge of an edge clock */
	bool sure;                    /* THEN is such an edge, and a later edge agreed with it */
	int64_t hidden_ns;            /* so much an edge clock may have been ahead when it was last taken to fit */
	struct rate_interval implied; /* of the TSC by this clock, with all that is not known of its rate */
};

struct survey {
	struct report *report;
	const struct smp *smp;
	struct survey_hooks hooks;
	struct sample *samples; /* the caller's, sample_max of them, at least SURVEY_SAMPLES_MIN */
	size_t sample_max;
	struct latency *scratch;        /* the caller's: for one clock from one other core at a time */
	uint64_t rate_limit_ppb;        /* clocks whose rates are further apart disagree: the judge's limit */
	uint64_t deadline_tsc;          /* when the run ends at the latest; 0: not known */
	struct survey_memory memory;    /* for the cores, by survey_lay_out(); cores == 0: nothing is asked of them */

	/* The survey's own, from here on. */
	struct scale scale;             /* by the provisional rate first, by report->tsc after survey_rates */
	struct rate_interval tsc;       /* the TSC's rate as measured */
	bool tsc_doubtful;              /* no majority of the clocks stands behind it */
	uint64_t start_tsc;             /* the run's begin */
	bool tsc_stopped;               /* nothing is timed any more, the report is incomplete */
	uint64_t tsc_resolution_ticks;  /* the TSC moves by at most so much at once */
	struct survey_track tracks[REPORT_CLOCKS_MAX]; /* in the order of report->clocks */
	struct gaps gaps;               /* of one core at a time */
	/* By which its wraps are counted: each clock's pace at first glance, in multiples of its claim, at least 1. */
	uint64_t paces[REPORT_CLOCKS_MAX];
	struct survey_step steps[REPORT_CLOCKS_MAX];
	uint64_t step_tsc;              /* the begin of the step that they are in */
	bool ticking;                   /* the firmware's tick goes on: clocks that it may stop are not compared */
	unsigned cuts;                  /* discontinuities up to now: no rate spans one */
	unsigned leaps_looked;          /* leaps against the TSC at which all others were asked; see survey_leapt() */
	unsigned window_cuts;           /* of them up to the end of the rates' window */
	const struct clock *reading;    /* on the boot core now, or when a fault ended that; NULL: none */
	struct survey_track longest[REPORT_CLOCKS_MAX]; /* of the windows that were cut off */
	uint64_t edge_bound_ticks;      /* of the TSC, after which an RTC of which no rate is known has stopped */
	uint64_t timers_ns;             /* that intervals on timers take behind the checks; 0: there are none */
	struct {
		uint64_t shortest, all, away; /* batches of the rates' window in ticks of the TSC; of those the core was away */
	} window_away;
	uint64_t round, rounds;         /* of a soak: a part of what takes long in each; 0 or 1: all at once */
	size_t star_next;               /* the round of its tournament with which the next star begins */
	unsigned series_cuts;           /* discontinuities up to the begin of the series' row */
	uint64_t done_ns, total_ns;     /* of measuring time, for progress, */
	uint64_t late_ns;               /* and of that what is expected of a busy host; see survey_plan_late() */
};

/* Bytes for CORES cores and tournaments up to WIDEST. The block begins on a cache line. */
size_t survey_memory_size(size_t cores, enum tournament widest);

/* Lays survey->memory out in MEMORY of that size, which the caller has zeroed; report->cores is its rows then. */
void survey_lay_out(struct survey *survey, void *memory, size_t cores, enum tournament widest);

/*
 * Ends the run where its deadline is over, or where the TSC stopped, by which everything is timed: the report says
 * which, and is incomplete then. Whether it has ended.
 */
bool survey_end_if_due(struct survey *survey);

/*
 * Reads each main clock: whether time went otherwise for some than for others since the reading before. The report says
 * so then, and the run goes on: no rate spans that.
 */
bool survey_observe(struct survey *survey);

enum survey_end {
	SURVEY_WHOLE, /* it came to its end */
	SURVEY_BROKE, /* it took an exception, which ended it there, at a clock: that one is broken from now on */
	SURVEY_FELL,  /* likewise elsewhere: the report says so, and is incomplete */
};

/* Plays WORK, a part of WHAT; it is about CLOCK, or where that is NULL, about the one that is read at the time. */
enum survey_end survey_guarded(struct survey *survey, const char *what, const struct clock *clock,
			       void (*work)(void *argument), void *argument);

/* The counter of the clocks of SERIES was set: they are compared from their next reading on. */
void survey_forget(struct survey *survey, size_t series);

/*
 * The firmware's timer tick goes on from now on, or is quiet. What the clocks that it may stop show while it does is
 * compared with nothing, and no rate of theirs spans it.
 */
void survey_tick(struct survey *survey, bool ticking);

/* For progress, the run has come so far: what was planned before is done, however long it took, or was left out. */
enum survey_stage {
	SURVEY_AT_CONTENDED, SURVEY_AT_WARPS, SURVEY_AT_INTERFERENCE, SURVEY_AT_RATES_AGAIN, SURVEY_AT_CHECKS,
	SURVEY_AT_TIMERS,
};
void survey_is_at(struct survey *survey, enum survey_stage stage);

#endif
