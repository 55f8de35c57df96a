/* Memory for hypervisors to write into: see pages.h. */
#ifndef BARETICK_RESERVE_H
#define BARETICK_RESERVE_H

#include "clocks/platform.h"
#include "options/options.h"

/*
 * Fills PLATFORM->pages for CORES cores where OPTIONS ask for a clock that a hypervisor keeps in memory, and one is
 * there that offers such; none else, and none where the firmware has no memory left. Reserved and never handed back:
 * a hypervisor might write after baretick's end.
 */
void reserve_pages(struct platform *platform, const struct options *options, size_t cores);

#endif
