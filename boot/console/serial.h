/*
 * The serial lines that baretick writes to, and a queue of blocks for programs that read them. Blocks are sent in small
 * pieces, so that keys at the keyboard are handled in between.
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
	char begin[64], end[128]; /* marker lines before and after the block */
	const char *body;
	size_t length;
};

struct serial_line {
	bool (*write)(void *device, const char *bytes, size_t size); /* returns false if the line accepts no more bytes */
	void *device;
};

struct serial {
	struct serial_line lines[SERIAL_LINES_MAX]; /* a line that was removed has write = NULL */
	size_t count;
	bool is_enabled; /* true if output is on: see serial_enable() */
	struct serial_block blocks[SERIAL_BLOCKS_MAX];
	size_t block_count;
	/* position of the next byte: its block, its piece (begin, body, end), its offset in the piece */
	size_t block, piece, at;
};

/* Adds LINE to SERIAL, unless SERIAL already has SERIAL_LINES_MAX lines. Nothing is written before serial_enable(). */
void serial_add_line(struct serial *serial, struct serial_line line);
void serial_enable(struct serial *serial, enum options_serial how);

void serial_print(struct serial *serial, const char *text);

/*
 * Queues BODY, LENGTH bytes of ASCII, which must stay in memory. It is sent between two marker lines. The first line
 * contains NAME, the second contains NAME and BODY's SHA-256. Ignores blocks beyond SERIAL_BLOCKS_MAX.
 */
void serial_queue_block(struct serial *serial, const char *name, const char *body, size_t length);

/* Sends a part of the queue. Returns false if the queue is empty. */
bool serial_send_next_chunk(struct serial *serial);

/*
 * Drops the queue. For each block that was not sent completely, sends one line with the number of bytes that were sent.
 */
void serial_drop_queue(struct serial *serial);

#endif
