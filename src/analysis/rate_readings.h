/*
 * The readings of one clock from which its rates are calculated, and the rate between any two of them. Used in the
 * analysis, and during a run to decide whether a rate window can end.
 */
#ifndef BARETICK_RATE_READINGS_H
#define BARETICK_RATE_READINGS_H

#include "consensus/rate.h"
#include "consensus/rate_fit.h"
#include "record/record.h"
#include "report/report.h"

static inline struct sample
rate_sample_of_batch(const struct record_batch *batch)
{
	return (struct sample){ batch->begin, batch->ticks, batch->end };
}

struct rate_batch_reader { /* reads the batches of a record in their order */
	struct record_reader reader;
	struct record_entry entry;     /* the entry of the latest batch */
	struct record_batch batch;
	struct scale scale;            /* the TSC's rate as it was known when the batch was taken */
	uint64_t tsc_resolution_ticks; /* upper bound of the TSC's resolution */
	unsigned tick_changes;         /* how often the firmware's timer tick was switched on or off until then */
};

struct rate_batch_reader rate_open_batches(const void *record, size_t size);

/* Reads the next batch of any clock with a number below REPORT_CLOCKS_MAX. Returns false if there is none. */
bool rate_read_next_batch(struct rate_batch_reader *reader);

/*
 * The numbers of the rate windows that give the rates. A record may have further windows. A number is 0 if there is no
 * such window.
 */
struct rate_windows {
	const void *record;
	size_t size; /* size of RECORD in bytes */
	/* the last complete rate window; if none is complete, the longest one that a discontinuity ended */
	uint16_t window;
	uint16_t final;  /* the readings at the end of the run, which have a window number of their own */
	/* For each clock, the TSC of its last reading in the window before a discontinuity, or 0 without a discontinuity. */
	uint64_t until_tsc[REPORT_CLOCKS_MAX];
};

struct rate_windows rate_find_windows(const void *record, size_t size);

/* Returns true if BATCH belongs to the rate window, and was not taken after a discontinuity. */
bool rate_is_in_window(const struct rate_windows *windows, const struct record_batch *batch);

/* a batch of samples: the shortest sample, and the points that limit the clock's rate (see rate_fit.h) */
struct rate_batch {
	/* number in the rate window, from 0; also 0 for a batch at an end of the window, so that it is always kept */
	uint64_t number;
	struct sample sample;
	struct rate_corners corners;
};

struct rate_readings {
	const struct report *report;
	const struct report_clock *entry;
	struct scale scale;            /* the TSC's rate as it was known when the clock was read */
	uint64_t tsc_resolution_ticks; /* upper bound of the TSC's resolution */
	/* Differences between readings: their greatest common divisor and the smallest, or 0 if the clock never moved. */
	uint64_t gcd_ticks, smallest_ticks;
	/*
	 * The latest reading of each stage (enum record_stage); zero if there is none. The reading of RECORD_LAST is the
	 * end of the rate window also if a discontinuity ended the window.
	 */
	struct sample at[RECORD_STAGES];
	bool is_closed;                /* true if the clock was tracked to the end of the rate window */
	struct record_batch final;     /* the batch at the end of the run; zero if there is none */
	/* An additional measurement of an edge clock at the end of the run ends at at[RECORD_AGAIN]. */
	bool has_again;                /* true if the run tried this additional measurement */
	struct sample again_first;     /* its first edge */
	/*
	 * true if the firmware's timer tick was switched on or off after the window, which may have stopped the clock
	 */
	bool may_have_stopped;
	struct rate_batch batches[RATE_ENDS_MAX]; /* in order of time; empty for an edge clock (see clock.h) */
	size_t batch_count;
	uint64_t pace;                            /* the clock's pace (see wraps.h) at the start of the rate window */
};

/* Reads the batches of clock I of REPORT from the record of WINDOWS. */
void rate_read_batches(const struct rate_windows *windows, const struct report *report, size_t i,
		       struct rate_readings *readings);

/*
 * Returns the expected ticks of a clock in PASSED_TSC ticks of the TSC, by its rate from FIRST to LAST, or 0 if LAST is
 * not after FIRST.
 */
uint64_t rate_expected_ticks(const struct sample *first, const struct sample *last, uint64_t passed_tsc);

/* Returns the batches from FROM to TO, from which rate_fit_line() calculates a rate. Not for edge clocks. */
struct rate_ends rate_readings_get_batches_between(const struct rate_readings *readings, const struct sample *from,
						   const struct sample *to);

/*
 * Returns the clock's ticks per TSC tick from FROM to TO, with the uncertainty of both readings. Sets FIT to the kind
 * of readings from which this slope was calculated.
 */
struct rate_slope rate_readings_fit_slope(const struct rate_readings *readings, const struct sample *from,
					  const struct sample *to, enum rate_fit *fit);

/*
 * Returns the TSC's rate from FROM to TO, assuming that the clock runs at its nominal frequency. The result is unknown
 * if the rate is implausible.
 */
struct rate_interval rate_readings_implied_rate(const struct rate_readings *readings, const struct sample *from,
						const struct sample *to);

/*
 * Returns the TSC's rate by these two readings only, without the batches between them, as if the clock's nominal
 * frequency was exact.
 */
struct rate_interval rate_readings_implied_rate_of_two_samples(const struct rate_readings *readings,
							       const struct sample *from, const struct sample *to);

/* Returns how the clock's rate against the TSC changed from FROM..MIDDLE to MIDDLE..TO. */
struct interval_ppb rate_readings_rate_change(const struct rate_readings *readings, const struct sample *from,
					      const struct sample *middle, const struct sample *to);

/* Returns a nominal frequency with its rounding error. It is unknown if CLAIMED.den is 0. */
struct rate_interval rate_get_claimed_rate(struct rate claimed, uint64_t within_ppb);

/* wraps cannot be counted if the uncertainty of the expected ticks is more than 1/4 of the counter's range */
#define RATE_AMBIGUOUS_SHARE 4

/*
 * Returns true if the number of wraps of CLOCK's counter in about EXPECTED ticks is uncertain. One cause is the error
 * of IMPLIED, the TSC's rate by CLOCK. The other cause is CHANGE_PPB, by which the TSC's rate may have changed: clocks
 * that take longer to wrap show this change.
 */
bool rate_may_wraps_be_miscounted(const struct clock *clock, const struct rate_interval *implied, uint64_t expected,
				  uint64_t change_ppb);

/* Returns true if TSC is a plausible rate. If it is implausible, the TSC jumped, or was set back repeatedly. */
bool rate_is_tsc_rate_plausible(const struct scale *scale, const struct rate_interval *tsc);

#endif
