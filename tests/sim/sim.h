/*
 * The simulated machine: it implements drivers/hw/hw.h without hardware. World time is the simulated time in
 * picoseconds. Only accesses to the machine advance it, each by a cost that the test knows. The state of each device
 * depends only on this time, so a test can calculate each reading exactly.
 *
 * The time of an access passes before its effect. An event that would end a real run (a page fault, a #GP, an endless
 * loop) ends the test with a message.
 */
#ifndef BARETICK_SIM_H
#define BARETICK_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clock.h"
#include "clock/sleep.h"
#include "clocks/drivers.h"
#include "clocks/platform.h"
#include "hw/hw.h"
#include "sim_interrupts.h"

#define SIM_PS_PER_NS UINT64_C(1000)
#define SIM_PS_PER_US UINT64_C(1000000)
#define SIM_PS_PER_MS UINT64_C(1000000000)
#define SIM_PS_PER_S  UINT64_C(1000000000000)
#define SIM_NEVER     UINT64_MAX

#define SIM_CORES_MAX   64
#define SIM_CPUID_MAX   64
#define SIM_MSRS_MAX    32
#define SIM_MSR_MICROCODE 0x8bu
#define SIM_REGIONS_MAX 16
#define SIM_HOOKS_MAX   4
#define SIM_IPIS_MAX    1024

#define SIM_HPET_BASE   UINT64_C(0xfed00000)
#define SIM_LAPIC_BASE  UINT64_C(0xfee00000)
#define SIM_PM_PORT     0x608u /* port of the PM timer, as in QEMU's q35 */
/* port of the PM1 status register; its enable register is at port 602h */
#define SIM_PM1_PORT    0x600u
#define SIM_HPET_PERIOD_FS 100000000u /* period of the HPET: 100 ns, or 10 MHz */

enum sim_access {
	SIM_TSC, SIM_TSC_LFENCE, SIM_TSC_MFENCE, SIM_TSCP, SIM_TSC_CPUID,
	SIM_IN, SIM_OUT, SIM_READ, SIM_WRITE, SIM_MSR_READ, SIM_MSR_WRITE, SIM_HYPERCALL, SIM_CPUID, SIM_PAUSE,
	SIM_ACCESSES
};

/* A free-running counter and its possible faults. After sim_reset() no fault is set. */
struct sim_counter {
	struct rate hz;
	uint64_t origin_ps, origin_ticks; /* world time and counter value at the start of counting */
	uint64_t step_ticks;      /* size of the counter's steps in ticks; default 1 */
	/* world time at which the counter stops; SIM_NEVER if it never stops; 0 if it never moves */
	uint64_t stuck_at_ps;
	uint64_t backward_at_ps;  /* world time at which the counter steps back by backward_ticks, or SIM_NEVER */
	uint64_t backward_ticks;
	unsigned wrap_bits;       /* width of the counter; sim_reset() sets the nominal width */
	/*
	 * Rate of a source counter. If it is set, this counter is calculated from the source counter, and moves in
	 * uneven steps. Otherwise den is 0.
	 */
	struct rate source;
	uint64_t extra_ps;        /* additional duration of each read of the counter */
};

/* Returns the counter's present value, of wrap_bits bits. */
uint64_t sim_counter_get_ticks(const struct sim_counter *counter);

/* Sets the present value of COUNTER to TICKS. Counting continues. */
void sim_counter_set(struct sim_counter *counter, uint64_t ticks);

/* Makes COUNTER faster by PPM from now on. PPM must be a multiple of 10. */
void sim_counter_speed_up(struct sim_counter *counter, int64_t ppm);

struct sim_tsc {
	struct sim_counter counter;
	int64_t offset_ticks[SIM_CORES_MAX]; /* offset of each core's TSC from the first core's TSC */
	/* function that returns the TSC of a core; if it is set, counter and offset_ticks are ignored; may be NULL */
	uint64_t (*reading)(size_t core);
	/*
	 * A fault of the core fault_core. Every fault_reads-th reading of the core's TSC is too high by ahead_ticks.
	 * All readings after a faulty reading are lower by set_back_ticks. Without a fault, fault_reads is 0.
	 */
	size_t fault_core;
	uint64_t fault_reads, ahead_ticks, set_back_ticks;
	/*
	 * fault_core_reads: readings of the faulty core's TSC so far. set_back_sum: sum of this TSC's steps back so
	 * far, in ticks.
	 */
	uint64_t fault_core_reads, set_back_sum;
};

#define SIM_HPET_TIMERS SIM_COMPARATORS

