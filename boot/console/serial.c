/* Sends text and blocks over the serial lines. See serial.h. */
#include "console/serial.h"

#include "base/sha256.h"

#define CHUNK 64 /* number of bytes in one write; small, because keys are handled between the writes of a block */

enum piece { BEGIN, BODY, END, PIECES };

void
serial_add_line(struct serial *serial, struct serial_line line)
{
	if (serial->count < SERIAL_LINES_MAX)
		serial->lines[serial->count++] = line;
}

void
serial_enable(struct serial *serial, enum options_serial how)
{
	serial->is_enabled = how != SERIAL_OFF;
}

/* Sends BYTES over each serial line. Removes a line that does not accept all bytes. */
static void
send_on_all_lines(struct serial *serial, const char *bytes, size_t size)
{
	for (size_t i = 0; size && serial->is_enabled && i < serial->count; i++) {
		struct serial_line *line = &serial->lines[i];

		if (line->write && !line->write(line->device, bytes, size))
			line->write = NULL;
	}
}

/*
 * Appends BYTES to the chunk until the chunk is full. Each newline becomes a carriage return and a newline. Returns
 * the number of BYTES that were appended.
 */
static size_t
append_to_chunk_with_crlf(char chunk[CHUNK], size_t *used, const char *bytes, size_t length)
{
	size_t appended = 0;

	for (; appended < length && *used + 2 <= CHUNK; appended++) {
		if (bytes[appended] == '\n')
			chunk[(*used)++] = '\r';
		chunk[(*used)++] = bytes[appended];
	}
	return appended;
}

void
serial_print(struct serial *serial, const char *text)
{
	size_t length = text_length(text);

	while (length) {
		char chunk[CHUNK] = "";
		size_t used = 0, taken = append_to_chunk_with_crlf(chunk, &used, text, length);

		send_on_all_lines(serial, chunk, used);
		text += taken;
		length -= taken;
	}
}

void
serial_queue_block(struct serial *serial, const char *name, const char *body, size_t length)
{
	struct serial_block *block = &serial->blocks[serial->block_count];
	char hex[SHA256_HEX_SIZE];

	if (!serial->is_enabled || serial->block_count == SERIAL_BLOCKS_MAX)
		return;
	serial->block_count++;
	block->body = body;
	block->length = length;
	sha256_hex(body, length, hex);
	text_copy(block->name, sizeof(block->name), name);
	text_format(block->begin, sizeof(block->begin), "BARETICK %s BEGIN\n", name);
	text_format(block->end, sizeof(block->end), "BARETICK %s END sha256=%s\n", name, hex);
}

static bool
has_any_line(const struct serial *serial)
{
	for (size_t i = 0; i < serial->count; i++)
		if (serial->lines[i].write)
			return true;
	return false;
}

/*
 * Sends the next chunk. A chunk contains bytes from only one piece of a block: its first line, its body or its last
 * line.
 */
static void
send_block_chunk(struct serial *serial)
{
	const struct serial_block *block = &serial->blocks[serial->block];
	const char *bytes = serial->piece == BEGIN ? block->begin : serial->piece == BODY ? block->body : block->end;
	size_t length = serial->piece == BODY ? block->length : text_length(bytes), used = 0;
	char chunk[CHUNK] = "";

	serial->at += append_to_chunk_with_crlf(chunk, &used, bytes + serial->at, length - serial->at);
	send_on_all_lines(serial, chunk, used);
	if (serial->at < length)
		return;
	serial->at = 0;
	serial->block += serial->piece == END;
	serial->piece = (serial->piece + 1) % PIECES;
}

bool
serial_send_next_chunk(struct serial *serial)
{
	if (!has_any_line(serial))
		serial->block = serial->block_count;
	if (serial->block < serial->block_count)
		send_block_chunk(serial);
	return serial->block < serial->block_count;
}

void
serial_drop_queue(struct serial *serial)
{
	char bytes[128];
	struct text line;

	/* Completes a marker line that was sent in part, because programs search for marker lines. */
	while (serial->block < serial->block_count && (serial->piece == END || (serial->piece == BEGIN && serial->at)))
		send_block_chunk(serial);
	for (; serial->block < serial->block_count; serial->block++) {
		const struct serial_block *block = &serial->blocks[serial->block];

		text_init(&line, bytes, sizeof(bytes));
		if (serial->at && block->body[serial->at - 1] != '\n')
			text_put_char(&line, '\n');
		text_printf(&line, "BARETICK %s CUT after %zu of %zu bytes\n", block->name, serial->at, block->length);
		serial_print(serial, bytes);
		serial->piece = BEGIN;
		serial->at = 0;
	}
}
