/*
 * A record contains the raw readings of a run, as a sequence of entries of several kinds. Its bytes in memory are the
 * same as in a file. The format, baretick.record/1, is described in README.md.
 *
 * The writer appends entries to memory of the caller. After each entry the bytes are a valid record, so they can be
 * saved at any time during the run. If there is no space for an entry, it is omitted and counted as dropped.
 *
 * The reader accepts any bytes, and allocates no memory. It checks each block of entries before it returns one of
 * them. It checks only the structure: for example, an entry may contain a core number that is too large.
 */
#ifndef BARETICK_RECORD_H
#define BARETICK_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/crc32.h"
#include "clock/sample.h"

/*
 * The first bytes of a record. As in PNG, a transfer in text mode would change them, so the reader detects such a
 * transfer.
 */
#define RECORD_MAGIC     "\x89" "BTREC\r\n"
#define RECORD_VERSION   1u
/* maximum size in bytes of all entries of a block; a larger entry is alone in its block */
#define RECORD_BLOCK_MAX 4096u
#define RECORD_ENTRY_MAX 32768u /* maximum size of an entry in bytes */
/* size in bytes of the shortest record: header of the record, header of a block, entry END */
#define RECORD_SIZE_MIN  52u

/*
 * The kinds of entries: name, number in the file, struct of an entry, and struct of its items. A new kind gets a new
 * number, and numbers are never reused. No version of baretick wrote entries of the kinds 4 and 6. A reader skips them
 * like unknown kinds.
 */
#define RECORD_KIND_TABLE(ROW) \
	ROW(RECORD_RUN, 1, run, none)                        \
	ROW(RECORD_SCALE, 2, scale, none)                    \
	ROW(RECORD_CORE, 3, core, none)                      \
	ROW(RECORD_MARK, 5, mark, none)                      \
	ROW(RECORD_BATCH, 7, batch, corner)                  \
	ROW(RECORD_LATENCY, 8, latency, taken)               \
	ROW(RECORD_EXCHANGE, 9, exchange, pingpong)          \
	ROW(RECORD_INTERRUPTS, 10, interrupts, event)        \
	ROW(RECORD_WATCH, 11, watch, octave)                 \
	ROW(RECORD_GAP, 12, gap, none)                       \
	ROW(RECORD_END, 13, end, none)                       \
	ROW(RECORD_TIMER, 14, timer, none)                   \
	ROW(RECORD_CALIBRATION, 15, calibration, calibrated) \
	ROW(RECORD_STEP, 16, step, compared)                 \
	ROW(RECORD_STATED, 17, stated, none)                 \
	ROW(RECORD_LOOP, 18, loop, taken)                    \
	ROW(RECORD_FACTS, 19, facts, taken)                  \
	ROW(RECORD_PASS, 20, pass, members)                  \
	ROW(RECORD_FIRMWARE, 21, firmware, called)             \
	ROW(RECORD_SLEEP, 22, sleep, woken)                  \
	ROW(RECORD_SLEPT, 23, slept, slept_clock)

#define RECORD_KIND_NUMBER(kind, number, entry, item) kind = number,
enum record_kind { RECORD_KIND_TABLE(RECORD_KIND_NUMBER) };

/*
 * The structs of headers, entries and items have no padding, so their bytes are the same in memory and in the file. New
 * fields may only be added at the end of an entry or item. Texts are ASCII, padded with zeros. A text that fills its
 * array has no zero at its end.
 */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers in the file are little endian");

struct record_header { /* the start of a record */
	char magic[8];
	uint32_t version;
	uint32_t crc; /* checksum of MAGIC and VERSION */
} __attribute__((packed, may_alias));

struct record_block { /* the start of a block */
	uint32_t number; /* from 0 */
	uint32_t bytes;  /* size of its entries, which follow */
	uint32_t crc;    /* checksum of NUMBER and the entries */
} __attribute__((packed, may_alias));

struct record_entry_header { /* the start of an entry; its struct and its items follow */
	uint16_t kind;  /* a value of enum record_kind */
	uint16_t fixed_bytes, item_count, item_bytes;
} __attribute__((packed, may_alias));

#define RECORD_HEADER_BYTES sizeof(struct record_header)
#define RECORD_BLOCK_BYTES  sizeof(struct record_block)
#define RECORD_ENTRY_BYTES  sizeof(struct record_entry_header)

