/*
 * The interrupts of the simulated machine, where they are plugged in: the local APIC's timer, the HPET's comparator 0
 * and an I/O APIC of 24 pins, all masked; and what can be wrong with each. They come within a window alone, at the
 * first access behind the moment at which they leave their source.
 */
#ifndef BARETICK_SIM_INTERRUPTS_H
#define BARETICK_SIM_INTERRUPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "timer.h"

#define SIM_IOAPIC_BASE  UINT64_C(0xfec00000)
#define SIM_IOAPIC_PINS  24u
#define SIM_TIMER_VECTOR 0xe0u

enum sim_policy { /* of periods while interrupts are masked */
	SIM_DISCARD, SIM_CATCH_UP, SIM_DELAY
};

struct sim_timer {
	/* What is wrong with it; all 0: nothing. */
	unsigned drop_every, drop_shots_every; /* of periods, of one-shots: one in so many */
	unsigned double_every;
	uint64_t early_ps;
	uint64_t late_ps;  /* each interrupt by half to one and a half of it */
	int64_t fast_ppm;  /* of its periods */
	bool never;        /* it is over by its own status, and does not interrupt */
	bool storms;       /* it interrupts again and again, until it is disarmed */
	bool stale;        /* armed behind its deadline it interrupts at once */
	enum sim_policy policy;
	/* Its own. */
	bool armed, waits;
	uint64_t due_ps, leaves_ps, period_ps;
	unsigned pending, sent;
};

struct sim_interrupts {
	struct sim_timer lapic, hpet;
	bool wrong_pin;       /* the HPET's come by the pin beside that which was asked for */
	uint64_t lapic_hz;    /* 100 MHz */
	uint64_t entry_ps;    /* the way into a handler: 500 ns */
	uint64_t seed;        /* of what is late */
	uint64_t longest_ps;  /* of all windows */
	struct timer_slot slot;
	/* Its own. */
	bool plugged, in_window, open, in_handler;
	uint32_t self; /* a vector that the core has sent to itself; 0: none */
	uint32_t selected;
	uint64_t entries[SIM_IOAPIC_PINS];
	uint32_t comparator, hpet_period;
};

/* Adds them to a machine that was just reset, before its facts are taken. */
void sim_interrupts_plug(void);

/* For struct run_machine. */
struct timer_window sim_interrupts_window(void);

#endif
