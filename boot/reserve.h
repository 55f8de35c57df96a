/* Allocates memory that hypervisors write to: see pages.h. */
#ifndef BARETICK_RESERVE_H
#define BARETICK_RESERVE_H

#include "clocks/platform.h"
#include "options/options.h"

/*
 * Fills PLATFORM->pages for CORES cores if OPTIONS include a clock that a hypervisor keeps in memory, and the
 * hypervisor offers it. Leaves it empty if not, or if the firmware has no memory left. The memory is never freed,
 * because a hypervisor might write to it after baretick's end.
 */
void reserve_pages(struct platform *platform, const struct options *options, size_t cores);

#endif
