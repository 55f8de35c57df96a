/* Calculates the TSC rate that a page states. See pages.h. */
#include "paravirtual/pages.h"

#define NS_PER_TICK 100u /* Hyper-V's reference time counts units of 100 ns */
#define SHIFT_MAX   32   /* no TSC has a rate that needs a larger shift */

uint64_t
pvclock_get_multiplier(const struct pvclock *page)
{
	if (page->tsc_shift < -SHIFT_MAX || page->tsc_shift > SHIFT_MAX - 1)
		return 0;
	if (page->tsc_shift < 0)
		return (uint64_t)page->tsc_to_system_mul >> -page->tsc_shift;
	return (uint64_t)page->tsc_to_system_mul << page->tsc_shift;
}

uint64_t
hv_tsc_page_get_multiplier(const struct hv_tsc_page *page)
{
	return (uint64_t)((unsigned __int128)page->scale * NS_PER_TICK >> 32);
}
