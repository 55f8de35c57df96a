/* Declarations for sim.c and the devices. */
#ifndef BARETICK_SIM_INTERNAL_H
#define BARETICK_SIM_INTERNAL_H

#include "sim.h"

uint64_t sim_hpet_read(uint64_t address, unsigned width_bytes);
void sim_hpet_write(uint64_t address, uint64_t value, unsigned width_bytes);
void sim_hpet_reset(void);
void sim_hpet_tick(void); /* interrupts are on */

bool sim_pm_answers(uint64_t address, bool is_memory);
uint32_t sim_pm_read(void);
void sim_pm_reset(void);

void sim_pit_reset(void);
uint8_t sim_pit_in(uint16_t port); /* 40h..43h and 61h */
void sim_pit_out(uint16_t port, uint8_t value);

void sim_rtc_reset(void);
uint8_t sim_rtc_in(uint16_t port); /* 70h and 71h, 74h and 75h */
void sim_rtc_out(uint16_t port, uint8_t value);

void sim_lapic_reset(void);
uint64_t sim_lapic_read(uint64_t address, unsigned width_bytes);
void sim_lapic_write(uint64_t address, uint64_t value, unsigned width_bytes);
/* Whether MSR is the LAPIC's or the TSC's: then VALUE is read or written. */
bool sim_lapic_msr_read(uint32_t msr, uint64_t *value);
bool sim_lapic_msr_write(uint32_t msr, uint64_t value);

/* Where they are plugged in: */
void sim_interrupts_poll(void);
void sim_interrupts_offer(void); /* what CPUID and the HPET say that there is */
void sim_interrupts_lapic_written(unsigned number, uint32_t before); /* one of sim.lapic.registers */
uint32_t sim_interrupts_lapic_left(void);
void sim_interrupts_deadline_write(uint64_t value);
uint64_t sim_interrupts_deadline_read(void);
void sim_interrupts_hv_write(bool count, uint64_t value); /* Hyper-V's timer: its count or its configuration */
uint64_t sim_interrupts_hv_read(bool count);
void sim_interrupts_self(uint32_t vector); /* the core sent it to itself */
void sim_interrupts_hpet_configured(size_t n, uint64_t before, uint64_t now);
void sim_interrupts_comparator_write(size_t n, uint64_t value);
uint64_t sim_interrupts_comparator(size_t n);
uint64_t *sim_interrupts_message(size_t n); /* what comparator N writes, and in the upper half where */
void sim_interrupts_pit_loaded(unsigned mode, uint32_t reload); /* channel 0 */
void sim_interrupts_pit_stopped(void);
void sim_interrupts_rtc_enabled(uint8_t before, uint8_t now); /* register B */
uint16_t sim_interrupts_pm1_in(uint16_t port);
void sim_interrupts_pm1_out(uint16_t port, uint16_t value);

/* The RTC: */
#define SIM_RTC_PARTS 1024u
uint64_t sim_rtc_crystal(void); /* clocks of its 32,768 Hz since world time 0, in so many parts each */
uint64_t sim_rtc_period(void);  /* elapsed whole periods of the periodic interrupt, 0 if it is off */
uint64_t sim_rtc_second(void);
bool sim_rtc_alarm_is_each_second(void);
bool sim_rtc_raise(void); /* raises its line; returns false if it was raised before */

void sim_cpu_reset(void); /* CPUID and MSRs */

void sim_counter_reset(struct sim_counter *counter, struct rate hz, unsigned wrap_bits);
uint64_t sim_clocks(uint64_t from_ps, uint64_t to_ps, struct rate hz); /* whole clocks between */

#endif
