/* Keys are bytes received by the serial line, so that a person there can end a run early. See keys.h. */
#include "console/keys.h"

#include "bare/console/com1.h"

#define KEPT_MAX 64 /* bytes: more than the port's queue */

bool
keys_next(unsigned *key)
{
	uint8_t byte;

	if (!com1_read(&byte))
		return false;
	*key = byte;
	return true;
}

void
keys_drop(void)
{
	unsigned key;

	for (unsigned i = 0; i < KEPT_MAX && keys_next(&key); i++)
		;
}
