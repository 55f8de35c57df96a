/*
 * Xen's single-shot timer of each core (VCPUOP_set_singleshot_timer). It is listed, but never armed. Its interrupt is
 * an event of Xen, and does not come again until the event's bit is cleared in the shared page. A fully virtualised
 * guest reaches this page only by moving it into its own memory, and cannot ask Xen where the page was before. Firmware
 * has moved it already: EDK II waits there for events of Xen's disk (OvmfPkg/XenBusDxe). So it could not be restored.
 */
#include "timers/timers.h"

static void
xen_timer_open(const struct platform *platform, struct timer *timer)
{
	timer->unlisted = !paravirtual_find(&platform->paravirtual, PARAVIRTUAL_XEN);
	if (!timer->unlisted && timer_find_lapic(timer))
		timer_refuse(timer, CLOCK_DISABLED,
			     "Its events need Xen's shared page, whose place the firmware chose: not tested.");
}

const struct timer_driver timer_xen = {
	.id = "xen_timer",
	.title = "Xen's single-shot timer",
	.in_quick = true,
	.open = xen_timer_open,
};
