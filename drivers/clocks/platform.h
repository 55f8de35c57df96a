/* Facts about the machine that drivers need. */
#ifndef BARETICK_PLATFORM_H
#define BARETICK_PLATFORM_H

#include "acpi/acpi.h"
#include "clock/paravirtual.h"
#include "hw/cpu.h"
#include "paravirtual/pages.h"

struct platform {
	struct acpi_facts acpi;
	struct cpu_facts cpu;
	struct paravirtual paravirtual;
	struct pages pages; /* memory for the pages that hypervisors write */
};

#endif
