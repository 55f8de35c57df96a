/* Accesses the local APIC. See lapic.h. SDM means volume 3A of Intel's SDM. */
#include "hw/lapic.h"

#include <stddef.h>

#include "hw/cpuid.h"
#include "hw/hw.h"

#define MSR_APIC_BASE     0x1bu                         /* IA32_APIC_BASE: SDM 10.4.4, Local APIC Status and Location */
#define APIC_BASE_EXTD    (UINT64_C(1) << 10)           /* EXTD: SDM 10.12.1, Detecting and Enabling x2APIC Mode */
#define APIC_BASE_ENABLE  (UINT64_C(1) << 11)           /* EN, the LAPIC is enabled */
#define APIC_BASE_ADDRESS UINT64_C(0x000ffffffffff000)  /* APIC Base, bits 12 to MAXPHYADDR - 1 */
#define APIC_PAGE_SIZE    4096u

#define MSR_X2APIC(offset) (0x800u + (offset) / 16) /* SDM 10.12.1.2, x2APIC Register Address Space */

/* delivery mode, bits 8 to 10 of the ICR: SDM 10.6.1, Interrupt Command Register (ICR) */
#define ICR_FIXED         0x0000u
#define ICR_INIT          0x0500u
#define ICR_STARTUP       0x0600u
#define ICR_PENDING       0x1000u /* delivery status: the previous command is not sent yet */
#define ICR_ASSERT        0x4000u /* level "assert"; bit 15, the trigger mode, is 0 (edge) */
/* Destination shorthand: all cores except this core. The destination field is then ignored. */
#define ICR_OTHERS        0xc0000u
#define ICR_ID_SHIFT      24      /* position of the destination in the high half of the ICR in xAPIC mode */
/* largest xAPIC id of a core, because FFh addresses all cores (SDM 10.6.2.1, Physical Destination Mode) */
#define XAPIC_ID_MAX      0xfeu
/* largest x2APIC id of a core, because FFFFFFFFh addresses all cores (SDM 10.12.9, ICR Operation in x2APIC Mode) */
#define X2APIC_ID_MAX     0xfffffffeu

#define SVR_ENABLE        0x100u  /* APIC Software Enable: SDM 10.9, Spurious Interrupt */
#define SVR_VECTOR_MASK   0xffu

/*
 * Maximum number of reads of the delivery status until a command counts as failed. MP Specification 1.4, B.2, waits 20
 * us, but some systems need 60 us. An uncached read takes at least 30 ns, so the wait takes at least 3 ms.
 */
#define SENT_READS_MAX    100000u

/*
 * Returns false if there is no local APIC, or if IA32_APIC_BASE disables it. See SDM 10.4.2, Presence of the Local
 * APIC, and 10.4.3, Enabling or Disabling the Local APIC.
 */
static bool
lapic_is_enabled(void)
{
	return hw_cpuid(0, 0).eax >= LEAF_FEATURES &&
	       (hw_cpuid(LEAF_FEATURES, 0).edx & FEATURES_EDX_APIC);
}

const char *
lapic_open(struct lapic *lapic)
{
	if (!lapic_is_enabled())
		return "the boot core has no local APIC, or it is switched off (CPUID 1h EDX[9])";
	uint64_t msr = hw_msr_read(MSR_APIC_BASE);

	*lapic = (struct lapic){
		.x2apic = (msr & APIC_BASE_EXTD) != 0,
		.base = msr & APIC_BASE_ADDRESS,
	};
	if (!(msr & APIC_BASE_ENABLE))
		return "the boot core's local APIC is switched off (IA32_APIC_BASE bit 11)";
	if (!lapic->x2apic && !hw_is_mapped(lapic->base, APIC_PAGE_SIZE))
		return "the local APIC's page is not mapped";
	return NULL;
}

uint32_t
lapic_read(const struct lapic *lapic, uint32_t offset)
{
	return lapic->x2apic ? (uint32_t)hw_msr_read(MSR_X2APIC(offset)) : hw_read32(lapic->base + offset);
}

