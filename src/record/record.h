/*
 * A record has the raw readings of a run as a sequence of entries. In memory it has the same bytes as a file of the
 * format baretick.record/1, which README.md describes.
 *
 * The writer appends to the caller's memory. After each entry the bytes are a valid record, so a checkpoint can save
 * them at any time. If there is no space for an entry, it is counted as dropped.
 *
 * The reader accepts any bytes. It checks each block before it returns the block's entries, and allocates nothing. It
 * checks the form and not the meaning. For example, a core number may be larger than the number of cores.
 */
#ifndef BARETICK_RECORD_H
#define BARETICK_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interval.h"
#include "clock/sample.h"

/* similar to PNG's: a transfer in text mode damages it, which the reader detects */
#define RECORD_MAGIC        "\x89" "BTREC\r\n"
#define RECORD_MAGIC_BYTES  8u
#define RECORD_VERSION      1u
#define RECORD_HEADER_BYTES 16u
#define RECORD_BLOCK_BYTES  12u   /* size of a block's header */
#define RECORD_BLOCK_MAX    4096u /* largest size of a block's entries, unless a single entry is longer */
#define RECORD_ENTRY_MAX    32768u /* largest size of an entry */
#define RECORD_ENTRY_BYTES  8u    /* size of an entry's header */
#define RECORD_SIZE_MIN     52u   /* size of a record without entries: header, block header, and the entry END */

/* Numbers of the kinds of entries in the file. A new kind gets a new number, and a number is never reused. */
enum record_kind {
	RECORD_RUN = 1,
	RECORD_SCALE = 2,
	RECORD_CORE = 3,
	RECORD_CLOCK = 4,
	RECORD_MARK = 5,
	RECORD_READING = 6,
	RECORD_BATCH = 7,
	RECORD_LATENCY = 8,
	RECORD_EXCHANGE = 9,
	RECORD_INTERRUPTS = 10,
	RECORD_WATCH = 11,
	RECORD_GAP = 12,
	RECORD_END = 13,
	RECORD_TIMER = 14,
	RECORD_CALIBRATION = 15,
	RECORD_STEP = 16,
	RECORD_STATED = 17,
	RECORD_LOOP = 18,
};

/* Texts are ASCII, padded with zeros. A text that fills its array has no zero. */

struct record_run { /* kind RUN, the first entry */
	char version[24], commit[16]; /* version and commit of the program */
	uint64_t start_tsc;           /* the boot core's TSC at the start of the run */
};

struct record_scale { /* kind SCALE: the TSC's rate that the run used from here on to convert ticks to ns */
	uint64_t hz_num, hz_den; /* the rate is hz_num / hz_den Hz */
	/* bounds of the rate; both 0 if it was not measured, or not confirmed by other clocks */
	uint64_t low_microhz, high_microhz;
};

struct record_core {
	uint32_t core; /* the core's number in other entries; 0 is the boot core */
	uint32_t apic_id;
};

struct record_clock {
	uint16_t clock; /* the clock's number in other entries */
	char id[16];
	uint64_t wrap_ticks;             /* the highest reading plus 1, or 0 if it is 2^64 */
	uint64_t claimed_num, claimed_den; /* nominal frequency in Hz as a fraction; den 0 if there is none */
};

enum record_mark_what {
	RECORD_MARK_PHASE = 1,     /* TEXT: the phase that starts */
	RECORD_MARK_CORES = 2,     /* VALUE: the number of cores that are started */
	RECORD_MARK_TICK = 3,      /* the firmware's timer tick was switched on (VALUE 1) or off (VALUE 0) */
	RECORD_MARK_SET = 4,       /* VALUE: the number of the clock whose counter was set */
	RECORD_MARK_QUICK = 5,     /* the user asked for the end of the run by a key */
	RECORD_MARK_DEADLINE = 6,  /* the deadline passed */
	RECORD_MARK_EXCEPTION = 7, /* the boot core took exception number VALUE in the phase TEXT */
};

struct record_mark {
	uint64_t tsc;
	uint16_t what; /* enum record_mark_what */
	uint64_t value;
	char text[24];
};

/* a reading of a clock between two readings of the TSC; TICKS starts again at 0 when the counter wraps */
struct record_sample {
	uint64_t begin, ticks, end;
};

