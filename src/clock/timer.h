/*
 * Defines a source of timer interrupts: one file that exports one struct timer_driver. Sources are opened together with
 * the clocks. They are tested in windows, short times in which the firmware's tick is stopped and baretick's handler
 * (the recorder) records interrupts. At the end the source restores its registers.
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
	uint64_t count; /* first reading in the handler, of the source's own counter; 0 if it has none */
	uint64_t tsc;   /* TSC, read after COUNT */
};

struct timer;

/*
 * Memory of the recorder on one core. During a window only the recorder writes here; the core's code may write only
 * while interrupts are masked. boot/interrupts/recorder.nasm depends on this layout.
 */
struct timer_slot {
	uint64_t taken;           /* number of interrupts of the source */
	uint64_t strays;          /* number of interrupts of other sources, with other vectors */
	/*
	 * Number of usable entries in EVENTS. After one more interrupt the recorder leaves interrupts masked, which ends an
	 * interrupt storm.
	 */
	uint64_t space;
	uint64_t counter_address; /* address of a 32-bit counter that the recorder reads first, or 0 */
	uint64_t eoi_address;     /* result of lapic_eoi_address() */
	/* Called before the EOI to clear the source's interrupt. NULL if that is not necessary. */
	void (*acknowledge)(const struct timer *timer);
	const struct timer *timer;
	struct timer_event events[TIMER_EVENTS_MAX];
};

/* Returns the number of interrupts in EVENTS. */
static inline size_t
timer_slot_kept(const struct timer_slot *slot)
{
	return slot->taken < TIMER_EVENTS_MAX ? slot->taken : TIMER_EVENTS_MAX;
}

struct timer_route {
	const char *kind; /* kind of the route, "lapic", "ioapic", "fsb", "pic" or "status"; static storage */
	uint32_t pin;     /* global pin number of an I/O APIC, or IRQ number of the PICs; 0 if there is none */
	uint32_t vector;
};

struct timer_driver;

struct timer {
	const struct timer_driver *driver;
	enum clock_state state;
	char reason[CLOCK_REASON_SIZE]; /* a sentence that explains why the source is absent or cannot be tested */
	struct timer_route route;
	/* Rate of the source's counter. If den is 0, the rate is unknown, and the source is timed by the TSC. */
	struct rate hz;
	uint64_t ticks_max;       /* longest interval that can be programmed, in ticks of the counter */
	uint64_t count_mask;      /* mask of the valid bits of the counter that the recorder reads */
	uint64_t counter_address; /* address of the counter that the recorder reads, or 0 */
	/* Id of the clock that has the same counter. NULL if the source has its own counter. Static storage. */
	const char *clock;
	bool by_tsc;              /* true if arm() returns the TSC value at which the interrupt is due */
	/*
	 * The count may start up to this many ticks after arming. Therefore the interrupt is due at the calculated time, or
	 * up to this many ticks earlier.
	 */
	uint64_t phase_ticks;
	/*
	 * True if the source's periods run even before the source is armed. The first interrupt then comes at an unknown
	 * time within a period.
	 */
	bool own_phase;
	bool no_periods;          /* true if this source has no periodic mode, although its driver supports one */
	/* true if the machine lacks this source, so that it gets no row (for example HPET comparator 7) */
	bool unlisted;
	/* The following fields are for the driver only. */
	uint64_t address, pin_address;
	uint32_t entry; /* number of the entry in the I/O APIC at PIN_ADDRESS */
	uint64_t line_bits;  /* trigger and polarity bits of that entry */
	uint64_t line_found; /* value of that entry before the test */
	uint64_t saved[TIMER_SAVED_MAX];
};

struct platform;