struct record_none { /* item of a kind without items */
} __attribute__((packed));

struct record_run { /* kind RUN: the first entry */
	char version[24], commit[16]; /* version and commit of baretick */
	uint64_t start_tsc;           /* the boot core's TSC at the start of the run */
} __attribute__((packed));

/* kind SCALE: the TSC's rate, which converts ticks to ns during the run, from this entry on */
struct record_scale {
	uint64_t hz_num, hz_den; /* the rate is hz_num / hz_den Hz */
	/* bounds of the rate; both are 0 if it was not measured, or not confirmed by other clocks */
	uint64_t low_microhz, high_microhz;
	uint64_t step_ticks; /* the TSC's resolution: the largest step in which its value advances */
} __attribute__((packed));

struct record_core {
	uint32_t core; /* the core's number in other entries; 0 is the boot core */
	uint32_t apic_id;
} __attribute__((packed));

enum record_mark_what {
	RECORD_MARK_TICK = 3, /* the firmware's timer tick was restarted (VALUE 1) or stopped (VALUE 0) */
};

struct record_mark {
	uint64_t tsc;
	uint16_t what; /* a value of enum record_mark_what */
	uint64_t value;
	char text[24]; /* not used */
} __attribute__((packed));

/*
 * The part of the run in which the samples of a batch (see below) were taken. A rate window is an interval in which the
 * rates of all clocks are measured. An edge clock, such as the RTC, is read only at its ticks, the edges.
 */
enum record_stage {
	RECORD_FIRST = 1,  /* start of a rate window; for an edge clock, its first edge */
	/*
	 * Between the start and the end of a rate window. All these batches serve to count the counter's wraps, and
	 * batches with corners (see struct record_batch) also give the rate. For an edge clock, the batch is one edge.
	 */
	RECORD_LOOK = 2,
	/* middle of a rate window; for an edge clock, the last such batch is the edge nearest to the middle */
	RECORD_MIDDLE = 3,
	RECORD_LAST = 4,   /* end of a rate window; for an edge clock, its last edge */
	/* after a rate window: the latest sample at which all clocks agreed on the time */
	RECORD_CLOSE = 5,
	RECORD_FINAL = 6,  /* end of the run, if all clocks agreed on the time since the rate window */
	/*
	 * First and last edge of an additional measurement, which is made if the rate of an edge clock is uncertain.
	 * The batch of an edge that did not come has no sample.
	 */
	RECORD_AGAIN = 7,
	/* after a rate window: a reading without corners (see struct record_batch), only needed to count wraps */
	RECORD_BETWEEN = 8,
	RECORD_STAGES, /* number of stages, including the unused stage 0 */
};

/* flag of a batch of stage CLOSE: the clocks disagreed after this sample, so no rate may include the time after it */
#define RECORD_JUMPED 1u

/*
 * kind BATCH: samples of one clock, taken in direct succession. This struct contains the shortest of them; END is 0 if
 * there are none. The items are the corners (see consensus/rate_fit.h): the points above or below which each line
 * through all samples must pass. An edge clock has no corners.
 */
struct record_batch {
	uint16_t clock;
	uint16_t stage;  /* a value of enum record_stage */
	/*
	 * number of the rate window, from 1; batches after CLOSE at the end of a run have a window number of their own
	 */
	uint16_t window;
	uint16_t flags;
	/*
	 * For stage FIRST, the clock's first measured rate as a multiple of its nominal rate (see analysis/wraps.h).
	 * For stage LOOK, the number of the batch in its rate window, from 0. For the other stages, 0.
	 */
	uint64_t number;
	uint64_t begin, ticks, end; /* as in struct sample */
	uint64_t unread_ticks; /* TSC ticks since the previous reading of the clock */
	/*
	 * The greatest common divisor of all differences between readings so far, and the smallest difference. Both
	 * are 0 if there are none.
	 */
	uint64_t gcd_ticks, smallest_ticks;
} __attribute__((packed));

struct record_corner { /* item of a BATCH: a corner, relative to BEGIN and TICKS of the batch */
	uint64_t tsc, ticks; /* may be negative, in two's complement */
	uint16_t upper;      /* 1 if lines through all samples must pass below this corner, 0 if they must pass above */
} __attribute__((packed));

