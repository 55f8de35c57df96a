/*
 * One sample: a clock's reading between two readings of the TSC.
 *
 * Samples of one run are chained: the closing TSC reading of one is the opening reading of the next. A sample
 * therefore costs one clock read and one TSC read, and nothing in a run happens between two samples. All
 * figures about a clock are computed from such samples.
 */
#ifndef BARETICK_SAMPLE_H
#define BARETICK_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct sample {
	uint64_t begin; /* TSC ticks, read before the clock */
	uint64_t ticks; /* raw reading of the clock, counting up, at most its wrap_ticks */
	uint64_t end;   /* TSC ticks, read after the clock; opening reading of the next sample */
};

/* Consecutive readings of the TSC on one core. */
struct tsc_steps {
	uint64_t reads;       /* readings that were compared with the reading before */
	uint64_t backward;    /* readings lower than the reading before */
	uint64_t worst_ticks; /* the largest step back */
};

/* Compares NOW with BEFORE, the reading before it on the same core. */
static inline void
tsc_steps_take(struct tsc_steps *steps, uint64_t before, uint64_t now)
{
	steps->reads++;
	if (now >= before)
		return;
	steps->backward++;
	if (before - now > steps->worst_ticks)
		steps->worst_ticks = before - now;
}

/* Compares the brackets of COUNT samples of one core. */
static inline void
tsc_steps_take_samples(struct tsc_steps *steps, const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tsc_steps_take(steps, samples[i].begin, samples[i].end);
}

/* Reads the TSC after all earlier instructions have completed. Never fails. */
typedef uint64_t sample_bracket(void);

/* Reads the clock once. DEVICE is the driver's own. */
typedef uint64_t sample_read(void *device);

/*
 * Takes COUNT chained samples into SAMPLES, the caller's array of COUNT. It is inlined with BRACKET and READ
 * known at compile time, so that no call and no branch on the clock's kind is measured.
 */
static inline __attribute__((always_inline)) void
sample_chain(struct sample *samples, size_t count, sample_bracket *bracket, sample_read *read,
	     void *device)
{
	uint64_t opening = bracket();

	for (size_t i = 0; i < count; i++) {
		uint64_t ticks = read(device);
		uint64_t closing = bracket();

		samples[i] = (struct sample){ opening, ticks, closing };
		opening = closing;
	}
}

#endif
