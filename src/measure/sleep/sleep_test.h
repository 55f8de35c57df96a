/*
 * A sleep test puts some cores to sleep in one state. The boot core observes them: it measures their offsets, wakes
 * them, and reads clocks of the chipset. The files of this folder share this header.
 */
#ifndef BARETICK_SLEEP_TEST_H
#define BARETICK_SLEEP_TEST_H

#include "measure/sleep/survey_sleep.h"
#include "measure/survey_internal.h"

#define SLEEP_AWAKE_NS   (5 * SURVEY_NS_PER_MS)  /* time in which all cores are awake before the long sleep */
#define SLEEP_LONG_NS    (20 * SURVEY_NS_PER_MS) /* duration of the long sleep */
#define SLEEP_SHORTS     8u                      /* number of short sleeps that an IPI ends, and that the timer ends */
#define SLEEP_CLOCKS_MAX 2u                      /* HPET and PM timer */

/* The progress of a core that has begun or ended its sleep number K, from 1. It only grows. */
#define SLEEP_BEGUN(k) (2 * (k) - 1)
#define SLEEP_ENDED(k) (2 * (k))
/* True if the timer ends the K-th sleep, false if an IPI does. */
#define SLEEP_IS_BY_TIMER(k) ((k) > 1 + SLEEP_SHORTS)
/* The progress of a core that does not sleep, because it has no timer. The record has no entry of this core. */
#define SLEEP_LEFT_OUT UINT32_MAX

/*
 * One sleeping core. Each part that a different core writes has its own cache lines. MWAIT watches LINE, which is never
 * written.
 */
struct sleeper {
	/* Written by the boot core. SENT is the number of the latest sleep that it has ended by an IPI. */
	uint32_t core;
	uint64_t sent_tsc;
	uint32_t sent __attribute__((aligned(PINGPONG_LINE)));
	/* Written by the sleeping core: a value of the macros SLEEP_BEGUN and SLEEP_ENDED, or SLEEP_LEFT_OUT. */
	uint32_t progress __attribute__((aligned(PINGPONG_LINE)));
	struct timer timer; /* the timer that is used now: the counter, or the one with TSC deadlines */
	uint8_t line[PINGPONG_LINE] __attribute__((aligned(PINGPONG_LINE)));
	struct record_sleep entry;
	uint64_t resident[SLEEP_COUNTERS]; /* residency counters before the long sleep, and after it their increases */
	size_t wake_count;
	struct record_woken wakes[2 * SLEEP_SHORTS];
};

struct sleep_test {
	struct survey *survey;
	const struct sleep_driver *driver;
	uint32_t state, counters; /* COUNTERS is the set of the residency counters */
	/* Only for the boot core: number of the present sleep, from 1, and the progress that all cores are to reach. */
	uint32_t k, awaited;
	uint64_t seen_ticks; /* duration of the long sleep by the boot core's TSC */
	struct sleeper *sleepers[REPORT_SLEEPERS_MAX];
	size_t count;
	bool leaves_out; /* true if a core has the progress SLEEP_LEFT_OUT */
	struct record_slept_clock clocks[SLEEP_CLOCKS_MAX];
	size_t clock_count;
};

/* Returns the memory of CORE, which only the phase `contended` uses for another purpose. */
static inline struct sleeper *
sleep_test_get_sleeper(const struct sleep_test *test, size_t core)
{
	return (struct sleeper *)(void *)(test->survey->memory.samples + core * SURVEY_CONTENDED_SAMPLES);
}

static inline uint64_t
sleep_test_ticks(const struct sleep_test *test, uint64_t ns)
{
	return scale_ns_to_ticks(&test->survey->scale, ns);
}

/* functions in sleep_job.c */

/* Lets the sleepers sleep while the boot core observes them. A core that does not wake is marked as lost. */
void sleep_test_run_job(struct sleep_test *test);

/*
 * Waits NS by the TSC, but at most NS polls, or until IS_OVER (may be NULL) returns true for ARGUMENT. Returns true if
 * it does.
 */
bool sleep_test_wait(const struct sleep_test *test, uint64_t ns, bool (*is_over)(const void *argument),
		     const void *argument);

/* Returns the TSC_ADJUST of the calling core, or 0 if it has none. */
uint64_t sleep_test_read_adjust(const struct sleep_test *test);

/* Reads the calling core's residency counters, before and after its long sleep. */
void sleep_test_read_counters(const struct sleep_test *test, struct sleeper *sleeper);

/* Reads the chipset's clocks into the samples at OFFSET of each element of TEST->clocks. */
void sleep_test_read_clocks(struct sleep_test *test, size_t offset);

#endif
