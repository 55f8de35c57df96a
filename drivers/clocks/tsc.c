/* The driver of the TSC. It has four read methods. The TSC is never written. */
#include "clocks/probe.h"

#include "base/units.h"

static uint64_t
tsc_read(void *)
{
	return hw_tsc();
}

static uint64_t
tsc_lfence_read(void *)
{
	return hw_tsc_lfence();
}

static uint64_t
tsc_rdtscp_read(void *)
{
	return hw_tscp();
}

static uint64_t
tsc_cpuid_read(void *)
{
	return hw_tsc_cpuid();
}

DRIVER_SAMPLE(tsc, tsc_read)
DRIVER_SAMPLE(tsc_lfence, tsc_lfence_read)
DRIVER_SAMPLE(tsc_rdtscp, tsc_rdtscp_read)
DRIVER_SAMPLE(tsc_cpuid, tsc_cpuid_read)

/*
 * A TSC that is not reported as invariant may change its rate with the core's frequency, and may stop in sleep states.
 * On bare metal such a TSC is rated below the PM timer. In a guest its rating is not lowered, because the TSC may be
 * invariant although the hypervisor hides CPUID's bit for an invariant TSC.
 */
#define TSC_RATING          300
#define TSC_RATING_VARIABLE 150

enum { TSC, TSC_LFENCE, TSC_RDTSCP, TSC_CPUID, TSC_COUNT };

static const struct clock tsc_rows[TSC_COUNT] = {
	[TSC] = {
		.id = "tsc", .title = "TSC by RDTSC alone, not ordered", .rating = TSC_RATING,
		.state = CLOCK_PRESENT, .found_by = "CPUID 1h", .width_bits = 64,
		.wrap_ticks = UINT64_MAX, .sample = tsc_sample,
	},
	[TSC_LFENCE] = {
		.id = "tsc_lfence", .title = "TSC by LFENCE; RDTSC",
		.state = CLOCK_PRESENT, .found_by = "CPUID 1h", .width_bits = 64,
		.wrap_ticks = UINT64_MAX, .sample = tsc_lfence_sample,
	},
	[TSC_RDTSCP] = {
		.id = "tsc_rdtscp", .title = "TSC by RDTSCP",
		.state = CLOCK_PRESENT, .found_by = "CPUID 80000001h", .width_bits = 64,
		.wrap_ticks = UINT64_MAX, .sample = tsc_rdtscp_sample,
	},
	[TSC_CPUID] = {
		.id = "tsc_cpuid", .title = "TSC by CPUID and RDTSC; CPUID traps in a guest",
		.state = CLOCK_PRESENT, .found_by = "CPUID 1h", .width_bits = 64,
		.wrap_ticks = UINT64_MAX, .sample = tsc_cpuid_sample,
	},
};

/*
 * Sets the TSC's nominal rate to the first rate that the machine states. After the clocks have been compared, another
 * stated rate replaces it if the measurements agree only with that rate.
 */
static void
tsc_set_nominal_rate(const struct platform *platform, struct clock *clock)
{
	const struct claim *claim = claims_find_first_tsc_rate(&platform->claims);

	if (claim) {
		clock->claimed = claim->hz;
		clock->claimed_within_ppb = scale_mul_div_wide((unsigned __int128)claim->within_hz * claim->hz.den, PPB,
							       claim->hz.num, SCALE_UP);
		probe_append_note(clock, "The TSC's rate is stated by %s%s.", claim->by,
				  claim->source == CLAIM_LEAF_16 ? " (rounded)" : "");
	} else {
		probe_append_note(clock, "CPUID states no rate of the TSC.");
	}
	if (!platform->cpu.tsc_is_invariant)
		probe_append_note(clock, "CPUID 80000007h does not report the TSC as invariant.");
}

static void
tsc_open(const struct platform *platform, struct device *device, struct clock *clocks)
{
	if (!probe_initialize_clocks(platform, device, clocks, &tsc_driver))
		return;
	tsc_set_nominal_rate(platform, &clocks[TSC]);
	if (!platform->cpu.tsc_is_invariant && !platform->cpu.hypervisor[0])
		clocks[TSC].rating = TSC_RATING_VARIABLE;
	for (size_t i = 1; i < TSC_COUNT; i++)
		clocks[i].claimed = clocks[TSC].claimed;
	if (!probe_counter_moves(tsc_read, device)) {
		probe_set_state(&clocks[TSC], CLOCK_STUCK, "The TSC reads the same every time.");
		probe_copy_state_of_first_clock(clocks, TSC_COUNT);
	}
	if (!platform->cpu.has_rdtscp)
		probe_set_state(&clocks[TSC_RDTSCP], CLOCK_ABSENT, "CPUID 80000001h EDX[27] reports no RDTSCP.");
}

const struct driver tsc_driver = {
	.clock_count = TSC_COUNT,
	.rows = tsc_rows,
	.open = tsc_open,
	.close = probe_close,
};
