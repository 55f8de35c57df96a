/* World time of the simulated machine, and the functions of drivers/hw/hw.h that access this machine. See sim.h. */
#include "sim_internal.h"
#include "sim_sleep.h"
#include "sim_sources.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RFLAGS_IF   (UINT64_C(1) << 9)
#define RTC_B_PIE   0x40u
#define ACCESSES_MAX 50000000u
#define OUTSIDE_SLOW 5 /* factor of sim_slow_outside_timer_window() */
#define GIGAHERTZ    UINT64_C(1000000000)
#define PORT_PIC_MASTER 0x20
#define PORT_PIC_SLAVE  0xa0

struct sim sim;

void
sim_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("simulated machine: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs("\n", stderr);
	va_end(arguments);
	abort();
}

void *
sim_allocate_zeros(size_t alignment, size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (memory && (uintptr_t)memory % alignment) {
		free(memory);
		memory = aligned_alloc(alignment, bytes);
		if (memory)
			memset(memory, 0, bytes);
	}
	if (!memory)
		sim_fail("no memory of %zu bytes", bytes);
	return memory;
}

void
sim_reset(void)
{
	static const uint64_t cost_ns[SIM_ACCESSES] = {
		[SIM_TSC] = 10, [SIM_TSC_LFENCE] = 20, [SIM_TSC_MFENCE] = 20, [SIM_TSCP] = 25,
		[SIM_TSC_CPUID] = 110, [SIM_IN] = 500, [SIM_OUT] = 500, [SIM_READ] = 300,
		[SIM_WRITE] = 300, [SIM_MSR_READ] = 100, [SIM_MSR_WRITE] = 100, [SIM_HYPERCALL] = 1000, [SIM_CPUID] = 100,
		[SIM_PAUSE] = 40,
	};

	memset(&sim, 0, sizeof(sim));
	sim_sleep_reset();
	sim.accesses_max = ACCESSES_MAX;
	sim.preempt_seed = 1;
	for (size_t i = 0; i < SIM_ACCESSES; i++)
		sim.cost_ps[i] = cost_ns[i] * SIM_PS_PER_NS;
	sim.pic_mask[0] = sim.pic_mask[1] = 0xff;
	sim_counter_reset(&sim.tsc.counter, (struct rate){ GIGAHERTZ, 1 }, 64);
	sim_hpet_reset();
	sim_pm_reset();
	sim_pit_reset();
	sim_rtc_reset();
	sim_lapic_reset();
	sim_cpu_reset();
	sim_map_region((struct sim_region){ SIM_HPET_BASE, 4096, sim_hpet_read, sim_hpet_write });
	sim_map_region((struct sim_region){ SIM_LAPIC_BASE, 4096, sim_lapic_read, sim_lapic_write });
}

void
sim_slow_tsc_reads(uint64_t factor)
{
	for (size_t access = SIM_TSC; access <= SIM_TSC_CPUID; access++)
		sim.cost_ps[access] *= factor;
}

void
sim_slow_outside_timer_window(enum sim_access access, uint64_t where)
{
	if (!sim.interrupts.in_window)
		sim_advance_ps((OUTSIDE_SLOW - 1) * sim.cost_ps[access]);
}

void
sim_advance_ps(uint64_t ps)
{
	if (!sim.interrupts_masked && (sim.rtc.b & RTC_B_PIE))
		sim.rtc.exposed_ps += ps;
	sim.now_ps += ps;
}

/* Marsaglia, Xorshift RNGs (2003), with shifts by 13, 7 and 17. */
static uint64_t
draw_random(void)
{
	sim.preempt_seed ^= sim.preempt_seed << 13;
	sim.preempt_seed ^= sim.preempt_seed >> 7;
	sim.preempt_seed ^= sim.preempt_seed << 17;
	return sim.preempt_seed;
}

static void
spend_access_time(enum sim_access access, uint64_t where)
{
	if (sim.before_access)
		sim.before_access();
	sim.count[access]++;
	if (++sim.accesses > sim.accesses_max)
		sim_fail("%llu accesses: a loop without end", (unsigned long long)sim.accesses);
	sim_advance_ps(sim.cost_ps[access]);
	if (sim.preempt_every && draw_random() % sim.preempt_every == 0)
		sim_advance_ps(sim.preempt_ps);
	if (sim.hpet.tick_ps && !sim.interrupts_masked)
		sim_hpet_handle_tick();
	if (sim.spent)
		sim.spent(access, where);
	if (sim.interrupts.in_window)
		sim_interrupts_deliver_due();
}


