/* What is posted to a server by HTTP/1.1, or asked of it by HTTP/1.0 (RFC 9112), and what came of it. */
#ifndef BARETICK_EXCHANGE_H
#define BARETICK_EXCHANGE_H

#include "base/text.h"
#include "options/url.h"
#include "uefi/network/protocols.h"

#define EXCHANGE_REASON_SIZE 256
#define EXCHANGE_BODY_MAX    (64u << 10) /* bytes of what is got */
#define EXCHANGE_ANSWER_SIZE (EXCHANGE_BODY_MAX + (8u << 10)) /* with its headers */
#define EXCHANGE_OK          200
#define EXCHANGE_NOT_FOUND   404
#define EXCHANGE_NO_TCP      "the firmware has no TCP over a network card"

struct exchange {
	/* The caller's. */
	const char *address; /* http://..., shorter than URL_SIZE */
	const char *query;   /* goes behind it; NULL: nothing does */
	const char *body;    /* what is posted, as JSON; NULL: something is asked for */
	size_t body_length;  /* bytes, not 0 where BODY is not NULL */
	char *answer;        /* for what is asked for and the headers before it; NULL where BODY is not */
	size_t answer_size;  /* EXCHANGE_ANSWER_SIZE */
	/* Filled. */
	struct url at;       /* the address, read */
	unsigned status;     /* the answer's, 100 to 999 */
	size_t answer_length; /* with EXCHANGE_OK: ANSWER begins with so many bytes, all of the body */
	char reason[EXCHANGE_REASON_SIZE]; /* where there is no answer: why not, without a full stop */
};

bool exchange_fails(struct exchange *exchange, const char *reason); /* false */

enum exchange_end {
	EXCHANGE_ANSWERED,    /* STATUS is known, and all of what was asked for is there */
	EXCHANGE_FAILED,      /* the server was reached, and then REASON */
	EXCHANGE_NOT_REACHED, /* REASON; another card may lead to it */
};

/*
 * By the network card CARD, which has an address; within 8 s to look up a name, 3 s to connect, 30 s to send and 10 s
 * to be answered.
 */
enum exchange_end exchange_do(EFI_HANDLE card, struct exchange *exchange);

#endif
