/* Common declarations of the drivers for KVM's, Xen's and Hyper-V's clocks. */
#ifndef BARETICK_PARAVIRTUAL_CLOCKS_H
#define BARETICK_PARAVIRTUAL_CLOCKS_H

#include "clock/driver.h"
#include "hw/hw.h"
#include "paravirtual/pages.h"

/*
 * Ratings as in Linux 6.6, drivers/clocksource/hyperv_timer.c. Linux lowers both by 250 if CPUID 40000003h EAX[15]
 * reports an invariant TSC.
 */
#define HYPERV_PAGE_RATING           500
#define HYPERV_MSR_RATING            495
#define HYPERV_PAGE_RATING_INVARIANT 250
#define HYPERV_MSR_RATING_INVARIANT  245

/*
 * Write and remove the guest's identity. Guests must write an identity before they use Hyper-V's interface (TLFS, guest
 * OS identity). An identity that the firmware wrote is kept.
 */
void hyperv_write_guest_os_id(struct device *device, uint32_t features);
void hyperv_clear_guest_os_id(struct device *device);
/* index into device.saved: true if the driver wrote the identity */
#define HYPERV_IDENTITY_WRITTEN (DRIVER_SAVED_MAX - 1)

/*
 * Copies the page of Hyper-V's reference time to TAKEN, and the TSC at that time to NOW_TSC. Returns false if the page
 * is off, or changes in all tries.
 */
bool hv_page_copy(const struct device *device, struct hv_tsc_page *taken, uint64_t *now_tsc);
uint64_t hv_page_count_msr_fallbacks(const struct device *device); /* number of reads that used the MSR */

#endif