void
sim_counter_reset(struct sim_counter *counter, struct rate hz, unsigned wrap_bits)
{
	*counter = (struct sim_counter){
		.hz = hz, .step_ticks = 1, .stuck_at_ps = SIM_NEVER, .backward_at_ps = SIM_NEVER,
		.wrap_bits = wrap_bits,
	};
}

uint64_t
sim_count_clock_cycles(uint64_t from_ps, uint64_t to_ps, struct rate hz)
{
	if (to_ps <= from_ps)
		return 0;
	/*
	 * Almost all calls have the TSC's usual rate of 1 GHz, which needs only a 64-bit division. This makes tests
	 * faster.
	 */
	if (hz.num == GIGAHERTZ && hz.den == 1)
		return (to_ps - from_ps) / (SIM_PS_PER_S / GIGAHERTZ);
	return (uint64_t)((unsigned __int128)(to_ps - from_ps) * hz.num /
			  ((unsigned __int128)hz.den * SIM_PS_PER_S));
}

static uint64_t
count_cycles_until(const struct sim_counter *counter, uint64_t until_ps)
{
	uint64_t cycles;

	if (!counter->source.den)
		return sim_count_clock_cycles(counter->origin_ps, until_ps, counter->hz);
	cycles = sim_count_clock_cycles(counter->origin_ps, until_ps, counter->source);
	return (uint64_t)((unsigned __int128)cycles * counter->hz.num * counter->source.den /
			  ((unsigned __int128)counter->hz.den * counter->source.num));
}

uint64_t
sim_counter_get_ticks(const struct sim_counter *counter)
{
	uint64_t until_ps = sim.now_ps < counter->stuck_at_ps ? sim.now_ps : counter->stuck_at_ps;
	uint64_t ticks = counter->origin_ticks + count_cycles_until(counter, until_ps);

	if (sim.now_ps >= counter->backward_at_ps)
		ticks -= counter->backward_ticks;
	if (counter->step_ticks != 1) /* saves a division in almost all calls */
		ticks -= ticks % counter->step_ticks;
	return counter->wrap_bits < 64 ? ticks & ((UINT64_C(1) << counter->wrap_bits) - 1) : ticks;
}

void
sim_counter_set(struct sim_counter *counter, uint64_t ticks)
{
	counter->origin_ticks = ticks;
	counter->origin_ps = sim.now_ps;
	if (sim.now_ps >= counter->backward_at_ps)
		/* TICKS already includes the step back, so the step must not be subtracted again */
		counter->backward_at_ps = SIM_NEVER;
}

void
sim_counter_speed_up(struct sim_counter *counter, int64_t ppm)
{
	uint64_t ticks = sim_counter_get_ticks(counter);

	if (counter->wrap_bits < 64)
		/* adds one wrap, because otherwise a later step back could give a value below 0 */
		ticks += UINT64_C(1) << counter->wrap_bits;
	sim_counter_set(counter, ticks);
	for (; counter->hz.num % 10 == 0 && counter->hz.den % 10 == 0; counter->hz.den /= 10)
		counter->hz.num /= 10;
	counter->hz.num *= (uint64_t)(100000 + ppm / 10);
	counter->hz.den *= 100000;
}

/* The hooks of ports, and the functions of hw.h that access ports. */

void
sim_hook_ports(struct sim_port_hook hook)
{
	if (sim.hook_count == SIM_HOOKS_MAX)
		sim_fail("no room for another port hook");
	sim.hooks[sim.hook_count++] = hook;
}

static const struct sim_port_hook *
find_port_hook(uint16_t port)
{
	for (size_t i = 0; i < sim.hook_count; i++)
		if (port >= sim.hooks[i].first && port <= sim.hooks[i].last)
			return &sim.hooks[i];
	return NULL;
}

static bool
is_pit_port(uint16_t port)
{
	return (port >= 0x40 && port <= 0x43) || port == 0x61;
}

static bool
is_rtc_port(uint16_t port)
{
	return port == 0x70 || port == 0x71 || port == 0x74 || port == 0x75;
}

uint8_t
hw_in8(uint16_t port)
{
	const struct sim_port_hook *hook = find_port_hook(port);

	spend_access_time(SIM_IN, port);
	if (hook)
		return hook->in ? (uint8_t)hook->in(hook->context, port, 1) : 0xff;
	if (is_pit_port(port))
		return sim_pit_in(port);
	if (is_rtc_port(port))
		return sim_rtc_in(port);
	if (port == PORT_PIC_MASTER + 1 || port == PORT_PIC_SLAVE + 1)
		return sim.pic_mask[port > PORT_PIC_SLAVE];
	return 0xff;
}

