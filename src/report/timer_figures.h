/*
 * A timer test of a report: its programmed times, which are facts, and the figures of its interrupts, which
 * src/analysis calculates.
 */
#ifndef BARETICK_REPORT_TIMER_FIGURES_H
#define BARETICK_REPORT_TIMER_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/interval.h"
#include "clock/clock.h"

/* maximum number of timer tests: two for each of 64 cores, and the tests of all interrupt sources on the boot core */
#define REPORT_INTERVALS_MAX 192
/* Maximum number of interrupt sources that are tested on the boot core. */
#define REPORT_SOURCES_MAX 24

/*
 * The policy of a periodic timer for ticks that become due while interrupts are masked. They cannot all be delivered.
 */
enum report_policy {
	REPORT_POLICY_UNKNOWN,
	/* at most one of the ticks that were due during the masking is delivered; later ticks keep their deadlines */
	REPORT_POLICY_DISCARD,
	/* several of the ticks that were due during the masking are delivered one after another */
	REPORT_POLICY_CATCH_UP,
	/*
	 * at most one of the ticks that were due during the masking is delivered; the next tick follows a full period
	 * after the delivered tick
	 */
	REPORT_POLICY_DELAY,
};

/*
 * Minimum number of interrupts for p99, and for p99.9. With fewer interrupts, these percentiles would equal the
 * maximum.
 */
#define REPORT_P99_MIN  100u
#define REPORT_P999_MIN 1000u

struct interval_test { /* A timer test: an interrupt source that was programmed with one interval. */
	const char *source; /* id of the interrupt source, in static storage */
	bool periodic;
	uint32_t core; /* APIC id of the core on which the source was tested */
	const char *route_kind; /* route of the interrupts to the core: "lapic", "pic", ... */
	uint32_t pin, vector;
	bool faulted;      /* true if an access to the source caused an exception, which ended its tests */
	uint64_t asked_ns; /* programmed interval */
};

struct interval_facts { /* A timer test, and whether its source could be tested. */
	struct interval_test test;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* why the source could not be tested, otherwise "" */
};

struct interval_figures { /* The figures of a timer test. */
	struct interval_test test;
	enum clock_state state; /* the state in struct interval_facts, or CLOCK_STUCK because no interrupt came */
	const char *reason;     /* why there are no figures, otherwise "" */
	uint64_t asked;    /* number of requested interrupts (one-shots or periods) */
	uint64_t expected; /* number of deadlines at which interrupts were enabled */
	/*
	 * DELIVERED is the number of interrupts. EMPTY, DOUBLED and EARLY are numbers of deadlines: without an
	 * interrupt, with two or more interrupts, and with an interrupt that came too early. EXCUSED is the number of
	 * deadlines that are not counted, because preemption or slow reads of the TSC may have affected them. Under
	 * QEMU's -icount every two reads of the TSC can be as far apart as if the core was preempted between them.
	 */
	uint64_t delivered, empty, doubled, early, excused;
	/* number of times that ticks of a periodic source were lost; several lost ticks in a row count once */
	uint64_t losses;
	/* number of ticks that may be late by a whole period, because others are late; their lateness is not known */
	uint64_t doubtful;
	/* number of one-shots that caused no interrupt, although the device's status shows that they expired */
	uint64_t expired;
	uint64_t lost_tsc; /* TSC at which the latest of these one-shots was armed */
	/* TSC when the source was last armed for interrupts, and when its latest interrupt came; 0 if never */
	uint64_t armed_tsc, came_tsc;
	/*
	 * OVER_GAPS is the number of one-shots with at least a quarter of their time left when the core was preempted.
	 * DELAYED of them came late by as long as the core was preempted, although it ran again before. DELAY is the
	 * lateness of the latest of these.
	 */
	uint64_t over_gaps, delayed;
	struct interval_ns delay;
	/*
	 * OVER is the number of one-shots that were programmed with a deadline in the past. STALE is the number of
	 * interrupts that they caused.
	 */
	uint64_t over, stale;
	struct report_lateness {
		uint64_t count; /* number of interrupts; the other fields are valid only if it is not 0 */
		int64_t min_ns, p50_ns, p99_ns, p999_ns, max_ns;
		uint64_t error_ns; /* largest error of the latenesses in this struct, in ns */
		/* time from the earliest interrupt to its deadline, as a positive number */
		struct interval_ns earliest;
		int64_t p1_ns;
	} lateness;
	struct interval_ppb rate; /* difference between the rate of a periodic source and the programmed rate */
	/*
	 * Time in which interrupts were masked, and number of interrupts in an equally long time afterwards. Both are
	 * 0 if this was not tested.
	 */
	uint64_t held_ns, held_delivered;
	enum report_policy policy;
	const char *policy_reason; /* why POLICY is unknown, in static storage; NULL if it is known or was not tested */
	/*
	 * True if ticks come at such irregular times that a tick cannot be assigned to a deadline. Ticks are then not
	 * counted.
	 */
	bool scattered;
};

#endif
