/*
 * A record has the raw readings of a run as a sequence of entries. In memory it has the same bytes as a file of the
 * format baretick.record/1, which README.md describes.
 *
 * The writer appends to the caller's memory. After each entry the bytes are a valid record, so they can be saved at
 * any time during the run. If there is no space for an entry, it is counted as dropped.
 *
 * The reader accepts any bytes. It checks each block before it returns the block's entries, and allocates no memory.
 * It checks the structure and not the meaning of the entries. For example, a core number may be larger than the number
 * of cores.
 */
#ifndef BARETICK_RECORD_H
#define BARETICK_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/interval.h"
#include "clock/sample.h"

/* The first bytes of a record. A transfer in text mode changes them, as with PNG, so that the reader detects it. */
#define RECORD_MAGIC        "\x89" "BTREC\r\n"
#define RECORD_MAGIC_BYTES  8u
#define RECORD_VERSION      1u
#define RECORD_HEADER_BYTES 16u
#define RECORD_BLOCK_BYTES  12u   /* size of a block's header */
/* largest size of all entries in a block, unless the block has a single longer entry */
#define RECORD_BLOCK_MAX    4096u
#define RECORD_ENTRY_MAX    32768u /* largest size of an entry */
#define RECORD_ENTRY_BYTES  8u    /* size of an entry's header */
/* size of a record without other entries: the record's header, a block's header, and the entry END */
#define RECORD_SIZE_MIN     52u

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
	RECORD_FACTS = 19,
	RECORD_PASS = 20,
};

/* Texts in entries are ASCII, padded with zeros. A text that fills its array has no zero at its end. */

struct record_run { /* kind RUN, the first entry */
	char version[24], commit[16]; /* version and commit of the program */
	uint64_t start_tsc;           /* the boot core's TSC at the start of the run */
};

struct record_scale { /* kind SCALE: the TSC's rate that converts ticks to ns in the run from this entry on */
	uint64_t hz_num, hz_den; /* the TSC's rate is hz_num / hz_den Hz */
	/* bounds of the TSC's rate; both are 0 if the rate was not measured, or not confirmed by other clocks */
	uint64_t low_microhz, high_microhz;
	uint64_t step_ticks; /* the TSC moves by at most this at once */
};

struct record_core {
	uint32_t core; /* the core's number in other entries; 0 is the boot core */
	uint32_t apic_id;
};

struct record_clock {
	uint16_t clock; /* the clock's number in other entries */
	char id[16];
	uint64_t wrap_ticks;             /* the highest reading plus 1, or 0 if it is 2^64 */
	uint64_t claimed_num, claimed_den; /* nominal frequency in Hz as a fraction; claimed_den is 0 if there is none */
};

enum record_mark_what {
	RECORD_MARK_PHASE = 1,     /* a phase starts; TEXT is its id */
	RECORD_MARK_CORES = 2,     /* VALUE cores are started */
	RECORD_MARK_TICK = 3,      /* the firmware's timer tick was switched on (VALUE 1) or off (VALUE 0) */
	RECORD_MARK_SET = 4,       /* a clock's counter was set; VALUE is the number of the clock */
	RECORD_MARK_QUICK = 5,     /* the user asked by a key to end the run */
	RECORD_MARK_DEADLINE = 6,  /* the deadline passed */
	RECORD_MARK_EXCEPTION = 7, /* the boot core took an exception in the phase TEXT; VALUE is the exception's number */
};

struct record_mark {
	uint64_t tsc;
	uint16_t what; /* a value of enum record_mark_what */
	uint64_t value;
	char text[24];
};

/* flag: the first reading after a tick of an edge clock (a clock that ticks much less often than it is read) */
#define RECORD_AT_EDGE 1u

struct record_reading {
	uint16_t clock, flags;
	uint32_t core;
	/* same meaning as in struct sample; TICKS has the counter's own value, without its wraps */
	uint64_t begin, ticks, end;
};

/*
 * Stage of the run at which the samples of a batch were taken. A rate window is a period of the run in which the rates
 * of all clocks are measured.
 */
enum record_stage {
	RECORD_FIRST = 1,  /* start of a rate window; for an edge clock, its first edge */
	/*
	 * between start and end of a window: a few samples, which are also used to count the wraps of the counter. Without
	 * corners only for that. For an edge clock, an edge
	 */
	RECORD_LOOK = 2,
	/* middle of a window; for an edge clock, the last such batch is its edge nearest to the middle */
	RECORD_MIDDLE = 3,
	RECORD_LAST = 4,   /* end of a window; for an edge clock, its last edge */
	/* after a window: the only sample is the latest one at which all clocks agreed on the time */
	RECORD_CLOSE = 5,
	RECORD_FINAL = 6,  /* end of the run, if the clocks agreed on the time since the window */
	RECORD_AGAIN = 7,  /* first and last edge of one more measurement of an edge clock, because its rate was in doubt */
};

