/*
 * Functions and state of the measurements. They decide when, for how long and on which core each clock is sampled, and
 * fill the report. Every loop is limited by a count, and by the deadline of the run, which the caller sets.
 */
#ifndef BARETICK_SURVEY_H
#define BARETICK_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/sleep.h"
#include "clock/smp.h"
#include "clock/fault.h"
#include "clock/stolen.h"
#include "stats/gaps.h"
#include "analysis/wraps.h"
#include "sync/pingpong.h"
#include "sync/offsets.h"
#include "consensus/rate.h"
#include "record/record.h"
#include "report/report.h"
#include "clock/sample.h"
#include "base/scale.h"
#include "sync/warp.h"

/* a core halts if it must wait longer than this for its next batch of reads */
#define SURVEY_AWAKE_NS    UINT64_C(10000000)
/* time that a core spins after a halt on a real machine, so that its frequency can rise: see hooks.spin_ns */
#define SURVEY_SPIN_NS     UINT64_C(15000000)
#define SURVEY_SAMPLES_MIN 256 /* minimum size of the sample buffer */

struct survey_hooks {
	void *context;
	/* These functions mask interrupts before each batch of samples, and restore them afterwards. */
	uint64_t (*interrupts_mask)(void);
	void (*interrupts_restore)(uint64_t saved);
	/* Reads the TSC after all earlier instructions have completed. */
	sample_bracket *tsc_ordered;
	void (*pause)(void);
	/*
	 * Time that a core spins after a halt, before its batch, so that its frequency can rise. 0 if its frequency is fixed.
	 */
	uint64_t spin_ns;
	/* Reads facts about the calling core, which may be any core. */
	void (*core_facts)(struct core_facts *facts);
	/*
	 * Returns the number of TSC ticks that are left until the deadline of the run: 0 after the deadline, UINT64_MAX if
	 * there is no deadline yet. May call the firmware, so it is called on the boot core, with interrupts enabled.
	 */
	uint64_t (*ticks_left)(void *context);
	/*
	 * Returns true after the user has asked for the end of the run. The remaining measurements are then as short as in
	 * a quick run. Called between batches. NULL if the user cannot ask.
	 */
	bool (*asked)(void *context);
	/* Reports progress: DONE_NS of TOTAL_NS. Called between batches; may update the screen. */
	void (*progress)(void *context, const char *what, uint64_t done_ns, uint64_t total_ns);
	/* Called when a clock's latency on the boot core is complete. May update the screen. */
	void (*measured)(void *context, const struct report *report, const struct report_clock *clock);
	/* Called when a row of the series is complete. May update the screen. NULL if not needed. */
	void (*row)(void *context, const struct report *report);
	/*
	 * Calls a function on the boot core. An exception in that function ends only this call, which then returns
	 * false. Calls may be nested. NULL if exceptions are not caught.
	 */
	fault_guard *guarded;
	const struct stolen_counter *stolen_counter; /* the hypervisor's counter of stolen time */
	const struct sleep_hooks *sleep; /* NULL if no sleep states are tested */
};

/*
 * A core's entry `watch` in the record: how long the core was observed for gaps, and the gaps that were found. In a
 * soak, each round adds to this entry.
 */
struct survey_watch {
	size_t at; /* the entry's offset in the record; 0 before the entry is written */
	bool unreported; /* true if the hypervisor's counter of stolen time could not be read in one of the rounds */
	struct record_watch sum;
	struct record_octave octaves[OCTAVES];
};

/*
 * Sums over all ping-pongs of one core with the boot core in a soak. The record has the same sums in an entry
 * `exchange`.
 */
struct survey_pingpongs {
	size_t at; /* the entry's offset in the record; 0 before the entry is written */
	struct record_exchange exchange;
	struct record_pingpong pingpong;
};

