/* Names of sleep states. See sleep.h. */
#include "clock/sleep.h"

#include "base/text.h"

void
sleep_print_name(char name[SLEEP_NAME_SIZE], uint32_t state)
{
	if (state == SLEEP_BY_HLT)
		text_copy(name, SLEEP_NAME_SIZE, "halt");
	else
		text_format(name, SLEEP_NAME_SIZE, "%s-%xh", state & SLEEP_BY_PORT ? "port" : "mwait", state & ~SLEEP_BY_PORT);
}