/* Flag of a batch of the stage CLOSE: the clocks disagreed, so no rate spans the time after the sample. */
#define RECORD_JUMPED 1u

/*
 * kind BATCH: samples of one clock, taken directly after each other. The fixed part has the shortest of these samples.
 * The items are the corners that a line through all samples can touch (see consensus/rate_fit.h). If there is no
 * sample, END is 0. An edge clock has no corners.
 */
struct record_batch {
	uint16_t clock;
	uint16_t stage;  /* a value of enum record_stage */
	uint16_t window; /* number of the window, from 1; the stages FINAL and AGAIN have a number of their own */
	uint16_t flags;
	/*
	 * Stage FIRST: the clock's pace, see analysis/wraps.h. LOOK: number of the batch in its window, from 0. FINAL and
	 * AGAIN: number of the counter's wraps since the stage LAST, counted at all readings in between.
	 */
	uint64_t number;
	uint64_t begin, ticks, end; /* same meaning as in struct sample */
	uint64_t unread_ticks; /* TSC ticks since the previous reading of the clock */
	/*
	 * Greatest common divisor of all differences between readings until now, and the smallest of these differences.
	 * Both are 0 if there are none.
	 */
	uint64_t gcd_ticks, smallest_ticks;
};

struct record_corner { /* an item: a corner, relative to BEGIN and TICKS of the batch */
	uint64_t tsc, ticks; /* negative numbers are in two's complement */
	uint16_t upper;      /* 1 if the corner is above the line, 0 if it is below */
};

/*
 * kind LATENCY: durations of a clock's reads on the boot core. The items are bytes with the cells that have a count
 * above 0 (see analysis/facts.h): for each cell the distance of its number from the cell before, and its count. Both
 * are in LEB128: 7 bits in each byte, the lowest first, with the top bit set in all bytes except the last. If the cells
 * do not fit into one entry, more entries with the same fixed part follow, and the first distance is again from 0.
 */
struct record_latency {
	uint16_t clock;
	uint16_t length; /* number of bytes in use in the items, which are 8 bytes long */
	uint64_t count;  /* number of reads; the other fields have the meaning of struct latency */
	uint64_t min_ns, max_ns, max_count, total_ticks, total_ns;
};

/*
 * kind EXCHANGE: ping-pongs of pairs of cores (see sync/pingpong.h) that ran at the same time. The items are struct
 * record_pingpong. All times are in TSC ticks.
 */
struct record_exchange {
	/*
	 * Number of the pass that they belong to. It counts if an entry PASS with this number follows. It is 0 for the
	 * rehearsal of the first pass, and for the rounds of a soak.
	 */
	uint16_t pass;
	uint16_t concurrency;        /* number of pairs that exchanged messages at the same time */
	uint64_t begin_tsc, end_tsc; /* the boot core's TSC before and after the ping-pongs */
};

/* An item: the messages between two cores. A soak has one such item for each core, as the sum over all rounds. */
struct record_pingpong {
	uint16_t first, second; /* numbers of the two cores */
	uint32_t trips;         /* completed round trips, at least 1 */
	uint32_t warps;         /* number of messages that arrived before they were sent */
	/* The shortest round trip and the median. They are 2^32 - 1 if longer. A sum has the trips of its first round. */
	uint32_t best_trip_ticks, median_trip_ticks;
	/* smallest difference (TSC on arrival - sender's TSC) of the messages to each core */
	int64_t least_to_second, least_to_first;
};

enum record_pass_stage {
	RECORD_PASS_FIRST = 1,
	RECORD_PASS_MIDDLE = 2, /* between the first and the last pass; distinguishes a drift from a step */
	RECORD_PASS_LAST = 3,
};

enum record_pass_reason {
	RECORD_PASS_FULL = 0,      /* no reason: all pairs */
	RECORD_PASS_NO_MEMORY = 1, /* only pairs with the boot core, because there is no memory for all pairs */
	RECORD_PASS_TOO_LONG = 2,  /* only pairs with the boot core, because all pairs would take too long */
};