/*
 * kind LATENCY: durations of the reads of a clock on the boot core, counted in cells (see analysis/facts.h). The items
 * are bytes that encode the cells with a count above 0. Each cell is encoded as the difference of its number from the
 * previous cell's number, and its count. Both are LEB128 numbers: 7 bits in each byte, lowest bits first, with the top
 * bit set in all bytes except the last. If one entry is too small for all cells, further entries follow. The first
 * difference in each entry is from 0.
 */
struct record_latency {
	uint16_t clock;
	/* number of bytes in use; the items have 8 bytes each, so the last item may be partly unused */
	uint16_t length;
	uint64_t count;  /* number of reads; this and the other fields are as in struct latency */
	uint64_t min_ns, max_ns, max_count, total_ticks, total_ns;
} __attribute__((packed));

/*
 * kind EXCHANGE: ping-pongs of pairs of cores (see sync/pingpong.h) that were made at the same time. The items are
 * struct record_pingpong. Times are in TSC ticks.
 */
struct record_exchange {
	/*
	 * Number of the measurement pass. The pass is used only if an entry PASS with this number follows. The number
	 * is 0 in the rounds of a soak. It is also 0 before the first pass, when ping-pongs only find a good value of
	 * `concurrency`.
	 */
	uint16_t pass;
	uint16_t concurrency;        /* number of pairs that had ping-pongs at the same time */
	uint64_t begin_tsc, end_tsc; /* the boot core's TSC before and after the ping-pongs */
} __attribute__((packed));

/*
 * Item of an EXCHANGE: the ping-pong of two cores. In a soak, an item combines the ping-pongs of one core with the boot
 * core in all rounds.
 */
struct record_pingpong {
	uint16_t first, second; /* numbers of the two cores */
	uint32_t trips;         /* number of completed round trips, at least 1 */
	uint32_t warps;         /* number of messages whose stamp was ahead of the receiver's TSC */
	/* Shortest and median round trip, at most 2^32 - 1. In a soak, both are from the first round. */
	uint32_t best_trip_ticks, median_trip_ticks;
	/* smallest (TSC on arrival - stamp) of the messages to each core */
	int64_t least_to_second, least_to_first;
} __attribute__((packed));

enum record_pass_stage {
	RECORD_PASS_FIRST = 1,
	RECORD_PASS_MIDDLE = 2, /* between the first and the last pass, to distinguish a drift from a step */
	RECORD_PASS_LAST = 3,
};

enum record_pass_reason {
	RECORD_PASS_FULL = 0,      /* all pairs were measured */
	/* only pairs with the boot core were measured, because there is not enough memory for all pairs */
	RECORD_PASS_NO_MEMORY = 1,
	/* only pairs with the boot core were measured, because all pairs would take too long */
	RECORD_PASS_TOO_LONG = 2,
};

/* kind PASS: the end of a measurement pass. The items are struct record_members. */
struct record_pass {
	uint16_t pass;     /* number of the pass, from 1 */
	uint16_t stage;    /* a value of enum record_pass_stage */
	uint16_t schedule; /* a value of enum pair_schedule (sync/pair_schedule.h): 1 means all pairs */
	uint16_t reason;   /* why not all pairs were measured: a value of enum record_pass_reason */
	uint32_t concurrency; /* number of pairs that had ping-pongs at the same time, at the end of the pass */
	uint32_t rounds;      /* number of rounds that were started (see sync/pair_schedule.h) */
	uint64_t begin_tsc, end_tsc;
} __attribute__((packed));

#define RECORD_MEMBERS_CORES 64u /* number of cores that each item of a PASS describes */

struct record_members { /* item of a PASS: bit K of item N is 1 if core 64 * N + K took part */
	uint64_t cores;
} __attribute__((packed));

#define RECORD_PERIODIC  1u /* flag: the timer was tested in periodic mode, not in one-shot mode */
#define RECORD_OWN_PHASE 2u /* flag: the timer's periods do not start when it is programmed */
#define RECORD_BY_TSC    4u /* flag: deadlines are TSC values */
#define RECORD_UNTIMED   8u /* flag: deadlines are unknown, so interrupts are only counted */

