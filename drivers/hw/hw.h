/*
 * The hardware leaves: everything that baretick does to a machine goes through these functions. They have
 * two bodies, chosen by the linker: hw.c in this folder (the machine itself; link-time optimisation puts
 * the instruction in place of the call) and the simulated machine in tests/.
 *
 * None of them fails or waits. A read of what is not there gives what the bus gives, mostly all ones.
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

/* MMIO, physical address = virtual address, naturally aligned; one access of just this width. */
uint32_t hw_read32(uint64_t address);
uint64_t hw_read64(uint64_t address);
void hw_write32(uint64_t address, uint32_t value);

/* Whether LENGTH bytes at ADDRESS can be read without a page fault: walks the page tables in force. */
bool hw_is_mapped(uint64_t address, size_t length);

/* Only MSRs that CPUID announces: others fault. */
uint64_t hw_msr_read(uint32_t msr);
void hw_msr_write(uint32_t msr, uint64_t value);

/*
 * A hypercall of Xen's by its number, with three arguments; what it answers: below 0 an error. Only where CPUID shows
 * Xen: elsewhere the instruction faults.
 */
int64_t hw_xen_hypercall(uint64_t number, uint64_t first, uint64_t second, uint64_t third);

struct hw_cpuid {
	uint32_t eax, ebx, ecx, edx;
};
struct hw_cpuid hw_cpuid(uint32_t leaf, uint32_t subleaf);

/* Five ways of reading the TSC, in ticks. */
uint64_t hw_tsc(void);        /* RDTSC alone: may run ahead of earlier loads */
uint64_t hw_tsc_lfence(void); /* LFENCE; RDTSC */
uint64_t hw_tsc_mfence(void); /* MFENCE; LFENCE; RDTSC: where LFENCE alone does not serialise (some AMD) */
uint64_t hw_tscp(void);       /* RDTSCP: only where CPUID 80000001h EDX[27] has it */
uint64_t hw_tsc_cpuid(void);  /* CPUID; RDTSC: traps to the hypervisor where there is one */

void hw_pause(void);

/* Masks maskable interrupts on this core; the result is what hw_interrupts_restore() wants back. */
uint64_t hw_interrupts_mask(void);
void hw_interrupts_restore(uint64_t saved);

#endif
