/* Ends a run. */
#ifndef BARETICK_EXIT_H
#define BARETICK_EXIT_H

#include "acpi/acpi.h"
#include "console/console.h"
#include "options/options.h"
#include "result.h"
#include "uefi/console/pager.h"

/*
 * Ends the run as HOW says. Returns only for EXIT_RETURN, or if the reader chose to return with EXIT_ASK; both need
 * CAN_RETURN. With EXIT_ASK the reader sees what PAGER shows. A restart writes FADT's reset register if the firmware
 * does not reset the machine.
 */
void exit_run(struct console *console, enum options_exit how, enum exit_result result, bool can_return,
	      struct pager *pager, const struct acpi_fadt *fadt);

#endif