/* Memory for measuring several cores. It is one block, which is divided before any core starts. */
struct survey_memory {
	size_t cores;            /* maximum number of cores that the memory has space for */
	enum pair_schedule widest;  /* largest schedule of pairs that the memory has space for */
	void *report;            /* memory of the report's arrays, for report_divide_memory() */
	struct warp_table *warp;
	struct pingpong *pingpongs; /* a ping-pong for each pair of a batch; there are cores / 2 pairs */
	uint32_t *core_of;       /* core number of each rank (see sync/offsets.h) */
	struct record_members *members; /* set of the cores in core_of, for the record */
	struct offsets offsets;  /* offsets of the pairs in the current pass, without their ping-pongs' times */
	struct survey_pingpongs *sums; /* for each core, the sum of its ping-pongs in a soak */
	uint32_t *batch_cores;   /* core numbers in a batch of ping-pongs: the first and the second core of each pair */
	uint32_t *batch_ranks;   /* ranks of the cores in batch_cores */
	uint64_t *medians;       /* median round trip of each pair of a batch */
	struct latency *latencies; /* REPORT_CLOCKS_MAX latencies of clocks on one core */
	struct sample *samples;  /* samples of all cores; each core has SURVEY_CONTENDED_SAMPLES of them */
	uint32_t *others;        /* for each core, the number of other cores that read the clock at the same time */
	struct gaps *gaps;       /* gaps of the core that is observed; written by that core */
	struct survey_watch *watches; /* for each core, the gaps that were found so far */
	uint8_t *record;         /* memory of the record, with record_size bytes */
	size_t record_size, facts_size; /* FACTS_SIZE bytes of the record are reserved for the facts */
};

#define SURVEY_CONTENDED_SAMPLES 128 /* number of samples of a clock on one core while all cores read it */

/* State of one clock, which is followed through the rate window and until the end of the run. */
struct survey_track {
	struct report_clock *entry; /* NULL if the clock is not tracked */
	uint16_t window;            /* number of the rate window in which it was tracked last */
	struct sample first, last;  /* samples at the ends of the rate window; zero until they are taken */
	struct sample edge;         /* latest edge of an edge clock (an RTC, see clock.h); zero before its first edge */
	/* number of batches in the rate window (for an RTC, of edges); only some of them are in the record */
	size_t batch_count;
	struct wraps_count count;   /* the latest reading, and the wraps before it */
	/* Latest reading at which all clocks agreed on the time. A discontinuity ends the window at this reading. */
	struct sample fit;
	/* latest reading after the rate window that is in the record; its END is 0 if there is none */
	struct sample recorded;
	bool is_unrecorded;         /* true if the record had no space for a reading after the window */
};

/*
 * The current step, the interval since the last comparison of all clocks, as in the record's entry `step`. See
 * sweeps.c.
 */
struct survey_steps {
	struct record_step now; /* the current step */
	/* clocks in the order of report->facts.clocks; then.end is 0 if a clock has no earlier reading */
	struct record_compared clocks[REPORT_CLOCKS_MAX];
	/* readings of the clocks before those at the start of the step; END is 0 if there is none */
	struct sample before[REPORT_CLOCKS_MAX];
	unsigned cuts;          /* number of discontinuities until now; a rate never spans a discontinuity */
	unsigned jumps_checked;  /* number of jumps against the TSC that survey_check_jump_of_clock() has checked */
	/*
	 * offset in the record of the entry that counts disagreements beyond REPORT_DISCONTINUITIES_MAX; 0 if there is
	 * none
	 */
	size_t more_at;
};

/* Memory of the caller. */
struct survey_buffer {
	struct sample *samples;  /* SAMPLE_MAX samples; at least SURVEY_SAMPLES_MIN */
	size_t sample_max;
};

/* State of the TSC. */
struct survey_tsc {
	/* true if the TSC stopped; then nothing can be timed any more, and the report is incomplete */
	bool is_stopped;
	uint64_t resolution_ticks; /* upper bound of the TSC's resolution, in ticks */
};

