/*
 * Common functions of the clock drivers. They initialize a driver's clocks, set sentences about a clock's state, and
 * test that a counter moves.
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
 * Copies DRIVER's clocks (one for each read method) to CLOCKS, and initializes DEVICE. Returns false if the machine has
 * no TSC, which each sample needs. The state of all clocks is then set to this reason, and open() must return at once.
 */
bool probe_initialize_clocks(const struct platform *platform, struct device *device, struct clock *clocks,
			     const struct driver *driver);

/* The close() function of a driver that changes nothing. */
void probe_close(struct device *device);

/* Sets a clock's state and the sentence that explains it. A sentence that is too long is cut. Returns false. */
bool probe_set_state(struct clock *clock, enum clock_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Copies the state and the sentence of CLOCKS[0] to the other clocks, which read the same device. */
void probe_copy_state_of_first_clock(struct clock *clocks, size_t count);

/* Appends a sentence to the clock's reason. */
void probe_append_note(struct clock *clock, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns true if a counter's reading changes within 2^24 TSC ticks. The counter must tick at least every 122 us. */
bool probe_counter_moves(sample_read *read, struct device *device);

/*
 * A wait with the same limits as in probe_counter_moves(). Initialize it with { 0 }. probe_wait_has_time_left() returns
 * false when the wait is over.
 */
struct probe_wait {
	uint64_t polls, begin;
};
bool probe_wait_has_time_left(struct probe_wait *wait);

/*
 * Takes COUNT samples with the function READ, which reads the clock once. HERE is the argument for READ on the calling
 * core. Each kind of TSC read around READ gets a separate loop. The kind is thus selected before the loop, and not at
 * each reading.
 */
static inline __attribute__((always_inline)) void
probe_sample(const struct device *device, struct sample *samples, size_t count, sample_read *read, void *here)
{
	if (device->bracket_with_mfence)
		sample_chain(samples, count, hw_tsc_mfence, read, here);
	else
		sample_chain(samples, count, hw_tsc_lfence, read, here);
}

/* Defines NAME##_sample, the sample function of a clock that READ reads with the device as its argument. */
#define DRIVER_SAMPLE(name, read)                                                                  \
	static void name##_sample(void *device, struct sample *samples, size_t count)              \
	{                                                                                          \
		probe_sample(device, samples, count, read, device);                                \
	}

#endif
