/*
 * Draws at random the properties of a machine's clocks: oscillators, rates, nominal rates, and the cost of a reading.
 * See draw_machine.h.
 */
#include "draw_machine.h"

#include <math.h>

#include "draw.h"

#define MHZ       1000000
/* rate of the PIT, a third of the PM timer's rate; both use a crystal of 14.31818 MHz */
#define PIT_HZ    (105e6L / 88)
#define PS_PER_NS 1000
#define SOURCES   CLOCKS

static int64_t deviation_ppb[SOURCES]; /* rate error of each oscillator in ppb */

static const struct rate pit_claim = { 105000000, 88 }, pm_claim = { 3579545, 1 }, rtc_claim = { 1, 1 };

/* Draws which clocks share an oscillator. */
static void
draw_clock_sources(void)
{
	static const unsigned patterns[][CLOCKS] = {
		{ 0, 1, 2, 3, 4 }, /* each clock has its own oscillator */
		{ 0, 1, 1, 1, 4 }, /* the chip set's three clocks share one oscillator */
		{ 0, 0, 2, 2, 4 }, /* the HPET shares the TSC's oscillator */
		{ 0, 1, 1, 1, 1 }, /* all devices follow a hypervisor's time */
		{ 0, 0, 0, 0, 4 }, /* microcode derives all clocks except the RTC from the TSC's crystal */
	};
	size_t pattern = draw_chance(40) ? 0 : draw_below(sizeof(patterns) / sizeof(patterns[0]));

	for (int i = 0; i < CLOCKS; i++)
		machine.source[i] = patterns[pattern][i];
}

void
draw_independent_sources(void)
{
	for (int i = 0; i < CLOCKS; i++)
		machine.source[i] = (unsigned)i;
}

static void
draw_rate_deviations(void)
{
	for (unsigned i = 0; i < SOURCES; i++) {
		int64_t most = draw_between(20, 50) * PPM;

		deviation_ppb[i] = draw_between(-most, most);
	}
}

/* Sets the CPUID leaves for a TSC of 25 MHz * RATIO / 2. Leaf 15h has a crystal of 25 MHz. */
static void
set_tsc_leaves(uint32_t ratio, unsigned how)
{
	uint64_t hz = (uint64_t)25 * MHZ * ratio / 2;
	uint32_t leaf_max = 0x16, mhz = 0, khz = (uint32_t)(hz / 1000);
	struct hw_cpuid crystal = { 0, 0, 0, 0 };

	machine.claimed[TSC] = (struct rate){ hz, 1 };
	machine.within_hz = 0;
	switch (how) {
	case CLAIM_RIGHT:
		crystal = (struct hw_cpuid){ 2, ratio, 25 * MHZ, 0 };
		break;
	case CLAIM_ROUNDED:
		mhz = (uint32_t)((hz / MHZ + 50) / 100 * 100);
		machine.claimed[TSC].num = (uint64_t)mhz * MHZ;
		machine.within_hz = 50 * MHZ;
		break;
	case CLAIM_HYPERVISOR:
		machine.within_hz = 1000;
		break;
	default:
		leaf_max = 0xd;
		machine.claimed[TSC] = (struct rate){ 0, 0 };
	}
	sim_cpuid_set(0, 0, (struct hw_cpuid){ leaf_max, 0x756e6547, 0x6c65746e, 0x49656e69 });
	sim_cpuid_set(0x15, 0, crystal);
	sim_cpuid_set(0x16, 0, (struct hw_cpuid){ mhz, mhz, 100, 0 });
	if (!machine.is_guest)
		return;
	sim_cpuid_set(1, 0, (struct hw_cpuid){ 0x000906ea, 0, 0x80200000, 0x00000210 });
	sim_cpuid_set(0x40000000, 0, (struct hw_cpuid){ 0x40000010, 0x4b4d564b, 0x564b4d56, 0x4d }); /* KVMKVMKVM */
	sim_cpuid_set(0x40000010, 0, (struct hw_cpuid){ how == CLAIM_HYPERVISOR ? khz : 0, 0, 0, 0 });
}

void
draw_tsc_claim(enum tsc_claim how)
{
	/* The TSC's rate is RATIO / 2 times the rate of a crystal of 25 MHz: 1 to 5 GHz. */
	uint32_t ratio = (uint32_t)draw_between(80, 400);

	set_tsc_leaves(ratio, how);
	machine.hz[TSC] = 25.0L * MHZ * ratio / 2;
}

