/* The report's description of the machine: CPU, firmware, hypervisor, and the start time of the run. */
#ifndef BARETICK_DESCRIBE_H
#define BARETICK_DESCRIBE_H

#include "clocks/platform.h"
#include "report/report.h"
#include "smbios/smbios.h"

/*
 * Fills in REPORT's description of the machine from PLATFORM, SMBIOS and the firmware. started_at stays "" if the
 * firmware provides no time. REPORT's options must be set before.
 */
void describe_machine(struct report *report, const struct platform *platform, const struct smbios_facts *smbios);

#endif