struct sim_hpet {
	struct sim_counter counter; /* main counter, which runs only while ENABLE_CNF is set */
	bool absent;                /* true if the HPET does not exist: all registers read all ones */
	bool dead;                  /* true if ENABLE_CNF can be set but the counter never moves */
	uint64_t capability;
	uint64_t configuration;
	uint64_t timers[SIM_HPET_TIMERS]; /* the timers' configuration registers */
	/*
	 * number of register writes that left both the counter and a timer's interrupt enabled; real hardware could
	 * interrupt after such a write
	 */
	unsigned armed_while_on;
	/*
	 * The firmware's tick, if timer 0 of the HPET makes it. tick_ps: period, or 0 if another device makes the tick.
	 * tick_stop_ps: time for which each tick stops the counter, as in EDK II's HpetTimerDxe. ticked_ps: world time
	 * of the last tick.
	 */
	uint64_t tick_ps, tick_stop_ps, ticked_ps;
	unsigned ticks;
	bool counts_when_off;
	bool loses_value;           /* true if the counter is reset to 0 when it is switched off */
	/* time after a rollover of the low half in which the high half keeps its old value */
	uint64_t high_late_ps;
	unsigned counter_writes;    /* number of writes to the main counter, which must stay 0 */
	unsigned configuration_writes;
};

struct sim_pm {
	struct sim_counter counter;
	uint64_t address;    /* I/O port of the counter, or its physical address if is_memory is true */
	bool is_memory;      /* true if the counter is in memory; the test then maps the page with sim_map_region() */
	bool absent;         /* true if the PM timer does not exist: it reads all ones */
	/* time after a tick during which bits that rose still read 0, because the counter has no latch */
	uint64_t glitch_ps;
	uint32_t high_bits;  /* bits that always read 1, above the counter's width */
};

struct sim_pit_channel {
	uint8_t control;       /* the channel's access, mode and BCD bits as last written */
	bool null_count;       /* true from a control word until software writes the count */
	bool gate;
	uint32_t reload;       /* start value of the count, 1 to 65536 */
	uint64_t loaded_ps;    /* time at which counting from the reload value started */
	uint64_t held_cycles;  /* number of clock cycles before the gate input fell */
	uint8_t write_low;
	bool write_high_next, read_high_next;
	bool count_latched, status_latched;
	uint16_t latched_count;
	uint8_t latched_status;
	unsigned writes;       /* number of control words and counts that were written */
};

struct sim_pit {
	struct sim_pit_channel channels[3];
	struct rate hz;
	uint8_t port_61;        /* bits 0 to 3 of port 61h, which can be written */
	bool absent;            /* true if the PIT does not exist: ports 40h..43h read all ones */
	bool port_61_absent;
	bool gated;             /* true if the PIT has no input clock, so that no channel counts */
	uint64_t gated_at_ps;   /* time at which the PIT loses its input clock, or SIM_NEVER */
	uint64_t backward_at_ps, backward_ticks;
	unsigned step;          /* size of the counter's steps in clock cycles; 1 by default */
	bool stays_at_end;      /* true if the counter stays at 0 after the end of its count in modes 0 and 4 */
	bool mode_7_as_2;       /* true if the count falls by one at each clock in mode 7, as in QEMU */
	bool mode_6_as_4;       /* true if the counter goes on from FFFFh in mode 6 */
	bool mode_2_as_3;       /* true if the count falls by two at each clock in mode 2, as it does in mode 3 */
	bool latch_ignored;     /* true if a read returns the present count although the count was latched */
	bool latches_again;     /* true if a second latch command replaces the latched count, which a real 8254 keeps */
	uint8_t status_flipped; /* bits of the status byte that read inverted */
	bool null_count_never;  /* true if NULL COUNT always reads 0, as in QEMU */
	/* faults of channel 2's output in port 61h: the output is never high; the output is never low */
	bool out_never_high, out_never_low;
	uint64_t out_late_ps;   /* delay of the output's rise in mode 0 */
	uint64_t extra_ps;
};

