/* The begin of an answer of HTTP/1.0 or 1.1 (RFC 9112), as far as it has come. */
#ifndef BARETICK_ANSWER_H
#define BARETICK_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
	unsigned status; /* 100 to 999; 0: not there yet, or this is none of HTTP */
	size_t body_at;  /* where the body begins; 0: the headers are not all there yet */
	/* Of the headers, once all are there: */
	bool has_length;
	uint64_t length; /* of the body, in bytes */
	const char *refused; /* why the body can't be read, as a clause; or NULL */
};

/* LENGTH bytes of it; whether the headers are all there. */
bool answer_read(const char *bytes, size_t length, struct answer *answer);

#endif
