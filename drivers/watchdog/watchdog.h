/*
 * The board's watchdog, as the WDAT describes it (see acpi/acpi.h). If it is armed and the application hangs, it resets
 * the machine. A machine without a visitor then starts its operating system again.
 */
#ifndef BARETICK_WATCHDOG_H
#define BARETICK_WATCHDOG_H

#include "acpi/acpi.h"

struct watchdog {
	const struct acpi_watchdog *table; /* owned by the caller; NULL while the watchdog is not armed */
	uint32_t count_found;              /* the countdown's start value before it was armed */
	/* The register that lets the watchdog reset the machine (NULL if the table has none), and its value before. */
	const struct acpi_watchdog_entry *reboot;
	uint32_t reboot_found;
	uint32_t seconds;                  /* from the last feed to the reset */
};

/*
 * Starts the watchdog of TABLE, so that the machine is reset 300 s after the last feed, or earlier if the watchdog
 * cannot count that far. Returns NULL if it runs, otherwise the reason why it was left alone. Then no register was
 * written. Reasons are a disabled watchdog, one that runs already or cannot count for 30 s, and a table whose registers
 * or actions are not supported.
 */
const char *watchdog_arm(struct watchdog *watchdog, const struct acpi_watchdog *table);

/* Starts the countdown again. Does nothing if the watchdog is not armed. */
void watchdog_feed(const struct watchdog *watchdog);

/* Stops the watchdog and restores its registers as found. Does nothing if it is not armed. */
void watchdog_disarm(struct watchdog *watchdog);

#endif
