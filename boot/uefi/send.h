/*
 * Sends the report to the server that save=http://... names, or that the application was loaded from. This happens
 * after the report was saved and sent over the serial lines.
 */
#ifndef BARETICK_SEND_H
#define BARETICK_SEND_H

#include "plan.h"
#include "uefi/console/pager.h"
#include "uefi/network/post.h"
#include "uefi/network/server.h"

struct send {
	const struct plan *plan;
	const char *address;
	const uint8_t *mac; /* MAC address of the network card to use; NULL for any card */
	struct pager *pager;
	char sentence[POST_SENTENCE_SIZE];
};

/*
 * Makes PAGER, as its last step, send PLAN's report.json to the address in REPORT's options, and show the result on the
 * screen and the serial lines. Without save=, the report is sent to BOOTED if this server accepts requests. Does
 * nothing if neither the options nor BOOTED have an address. The caller keeps all arguments valid until this step.
 */
void send_report_at_end(struct send *send, const struct report *report, const struct plan *plan,
			const struct server *booted, struct pager *pager);

#endif
