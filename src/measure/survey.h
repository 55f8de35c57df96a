/*
 * The measurements: which clock is sampled when, for how long and on which core. They fill a report from open
 * clocks. Every loop is bounded by a count and by the run's deadline, which the caller keeps.
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
#include "record/record.h"
#include "report/report.h"
#include "clock/sample.h"
#include "base/scale.h"
#include "sync/warp.h"

/* A core that waits less than this for its next batch should not halt. */
#define SURVEY_AWAKE_NS    UINT64_C(10000000)
#define SURVEY_SPIN_NS     UINT64_C(15000000) /* for hooks.spin_ns on a machine */
#define SURVEY_SAMPLES_MIN 256 /* smallest space of the sample buffer */

struct survey_hooks {
	void *context;
	/* Mask and restore interrupts around each batch of samples. */
	uint64_t (*interrupts_mask)(void);
	void (*interrupts_restore)(uint64_t saved);
	/* For ping-pongs and warp checks: reads the TSC after all earlier instructions. */
	sample_bracket *tsc_ordered;
	void (*pause)(void);
	/*
	 * A core that was halted spins this long before its batch, so that its frequency can rise. 0 if it has
	 * no frequency to raise.
	 */
	uint64_t spin_ns;
	/* Reads the facts of the calling core. May be called on any core. */
	void (*core_facts)(struct core_facts *facts);
	/* Returns true once the run's deadline has passed. Called between batches. */
	bool (*expired)(void *context);
	/*
	 * Returns true once the user has asked for the end: the run then goes on as a quick one. Called between
	 * batches. NULL if a user cannot ask.
	 */
	bool (*asked)(void *context);
	/* How far the run is, DONE_NS of TOTAL_NS of measuring time. Called between batches; may draw. */
	void (*progress)(void *context, const char *what, uint64_t done_ns, uint64_t total_ns);
	/* Called when a clock's latency on the boot core is complete. May draw. */
	void (*measured)(void *context, const struct report *report, const struct report_clock *clock);
	/* Called when a row of the series is complete. May draw. NULL if no caller needs it. */
	void (*row)(void *context, const struct report *report);
	/*
	 * Runs work on the boot core, and returns after an exception; may be nested. NULL if exceptions are not
	 * caught.
	 */
	fault_guard *guarded;
};

/* A core's entry `watch` in the record. Each part of a soak is added to it. */
struct survey_watch {
	size_t at; /* its offset in the record, or 0 if it is not in the record */
	struct record_watch sum;
	struct record_octave octaves[OCTAVES];
};

/* Memory for measuring several cores, one block that is laid out before a core starts. */
struct survey_memory {
	size_t cores;            /* most cores of survey->smp that it has space for */
	enum tournament widest;  /* the largest schedule of pairs that it has space for */
	struct report_core *rows; /* for report->cores, zeroed */
	struct warp_table *warp;
	struct pingpong *pingpongs; /* cores / 2 */
	uint32_t *core_of;       /* core number, by rank */
	struct offsets first, middle, latest;
	struct offsets star; /* pairs with the boot core in one round of a soak */
	struct offset *solved;   /* each core's offset against the boot core, by rank */
	bool *outlier, *disputed; /* as long as SOLVED */
	bool *latest_outlier, *moved;
	struct offset *drifts;    /* each pair's drift from the first to the latest pass */
	uint32_t *batch_cores;   /* cores of one batch of ping-pongs: the first and second core of each pair */
	uint32_t *batch_ranks;   /* ranks of BATCH_CORES, in the same order */
	uint64_t *medians;       /* median round trip of each ping-pong of a batch */
	struct sample *samples;  /* SURVEY_CONTENDED_SAMPLES to each core */
	uint32_t *others;        /* for each core: how many other cores read the clock at the same time */
	struct gaps *gaps;       /* the core that is watched writes it */
	struct survey_watch *watches; /* one of each core */
	uint8_t *record;         /* record_size bytes */
	size_t record_size;
};