/* flag: the first reading after a tick of an edge clock (a clock that ticks much less often than it is read) */
#define RECORD_AT_EDGE 1u

struct record_reading {
	uint16_t clock, flags;
	uint32_t core;
	uint64_t begin, ticks, end; /* as in struct record_sample */
};

/* kind BATCH: many samples at one time. The items are only the samples that bound a line through all samples. */
struct record_batch {
	uint16_t clock;
	uint32_t core;
	uint64_t samples;         /* number of samples that were taken */
	uint64_t narrowest_ticks; /* shortest duration of a sample, in TSC ticks */
};

struct record_cell { /* one bucket of a histogram */
	uint32_t index;
	uint64_t count;
};

#define RECORD_CONTENDED 1u /* flag: all cores read the clock at the same time */

/* kind LATENCY: reads of one clock on one core. The items are a histogram's buckets above 0. */
struct record_latency {
	uint16_t clock, flags;
	uint32_t core;
	uint64_t count, hits;            /* all samples, and the hits: samples of 10 us or more above the median */
	uint64_t sum_ticks;              /* sum of all samples without hits, in TSC ticks */
	uint64_t least_ticks, most_ticks;
};

/* kind EXCHANGE: a ping-pong (see sync/pingpong.h) of a pair of cores, with times in TSC ticks */
struct record_exchange {
	uint32_t first, second;     /* core numbers */
	uint16_t pass;              /* number of the pass over all pairs, from 0 */
	uint16_t concurrency;       /* number of pairs that ran at the same time */
	uint64_t begin_tsc, end_tsc; /* the boot core's TSC before and after */
	uint64_t to_second, to_first; /* number of messages that each side received */
	int64_t least_to_second, least_to_first; /* smallest (TSC on arrival - sender's TSC) on each side */
	uint64_t warps;
	uint64_t best_trip_ticks, median_trip_ticks;
};

#define RECORD_PERIODIC  1u /* flag: the test used periods, otherwise one-shots */
#define RECORD_OWN_PHASE 2u /* flag: the timer's periods run even before it is armed */
#define RECORD_BY_TSC    4u /* flag: the deadline is a value of the TSC */
#define RECORD_UNTIMED   8u /* flag: the deadline is unknown, so interrupts are only counted */

struct record_timer { /* kind TIMER: the test of a timer in one mode with one interval, as a row of report.intervals */
	uint16_t timer; /* number of this test in other entries: the index of the row */
	uint16_t flags;
	uint32_t core;
	char source[16];
	uint64_t interval_ns;    /* programmed interval */
	uint64_t hz_num, hz_den; /* nominal frequency of the timer's counter; 0 / 0 if there is none */
	/*
	 * Measured rate of a timer without a nominal frequency: its counter counted down by SPAN_TICKS within
	 * SPAN_LEAST to SPAN_MOST TSC ticks. Not used if the deadline is a value of the TSC.
	 */
	uint64_t span_ticks, span_least, span_most;
	uint64_t phase_ticks; /* the count may start up to so many ticks after arming */
	uint64_t count_mask;  /* mask of the counter that the interrupt handler reads; 0 if it reads none */
	/* resolution of the counter that times the interrupts: the timer's own, otherwise the TSC's */
	uint64_t step_ticks;
};

struct record_event { /* an interrupt, or a gap (then the fields are the TSC before and after it) */
	/* the timer's own counter, or 0. If the timer is polled: the TSC of the last poll without an event */
	uint64_t count;
	/* TSC, read after the counter. If the timer is polled: the TSC of the first poll with an event */
	uint64_t tsc;
};

enum record_interrupts_what {
	RECORD_SHOT = 1,    /* a one-shot */
	RECORD_PERIODS = 2, /* periods, with interrupts enabled */
	RECORD_MASKED = 3,  /* periods: interrupts were masked for some periods, and then enabled for as many */
	RECORD_EXPIRED = 4, /* armed with a deadline that had already passed */
	RECORD_WAITED = 5,  /* one event of a free-running timer */
	RECORD_POLLED = 6,  /* the same, but the timer's status is polled */
};

#define RECORD_AWAY_MAX 512u /* largest number of gaps of one arming; further gaps are not listed */

/*
 * kind INTERRUPTS: one arming of a timer. The items are struct record_event, first the gaps and then the interrupts. A
 * gap is a time in which the core did not run this program. It is listed if it is longer than 10 us, or 250 us if it
 * ends in the interrupt handler.
 */
