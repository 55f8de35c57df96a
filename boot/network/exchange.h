/* What is posted to a server, and what came of it. */
#ifndef BARETICK_EXCHANGE_H
#define BARETICK_EXCHANGE_H

#include "protocols.h"
#include "text.h"
#include "url.h"

#define EXCHANGE_REASON_SIZE 256
#define EXCHANGE_NO_HTTP     "the firmware has no HTTP over a network card"

struct exchange {
	/* The caller's. */
	const char *address; /* http://..., shorter than URL_SIZE */
	const char *body;    /* what is posted, as JSON */
	size_t body_length;  /* bytes, not 0 */
	/* Filled. */
	struct url at;       /* the address, read */
	unsigned status;     /* the answer's, 100 to 599; 0: one that the firmware does not tell apart, as 422 */
	char reason[EXCHANGE_REASON_SIZE]; /* where there is no answer: why not, without a full stop */
};

/* Both give back false. */
bool exchange_fails(struct exchange *exchange, const char *reason);
bool exchange_fails_by(struct exchange *exchange, const char *reason, EFI_STATUS status);

/* By the network card HANDLE, which has an address. Whether it was answered; else its reason says why not. */
bool exchange_do(EFI_HANDLE handle, struct exchange *exchange);

#endif
