/*
 * The interface of a source of timer interrupts. A source is one file that exports one struct timer_driver. Sources
 * are opened together with the clocks. They are tested in timer windows: short times in which the firmware's timer
 * tick is stopped, and baretick's interrupt handler, the recorder, stores each interrupt. Afterwards the source
 * restores its registers.
 */
#ifndef BARETICK_TIMER_H
#define BARETICK_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "clock/clock.h"

#define TIMER_SAVED_MAX  8
#define TIMER_EVENTS_MAX 1024

struct timer_event {
	uint64_t count; /* the source's own counter, read first in the interrupt handler; 0 if the source has none */
	uint64_t tsc;   /* the TSC, read after COUNT */
};

struct timer;

/*
 * Memory of the recorder on one core. During a timer window only the recorder writes to it; other code may write only
 * while interrupts are masked. boot/interrupts/recorder.nasm depends on this layout.
 */
struct timer_slot {
	uint64_t taken;           /* number of interrupts of the tested source */
	uint64_t strays;          /* number of other interrupts, which have other vectors */
	/*
	 * Number of entries in EVENTS that may be used. If one more interrupt occurs, the recorder leaves interrupts
	 * masked. This ends an interrupt storm.
	 */
	uint64_t space;
	uint64_t counter_address; /* address of a 32-bit counter that the recorder reads first; 0 if there is none */
	uint64_t eoi_address;     /* address of the local APIC's EOI register, from lapic_get_eoi_address() */
	/*
	 * The recorder calls this function before the EOI, to clear the interrupt in the source. NULL if this is not
	 * necessary.
	 */
	void (*acknowledge)(const struct timer *timer);
	const struct timer *timer;
	struct timer_event events[TIMER_EVENTS_MAX];
};

struct timer_route {
	/* How interrupts reach the core: "lapic", "ioapic", "fsb", "pic" or "status". In static storage. */
	const char *kind;
	/* global interrupt number (GSI) of the I/O APIC pin, or IRQ number of the PIC; 0 if there is none */
	uint32_t pin;
	uint32_t vector;
};

struct timer_driver;

struct timer {
	const struct timer_driver *driver;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* a sentence that states why the source is absent or cannot be tested */
	struct timer_route route;
	/* Rate of the source's counter. If den is 0, the rate is unknown, and lateness is measured with the TSC. */
	struct rate hz;
	uint64_t ticks_max;       /* longest interval that can be programmed, in ticks of the source's counter */
	uint64_t count_mask;      /* valid bits of the counter that the recorder reads */
	uint64_t counter_address; /* address of the counter that the recorder reads; 0 if there is none */
	/*
	 * Id of the clock that uses the same counter, in static storage. NULL if the source has a counter of its own.
	 */
	const char *clock;
	bool by_tsc;              /* true if arm() returns the deadline as a TSC value */
	/*
	 * Uncertainty of the time at which the interrupt is due, in ticks: the counter may start to count up to this many
	 * ticks after arm().
	 */
	uint64_t phase_ticks;
	/*
	 * True if the source's periods do not start with arm(). The first interrupt then occurs at an unknown time
	 * within a period.
	 */
	bool own_phase;
	/* true if this source cannot be periodic, although its driver supports periodic sources */
	bool no_periods;
	/*
	 * True if the machine lacks this source (for example HPET comparator 7), so that the report does not list it.
	 */
	bool unlisted;
	/* Only the driver uses the following fields. */
	uint64_t address, pin_address;
	uint32_t entry; /* number of the redirection entry in the I/O APIC at pin_address */
	uint64_t line_bits;  /* trigger mode and polarity bits of the redirection entry in the I/O APIC */
	uint64_t line_found; /* value of the redirection entry in the I/O APIC before the test */
	uint64_t saved[TIMER_SAVED_MAX];
};

struct platform;

enum timer_kind {
	TIMER_PROGRAMMED, /* one-shots and periods of any length can be programmed */
	TIMER_ONE_SHOT,   /* only one-shots can be programmed, of any length */
	TIMER_RATES,      /* only periods of certain lengths can be programmed: see fit() */
	/*
	 * Free-running: interrupts occur at times that cannot be programmed. If ticks_max is 1, an interrupt occurs
	 * each time that the result of get_ticks_left() changes.
	 */
	TIMER_AWAITED,
	TIMER_POLLED,     /* free-running and without an interrupt: expired() is polled */
	/* the interrupt occurs as soon as the source is armed; tests measure the time until the handler starts */
	TIMER_AT_ONCE,
};

