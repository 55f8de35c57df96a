/*
 * Reads the status line and the headers of an HTTP/1.0 or HTTP/1.1 response (RFC 9112). The response may be
 * incomplete.
 */
#ifndef BARETICK_ANSWER_H
#define BARETICK_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
	/* status code, 100 to 999; 0 if the status line is incomplete, or if this is no HTTP response */
	unsigned status;
	size_t body_at;  /* offset of the body; 0 if the headers are not complete yet */
	/* The next fields are valid only if the headers are complete. */
	bool has_length; /* true if there is a header Content-Length */
	uint64_t length; /* value of the header Content-Length: the length of the body in bytes */
	const char *refused; /* why the body cannot be read, as part of a sentence; NULL if it can be read */
};

/* Reads the first LENGTH bytes of a response. Returns true if the headers are complete. */
bool answer_parse_header(const char *bytes, size_t length, struct answer *answer);

#endif
