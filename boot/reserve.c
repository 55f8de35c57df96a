/* Allocates the pages that hypervisors write. See reserve.h. */
#include "reserve.h"

#include "clocks/drivers.h"
#include "firmware/firmware.h"
#include "run/run.h"

static bool
is_any_clock_page_needed(const struct platform *platform, const struct options *options)
{
	bool any = false;

	for (size_t d = 0; drivers[d]; d++)
		any |= drivers[d]->rows[0].paravirtual.paged && run_includes_driver(options, drivers[d]) &&
		       paravirtual_find(&platform->paravirtual, drivers[d]->rows[0].paravirtual.offered_by);
	return any;
}

void
reserve_clock_pages(struct platform *platform, const struct options *options, size_t cores)
{
	struct pages *pages = &platform->pages;

	if (!is_any_clock_page_needed(platform, options))
		return;
	pages->memory = firmware_reserve_low_pages(cores + 1);
	pages->count = pages->memory ? cores + 1 : 0;
}