struct sim_rtc {
	/* the index register, which includes the NMI bit; registers A (without UIP), B and D */
	uint8_t index, a, b, d;
	uint64_t seconds;         /* time of day in seconds at world time 0, when a second starts */
	uint64_t midnight;        /* start of the day at world time 0, in seconds since 1970 */
	bool date_invalid;        /* true if the registers from the minutes to the year read FFh */
	bool minutes_stuck;       /* true if these registers always show the time 0:00 at world time 0 */
	bool index_readable;      /* true if a read of port 70h returns the index; otherwise it returns FFh */
	/*
	 * True if Intel's ports 74h and 75h exist. A read of port 74h returns the index with bit 7 cleared. A write to
	 * port 74h does not change bit 7.
	 */
	bool has_alias;
	bool absent;              /* true if the RTC does not exist: all registers read FFh */
	bool uip_stuck;           /* true if the flag UIP (update in progress) is always 1 */
	bool uip_never;           /* true if UIP is always 0 */
	/* time from the rise of UIP until the seconds register changes; 2,228 us by default */
	uint64_t uip_early_ps;
	/* time after which the seconds register never changes and no update interrupt comes, or SIM_NEVER */
	uint64_t halted_at_ps;
	int64_t fast_ppm;         /* rate error of the RTC's crystal in ppm */
	int64_t fast_ppb;         /* rate error in ppb, in addition to fast_ppm */
	uint64_t ahead_ps;        /* lead of the RTC over world time */
	uint64_t second_step;     /* number of seconds that an update adds; 1 by default */
	uint64_t uip_late_ps;     /* time from the change of the second until UIP falls, as in QEMU */
	/*
	 * The delay of each update is a number below late_max_ps. The seconds register changes before the end of the
	 * update, by a number below early_max_ps. 0: all updates are in time.
	 */
	uint64_t late_max_ps, early_max_ps;
	bool update_garbage;      /* true if the seconds register reads 45h during the update cycle */
	bool seconds_invalid;     /* true if the seconds register always reads 7Fh */
	bool pf_needs_pie;        /* true if the periodic flag is set only while PIE is set, as in QEMU */
	bool pf_never;            /* true if the periodic flag is never set */
	/*
	 * rate selection of the periodic flag, in place of the rate selection in register A; 0 to use register A
	 */
	uint8_t pf_select;
	uint64_t pf_edges_read;   /* number of periodic edges before the latest read of register C */
	/*
	 * Seconds, minutes and hours of the alarm. The alarm comes each second if the top two bits of all three are
	 * set, otherwise never.
	 */
	uint8_t alarm[3];
	/*
	 * level of the line IRQ 8, which falls when register C is read or the interrupts of all set flags are disabled
	 */
	bool line;
	/*
	 * value of the seconds at the last read of register C; the update-ended flag is set if the present second is
	 * later
	 */
	uint64_t second_read;
	uint64_t c_reads;
	/*
	 * total time in which PIE was set while the core accepted interrupts; must stay 0, because the firmware does
	 * not expect the RTC's interrupts
	 */
	uint64_t exposed_ps;
	uint64_t a_writes, b_writes;
	uint64_t extra_ps;
};

struct sim_ipi {
	uint32_t destination;
	uint32_t command; /* vector and delivery mode, as in the low half of the ICR */
};

struct sim_lapic {
	uint32_t apic_id;
	bool delivery_stuck;  /* true if the ICR's delivery status stays 1 */
	uint32_t registers[0x40]; /* the LAPIC's registers, which are 16 bytes apart */
	size_t ipi_count;
	struct sim_ipi ipis[SIM_IPIS_MAX];
	size_t never_start_count; /* number of cores in never_start, which ignore all commands */
	uint32_t never_start[SIM_CORES_MAX];
};

struct sim_region { /* a mapped region of memory; without a read function it reads all ones */
	uint64_t base, length;
	uint64_t (*read)(uint64_t address, unsigned width_bytes);
	void (*write)(uint64_t address, uint64_t value, unsigned width_bytes);
};

struct sim_port_hook {
	uint16_t first, last;
	uint32_t (*in)(void *context, uint16_t port, unsigned width_bytes);
	void (*out)(void *context, uint16_t port, uint32_t value, unsigned width_bytes);
	void *context;
};

struct sim {
	uint64_t now_ps;
	uint64_t cost_ps[SIM_ACCESSES];
	uint64_t count[SIM_ACCESSES];
	uint64_t accesses;       /* number of accesses to the machine since sim_reset() */
	/* limit on accesses, 50,000,000 by default; a test that exceeds the limit fails, because it loops endlessly */
	uint64_t accesses_max;
	bool interrupts_masked;
	unsigned masked_times;   /* number of calls of hw_interrupts_mask() */
	uint64_t masked_since_ps, masked_longest_ps;
	/*
	 * A host that preempts the core for preempt_ps in one of preempt_every accesses on average. The host never
	 * preempts if preempt_every is 0.
	 */
	uint64_t preempt_every, preempt_ps;
	uint64_t preempt_seed;   /* seed of the random choice of accesses that are preempted */
	size_t core;             /* number of the core on which the caller runs */
	void (*before_access)(void); /* called before each access, so that other cores may run first; may be NULL */
	/*
	 * Called after the time of an access has passed, and before its effect. WHERE is a port, an address or 0. May
	 * be NULL.
	 */
	void (*spent)(enum sim_access access, uint64_t where);

