/* Reads one clock's batches from a record. Used only in src/analysis. */
#ifndef BARETICK_RATE_BATCHES_H
#define BARETICK_RATE_BATCHES_H

#include "analysis/rate_readings.h"
#include "record/record.h"

/*
 * The rate windows of a record from which the rates are calculated, by their numbers in the record. A number is 0 if
 * there is no such window.
 */
struct rate_windows {
	const void *record;
	size_t size; /* size of RECORD in bytes */
	/* the last complete rate window; if none is complete, the longest one that a discontinuity ended */
	uint16_t window;
	uint16_t final;  /* the readings at the end of the run, which have a window number of their own */
	uint32_t clocks; /* set of the clocks that were tracked to the end of a rate window, as indices into the report */
	/* For each clock, the TSC of its last reading in the window before a discontinuity, or 0 without a discontinuity. */
	uint64_t until_tsc[REPORT_CLOCKS_MAX];
};

struct rate_batches {
	/* the clock's readings; the TSC's scale and resolution are the latest recorded before `close` */
	struct rate_readings readings;
	struct sample middle;          /* reading in the middle of the window; zero if there is none */
	/*
	 * The batch at the end of the rate window. Zero if the clock was not tracked to the end, or if the window did
	 * not end.
	 */
	struct record_batch close;
	struct record_batch final;     /* reading at the end of the run; zero if there is none */
	/* the ends of an additional measurement of an edge clock at the end of the run */
	struct sample again[2];
	bool has_again;                /* true if the run tried this additional measurement */
	/*
	 * true if the firmware's timer tick was switched on or off after the window, which may have stopped the clock
	 */
	bool may_have_stopped;
};

/* Returns true if BATCH belongs to the rate window, and was not taken after a discontinuity. */
static inline bool
rate_is_in_window(const struct rate_windows *windows, const struct record_batch *batch)
{
	uint64_t until_tsc = windows->until_tsc[batch->clock];

	return batch->stage < RECORD_FINAL && batch->window && batch->window == windows->window &&
	       (!until_tsc || batch->begin <= until_tsc);
}

/* Returns true if BATCH was taken after the rate window, until the end of the run. */
static inline bool
rate_is_after_window(const struct rate_windows *windows, const struct record_batch *batch)
{
	return batch->stage >= RECORD_FINAL && batch->window &&
	       (batch->window == windows->window || batch->window == windows->final);
}

struct rate_windows rate_find_windows(const void *record, size_t size);

/* Reads the batches of clock I of REPORT from the record of WINDOWS. */
void rate_read_batches(const struct rate_windows *windows, const struct report *report, size_t i,
		       struct rate_batches *batches);

#endif
