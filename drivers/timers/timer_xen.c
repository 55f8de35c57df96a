/*
 * Xen's single-shot timer of the boot core (VCPUOP_set_singleshot_timer). All layouts and numbers are from Xen's
 * headers in xen/include/public: xen.h, vcpu.h, memory.h, event_channel.h, hvm/hvm_op.h and hvm/params.h.
 *
 * The timer raises a Xen event. Xen sets the event's bit in the shared page (struct shared_info), and interrupts with
 * the vector in HVM parameter 0. The page can be mapped at one address only, and a guest cannot read that address.
 * Firmware maps the page into its own memory, because EDK II waits there for events of Xen's disk (OvmfPkg/XenBusDxe).
 * So the timer is tested only without firmware, when the page is not mapped. A test maps it at an address without
 * memory, and unmaps it afterwards.
 */
#include "hw/hw.h"
#include "paravirtual/leaves.h"
#include "paravirtual/pages.h"
#include "timers/timers.h"

#define HZ               1000000000u
#define MEMORY_OP        12u
#define ADD_TO_PHYSMAP   7u
#define REMOVE_FROM_PHYSMAP 15u
#define SET_TIMER        8u
#define STOP_TIMER       9u
#define EVENT_CHANNEL_OP 32u
#define BIND_VIRQ        1u
#define CLOSE_EVENT      3u
#define HVM_OP           34u
#define SET_PARAM        0u
#define GET_PARAM        1u
/* callback type in HVM parameter 0: the lowest byte is an interrupt vector */
#define CALLBACK_VECTOR  (UINT64_C(2) << 56)
#define DOMAIN_SELF      0x7ff0u
#define VCPUS_MAX        32u
#define PORTS_MAX        64u

enum { PAGE, VCPU, PORT, IS_ATTACHED, FOUND_MASK, FOUND_CALLBACK, DUE };

struct shared_page {
	struct vcpu {
		uint8_t has_events, is_masked, rest[6];
		uint64_t words; /* bit N is 1 if PENDING[N] is not 0 */
		uint64_t arch[2];
		struct pvclock time;
	} vcpus[VCPUS_MAX];
	uint64_t pending[PORTS_MAX], masked[PORTS_MAX];
};
_Static_assert(offsetof(struct shared_page, pending) == 2048, "layout in xen/include/public/xen.h");

static volatile struct shared_page *
get_shared_page(const struct timer *timer)
{
	return (volatile struct shared_page *)(uintptr_t)timer->saved[PAGE];
}

static int64_t
call_xen(uint64_t number, uint64_t operation, void *argument)
{
	return hw_xen_hypercall(number, operation, (uintptr_t)argument, 0);
}

static void
unmap_shared_page(const struct timer *timer)
{
	struct {
		uint16_t domain;
		uint64_t frame;
	} removed = { DOMAIN_SELF, timer->saved[PAGE] / PAGES_SIZE };

	(void)call_xen(MEMORY_OP, REMOVE_FROM_PHYSMAP, &removed);
}

static void
unbind_event_and_unmap_page(struct timer *timer)
{
	uint32_t port = (uint32_t)timer->saved[PORT];

	timer->saved[IS_ATTACHED] = false;
	(void)call_xen(EVENT_CHANNEL_OP, CLOSE_EVENT, &port);
	unmap_shared_page(timer);
}

/* Maps the shared page, and binds the timer's event to a port. Returns false, and changes nothing, if Xen refuses. */
static bool
map_page_and_bind_event(struct timer *timer)
{
	struct {
		uint16_t domain, size;
		uint32_t space; /* kind of page: 0, XENMAPSPACE_shared_info, is the shared page */
		uint64_t index, frame;
	} added = { DOMAIN_SELF, 0, 0, 0, timer->saved[PAGE] / PAGES_SIZE };
	struct {
		uint32_t virq, vcpu, port; /* baretick sets VIRQ to 0 (VIRQ_TIMER), and Xen sets PORT */
	} event = { 0, (uint32_t)timer->saved[VCPU], 0 };

	if (call_xen(MEMORY_OP, ADD_TO_PHYSMAP, &added))
		return false;
	if (call_xen(EVENT_CHANNEL_OP, BIND_VIRQ, &event)) {
		unmap_shared_page(timer);
		return false;
	}
	timer->saved[PORT] = event.port;
	timer->saved[IS_ATTACHED] = event.port < PORTS_MAX;
	if (!timer->saved[IS_ATTACHED])
		unbind_event_and_unmap_page(timer);
	return timer->saved[IS_ATTACHED];
}

