/*
 * The serial lines that get the run's output, and the blocks for programs. Blocks are sent in small pieces, so that
 * a user at the keyboard does not wait for them.
 */
#ifndef BARETICK_SERIAL_H
#define BARETICK_SERIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "options/options.h"

#define SERIAL_LINES_MAX  4
#define SERIAL_BLOCKS_MAX 4
#define SERIAL_NAME_SIZE  8

struct serial_block {
	char name[SERIAL_NAME_SIZE];
	char begin[64], end[128]; /* the lines around it */
	const char *body;
	size_t length;
};

struct serial_line {
	bool (*write)(void *device, const char *bytes, size_t size); /* false: it no longer takes bytes */
	void *device;
};

struct serial {
	struct serial_line lines[SERIAL_LINES_MAX]; /* a line that is dropped has no write() */
	size_t count;
	bool speaks; /* else nothing is written */
	struct serial_block blocks[SERIAL_BLOCKS_MAX];
	size_t block_count;
	size_t block, piece, at; /* the next byte: its block, its piece (begin, body, end), its offset */
};

/* Adds LINE to SERIAL, at most SERIAL_LINES_MAX. Nothing is written before serial_speak(). */
void serial_add(struct serial *serial, struct serial_line line);
void serial_speak(struct serial *serial, enum options_serial how);

void serial_put(struct serial *serial, const char *text);

/*
 * Queues BODY, LENGTH bytes of ASCII that stay where they are, between two lines that bear NAME, the second of
 * them with the digest of what lies between. At most SERIAL_BLOCKS_MAX of them.
 */
void serial_block(struct serial *serial, const char *name, const char *body, size_t length);

/* Sends a part of the queue. Returns false if the queue is empty. */
bool serial_feed(struct serial *serial);

/* Sends the rest as one line for each block: how much of it was sent. */
void serial_cut(struct serial *serial);

#endif
