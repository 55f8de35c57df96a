/* Declarations for the drivers of the hypervisors' clocks. */
#ifndef BARETICK_PARAVIRTUAL_CLOCKS_H
#define BARETICK_PARAVIRTUAL_CLOCKS_H

#include "clock/driver.h"
#include "hw/hw.h"
#include "paravirtual/pages.h"

/* Takes samples by READ. HERE is READ's argument on the calling core. */
static inline __attribute__((always_inline)) void
paravirtual_sample(const struct device *device, struct sample *samples, size_t count, sample_read *read, void *here)
{
	if (device->bracket_with_mfence)
		sample_chain(samples, count, hw_tsc_mfence, read, here);
	else
		sample_chain(samples, count, hw_tsc_lfence, read, here);
}

/*
 * Linux drivers/clocksource/hyperv_timer.c, as of 6.6. The ratings are lower if CPUID 40000003h EAX[15] reports an
 * invariant TSC.
 */
#define HYPERV_PAGE_RATING           500
#define HYPERV_MSR_RATING            495
#define HYPERV_PAGE_RATING_INVARIANT 250
#define HYPERV_MSR_RATING_INVARIANT  245

/*
 * Guests must write their identity before they use Hyper-V's interface (TLFS, guest OS identity). An identity that
 * the firmware wrote is kept.
 */
void hyperv_sign(struct device *device, uint32_t features);
void hyperv_unsign(struct device *device);
#define HYPERV_SIGNED (DRIVER_SAVED_MAX - 1) /* index into device.saved */

/* Copies the page of Hyper-V's reference time. Returns false if the page is off or changes in all tries. */
bool hv_page_look(const struct device *device, struct hv_tsc_page *taken, uint64_t *now_tsc);
uint64_t hv_page_fallbacks(const struct device *device); /* number of reads that used the MSR */

#endif
