/* Without UEFI only baretick's code runs, so the map of the firmware's code is empty. See code_map.h. */
#include "firmware/code_map.h"

bool
code_map_load(void)
{
	return true;
}

void
code_map_free(void)
{
}

bool
code_map_contains(uint64_t)
{
	return false;
}
