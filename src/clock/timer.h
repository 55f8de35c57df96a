/*
 * What a source of timer interrupts is: one file, one export. It is opened with the clocks, programmed in windows in
 * which interrupts come to a recorder, and leaves its registers as it found them.
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
	uint64_t count; /* of the source's own counter, the first that is read; 0 where it has none */
	uint64_t tsc;   /* behind that */
};

struct timer;

/*
 * Where the recorder of a core writes, and it alone. All else is the core's own, written while interrupts are masked.
 * boot/interrupts/recorder.nasm has the same layout.
 */
struct timer_slot {
	uint64_t taken;           /* interrupts of the source */
	uint64_t strays;          /* of any other vector */
	uint64_t space;           /* in EVENTS; one more, and interrupts stay masked: that is a storm's end */
	uint64_t counter_address; /* of the 32 bits that are read first; 0: none */
	uint64_t eoi_address;     /* as of lapic_eoi_address() */
	void (*acknowledge)(const struct timer *timer); /* the source, before the EOI; NULL: it wants nothing */
	const struct timer *timer;
	struct timer_event events[TIMER_EVENTS_MAX];
};

/* Of the interrupts that it took, so many are in EVENTS. */
static inline size_t
timer_slot_kept(const struct timer_slot *slot)
{
	return slot->taken < TIMER_EVENTS_MAX ? slot->taken : TIMER_EVENTS_MAX;
}

struct timer_route {
	const char *kind; /* "lapic", "ioapic", "fsb", "pic", "status"; static storage */
	uint32_t pin;     /* of the I/O APIC's, by its global number, or of the PICs', an IRQ; 0 where there is none */
	uint32_t vector;
};

struct timer_driver;

struct timer {
	const struct timer_driver *driver;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* a sentence where it is not present, or can't be asked */
	struct timer_route route;
	struct rate hz;           /* of its counter; den 0: it claims none, and is timed by the TSC */
	uint64_t ticks_max;       /* that can be programmed at once */
	uint64_t count_mask;      /* of what the recorder reads */
	uint64_t counter_address; /* for the slot; 0: none */
	const char *clock;        /* id of that whose counter it is compared with; NULL: it has its own. Static storage */
	bool by_tsc;              /* arm() returns a reading of the TSC, at which it is due */
	uint64_t phase_ticks;     /* what is armed begins up to so many of them later: a one-shot is due then or before */
	bool own_phase;           /* its periods go on whenever they are asked for: the first is due at some time in one */
	bool no_periods;          /* the driver can, this one of its sources can't */
	bool unlisted;            /* there is none of this number: no row says so */
	/* The driver's own. */
	uint64_t address, pin_address;
	uint32_t entry; /* of the I/O APIC at PIN_ADDRESS, */
	uint64_t line_bits;  /* with these: level, active low; */
	uint64_t line_found; /* all of it, as it was */
	uint64_t saved[TIMER_SAVED_MAX];
};

struct platform;

enum timer_kind {
	TIMER_PROGRAMMED, /* one-shots of any length, and periods where it is PERIODIC */
	TIMER_RATES,      /* periods only, of lengths of its own: fit() knows */
	TIMER_AWAITED,    /* its interrupt comes when it will; ticks_max 1: at each step of left(), to be waited for */
	TIMER_POLLED,     /* likewise, without an interrupt: expired() is asked */
	TIMER_AT_ONCE,    /* as soon as it is armed: what the way into the handler takes */
};

struct timer_driver {
	const char *id, *title;
	enum timer_kind kind;
	bool periodic;       /* it has a periodic mode */
	bool secondary;      /* one of several alike: asked for less */
	bool in_quick;       /* asked in a quick run, too */
	bool only_all;       /* asked with irq=all only */
	bool by_pic;         /* asked with pic=on only, and then in any run: its interrupts come by the PICs */
	bool on_each_core;   /* each core has its own: take() and what follows are called there */
	unsigned unit, way;  /* the driver's own */
	/* Fills TIMER, which is zeroed, in every case; writes nothing. */
	void (*open)(const struct platform *platform, struct timer *timer);
	/* The rest is called within a window, but left() and expired() of one that is awaited or polled. */
	void (*take)(struct timer *timer, uint32_t vector); /* remembers the registers, and routes it, disarmed */
	/* The length next to TICKS that it can be asked for; NULL: any. */
	uint64_t (*fit)(const struct timer *timer, uint64_t ticks);
	/* Lets what is left of the last one come, which is then drained, before it is armed again; NULL: nothing is. */
	void (*settle)(struct timer *timer);
	/* Arms it for TICKS of its counter from now; returns the counter's reading at which it is due, if it has one. */
	uint64_t (*arm)(struct timer *timer, uint64_t ticks, bool periodic);
	void (*arm_over)(struct timer *timer); /* with the deadline that it had, which is over; NULL: that can't be done */
	bool (*expired)(const struct timer *timer); /* by its own status: the last one-shot was due */
	uint64_t (*left)(const struct timer *timer); /* ticks until it is due, by its own counter; 0: it is over */
	void (*acknowledge)(const struct timer *timer); /* in the handler: for the slot; NULL */
	void (*disarm)(struct timer *timer);
	void (*give_back)(struct timer *timer);
};

/* What a run needs to take interrupts: NULL functions where it can't. */
struct timer_window {
	struct timer_slot *slot; /* the boot core's */
	uint32_t vector;         /* that the recorder serves */
	/*
	 * Plays WORK and, whatever became of it, AFTER, with the firmware's tick stopped, interrupts masked and the recorders
	 * in place, then puts all back. NULL, or why it could not.
	 */
	const char *(*play)(void (*work)(void *argument), void (*after)(void *argument), void *argument);
	/* The same as a job of a core that baretick started: the slot is that core's meanwhile. */
	const char *(*play_there)(void (*work)(void *argument), void (*after)(void *argument), void *argument);
	/* Whether the firmware calls back by its own tick, within BOUND of TSC's ticks; NULL: it can't be asked. */
	bool (*firmware_ticks)(uint64_t (*tsc)(void), uint64_t bound);
	void (*open)(void);  /* interrupts, within WORK */
	void (*close)(void); /* masked again */
};

#endif
