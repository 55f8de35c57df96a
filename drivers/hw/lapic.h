/*
 * The local APIC, as far as starting and waking cores needs it: its address, and commands to other
 * cores. xAPIC mode uses its page, x2APIC mode uses MSRs. On the boot core only the interrupt command
 * register is written. lapic_join() is for started cores.
 */
#ifndef BARETICK_LAPIC_H
#define BARETICK_LAPIC_H

#include <stdbool.h>
#include <stdint.h>

#define LAPIC_WAKE_VECTOR     0xf0u /* in the highest class, so no interrupt in service blocks it */
#define LAPIC_SPURIOUS_VECTOR 0xffu

/* Offsets of its registers: SDM vol. 3A, 10.4.1, table 10-1. */
#define LAPIC_ID            0x020u
#define LAPIC_EOI           0x0b0u
#define LAPIC_SVR           0x0f0u
#define LAPIC_IN_SERVICE(n) (0x100u + 0x10u * (n)) /* 10.8.4: of vectors 32 * n and up, a bit each */
#define LAPIC_IN_SERVICES   8u
#define LAPIC_ICR_LOW       0x300u /* in x2APIC mode one register of 64 bits with the next */
#define LAPIC_ICR_HIGH      0x310u
#define LAPIC_LVT_TIMER     0x320u
#define LAPIC_LVT_LINT0     0x350u
#define LAPIC_INITIAL_COUNT 0x380u
#define LAPIC_CURRENT_COUNT 0x390u
#define LAPIC_DIVIDE        0x3e0u

#define LAPIC_LVT_MASKED (1u << 16) /* 10.5.1, figure 10-8 */

struct lapic {
	bool x2apic;
	uint64_t base; /* physical address of its page; unused in x2APIC mode */
};

/* NULL, or a sentence why this core's LAPIC can't send. The mode is taken as found, and kept. */
const char *lapic_open(struct lapic *lapic);

/* The register at OFFSET of this core's LAPIC, in either mode. */
uint32_t lapic_read(const struct lapic *lapic, uint32_t offset);
void lapic_write(const struct lapic *lapic, uint32_t offset, uint32_t value);

/*
 * Returns this core's id, which commands and the MADT use. CPUID has its initial value, but firmware may have changed
 * the id.
 */
uint32_t lapic_id(const struct lapic *lapic);

/*
 * Whether APIC_ID can be named in a command: 255 is the broadcast in xAPIC mode, and larger ids
 * don't fit.
 */
bool lapic_can_address(const struct lapic *lapic, uint32_t apic_id);

/* To one core each. False: within its bound the LAPIC did not report the command as sent. */
bool lapic_send_init(const struct lapic *lapic, uint32_t apic_id);
bool lapic_send_startup(const struct lapic *lapic, uint32_t apic_id, uint8_t page); /* number of a 4 KiB page */
bool lapic_send_fixed(const struct lapic *lapic, uint32_t apic_id, uint8_t vector);

/* The same to all cores but this one. */
bool lapic_broadcast_init(const struct lapic *lapic);
bool lapic_broadcast_startup(const struct lapic *lapic, uint8_t page);

/*
 * On a started core: brings its own LAPIC into the boot core's mode and switches it on by software.
 */
void lapic_join(const struct lapic *lapic);

/* Returns the address of the EOI register, or 0 if handlers write MSR 80Bh. A handler writes 0 to it at its end. */
uint64_t lapic_eoi_address(const struct lapic *lapic);

#endif
