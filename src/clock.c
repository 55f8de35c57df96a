/* The words of a clock's state. */
#include "clock.h"
#include "report.h"

static const char *const state_words[] = {
	[CLOCK_ABSENT] = "absent",
	[CLOCK_PRESENT] = "present",
	[CLOCK_DISABLED] = "disabled",
	[CLOCK_STUCK] = "stuck",
	[CLOCK_BROKEN] = "broken",
};

const char *
clock_state_word(enum clock_state state)
{
	return state_words[state];
}
