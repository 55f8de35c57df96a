/* Allocates memory that hypervisors write their clocks into: see pages.h. */
#ifndef BARETICK_RESERVE_H
#define BARETICK_RESERVE_H

#include "clocks/platform.h"
#include "options/options.h"

/*
 * Allocates PLATFORM->pages for CORES cores, if OPTIONS include a clock that the hypervisor offers and keeps in the
 * guest's memory. Otherwise, or if there is no memory, PLATFORM->pages stays empty. The memory is never freed, because
 * a hypervisor might write to it after the end of baretick.
 */
void reserve_clock_pages(struct platform *platform, const struct options *options, size_t cores);

#endif
