/*
 * The board's watchdog, which the ACPI table WDAT describes (see acpi/acpi.h). While it is armed, it resets the machine
 * if the application hangs. An unattended machine then starts its operating system again.
 */
#ifndef BARETICK_WATCHDOG_H
#define BARETICK_WATCHDOG_H

#include "acpi/acpi.h"

struct watchdog {
	/* facts from the WDAT, owned by the caller; NULL while the watchdog is not armed */
	const struct acpi_watchdog *table;
	uint32_t count_found;              /* the countdown's start value before the watchdog was armed */
	/*
	 * The WDAT entry for the register that allows the watchdog to reset the machine (NULL if the table has none),
	 * and the register's value before the watchdog was armed.
	 */
	const struct acpi_watchdog_entry *reboot;
	uint32_t reboot_found;
	uint32_t seconds;                  /* time from the last feed to the reset */
};

/*
 * Starts the watchdog that TABLE describes. The machine is then reset 300 s after the last feed, or earlier if the
 * watchdog cannot count that far. Returns NULL if the watchdog was started. Otherwise returns a sentence with the
 * reason, and writes no register. Reasons are a disabled watchdog, a watchdog that runs already or cannot count for 30
 * s, and a table with registers or actions that are not supported.
 */
const char *watchdog_arm(struct watchdog *watchdog, const struct acpi_watchdog *table);

/* Starts the countdown again. Does nothing if the watchdog is not armed. */
void watchdog_feed(const struct watchdog *watchdog);

/* Stops the watchdog and restores its registers as found. Does nothing if it is not armed. */
void watchdog_disarm(struct watchdog *watchdog);

#endif
