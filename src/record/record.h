/*
 * A record: the raw readings of a run as a sequence of entries in memory, in the bytes of the file format
 * baretick.record/1. README.md describes each byte.
 *
 * The writer appends to memory of its caller. The bytes are a valid record after each entry, so a checkpoint can save
 * them at any time. An entry without space is counted as dropped.
 *
 * The reader accepts any bytes. It checks a block before it returns the block's entries, and allocates nothing. It
 * checks shapes and not meanings: a core number, for example, may be larger than the number of cores.
 */
#ifndef BARETICK_RECORD_H
#define BARETICK_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_MAGIC        "\x89" "BTREC\r\n" /* like PNG's: a transfer in text mode damages it */
#define RECORD_MAGIC_BYTES  8u
#define RECORD_VERSION      1u
#define RECORD_HEADER_BYTES 16u
#define RECORD_BLOCK_BYTES  12u   /* the header of a block */
#define RECORD_BLOCK_MAX    4096u /* bytes of entries in a block, unless one entry is longer */
#define RECORD_ENTRY_MAX    32768u /* bytes of an entry */
#define RECORD_ENTRY_BYTES  8u    /* the header of an entry */
#define RECORD_SIZE_MIN     52u   /* a record without entries: header, block header, and the entry END */

/* Numbers in the file. A new kind gets a new number, and an old number is never used again. */
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
};

/* Texts are ASCII, padded with zeros; one that fills its array has no zero. */

struct record_run { /* the first entry */
	char version[24], commit[16]; /* the program's version and commit */
	uint64_t start_tsc;           /* the start of the run, on the boot core */
};

struct record_scale { /* the TSC's rate as the run knew it from here on; later entries with ns were converted by it */
	uint64_t hz_num, hz_den; /* the rate is hz_num / hz_den Hz */
	uint64_t low_microhz, high_microhz; /* bounds of the rate; both 0 if it was not measured or not confirmed */
};

struct record_core {
	uint32_t core; /* its number in other entries; 0 is the boot core */
	uint32_t apic_id;
};

struct record_clock {
	uint16_t clock; /* its number in other entries */
	char id[16];
	uint64_t wrap_ticks;             /* the counter's range, or 0 if it is 2^64 */
	uint64_t claimed_num, claimed_den; /* the nominal rate in Hz as a fraction, den 0 if there is none */
};

enum record_mark_what {
	RECORD_MARK_PHASE = 1,     /* TEXT is the phase that starts */
	RECORD_MARK_CORES = 2,     /* VALUE cores are started */
	RECORD_MARK_TICK = 3,      /* the firmware's timer tick is on (VALUE 1) or off (0) */
	RECORD_MARK_SET = 4,       /* the counter of clock VALUE was written */
	RECORD_MARK_QUICK = 5,     /* a key asked for the end of the run */
	RECORD_MARK_DEADLINE = 6,  /* the deadline passed */
	RECORD_MARK_EXCEPTION = 7, /* the boot core took exception VALUE in the phase TEXT */
};

struct record_mark {
	uint64_t tsc;
	uint16_t what; /* enum record_mark_what */
	uint64_t value;
	char text[24];
};

struct record_sample { /* a clock reading between two readings of the TSC; wraps are not undone */
	uint64_t begin, ticks, end;
};

#define RECORD_AT_EDGE 1u /* the first reading after the clock's edge */

struct record_reading {
	uint16_t clock, flags;
	uint32_t core;
	uint64_t begin, ticks, end; /* as in struct record_sample */
};

struct record_batch { /* many samples at one moment; the items are the struct record_sample that bound a line */
	uint16_t clock;
	uint32_t core;
	uint64_t samples;         /* how many were taken */
	uint64_t narrowest_ticks; /* the shortest bracket of all samples, in ticks of the TSC */
};

struct record_cell { /* one bucket of a histogram */
	uint32_t index;
	uint64_t count;
};

#define RECORD_CONTENDED 1u /* all cores read the clock at the same time */

struct record_latency { /* the reads of one clock on one core; each item is a struct record_cell that is not 0 */
	uint16_t clock, flags;
	uint32_t core;
	uint64_t count, hits;            /* all samples, and samples that are 10 us or more above the median */
	uint64_t sum_ticks;              /* the sum of all samples without the hits, in ticks of the TSC */
	uint64_t least_ticks, most_ticks;
};