/* kind PASS: a pass over the pairs of cores, after its last ping-pong. The items are struct record_members. */
struct record_pass {
	uint16_t pass;     /* number of the pass, from 1 */
	uint16_t stage;    /* a value of enum record_pass_stage */
	uint16_t schedule; /* a value of enum pair_schedule (sync/pair_schedule.h): 1 if all pairs are measured */
	uint16_t reason;   /* a value of enum record_pass_reason */
	uint32_t concurrency; /* number of concurrent pairs at the end of the pass */
	uint32_t rounds;      /* number of rounds of the schedule that were started */
	uint64_t begin_tsc, end_tsc;
};

#define RECORD_MEMBERS_CORES 64u /* number of cores in one struct record_members */

struct record_members { /* an item: bit K of item N is 1 if core 64 N + K took part in the pass */
	uint64_t cores;
};

#define RECORD_PERIODIC  1u /* flag: the timer ran in periodic mode, not in one-shot mode */
#define RECORD_OWN_PHASE 2u /* flag: the timer's periods run even before the timer is armed */
#define RECORD_BY_TSC    4u /* flag: the deadline of an interrupt is a value of the TSC */
#define RECORD_UNTIMED   8u /* flag: the deadline of an interrupt is unknown, so interrupts are only counted */

/* kind TIMER: the test of a timer in one mode with one interval, like a row of report.intervals */
struct record_timer {
	uint16_t timer; /* number of this test in other entries; it is the index of the row */
	uint16_t flags;
	uint32_t core;
	char source[16];
	uint64_t interval_ns;    /* programmed interval */
	/* nominal frequency of the timer's counter in Hz as a fraction; both are 0 if there is none */
	uint64_t hz_num, hz_den;
	/*
	 * Measured rate of a timer without a nominal frequency: its counter counted down by SPAN_TICKS within SPAN_LEAST to
	 * SPAN_MOST TSC ticks. The rate is not used if the deadline is a value of the TSC.
	 */
	uint64_t span_ticks, span_least, span_most;
	uint64_t phase_ticks; /* largest number of ticks from the arming to the start of the count */
	uint64_t count_mask;  /* mask of the counter that the interrupt handler reads; 0 if the handler reads no counter */
	/* resolution of the counter that times the interrupts: the timer's own counter, or the TSC if there is none */
	uint64_t step_ticks;
};

struct record_event { /* An interrupt or a gap. For a gap, the two fields are the TSC before and after it. */
	/* value of the timer's own counter, or 0. If the timer is polled: the TSC at the last poll without an event */
	uint64_t count;
	/* TSC, read after the counter. If the timer is polled: the TSC at the first poll with an event */
	uint64_t tsc;
};

enum record_interrupts_what {
	RECORD_SHOT = 1,    /* one interrupt in one-shot mode */
	RECORD_PERIODS = 2, /* periodic mode with enabled interrupts */
	/* periodic mode: interrupts were masked for some periods, and then enabled for the same number of periods */
	RECORD_MASKED = 3,
	RECORD_EXPIRED = 4, /* an arming with a deadline that had already passed */
	RECORD_WAITED = 5,  /* one interrupt of a free-running timer */
	/* one event of a free-running timer, with polling of the timer's status instead of an interrupt */
	RECORD_POLLED = 6,
};

#define RECORD_AWAY_MAX 512u /* largest number of gaps that are listed for one arming; further gaps are omitted */

/*
 * kind INTERRUPTS: the interrupts after one arming of a timer. The items are struct record_event, first the gaps and
 * then the interrupts. A gap is a time during which the core did not run this program. It is listed if it is longer
 * than 10 us, or longer than 250 us if it ends in the interrupt handler.
 */
struct record_interrupts {
	uint16_t timer;
	uint16_t what;
	uint16_t gaps;  /* number of items that are gaps */
	uint16_t due;   /* 1 if after the wait the timer's own status showed that an interrupt was due */
	uint16_t asked; /* number of periods with enabled interrupts; 1 in other modes */
	uint64_t ticks; /* programmed interval in ticks of the timer */
	uint64_t deadline;                  /* value of the timer's own counter at the deadline, or 0 */
	uint64_t armed_before, armed_after; /* TSC before and after the timer was programmed */
	uint64_t opened, closed;            /* TSC when interrupts were enabled, and when they were masked again */
	uint64_t taken; /* number of interrupts. If an interrupt storm was detected, none of them is an item. */
};

struct record_octave { /* one item of a WATCH. Item N is the number of gaps with a length of 2^(N-1) to 2^N - 1 ns */
	uint64_t gaps;
};

/*
 * kind WATCH: gaps of one core, which a loop found that only reads the TSC. There are 65 items of struct record_octave.
 */
