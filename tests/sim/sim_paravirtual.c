/* The paravirtual clocks of the simulated machine. See sim_paravirtual.h. */
#include "sim_paravirtual.h"

#include <string.h>

#include "paravirtual/leaves.h"
#include "sim_internal.h"
#include "sim_sources.h"

#define PS_PER_TICK    100000u /* unit of Hyper-V's reference time */
#define PPM            1000000
#define GUEST          (UINT32_C(1) << 31)

struct sim_paravirtual sim_paravirtual;

/* Returns the TSC's rate in Hz as the hypervisors' pages give it. It is too low by fast_ppm. */
static uint64_t
get_tsc_hz_by_clock_pages(void)
{
	uint64_t hz = sim.tsc.counter.hz.num / sim.tsc.counter.hz.den;

	return hz - (uint64_t)((int64_t)(hz / PPM) * sim_paravirtual.fast_ppm);
}

/* Sets the rate in KVM's page: a 32-bit multiplier whose top bit is set, and a shift. */
static void
set_pvclock_rate(struct pvclock *page)
{
	/* times 2^64 */
	unsigned __int128 multiplier = ((unsigned __int128)1000000000 << 64) / get_tsc_hz_by_clock_pages();
	int shift = 32;

	while (multiplier >> 64)
		multiplier >>= 1, shift++;
	while (!(multiplier >> 63))
		multiplier <<= 1, shift--;
	page->tsc_to_system_mul = (uint32_t)(multiplier >> 32);
	page->tsc_shift = (int8_t)(shift - 32);
}

static void
write_pvclock(uint64_t address)
{
	struct pvclock *page = (struct pvclock *)(uintptr_t)address;

	if (sim_paravirtual.empty)
		return;
	set_pvclock_rate(page);
	page->tsc_timestamp = sim_get_tsc_ticks();
	page->system_time = sim.now_ps / SIM_PS_PER_NS + (uint64_t)sim_paravirtual.page_lead_ns[sim.core];
	page->flags = sim_paravirtual.not_stable ? 0 : PVCLOCK_TSC_STABLE;
	page->version += sim_paravirtual.odd ? 1 : 2;
}

static void
write_hyperv_page(uint64_t value)
{
	struct hv_tsc_page *page = (struct hv_tsc_page *)(uintptr_t)(value & ~UINT64_C(0xfff));

	if (!(value & 1))
		return;
	page->scale = (uint64_t)(((unsigned __int128)10000000 << 64) / get_tsc_hz_by_clock_pages());
	page->offset = (int64_t)(sim.now_ps / PS_PER_TICK) -
		       (int64_t)((unsigned __int128)sim_get_tsc_ticks() * page->scale >> 64);
	page->sequence = sim_paravirtual.no_sequence ? 0 : 1;
}

static void
update_all_pvclocks(void)
{
	for (size_t i = 0; i < 2 * (SIM_PARAVIRTUAL_PAGES - 1); i++) {
		struct pvclock *page = (struct pvclock *)(sim_paravirtual.memory + i * PAGES_SIZE / 2);

		page->version += 2;
		page->system_time += (uint64_t)sim_paravirtual.update_ns;
	}
}

/* Returns the page that the running core registered, or NULL. A core reads only its own page. */
static struct pvclock *
find_pvclock_of_core(void)
{
	uint64_t kvm = sim_paravirtual.kvm_msrs[sim.core] & ~UINT64_C(1);

	return (struct pvclock *)(uintptr_t)(kvm ? kvm : sim_paravirtual.xen_areas[sim.core]);
}

/* Updates the running core's counter of stolen time, if KVM knows its address. */
static void
write_steal_area(void)
{
	uint64_t msr = sim_paravirtual.kvm_steal_msrs[sim.core], *area = (uint64_t *)(uintptr_t)(msr & ~UINT64_C(63));

	if (!(msr & 1) || sim_paravirtual.steal_silent)
		return;
	area[0] = sim_paravirtual.stolen_ps[sim.core] / SIM_PS_PER_NS;
	((uint32_t *)area)[2] += 2;
}

void
sim_paravirtual_add_stolen_time(uint64_t ps)
{
	sim_paravirtual.stolen_ps[sim.core] += ps / 100 * sim_paravirtual.steal_percent;
	if (sim_paravirtual.kvm_steal_msrs[sim.core] & 1 && ps >= sim_paravirtual.steal_long_ps)
		sim_paravirtual.stolen_long_ps += ps;
	write_steal_area();
}

