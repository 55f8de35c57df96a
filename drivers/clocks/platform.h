/* Facts about the machine that drivers need: its processor, ACPI tables, hypervisor and stated rates. */
#ifndef BARETICK_PLATFORM_H
#define BARETICK_PLATFORM_H

#include "acpi/acpi.h"
#include "clock/claims.h"
#include "clock/fault.h"
#include "clock/paravirtual.h"
#include "hw/cpu.h"
#include "paravirtual/pages.h"

struct platform {
	struct acpi_facts acpi;
	struct cpu_facts cpu;
	struct paravirtual paravirtual;
	struct claims claims;
	struct pages pages; /* memory for the pages that hypervisors write */
	/*
	 * Address of a page without memory, at which Xen's shared page can be mapped. It is 0 unless baretick was started
	 * by PVH, because firmware or a boot loader may use the shared page at another address.
	 */
	uint64_t unused_page;
};

/*
 * Fills platform->claims from CPUID, MSRs and vmclock's page. Call it after the other facts were read. GUARDED catches
 * exceptions in MSR reads. If GUARDED is NULL, only MSRs that CPUID offers are read.
 */
void platform_read_rate_claims(struct platform *platform, fault_guard *guarded);

#endif
