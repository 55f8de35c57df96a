/*
 * The figures of a report: rates, costs, offsets, stolen time, discontinuities and the firmware's time. src/analysis
 * calculates them from the facts and the record.
 */
#ifndef BARETICK_REPORT_FIGURES_H
#define BARETICK_REPORT_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/interval.h"
#include "clock/firmware_time.h"
#include "consensus/discontinuity.h"
#include "consensus/rate.h"
#include "report/clock_figures.h"
#include "report/facts.h"
#include "report/sleep_figures.h"
#include "sync/offsets.h"

#define REPORT_RATES_MAX    (REPORT_CLOCKS_MAX * (REPORT_CLOCKS_MAX - 1) / 2)
#define REPORT_EVENTS_MAX   256
#define REPORT_DISCONTINUITIES_MAX 8
#define REPORT_GROUPS_MAX DISCONTINUITY_GROUPS_MAX
#define REPORT_FIRMWARE_MAX  16 /* maximum number of rows on the firmware's time services */
#define REPORT_PASSES       3 /* maximum number of measurement passes over the pairs of cores */

struct calibration_figures { /* Results of a calibration loop, which is run many times. */
	const struct calibration_loop *loop; /* as in struct report_calibration */
	const char *reason; /* why the loop was not run, otherwise "" */
	uint64_t runs, refused; /* number of runs, and number of runs whose result the loop refused */
	size_t refusal_count;
	struct report_refusal {
		const char *reason; /* why the loop refused the result, in static storage */
		uint64_t count;     /* number of runs whose result was refused for this reason */
	} refusals[CALIBRATION_REFUSALS];
	/*
	 * Median and worst error of the accepted results, against the measured rate. Unknown if the rate was not
	 * measured.
	 */
	struct interval_ppb median, worst;
	/*
	 * Duration of the run with the worst error, and of the shortest run, by the TSC. Both are 0 if the record has no
	 * TSC readings of the run with the worst error.
	 */
	uint64_t worst_run_ns, shortest_run_ns;
};

/* Comparison of two clocks: by how much A runs faster than B, relative to their nominal frequencies. */
struct report_rate {
	const char *a, *b; /* ids of the two clocks */
	struct interval_ppb ppb;
	/*
	 * True if the ratio of the two measured rates may be exactly the ratio of the nominal frequencies. The two
	 * clocks then probably have the same source.
	 */
	bool same_source;
};

struct core_figures { /* The figures of one core. */
	uint64_t observed_ns;     /* time in which the core was observed for gaps; 0 if it was not observed */
	uint64_t gaps, worst_gap_ns; /* number of gaps, and length of the longest gap */
	/* number of other cores that exchanged messages with this core in both directions in the first pass */
	uint64_t pingpongs;
	size_t rank; /* index among the cores that took part in the passes; REPORT_NO_RANK if it did not */
};

/* A measurement pass, in which pairs of cores exchange messages with TSC readings (ping-pongs). */
struct report_pass {
	struct offsets offsets;
	/* number of pairs that have ping-pongs at the same time; it is adapted during a pass, and this is its last value */
	size_t concurrency;
	size_t rounds;
	uint64_t elapsed_ns; /* duration of the pass */
	uint64_t pingpongs;  /* number of pairs whose messages arrived on both sides */
	uint64_t again;      /* number of ping-pongs that were repeated because the first result had a wide interval */
	/* The following fields are results of offsets_calculate_core_offsets(). The arrays have an entry for each rank. */
	struct offsets_summary summary;
	struct offset *core_offsets; /* offset of the core's TSC against the boot core's TSC, in ticks */
	uint8_t *outlier;            /* 1 if the TSC of the core differs from the majority */
};

struct report_skew { /* synchronisation of the cores' TSCs */
	/* The arguments of report_divide_memory(), which divides the memory into the arrays below. */
	void *memory;
	size_t cores_max, pairs_max;

	/* The following fields are results of the measurement passes. */
	const char *kind_reason; /* why not all pairs were measured, or ""; in static storage */
	uint64_t warps;          /* number of messages in all passes whose stamp was ahead of the receiver's TSC */
	uint64_t worst_warp_ticks, worst_warp_ns;
	uint32_t worst_warp_a, worst_warp_b; /* APIC ids of the cores of the largest warp: A's TSC was ahead of B's */
	/* shortest round trip of all pairs in the first pass, and the median of the pairs' median round trips */
	uint64_t best_trip_ns, median_trip_ns;
	/*
	 * The passes in which at least one pair had a ping-pong, in the order of time. All have the same cores and the same
	 * schedule. A pass between the first and the last is made only if the first took a small part of the run.
	 */
	size_t pass_count;
	struct report_pass passes[REPORT_PASSES];
	uint32_t *core_of;       /* for each rank, the index of the core in facts.cores */
	/*
	 * Drifts of the pairs from the first pass to the last, in ppb, stored like the offsets of a pass. There are no
	 * cores if there was no second pass.
	 */
	struct offsets drifts;
	/* time from the end of the first pass to the end of the last pass, which are the times in phrase_pass_times() */
	uint64_t drift_span_ns;
	struct histogram *trips; /* working memory for the median round trips of all pairs */
};

struct report_gap {
	uint64_t at_ms; /* start of the gap, since the start of the run */
	uint64_t ns;
	uint32_t core;  /* APIC id of the core */
};