struct record_interrupts {
	uint16_t timer;
	uint16_t what;
	uint16_t gaps;  /* number of items that are gaps */
	uint16_t due;   /* 1 if the timer's own status showed after the wait that it was due */
	uint16_t asked; /* number of periods with enabled interrupts, or 1 */
	uint64_t ticks; /* programmed interval in ticks of the timer */
	uint64_t deadline;                  /* value of the timer's own counter at the deadline, or 0 */
	uint64_t armed_before, armed_after; /* TSC before and after the timer was programmed */
	uint64_t opened, closed;            /* TSC when interrupts were enabled and masked again */
	uint64_t taken; /* number of interrupts. In an interrupt storm none of them is an item. */
};

struct record_octave { /* item N of a WATCH: number of gaps of 2^(N-1) to 2^N - 1 ns */
	uint64_t gaps;
};

/* kind WATCH: observation of one core for gaps, by a loop that only reads the TSC, with 65 struct record_octave */
struct record_watch {
	uint32_t core;
	uint64_t begin_tsc;       /* the boot core's TSC before the loop started */
	uint64_t observed_ticks;  /* time from the first to the last reading of the loop, summed over its parts */
	uint64_t threshold_ticks; /* two successive readings that are further apart form a gap */
	uint64_t gaps, total_ticks, worst_ticks; /* number, sum and longest of the gaps */
	/*
	 * Sum of the gaps of 500 us or more, each shortened by the threshold. Time that the core certainly ran: the number
	 * of readings times the shortest time between two.
	 */
	uint64_t long_ticks, ran_ticks;
	/*
	 * Stolen time by the hypervisor's own counter, and the TSC ticks between the readings of that counter. Both are sums
	 * over the parts, or 0 if the counter was not read in each part.
	 */
	uint64_t reported_ns, reported_ticks;
};

struct record_gap { /* kind GAP: one gap of a watch. Only the first gaps of each core have such entries. */
	uint32_t core;
	uint64_t tsc;   /* start of the gap: the start of its part of the watch, plus the time observed until then */
	uint64_t ticks; /* length of the gap */
};

struct record_calibrated { /* one run of a calibration loop */
	uint64_t hz;      /* the rate that it found, or 0 */
	uint32_t refusal; /* the number of its reason to refuse, or 2^32 - 1 */
};

struct record_calibration { /* some runs of a calibration loop, and the items struct record_calibrated */
	char loop[16];
	/* The sums over these runs of the ticks of its clock, of their error, and of the TSC's ticks; 0 for the TSC itself. */
	uint64_t ticks, slack_ticks, tsc_ticks;
};

struct record_stated { /* a CPUID leaf or an MSR that may state a clock's rate */
	uint16_t is_msr, faulted; /* 1 if it is an MSR, and 1 if reading it caused an exception */
	uint32_t number;
	uint32_t eax, ebx, ecx, edx; /* an MSR's value is in EDX:EAX */
};

struct record_loop { /* the readings of one run of a calibration loop, and the items struct record_taken */
	char loop[16];
	uint32_t run; /* its number, from 0 */
};

struct record_taken { /* one reading of a loop; drivers/calibrations/README.md has their order */
	uint64_t value;
};

struct record_compared { /* one clock in a step */
	uint16_t clock;
	uint8_t then_at_edge, now_at_edge; /* 1 if the reading is an edge of an edge clock */
	uint8_t confirmed;            /* 1 if a later edge confirmed the first edge of the clock */
	struct sample then, now;      /* readings at both ends of the step, with wraps */
	uint64_t resolution_ticks;    /* upper bound of the counter's smallest step */
	uint64_t hidden_ns;           /* upper bound on how far an edge clock was ahead before the step */
	struct rate_interval implied; /* the TSC's rate according to this clock; KNOWN is not in the file */
};

struct record_step { /* the time from one reading of all clocks to the next, about which they disagree */
	uint64_t begin_tsc, seen_tsc;
	uint64_t floor_ns; /* clocks that differ by less agree */
	uint32_t cores;    /* number of cores that were started by then */
	uint64_t more;     /* 0, or the number of later such steps in an entry without items */
};

struct record_end { /* kind END, the last entry */
	uint64_t entries; /* number of entries before this one */
	uint64_t dropped; /* number of entries that were left out because there was no space */
};

