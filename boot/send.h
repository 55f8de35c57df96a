/* The report to the server of save=http://..., when volume and serial lines have it. */
#ifndef BARETICK_SEND_H
#define BARETICK_SEND_H

#include "pager.h"
#include "plan.h"
#include "post.h"

struct send {
	const struct plan *plan;
	const char *address;
	struct pager *pager;
	char sentence[POST_SENTENCE_SIZE];
};

/*
 * Has PAGER send PLAN's report.json to REPORT's address as the last that is done, and say on screen and serial lines
 * what came of it. Nothing where no address was given. All is the caller's, and stays until then.
 */
void send_later(struct send *send, const struct report *report, const struct plan *plan, struct pager *pager);

#endif