static void
xen_timer_open(const struct platform *platform, struct timer *timer)
{
	const struct paravirtual_interface *xen = paravirtual_find(&platform->paravirtual, PARAVIRTUAL_XEN);
	struct hw_cpuid leaf = { 0, 0, 0, 0 };

	timer->unlisted = !xen;
	if (!xen || !timer_find_lapic(timer))
		return;
	timer->hz = (struct rate){ HZ, 1 };
	timer->ticks_max = UINT32_MAX;
	if (xen->leaf_max >= xen->base + LEAF_XEN_HVM)
		leaf = hw_cpuid(xen->base + LEAF_XEN_HVM, 0);
	timer->saved[PAGE] = platform->unused_page;
	timer->saved[VCPU] = leaf.ebx;
	if (!platform->unused_page) {
		timer_set_unusable(timer, CLOCK_DISABLED,
				   "The timer's events need Xen's shared page. Only the firmware knows its address: not tested.");
	} else if (!(leaf.eax & XEN_VCPU_ID_PRESENT) || leaf.ebx >= VCPUS_MAX) {
		timer_set_unusable(timer, CLOCK_ABSENT, "Xen's CPUID leaves do not state the vCPU number of a core.");
	} else if (!map_page_and_bind_event(timer)) {
		timer_set_unusable(timer, CLOCK_BROKEN, "Xen refused to map its shared page or to bind the timer's event.");
	} else {
		unbind_event_and_unmap_page(timer);
	}
}

static void
xen_timer_acknowledge(const struct timer *timer)
{
	volatile struct shared_page *page = get_shared_page(timer);

	if (!timer->saved[IS_ATTACHED])
		return;
	page->vcpus[timer->saved[VCPU]].has_events = 0;
	page->vcpus[timer->saved[VCPU]].words = 0;
	__atomic_fetch_and(&page->pending[0], ~(UINT64_C(1) << timer->saved[PORT]), __ATOMIC_ACQ_REL);
}

static void
xen_timer_disarm(struct timer *timer)
{
	(void)hw_xen_hypercall(XEN_VCPU_OP, STOP_TIMER, timer->saved[VCPU], 0);
}

struct param {
	uint16_t domain;
	uint32_t index; /* number of the parameter: 0, HVM_PARAM_CALLBACK_IRQ, selects how events interrupt guests */
	uint64_t value;
};

static void
set_interrupt_callback(uint64_t value)
{
	struct param param = { DOMAIN_SELF, 0, value };

	(void)call_xen(HVM_OP, SET_PARAM, &param);
}

/*
 * Masks the first 64 events, for example the console's event, except the timer's event. If map_page_and_bind_event()
 * fails here, although it worked in xen_timer_open(), the timer is not armed and never expires.
 */
static void
xen_timer_set_up(struct timer *timer, uint32_t vector)
{
	struct param found = { DOMAIN_SELF, 0, 0 };

	timer->route.vector = vector;
	(void)call_xen(HVM_OP, GET_PARAM, &found);
	timer->saved[FOUND_CALLBACK] = found.value;
	if (!map_page_and_bind_event(timer))
		return;
	timer->saved[FOUND_MASK] = get_shared_page(timer)->masked[0];
	get_shared_page(timer)->masked[0] = ~(UINT64_C(1) << timer->saved[PORT]);
	xen_timer_acknowledge(timer);
	set_interrupt_callback(CALLBACK_VECTOR | vector);
}

static uint64_t
read_xen_time_ns(const struct timer *timer)
{
	struct pvclock taken;
	uint64_t tsc;

	return timer->saved[IS_ATTACHED] &&
		pvclock_copy(&get_shared_page(timer)->vcpus[timer->saved[VCPU]].time, hw_tsc_lfence, &taken, &tsc) ?
		pvclock_calculate_ns(&taken, tsc) : 0;
}

static uint64_t
xen_timer_arm(struct timer *timer, uint64_t ticks, bool)
{
	struct {
		uint64_t due_ns;
		uint32_t flags;
	} timeout = { read_xen_time_ns(timer) + ticks, 0 };

	timer->saved[DUE] = timeout.due_ns;
	if (timer->saved[IS_ATTACHED])
		(void)hw_xen_hypercall(XEN_VCPU_OP, SET_TIMER, timer->saved[VCPU], (uintptr_t)&timeout);
	return 0;
}

static uint64_t
xen_timer_get_ticks_left(const struct timer *timer)
{
	uint64_t now_ns = read_xen_time_ns(timer);

	return timer->saved[DUE] > now_ns ? timer->saved[DUE] - now_ns : 0;
}

static void
xen_timer_restore(struct timer *timer)
{
	if (!timer->saved[IS_ATTACHED])
		return;
	xen_timer_disarm(timer);
	set_interrupt_callback(timer->saved[FOUND_CALLBACK]);
	get_shared_page(timer)->masked[0] = timer->saved[FOUND_MASK];
	xen_timer_acknowledge(timer);
	unbind_event_and_unmap_page(timer);
}

const struct timer_driver timer_xen = {
	.id = "xen_timer",
	.title = "Xen's single-shot timer",
	.kind = TIMER_ONE_SHOT,
	.tested = TIMER_TESTED_ALWAYS,
	.open = xen_timer_open,
	.set_up = xen_timer_set_up,
	.arm = xen_timer_arm,
	.get_ticks_left = xen_timer_get_ticks_left,
	.acknowledge = xen_timer_acknowledge,
	.disarm = xen_timer_disarm,
	.restore = xen_timer_restore,
};
