/* What the report says of the machine itself: its CPU, firmware and hypervisor, when the run began. */
#ifndef BARETICK_DESCRIBE_H
#define BARETICK_DESCRIBE_H

#include "platform.h"
#include "report.h"

/* Fills REPORT's machine from PLATFORM and the firmware; started_at stays "" where the firmware has no time. */
void describe_machine(struct report *report, const struct platform *platform);

#endif
