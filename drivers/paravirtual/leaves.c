/* Finds the interfaces that hypervisors offer. See leaves.h. */
#include "paravirtual/leaves.h"

#include "base/text.h"
#include "base/units.h"
#include "hw/cpuid.h"
#include "hw/hw.h"

#define BASE_STEP  0x100u /* number of leaves from one interface to the next: Linux arch/x86/include/asm/processor.h */
#define BASE_END   0x40010000u  /* the first leaf that is not searched for interfaces */
/* "Hv#1", EAX of leaf 40000001h: the hypervisor implements Hyper-V's specification (TLFS) */
#define HV_1       0x31237648u

struct word {
	uint32_t bit;
	const char *text;
};

static const struct word kvm_words[] = {
	{ KVM_CLOCKSOURCE2, "kvm-clock" },
	{ KVM_CLOCKSOURCE, "kvm-clock by its old MSRs" },
	{ KVM_CLOCKSOURCE_STABLE, "whether it is stable" },
	{ 0, NULL },
};

static const struct word hv_words[] = {
	{ HV_ACCESS_REFERENCE_COUNTER, "reference counter" },
	{ HV_ACCESS_REFERENCE_TSC, "reference TSC page" },
	{ HV_ACCESS_FREQUENCY_MSRS, "frequency MSRs" },
	{ HV_ACCESS_TIMERS, "timers" },
	{ HV_ACCESS_TSC_INVARIANT, "invariant TSC" },
	{ 0, NULL },
};

static const struct {
	char signature[13];
	enum paravirtual_kind kind;
	const char *name;
} known[] = {
	{ "KVMKVMKVM", PARAVIRTUAL_KVM, "KVM" },
	{ "Microsoft Hv", PARAVIRTUAL_HYPERV, "Hyper-V" },
	{ "XenVMMXenVMM", PARAVIRTUAL_XEN, "Xen" },
	{ "VMwareVMware", PARAVIRTUAL_VMWARE, "VMware" },
	{ "ACRNACRNACRN", PARAVIRTUAL_ACRN, "ACRN" },
	{ "VBoxVBoxVBox", PARAVIRTUAL_VIRTUALBOX, "VirtualBox" },
};

static void
add_feature_names(struct paravirtual_interface *interface, const struct word *words)
{
	struct text text = text_start(interface->offers, sizeof(interface->offers));

	for (; words->text; words++)
		if (interface->features & words->bit)
			text_printf(&text, "%s%s", text.length ? ", " : "", words->text);
}

struct msr_read {
	uint32_t msr;
	uint64_t value;
};

static void
read_msr(void *argument)
{
	struct msr_read *read = argument;

	read->value = hw_msr_read(read->msr);
}

bool
paravirtual_read_msr(uint32_t msr, fault_guard *guarded, uint64_t *value)
{
	struct msr_read read = { msr, 0 };
	struct fault fault;

	if (!guarded)
		read_msr(&read);
	else if (!guarded(read_msr, &read, &fault))
		return false;
	*value = read.value;
	return true;
}

/*
 * Returns the name of a missing feature that an operating system needs to use Hyper-V's clock or timer, and the
 * consequence. Returns NULL if none is missing. Windows needs the SynIC for timers (QEMU commit c686193072a4). Hyper-V
 * as a guest needs direct mode (Linux commit 8644f771e07c). Readers of the page need the MSR while its sequence is 0
 * (TLFS, reference TSC page).
 */
static const char *
find_missing_hyperv_feature(uint32_t eax, uint32_t edx)
{
	if (eax & HV_ACCESS_REFERENCE_COUNTER && !(eax & HV_ACCESS_REFERENCE_TSC))
		return "AccessPartitionReferenceTsc (EAX bit 9), so each reading exits to the hypervisor";
	if (eax & HV_ACCESS_REFERENCE_TSC && !(eax & HV_ACCESS_REFERENCE_COUNTER))
		return "AccessPartitionReferenceCounter (EAX bit 1), so the clock's page cannot be used";
	if (eax & HV_ACCESS_TIMERS && !(eax & HV_ACCESS_SYNIC))
		return "AccessSynicRegs (EAX bit 2), so Windows does not use the hypervisor's timers";
	if (eax & HV_ACCESS_TIMERS && !(edx & HV_DIRECT_TIMERS_AVAILABLE))
		return "direct mode of timers (EDX bit 19), so Hyper-V as a guest does not use the timers";
	return NULL;
}

/*
 * Reads the timer's configuration and writes the same value back. The write is part of the test, because a hypervisor
 * without a SynIC may refuse only writes. If the timer is enabled, nothing is written.
 */
static void
test_hyperv_timer_access(void *)
{
	uint64_t found = hw_msr_read(MSR_HV_TIMER_CONFIG);

	if (!(found & HV_TIMER_ENABLE))
		hw_msr_write(MSR_HV_TIMER_CONFIG, found);
}

/*
 * Stores the TSC's rate that the hypervisor reports, and BY, the source of the rate. The tolerance is 1 kHz. Rates in
 * kHz may be rounded up or down, and other rates are rounded to an unknown smaller unit.
 */
static void
set_tsc_rate(struct paravirtual_interface *interface, uint64_t hz, const char *by)
{
	if (!hz)
		return;
	interface->tsc = (struct rate){ hz, 1 };
	interface->tsc_within_hz = HZ_PER_KHZ;
	interface->tsc_by = by;
}