struct report_interference { /* stolen time on all cores together */
	bool measured;
	uint64_t threshold_ns;
	uint64_t observed_ns; /* time in which cores were observed for gaps, added up for all cores */
	uint64_t gaps, worst_ns, total_ns;
	uint32_t worst_core;  /* APIC id of the core with the longest gap */
	/*
	 * Sums over the cores on which the hypervisor's counter of stolen time was read; 0 if it was not read on any
	 * core.
	 */
	struct report_stolen {
		uint64_t observed_ns;
		/*
		 * REPORTED_NS is the stolen time according to the hypervisor's counter. The counter is read shortly
		 * before and after the loop that observes the core. REPORTED_LOW_NS is a lower bound for the loop: the
		 * time between these reads and the loop is subtracted.
		 */
		uint64_t reported_ns, reported_low_ns;
		/* bounds of the stolen time according to the TSC readings of the loop that observes the core */
		uint64_t low_ns, high_ns;
	} stolen;
	uint64_t octave[OCTAVES]; /* number of gaps in each octave of their length in ns: see base/histogram.h */
	size_t event_count;
	struct report_gap events[REPORT_EVENTS_MAX]; /* the first gaps of each core, as far as there is space */
};

/* The advance of one clock in a discontinuity. */
struct report_advance {
	uint8_t clock; /* index of the clock, as in struct report_group */
	/* Time that passed in the discontinuity by this clock. Unknown if the readings of the clock allow any time. */
	struct interval_ns elapsed;
};

struct report_discontinuity { /* A discontinuity: a time interval in which clocks disagree on how much time passed. */
	/* TSC at the start and at the end of the discontinuity; from_tsc is 0 if the start is unknown */
	uint64_t from_tsc, at_tsc;
	/* true if the clocks still diverged when they were last read: a clock had another rate, and did not jump */
	bool gradual;
	size_t group_count;
	struct report_group { /* clocks that agree with each other */
		/* Bit I is clock I of the report. Bit REPORT_CLOCKS_MAX is the TSC, if it is not in the report. */
		uint32_t clocks;
		size_t clock_count;
		uint8_t members[REPORT_CLOCKS_MAX + 1]; /* indices of the clocks in the group, as a list */
		/* time that passed in the discontinuity, according to the clocks of the group */
		struct interval_ns elapsed;
	} groups[REPORT_GROUPS_MAX];
	size_t clock_count; /* number of clocks that were compared */
	struct report_advance clocks[REPORT_CLOCKS_MAX + 1];
};

/* A time service of UEFI's firmware, called with one requested time. See struct record_firmware. */
struct report_firmware {
	enum firmware_service service;
	enum firmware_tick tick; /* only for timers */
	uint64_t asked_ns; /* requested time or period; 0 if the service has none */
	uint64_t stated, range; /* as in struct record_firmware */
	uint64_t count;    /* number of calls that returned, or of events that came */
	uint64_t missing;  /* number of events that did not come, or 1 if a call had not returned */
	uint64_t back;     /* number of readings below the reading before */
	/*
	 * Shortest and longest time from a request to its return or event. A periodic timer's request counts from the
	 * previous deadline.
	 */
	uint64_t least_ns, most_ns;
	uint64_t first_ns; /* duration of the first call */
	/* excess of a firmware's second over a second; unknown if it was not measured */
	struct interval_ppb second;
	/* FPDT: start of baretick in ns since the reset by the table, and by the TSC */
	uint64_t start_ns, tsc_ns;
};

/* The results of src/analysis, calculated from the facts and the record. */
struct figures {
	/*
	 * The TSC's rate, which converts all ticks to ns. If den is 0, it is unknown, and 1 tick counts as 1 ns.
	 */
	struct rate tsc;
	struct rate_interval tsc_within; /* the TSC's rate with its bounds; unknown if it was not measured */
	char tsc_source[64]; /* where the TSC's rate comes from, as text */
	/*
	 * The first stated rate of the TSC that agrees with the clocks, if the nominal frequency of its driver does not
	 * agree with them; otherwise NULL. It is in facts.claims.
	 */
	const struct claim *tsc_claim;
	/*
	 * id of the clock that sets the scale, because its nominal frequency is taken as exact; "" if there is none
	 */
	const char *relative_to;
	uint64_t tsc_resolution_ticks; /* resolution of the TSC in the offsets of cores */
	struct series_rate *soak_rates; /* rates in facts.series, see report_get_soak_rate() */
	size_t rate_count;
	struct report_rate rates[REPORT_RATES_MAX];
	struct clock_figures clocks[REPORT_CLOCKS_MAX]; /* with the same indices as the clocks in struct facts */
	size_t calibration_count;
	struct calibration_figures calibrations[CALIBRATION_LOOPS]; /* with the same indices as the loops in struct facts */
	size_t interval_count;
	struct interval_figures intervals[REPORT_INTERVALS_MAX]; /* with the same indices as the tests in struct facts */
	struct core_figures *cores; /* with the same indices as the cores in struct facts */
	struct report_skew skew;
	struct report_interference interference;
	size_t firmware_count; /* 0 without UEFI */
	struct report_firmware firmware[REPORT_FIRMWARE_MAX];
	/* number of discontinuities in the array, and number of further ones, which did not fit into it */
	size_t discontinuity_count, discontinuities_lost;
	struct report_discontinuity discontinuities[REPORT_DISCONTINUITIES_MAX];
	struct report_sleeps sleeps;
};

#endif
