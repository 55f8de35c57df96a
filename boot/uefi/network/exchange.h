/* A POST by HTTP/1.1 or a GET by HTTP/1.0 (RFC 9112), and its result. */
#ifndef BARETICK_EXCHANGE_H
#define BARETICK_EXCHANGE_H

#include "base/text.h"
#include "options/url.h"
#include "uefi/network/protocols.h"

#define EXCHANGE_REASON_SIZE 256
#define EXCHANGE_BODY_MAX    (64u << 10) /* largest body of an answer to a GET, in bytes */
/* maximum size of the body and the headers of an answer */
#define EXCHANGE_ANSWER_SIZE (EXCHANGE_BODY_MAX + (8u << 10))
#define EXCHANGE_OK          200
#define EXCHANGE_NOT_FOUND   404
#define EXCHANGE_NO_TCP      "the firmware offers no TCP on any network card"

struct exchange {
	/* Set by the caller. */
	const char *address; /* URL http://..., shorter than URL_SIZE */
	const char *query;   /* appended to the address; may be NULL */
	const char *body;    /* JSON for a POST; NULL for a GET */
	size_t body_length;  /* number of bytes in BODY; above 0 for a POST */
	char *answer;        /* buffer for a GET's headers and body; NULL for a POST */
	size_t answer_size;  /* size of the buffer ANSWER: EXCHANGE_ANSWER_SIZE */
	/* Set by exchange_run(). */
	struct url at;       /* the parsed address */
	unsigned status;     /* the answer's status, 100 to 999 */
	size_t answer_length; /* length of the body at the start of ANSWER; valid after EXCHANGE_ANSWERED */
	char reason[EXCHANGE_REASON_SIZE]; /* reason of a failure, without a full stop at the end */
};

/* Stores REASON. Always returns false. */
bool exchange_set_failure(struct exchange *exchange, const char *reason);

enum exchange_end {
	EXCHANGE_ANSWERED,    /* STATUS is set, and the body of a GET is complete */
	EXCHANGE_FAILED,      /* the server was reached, but the exchange failed: see REASON */
	EXCHANGE_NOT_REACHED, /* this card did not reach the server (REASON says why), but another card may */
};

/*
 * Does the exchange through the network card CARD, which must have an IPv4 address. The time limits are 8 s to look up
 * a name, 3 s to connect, 30 s to send, and 10 s for the answer.
 */
enum exchange_end exchange_run(EFI_HANDLE card, struct exchange *exchange);

#endif