/*
 * kind TIMER: the test of an interrupt source in one mode with one interval. It corresponds to a row of
 * facts.intervals.
 */
struct record_timer {
	uint16_t timer; /* number of the timer test in other entries, which is its index in facts.intervals */
	uint16_t flags;
	uint32_t core;
	char source[16];
	uint64_t interval_ns;    /* programmed interval */
	/* nominal frequency of the source's counter in Hz as a fraction; both are 0 if there is none */
	uint64_t hz_num, hz_den;
	/*
	 * Measured rate of a source without a nominal frequency: its counter counted down by SPAN_TICKS in SPAN_LEAST
	 * to SPAN_MOST TSC ticks. Not used if deadlines are TSC values.
	 */
	uint64_t span_ticks, span_least, span_most;
	uint64_t phase_ticks; /* maximum number of ticks from programming the source until its counter starts */
	uint64_t count_mask;  /* mask of the counter that the interrupt handler reads; 0 if it reads none */
	/*
	 * maximum lag of a reading behind the exact value, in ticks of the counter that times the interrupts: the
	 * source's own counter, or the TSC if the interrupt handler does not read that counter
	 */
	uint64_t step_ticks;
} __attribute__((packed));

/* Item of an INTERRUPTS: an interrupt or a gap. For a gap, the two fields are the TSC before and after it. */
struct record_event {
	/*
	 * Value of the source's own counter, or 0. If the source is polled, the TSC at the last poll before the
	 * event.
	 */
	uint64_t count;
	/* The TSC, read after the counter. If the source is polled, the TSC at the first poll after the event. */
	uint64_t tsc;
} __attribute__((packed));

enum record_interrupts_what {
	RECORD_SHOT = 1,    /* one-shot mode: one interrupt */
	RECORD_PERIODS = 2, /* periodic mode, with interrupts enabled */
	/* periodic mode: interrupts were masked for some periods, and then enabled for the same number of periods */
	RECORD_MASKED = 3,
	RECORD_EXPIRED = 4, /* one-shot mode: the source was programmed with a deadline that had already passed */
	RECORD_WAITED = 5,  /* one interrupt of a free-running source */
	/* one event of a free-running source whose status is polled, instead of an interrupt */
	RECORD_POLLED = 6,
};

#define RECORD_AWAY_MAX 512u /* maximum number of gaps that are listed in an INTERRUPTS; further gaps are omitted */

/*
 * kind INTERRUPTS: the interrupts after programming a source once. The items are struct record_event: first the gaps,
 * then the interrupts. A gap is a time in which the core did not execute baretick. It is listed if it is longer than
 * 10 us, or longer than 250 us if it ends in the interrupt handler.
 */
struct record_interrupts {
	uint16_t timer;
	uint16_t what;
	uint16_t gaps;  /* number of gaps among the items */
	/* 1 if the source's status showed, after waiting for the interrupt, that an interrupt was due */
	uint16_t due;
	uint16_t asked; /* number of periods with interrupts enabled; 1 in other modes */
	uint64_t ticks; /* programmed interval in ticks of the source's counter */
	/* value of the source's counter at the deadline; 0 if the counter does not time the interrupts */
	uint64_t deadline;
	uint64_t armed_before, armed_after; /* TSC before and after programming the source */
	uint64_t opened, closed;            /* TSC when interrupts were enabled, and when they were masked again */
	uint64_t taken; /* number of interrupts; after an interrupt storm, the items contain no interrupts */
} __attribute__((packed));

struct record_octave { /* Item of a WATCH: item N is the number of gaps whose length is 2^(N-1) to 2^N - 1 ns. */
	uint64_t gaps;
} __attribute__((packed));

/*
 * kind WATCH: the gaps of one core, found by a loop that only reads the TSC. There are 65 items of struct
 * record_octave. A core may be watched in several parts.
 */