static void
read_khz_leaf(struct paravirtual_interface *interface)
{
	if (interface->leaf_max >= interface->base + LEAF_RATES)
		set_tsc_rate(interface, (uint64_t)hw_cpuid(interface->base + LEAF_RATES, 0).eax * HZ_PER_KHZ,
			     "CPUID 40000010h");
}

static void
read_kvm_features(struct paravirtual_interface *interface)
{
	if (interface->leaf_max >= interface->base + LEAF_INTERFACE)
		interface->features = hw_cpuid(interface->base + LEAF_INTERFACE, 0).eax;
	add_feature_names(interface, kvm_words);
	read_khz_leaf(interface);
}

static void
read_hyperv_features(struct paravirtual_interface *interface, fault_guard *guarded)
{
	struct fault fault;
	uint64_t hz;

	if (interface->leaf_max < interface->base + LEAF_TIME ||
	    hw_cpuid(interface->base + LEAF_INTERFACE, 0).eax != HV_1)
		return;
	struct hw_cpuid r = hw_cpuid(interface->base + LEAF_VERSION, 0);
	text_format(interface->version, sizeof(interface->version), "%u.%u.%u", r.ebx >> 16, r.ebx & 0xffff, r.eax);
	r = hw_cpuid(interface->base + LEAF_TIME, 0);
	interface->features = r.eax;
	if (!(r.edx & HV_FREQUENCY_MSRS_AVAILABLE))
		interface->features &= ~HV_ACCESS_FREQUENCY_MSRS;
	add_feature_names(interface, hv_words);
	interface->features_edx = r.edx;
	interface->missing = find_missing_hyperv_feature(r.eax, r.edx);
	interface->timer_faults = interface->features & HV_ACCESS_TIMERS && r.edx & HV_DIRECT_TIMERS_AVAILABLE && guarded &&
				  !guarded(test_hyperv_timer_access, NULL, &fault);
	if (interface->features & HV_ACCESS_FREQUENCY_MSRS && paravirtual_read_msr(MSR_HV_TSC_FREQUENCY, guarded, &hz))
		set_tsc_rate(interface, hz, "Hyper-V's MSR 40000022h");
}

static void
read_xen_features(struct paravirtual_interface *interface)
{
	if (interface->leaf_max < interface->base + LEAF_TIME)
		return;
	struct hw_cpuid r = hw_cpuid(interface->base + LEAF_INTERFACE, 0);
	text_format(interface->version, sizeof(interface->version), "%u.%u", r.eax >> 16, r.eax & 0xffff);
	r = hw_cpuid(interface->base + LEAF_TIME, 0);
	interface->features = r.ebx;
	text_format(interface->offers, sizeof(interface->offers), "pvclock, TSC mode %u (%s)", r.ebx,
		    r.ebx == XEN_TSC_NEVER_EMULATED ? "never emulated" :
		    r.eax & XEN_TSC_EMULATED ? "emulated" : "not emulated now");
	set_tsc_rate(interface, (uint64_t)r.ecx * HZ_PER_KHZ, "Xen's CPUID leaf of the TSC");
}

static bool
has_signature(const struct hw_cpuid *r, const char signature[13])
{
	const uint32_t words[] = { r->ebx, r->ecx, r->edx };
	bool same = true;

	for (unsigned i = 0; i < 12; i++)
		same &= (char)(words[i / 4] >> 8 * (i % 4)) == signature[i];
	return same;
}

static void
read_interface(uint32_t base, fault_guard *guarded, struct paravirtual *paravirtual)
{
	struct hw_cpuid r = hw_cpuid(base, 0);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && paravirtual->count < PARAVIRTUAL_MAX; i++) {
		struct paravirtual_interface *interface = &paravirtual->interfaces[paravirtual->count];

		if (!has_signature(&r, known[i].signature))
			continue;
		*interface = (struct paravirtual_interface){ .kind = known[i].kind, .name = known[i].name, .base = base,
							     .leaf_max = r.eax, .tsc_by = "" };
		/* KVM reported 0 as the maximum leaf before Linux 2.6.35 (cpuid.rst). */
		if (!interface->leaf_max && interface->kind == PARAVIRTUAL_KVM)
			interface->leaf_max = base + LEAF_INTERFACE;
		switch (interface->kind) {
		case PARAVIRTUAL_KVM: read_kvm_features(interface); break;
		case PARAVIRTUAL_HYPERV: read_hyperv_features(interface, guarded); break;
		case PARAVIRTUAL_XEN: read_xen_features(interface); break;
		default: read_khz_leaf(interface);
		}
		paravirtual->count++;
	}
}

void
paravirtual_read_interfaces(const struct cpu_facts *facts, fault_guard *guarded, struct paravirtual *paravirtual)
{
	*paravirtual = (struct paravirtual){ .count = 0 };
	/*
	 * Searches the leaves in every guest, except under QEMU's TCG. facts->hypervisor is "unknown" if the
	 * hypervisor reports no name, or if only other signs show a guest.
	 */
	for (uint32_t base = LEAF_HYPERVISOR_MAX; base < BASE_END && facts->hypervisor[0] &&
	     !text_equal(facts->hypervisor, "TCGTCGTCGTCG"); base += BASE_STEP)
		read_interface(base, guarded, paravirtual);
}
