/* Reads a hypervisor's counter of stolen time. See steal.h. */
#include "paravirtual/steal.h"

#include "hw/hw.h"
#include "paravirtual/leaves.h"
#include "paravirtual/pages.h"

#define AREA_ALIGNMENT 64
#define MSR_ON         UINT64_C(1)

/* KVM's area: Linux Documentation/virt/kvm/x86/msr.rst, MSR_KVM_STEAL_TIME. */
struct kvm_area {
	uint64_t steal_ns;
	uint32_t version; /* odd while the area is updated; 0 until the first update */
	uint32_t rest[13];
};
_Static_assert(sizeof(struct kvm_area) == AREA_ALIGNMENT, "as KVM writes it");

/* Xen's answer: xen/include/public/vcpu.h, struct vcpu_runstate_info. */
struct xen_runstate {
	uint32_t state, pad;
	uint64_t entered_ns;
	uint64_t ns[4]; /* time in each state: running, runnable, blocked, offline */
};

struct reading {
	const struct steal_counter *counter;
	volatile const struct kvm_area *area; /* NULL for Xen */
	uint64_t ns;
	bool known;
};

static void
read_kvm(struct reading *reading)
{
	volatile const struct kvm_area *area = reading->area;

	for (unsigned i = 0; i < PAGES_TRIES && !reading->known; i++) {
		uint32_t version = area->version;

		pages_fence();
		reading->ns = area->steal_ns;
		pages_fence();
		reading->known = version && !(version & 1) && version == area->version;
	}
}

/* Linux adds the same two states (arch/x86/xen/time.c). A core that only reads clocks is never blocked. */
static void
read_xen(struct reading *reading)
{
	struct xen_runstate state = { .state = 0 };
	struct hw_cpuid vcpu = hw_cpuid(reading->counter->base + LEAF_XEN_HVM, 0);

	reading->known = hw_xen_hypercall(XEN_VCPU_OP, XEN_GET_RUNSTATE, vcpu.ebx, (uintptr_t)&state) == 0;
	reading->ns = state.ns[1] + state.ns[3];
}

static bool
count(const struct steal_counter *counter, volatile const struct kvm_area *area, void (*work)(void *argument),
      void *argument, struct stolen *stolen)
{
	void (*read)(struct reading *reading) = area ? read_kvm : read_xen;
	struct reading before = { counter, area, 0, false }, after = before;
	uint64_t begin_tsc = hw_tsc_mfence();

	read(&before);
	work(argument);
	read(&after);
	stolen->ticks = hw_tsc_mfence() - begin_tsc;
	stolen->ns = after.ns - before.ns;
	return before.known && after.known && after.ns >= before.ns;
}

/*
 * KVM's counter needs an area for each core, whose address is in an MSR. The area is on the core's own stack, because
 * the MSR is restored right after WORK.
 */
bool
steal_count(const void *context, void (*work)(void *argument), void *argument, struct stolen *stolen)
{
	const struct steal_counter *counter = context;
	_Alignas(AREA_ALIGNMENT) struct kvm_area area = { .version = 0 };
	uint64_t found;
	bool known;

	if (counter->is_xen)
		return count(counter, NULL, work, argument, stolen);
	found = hw_msr_read(MSR_KVM_STEAL_TIME);
	hw_msr_write(MSR_KVM_STEAL_TIME, (uintptr_t)&area | MSR_ON);
	known = count(counter, &area, work, argument, stolen);
	hw_msr_write(MSR_KVM_STEAL_TIME, found);
	return known;
}

struct trial {
	const struct steal_counter *counter;
	bool known;
};

static void
do_nothing(void *argument)
{
	(void)argument;
}

static void
try_counter(void *argument)
{
	struct trial *trial = argument;
	struct stolen stolen;

	trial->known = steal_count(trial->counter, do_nothing, NULL, &stolen);
}

/* Returns why the counter cannot be used, or NULL if it can. */
static const char *
find_reason(const struct cpu_facts *facts, fault_guard *guarded, const struct steal_counter *counter)
{
	struct trial trial = { counter, false };
	struct fault fault;

	if (facts->memory_encrypted)
		return "This guest's memory is encrypted, so its hypervisor cannot write stolen time into it.";
	if (!guarded)
		try_counter(&trial);
	else if (!guarded(try_counter, &trial, &fault))
		return counter->is_xen ? "Xen offers its counter of stolen time, but the hypercall faulted." :
		       "KVM's CPUID leaf offers its counter of stolen time, but an access to MSR 4B564D03h faulted.";
	if (trial.known)
		return NULL;
	return counter->is_xen ? "Xen refused the hypercall for its counter of stolen time." :
	       "KVM's CPUID leaf offers its counter of stolen time, but KVM does not write it.";
}

void
steal_open(const struct cpu_facts *facts, const struct paravirtual *paravirtual, fault_guard *guarded,
	   struct steal_counter *counter)
{
	const struct paravirtual_interface *kvm = paravirtual_find(paravirtual, PARAVIRTUAL_KVM);
	const struct paravirtual_interface *xen = paravirtual_find(paravirtual, PARAVIRTUAL_XEN);

	*counter = (struct steal_counter){ .id = NULL };
	if (kvm && kvm->features & KVM_STEAL_TIME)
		counter->id = "kvm_steal";
	else if (xen && xen->leaf_max >= xen->base + LEAF_XEN_HVM &&
		 hw_cpuid(xen->base + LEAF_XEN_HVM, 0).eax & XEN_VCPU_ID_PRESENT)
		*counter = (struct steal_counter){ .id = "xen_runstate", .base = xen->base, .is_xen = true };
	if (counter->id)
		counter->reason = find_reason(facts, guarded, counter);
}