	uint32_t slept; /* the state that a driver entered last */
	struct sim_tsc tsc;
	struct sim_hpet hpet;
	struct sim_pm pm;
	struct sim_pit pit;
	struct sim_rtc rtc;
	struct sim_lapic lapic;
	struct sim_interrupts interrupts;
	uint8_t pic_mask[2];     /* interrupt masks of the two PICs, ports 21h and A1h */

	size_t cpuid_count;
	struct {
		uint32_t leaf, subleaf;
		struct hw_cpuid registers;
	} cpuid[SIM_CPUID_MAX];
	size_t msr_count;
	struct {
		uint32_t msr;
		uint64_t value;
	} msrs[SIM_MSRS_MAX];
	/*
	 * Handle an MSR that is not in msrs, or an MSR whose access has an effect. Return true if they handled the MSR.
	 * The pointers may be NULL.
	 */
	bool (*read_msr)(uint32_t msr, uint64_t *value);
	bool (*write_msr)(uint32_t msr, uint64_t value);
	/* Handles Xen's hypercalls. If NULL, the hypercall instruction faults. */
	int64_t (*hypercall)(uint64_t number, uint64_t first, uint64_t second, uint64_t third);
	/* pages of the hypervisors' clocks, copied into struct platform by sim_describe_platform() */
	struct pages pages;
	/*
	 * Physical address at which a driver may map Xen's shared page; 0 if there is no such address.
	 * sim_describe_platform() copies the address into struct platform.
	 */
	uint64_t unused_page;
	/* microcode revision, or 0. On an Intel CPU, CPUID 1h copies it into the upper half of MSR 8Bh. */
	uint32_t microcode;
	size_t region_count;
	struct sim_region regions[SIM_REGIONS_MAX];
	size_t hook_count;
	struct sim_port_hook hooks[SIM_HOOKS_MAX];
	/* Called for each IPI to a core that is not in never_start. If NULL, IPIs are only recorded. */
	void (*on_ipi)(uint32_t destination, uint32_t vector_and_mode);
};

extern struct sim sim;

/*
 * Makes a healthy machine at world time 0. It has a TSC of 1 GHz, an HPET of 10 MHz with 64 bits that
 * is off, and a PM timer of 24 bits at SIM_PM_PORT. It also has a PIT, an RTC in BCD, a LAPIC in xAPIC
 * mode, and an Intel CPU with CPUID 15h. A read of the TSC costs 10 ns, 20 with a fence, 110 with
 * CPUID, 25 with RDTSCP. IN and OUT cost 500 ns, MMIO 300, MSR and CPUID 100, and PAUSE 40.
 */
void sim_reset(void);

/* Fills in the facts about the simulated machine that ACPI and CPUID give. */
void sim_describe_platform(struct platform *platform);

/* Makes each read of the TSC last FACTOR times as long, so that a run makes fewer reads and the test is faster. */
void sim_slow_tsc_reads(uint64_t factor);

/*
 * For sim.spent: makes each access outside of a timer window last five times as long. Only timer windows need precise
 * readings, and tests are faster with fewer accesses.
 */
void sim_slow_outside_timer_window(enum sim_access access, uint64_t where);

void sim_advance_ps(uint64_t ps); /* lets time pass without an access */

void sim_cpuid_set(uint32_t leaf, uint32_t subleaf,
		   struct hw_cpuid registers); /* adds a CPUID leaf, or changes it */
void sim_msr_set(uint32_t msr, uint64_t value);                                 /* sets an MSR without an access */
uint64_t sim_msr_get(uint32_t msr); /* returns an MSR without an access */
void sim_map_region(struct sim_region region);
void sim_unmap_region(uint64_t base);
void sim_hook_ports(struct sim_port_hook hook);

/* These functions return the devices' present values, and take no simulated time. */
uint64_t sim_get_tsc_ticks(void);
/* applies CORE's TSC fault to TICKS and returns the result; counts as a reading of the TSC on CORE */
uint64_t sim_apply_tsc_fault(size_t core, uint64_t ticks);
uint8_t sim_pit_get_status(unsigned channel);   /* the status that the read-back command returns */
uint16_t sim_pit_get_count(unsigned channel);
/* number of edges of the periodic flag since world time 0, at the selected rate */
uint64_t sim_rtc_count_pf_edges(void);

/*
 * Returns BYTES zero bytes at a multiple of ALIGNMENT, which free() frees. Fails the test if there is no memory. Pages
 * of calloc() cost nothing until they are used, and most of the memory of a survey is for pairs of cores that a test
 * does not measure.
 */
void *sim_allocate_zeros(size_t alignment, size_t bytes);

_Noreturn void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