void
lapic_write(const struct lapic *lapic, uint32_t offset, uint32_t value)
{
	if (lapic->x2apic)
		hw_msr_write(MSR_X2APIC(offset), value);
	else
		hw_write32(lapic->base + offset, value);
}

uint32_t
lapic_read_id(const struct lapic *lapic)
{
	uint32_t id = lapic_read(lapic, LAPIC_ID);

	/* in xAPIC mode the id is in bits 24 to 31: SDM 10.4.6, Local APIC ID */
	return lapic->x2apic ? id : id >> ICR_ID_SHIFT;
}

bool
lapic_can_address(const struct lapic *lapic, uint32_t apic_id)
{
	return apic_id <= (lapic->x2apic ? X2APIC_ID_MAX : XAPIC_ID_MAX);
}

static bool
lapic_is_idle(const struct lapic *lapic)
{
	for (uint32_t reads = 0; reads < SENT_READS_MAX; reads++) {
		if (!(lapic_read(lapic, LAPIC_ICR_LOW) & ICR_PENDING))
			return true;
		hw_pause();
	}
	return false;
}

static bool
lapic_send_command(const struct lapic *lapic, uint32_t apic_id, uint32_t command)
{
	if (lapic->x2apic) {
		/*
		 * The other core must see the stores before this command. Without the fence, the WRMSR may execute
		 * before they are visible (SDM 10.12.3, MSR Access in x2APIC Mode).
		 */
		(void)hw_tsc_mfence();
		hw_msr_write(MSR_X2APIC(LAPIC_ICR_LOW), (uint64_t)apic_id << 32 | command);
		return true;
	}
	if (!lapic_is_idle(lapic))
		return false;
	/* Interrupts are masked, so that no handler of the firmware writes the ICR between the writes of its halves. */
	uint64_t interrupts = hw_interrupts_mask();

	hw_write32(lapic->base + LAPIC_ICR_HIGH, apic_id << ICR_ID_SHIFT);
	hw_write32(lapic->base + LAPIC_ICR_LOW, command);
	hw_interrupts_restore(interrupts);
	return lapic_is_idle(lapic);
}

bool
lapic_send_init(const struct lapic *lapic, uint32_t apic_id)
{
	return lapic_send_command(lapic, apic_id, ICR_ASSERT | ICR_INIT);
}

bool
lapic_send_startup(const struct lapic *lapic, uint32_t apic_id, uint8_t page)
{
	return lapic_send_command(lapic, apic_id, ICR_ASSERT | ICR_STARTUP | page);
}

bool
lapic_broadcast_init(const struct lapic *lapic)
{
	return lapic_send_command(lapic, 0, ICR_OTHERS | ICR_ASSERT | ICR_INIT);
}

bool
lapic_broadcast_startup(const struct lapic *lapic, uint8_t page)
{
	return lapic_send_command(lapic, 0, ICR_OTHERS | ICR_ASSERT | ICR_STARTUP | page);
}

bool
lapic_send_interrupt(const struct lapic *lapic, uint32_t apic_id, uint8_t vector)
{
	return lapic_send_command(lapic, apic_id, ICR_ASSERT | ICR_FIXED | vector);
}

void
lapic_enable(const struct lapic *lapic)
{
	uint64_t msr = hw_msr_read(MSR_APIC_BASE);
	uint32_t enabled = SVR_ENABLE | LAPIC_SPURIOUS_VECTOR;

	if (lapic->x2apic && !(msr & APIC_BASE_EXTD))
		hw_msr_write(MSR_APIC_BASE, msr | APIC_BASE_ENABLE | APIC_BASE_EXTD);
	lapic_write(lapic, LAPIC_SVR, (lapic_read(lapic, LAPIC_SVR) & ~SVR_VECTOR_MASK) | enabled);
}

uint64_t
lapic_get_eoi_address(const struct lapic *lapic)
{
	return lapic->x2apic ? 0 : lapic->base + LAPIC_EOI;
}