static void
steal_time(void)
{
	if (sim.now_ps < sim_paravirtual.steal_at_ps)
		return;
	sim.now_ps += sim_paravirtual.steal_ps;
	sim_paravirtual.steal_at_ps = sim.now_ps + sim_paravirtual.steal_every_ps;
	sim_paravirtual_add_stolen_time(sim_paravirtual.steal_ps);
}

/* Called after each access: updates the pages to the present time. */
static void
update_clock_pages(enum sim_access access, uint64_t where)
{
	steal_time();
	if (sim.now_ps >= sim_paravirtual.paused_at_ps) {
		sim_paravirtual.paused_at_ps = SIM_NEVER;
		sim.now_ps += sim_paravirtual.paused_ps;
		sim_paravirtual.msr_ahead_ticks -= (int64_t)(sim_paravirtual.paused_ps / PS_PER_TICK);
	}
	if (access == SIM_TSC_LFENCE && sim_paravirtual.updates) {
		sim_paravirtual.updates--;
		update_all_pvclocks();
	}
	if (sim.now_ps >= sim_paravirtual.odd_at_ps && find_pvclock_of_core())
		find_pvclock_of_core()->version |= 1;
	if (sim.now_ps >= sim_paravirtual.no_sequence_at_ps)
		((struct hv_tsc_page *)(sim_paravirtual.memory + (SIM_PARAVIRTUAL_PAGES - 1) * PAGES_SIZE))->sequence =
			sim.now_ps >= sim_paravirtual.sequence_again_at_ps;
	if (sim.now_ps >= sim_paravirtual.torn_at_ps)
		((struct hv_tsc_page *)(sim_paravirtual.memory + (SIM_PARAVIRTUAL_PAGES - 1) * PAGES_SIZE))->sequence++;
}

static bool
read_msr(uint32_t msr, uint64_t *value)
{
	if (msr == MSR_KVM_SYSTEM_TIME_NEW || msr == MSR_KVM_SYSTEM_TIME)
		*value = sim_paravirtual.kvm_msrs[sim.core];
	else if (msr == MSR_KVM_STEAL_TIME)
		*value = sim_paravirtual.kvm_steal_msrs[sim.core];
	else if (msr == MSR_HV_TIMER_CONFIG || msr == MSR_HV_TIMER_COUNT)
		*value = sim_interrupts_read_hv_timer_msr(msr == MSR_HV_TIMER_COUNT);
	else if (msr == MSR_HV_REFERENCE)
		*value = sim.now_ps / PS_PER_TICK + (uint64_t)sim_paravirtual.msr_ahead_ticks;
	else
		return false;
	return true;
}

static bool
write_msr(uint32_t msr, uint64_t value)
{
	sim_paravirtual.writes++;
	if (msr == MSR_HV_REFERENCE_TSC)
		write_hyperv_page(value);
	if (msr == MSR_HV_TIMER_CONFIG || msr == MSR_HV_TIMER_COUNT) {
		sim_interrupts_write_hv_timer_msr(msr == MSR_HV_TIMER_COUNT, value);
		return true;
	}
	if (msr == MSR_KVM_STEAL_TIME) {
		sim_paravirtual.kvm_steal_msrs[sim.core] = value;
		write_steal_area();
		return true;
	}
	if (msr != MSR_KVM_SYSTEM_TIME_NEW && msr != MSR_KVM_SYSTEM_TIME)
		return false;
	if (!sim_paravirtual.keeps_msr || !sim_paravirtual.kvm_msrs[sim.core])
		sim_paravirtual.kvm_msrs[sim.core] = value;
	if (value & 1)
		write_pvclock(value & ~UINT64_C(1));
	return true;
}

/* Handles Xen's hypercall XENVER_get_features (xen/include/public). */
static int64_t
handle_features_hypercall(uint64_t address)
{
	uint32_t *asked = (uint32_t *)(uintptr_t)address;

	asked[1] = asked[0] == 0 && !sim_paravirtual.no_safe_pvclock ? 1u << 9 : 0;
	return 0;
}

