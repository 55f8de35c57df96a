/* Reads a hypervisor's counter of stolen time. See steal.h. */
#include "paravirtual/steal.h"

#include "hw/hw.h"
#include "paravirtual/leaves.h"
#include "paravirtual/pages.h"

#define AREA_ALIGNMENT 64
#define MSR_ON         UINT64_C(1)

/*
 * Layout of the memory area into which KVM writes stolen time: Linux Documentation/virt/kvm/x86/msr.rst,
 * MSR_KVM_STEAL_TIME.
 */
struct kvm_area {
	uint64_t steal_ns;
	uint32_t version; /* odd while the area is updated; 0 until the first update */
	uint32_t rest[13];
};
_Static_assert(sizeof(struct kvm_area) == AREA_ALIGNMENT, "layout of KVM");

/* Layout of the result of Xen's XEN_GET_RUNSTATE: xen/include/public/vcpu.h, struct vcpu_runstate_info. */
struct xen_runstate {
	uint32_t state, pad;
	uint64_t entered_ns;
	uint64_t ns[4]; /* time in each state: running, runnable, blocked, offline */
};

struct reading {
	const struct stolen_counter *counter;
	volatile const struct kvm_area *area; /* memory into which KVM writes; NULL for Xen */
	uint64_t ns;
	bool known;
};

static void
read_kvm_stolen_time(struct reading *reading)
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

/*
 * Reads the time in the states runnable and offline, which Linux also counts as stolen (arch/x86/xen/time.c). The state
 * blocked does not occur, because a core that only reads clocks does not wait.
 */
static void
read_xen_stolen_time(struct reading *reading)
{
	struct xen_runstate state = { .state = 0 };
	struct hw_cpuid vcpu = hw_cpuid(reading->counter->xen_base + LEAF_XEN_HVM, 0);

	reading->known = hw_xen_hypercall(XEN_VCPU_OP, XEN_GET_RUNSTATE, vcpu.ebx, (uintptr_t)&state) == 0;
	reading->ns = state.ns[1] + state.ns[3];
}

struct count {
	const struct stolen_counter *counter;
	volatile const struct kvm_area *area;
	void (*work)(void *argument);
	void *argument;
	struct stolen *stolen;
	bool known;
};

static void
count_stolen_time_during_work(void *argument)
{
	struct count *count = argument;
	void (*read)(struct reading *reading) = count->area ? read_kvm_stolen_time : read_xen_stolen_time;
	struct reading before = { count->counter, count->area, 0, false }, after = before;
	uint64_t begin_tsc = hw_tsc_mfence();

	read(&before);
	count->work(count->argument);
	read(&after);
	count->stolen->ticks = hw_tsc_mfence() - begin_tsc;
	count->stolen->ns = after.ns - before.ns;
	count->known = before.known && after.known && after.ns >= before.ns;
}

/*
 * Counts stolen time during WORK by KVM's counter. KVM writes the counter into an area for each core, whose address is
 * in an MSR. The area is on this function's stack, so the MSR must be restored after WORK. If an exception ends WORK on
 * the boot core, this function catches it and restores the MSR, because KVM would otherwise write to the stack of the
 * continuing run. On other cores exceptions are not caught. A core of the firmware's MP services would then return to
 * the firmware with the MSR set. The counter of such a core is therefore not read. A core that baretick started halts
 * for good after an exception, and its stack is never freed.
 */
static bool
count_stolen_time_by_kvm_area(const struct stolen_counter *counter, void (*work)(void *argument), void *argument,
			      struct stolen *stolen)
{
	_Alignas(AREA_ALIGNMENT) struct kvm_area area = { .version = 0 };
	struct count count_job = { counter, &area, work, argument, stolen, false };
	bool on_boot_core = cpu_read_apic_id() == counter->boot_apic_id, back = true;
	struct fault fault;

	if (counter->are_others_lent && !on_boot_core) {
		work(argument);
		return false;
	}
	uint64_t found = hw_msr_read(MSR_KVM_STEAL_TIME);
	hw_msr_write(MSR_KVM_STEAL_TIME, (uintptr_t)&area | MSR_ON);
	if (counter->guarded && on_boot_core)
		back = counter->guarded(count_stolen_time_during_work, &count_job, &fault);
	else
		count_stolen_time_during_work(&count_job);
	hw_msr_write(MSR_KVM_STEAL_TIME, found);
	if (!back)
		counter->raise(&fault);
	return count_job.known;
}

static bool
count_stolen_time_by_hypercall(const struct stolen_counter *counter, void (*work)(void *argument), void *argument,
			       struct stolen *stolen)
{
	struct count count_job = { counter, NULL, work, argument, stolen, false };

	count_stolen_time_during_work(&count_job);
	return count_job.known;
}

struct trial {
	const struct stolen_counter *counter;
	bool known;
};

static void
do_nothing(void *)
{
}

static void
test_stolen_time_counter(void *argument)
{
	struct trial *trial = argument;
	struct stolen stolen;

	trial->known = trial->counter->count(trial->counter, do_nothing, NULL, &stolen);
}

/* Returns the reason why the counter cannot be used, or NULL if it can be used. */
static const char *
explain_unusable_counter(const struct cpu_facts *facts, const struct stolen_counter *counter)
{
	struct trial trial = { counter, false };
	struct fault fault;

	if (facts->memory_encrypted)
		return "This guest's memory is encrypted, so its hypervisor cannot write the stolen time.";
	if (!counter->guarded)
		test_stolen_time_counter(&trial);
	else if (!counter->guarded(test_stolen_time_counter, &trial, &fault))
		return counter->xen_base ? "Xen offers its counter of stolen time, but the hypercall faulted." :
		       "KVM's CPUID leaf offers its counter of stolen time, but an access to MSR 4B564D03h faulted.";
	if (trial.known)
		return NULL;
	return counter->xen_base ? "Xen refused the hypercall for its counter of stolen time." :
	       "KVM's CPUID leaf offers its counter of stolen time, but KVM does not write it.";
}

struct stolen_counter
steal_time_open_counter(const struct cpu_facts *facts, const struct paravirtual *paravirtual, fault_guard *guarded,
			void (*raise)(const struct fault *fault))
{
	const struct paravirtual_interface *kvm = paravirtual_find(paravirtual, PARAVIRTUAL_KVM);
	const struct paravirtual_interface *xen = paravirtual_find(paravirtual, PARAVIRTUAL_XEN);
	struct stolen_counter counter = { .boot_apic_id = cpu_read_apic_id(), .guarded = guarded, .raise = raise };

	if (kvm && kvm->features & KVM_STEAL_TIME) {
		counter.id = "kvm_steal";
		counter.count = count_stolen_time_by_kvm_area;
	} else if (xen && xen->leaf_max >= xen->base + LEAF_XEN_HVM &&
		   hw_cpuid(xen->base + LEAF_XEN_HVM, 0).eax & XEN_VCPU_ID_PRESENT) {
		counter.id = "xen_runstate";
		counter.count = count_stolen_time_by_hypercall;
		counter.xen_base = xen->base;
	}
	if (counter.count)
		counter.reason = explain_unusable_counter(facts, &counter);
	if (counter.reason)
		counter.count = NULL;
	return counter;
}
