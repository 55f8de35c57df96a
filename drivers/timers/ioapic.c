/* See ioapic.h. */
#include "ioapic.h"

#include "hw.h"

#define SELECT       0x00u /* 3.1 */
#define WINDOW       0x10u
#define VERSION      0x01u /* 3.2.2: bits 16 to 23 are the number of the last entry */
#define ENTRY(n)     (0x10u + 2 * (n)) /* 3.2.4 */
#define SIZE         0x20u
#define MASKED       (1u << 16)
#define PINS         32u

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
ioapic_edge_to(uint32_t apic_id, uint32_t vector)
{
	return (uint64_t)apic_id << 56 | vector;
}

bool
ioapic_find_masked(const struct acpi_madt *madt, uint32_t pins, uint64_t *address, uint32_t *entry, uint32_t *pin)
{
	for (uint32_t n = PINS; n-- > 0;) {
		for (size_t i = 0; pins >> n & 1 && i < madt->ioapic_count; i++) {
			uint64_t at = madt->ioapics[i].address;
			uint32_t first = madt->ioapics[i].first_pin;

			if (n < first || !hw_is_mapped(at, SIZE) || n - first > (read_register(at, VERSION) >> 16 & 0xff) ||
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
