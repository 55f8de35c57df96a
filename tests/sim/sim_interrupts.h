/*
 * The interrupts of the simulated machine, where they are plugged in: what each source of them does by its data sheet,
 * an I/O APIC of 24 pins, all masked, and a core that takes what comes; and what can be wrong with each. They come
 * within a window alone, at the first access behind the moment at which they leave their source.
 */
#ifndef BARETICK_SIM_INTERRUPTS_H
#define BARETICK_SIM_INTERRUPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/timer.h"

#define SIM_IOAPIC_BASE  UINT64_C(0xfec00000)
#define SIM_IOAPIC_PINS  24u
#define SIM_TIMER_VECTOR 0xe0u
#define SIM_COMPARATORS  3
#define SIM_LINT0        0x35u /* of the local APIC's registers */
#define SIM_LINT0_EXTINT 0x700u
#define SIM_LINT0_MASKED 0x10000u

enum sim_policy { /* of periods while interrupts are masked */
	SIM_DISCARD, SIM_CATCH_UP, SIM_DELAY
};

enum sim_source {
	SIM_LAPIC, SIM_DEADLINE, SIM_HPET_0, SIM_HPET_1, SIM_HPET_2, SIM_PIT_0, SIM_RTC_PERIODIC, SIM_RTC_UPDATE,
	SIM_RTC_ALARM, SIM_PM_STATUS, SIM_SOURCES
};

struct sim_timer {
	/* What is wrong with it; all 0: nothing. */
	unsigned drop_every, drop_shots_every; /* of periods, of one-shots: one in so many */
	unsigned double_every;
	uint64_t early_ps;
	uint64_t late_ps;  /* each interrupt by half to one and a half of it, */
	uint64_t late_one_in; /* or, where this is not 0, one in so many alone */
	uint64_t delay_ps; /* each interrupt by all of it */
	int64_t fast_ppm;  /* of its periods */
	bool never;        /* it is over by its own status, and does not interrupt */
	bool stands;       /* not the HPET, nor the RTC: it takes what is written, and never comes to its end */
	bool storms;       /* it interrupts again and again, until it is disarmed */
	bool stale;        /* HPET: enabled behind its deadline it interrupts at once */
	bool wrong_pin;    /* its interrupts come by the pin beside that which leads to the core */
	bool sticks;       /* RTC, PM timer: its flag is never cleared */
	bool outlasts;     /* what is late comes though the source was disarmed meanwhile: the host has it already */
	enum sim_policy policy;
	/* Its own. */
	bool armed, waits;
	unsigned __int128 due_e6; /* in millionths of a tick of what it counts */
	uint64_t period_e6;
	uint64_t due_ps, leaves_ps, last_due_ps;
	uint64_t owed_ps; /* when such a one comes; 0: there is none */
	unsigned pending, sent;
	/* What it has done. */
	uint64_t dropped, doubled, came, lost;
};

struct sim_taken { /* by the recorder */
	enum sim_source source;
	bool periodic;
	uint64_t due_ps, read_ps; /* the handler's first reading */
};

struct sim_pic {
	unsigned step; /* the initialization word that is to come; 0: none */
	uint8_t base, cascade, in_service;
	bool initialized;
};

struct sim_interrupts {
	union {
		struct {
			struct sim_timer lapic, deadline, hpet, hpet1, hpet2, pit, rtc, rtc_update, rtc_alarm, pm;
		};
		struct sim_timer timers[SIM_SOURCES];
	};
	uint64_t lapic_hz;    /* before it is divided: 100 MHz */
	uint64_t entry_ps;    /* the way into a handler: 500 ns */
	uint64_t seed;        /* of what is late */
	/* In each busy_every_ps the host is busy for busy_ps, and timers send nothing during that; 0 if it never is. */
	uint64_t busy_every_ps, busy_ps;
	uint64_t longest_ps;  /* of all windows */
	void (*taken)(const struct sim_taken *taken); /* NULL */
	struct timer_slot slot;
	/* Its own. */
	bool plugged, in_window, open, in_handler;
	uint64_t quiet_until_ps; /* no source has anything to do before that */
	uint32_t self; /* a vector that the core has sent to itself; 0: none */
	uint32_t selected;
	struct sim_pic pics[2];
	uint64_t entries[SIM_IOAPIC_PINS];
	uint64_t comparators[SIM_COMPARATORS], hpet_periods[SIM_COMPARATORS], messages[SIM_COMPARATORS];
	uint64_t lapic_armed_ps, deadline_ticks;
	uint16_t pm_enable;
	uint64_t pm_cleared; /* turns of the PM timer's highest bit when its status was cleared */
};

/* Adds them to a machine that was just reset, before its facts are taken; TSC deadlines among them. */
void sim_interrupts_plug(void);

/* For struct run_machine. */
struct timer_window sim_interrupts_window(void);

#endif
