/*
 * The interrupts of the simulated machine, for tests that use them. The simulation has all sources of interrupts, an
 * I/O APIC with 24 masked pins, and a core that takes interrupts. Each source follows its data sheet and can have
 * faults. Interrupts reach the core only inside a window (struct timer_window). An interrupt comes at the first
 * access after it left its source.
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
#define SIM_LINT0        0x35u /* index of the register LVT LINT0 in sim.lapic.registers */
#define SIM_LINT0_EXTINT 0x700u
#define SIM_LINT0_MASKED 0x10000u

/* How a source handles periods that end while interrupts are masked. */
enum sim_policy {
	SIM_DISCARD, SIM_CATCH_UP, SIM_DELAY
};

enum sim_source {
	SIM_LAPIC, SIM_DEADLINE, SIM_HPET_0, SIM_HPET_1, SIM_HPET_2, SIM_PIT_0, SIM_RTC_PERIODIC, SIM_RTC_UPDATE,
	SIM_RTC_ALARM, SIM_PM_STATUS, SIM_HV_TIMER, SIM_XEN_TIMER,
	SIM_SOURCES
};

struct sim_timer {
	/* Faults of the source. All are 0 for a healthy source. */
	/* one in drop_every periodic interrupts and one in drop_shots_every one-shots is dropped; 0 for no drops */
	unsigned drop_every, drop_shots_every;
	unsigned double_every;
	uint64_t early_ps;
	/* mean lateness: each interrupt is late by a random time between 0.5 and 1.5 times this value */
	uint64_t late_ps;
	uint64_t late_one_in; /* if not 0, only one interrupt in this many is late */
	uint64_t delay_ps; /* constant delay of each interrupt */
	int64_t fast_ppm;  /* rate error of the source's periods in ppm */
	bool never;        /* true if the source's status reports expiry but no interrupt comes */
	bool stands;       /* true if the source accepts a count but its counter never moves (not for HPET and RTC) */
	bool storms;       /* true if the source interrupts again and again until it is disarmed */
	/* HPET only: true if a comparator interrupts at once when it is enabled after its deadline */
	bool stale;
	bool wrong_pin;    /* true if interrupts come at the wrong pin of the I/O APIC */
	bool sticks;       /* RTC and PM timer only: true if the interrupt flag cannot be cleared */
	/* true if a late interrupt comes although the source was disarmed, because the host had already queued it */
	bool survives_disarm;
	enum sim_policy policy;
	/* State of the source. */
	bool armed, waits;
	unsigned __int128 due_e6; /* deadline in millionths of a tick of the source's counter */
	uint64_t period_e6;
	uint64_t due_ps, leaves_ps, last_due_ps;
	/* time at which an interrupt comes although its source was disarmed (survives_disarm), or 0 */
	uint64_t owed_ps;
	unsigned pending, sent;
	/*
	 * Numbers of the source's interrupts. dropped: not sent. doubled: sent twice. came: due in total. lost: not
	 * delivered, because another interrupt of the source was still pending.
	 */
	uint64_t dropped, doubled, came, lost;
};

struct sim_taken { /* one interrupt that the recorder took */
	enum sim_source source;
	bool periodic;
	uint64_t due_ps, read_ps; /* deadline of the interrupt, and time at which the handler first read a clock */
};

struct sim_pic {
	unsigned step; /* number of the initialization command word (ICW) that this PIC expects next, or 0 */
	uint8_t base, cascade, in_service;
	bool initialized;
};

struct sim_interrupts {
	union {
		struct {
			struct sim_timer lapic, deadline, hpet, hpet1, hpet2, pit, rtc, rtc_update, rtc_alarm, pm, hv, xen;
		};
		struct sim_timer timers[SIM_SOURCES];
	};
	uint64_t lapic_hz;    /* rate of the local APIC's timer before the divider; 100 MHz by default */
	uint64_t entry_ps;    /* time from the interrupt to its handler; 500 ns by default */
	uint64_t seed;        /* seed of the random lateness */
	/*
	 * The host is busy for busy_ps once in each busy_every_ps. While the host is busy, no timer sends an interrupt.
	 * busy_every_ps is 0 if the host is never busy.
	 */
	uint64_t busy_every_ps, busy_ps;
	uint64_t longest_ps;  /* duration of the longest window (struct timer_window) so far */
	void (*taken)(const struct sim_taken *taken); /* called for each interrupt that the recorder took; may be NULL */
	struct timer_slot slot;
	/* State of the simulation. */
	bool plugged, in_window, open, in_handler;
	uint64_t quiet_until_ps; /* no source sends an interrupt or changes its state before this time */
	uint32_t self; /* vector that the core sent to itself, or 0 */
	uint32_t selected;
	struct sim_pic pics[2];
	uint64_t entries[SIM_IOAPIC_PINS];
	uint64_t comparators[SIM_COMPARATORS], hpet_periods[SIM_COMPARATORS], messages[SIM_COMPARATORS];
	uint64_t lapic_armed_ps, deadline_ticks;
	uint64_t hv_config, hv_count; /* Hyper-V's MSRs 400000B6h and 400000B7h */
	uint16_t pm_enable;
	uint64_t pm_cleared; /* number of toggles of the PM timer's highest bit at the last clearing of TMR_STS */
};

/*
 * Adds interrupts, including TSC deadlines, to a machine that was just reset. Must be called before bench_new(), which
 * reads the machine's facts.
 */
void sim_interrupts_add_controllers(void);

/* Delays all armed timers and the LAPIC's count by BY_PS, except the RTC's, as when a hypervisor stops its guest. */
void sim_interrupts_stop_for(uint64_t by_ps);

/* Returns functions for run_machine.window. They run code during which the simulated core takes interrupts. */
struct timer_window sim_interrupts_make_window(void);

#endif
