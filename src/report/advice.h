/*
 * The advice of a report: the clock to use, and the clocks and timers that systems take. It also has the consequences
 * of each discontinuity. src/advice calculates it from the facts, the figures and the outcomes.
 */
#ifndef BARETICK_REPORT_ADVICE_H
#define BARETICK_REPORT_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interval.h"
#include "report/outcomes.h"

/* maximum number of systems in `taken`: the table systems[] in advice/systems.c */
#define REPORT_TAKEN_MAX    8

enum report_announced { ANNOUNCED_UNKNOWN, ANNOUNCED_NO, ANNOUNCED_PERHAPS, ANNOUNCED_YES };

/* Whether a timer interrupted after a discontinuity: not tested since, no interrupt came, or an interrupt came. */
enum report_survives { SURVIVES_UNKNOWN, SURVIVES_NO, SURVIVES_YES };

struct aftermath { /* The consequences of a discontinuity. */
	/* index of the group that shows the true time, or REPORT_GROUPS_MAX if nothing shows it */
	size_t right;
	enum report_announced announced; /* whether a signal of the hypervisor announced the discontinuity */
	/*
	 * Lateness of a time that is counted by each clock in report_discontinuity.clocks, after the discontinuity.
	 * Negative if it is early. Unknown if nothing shows the true time.
	 */
	struct interval_ns clocks[REPORT_CLOCKS_MAX + 1];
	struct interval_ns systems[REPORT_TAKEN_MAX]; /* the same for each system in struct advice */
	size_t source_count;
	struct report_survivor {
		const char *source; /* id of the interrupt source, as in struct interval_test */
		enum report_survives survives;
	} sources[REPORT_SOURCES_MAX];
};

/* Recommended clocks, the best clock first, and after them the clocks to avoid; see advice. */
struct report_ranking {
	size_t count;
	struct report_ranked {
		const char *clock;
		bool avoid;
		char reason[REPORT_SENTENCE];
	} rows[REPORT_CLOCKS_MAX];
};

struct report_answer { /* A short summary of the report. */
	char text[2 * REPORT_SENTENCE]; /* all fields below as sentences; "" before recommend_write_answer() */
	const char *clock;       /* id of the clock to use; NULL if no clock is suitable */
	uint64_t read_ps;        /* cost of one read of the clock to use, see struct report_cost; 0 if unknown */
	const char *linux_takes; /* id of the clock that the newest Linux would use; NULL if unknown */
	size_t wrong_count;
	const char *wrong[REPORT_CLOCKS_MAX]; /* ids of the clocks that failed */
	bool no_reference; /* true if no clock of another source shows whether any clock's rate is right */
	bool within_known;
	uint64_t within_ns; /* upper bound of the difference between the cores' TSCs */
};

/* Whether a system notices the faults that the run found in its clock. If it notices only some, the answer is NO. */
enum taken_notices { TAKEN_NOTICES_UNKNOWN, TAKEN_NOTICES_NO, TAKEN_NOTICES_PERHAPS, TAKEN_NOTICES_YES };

/* Whether the clock that the system then stops using is the clock with the fault. */
enum taken_blames { TAKEN_BLAMES_NONE, TAKEN_BLAMES_RIGHT, TAKEN_BLAMES_WRONG };

/* Whether a program may read the TSC itself, on all cores, and compare the readings. */
enum taken_safety { TAKEN_SAFETY_NOT_ASKED, TAKEN_SAFE, TAKEN_UNSAFE, TAKEN_SAFETY_UNPROVEN };

/* The evidence for the row of a system. */
enum taken_evidence { TAKEN_FROM_BOOTS, TAKEN_FROM_SOURCE, TAKEN_FROM_DOCUMENTATION };

/*
 * The clock that a system would use on this machine, and what the system would do about the faults that were found. A
 * system is a kernel of some versions, or a program.
 */
struct report_taken {
	const char *system;        /* name of the system with its versions, in static storage */
	/* For Linux: the first version of this row, and the first version after it. NULL: the row is open at this end. */
	const char *since, *until;
	const char *clock;         /* id of the clock; NULL if a program must not read the TSC */
	const char *read_by;       /* id of the row in `clocks` whose read method the system uses */
	uint64_t read_ps;          /* cost of one read by this method, see struct report_cost; 0 if unknown */
	enum taken_notices notices;
	enum taken_blames blames;
	const char *blamed;        /* id of the clock that the system stops using, or NULL */
	bool repairs;              /* true if the system removes the fault, for example by writing TSC_ADJUST */
	/* Error of the rate of the system's time because of the faults that were found. It is positive if time runs fast. */
	struct interval_ppb time_error;
	enum taken_safety safety;
	enum taken_evidence evidence;
	char reason[2 * REPORT_SENTENCE];
};

struct report_tick { /* The timer that Linux would use for its tick. */
	const char *source; /* id of the interrupt source in facts.intervals; NULL if unknown */
	char reason[2 * REPORT_SENTENCE]; /* why Linux would use this timer; "" if no timer was tested */
};

/* The results of src/advice: the clock to use, and the clocks and timers that systems take. */
struct advice {
	struct report_ranking ranking;
	struct report_answer answer;
	size_t taken_count;
	struct report_taken taken[REPORT_TAKEN_MAX];
	struct report_tick tick;
	/* with the same indices as the discontinuities in struct figures */
	struct aftermath aftermaths[REPORT_DISCONTINUITIES_MAX];
	/* for each calibration in struct facts, a sentence on a worst error above 1 %, otherwise "" */
	char remarks[CALIBRATION_LOOPS][REPORT_SENTENCE];
	/* a sentence on the consequences of the calibration results for a kernel; "" if there are none */
	char calibrated[2 * REPORT_SENTENCE];
};

#endif
