/* Reads keys from the serial line, so that a person at its other end can end a run early. See keys.h. */
#include "console/keys.h"

#include "bare/console/serial_line.h"

#define KEPT_MAX 64 /* maximum number of bytes that keys_discard_all() discards; more than the port's queue holds */

bool
keys_read_next(unsigned *key)
{
	uint8_t byte;

	if (!serial_line_read_byte(&byte))
		return false;
	*key = byte;
	return true;
}

void
keys_discard_all(void)
{
	unsigned key;

	for (unsigned i = 0; i < KEPT_MAX && keys_read_next(&key); i++)
		;
}
