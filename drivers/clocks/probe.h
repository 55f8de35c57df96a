/*
 * Helpers of the clocks' drivers: initial rows, sentences on a clock's state, and a test that a counter
 * moves.
 */
#ifndef BARETICK_PROBE_H
#define BARETICK_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clocks/drivers.h"
#include "clocks/platform.h"
#include "hw/hw.h"

/*
 * Copies DRIVER's rows to CLOCKS and readies DEVICE. False where there is no TSC, so that no reading
 * can be bracketed: every row then says so, and open has nothing more to do.
 */
bool probe_begin(const struct platform *platform, struct device *device, struct clock *clocks,
		 const struct driver *driver);

/* For struct driver: the close of one that changed nothing. */
void probe_close(struct device *device);

/* Gives a row its state and its sentence, cut where it is too long. */
void probe_state(struct clock *clock, enum clock_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The first of CLOCKS has come to its state and sentence: the other ways of reading it share
 * them.
 */
void probe_same(struct clock *clocks, size_t count);

/* Adds a sentence behind what a row's reason says already. */
void probe_note(struct clock *clock, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Whether two readings of a counter that ticks once in 10 us or faster differ, within a bounded
 * wait.
 */
bool probe_moves(sample_read *read, struct device *device);

/* The bound of probe_moves() for other waits: false once it is over. Starts as { 0 }. */
struct probe_wait {
	uint64_t polls, begin;
};
bool probe_goes_on(struct probe_wait *wait);

/*
 * Defines NAME##_sample, a clock's sample function, from READ, its one read: one loop for each bracket, so
 * that the choice between them is made before the first reading.
 */
#define DRIVER_SAMPLE(name, read)                                                                  \
	static void name##_sample(void *device, struct sample *samples, size_t count)              \
	{                                                                                          \
		if (((const struct device *)device)->bracket_with_mfence)                          \
			sample_chain(samples, count, hw_tsc_mfence, read, device);                 \
		else                                                                               \
			sample_chain(samples, count, hw_tsc_lfence, read, device);                 \
	}

#endif
