/* Ends a run of the UEFI application. */
#ifndef BARETICK_EXIT_H
#define BARETICK_EXIT_H

#include "acpi/acpi.h"
#include "console/console.h"
#include "options/options.h"
#include "result.h"
#include "uefi/console/pager.h"

/*
 * Ends the run by the method HOW. Returns only for EXIT_RETURN, or for EXIT_ASK if the reader chose to return. Both
 * need CAN_RETURN. With EXIT_ASK the reader sees the pages of PAGER. For a restart, this function writes FADT's reset
 * register if the firmware does not reset the machine. IS_WOKEN is true if the machine's clock switches it on again.
 */
void exit_end_run(struct console *console, enum options_exit how, enum exit_result result, bool can_return,
		  bool is_woken, struct pager *pager, const struct acpi_fadt *fadt);

#endif