struct record_watch {
	uint32_t core;
	uint64_t begin_tsc;       /* the boot core's TSC before the loop started */
	/* time from the first to the last reading of the loop, as the sum of all parts of the watch */
	uint64_t observed_ticks;
	uint64_t threshold_ticks; /* two successive readings form a gap if they differ by more than this number of ticks */
	uint64_t gaps, total_ticks, worst_ticks; /* number, sum and maximum of the gaps */
	/*
	 * LONG_TICKS is the sum of the gaps of 500 us or more, each reduced by the threshold. RAN_TICKS is the time during
	 * which the core certainly ran: the number of readings times the shortest time between two readings.
	 */
	uint64_t long_ticks, ran_ticks;
	/*
	 * Stolen time by the hypervisor's own counter, and the time between the two readings of this counter in TSC ticks.
	 * Both are sums over all parts. They are 0 if the counter was not read in each part.
	 */
	uint64_t reported_ns, reported_ticks;
};

struct record_gap { /* kind GAP: one gap of a watch. Only the first gaps of each core have an entry of this kind. */
	uint32_t core;
	/*
	 * TSC at the start of the gap: the TSC at the start of its part of the watch, plus the time observed until the gap
	 */
	uint64_t tsc;
	uint64_t ticks; /* length of the gap */
};

struct record_calibrated { /* an item: one run of a calibration loop */
	uint64_t hz;      /* the rate that the run found in Hz, or 0 */
	uint32_t refusal; /* number of the run's reason to refuse the rate; 2^32 - 1 if it did not refuse */
};

/* kind CALIBRATION: some runs of a calibration loop. The items are struct record_calibrated. */
struct record_calibration {
	char loop[16];
	/*
	 * Sums over these runs: ticks of the loop's clock, bound of the error of these ticks, and ticks of the TSC in the
	 * same time. All are 0 if the loop calibrates the TSC itself.
	 */
	uint64_t ticks, slack_ticks, tsc_ticks;
};

struct record_stated { /* kind STATED: a CPUID leaf or an MSR that may state a clock's rate */
	uint16_t is_msr, faulted; /* 1 if it is an MSR; 1 if reading it caused an exception */
	uint32_t number;
	uint32_t eax, ebx, ecx, edx; /* values of a CPUID leaf's registers; EDX:EAX is the value of an MSR */
};

struct record_loop { /* kind LOOP: the readings in one run of a calibration loop. The items are struct record_taken. */
	char loop[16];
	uint32_t run; /* number of the run, from 0 */
};

/* an item: one reading of a loop. drivers/calibrations/README.md has the order of the readings. */
struct record_taken {
	uint64_t value;
};

/*
 * kind FACTS: elements of a list of the report, as analysis/facts.h defines them. The items are these bytes: for each
 * element its length in 2 bytes, then its fields. A field has a number in 1 byte, a length in 2 bytes, and its value.
 */
struct record_facts {
	uint16_t list;   /* number of the list */
	uint16_t length; /* number of bytes in use in the items, which are 8 bytes long */
	uint32_t first;  /* index of the first element */
};

struct record_compared { /* an item: one clock in a step */
	uint16_t clock;
	uint8_t then_at_edge, now_at_edge; /* 1 if the reading is the first one after a tick of an edge clock */
	uint8_t confirmed;            /* 1 if a later tick confirmed the first tick of the clock */
	struct sample then, now;      /* readings at both ends of the step, with the wraps of the counter */
	uint64_t resolution_ticks;    /* upper bound of the counter's smallest step */
	uint64_t hidden_ns;           /* upper bound of the time that an edge clock was ahead before the step */
	struct rate_interval implied; /* the TSC's rate according to this clock; its field KNOWN is not in the file */
};

/* kind STEP: the time between two successive readings of all clocks, if the clocks disagree on its duration */
struct record_step {
	uint64_t begin_tsc, seen_tsc;
	uint64_t floor_ns; /* clocks that differ by less than this time agree */
	uint32_t cores;    /* number of cores that had been started */
	uint64_t more;     /* 0; in an entry without items, the number of further steps of this kind */
};

struct record_end { /* kind END, the last entry */
	uint64_t entries; /* number of entries before this entry */
	uint64_t dropped; /* number of entries that were omitted because there was no space */
};

struct record_field {
	uint8_t offset, width, count; /* a field of a struct: COUNT elements of WIDTH bytes, at OFFSET in the struct */
};

struct record_shape { /* the fields of an entry's fixed part, or of an item */
	/*
	 * number of the first field, and number of fields, for record_field(); in the file the fields have this order,
	 * without padding
	 */
	uint8_t first, count;
	uint16_t bytes;       /* size of all fields in the file */
};

