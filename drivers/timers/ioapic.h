/* An I/O APIC's redirection entries: 82093AA data sheet, 3.2. Only those that were found masked are written. */
#ifndef BARETICK_IOAPIC_H
#define BARETICK_IOAPIC_H

#include <stdbool.h>
#include <stdint.h>

#include "acpi.h"

#define IOAPIC_ID_MAX 254u /* 3.2.4: eight bits of destination; 255 is every core */

/*
 * The highest of PINS (bit N: the global number N) that some I/O APIC has and whose entry is masked, as firmware leaves
 * what it does not use. False: there is none.
 */
bool ioapic_find_masked(const struct acpi_madt *madt, uint32_t pins, uint64_t *address, uint32_t *entry, uint32_t *pin);

uint64_t ioapic_read(uint64_t address, uint32_t entry);
void ioapic_write(uint64_t address, uint32_t entry, uint64_t value); /* high half first, so that none fires half done */

/* Edge, active high, fixed, to the core of APIC_ID. */
uint64_t ioapic_edge_to(uint32_t apic_id, uint32_t vector);

#endif