/* Handles Xen's hypercall VCPUOP_register_vcpu_time_memory_area. */
static int64_t
handle_time_area_hypercall(uint64_t vcpu, uint64_t argument)
{
	uint64_t address = *(uint64_t *)(uintptr_t)argument;

	sim_paravirtual.writes++;
	if (vcpu != sim.core)
		return -2; /* ENOENT */
	if (sim_paravirtual.xen_error && sim.core >= sim_paravirtual.xen_error_core)
		return -sim_paravirtual.xen_error;
	if (!address && sim_paravirtual.keeps_msr)
		return -22; /* EINVAL */
	sim_paravirtual.xen_areas[vcpu] = address;
	if (address)
		write_pvclock(address);
	return 0;
}

/* Handles Xen's hypercall VCPUOP_get_runstate_info. */
static int64_t
handle_runstate_hypercall(uint64_t vcpu, uint64_t address)
{
	uint64_t *state = (uint64_t *)(uintptr_t)address;

	if (vcpu != sim.core)
		return -2; /* ENOENT */
	if (sim_paravirtual.xen_error)
		return -sim_paravirtual.xen_error;
	state[0] = state[1] = state[2] = state[4] = 0;
	state[3] = state[5] = sim_paravirtual.stolen_ps[vcpu] / SIM_PS_PER_NS / 2;
	return 0;
}

/*
 * Offsets of fields in Xen's shared page: xen/include/public/xen.h, struct shared_info. The page's first 64 bytes
 * belong to vCPU 0.
 */
#define EVENT_WORDS  8u
#define VCPU_TIME    32u
#define PENDING      2048u
#define MASKED       2560u
#define TIMER_PORT   5u
#define SHARED_VCPUS 32u

static uint64_t *
get_xen_shared_field(uint64_t offset)
{
	return (uint64_t *)(uintptr_t)(sim_paravirtual.xen_shared + offset);
}

/* Handles Xen's hypercalls XENMEM_add_to_physmap for the shared page, and XENMEM_remove_from_physmap. */
static int64_t
handle_memory_hypercall(uint64_t operation, uint64_t argument)
{
	const uint64_t *asked = (const uint64_t *)(uintptr_t)argument;
	uint64_t address = asked[operation == 7 ? 2 : 1] * PAGES_SIZE;

	sim_paravirtual.writes++;
	if (!address || address != sim.unused_page)
		return -22; /* EINVAL */
	if (operation == 15 && !sim_paravirtual.xen_shared)
		return -2; /* ENOENT */
	sim_paravirtual.xen_shared = operation == 7 ? address : 0;
	for (size_t i = 0; i < SHARED_VCPUS && sim_paravirtual.xen_shared; i++)
		write_pvclock(address + i * 64 + VCPU_TIME);
	return 0;
}

/* Handles Xen's hypercalls EVTCHNOP_bind_virq for VIRQ_TIMER, and EVTCHNOP_close. */
static int64_t
handle_event_hypercall(uint64_t operation, uint64_t argument)
{
	uint32_t *event = (uint32_t *)(uintptr_t)argument;

	if (operation == 1 && (sim_paravirtual.no_events || sim_paravirtual.xen_port || event[0]))
		return -17; /* EEXIST */
	if (operation == 3 && event[0] != sim_paravirtual.xen_port)
		return -22; /* EINVAL */
	sim_paravirtual.xen_port = operation == 3 ? 0 : sim_paravirtual.high_port ? 64 : TIMER_PORT;
	if (operation == 1)
		event[2] = sim_paravirtual.xen_port;
	return 0;
}

/* Handles Xen's hypercalls HVMOP_set_param and HVMOP_get_param for parameter 0. */
static int64_t
handle_parameter_hypercall(uint64_t operation, uint64_t argument)
{
	uint64_t *param = (uint64_t *)(uintptr_t)argument;

	if (operation == 0)
		sim_paravirtual.xen_callback = param[1];
	else
		param[1] = sim_paravirtual.xen_callback;
	return 0;
}

/* Handles Xen's hypercalls VCPUOP_set_singleshot_timer and VCPUOP_stop_singleshot_timer. */
static int64_t
handle_timer_hypercall(uint64_t operation, uint64_t vcpu, uint64_t argument)
{
	if (vcpu != sim.core)
		return -22; /* EINVAL */
	sim_source_disarm(SIM_XEN_TIMER);
	if (operation == 8)
		sim_source_arm(SIM_XEN_TIMER, *(const uint64_t *)(uintptr_t)argument, 0);
	return 0;
}