#define SURVEY_CONTENDED_SAMPLES 128 /* samples of one clock on one core while all cores read it */

/* A clock's readings from the start of the rate window to the end of the run. */
#define SURVEY_CORNERS_MAX 4

/* A few samples at one moment: the tightest with its wraps undone, and the corners of all. */
struct survey_look {
	struct sample tightest;
	struct rate_corners corners;
};

struct survey_track {
	struct report_clock *entry; /* NULL: not followed */
	/* Ends of the window, and a reading in its middle. Zeroed until they are taken. */
	struct sample first, middle, last;
	struct sample end;          /* last, or at the run's end */
	struct sample edge;         /* edge clocks: the latest edge */
	/* Corners of the ends that were taken. Each is found by its begin; an edge has none. */
	struct rate_corners corners[SURVEY_CORNERS_MAX];
	size_t corners_taken;
	/* Looks within the window. Every 2^between_log2-th look is kept. */
	struct survey_look between[RATE_BETWEEN_MAX];
	size_t between_count, looks;
	unsigned between_log2;
	uint64_t raw, begin, tsc;   /* the latest reading, and the TSC readings around it */
	uint64_t ticks;             /* from the first reading to the latest, wraps undone */
	/*
	 * The latest reading at which all clocks fitted. If a discontinuity ends the window, the epoch ends
	 * here.
	 */
	struct sample fit;
	/* After the window the firmware may have stopped its counter for short times. */
	bool stood;
	/* In the window, other clocks contradict the number of wraps that was counted. */
	bool uncounted;
	uint64_t counted_ticks, counted_tsc; /* TICKS and TSC when the wraps were last checked */
	bool edge_seen;
};

/* A clock compared with all others, from the time when all fitted to its latest reading: see sweeps.c. */
struct survey_step {
	struct sample then, now;      /* raw readings; then.end is 0 if there is none yet */
	bool at_edge, then_at_edge;   /* NOW, and THEN, is an edge of an edge clock */
	bool sure;                    /* THEN is an edge that a later edge confirmed */
	/* How far an edge clock may have been ahead when it was last found to fit, in ns. */
	int64_t hidden_ns;
	/* The TSC's rate by this clock, including the uncertainty of the clock's own rate. */
	struct rate_interval implied;
};

struct survey {
	struct report *report;
	const struct smp *smp;
	struct survey_hooks hooks;
	struct sample *samples; /* The caller's buffer of SAMPLE_MAX samples, at least SURVEY_SAMPLES_MIN. */
	size_t sample_max;
	struct latency *scratch;        /* the caller's: one clock on one other core at a time */
	uint64_t rate_limit_ppb;        /* clocks whose rates differ by more disagree: the judge's limit */
	uint64_t deadline_tsc;          /* the latest end of the run by the TSC; 0 if unknown */
	/* Laid out by survey_lay_out(). If cores is 0, no core is measured against another. */
	struct survey_memory memory;

