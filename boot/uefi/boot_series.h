/*
 * A series of boots (option boots=N). Its file XXXXXXXX.sum in \baretick has what the boots up to now have seen. The
 * file is next to the marker XXXXXXXX.run of the present boot. Until the last boot, each boot restarts the machine,
 * and sets the variable BootNext to the entry of the boot menu that started it.
 */
#ifndef BARETICK_BOOT_SERIES_H
#define BARETICK_BOOT_SERIES_H

#include "report/report.h"
#include "uefi/checkpoint.h"

struct boot_series {
	char name[MARKER_FILE_NAME_SIZE];
	char *bytes;   /* contents of the file; NULL if there is no series */
	bool has_next; /* true if another boot follows */
};

/*
 * Counts the present boot in the file, and sets report.facts.boots. If a boot follows, an option exit= that would
 * wait for a key becomes exit=reboot. Adds a note if the volume cannot keep the file: there is no series then.
 * CHECKPOINT is open.
 */
void boot_series_start(struct boot_series *series, const struct checkpoint *checkpoint, struct report *report);

/* Saves report.outcomes.boots_so_far in the file. After the last boot, removes the file. */
void boot_series_end(struct boot_series *series, const struct report *report);

/*
 * Returns the way to end this boot. It is the option exit=, but if another boot follows, and the firmware cannot switch
 * the machine on again, EXIT_REBOOT replaces EXIT_POWEROFF.
 */
enum options_exit boot_series_get_exit(const struct boot_series *series, enum options_exit exit);

#endif