uint32_t
sim_paravirtual_get_event_vector(void)
{
	uint64_t bit = UINT64_C(1) << TIMER_PORT;

	if (!sim_paravirtual.xen_shared || !sim_paravirtual.xen_port || sim_paravirtual.xen_callback >> 56 != 2 ||
	    *get_xen_shared_field(PENDING) & bit || *get_xen_shared_field(MASKED) & bit ||
	    *(const uint8_t *)get_xen_shared_field(0))
		return 0;
	return sim_paravirtual.xen_callback & 0xff;
}

void
sim_paravirtual_raise_timer_event(void)
{
	*get_xen_shared_field(PENDING) |= UINT64_C(1) << TIMER_PORT;
	*get_xen_shared_field(EVENT_WORDS) |= 1;
	*(uint8_t *)get_xen_shared_field(0) = 1;
}

static int64_t
handle_hypercall(uint64_t number, uint64_t first, uint64_t second, uint64_t third)
{
	if (number == 17 && first == 6)
		return handle_features_hypercall(second);
	if (number == 24 && first == 13)
		return handle_time_area_hypercall(second, third);
	if (number == 24 && first == 4)
		return handle_runstate_hypercall(second, third);
	if (number == 24 && (first == 8 || first == 9))
		return handle_timer_hypercall(first, second, third);
	if (number == 12 && (first == 7 || first == 15))
		return handle_memory_hypercall(first, second);
	if (number == 32 && (first == 1 || first == 3))
		return handle_event_hypercall(first, second);
	if (number == 34 && first <= 1)
		return handle_parameter_hypercall(first, second);
	return -38; /* ENOSYS */
}

static uint32_t
pack_4_characters(const char *text)
{
	uint32_t value;

	memcpy(&value, text, sizeof(value));
	return value;
}

static void
set_cpuid_interface(uint32_t base, const char *name, uint32_t max)
{
	sim_cpuid_set(base, 0, (struct hw_cpuid){ max, pack_4_characters(name), pack_4_characters(name + 4),
						 pack_4_characters(name + 8) });
}

static void
make_guest(void)
{
	static uint8_t memory[SIM_PARAVIRTUAL_PAGES * PAGES_SIZE] __attribute__((aligned(PAGES_SIZE)));

	memset(memory, 0, sizeof(memory));
	sim_paravirtual = (struct sim_paravirtual){ .memory = memory, .odd_at_ps = SIM_NEVER,
						    .no_sequence_at_ps = SIM_NEVER, .sequence_again_at_ps = SIM_NEVER,
						    .torn_at_ps = SIM_NEVER, .paused_at_ps = SIM_NEVER,
						    .steal_at_ps = SIM_NEVER, .steal_percent = 100 };
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0x000906ea, 0, GUEST, 0x00000210 });
	sim.read_msr = read_msr;
	sim.write_msr = write_msr;
	sim.spent = update_clock_pages;
	sim.pages = (struct pages){ memory, SIM_PARAVIRTUAL_PAGES };
}

static void
add_hyperv_interface(void)
{
	set_cpuid_interface(0x40000000, "Microsoft Hv", 0x40000005);
	sim_cpuid_set(0x40000001, 0, (struct hw_cpuid){ 0x31237648, 0, 0, 0 });
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ HV_ACCESS_REFERENCE_COUNTER | HV_ACCESS_REFERENCE_TSC |
							HV_ACCESS_HYPERCALL_MSRS, 0, 0, 0 });
	sim_msr_set(MSR_HV_GUEST_OS_ID, 0);
	sim_msr_set(MSR_HV_REFERENCE_TSC, 0);
}

void
sim_paravirtual_make_kvm_guest(bool hyperv)
{
	uint32_t base = hyperv ? 0x40000100 : 0x40000000;

	make_guest();
	set_cpuid_interface(base, "KVMKVMKVM\0\0\0", base + 1);
	sim_cpuid_set(base + 1, 0, (struct hw_cpuid){ KVM_CLOCKSOURCE2 | KVM_CLOCKSOURCE_STABLE, 0, 0, 0 });
	if (hyperv)
		add_hyperv_interface();
}