enum timer_kind {
	TIMER_PROGRAMMED, /* supports one-shots of any length, and periods if PERIODIC is set */
	TIMER_RATES,      /* supports only periods of certain lengths: see fit() */
	/*
	 * Free-running: interrupts come at times that cannot be programmed. If ticks_max is 1, one comes whenever
	 * get_ticks_left() changes.
	 */
	TIMER_AWAITED,
	TIMER_POLLED,     /* free-running without an interrupt: expired() is polled */
	TIMER_AT_ONCE,    /* interrupts as soon as it is armed; used to measure the time until the handler starts */
};

struct timer_driver {
	const char *id, *title;
	enum timer_kind kind;
	bool periodic;       /* true if the source has a periodic mode */
	/* true for all sources of an equal kind except the first; they are tested with fewer intervals */
	bool secondary;
	bool in_quick;       /* true if a quick run tests this source, too */
	bool only_all;       /* true if only irq=all tests this source */
	/*
	 * True if the source's interrupts come through the PICs. It is then tested only with pic=on, but with pic=on in any
	 * run.
	 */
	bool by_pic;
	bool on_each_core;   /* true if each core has its own source; set_up() and all later calls then run on that core */
	unsigned unit, route_kind; /* for the driver only: number of the unit, and route of its interrupts */
	/*
	 * Fills TIMER, which is zero before, even if the machine has no such source. Leaves all settings as found. A driver
	 * may change a setting to see whether that works, and changes it back before it returns.
	 */
	void (*open)(const struct platform *platform, struct timer *timer);
	/*
	 * All following functions are called within a window. Only get_ticks_left() and expired() of free-running
	 * sources may also be called at other times.
	 */
	/* Saves the registers, and routes the interrupt to VECTOR of this core. The source stays disarmed. */
	void (*set_up)(struct timer *timer, uint32_t vector);
	/* Returns the supported interval nearest to TICKS. NULL if all intervals are supported. */
	uint64_t (*fit)(const struct timer *timer, uint64_t ticks);
	/*
	 * Called before arming. Makes interrupts that are left over from the last window come now, so that they can be
	 * discarded. NULL if not needed.
	 */
	void (*settle)(struct timer *timer);
	/*
	 * Programs an interrupt in TICKS of the source's counter from now. If it has a counter, returns the reading at
	 * which the interrupt is due.
	 */
	uint64_t (*arm)(struct timer *timer, uint64_t ticks, bool periodic);
	/* Arms the source again with its last deadline, which has passed. NULL if the source does not support this. */
	void (*arm_over)(struct timer *timer);
	/* Returns true if the last one-shot is over, according to the source's own status. */
	bool (*expired)(const struct timer *timer);
	/*
	 * Returns the ticks until the interrupt is due, by the source's own counter. Returns 0 if the deadline has passed.
	 */
	uint64_t (*get_ticks_left)(const struct timer *timer);
	/* Called by the recorder in the handler to clear the source's interrupt. NULL if not needed. */
	void (*acknowledge)(const struct timer *timer);
	void (*disarm)(struct timer *timer);
	void (*restore)(struct timer *timer);
};

/* Functions that open a window and receive interrupts in it. All are NULL if this is not possible in this run. */
struct timer_window {
	struct timer_slot *slot; /* memory of the boot core's recorder */
	uint32_t vector;         /* interrupt vector of the recorder */
	/*
	 * Opens a window: stops the firmware's tick, masks interrupts and installs the recorders. Runs WORK and then, in
	 * every case, AFTER. Then restores everything. Returns NULL, or a sentence with the reason why this was not
	 * possible.
	 */
	const char *(*run)(void (*work)(void *argument), void (*after)(void *argument), void *argument);
	/* Does the same as run(), but within a job on a core that baretick started. Uses the recorder of that core. */
	const char *(*run_on_core)(void (*work)(void *argument), void (*after)(void *argument), void *argument);
	/* Returns true if the firmware's tick occurs within BOUND TSC ticks. NULL if not supported. */
	bool (*firmware_ticks)(uint64_t (*tsc)(void), uint64_t bound);
	void (*open)(void);  /* enables interrupts; called by WORK */
	void (*close)(void); /* masks interrupts again; called by WORK */
};

#endif