/* The rate windows. */
struct survey_windows {
	uint16_t count; /* number of rate windows until now, see struct record_batch */
	unsigned cuts;  /* number of discontinuities before the latest rate window; no rate spans a later discontinuity */
	/* if an RTC of unknown rate does not tick for this many TSC ticks, it has stopped */
	uint64_t edge_bound_ticks;
	struct {
		/*
		 * TSC ticks that batches in the rate window took: the shortest batch, all batches together, and
		 * all batches in which the core was preempted.
		 */
		uint64_t shortest, all, preempted;
	} batches;
};

/* The rounds and rows of a soak. */
struct survey_soak {
	/*
	 * Number of the current round, and number of all rounds. Each round makes a part of each long measurement.
	 * With 0 or 1 rounds, measurements are not divided.
	 */
	uint64_t round, rounds;
	unsigned cuts;    /* number of discontinuities before the current row of the series */
	/* position in the schedule at which the next pass of pairs with the boot core starts */
	size_t star_next;
};

/* The passes over the pairs of cores. */
struct survey_passes {
	uint16_t count;           /* number of passes until now, including the current one */
	/*
	 * a value of enum record_pass_stage; 0 between passes, and in a rehearsal (a trial of the first pairs)
	 */
	uint16_t stage;
	bool measured;            /* true if there was a first pass with at least one ping-pong */
	enum pair_schedule kind;  /* schedule of the first pass */
	uint64_t elapsed_ns;      /* duration of the first pass */
	uint64_t median_width_ticks; /* median width of the offsets' intervals in the first pass; 0 before it ended */
};

/* Parts of a run in their order. survey_plan.c has the planned duration of each part. */
enum survey_part {
	SURVEY_RATES, SURVEY_LATENCIES, SURVEY_PAIRS, SURVEY_CORES, SURVEY_PAIRS_MIDDLE, SURVEY_CONTENDED, SURVEY_WARPS,
	SURVEY_GAPS, SURVEY_ROUNDS, SURVEY_PAIRS_AGAIN, SURVEY_RATES_AGAIN, SURVEY_SLEEP, SURVEY_CHECKS, SURVEY_CALIBRATIONS,
	SURVEY_TIMERS, SURVEY_PARTS
};

/* The plan of the run, which gives the progress. */
struct survey_plan {
	bool has_calibrations, has_timers; /* true if the run has calibration loops, and tests of timers */
	enum survey_part part;             /* the current part; all parts before it are done */
	uint64_t done_ns;                  /* time of the current part that is done */
};

struct survey {
	struct report *report;
	const struct smp *smp;
	struct survey_hooks hooks;
	struct survey_buffer buffer;
	uint64_t rate_limit_ppb;        /* largest difference of two clocks' rates that is no disagreement */
	/* Filled by survey_divide_memory(). If memory.cores is 0, cores are not compared. */
	struct survey_memory memory;

	/* The following fields are private to src/measure. */
	/* the TSC's rate: an estimate at first, and report->figures.tsc after survey_measure_rates() */
	struct scale scale;
	struct survey_tsc tsc;
	/*
	 * Expected time in TSC ticks for starting a job on all cores at once and for waiting for its end, without the
	 * work of the job. It is the time that the latest such job took. Before the first, it is estimated from the jobs
	 * that read the facts of each core. A job cannot be stopped without losing its cores, so it must only be started
	 * if there is enough time.
	 */
	uint64_t joint_job_ticks;
	struct survey_track tracks[REPORT_CLOCKS_MAX]; /* tracks of the clocks in the order of report->facts.clocks */
	struct record record;           /* the record, which uses memory.record after survey_begin_record() */
	struct survey_steps steps;
	/* True while the firmware's tick is on. Clocks that it may stop are then not compared. */
	bool ticking;
	/* The clock that the boot core is reading, or was reading when an exception occurred. NULL if there is none. */
	const struct clock *reading;
	struct survey_windows rates;
	struct survey_soak soak;
	struct survey_passes passes;
	struct survey_plan plan;
};

/*
 * Returns the size of the memory for CORES cores, a pass with the schedule WIDEST, and ROWS rows of a soak's series.
 * The memory must be aligned to a cache line.
 */
size_t survey_memory_bytes(size_t cores, enum pair_schedule widest, size_t rows);

