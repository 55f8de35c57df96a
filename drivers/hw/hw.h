/*
 * The interface for all accesses to the hardware. The prefix hw_ marks functions that only access the hardware: for
 * example, hw_tsc() executes RDTSC. The linker chooses one of two implementations: hw.c in this folder for the real
 * machine, or the simulated machine in tests/. With link-time optimisation the calls into hw.c become single
 * instructions.
 *
 * None of these functions fails or waits. A read of an absent device returns the value of an undriven bus, usually all
 * ones.
 */
#ifndef BARETICK_HW_H
#define BARETICK_HW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint8_t hw_in8(uint16_t port);
uint16_t hw_in16(uint16_t port);
uint32_t hw_in32(uint16_t port);
void hw_out8(uint16_t port, uint8_t value);
void hw_out16(uint16_t port, uint16_t value);

/*
 * MMIO. The address must be naturally aligned. It is physical and virtual, because both are equal. Each call is a
 * single access of 32 or 64 bits.
 */
uint32_t hw_read32(uint64_t address);
uint64_t hw_read64(uint64_t address);
void hw_write32(uint64_t address, uint32_t value);

/* Returns true if LENGTH bytes at ADDRESS can be read without a page fault. Walks the current page tables. */
bool hw_is_mapped(uint64_t address, size_t length);

/* Reads and writes MSRs. Use only MSRs that CPUID reports, because others fault. */
uint64_t hw_msr_read(uint32_t msr);
void hw_msr_write(uint32_t msr, uint64_t value);

/*
 * Executes Xen's hypercall NUMBER with three arguments. Returns Xen's result, which is negative after an error. Call it
 * only if CPUID shows Xen, because the instruction faults elsewhere.
 */
int64_t hw_xen_hypercall(uint64_t number, uint64_t first, uint64_t second, uint64_t third);

struct hw_cpuid {
	uint32_t eax, ebx, ecx, edx;
};
struct hw_cpuid hw_cpuid(uint32_t leaf, uint32_t subleaf);

/* Five methods to read the TSC. Each returns ticks. */
uint64_t hw_tsc(void);        /* RDTSC alone, which may execute before earlier loads complete */
uint64_t hw_tsc_lfence(void); /* LFENCE, RDTSC, for CPUs whose LFENCE waits for earlier instructions */
uint64_t hw_tsc_mfence(void); /* MFENCE, LFENCE, RDTSC, for CPUs whose LFENCE does not serialise (some AMD) */
uint64_t hw_tscp(void);       /* RDTSCP; use it only if CPUID 80000001h EDX[27] reports it */
uint64_t hw_tsc_cpuid(void);  /* CPUID, RDTSC; in a guest CPUID exits to the hypervisor */

void hw_pause(void);

/*
 * Stop the core until an interrupt comes. They enable interrupts for this time. An interrupt that is already pending
 * ends the stop at once. The second function executes MONITOR for LINE and MWAIT with HINT. The third one reads a port
 * at which the core enters a C-state.
 */
void hw_halt(void);
void hw_monitor_and_mwait(const void *line, uint32_t hint);
void hw_sleep_by_port(uint16_t port);

/* Masks interrupts on this core. Pass the result to hw_interrupts_restore(). */
uint64_t hw_interrupts_mask(void);
void hw_interrupts_restore(uint64_t saved);

#endif
