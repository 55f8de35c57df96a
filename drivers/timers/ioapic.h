/* An I/O APIC's redirection entries: 82093AA data sheet, 3.2. Only entries that were found masked are written. */
#ifndef BARETICK_IOAPIC_H
#define BARETICK_IOAPIC_H

#include <stdbool.h>
#include <stdint.h>

#include "acpi/acpi.h"

#define IOAPIC_ID_MAX 254u /* 3.2.4: the destination has eight bits, and 255 addresses every core */
#define IOAPIC_PIN_MAX 31u  /* our limit: no timer uses a higher pin */

/*
 * The highest of PINS (bit N: the global number N) that some I/O APIC has and whose entry is masked, as firmware leaves
 * what it does not use. False: there is none.
 */
bool ioapic_find_masked(const struct acpi_madt *madt, uint32_t pins, uint64_t *address, uint32_t *entry, uint32_t *pin);

uint64_t ioapic_read(uint64_t address, uint32_t entry);
void ioapic_write(uint64_t address, uint32_t entry, uint64_t value); /* high half first, so that none fires half done */

/* Edge, active high, fixed, to the core of APIC_ID. */
uint64_t ioapic_edge_to(uint32_t apic_id, uint32_t vector);

struct ioapic_line {
	uint32_t irq;  /* number on the ISA bus and at the PICs */
	uint32_t pin;  /* global number */
	uint64_t bits; /* bits of the entry: level-triggered, active low */
};

/* Where the ISA interrupt IRQ comes, by MADT's overrides: without one at the pin of its number, edge, active high. */
struct ioapic_line ioapic_line_of(const struct acpi_madt *madt, uint32_t irq);

/* Level, active low, but for what an override says. */
struct ioapic_line ioapic_line_of_sci(const struct acpi_madt *madt, uint32_t irq);

/* All entries of all I/O APICs, but for what changes by itself, as one number. */
uint64_t ioapic_digest(const struct acpi_madt *madt);

#endif
