/* Reads the registers that timer tests write, to compare them before and after a run. See timers.h. */
#include "clocks/hpet_registers.h"
#include "clocks/pic_registers.h"
#include "clocks/pit_registers.h"
#include "clocks/rtc_registers.h"
#include "timers/timers.h"

static void
add_hpet_registers(struct as_found *registers, const struct acpi_hpet *hpet)
{
	static const char *const names[] = {
		"HPET comparator 0", "HPET comparator 1", "HPET comparator 2", "HPET comparator 3",
		"HPET comparator 4", "HPET comparator 5", "HPET comparator 6", "HPET comparator 7",
	};

	if (!hpet->found || hpet->space != ACPI_SPACE_MEMORY || !hpet->base || !hw_is_mapped(hpet->base, HPET_SIZE))
		return;
	uint32_t count = HPET_TIMERS(hw_read32(hpet->base + HPET_ID));
	for (uint32_t n = 0; n < count && n < sizeof(names) / sizeof(names[0]); n++) {
		uint64_t at = hpet->base + HPET_TIMER(n);
		uint32_t configuration = hw_read32(at);

		/*
		 * The value of an enabled comparator is not compared, because a periodic comparator changes its value
		 * by itself.
		 */
		as_found_add_register(registers, names[n], (uint64_t)configuration << 32 |
				      (configuration & HPET_TN_INT_ENB ? 0 : hw_read32(at + 8)));
	}
}

static void
add_rtc_registers(struct as_found *registers)
{
	struct device device = { .opened = false };

	rtc_find_ports(&device);
	as_found_add_register(registers, "the RTC's alarm", timer_get_rtc_alarm(&device));
	rtc_restore_index(&device);
}

/*
 * Adds the LAPIC's in-service bits. A bit that stays set after a test means a missing end of interrupt. The LAPIC then
 * blocks all interrupts of that priority class and below.
 */
static void
add_lapic_in_service_bits(struct as_found *registers)
{
	struct lapic lapic;
	uint32_t any = 0;

	if (lapic_open(&lapic))
		return;
	for (unsigned n = 0; n < LAPIC_IN_SERVICES; n++)
		any |= lapic_read(&lapic, LAPIC_IN_SERVICE(n));
	as_found_add_register(registers, "the local APIC's interrupts in service", any);
}

void
timers_read_registers(struct as_found *registers, const struct platform *platform)
{
	const struct acpi_fadt *fadt = &platform->acpi.fadt;
	uint64_t saved = hw_interrupts_mask();

	add_hpet_registers(registers, &platform->acpi.hpet);
	add_lapic_in_service_bits(registers);
	as_found_add_register(registers, "the hash of the I/O APICs' entries", ioapic_hash_entries(&platform->acpi.madt));
	as_found_add_register(registers, "the mode of PIT channel 0", pit_get_mode(timer_get_pit_status()));
	as_found_add_register(registers, "the PICs' masks", (uint64_t)hw_in8(PIC_SLAVE_MASK) << 8 | hw_in8(PIC_MASTER_MASK));
	if (!(fadt->found && fadt->cmos_rtc_absent))
		add_rtc_registers(registers);
	if (fadt->found && !fadt->hw_reduced && fadt->pm1_evt_blk && fadt->pm1_evt_len >= 4)
		as_found_add_register(registers, "the PM1 enable register",
				      hw_in16((uint16_t)(fadt->pm1_evt_blk + fadt->pm1_evt_len / 2)));
	hw_interrupts_restore(saved);
}