static void
add_leaf(const char *by, struct rate hz, uint64_t within_hz, bool is_wrong)
{
	machine.leaves[machine.leaf_count++] = (struct leaf){ by, hz, within_hz, is_wrong };
}

/*
 * Returns the factor between a wrong leaf's rate and the true rate, in millionths. The leaf is off by 500 to 300,000
 * ppm, or is 1.5 to 8 times too high or too low. A host that scales the guest's TSC but passes its own leaf on causes
 * such factors.
 */
static uint64_t
draw_wrong_factor(void)
{
	if (draw_chance(25))
		return draw_chance(50) ? draw_log_uniform(1500000, 8000000) : draw_log_uniform(125000, 670000);
	return (uint64_t)(1000000 + draw_signed(draw_log_uniform(500, 300000)));
}

void
draw_cpuid_leaves(void)
{
	enum { LEAF_15, LEAF_16, LEAF_KHZ, LEAVES };
	uint32_t ratio = (uint32_t)draw_between(80, 400), khz, mhz;
	uint64_t hz = (uint64_t)25 * MHZ * ratio / 2, factor[LEAVES] = { 1000000, 1000000, 1000000 };
	bool has[LEAVES] = { draw_chance(70), draw_chance(70), machine.is_guest && draw_chance(70) };
	unsigned wrong = (unsigned)draw_below(LEAVES + 1);

	if (wrong < LEAVES && has[wrong])
		factor[wrong] = draw_wrong_factor();
	if (wrong == LEAF_16 && factor[LEAF_16] > 850000 && factor[LEAF_16] < 1200000)
		/* factor in millionths; a smaller error could be hidden by the leaf's rounding */
		factor[LEAF_16] = 1200000;
	set_tsc_leaves(ratio, CLAIM_ABSENT);
	machine.hz[TSC] = 25.0L * MHZ * ratio / 2;
	machine.leaf_count = 0;
	sim_cpuid_set(0, 0, (struct hw_cpuid){ 0x16, 0x756e6547, 0x6c65746e, 0x49656e69 });
	if (has[LEAF_KHZ]) {
		khz = (uint32_t)(hz / 1000 * factor[LEAF_KHZ] / 1000000);
		sim_cpuid_set(0x40000010, 0, (struct hw_cpuid){ khz, 0, 0, 0 });
		add_leaf("CPUID 40000010h EAX", (struct rate){ khz * UINT64_C(1000), 1 }, 1000, wrong == LEAF_KHZ);
	}
	if (has[LEAF_15]) {
		uint32_t ebx = (uint32_t)(ratio * factor[LEAF_15]);

		sim_cpuid_set(0x15, 0, (struct hw_cpuid){ 2000000, ebx, 25 * MHZ, 0 });
		add_leaf("CPUID 15h", (struct rate){ (uint64_t)25 * MHZ * ebx, 2000000 }, 0, wrong == LEAF_15);
	}
	if (has[LEAF_16]) {
		mhz = (uint32_t)((hz / MHZ * factor[LEAF_16] / 1000000 + 50) / 100 * 100);
		mhz = mhz > UINT16_MAX ? 60000 : mhz;
		sim_cpuid_set(0x16, 0, (struct hw_cpuid){ mhz, mhz, 100, 0 });
		add_leaf("CPUID 16h", (struct rate){ (uint64_t)mhz * MHZ, 1 }, 50 * MHZ, wrong == LEAF_16);
	}
}

static enum tsc_claim
draw_claim_kind(void)
{
	if (machine.is_guest && draw_chance(40))
		return CLAIM_HYPERVISOR;
	return draw_chance(50) ? CLAIM_RIGHT : draw_chance(50) ? CLAIM_ROUNDED : CLAIM_ABSENT;
}

/*
 * Draws the true and the nominal rate of the HPET. A shared oscillator limits the choice, and the period register
 * rounds the nominal rate.
 */
static void
draw_hpet(void)
{
	static const struct rate usual[] = {
		{ 315000000, 22 }, { 14318180, 1 }, { 24 * MHZ, 1 }, { 25 * MHZ, 1 }, { 10 * MHZ, 1 }, { 62500000, 1 },
	};
	size_t which = draw_below(sizeof(usual) / sizeof(usual[0]));

	machine.claimed[HPET] = usual[which];
	machine.hz[HPET] = (long double)usual[which].num / usual[which].den;
}