struct record_field {
	uint8_t offset, width, count; /* a field of a struct: COUNT elements of WIDTH bytes at OFFSET */
};

struct record_shape { /* the list of the fields of an entry's fixed part, or of an item */
	/* arguments for record_field(); in the file the fields have this order, without padding */
	uint8_t first, count;
	uint16_t bytes;       /* size in the file */
};

struct record_kind_row {
	struct record_shape fixed, item; /* fixed.bytes is 0 if there is no such kind */
};

#define RECORD_KINDS (RECORD_LOOP + 1)
extern const struct record_kind_row record_kinds[RECORD_KINDS];

/* Returns field I, which is below shape->count. */
const struct record_field *record_field(const struct record_shape *shape, size_t i);

struct record { /* state of the writer */
	uint8_t *bytes;
	size_t size, length;
	size_t block;     /* offset of the current block's header, or 0 if there is no current block */
	size_t last;      /* offset of the latest entry */
	uint32_t blocks;  /* number of blocks so far */
	uint64_t entries, dropped;
	uint32_t entries_of[RECORD_KINDS];
	bool ended;
};

/* Starts a record in SIZE BYTES, at least RECORD_SIZE_MIN, which the caller provides. */
void record_begin(struct record *record, void *bytes, size_t size);

/*
 * Appends an entry of KIND. FIXED is the struct of this kind, and ITEMS are COUNT of its item structs. Returns false if
 * the entry was dropped: there is no space, it is larger than RECORD_ENTRY_MAX, or the record has ended.
 */
bool record_put(struct record *record, enum record_kind kind, const void *fixed, const void *items, size_t count);

/*
 * Replaces the entry at offset AT by an entry of the same KIND with the same COUNT. AT is the value of record->last
 * after the entry's record_put(). With this, an entry that grows during a long run needs no more space.
 */
void record_replace(struct record *record, size_t at, enum record_kind kind, const void *fixed, const void *items,
		    size_t count);

/* Returns the largest size of such an entry, with the header of a block. */
size_t record_bytes_of(enum record_kind kind, size_t count);

/* Appends the entry END. Its space is reserved from the start. */
void record_end(struct record *record);

enum record_state {
	RECORD_READS,   /* valid so far */
	RECORD_WHOLE,   /* valid, and read completely */
	RECORD_CUT,     /* valid, but without an entry END */
	RECORD_DAMAGED,
	RECORD_FOREIGN, /* not a record, or a record of another version */
};

enum record_flaw {
	RECORD_NO_FLAW, RECORD_NO_MAGIC, RECORD_OTHER_VERSION, RECORD_HEADER_ENDS, RECORD_HEADER_SUM, RECORD_NO_END,
	RECORD_BLOCK_ENDS, RECORD_BLOCK_LENGTH, RECORD_BLOCK_SUM, RECORD_BLOCK_NUMBER, RECORD_ENTRY_ENDS, RECORD_ENTRY_SHORT,
	RECORD_BYTES_FOLLOW, RECORD_OTHER_COUNT, RECORD_FLAWS
};

struct record_reader {
	const uint8_t *bytes;
	size_t size, at;    /* AT: position of the next entry, or where the reader stopped */
	size_t block_end;
	uint32_t blocks;
	/* number of entries read so far; SKIPPED counts the unknown kinds among them */
	uint64_t entries, skipped;
	uint64_t dropped;   /* from the entry END */
	enum record_state state;
	enum record_flaw flaw; /* reason for STATE */
};

struct record_entry {
	enum record_kind kind;
	const uint8_t *fixed, *items;
	uint16_t item_count, item_bytes;
};

void record_open(struct record_reader *reader, const void *bytes, size_t size);

/*
 * Returns the next entry of a known kind in ENTRY, and true. Returns false after the last entry; reader->state then
 * tells how the record ended.
 */
bool record_next(struct record_reader *reader, struct record_entry *entry);

/* Returns a sentence that explains reader->flaw, or NULL if there is no flaw. */
const char *record_error(const struct record_reader *reader);

/* Copy the entry's fixed part, and its item number I, into the structs of its kind. */
void record_fixed(const struct record_entry *entry, void *fixed);
void record_item(const struct record_entry *entry, size_t i, void *item);

#endif