struct record_watch {
	uint32_t core;
	uint64_t begin_tsc;       /* the boot core's TSC before the loop started */
	/* time from the first to the last reading of the loop, added up for all parts */
	uint64_t observed_ticks;
	/* threshold: there is a gap between two successive readings if they differ by more than this */
	uint64_t threshold_ticks;
	uint64_t gaps, total_ticks, worst_ticks; /* number of gaps, sum of their lengths, and longest gap */
	/*
	 * LONG_TICKS is the sum of the gaps of 500 us or more, each minus the threshold. RAN_TICKS is the time in
	 * which the core certainly ran: the number of readings, times the shortest time between two readings.
	 */
	uint64_t long_ticks, ran_ticks;
	/*
	 * Stolen time according to the hypervisor's counter, and TSC ticks between the two readings of this counter.
	 * Both are added up for all parts. They are 0 if the counter could not be read in one of the parts.
	 */
	uint64_t reported_ns, reported_ticks;
} __attribute__((packed));

struct record_gap { /* kind GAP: one gap of a WATCH. Only the first gaps of each core have such an entry. */
	uint32_t core;
	/*
	 * TSC at the start of the gap. It is calculated as the TSC at the start of this part of the WATCH, plus the
	 * time observed before the gap.
	 */
	uint64_t tsc;
	uint64_t ticks; /* length of the gap */
} __attribute__((packed));

struct record_calibrated { /* item of a CALIBRATION: one run of a calibration loop */
	uint64_t hz;      /* the resulting rate in Hz; 0 if the loop refused the result */
	/* number of the reason why the loop refused the result; 2^32 - 1 if it did not refuse */
	uint32_t refusal;
} __attribute__((packed));

/*
 * kind CALIBRATION: some runs of a calibration loop (see clock/calibration.h). The items are struct
 * record_calibrated.
 */
struct record_calibration {
	char loop[16];
	/*
	 * Added up for these runs: ticks of the calibrated clock, upper bound of their error, and TSC ticks in the
	 * same time. All are 0 if the calibrated clock is the TSC itself.
	 */
	uint64_t ticks, slack_ticks, tsc_ticks;
} __attribute__((packed));

struct record_stated { /* kind STATED: a CPUID leaf or an MSR that may state a clock's rate */
	/* IS_MSR is 1 for an MSR, 0 for a CPUID leaf. FAULTED is 1 if reading it caused an exception. */
	uint16_t is_msr, faulted;
	uint32_t number;
	uint32_t eax, ebx, ecx, edx; /* the registers that CPUID returned, or the MSR's value in EDX:EAX */
} __attribute__((packed));

/* kind LOOP: the readings of one run of a calibration loop. The items are struct record_taken. */
struct record_loop {
	char loop[16];
	uint32_t run; /* number of the run, from 0 */
} __attribute__((packed));

/* Item of a LOOP: one reading. drivers/calibrations/README.md gives the order of the readings. */
struct record_taken {
	uint64_t value;
} __attribute__((packed));

/*
 * kind FACTS: elements of a list of the report, see analysis/facts.h. The items are bytes. Each element is its length
 * in 2 bytes, followed by its fields. Each field is a field number in 1 byte, a length in 2 bytes, and the value.
 */
struct record_facts {
	uint16_t list;   /* number of the list: a value of enum facts_list (analysis/facts.h) */
	/* number of bytes in use; the items have 8 bytes each, so the last item may be partly unused */
	uint16_t length;
	uint32_t first;  /* index in the list of the first element that the entry contains */
} __attribute__((packed));

struct record_rate { /* a rate in microhertz, and its bounds */
	uint64_t value, low, high;
} __attribute__((packed));

struct record_compared { /* Item of a STEP: the readings of one clock at the start and at the end of the step. */
	uint16_t clock;
	uint8_t then_at_edge, now_at_edge; /* 1 if the reading is the first after a tick of an edge clock */
	uint8_t confirmed;            /* 1 if the clock's first tick was compared with a later tick before this step */
	struct sample then, now;      /* readings at the start and at the end of the step, with wraps added */
	uint64_t resolution_ticks;    /* upper bound of the counter's resolution */
	/* upper bound of the lead over the TSC that an edge clock already had at the start of the step */
	uint64_t hidden_ns;
	struct record_rate implied;   /* the TSC's rate according to this clock; VALUE is 0 if it is not known */
} __attribute__((packed));

/* kind STEP: the interval between two successive readings of all clocks, if the clocks disagree on its duration */
struct record_step {
	uint64_t begin_tsc, seen_tsc;
	uint64_t floor_ns; /* clocks agree if their durations of the step differ by less than this */
	uint32_t cores;    /* number of cores that had been started by the end of the step */
	/*
	 * Usually 0. In an entry without items, it is the number of further steps, which have no entry of their own.
	 */
	uint64_t more;
} __attribute__((packed));

