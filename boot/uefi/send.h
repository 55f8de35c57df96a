/* The report to the server of save=http://..., or that of a boot by network, when volume and serial lines have it. */
#ifndef BARETICK_SEND_H
#define BARETICK_SEND_H

#include "plan.h"
#include "uefi/console/pager.h"
#include "uefi/network/post.h"
#include "uefi/network/server.h"

struct send {
	const struct plan *plan;
	const char *address;
	const uint8_t *mac; /* of the one card by which it is sent; NULL: by any */
	struct pager *pager;
	char sentence[POST_SENTENCE_SIZE];
};

/*
 * Has PAGER send PLAN's report.json to REPORT's address as the last that is done, and say on screen and serial lines
 * what came of it. Without save= it goes to BOOTED, if that can be asked; nothing where there is no address. All is the
 * caller's, and stays until then.
 */
void send_later(struct send *send, const struct report *report, const struct plan *plan, const struct server *booted,
		struct pager *pager);

#endif