void
sim_paravirtual_make_xen_guest(bool hyperv)
{
	uint32_t base = hyperv ? 0x40000100 : 0x40000000;

	make_guest();
	set_cpuid_interface(base, "XenVMMXenVMM", base + 4);
	sim_cpuid_set(base + 1, 0, (struct hw_cpuid){ 4 << 16 | 17, 0, 0, 0 });
	sim_cpuid_set(base + 3, 0, (struct hw_cpuid){ 0, XEN_TSC_NEVER_EMULATED, 1000000, 0 });
	sim_cpuid_set(base + 4, 0, (struct hw_cpuid){ XEN_VCPU_ID_PRESENT, 0, 0, 0 });
	sim.hypercall = handle_hypercall;
	if (hyperv)
		add_hyperv_interface();
}

void
sim_paravirtual_offer_xen_events(void)
{
	static uint8_t shared[PAGES_SIZE] __attribute__((aligned(PAGES_SIZE)));

	memset(shared, 0, sizeof(shared));
	sim.unused_page = (uintptr_t)shared;
}

void
sim_paravirtual_offer_stolen_time(void)
{
	uint32_t base = hw_cpuid(0x40000000, 0).eax == 0x40000005 ? 0x40000100 : 0x40000000;

	sim_cpuid_set(base + 1, 0, (struct hw_cpuid){ KVM_CLOCKSOURCE2 | KVM_CLOCKSOURCE_STABLE | KVM_STEAL_TIME, 0, 0, 0 });
}

void
sim_paravirtual_set_stopped_flag(void)
{
	if (sim_paravirtual.kvm_msrs[0] & 1)
		((struct pvclock *)(uintptr_t)(sim_paravirtual.kvm_msrs[0] - 1))->flags |= PVCLOCK_GUEST_STOPPED;
}

static uint64_t
read_vmclock(uint64_t address, unsigned width_bytes)
{
	switch (address - SIM_VMCLOCK_BASE) {
	case 0:
		return sim_paravirtual.vmclock_empty ? 0 : 0x4b4c4356 | (width_bytes == 8 ? UINT64_C(4096) << 32 : 0);
	case 8:
		return sim_paravirtual.vmclock_counter << 16 | 1;
	case 12:
		return sim_paravirtual.vmclock_sequence;
	case 16:
		return sim_paravirtual.vmclock_marker;
	case 24:
		return sim_paravirtual.vmclock_max_error ? 1 << 4 : 0;
	case 36:
		return 20u << 24;
	case 48:
		if (!sim_paravirtual.vmclock_updates)
			return sim_paravirtual.vmclock_period;
		sim_paravirtual.vmclock_updates--;
		sim_paravirtual.vmclock_sequence += 2;
		return sim_paravirtual.vmclock_period / 2;
	case 64:
		return sim_paravirtual.vmclock_max_error;
	default:
		return 0;
	}
}

void
sim_paravirtual_add_vmclock(void)
{
	sim_map_region((struct sim_region){ SIM_VMCLOCK_BASE, 4096, read_vmclock, NULL });
}

void
sim_paravirtual_offer_timers(void)
{
	sim_cpuid_set(0x40000003, 0, (struct hw_cpuid){ HV_ACCESS_REFERENCE_COUNTER | HV_ACCESS_REFERENCE_TSC |
							HV_ACCESS_HYPERCALL_MSRS | HV_ACCESS_TIMERS, 0, 0,
							HV_DIRECT_TIMERS_AVAILABLE });
}

bool
sim_paravirtual_are_settings_restored(void)
{
	if (sim.interrupts.hv_config || sim.interrupts.hv_count || sim_paravirtual.xen_shared || sim_paravirtual.xen_port ||
	    sim_paravirtual.xen_callback)
		return false;
	for (size_t i = 0; i < SIM_CORES_MAX; i++)
		if (sim_paravirtual.kvm_msrs[i] || sim_paravirtual.kvm_steal_msrs[i] || sim_paravirtual.xen_areas[i])
			return false;
	for (size_t i = 0; i < sim.msr_count; i++)
		if ((sim.msrs[i].msr == MSR_HV_GUEST_OS_ID || sim.msrs[i].msr == MSR_HV_REFERENCE_TSC) && sim.msrs[i].value)
			return false;
	return true;
}
