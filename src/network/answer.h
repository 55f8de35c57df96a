/* The start of an answer of HTTP/1.0 or 1.1 (RFC 9112), as far as it has been received. */
#ifndef BARETICK_ANSWER_H
#define BARETICK_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
	unsigned status; /* 100 to 999; 0 if it is not complete yet, or not HTTP */
	size_t body_at;  /* offset of the body; 0 if the headers are not complete yet */
	/* Valid once the headers are complete: */
	bool has_length; /* true if the headers have a Content-Length */
	uint64_t length; /* bytes of the body, by Content-Length */
	const char *refused; /* why the body cannot be read, as a clause; or NULL */
};

/* Reads the first LENGTH bytes of an answer. Returns true if the headers are complete. */
bool answer_read(const char *bytes, size_t length, struct answer *answer);

#endif
