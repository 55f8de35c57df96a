/* Compares register values before and after a run. See as_found.h. */
#include "clock/as_found.h"

void
as_found_add_register(struct as_found *registers, const char *name, uint64_t value)
{
	if (registers->count == AS_FOUND_MAX)
		return;
	registers->registers[registers->count].name = name;
	registers->registers[registers->count++].value = value;
}

size_t
as_found_find_changed_register(const struct as_found *before, const struct as_found *after)
{
	size_t i = 0;

	while (i < before->count && i < after->count &&
	       before->registers[i].value == after->registers[i].value)
		i++;
	return i;
}
