/* Allocates memory that hypervisors write to: see pages.h. */
#ifndef BARETICK_RESERVE_H
#define BARETICK_RESERVE_H

#include "clocks/platform.h"
#include "options/options.h"

/*
 * Allocates PLATFORM->pages for CORES cores, if OPTIONS include a clock that the hypervisor keeps in memory and offers.
 * If not, or if the firmware has no memory left, PLATFORM->pages stays empty. The memory is never freed, because a
 * hypervisor might write to it after baretick's end.
 */
void reserve_pages(struct platform *platform, const struct options *options, size_t cores);

#endif
