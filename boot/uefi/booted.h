/* What the server that this machine was booted from is asked before the run, and what is noted of that. */
#ifndef BARETICK_BOOTED_H
#define BARETICK_BOOTED_H

#include "console/console.h"
#include "report/report.h"
#include "smbios/smbios.h"
#include "uefi/network/server.h"
#include "uefi/volume/settings.h"

struct booted {
	struct server server;
	struct console *console;
	struct report *report;
	const char *serial;
	struct settings_other other;
};

/*
 * Finds that server, and returns options for settings_read(): of the machine that SMBIOS describes. What is to be said
 * is noted in REPORT. NULL: the application did not come over a network. All is the caller's, and stays.
 */
const struct settings_other *booted_open(struct booted *booted, struct console *console, struct report *report,
					 const struct smbios_facts *smbios);

#endif
