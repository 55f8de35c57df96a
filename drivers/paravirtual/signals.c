/* Reads a hypervisor's signals that time was disrupted, for example by a snapshot. See signals.h. */
#include "paravirtual/signals.h"

#include "hw/hw.h"
#include "paravirtual/leaves.h"
#include "paravirtual/pages.h"

#define MSR_ON        UINT64_C(1)
#define VMGENID_SIZE  16u

#define FLAG_GENERATION    (UINT64_C(1) << 8) /* flag in vmclock's page: the page has a generation counter */

static struct signal *
add_signal(struct signals *signals, const char *id, const char *name)
{
	struct signal *signal = &signals->list[signals->count++];

	*signal = (struct signal){ .id = id, .name = name };
	return signal;
}

/*
 * Reads the flag GUEST_STOPPED in kvm-clock's page. The page's address is in MSR 4B564D01h, into which baretick's
 * driver has written it.
 */
static void
read_kvmclock_stopped_flag(const struct paravirtual_interface *kvm, fault_guard *guarded, bool clear,
			   struct signals *signals)
{
	volatile struct pvclock *page;
	uint64_t msr;

	if (!kvm || !(kvm->features & KVM_CLOCKSOURCE2) || !paravirtual_read_msr(MSR_KVM_SYSTEM_TIME_NEW, guarded, &msr) ||
	    !(msr & MSR_ON))
		return;
	page = (volatile struct pvclock *)(uintptr_t)(msr & ~MSR_ON);
	if (clear)
		page->flags &= (uint8_t)~PVCLOCK_GUEST_STOPPED;
	add_signal(signals, "kvmclock", "kvm-clock's flag GUEST_STOPPED")->value = page->flags & PVCLOCK_GUEST_STOPPED;
}

static void
read_vmclock_marker(uint64_t address, struct signals *signals)
{
	if (!address || !hw_is_mapped(address, VMCLOCK_SIZE))
		return;
	struct signal *signal = add_signal(signals, "vmclock", "vmclock's disruption marker");
	signal->unusable = hw_read32(address) != VMCLOCK_MAGIC;
	signal->value = hw_read64(address + VMCLOCK_DISRUPTION);
	if (hw_read64(address + VMCLOCK_FLAGS) & FLAG_GENERATION)
		signal->value += hw_read64(address + VMCLOCK_GENERATION);
}

static void
read_vm_generation_id(uint64_t address, struct signals *signals)
{
	uint64_t low, high;

	if (!address || !hw_is_mapped(address, VMGENID_SIZE))
		return;
	low = hw_read64(address);
	high = hw_read64(address + sizeof(low));
	struct signal *signal = add_signal(signals, "vmgenid", "the VM Generation ID");
	signal->restores_only = true;
	signal->unusable = !low && !high;
	signal->value = low ^ high;
}

void
signals_read_disruption_markers(const struct signal_places *places, fault_guard *guarded, bool clear,
				struct signals *signals)
{
	signals->count = 0;
	read_kvmclock_stopped_flag(paravirtual_find(places->paravirtual, PARAVIRTUAL_KVM), guarded, clear, signals);
	read_vmclock_marker(places->vmclock, signals);
	read_vm_generation_id(places->vmgenid, signals);
}