#define SURVEY_CALIBRATION_BATCH 50 /* maximum number of results of a loop in one entry of the record */
#define SURVEY_CALIBRATION_READ  50 /* maximum number of runs of each loop that are recorded with their readings */

#define SURVEY_REPEATS_MAX  4096u /* largest number of repeated ping-pongs in a pass */
#define SURVEY_RETRY_SWEEPS 16u   /* largest number of times that a pass repeats the pairs without a good result */
/*
 * Largest number of batches in the rehearsal (see tsc_sync_measure.c). In so many batches, the number of concurrent
 * pairs can grow to 2^16 and be halved a few times.
 */
#define SURVEY_REHEARSAL_BATCHES 32u

/*
 * After this many batches, the record leaves out batches that are only needed for counting wraps. A rate window of a
 * minute has 3,000 batches, or more on a busy host.
 */
#define SURVEY_BATCHES_MAX 16384

/* Returns the number of struct record_members for CORES cores. */
static inline size_t
survey_core_sets(size_t cores)
{
	return cores / RECORD_MEMBERS_CORES + 1;
}

/* Returns the size of a run's record. It is a part of survey_memory_bytes(), which has the same arguments. */
size_t survey_max_record_bytes(size_t cores, enum pair_schedule widest, size_t rows);

/* Divides MEMORY, which has survey_memory_bytes() zeroed bytes, into survey->memory and the arrays of the report. */
void survey_divide_memory(struct survey *survey, void *memory, size_t cores, enum pair_schedule widest, size_t rows);

/*
 * Ends the run if its deadline has passed. Also ends the run if the TSC stopped, because the TSC times everything. The
 * report of an ended run has a note and is incomplete. Returns true if the run has ended.
 */
bool survey_end_run_if_due(struct survey *survey);

/*
 * Reads the main clock of each device. Returns true if the clocks disagree on the time since their previous readings.
 * Then the report gets an entry, and no rate spans this time. The run continues in any case.
 */
bool survey_read_and_compare_clocks(struct survey *survey);

/* Starts the record. The time in the run counts from this call. */
void survey_begin_record(struct survey *survey);

/*
 * Runs WORK. If it causes an exception, and the run can catch exceptions, describes the exception in FAULT and returns
 * false.
 */
bool survey_run_guarded(struct survey *survey, void (*work)(void *argument), void *argument, struct fault *fault);

enum survey_end {
	SURVEY_WHOLE, /* the work was completed */
	SURVEY_BROKE, /* an exception ended the work during an access to a clock; this clock is now marked as broken */
	SURVEY_FELL,  /* an exception ended the work at another place; the report has a note and is incomplete */
};

/*
 * Runs WORK, which belongs to the phase WHAT. If an exception ends it, CLOCK is marked as broken. If CLOCK is NULL, the
 * clock that was being read is marked instead.
 */
enum survey_end survey_run_catching_exceptions(struct survey *survey, const char *what, const struct clock *clock,
					       void (*work)(void *argument), void *argument);

/*
 * To be called after the counter of a device was set. SERIES is the number of its driver. Earlier readings of the
 * device's clocks are then not compared with later ones.
 */
void survey_drop_earlier_readings(struct survey *survey, size_t series);

/*
 * To be called after the firmware's timer tick was turned on or off. While the tick is on, clocks that it may stop are
 * not compared, and their rates do not span that time.
 */
void survey_note_firmware_tick(struct survey *survey, bool ticking);

/* Returns the planned duration of the run. */
uint64_t survey_planned_run_ns(const struct survey *survey);

/*
 * Reports the progress. The planned time of all earlier parts is done, even if they were shorter or longer than
 * planned. EXTRA_NS of the current part are done in addition to survey->plan.done_ns.
 */
void survey_show_progress(const struct survey *survey, const char *what, uint64_t extra_ns);

/* Returns the pace (see analysis/wraps.h) of the clock ID, or 1 if it was not estimated. */
uint64_t survey_get_pace(const struct survey *survey, const char *id);

#endif