	/* Private to the survey, from here on. */
	struct scale scale;             /* the provisional rate at first; report->tsc after survey_rates() */
	struct rate_interval tsc;       /* the TSC's rate as measured */
	bool tsc_doubtful;              /* no majority of the clocks confirms it */
	uint64_t start_tsc;             /* start of the run */
	uint64_t job_ticks;             /* mean time of a job on one core, from reading the cores' facts */
	uint64_t together_ticks;        /* time of the latest job on all cores at once; 0 if there was none */
	bool tsc_stopped;               /* Nothing is timed any more, and the report is incomplete. */
	uint64_t tsc_resolution_ticks;  /* upper bound of the TSC's step, in ticks */
	struct survey_track tracks[REPORT_CLOCKS_MAX]; /* in the order of report->clocks */
	struct record record;           /* in memory.record, from survey_begin_record() on */
	size_t gap_entries;             /* in the record */
	/*
	 * How often each clock wraps: its pace at first measurement as a multiple of its nominal frequency, at
	 * least 1.
	 */
	uint64_t paces[REPORT_CLOCKS_MAX];
	struct survey_step steps[REPORT_CLOCKS_MAX];
	uint64_t step_tsc;              /* start of the current step */
	/* The firmware's tick is on, so clocks that it may stop are not compared. */
	bool ticking;
	unsigned cuts;                  /* discontinuities so far; no rate spans one */
	/* Jumps against the TSC after which all clocks were read; see survey_leapt(). */
	unsigned leaps_looked;
	unsigned window_cuts;           /* discontinuities up to the end of the rate window */
	/* The clock that the boot core reads now, or read when a fault ended that. NULL if none. */
	const struct clock *reading;
	/* The tracks of the longest window that a discontinuity ended. */
	struct survey_track longest[REPORT_CLOCKS_MAX];
	uint64_t edge_bound_ticks;      /* TSC ticks after which an RTC of unknown rate counts as stopped */
	uint64_t timers_ns;             /* planned time for timer tests after the checks; 0 if there are none */
	struct {
		/*
		 * Time of all batches of the rate window, of the shortest batch, and of batches in which the
		 * core was preempted. In TSC ticks.
		 */
		uint64_t shortest, all, away;
	} window_away;
	/* Round of a soak, which does a part of each long measurement per round. 0 or 1 rounds: all at once. */
	uint64_t round, rounds;
	size_t star_next;               /* round of the schedule at which the next boot-core-only pass starts */
	unsigned series_cuts;           /* discontinuities up to the start of the series' row */
	uint64_t done_ns, total_ns;     /* measuring time, for progress */
	/* Part of TOTAL_NS that is expected because the host is busy; see survey_plan_late(). */
	uint64_t late_ns;
};

/* Bytes needed for CORES cores and schedules up to WIDEST. The block must be aligned to a cache line. */
size_t survey_memory_size(size_t cores, enum tournament widest);

/* Bytes for the record of a run on CORES cores; part of survey_memory_size(). */
size_t survey_record_size(size_t cores);

/*
 * Lays survey->memory out in MEMORY, which has survey_memory_size() zeroed bytes, and sets report->cores to its
 * rows.
 */
void survey_lay_out(struct survey *survey, void *memory, size_t cores, enum tournament widest);

/*
 * Ends the run if its deadline has passed or if the TSC stopped, because everything is timed by the TSC. The
 * report then says why and is incomplete. Returns true if the run has ended.
 */
bool survey_end_if_due(struct survey *survey);

/*
 * Reads each main clock. Returns true if the clocks disagree on the time since the reading before. The report
 * then says so, and the run goes on, but no rate spans that time.
 */
bool survey_observe(struct survey *survey);

/* Begins the record, and with it the time in the run. */
void survey_begin_record(struct survey *survey);

enum survey_end {
	SURVEY_WHOLE, /* the work was completed */
	SURVEY_BROKE, /* an exception ended it while a clock was accessed, which is marked as broken */
	SURVEY_FELL,  /* an exception ended it elsewhere; the report says so, and is incomplete */
};

/*
 * Runs WORK, which belongs to the phase WHAT. A fault is attributed to CLOCK, or if that is NULL, to the clock
 * that is being read.
 */
enum survey_end survey_guarded(struct survey *survey, const char *what, const struct clock *clock,
			       void (*work)(void *argument), void *argument);

/* The counter of the clocks of SERIES was set: compares them only from their next reading on. */
void survey_forget(struct survey *survey, size_t series);

/*
 * The firmware's timer tick was turned on or off. While it is on, clocks that it may stop are not compared, and
 * no rate of theirs spans that time.
 */
void survey_tick(struct survey *survey, bool ticking);

/* Sets the progress to the start of STAGE: everything planned before counts as done, however long it took. */
enum survey_stage {
	SURVEY_AT_CONTENDED, SURVEY_AT_WARPS, SURVEY_AT_INTERFERENCE, SURVEY_AT_RATES_AGAIN, SURVEY_AT_CHECKS,
	SURVEY_AT_TIMERS,
};
void survey_is_at(struct survey *survey, enum survey_stage stage);

#endif
