/* Prints an exception. See fault.h. */
#include "clock/fault.h"

static const char *const names[] = {
	[0] = "#DE", [1] = "#DB", [2] = "NMI", [3] = "#BP", [4] = "#OF", [5] = "#BR", [6] = "#UD", [7] = "#NM",
	[8] = "#DF", [10] = "#TS", [11] = "#NP", [12] = "#SS", [13] = "#GP", [FAULT_PAGE] = "#PF", [16] = "#MF",
	[17] = "#AC", [18] = "#MC", [19] = "#XM", [20] = "#VE", [21] = "#CP", [29] = "#VC",
};

void
fault_print(struct text *text, const struct fault *fault)
{
	const char *name = fault->vector < sizeof(names) / sizeof(*names) ? names[fault->vector] : NULL;

	text_printf(text, "%s (vector %u", name ? name : "an exception", fault->vector);
	if (fault->vector < 32 && FAULT_ERRORS >> fault->vector & 1)
		text_printf(text, ", error %lxh", fault->error);
	text_printf(text, ") at %s%lxh", fault->in_image ? "baretick+" : "", fault->at);
	if (fault->vector == FAULT_PAGE)
		text_printf(text, ", address %lxh", fault->address);
}

void
fault_print_baretick_exception(struct text *text, const struct fault *fault)
{
	text_put(text, "baretick itself took an exception: ");
	fault_print(text, fault);
	text_put_char(text, '.');
}
