/* Declarations that sim.c and the simulated devices share. */
#ifndef BARETICK_SIM_INTERNAL_H
#define BARETICK_SIM_INTERNAL_H

#include "sim.h"

#define MSR_TSC_ADJUST 0x3bu

uint64_t sim_hpet_read(uint64_t address, unsigned width_bytes);
void sim_hpet_write(uint64_t address, uint64_t value, unsigned width_bytes);
void sim_hpet_reset(void);
/* makes the firmware's tick if a tick is due; called at each access with interrupts on */
void sim_hpet_handle_tick(void);

bool sim_pm_is_at(uint64_t address, bool is_memory);
uint32_t sim_pm_read(void);
void sim_pm_reset(void);

void sim_pit_reset(void);
uint8_t sim_pit_in(uint16_t port); /* reads one of the ports 40h to 43h, or port 61h */
void sim_pit_out(uint16_t port, uint8_t value);

void sim_rtc_reset(void);
uint8_t sim_rtc_in(uint16_t port); /* reads port 70h, 71h, 74h or 75h */
void sim_rtc_out(uint16_t port, uint8_t value);

void sim_lapic_reset(void);
uint64_t sim_lapic_read(uint64_t address, unsigned width_bytes);
void sim_lapic_write(uint64_t address, uint64_t value, unsigned width_bytes);
/* If MSR belongs to the LAPIC or the TSC, these functions access the MSR and return true; otherwise false. */
bool sim_lapic_msr_read(uint32_t msr, uint64_t *value);
bool sim_lapic_msr_write(uint32_t msr, uint64_t value);
/* If the running core's sleeps changed MSR, sets VALUE to its value, and returns true. */
bool sim_sleep_msr_read(uint32_t msr, uint64_t *value);

/* These functions do nothing unless sim_interrupts_add_controllers() was called. */
void sim_interrupts_deliver_due(void);
void sim_interrupts_offer_timers(void); /* adds the capability bits for interrupts to CPUID and to the HPET */
/* called after a write of the LAPIC's register NUMBER, an index of sim.lapic.registers, whose value was BEFORE */
void sim_interrupts_handle_lapic_write(unsigned number, uint32_t before);
uint32_t sim_interrupts_get_lapic_count(void);
void sim_interrupts_write_deadline(uint64_t value);
uint64_t sim_interrupts_read_deadline(void);
/* writes VALUE to the count of Hyper-V's synthetic timer if COUNT is true, otherwise to its configuration */
void sim_interrupts_write_hv_timer_msr(bool count, uint64_t value);
uint64_t sim_interrupts_read_hv_timer_msr(bool count);
void sim_interrupts_send_self_ipi(uint32_t vector); /* sends the interrupt VECTOR from the core to itself */
void sim_interrupts_handle_hpet_configuration(size_t n, uint64_t before, uint64_t now);
void sim_interrupts_write_comparator(size_t n, uint64_t value);
uint64_t sim_interrupts_get_comparator(size_t n);
/* returns the message of comparator N: its data, and in the upper half its address */
uint64_t *sim_interrupts_get_fsb_message(size_t n);
void sim_interrupts_handle_pit_load(unsigned mode, uint32_t reload); /* channel 0 */
void sim_interrupts_handle_pit_stop(void);
void sim_interrupts_handle_rtc_enable(uint8_t before, uint8_t now); /* register B */
uint16_t sim_interrupts_read_pm1(uint16_t port);
void sim_interrupts_write_pm1(uint16_t port, uint16_t value);

/* returns the number of clocks of the 32,768 Hz crystal since world time 0 */
uint64_t sim_rtc_get_crystal_ticks(void);
/* returns the period of the periodic interrupt in clocks of the crystal; 0 if this interrupt is off */
uint64_t sim_rtc_get_interrupt_period(void);
uint64_t sim_rtc_get_second(void);
/* returns the time since world time 0 as the RTC's crystal measures it */
uint64_t sim_rtc_get_time_ps(void);
bool sim_rtc_is_alarm_each_second(void);
bool sim_rtc_try_raise_irq(void); /* raises the RTC's interrupt line; returns false if the line was already raised */

void sim_cpu_reset(void); /* resets CPUID and MSRs */

void sim_counter_reset(struct sim_counter *counter, struct rate hz, unsigned wrap_bits);
/* returns the number of whole clocks of rate HZ between two times */
uint64_t sim_count_clock_cycles(uint64_t from_ps, uint64_t to_ps, struct rate hz);

#endif
