/* What the drivers know of the machine that they run on. */
#ifndef BARETICK_PLATFORM_H
#define BARETICK_PLATFORM_H

#include "acpi.h"
#include "cpu.h"
#include "pages.h"
#include "paravirtual.h"

struct platform {
	struct acpi_facts acpi;
	struct cpu_facts cpu;
	struct paravirtual paravirtual;
	struct pages pages; /* for hypervisors to write into */
};

#endif
