/*
 * The report: everything that a run found, as plain data. Measuring fills it, judging adds the verdicts, and
 * the renderers turn it into bytes and know nothing else. A figure that was not measured is marked as such
 * by its own flag or count of 0, never by a plausible number.
 *
 * All memory is the caller's and is planned before the cores start.
 */
#ifndef BARETICK_REPORT_H
#define BARETICK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "latency.h"
#include "monotonic.h"
#include "options.h"
#include "resolution.h"

#define REPORT_CLOCKS_MAX   16
#define REPORT_RATES_MAX    (REPORT_CLOCKS_MAX * (REPORT_CLOCKS_MAX - 1) / 2)
#define REPORT_FINDINGS_MAX 64
#define REPORT_NOTES_MAX    16
#define REPORT_SENTENCE     192
#define REPORT_NO_CORE      UINT32_MAX

enum verdict { VERDICT_PASS, VERDICT_WARN, VERDICT_FAIL, VERDICT_INCOMPLETE, VERDICT_ABSENT };

/* A figure with its error: the truth lies within low and high, both included. */
struct interval_millihz {
	bool known;
	uint64_t value, low, high; /* Hz times 1,000 */
};

struct interval_ppb {
	bool known;
	int64_t value, low, high; /* parts per 10^9 */
};

struct report_clock {
	struct clock clock; /* as its driver left it; its state may become stuck while measuring */
	struct interval_millihz measured;
	struct interval_ppb error; /* of measured against clock.claimed */
	struct latency *latency;   /* on the boot core; latency->count == 0 where not measured */
	struct resolution resolution;
	struct monotonic monotonic;
	enum verdict verdict;
};

struct report_rate { /* how much faster A runs than B, by their claims */
	const char *a, *b; /* clock ids */
	struct interval_ppb ppb;
};

struct core_latency { /* of one clock, read from one core; count == 0 where not measured */
	uint64_t count;
	uint64_t min_ns, p50_ns, p99_ns;
};

struct report_core {
	uint32_t apic_id;
	bool started; /* true for the boot core */
	bool boot;
	char reason[CLOCK_REASON_SIZE]; /* why it did not start or stopped answering, else "" */
	bool has_tsc_adjust;
	int64_t tsc_adjust; /* ticks */
	struct core_latency latency[REPORT_CLOCKS_MAX]; /* in the order of report.clocks */
	uint64_t warp_iterations; /* in the contended check; 0 where it took no part */
};

struct report_skew { /* of the contended warp check */
	bool measured;
	bool starved; /* some core got too few turns: no warp seen proves nothing */
	size_t cores; /* that took part */
	uint64_t iterations, warps;
	uint64_t worst_ticks, worst_ns;
	uint32_t worst_a, worst_b; /* APIC ids: the stamp of A was ahead of the later one of B */
};

struct finding {
	const char *rule;     /* id in the catalogue */
	enum verdict severity; /* warn or fail */
	const char *clock;    /* id, or NULL */
	uint32_t core;        /* APIC id, or REPORT_NO_CORE */
	bool has_measured;
	int64_t measured, low, high, limit;
	const char *unit;
	char text[REPORT_SENTENCE];
	const char *source;
};

struct report {
	const char *version, *commit; /* of baretick; static storage */
	struct options options;
	uint64_t duration_ns;     /* per measurement, the profile's where none was given */
	char started_at[32];      /* ISO 8601 by the firmware's clock, "" where it gave none */
	uint64_t elapsed_ms;
	bool elapsed_known;

	char cpu[49], hypervisor[13], firmware[96], accelerator[16];
	const char *fence; /* "lfence;rdtsc" or "mfence;lfence;rdtsc": what brackets a sample */
	bool tsc_is_invariant;
	uint32_t cores_listed, cores_started;

	struct rate tsc;  /* what turns ticks into ns everywhere below; den 0: unknown, then 1 tick = 1 ns */
	char tsc_source[64]; /* by what the rate was found, for people */

	size_t clock_count;
	struct report_clock clocks[REPORT_CLOCKS_MAX];
	size_t rate_count;
	struct report_rate rates[REPORT_RATES_MAX];
	size_t core_count;
	struct report_core *cores;
	struct report_skew skew;
	size_t note_count; /* sentences on the machine: broken tables, a volume that could not be written, ... */
	char notes[REPORT_NOTES_MAX][REPORT_SENTENCE];
	bool incomplete; /* the deadline came, or a core took the run down: what was measured stands */
	size_t finding_count;
	struct finding findings[REPORT_FINDINGS_MAX];
	enum verdict verdict;
};

const char *verdict_word(enum verdict verdict);       /* "pass" ... "absent" */
const char *clock_state_word(enum clock_state state); /* "present" ... */

/* The device's first way of reading, and not the null clock: those are compared with each other. */
bool report_clock_is_main(const struct report_clock *entry);

/* The clock's rate, as measured or else as claimed, in Hz times 1,000; 0 where neither is known. */
uint64_t report_clock_millihz(const struct report_clock *entry);

/* What TICKS of the clock last by that rate, in picoseconds; 0 where it is unknown. */
uint64_t report_clock_ps(const struct report_clock *entry, uint64_t ticks);

/* Adds a note where there is room; what does not fit is cut. */
void report_note(struct report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