/*
 * kind FIRMWARE: calls of a service of the firmware. The items are struct record_called. An entry without items states
 * that the calls began. A service may have several entries.
 */
struct record_firmware {
	uint16_t service; /* a value of enum firmware_service (clock/firmware_time.h) */
	uint16_t tick;    /* a value of enum firmware_tick; only for the two kinds of timers */
	uint32_t wanted;  /* number of requested calls or events */
	uint64_t asked_ns; /* requested time or period; 0 for other services */
	/*
	 * The value that the firmware states. Timers: the period of the tick in ns, or 0. GetTime: the accuracy in
	 * 10^-6 ppm. Time stamps: the rate in Hz. CPU timer: the period in fs.
	 */
	uint64_t stated;
	/* GetTime: resolution in Hz. Time stamps: the largest value, after which the counter continues at 0. */
	uint64_t range;
} __attribute__((packed));

/*
 * Item of a FIRMWARE: a call or an event. BEGIN and END are the TSC before and after a call. If a reading of GetTime
 * differs from the one before it, BEGIN is the TSC before that earlier reading. For an event, BEGIN is the last TSC
 * reading before it, END the TSC in its callback (0 if it did not come), and VALUE the TSC before SetTimer().
 */
struct record_called {
	uint64_t begin, end, value;
} __attribute__((packed));

/* The offset of a core's TSC against the boot core's in ticks; the extreme values of int64_t are unknown bounds. */
struct record_apart {
	int64_t low, high;
	uint64_t tsc; /* the boot core's TSC after the measurement, or after it failed */
} __attribute__((packed));

struct record_resident { /* TSC ticks that a core was in these states; 0 if it has no such counter */
	uint64_t c1, c3, c6, c7;
} __attribute__((packed));

/*
 * kind SLEEP: one core in one sleep state, once for a long time, and several times for a short one. The items are the
 * wake-ups after the short sleeps. The boot core stays awake while other cores sleep, and sleeps while they are idle.
 */
struct record_sleep {
	uint32_t core, partner; /* PARTNER is the core that is compared with the boot core; otherwise, or without one, 0 */
	uint32_t state;         /* SLEEP_BY_HLT or a hint of MWAIT: see clock/sleep.h */
	uint32_t lost;          /* 1: the core did not wake, and was stopped by INIT */
	uint32_t early;         /* number of times that the core left the state before it was woken from the long sleep */
	struct record_apart before, after; /* the offset of the core or of PARTNER */
	/*
	 * Samples of the local APIC's timer, which counts down, while this core was awake, before it fell asleep, and after
	 * it woke from the long sleep. TICKS is 0 if the timer was not read.
	 */
	struct sample begin, asleep, awake;
	uint64_t seen_ticks; /* the boot core's TSC ticks in which it saw the core in the long sleep; 0 if it did not */
	int64_t adjusted;    /* change of the core's TSC_ADJUST over all sleeps; 0 if it has none or was lost */
	uint32_t counters;   /* the set of the core's residency counters: bits 0 to 3 for C1, C3, C6 and C7 */
	struct record_resident resident; /* in the long sleep */
} __attribute__((packed));

struct record_woken { /* Item of a SLEEP: a wake-up. */
	uint16_t by_timer; /* 1 if the local APIC's timer ended the sleep, 0 if an IPI did */
	/* the boot core's TSC before it sent the IPI, or this core's TSC at which the timer was to end */
	uint64_t due_tsc;
	uint64_t woke_tsc; /* this core's TSC after it woke; 0 if the timer never interrupted, so that an IPI woke it */
} __attribute__((packed));

/* kind SLEPT: the readings of chipset clocks by the boot core around a sleep. The items are the clocks. */
struct record_slept {
	uint32_t state;
	uint32_t all; /* 1: the boot core slept, too */
} __attribute__((packed));

struct record_slept_clock { /* Item of a SLEPT: samples before the sleep, at its start, and at its end. */
	uint16_t clock;
	struct sample begin, asleep, awake;
} __attribute__((packed));

struct record_end { /* kind END: the last entry */
	uint64_t entries; /* number of entries before the entry END */
	uint64_t dropped; /* number of entries that were omitted because there was no space */
} __attribute__((packed));