uint16_t
hw_in16(uint16_t port)
{
	const struct sim_port_hook *hook = find_port_hook(port);

	spend_access_time(SIM_IN, port);
	if (!hook && sim.interrupts.plugged)
		return sim_interrupts_read_pm1(port);
	return hook && hook->in ? (uint16_t)hook->in(hook->context, port, 2) : UINT16_MAX;
}

uint32_t
hw_in32(uint16_t port)
{
	const struct sim_port_hook *hook = find_port_hook(port);

	spend_access_time(SIM_IN, port);
	if (hook)
		return hook->in ? hook->in(hook->context, port, 4) : UINT32_MAX;
	return sim_pm_is_at(port, false) ? sim_pm_read() : UINT32_MAX;
}

void
hw_out8(uint16_t port, uint8_t value)
{
	const struct sim_port_hook *hook = find_port_hook(port);

	spend_access_time(SIM_OUT, port);
	if (hook && hook->out)
		hook->out(hook->context, port, value, 1);
	else if (is_pit_port(port))
		sim_pit_out(port, value);
	else if (is_rtc_port(port))
		sim_rtc_out(port, value);
	else if ((port & ~1u) == PORT_PIC_MASTER || (port & ~1u) == PORT_PIC_SLAVE)
		sim_pic_out(port, value);
}

void
hw_out16(uint16_t port, uint16_t value)
{
	const struct sim_port_hook *hook = find_port_hook(port);

	spend_access_time(SIM_OUT, port);
	if (hook && hook->out)
		hook->out(hook->context, port, value, 2);
	else if (!hook && sim.interrupts.plugged)
		sim_interrupts_write_pm1(port, value);
}

/* The regions of memory, and the functions of hw.h that access them. */

void
sim_map_region(struct sim_region region)
{
	if (sim.region_count == SIM_REGIONS_MAX)
		sim_fail("no room for another region");
	sim.regions[sim.region_count++] = region;
}

void
sim_unmap_region(uint64_t base)
{
	for (size_t i = 0; i < sim.region_count; i++)
		if (sim.regions[i].base == base)
			sim.regions[i] = sim.regions[--sim.region_count];
}

static const struct sim_region *
find_region(uint64_t address, uint64_t length)
{
	for (size_t i = 0; i < sim.region_count; i++) {
		const struct sim_region *region = &sim.regions[i];

		if (address >= region->base && length <= region->length &&
		    address - region->base <= region->length - length)
			return region;
	}
	return NULL;
}

static const struct sim_region *
find_accessed_region(uint64_t address, unsigned width_bytes)
{
	const struct sim_region *region = find_region(address, width_bytes);

	if (address % width_bytes)
		sim_fail("access of %u bytes at %llx is not aligned", width_bytes,
			 (unsigned long long)address);
	if (!region)
		sim_fail("page fault at %llx", (unsigned long long)address);
	return region;
}

static uint64_t
read_memory(uint64_t address, unsigned width_bytes)
{
	const struct sim_region *region = find_accessed_region(address, width_bytes);

	spend_access_time(SIM_READ, address);
	if (sim_pm_is_at(address, true))
		return sim_pm_read();
	return region->read ? region->read(address, width_bytes) : UINT64_MAX;
}

static void
write_memory(uint64_t address, uint64_t value, unsigned width_bytes)
{
	const struct sim_region *region = find_accessed_region(address, width_bytes);

	spend_access_time(SIM_WRITE, address);
	if (region->write)
		region->write(address, value, width_bytes);
}

uint32_t
hw_read32(uint64_t address)
{
	return (uint32_t)read_memory(address, 4);
}

uint64_t
hw_read64(uint64_t address)
{
	return read_memory(address, 8);
}

void
hw_write32(uint64_t address, uint32_t value)
{
	write_memory(address, value, 4);
}

bool
hw_is_mapped(uint64_t address, size_t length)
{
	return find_region(address, length) != NULL;
}


uint64_t
hw_msr_read(uint32_t msr)
{
	uint64_t value;

	spend_access_time(SIM_MSR_READ, 0);
	if (sim_lapic_msr_read(msr, &value) || sim_sleep_msr_read(msr, &value) || (sim.read_msr && sim.read_msr(msr, &value)))
		return value;
	return sim_msr_get(msr);
}

void
hw_msr_write(uint32_t msr, uint64_t value)
{
	spend_access_time(SIM_MSR_WRITE, 0);
	if (sim_lapic_msr_write(msr, value) || (sim.write_msr && sim.write_msr(msr, value)))
		return;
	(void)sim_msr_get(msr); /* ends the test if the machine has no MSR with this number */
	sim_msr_set(msr, value);
}

