/*
 * The local APIC: its registers, and commands that start and wake other cores. Its registers are in memory in xAPIC
 * mode, and are MSRs in x2APIC mode. On the boot core these functions write only the interrupt command register.
 * lapic_enable() is for started cores.
 */
#ifndef BARETICK_LAPIC_H
#define BARETICK_LAPIC_H

#include <stdbool.h>
#include <stdint.h>

/* Vector that wakes a core. It has the highest priority class, so that no interrupt in service blocks it. */
#define LAPIC_WAKE_VECTOR     0xf0u
#define LAPIC_SPURIOUS_VECTOR 0xffu

/*
 * Offsets of registers: SDM vol. 3A, 10.4.1, The Local APIC Block Diagram. Section numbers are from editions of the SDM
 * in which the APIC is chapter 10 of volume 3A. Later editions have the same sections in a later chapter.
 */
#define LAPIC_ID            0x020u
#define LAPIC_EOI           0x0b0u
#define LAPIC_SVR           0x0f0u
/*
 * in-service register N, with a bit for each of the 32 vectors from 32 * N on: SDM vol. 3A, 10.8.4, Interrupt
 * Acceptance for Fixed Interrupts
 */
#define LAPIC_IN_SERVICE(n) (0x100u + 0x10u * (n))
#define LAPIC_IN_SERVICES   8u
#define LAPIC_ICR_LOW       0x300u /* in x2APIC mode LOW and HIGH are one 64-bit register */
#define LAPIC_ICR_HIGH      0x310u
#define LAPIC_LVT_TIMER     0x320u
#define LAPIC_LVT_LINT0     0x350u
#define LAPIC_INITIAL_COUNT 0x380u
#define LAPIC_CURRENT_COUNT 0x390u
#define LAPIC_DIVIDE        0x3e0u

#define LAPIC_LVT_MASKED (1u << 16) /* mask bit of an LVT register: SDM vol. 3A, 10.5.1, Local Vector Table */
#define LAPIC_LVT_DEADLINE (2u << 17) /* mode of the LVT timer register: SDM vol. 3A, 10.5.4.1, TSC-Deadline Mode */
#define LAPIC_MSR_DEADLINE 0x6e0u     /* IA32_TSC_DEADLINE */
#define LAPIC_DIVIDE_BY_1  0xbu       /* value of the divide configuration register: SDM vol. 3A, 10.5.4, APIC Timer */

struct lapic {
	bool x2apic;
	uint64_t base; /* physical address of the LAPIC's registers; not used in x2APIC mode */
};

/*
 * Finds this core's LAPIC and its mode. Returns NULL, or a sentence with the reason why the LAPIC cannot send commands.
 */
const char *lapic_open(struct lapic *lapic);

/* Accesses the register at OFFSET of this core's LAPIC, in either mode. */
uint32_t lapic_read(const struct lapic *lapic, uint32_t offset);
void lapic_write(const struct lapic *lapic, uint32_t offset, uint32_t value);

/*
 * Returns this core's current id, which commands and the MADT use. CPUID reports the initial id, which firmware may
 * have changed.
 */
uint32_t lapic_read_id(const struct lapic *lapic);

/* Returns true if a command can address APIC_ID. In xAPIC mode 255 addresses all cores, and larger ids do not fit. */
bool lapic_can_address(const struct lapic *lapic, uint32_t apic_id);

/*
 * Send INIT, SIPI or an interrupt to one core. Return false if the LAPIC has not sent the command after 3 ms or more.
 */
bool lapic_send_init(const struct lapic *lapic, uint32_t apic_id);
/* PAGE: number of the 4 KiB page at which the core starts */
bool lapic_send_startup(const struct lapic *lapic, uint32_t apic_id, uint8_t page);
bool lapic_send_interrupt(const struct lapic *lapic, uint32_t apic_id, uint8_t vector);

/* Send INIT or SIPI to all cores except this one. */
bool lapic_broadcast_init(const struct lapic *lapic);
bool lapic_broadcast_startup(const struct lapic *lapic, uint8_t page);

/* Called on a started core. Sets its LAPIC to the boot core's mode, and enables it. */
void lapic_enable(const struct lapic *lapic);

/*
 * Returns the address of the EOI register, or 0 if it is MSR 80Bh. Handlers end by writing 0 to this register.
 */
uint64_t lapic_get_eoi_address(const struct lapic *lapic);

#endif