struct record_exchange { /* messages between a pair of cores; times are in ticks of the TSCs */
	uint32_t first, second;     /* cores */
	uint16_t pass;              /* the number of the pass over all pairs, from 0 */
	uint16_t concurrency;       /* pairs that ran at the same time */
	uint64_t begin_tsc, end_tsc; /* on the boot core */
	uint64_t to_second, to_first; /* messages received on each side */
	int64_t least_to_second, least_to_first; /* the least of (TSC on arrival - stamp) on each side */
	uint64_t warps;
	uint64_t best_trip_ticks, median_trip_ticks;
};

#define RECORD_PERIODIC  1u /* periods, not one-shots */
#define RECORD_OWN_PHASE 2u /* its periods run before it is armed */
#define RECORD_BY_TSC    4u /* its deadline is a reading of the TSC */
#define RECORD_UNTIMED   8u /* its deadline is not known, so its interrupts are only counted */

struct record_timer { /* the test of one timer in one mode with one interval: a row of report.intervals */
	uint16_t timer; /* its number in other entries: the index of the row */
	uint16_t flags;
	uint32_t core;
	char source[16];
	uint64_t interval_ns;    /* as programmed */
	uint64_t hz_num, hz_den; /* the nominal rate of its counter, 0 / 0 if there is none */
	/*
	 * For a timer without a nominal rate, and not by the TSC: its counter counted down by SPAN_TICKS in
	 * SPAN_LEAST to SPAN_MOST ticks of the TSC.
	 */
	uint64_t span_ticks, span_least, span_most;
	uint64_t phase_ticks; /* its count may start up to so many ticks after it is armed */
	uint64_t count_mask;  /* mask of the counter that the handler reads, or 0 if it reads none */
	uint64_t step_ticks;  /* step of the counter by which it is timed: its own, or the TSC's if it has none */
};

struct record_event { /* one interrupt, or a gap: the TSC before and after */
	uint64_t count; /* the timer's own counter, or 0 if it has none. Polled: the TSC of the last look without status */
	uint64_t tsc;   /* read after the counter. Polled: the TSC of the first look with status */
};

enum record_interrupts_what {
	RECORD_SHOT = 1,    /* a one-shot */
	RECORD_PERIODS = 2, /* periods, with interrupts open */
	RECORD_MASKED = 3,  /* periods: interrupts were masked before they were open for as long */
	RECORD_EXPIRED = 4, /* armed with a deadline that had passed */
	RECORD_WAITED = 5,  /* one event of a timer that runs by itself */
	RECORD_POLLED = 6,  /* the same without an interrupt: its status is polled */
};

#define RECORD_AWAY_MAX 512u /* an arming with so many gaps may have had more */

/*
 * One arming of a timer. The items are struct record_event: first its gaps, then its interrupts. A gap is a time in
 * which the core did not poll, longer than 10 us, or than 250 us where it ends in the handler.
 */
struct record_interrupts {
	uint16_t timer;
	uint16_t what;
	uint16_t gaps;  /* how many of the items are gaps */
	uint16_t due;   /* 1 if by its own status the timer was due after the wait */
	uint16_t asked; /* periods that interrupts were open for, or 1 */
	uint64_t ticks; /* the interval as programmed, in ticks of the timer */
	uint64_t deadline;                  /* the timer's own counter at the deadline, or 0 if it has none */
	uint64_t armed_before, armed_after; /* TSC before and after the programming */
	uint64_t opened, closed;            /* TSC between which interrupts were open */
	uint64_t taken; /* interrupts; more than there are items if they did not stop */
};

struct record_octave { /* item N of a watch: gaps of 2^(N-1) to 2^N - 1 ns */
	uint64_t gaps;
};

struct record_watch { /* a loop on one core that only reads the TSC; the items are 65 struct record_octave */
	uint32_t core;
	uint64_t begin_tsc;       /* on the boot core, before the loop was started */
	uint64_t observed_ticks;  /* from the loop's first reading to its last, added up over its parts */
	uint64_t threshold_ticks; /* two adjacent readings that are further apart are a gap */
	uint64_t gaps, total_ticks, worst_ticks; /* number, sum and longest of the gaps */
};