/* The runs that test a source. */
enum timer_tested {
	TIMER_TESTED_IN_LONG_RUNS, /* all runs except with profile=quick */
	TIMER_TESTED_ALWAYS,       /* also with profile=quick */
	TIMER_TESTED_WITH_IRQ_ALL, /* only with irq=all */
};

struct timer_driver {
	const char *id, *title;
	enum timer_kind kind;
	enum timer_tested tested;
	/* true if another source of the same kind is the main source; this source is tested with fewer intervals */
	bool secondary;
	/*
	 * True if the interrupts are routed through the PICs. The source is then tested only with pic=on, whatever
	 * TESTED is.
	 */
	bool by_pic;
	/*
	 * true if each core has a source of this kind; set_up() and all functions after it are then called on that
	 * core
	 */
	bool on_each_core;
	unsigned unit, route_kind; /* only for the driver: number of the unit, and kind of its interrupt route */
	/*
	 * Fills TIMER, which is zeroed before, even if the machine has no such source. A driver may change a setting
	 * to find out if the setting can be changed, but then restores the setting.
	 */
	void (*open)(const struct platform *platform, struct timer *timer);
	/*
	 * All following functions are called within a timer window, except get_ticks_left() and expired() of
	 * free-running sources.
	 */
	/* Saves the registers, and routes the interrupt to VECTOR of the calling core. The source stays disarmed. */
	void (*set_up)(struct timer *timer, uint32_t vector);
	/* Returns the supported interval nearest to TICKS. The pointer is NULL if the source supports all intervals. */
	uint64_t (*fit)(const struct timer *timer, uint64_t ticks);
	/*
	 * Called before arm(). Makes pending interrupts of an earlier timer window occur now, so that they can be
	 * ignored. NULL if this is not necessary.
	 */
	void (*settle)(struct timer *timer);
	/*
	 * Programs an interrupt in TICKS of the source's counter from now. Returns the value of the counter at which
	 * the interrupt is due, if the source has a counter.
	 */
	uint64_t (*arm)(struct timer *timer, uint64_t ticks, bool periodic);
	/*
	 * Arms the source again with its last deadline, which has already passed. NULL if the source cannot do this.
	 */
	void (*arm_over)(struct timer *timer);
	/*
	 * Returns true if the last one-shot has expired, according to the source's status. NULL if get_ticks_left()
	 * tells this. Not NULL for free-running sources. See timer_has_expired().
	 */
	bool (*expired)(const struct timer *timer);
	/*
	 * Returns the ticks until the interrupt is due, according to the source's own counter; 0 if the deadline has
	 * passed.
	 */
	uint64_t (*get_ticks_left)(const struct timer *timer);
	/*
	 * The recorder calls this function in the interrupt handler, to clear the interrupt in the source. NULL if
	 * this is not necessary.
	 */
	void (*acknowledge)(const struct timer *timer);
	void (*disarm)(struct timer *timer);
	void (*restore)(struct timer *timer);
};

static inline bool
timer_has_expired(const struct timer *timer)
{
	return timer->driver->expired ? timer->driver->expired(timer) : !timer->driver->get_ticks_left(timer);
}

/*
 * Functions that open a timer window and let interrupts occur in the window. These functions are NULL if the run can
 * open no timer window.
 */
struct timer_window {
	struct timer_slot *slot; /* memory of the boot core's recorder */
	uint32_t vector;         /* interrupt vector of the recorder */
	/*
	 * Opens a timer window: stops the firmware's timer tick, masks interrupts and installs the recorder. Runs
	 * WORK and then AFTER, which is called even if WORK causes an exception. Finally restores the state before
	 * the call. Returns NULL, or a sentence that states why no window was opened.
	 */
	const char *(*run)(void (*work)(void *argument), void (*after)(void *argument), void *argument);
	/*
	 * The same as run(), but called in a job on another core that baretick started. Uses the recorder of that
	 * core.
	 */
	const char *(*run_on_core)(void (*work)(void *argument), void (*after)(void *argument), void *argument);
	/*
	 * Returns true if the firmware's timer tick occurs within BOUND TSC ticks. The pointer is NULL if this cannot
	 * be found out.
	 */
	bool (*firmware_ticks)(uint64_t (*tsc)(void), uint64_t bound);
	void (*open)(void);  /* unmasks interrupts; called by WORK */
	void (*close)(void); /* masks interrupts again; called by WORK */
};

#endif
