/* Gets options from the server that this machine was booted from, before the run. */
#ifndef BARETICK_NETBOOT_OPTIONS_H
#define BARETICK_NETBOOT_OPTIONS_H

#include "console/console.h"
#include "report/report.h"
#include "smbios/smbios.h"
#include "uefi/network/server.h"
#include "uefi/volume/settings.h"

struct netboot {
	struct server server;
	struct console *console;
	struct report *report;
	const char *serial;
	struct settings_other other;
};

/*
 * Finds the server that the application was loaded from. Returns a source of options for settings_read(), or NULL if
 * the application was not loaded over a network. The source requests the options for the machine that SMBIOS describes,
 * and adds notes to REPORT. The caller keeps all arguments valid while the source is used.
 */
const struct settings_other *netboot_find_options(struct netboot *netboot, struct console *console,
						  struct report *report, const struct smbios_facts *smbios);

#endif