/*
 * Draws counters that advance by several ticks at once. A counter that is calculated from another one advances by
 * uneven steps.
 */
static void
draw_counter_steps(void)
{
	if (draw_chance(50))
		machine.step_1024 = 1024 * (uint64_t)draw_between(1, 36);
	else if (draw_chance(30))
		machine.step_1024 = (uint64_t)draw_between(1025, 36 * 1024);
	if (draw_chance(15))
		sim.hpet.counter.step_ticks = (uint64_t)draw_between(2, 16);
	else if (draw_chance(15))
		sim.hpet.counter.source = (struct rate){ draw_log_uniform(500000, 100 * MHZ), 1 };
	if (draw_chance(10))
		sim.pm.counter.source = (struct rate){ draw_log_uniform(500000, 100 * MHZ), 1 };
}

/* Draws the duration of an access to each device, and how often the core is preempted. */
static void
draw_access_costs(void)
{
	uint64_t slowest_ns = machine.is_guest ? 4000 : 1500;

	sim.cost_ps[SIM_IN] = sim.cost_ps[SIM_OUT] = sim.cost_ps[SIM_READ] = sim.cost_ps[SIM_WRITE] = 0;
	for (int i = HPET; i < CLOCKS; i++)
		machine.port_ps[i] = draw_log_uniform(machine.is_guest ? 40 : 300, slowest_ns) * PS_PER_NS;
	machine.effect = (unsigned)draw_below(3);
	sim.cost_ps[SIM_TSC] = (uint64_t)draw_between(6, 12) * PS_PER_NS;
	sim.cost_ps[SIM_TSC_LFENCE] = sim.cost_ps[SIM_TSC_MFENCE] = (uint64_t)draw_between(8, 25) * PS_PER_NS;
	if (draw_chance(machine.is_guest ? 60 : 25)) {
		machine.preempt_every = draw_log_uniform(2000, 200000);
		machine.preempt_min_ps = 10 * SIM_PS_PER_US;
		machine.preempt_max_ps = machine.is_guest ? 20 * SIM_PS_PER_MS : 200 * SIM_PS_PER_US;
	}
}

void
draw_clocks(void)
{
	machine.is_guest |= draw_chance(40);
	for (int i = 0; i < CLOCKS; i++)
		machine.has[i] = true;
	machine.claimed[PM] = pm_claim;
	machine.claimed[PIT] = pit_claim;
	machine.claimed[RTC] = rtc_claim;
	machine.hz[PIT] = PIT_HZ;
	machine.hz[PM] = machine.is_guest ? pm_claim.num : 3 * PIT_HZ;
	machine.hz[RTC] = 1;
	draw_clock_sources();
	draw_rate_deviations();
	draw_tsc_claim(draw_claim_kind());
	draw_hpet();
	draw_counter_steps();
	draw_access_costs();
}

/* Sets each clock's rate from its oscillator's error. Must be called after the errors of all oscillators were drawn. */
void
draw_rates(void)
{
	for (int i = 0; i < CLOCKS; i++)
		machine.hz[i] *= 1 + deviation_ppb[machine.source[i]] / 1e9L;
}

void
draw_source_rate(unsigned source, uint64_t low_ppm, uint64_t high_ppm)
{
	deviation_ppb[source] = draw_signed(draw_log_uniform(low_ppm, high_ppm) * PPM);
}

void
draw_wrong_source_rate(unsigned source)
{
	draw_source_rate(source, 150, 5000);
}

void
draw_very_wrong_source_rate(unsigned source)
{
	draw_source_rate(source, 60000, 300000);
}

void
draw_far_source_rate(unsigned source)
{
	deviation_ppb[source] = (int64_t)draw_log_uniform(2000, 500000) * 1000000 - 1000000000;
}

void
draw_host_load(void)
{
	machine.preempt_every = draw_log_uniform(500, 5000);
	machine.preempt_min_ps = 10 * SIM_PS_PER_US;
	machine.preempt_max_ps = 20 * SIM_PS_PER_MS;
}

/*
 * Lets the clocks share one oscillator. For example, a host that adjusts its time changes all devices of its guest,
 * but not the TSC.
 */
void
draw_same_source(const int *clocks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		machine.source[clocks[i]] = (unsigned)clocks[0];
}