struct record_kind_row { /* Sizes in bytes; both are 0 if there is no kind with this number. */
	uint8_t fixed_bytes, item_bytes; /* size of an entry's struct, and of an item; ITEM_BYTES is 0 without items */
};

#define RECORD_KINDS (RECORD_SLEPT + 1)
extern const struct record_kind_row record_kinds[RECORD_KINDS];

struct record { /* State of the writer. */
	uint8_t *bytes;
	size_t size, length;
	size_t block;     /* offset of the header of the block that is being filled; 0 if there is none */
	size_t last;      /* offset of the latest entry */
	size_t reserved;  /* space that record_put() leaves free for later entries; set by the caller, initially 0 */
	uint32_t blocks;  /* number of blocks so far */
	uint64_t entries, dropped;
	uint32_t entries_of[RECORD_KINDS];
	bool ended;
};

/* Starts a record in BYTES, memory of the caller with SIZE bytes. SIZE must be at least RECORD_SIZE_MIN. */
void record_begin(struct record *record, void *bytes, size_t size);

/*
 * Appends an entry of KIND. FIXED points to the struct of this kind, and ITEMS to an array of COUNT item structs.
 * Returns false if the entry was dropped: there is no space, the entry is larger than RECORD_ENTRY_MAX, or the record
 * has ended.
 */
bool record_put(struct record *record, enum record_kind kind, const void *fixed, const void *items, size_t count);

/*
 * Replaces the entry at the offset *AT by another entry of the same KIND and COUNT. This saves space for an entry whose
 * values change during a long run. If *AT is 0, appends the entry and sets *AT, which stays 0 if there is no space.
 */
void record_put_or_replace(struct record *record, size_t *at, enum record_kind kind, const void *fixed,
			   const void *items, size_t count);

/* Returns the maximum size in bytes of an entry of KIND with COUNT items, including a new block's header. */
size_t record_entry_size_bytes(enum record_kind kind, size_t count);

/* Appends the entry END. There is always space for it. */
void record_end(struct record *record);

enum record_state {
	RECORD_READS,   /* all entries so far are valid, and the end is not reached */
	RECORD_WHOLE,   /* the record is valid and was read to its end */
	RECORD_CUT,     /* the record is valid, but its end is missing */
	RECORD_DAMAGED,
	RECORD_FOREIGN, /* the bytes are no record, or a record of another version */
};

struct record_reader {
	const uint8_t *bytes;
	size_t size, at;    /* AT is the offset of the next entry, or of the place where the reader stopped */
	size_t block_end;
	uint32_t blocks;
	/* number of entries that were read; number of entries of unknown kinds, which were skipped */
	uint64_t entries, skipped;
	uint64_t dropped;   /* number of dropped entries, from the entry END */
	enum record_state state;
	const char *error;  /* a sentence that states why STATE is not RECORD_READS or RECORD_WHOLE, otherwise NULL */
	/* true if the checksums of the blocks need not be checked, because they were checked before */
	bool is_checked;
};

struct record_entry {
	enum record_kind kind;
	const uint8_t *fixed, *items;
	uint16_t item_count, item_bytes;
};

/* Returns the checksum of a block with its entries. */
static inline uint32_t
record_block_crc(const struct record_block *block)
{
	return crc32_add(crc32_add(0, &block->number, sizeof(block->number)), block + 1, block->bytes);
}

/* Starts a reader of SIZE bytes, which may be any bytes. */
struct record_reader record_open(const void *bytes, size_t size);

/*
 * Starts a reader like record_open(), but without checking the checksums, which takes longer than analysing most
 * entries. For bytes that this program itself wrote, or that a reader has found valid before.
 */
struct record_reader record_open_without_checksums(const void *bytes, size_t size);

/*
 * Stores the next entry of a known kind in ENTRY, and returns true. Returns false if there are no more entries;
 * reader->state is then final.
 */
bool record_read_next(struct record_reader *reader, struct record_entry *entry);

/* record_read_fixed_part() copies the entry's struct, and record_read_item() copies its item I. */
void record_read_fixed_part(const struct record_entry *entry, void *fixed);
void record_read_item(const struct record_entry *entry, size_t i, void *item);

#endif