int64_t
hw_xen_hypercall(uint64_t number, uint64_t first, uint64_t second, uint64_t third)
{
	spend_access_time(SIM_HYPERCALL, 0);
	if (!sim.hypercall)
		sim_fail("#UD: there is no hypervisor");
	return sim.hypercall(number, first, second, third);
}

/*
 * Changes the CPUID values that differ between cores: the initial APIC id, which is the core's number, and Xen's vCPU
 * number.
 */
static struct hw_cpuid
adapt_cpuid_to_core(uint32_t leaf, struct hw_cpuid registers)
{
	if (leaf == 1)
		registers.ebx += (uint32_t)sim.core << 24;
	if (sim.hypercall && (leaf == 0x40000004 || leaf == 0x40000104))
		registers.ebx += (uint32_t)sim.core;
	return registers;
}

struct hw_cpuid
hw_cpuid(uint32_t leaf, uint32_t subleaf)
{
	const struct hw_cpuid nothing = { 0, 0, 0, 0 }, *highest = &nothing;
	uint32_t basic_max = 0;

	spend_access_time(SIM_CPUID, 0);
	if (leaf == 1 && sim.microcode)
		sim_msr_set(SIM_MSR_MICROCODE, (uint64_t)sim.microcode << 32);
	for (size_t i = 0; i < sim.cpuid_count; i++) {
		if (sim.cpuid[i].leaf == leaf && sim.cpuid[i].subleaf == subleaf)
			return adapt_cpuid_to_core(leaf, sim.cpuid[i].registers);
		if (sim.cpuid[i].leaf == 0)
			basic_max = sim.cpuid[i].registers.eax;
	}
	/* Intel SDM vol. 2A, CPUID: for a leaf above the maximum, an Intel CPU returns the highest basic leaf. */
	for (size_t i = 0; i < sim.cpuid_count; i++)
		if (leaf < 0x40000000 && leaf > basic_max && sim.cpuid[i].leaf == basic_max)
			highest = &sim.cpuid[i].registers;
	return *highest;
}

uint64_t
sim_get_tsc_ticks(void)
{
	if (sim.tsc.reading)
		return sim.tsc.reading(sim.core);
	return sim_counter_get_ticks(&sim.tsc.counter) + (uint64_t)sim.tsc.offset_ticks[sim.core];
}

uint64_t
sim_apply_tsc_fault(size_t core, uint64_t ticks)
{
	struct sim_tsc *tsc = &sim.tsc;

	if (!tsc->fault_reads || core != tsc->fault_core)
		return ticks;
	ticks -= tsc->set_back_sum;
	if (++tsc->fault_core_reads % tsc->fault_reads)
		return ticks;
	tsc->set_back_sum += tsc->set_back_ticks;
	return ticks + tsc->ahead_ticks;
}

static uint64_t
read_tsc(enum sim_access access)
{
	spend_access_time(access, 0);
	sim_advance_ps(sim.tsc.counter.extra_ps);
	return sim_apply_tsc_fault(sim.core, sim_get_tsc_ticks());
}

uint64_t
hw_tsc(void)
{
	return read_tsc(SIM_TSC);
}

uint64_t
hw_tsc_lfence(void)
{
	return read_tsc(SIM_TSC_LFENCE);
}

uint64_t
hw_tsc_mfence(void)
{
	return read_tsc(SIM_TSC_MFENCE);
}

uint64_t
hw_tscp(void)
{
	return read_tsc(SIM_TSCP);
}

uint64_t
hw_tsc_cpuid(void)
{
	return read_tsc(SIM_TSC_CPUID);
}

void
hw_pause(void)
{
	spend_access_time(SIM_PAUSE, 0);
}

void
hw_halt(void)
{
	sim.slept = SLEEP_BY_HLT;
}

void
hw_monitor_and_mwait(const void *line, uint32_t hint)
{
	sim.slept = hint;
}

void
hw_sleep_by_port(uint16_t port)
{
	sim.slept = SLEEP_BY_PORT | port;
}

uint64_t
hw_interrupts_mask(void)
{
	uint64_t flags = sim.interrupts_masked ? 0 : RFLAGS_IF;

	if (flags)
		sim.masked_since_ps = sim.now_ps;
	sim.interrupts_masked = true;
	sim.masked_times++;
	return flags;
}

void
hw_interrupts_restore(uint64_t saved)
{
	if (!(saved & RFLAGS_IF))
		return;
	if (sim.interrupts_masked && sim.now_ps - sim.masked_since_ps > sim.masked_longest_ps)
		sim.masked_longest_ps = sim.now_ps - sim.masked_since_ps;
	sim.interrupts_masked = false;
}
