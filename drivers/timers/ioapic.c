/* Reads and writes redirection entries of I/O APICs. See ioapic.h. */
#include "timers/ioapic.h"

#include "hw/hw.h"

#define SELECT       0x00u /* 82093AA data sheet, 3.1: index register */
#define WINDOW       0x10u
#define VERSION      0x01u /* 82093AA, 3.2.2: version register, whose bits 16 to 23 are the number of the last entry */
/* 82093AA, 3.2.4: number of the register with the low half of redirection entry N */
#define ENTRY(n)     (0x10u + 2 * (n))
#define SIZE         0x20u
#define ENTRIES(v)   (((v) >> 16 & 0xff) + 1)
#define MASKED       (1u << 16)
#define LEVEL        (1u << 15)
#define REMOTE_IRR   (1u << 14) /* read only; set while a level-triggered interrupt is in service */
#define ACTIVE_LOW   (1u << 13)
#define PENDING      (1u << 12) /* delivery status, read only */
#define PINS         (IOAPIC_PIN_MAX + 1)
/* ACPI 6.5, table 5.26: flags of an interrupt override. A field of value 0 means the bus's default. */
#define FLAGS_POLARITY(f) ((f) & 3u)
#define FLAGS_TRIGGER(f)  ((f) >> 2 & 3u)
#define CONFORMS          0u
#define LOW_OR_LEVEL      3u

static uint32_t
read_register(uint64_t address, uint32_t number)
{
	hw_write32(address + SELECT, number);
	return hw_read32(address + WINDOW);
}

static void
write_register(uint64_t address, uint32_t number, uint32_t value)
{
	hw_write32(address + SELECT, number);
	hw_write32(address + WINDOW, value);
}

uint64_t
ioapic_read(uint64_t address, uint32_t entry)
{
	return (uint64_t)read_register(address, ENTRY(entry) + 1) << 32 | read_register(address, ENTRY(entry));
}

void
ioapic_write(uint64_t address, uint32_t entry, uint64_t value)
{
	write_register(address, ENTRY(entry), MASKED);
	write_register(address, ENTRY(entry) + 1, (uint32_t)(value >> 32));
	write_register(address, ENTRY(entry), (uint32_t)value);
}

uint64_t
ioapic_make_edge_entry(uint32_t apic_id, uint32_t vector)
{
	return (uint64_t)apic_id << 56 | vector;
}

bool
ioapic_find_masked_pin(const struct acpi_madt *madt, uint32_t pins, uint64_t *address, uint32_t *entry, uint32_t *pin)
{
	for (uint32_t n = PINS; n-- > 0;) {
		for (size_t i = 0; pins >> n & 1 && i < madt->ioapic_count; i++) {
			uint64_t at = madt->ioapics[i].address;
			uint32_t first = madt->ioapics[i].first_pin;

			if (n < first || !hw_is_mapped(at, SIZE) || n - first >= ENTRIES(read_register(at, VERSION)) ||
			    !(read_register(at, ENTRY(n - first)) & MASKED))
				continue;
			*address = at;
			*entry = n - first;
			*pin = n;
			return true;
		}
	}
	return false;
}

static uint64_t
get_polarity_and_trigger_bits(uint16_t flags, uint64_t bus)
{
	uint64_t bits = 0;

	bits |= FLAGS_POLARITY(flags) == CONFORMS ? bus & ACTIVE_LOW : FLAGS_POLARITY(flags) == LOW_OR_LEVEL ? ACTIVE_LOW : 0;
	bits |= FLAGS_TRIGGER(flags) == CONFORMS ? bus & LEVEL : FLAGS_TRIGGER(flags) == LOW_OR_LEVEL ? LEVEL : 0;
	return bits;
}

static struct ioapic_line
find_irq_line(const struct acpi_madt *madt, uint32_t irq, uint64_t bus)
{
	for (size_t i = 0; i < madt->override_count; i++)
		if (madt->overrides[i].irq == irq)
			return (struct ioapic_line){ irq, madt->overrides[i].pin,
						     get_polarity_and_trigger_bits(madt->overrides[i].flags, bus) };
	return (struct ioapic_line){ irq, irq, bus };
}

struct ioapic_line
ioapic_get_line(const struct acpi_madt *madt, uint32_t irq)
{
	return find_irq_line(madt, irq, 0);
}

struct ioapic_line
ioapic_get_sci_line(const struct acpi_madt *madt, uint32_t irq)
{
	return find_irq_line(madt, irq, LEVEL | ACTIVE_LOW);
}

uint64_t
ioapic_hash_entries(const struct acpi_madt *madt)
{
	uint64_t digest = 0;

	for (size_t i = 0; i < madt->ioapic_count; i++) {
		uint64_t at = madt->ioapics[i].address;
		uint32_t entries = hw_is_mapped(at, SIZE) ? ENTRIES(read_register(at, VERSION)) : 0;

		/* FNV-1 hash of the entries, 64 bits at a time */
		for (uint32_t n = 0; n < entries; n++)
			digest = digest * UINT64_C(0x100000001b3) ^
				 (ioapic_read(at, n) & ~(uint64_t)(REMOTE_IRR | PENDING));
	}
	return digest;
}
