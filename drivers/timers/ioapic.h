/*
 * Reads and writes redirection entries of I/O APICs (82093AA data sheet, 3.2). Writes only entries that were masked
 * when they were found.
 */
#ifndef BARETICK_IOAPIC_H
#define BARETICK_IOAPIC_H

#include <stdbool.h>
#include <stdint.h>

#include "acpi/acpi.h"

#define IOAPIC_ID_MAX 254u /* 82093AA, 3.2.4: a destination has eight bits, and 255 addresses all cores */
#define IOAPIC_PIN_MAX 31u  /* our limit, because no timer uses a higher pin */

/*
 * Finds the highest pin in PINS whose I/O APIC entry is masked, because firmware masks entries that it does not use.
 * Bit N of PINS is global pin N. Returns false if there is no masked entry.
 */
bool ioapic_find_masked_pin(const struct acpi_madt *madt, uint32_t pins, uint64_t *address, uint32_t *entry,
			    uint32_t *pin);

uint64_t ioapic_read(uint64_t address, uint32_t entry);
/*
 * Writes VALUE to ENTRY. Masks the entry while its high half is written, so that no interrupt goes to the wrong core.
 */
void ioapic_write(uint64_t address, uint32_t entry, uint64_t value);

/* Returns an entry for edge-triggered, active-high interrupts to the core APIC_ID. */
uint64_t ioapic_make_edge_entry(uint32_t apic_id, uint32_t vector);

struct ioapic_line {
	uint32_t irq;  /* ISA interrupt number, as at the PICs */
	uint32_t pin;  /* global pin number (ACPI's global system interrupt) */
	uint64_t bits; /* trigger and polarity bits of the pin's entry */
};

/*
 * Returns the I/O APIC pin of ISA interrupt IRQ. Without an override in the MADT, the pin has the number IRQ, and is
 * edge-triggered and active high.
 */
struct ioapic_line ioapic_get_line(const struct acpi_madt *madt, uint32_t irq);

/* Returns the I/O APIC pin of the SCI, which is level-triggered and active low unless an override says otherwise. */
struct ioapic_line ioapic_get_sci_line(const struct acpi_madt *madt, uint32_t irq);

/*
 * Returns a hash of all entries of all I/O APICs, without the two bits that hardware changes (remote IRR and pending).
 */
uint64_t ioapic_hash_entries(const struct acpi_madt *madt);

#endif