struct record_gap { /* one gap of a watch; only the first gaps of each core are kept singly */
	uint32_t core;
	uint64_t tsc;   /* its start: the start of its part of the watch, plus the time observed until then */
	uint64_t ticks; /* its length */
};

struct record_end { /* the last entry */
	uint64_t entries; /* before this one */
	uint64_t dropped; /* entries that were left out because there was no space */
};

struct record_field {
	uint8_t offset, width, count; /* in the struct: COUNT elements of WIDTH bytes */
};

struct record_shape { /* the fields of an entry's fixed part, or of an item */
	uint8_t first, count; /* for record_field(): in the order of the file, without gaps */
	uint16_t bytes;       /* in the file */
};

struct record_kind_row {
	struct record_shape fixed, item; /* fixed.bytes 0: no such kind */
};

#define RECORD_KINDS (RECORD_TIMER + 1)
extern const struct record_kind_row record_kinds[RECORD_KINDS];

/* Returns field I < shape->count. */
const struct record_field *record_field(const struct record_shape *shape, size_t i);

struct record { /* the writer */
	uint8_t *bytes;
	size_t size, length;
	size_t block;     /* offset of the open block's header, or 0 if no block is open */
	size_t last;      /* offset of the latest entry */
	uint32_t blocks;  /* begun so far */
	uint64_t entries, dropped;
	bool ended;
};

/* Begins a record in SIZE BYTES of the caller's, at least RECORD_SIZE_MIN. */
void record_begin(struct record *record, void *bytes, size_t size);

/*
 * Appends an entry of KIND from its struct, with COUNT ITEMS of its item struct. Returns false if it was dropped: there
 * is no space, it is larger than RECORD_ENTRY_MAX, or the record has ended.
 */
bool record_put(struct record *record, enum record_kind kind, const void *fixed, const void *items, size_t count);

/*
 * Replaces the entry at offset AT by one of the same KIND and COUNT. AT was record->last after its record_put(). An
 * entry that grows in a long run has one place in the record this way.
 */
void record_replace(struct record *record, size_t at, enum record_kind kind, const void *fixed, const void *items,
		    size_t count);

/* Bytes that such an entry takes at most, with the header of a block. */
size_t record_bytes_of(enum record_kind kind, size_t count);

/* Appends the entry END. Its space was kept from the start. */
void record_end(struct record *record);

enum record_state {
	RECORD_READS,   /* up to here it is good */
	RECORD_WHOLE,   /* all of it was read, up to its entry END */
	RECORD_CUT,     /* it is good, and ends without an entry END */
	RECORD_DAMAGED,
	RECORD_FOREIGN, /* it is no record, or of another version */
};

enum record_flaw {
	RECORD_NO_FLAW, RECORD_NO_MAGIC, RECORD_OTHER_VERSION, RECORD_HEADER_ENDS, RECORD_HEADER_SUM, RECORD_NO_END,
	RECORD_BLOCK_ENDS, RECORD_BLOCK_LENGTH, RECORD_BLOCK_SUM, RECORD_BLOCK_NUMBER, RECORD_ENTRY_ENDS, RECORD_ENTRY_SHORT,
	RECORD_BYTES_FOLLOW, RECORD_OTHER_COUNT, RECORD_FLAWS
};

struct record_reader {
	const uint8_t *bytes;
	size_t size, at;    /* AT: the next entry, or where the reader ended */
	size_t block_end;
	uint32_t blocks;
	uint64_t entries, skipped; /* read so far; of these, of unknown kinds */
	uint64_t dropped;   /* as the entry END says */
	enum record_state state;
	enum record_flaw flaw; /* the reason for the state */
};

struct record_entry {
	enum record_kind kind;
	const uint8_t *fixed, *items;
	uint16_t item_count, item_bytes;
};

void record_open(struct record_reader *reader, const void *bytes, size_t size);

/* Returns true and the next entry of a known kind, false after the last one: reader->state then says how it ended. */
bool record_next(struct record_reader *reader, struct record_entry *entry);

/* Returns a sentence on reader->flaw, or NULL if there is no flaw. */
const char *record_error(const struct record_reader *reader);

/* Copies the entry's fixed part into FIXED, and item I < item_count into ITEM: the structs of its kind. */
void record_fixed(const struct record_entry *entry, void *fixed);
void record_item(const struct record_entry *entry, size_t i, void *item);

#endif
