/*
 * The contract of a source of timer interrupts: one file with one export. It is opened with the clocks. In
 * windows it is programmed, and a recorder takes its interrupts. At the end it restores its registers.
 */
#ifndef BARETICK_TIMER_H
#define BARETICK_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"

#define TIMER_SAVED_MAX  8
#define TIMER_EVENTS_MAX 1024

struct timer_event {
	uint64_t count; /* first reading of the source's own counter; 0 if it has none */
	uint64_t tsc;   /* read after COUNT */
};

struct timer;

/*
 * Only a core's recorder writes here during a window. The core itself writes while interrupts are masked.
 * boot/interrupts/recorder.nasm has the same layout.
 */
struct timer_slot {
	uint64_t taken;           /* interrupts of the source */
	uint64_t strays;          /* interrupts of other vectors */
	/*
	 * Entries in EVENTS. After one more interrupt the recorder leaves interrupts masked, which ends a
	 * storm.
	 */
	uint64_t space;
	uint64_t counter_address; /* address of a 32-bit counter that is read first, or 0 */
	uint64_t eoi_address;     /* address from lapic_eoi_address() */
	/* Clears the source's interrupt before the EOI. NULL if the source needs nothing. */
	void (*acknowledge)(const struct timer *timer);
	const struct timer *timer;
	struct timer_event events[TIMER_EVENTS_MAX];
};

/* Number of recorded interrupts, at most the space in EVENTS. */
static inline size_t
timer_slot_kept(const struct timer_slot *slot)
{
	return slot->taken < TIMER_EVENTS_MAX ? slot->taken : TIMER_EVENTS_MAX;
}

struct timer_route {
	const char *kind; /* "lapic", "ioapic", "fsb", "pic" or "status"; static storage */
	uint32_t pin;     /* global pin number of an I/O APIC, or IRQ of the PICs; 0 if there is none */
	uint32_t vector;
};

struct timer_driver;

struct timer {
	const struct timer_driver *driver;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* a sentence if it is not present, or cannot be tested */
	struct timer_route route;
	/* Rate of its counter. If den is 0, it has no nominal frequency and is timed by the TSC. */
	struct rate hz;
	uint64_t ticks_max;       /* longest interval that can be programmed at once */
	uint64_t count_mask;      /* mask of the counter that the recorder reads */
	uint64_t counter_address; /* for the recorder, or 0 */
	/* Id of the clock whose counter it is compared with. NULL if it has its own counter. Static storage. */
	const char *clock;
	bool by_tsc;              /* arm() returns the TSC at which it is due */
	/* The count may start up to this many ticks after arming, so a one-shot is due then or earlier. */
	uint64_t phase_ticks;
	/* Its periods run before it is armed, so the first interrupt comes at an unknown time within a period. */
	bool own_phase;
	bool no_periods;          /* the driver supports periods, but this source of it does not */
	bool unlisted;            /* the machine has no source of this number, so it gets no row */
	/* Private to the driver. */
	uint64_t address, pin_address;
	uint32_t entry; /* entry of the I/O APIC at PIN_ADDRESS */
	uint64_t line_bits;  /* level, active low */
	uint64_t line_found; /* the whole entry as found */
	uint64_t saved[TIMER_SAVED_MAX];
};

struct platform;

enum timer_kind {
	TIMER_PROGRAMMED, /* one-shots of any length, and periods if it is PERIODIC */
	TIMER_RATES,      /* periods of certain lengths only: see fit() */
	/* Free-running: its interrupt comes at its own time. With ticks_max 1, at each step of left(). */
	TIMER_AWAITED,
	TIMER_POLLED,     /* free-running without an interrupt: expired() is polled */
	TIMER_AT_ONCE,    /* it interrupts as soon as it is armed, which measures the way into the handler */
};

struct timer_driver {
	const char *id, *title;
	enum timer_kind kind;
	bool periodic;       /* it has a periodic mode */
	bool secondary;      /* one of several equal sources: tested with fewer intervals */
	bool in_quick;       /* also tested in a quick run */
	bool only_all;       /* only tested with irq=all */
	/* Only tested with pic=on, and then in any run: its interrupts come through the PICs. */
	bool by_pic;
	bool on_each_core;   /* Each core has its own, so take() and the calls after it run on that core. */
	unsigned unit, way;  /* private to the driver */
	/* Fills TIMER, which is zeroed, in every case. Writes no register. */
	void (*open)(const struct platform *platform, struct timer *timer);
	/* The rest is called within a window, except left() and expired() of free-running sources. */
	/* Saves the registers, and routes the source, disarmed. */
	void (*take)(struct timer *timer, uint32_t vector);
	/* The supported interval nearest to TICKS. NULL: any interval is supported. */
	uint64_t (*fit)(const struct timer *timer, uint64_t ticks);
	/*
	 * Lets interrupts left over from the last window arrive, which are then drained, before it is armed
	 * again. NULL: not needed.
	 */
	void (*settle)(struct timer *timer);
	/*
	 * Arms it for TICKS of its counter from now. Returns the reading of its counter at which it is due, if
	 * it has a counter.
	 */
	uint64_t (*arm)(struct timer *timer, uint64_t ticks, bool periodic);
	/* arms it with its last deadline, which has passed; NULL if it cannot */
	void (*arm_over)(struct timer *timer);
	/* Returns true if by its own status the last one-shot was due. */
	bool (*expired)(const struct timer *timer);
	/* ticks until it is due by its own counter; 0 if that has passed */
	uint64_t (*left)(const struct timer *timer);
	/* Called in the handler, through the recorder; may be NULL. */
	void (*acknowledge)(const struct timer *timer);
	void (*disarm)(struct timer *timer);
	void (*give_back)(struct timer *timer);
};

/* How a run takes interrupts. The functions are NULL if it cannot. */
struct timer_window {
	struct timer_slot *slot; /* recorder of the boot core */
	uint32_t vector;         /* the vector that the recorder serves */
	/*
	 * Runs WORK and then always AFTER, with the firmware's tick stopped, interrupts masked and the
	 * recorders in place, then restores everything. Returns NULL, or why it could not.
	 */
	const char *(*play)(void (*work)(void *argument), void (*after)(void *argument), void *argument);
	/* The same as a job of a core that baretick started, whose own recorder is used. */
	const char *(*play_there)(void (*work)(void *argument), void (*after)(void *argument), void *argument);
	/* Returns true if the firmware's tick calls back within BOUND TSC ticks. NULL: not supported. */
	bool (*firmware_ticks)(uint64_t (*tsc)(void), uint64_t bound);
	void (*open)(void);  /* opens interrupts, within WORK */
	void (*close)(void); /* masks interrupts again */
};

#endif
