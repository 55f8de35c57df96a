/* Reads the status line and the headers of an HTTP/1.0 or HTTP/1.1 answer (RFC 9112). The answer may be incomplete. */
#ifndef BARETICK_ANSWER_H
#define BARETICK_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
	/* status of the answer, 100 to 999; 0 if the status line is incomplete, or the answer is not HTTP */
	unsigned status;
	size_t body_at;  /* offset of the body; 0 if the headers are not complete yet */
	/* The next fields are valid when the headers are complete. */
	bool has_length; /* true if the headers have a Content-Length */
	uint64_t length; /* length of the body in bytes, from the header Content-Length */
	const char *refused; /* reason why the body cannot be read, as a clause; NULL if it can be read */
};

/* Reads the first LENGTH bytes of an answer. Returns true if the headers are complete. */
bool answer_read(const char *bytes, size_t length, struct answer *answer);

#endif