struct record_kind_row {
	struct record_shape fixed, item; /* fixed.bytes is 0 if there is no kind with this number */
};

#define RECORD_KINDS (RECORD_PASS + 1)
extern const struct record_kind_row record_kinds[RECORD_KINDS];

/* Returns field I of SHAPE. I must be below shape->count. */
const struct record_field *record_field(const struct record_shape *shape, size_t i);

struct record { /* state of a writer */
	uint8_t *bytes;
	size_t size, length;
	size_t block;     /* offset of the current block's header, or 0 if there is no current block */
	size_t last;      /* offset of the latest entry */
	size_t reserved;  /* space that record_put() keeps free for later entries, set by the caller; 0 at first */
	uint32_t blocks;  /* number of blocks so far */
	uint64_t entries, dropped;
	uint32_t entries_of[RECORD_KINDS];
	bool ended;
};

/* Starts a record in the caller's memory, which has SIZE BYTES. SIZE must be at least RECORD_SIZE_MIN. */
void record_begin(struct record *record, void *bytes, size_t size);

/*
 * Appends an entry of KIND. FIXED is the struct of this kind, and ITEMS has COUNT item structs of this kind. Returns
 * false if the entry was dropped: there is no space, the entry is larger than RECORD_ENTRY_MAX, or the record has
 * ended.
 */
bool record_put(struct record *record, enum record_kind kind, const void *fixed, const void *items, size_t count);

/*
 * Replaces the entry at offset AT by an entry of the same KIND with the same COUNT. AT is the value of record->last
 * after the record_put() of the old entry. This saves space if the values of an entry change during a long run.
 */
void record_replace(struct record *record, size_t at, enum record_kind kind, const void *fixed, const void *items,
		    size_t count);

/* Returns the largest size in bytes of an entry of KIND with COUNT items, including a block's header. */
size_t record_bytes_of(enum record_kind kind, size_t count);

/* Appends the entry END. The space for it is reserved from the start. */
void record_end(struct record *record);

enum record_state {
	RECORD_READS,   /* the entries that were read so far are valid */
	RECORD_WHOLE,   /* the record is valid and has been read completely */
	RECORD_CUT,     /* the record is valid, but its end is missing */
	RECORD_DAMAGED,
	RECORD_FOREIGN, /* the bytes are no record, or a record of another version */
};

enum record_flaw {
	RECORD_NO_FLAW, RECORD_NO_MAGIC, RECORD_OTHER_VERSION, RECORD_HEADER_ENDS, RECORD_HEADER_SUM, RECORD_NO_END,
	RECORD_BLOCK_ENDS, RECORD_BLOCK_LENGTH, RECORD_BLOCK_SUM, RECORD_BLOCK_NUMBER, RECORD_ENTRY_ENDS, RECORD_ENTRY_SHORT,
	RECORD_BYTES_FOLLOW, RECORD_OTHER_COUNT, RECORD_FLAWS
};

struct record_reader {
	const uint8_t *bytes;
	size_t size, at;    /* AT is the position of the next entry, or the position at which the reader stopped */
	size_t block_end;
	uint32_t blocks;
	/* number of entries that were read so far, and number of skipped entries (with an unknown kind) */
	uint64_t entries, skipped;
	uint64_t dropped;   /* number of dropped entries according to the entry END */
	enum record_state state;
	enum record_flaw flaw; /* reason for STATE */
	bool is_checked;       /* true if the checksums of the blocks were checked before */
};

struct record_entry {
	enum record_kind kind;
	const uint8_t *fixed, *items;
	uint16_t item_count, item_bytes;
};

void record_open(struct record_reader *reader, const void *bytes, size_t size);

/*
 * Does the same for bytes that this program wrote, or that a reader found valid before. The checksums of the blocks are
 * not calculated again, because that takes longer than the analysis of most entries.
 */
void record_open_again(struct record_reader *reader, const void *bytes, size_t size);

/*
 * Stores the next entry of a known kind in ENTRY and returns true. Returns false after the last entry; reader->state is
 * then the final state of the record.
 */
bool record_next(struct record_reader *reader, struct record_entry *entry);

/* Returns a sentence that explains reader->flaw, or NULL if no flaw was found. */
const char *record_error(const struct record_reader *reader);

/* Copy the entry's fixed part, or its item I, into the struct of its kind. */
void record_fixed(const struct record_entry *entry, void *fixed);
void record_item(const struct record_entry *entry, size_t i, void *item);

#endif
