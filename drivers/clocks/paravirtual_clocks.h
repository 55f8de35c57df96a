/* What the drivers of hypervisors' clocks share. */
#ifndef BARETICK_PARAVIRTUAL_CLOCKS_H
#define BARETICK_PARAVIRTUAL_CLOCKS_H

#include "clock/driver.h"
#include "hw/hw.h"
#include "paravirtual/pages.h"

/* Takes samples by READ, which is handed HERE, what it needs on the core that calls. */
static inline __attribute__((always_inline)) void
paravirtual_sample(const struct device *device, struct sample *samples, size_t count, sample_read *read, void *here)
{
	if (device->bracket_with_mfence)
		sample_chain(samples, count, hw_tsc_mfence, read, here);
	else
		sample_chain(samples, count, hw_tsc_lfence, read, here);
}

/*
 * Linux drivers/clocksource/hyperv_timer.c, as of 6.6; with the invariant TSC of CPUID 40000003h EAX[15] they stand
 * back.
 */
#define HYPERV_PAGE_RATING           500
#define HYPERV_MSR_RATING            495
#define HYPERV_PAGE_RATING_INVARIANT 250
#define HYPERV_MSR_RATING_INVARIANT  245

/*
 * Guests say who they are before they use what Hyper-V offers (TLFS, guest OS identity). A firmware that has done so is
 * left as it is.
 */
void hyperv_sign(struct device *device, uint32_t features);
void hyperv_unsign(struct device *device);
#define HYPERV_SIGNED (DRIVER_SAVED_MAX - 1) /* of device.saved */

/* The page of Hyper-V's reference time as it is now; false: it is not on, or is never whole. */
bool hv_page_look(const struct device *device, struct hv_tsc_page *taken, uint64_t *now_tsc);
uint64_t hv_page_fallbacks(const struct device *device); /* reads at which it was not to be used */

#endif
