/*
 * The interrupts of the simulated machine, if a test uses them: the sources by their data sheets, an I/O APIC with 24
 * masked pins, and a core that takes interrupts. Each can have faults. Interrupts come only within a window, at the
 * first access after they leave their source.
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
#define SIM_LINT0        0x35u /* index of a local APIC register */
#define SIM_LINT0_EXTINT 0x700u
#define SIM_LINT0_MASKED 0x10000u

enum sim_policy { /* treatment of periods while interrupts are masked */
	SIM_DISCARD, SIM_CATCH_UP, SIM_DELAY
};

enum sim_source {
	SIM_LAPIC, SIM_DEADLINE, SIM_HPET_0, SIM_HPET_1, SIM_HPET_2, SIM_PIT_0, SIM_RTC_PERIODIC, SIM_RTC_UPDATE,
	SIM_RTC_ALARM, SIM_PM_STATUS, SIM_HV_TIMER, SIM_SOURCES
};

struct sim_timer {
	/* Its faults. All are 0 for a healthy source. */
	unsigned drop_every, drop_shots_every; /* drops one of so many periods or one-shots */
	unsigned double_every;
	uint64_t early_ps;
	uint64_t late_ps;  /* each interrupt by half to one and a half of it, */
	uint64_t late_one_in; /* or, where this is not 0, one in so many alone */
	uint64_t delay_ps; /* each interrupt by all of it */
	int64_t fast_ppm;  /* error of its periods */
	bool never;        /* it is over by its own status, and does not interrupt */
	bool stands;       /* accepts a count, but never reaches its end (not HPET and RTC) */
	bool storms;       /* it interrupts again and again, until it is disarmed */
	bool stale;        /* HPET: enabled behind its deadline it interrupts at once */
	bool wrong_pin;    /* its interrupts come at the wrong pin of the I/O APIC */
	bool sticks;       /* RTC, PM timer: its flag is never cleared */
	bool outlasts;     /* a late interrupt comes even if the source was disarmed, because the host already has it */
	enum sim_policy policy;
	/* Its own. */
	bool armed, waits;
	unsigned __int128 due_e6; /* in millionths of a tick of what it counts */
	uint64_t period_e6;
	uint64_t due_ps, leaves_ps, last_due_ps;
	uint64_t owed_ps; /* when a pending interrupt comes, or 0 */
	unsigned pending, sent;
	/* Counts of its interrupts. */
	uint64_t dropped, doubled, came, lost;
};

struct sim_taken { /* an interrupt that the recorder took */
	enum sim_source source;
	bool periodic;
	uint64_t due_ps, read_ps; /* the handler's first reading */
};

struct sim_pic {
	unsigned step; /* the next initialization word, or 0 */
	uint8_t base, cascade, in_service;
	bool initialized;
};

struct sim_interrupts {
	union {
		struct {
			struct sim_timer lapic, deadline, hpet, hpet1, hpet2, pit, rtc, rtc_update, rtc_alarm, pm, hv;
		};
		struct sim_timer timers[SIM_SOURCES];
	};
	uint64_t lapic_hz;    /* before it is divided: 100 MHz */
	uint64_t entry_ps;    /* the way into a handler: 500 ns */
	uint64_t seed;        /* seed for the lateness */
	/* In each busy_every_ps the host is busy for busy_ps, and timers send nothing during that; 0 if it never is. */
	uint64_t busy_every_ps, busy_ps;
	uint64_t longest_ps;  /* the longest window */
	void (*taken)(const struct sim_taken *taken); /* NULL */
	struct timer_slot slot;
	/* Its own. */
	bool plugged, in_window, open, in_handler;
	uint64_t quiet_until_ps; /* no source has anything to do before that */
	uint32_t self; /* vector that the core sent to itself, or 0 */
	uint32_t selected;
	struct sim_pic pics[2];
	uint64_t entries[SIM_IOAPIC_PINS];
	uint64_t comparators[SIM_COMPARATORS], hpet_periods[SIM_COMPARATORS], messages[SIM_COMPARATORS];
	uint64_t lapic_armed_ps, deadline_ticks;
	uint64_t hv_config, hv_count; /* Hyper-V's MSRs 400000B6h and 400000B7h */
	uint16_t pm_enable;
	uint64_t pm_cleared; /* turns of the PM timer's highest bit when its status was cleared */
};

/* Adds them to a machine that was just reset, before its facts are taken; TSC deadlines among them. */
void sim_interrupts_plug(void);

/* For struct run_machine. */
struct timer_window sim_interrupts_window(void);

#endif
