/* Ends a run without UEFI. */
#ifndef BARETICK_EXIT_H
#define BARETICK_EXIT_H

#include "acpi/acpi.h"
#include "console/console.h"
#include "options/options.h"
#include "result.h"

/*
 * Sends all queued blocks to the serial line, then ends the run by the method HOW. EXIT_ASK powers the machine off,
 * because no person can be asked. EXIT_RETURN resets it, because there is no caller. If a power-off fails, the machine
 * is reset.
 */
void exit_end_run(struct console *console, enum options_exit how, enum exit_result result,
		  const struct acpi_facts *acpi)
	__attribute__((noreturn));

/* Resets the machine at once. */
void exit_by_reset(void) __attribute__((noreturn));

#endif
