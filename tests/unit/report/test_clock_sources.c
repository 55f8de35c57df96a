/* Tests which clocks count as having separate oscillators, because of their rates or changes of these rates. */
#include "report/clock_sources.h"
#include "test.h"

#define PPM 1000 /* one ppm in ppb */

static struct report report;

static void
clock_is(size_t i, const char *id, int64_t change_ppb)
{
	report.facts.clocks[i].clock.id = report.facts.clocks[i].clock.main = id;
	report.figures.clocks[i].change_halves = (struct interval_ppb){ true, change_ppb, change_ppb - PPM,
								      change_ppb + PPM };
}

/*
 * Returns true if an HPET and a PIT of 1 GHz count as separate sources. The PIT is faster by FASTER_PPB, and each
 * clock's rate changed by its CHANGE_PPB.
 */
static bool
are_separate(int64_t hpet_change_ppb, int64_t pit_change_ppb, uint64_t faster_ppb)
{
	const uint64_t hz = UINT64_C(1000000000000000), apart = hz / 1000000000 * faster_ppb;
	const struct rate_interval rates[REPORT_CLOCKS_MAX] = {
		{ true, hz, hz - 1000, hz + 1000 }, { true, hz + apart, hz + apart - 1000, hz + apart + 1000 },
	};

	report = (struct report){ .facts.clock_count = 2 };
	clock_is(0, "hpet", hpet_change_ppb);
	clock_is(1, "pit", pit_change_ppb);
	return find_clock_sources_for_rates(&report, rates).separate[0] == 2;
}

TEST(two_clocks_whose_rates_differ_have_separate_crystals)
{
	assert_true(are_separate(0, 0, 10));
	assert_false(are_separate(0, 0, 0));
}

/*
 * The rate windows of the two clocks do not start and end at exactly the same time. Therefore one window contains a
 * common change of 5,000 ppm for slightly longer, and the two rates differ a little.
 */
TEST(two_clocks_that_changed_together_may_share_a_crystal)
{
	assert_false(are_separate(5000 * PPM, 5000 * PPM, 20 * PPM));
	assert_false(are_separate(-5000 * PPM, -5000 * PPM, 20 * PPM));
	assert_true(are_separate(5000 * PPM, 5000 * PPM, 500 * PPM));
}

TEST(a_clock_whose_rate_changed_alone_has_its_own_crystal)
{
	assert_true(are_separate(5000 * PPM, 0, 20 * PPM));
	assert_true(are_separate(0, 5000 * PPM, 20 * PPM));
}

enum { G_TSC, G_KVMCLOCK, G_HPET, G_RTC, G_CLOCKS };

/*
 * Returns the sources of a guest's clocks. The HPET's rate is HPET_PPB off the others' with an error of WITHIN_PPB,
 * and the RTC's is RTC_PPB off with an error of 500 ppm.
 */
static struct falseticker_sources
find_sources_of_guest(uint64_t hpet_ppb, uint64_t within_ppb, uint64_t rtc_ppb)
{
	static const char *const ids[G_CLOCKS] = { "tsc", "kvmclock", "hpet", "rtc" };
	const uint64_t hz = UINT64_C(3000000000000000), ppb = hz / 1000000000;
	const uint64_t off[G_CLOCKS] = { 0, 0, hpet_ppb, rtc_ppb }, within[G_CLOCKS] = { 0, 1, within_ppb, 500 * PPM };
	struct rate_interval rates[REPORT_CLOCKS_MAX] = { { .known = false } };

	report = (struct report){ .facts.clock_count = G_CLOCKS, .facts.machine.hypervisor = "KVMKVMKVM" };
	for (size_t i = 0; i < G_CLOCKS; i++) {
		uint64_t rate = hz + off[i] * ppb;

		clock_is(i, ids[i], 0);
		rates[i] = (struct rate_interval){ true, rate, rate - within[i] * ppb, rate + within[i] * ppb };
	}
	report.facts.clocks[G_KVMCLOCK].clock.by_tsc = report.facts.clocks[G_RTC].clock.edges_only = true;
	return find_clock_sources_for_rates(&report, rates);
}

TEST(the_tsc_and_the_devices_of_a_guest_are_two_sources)
{
	struct falseticker_sources sources = find_sources_of_guest(20 * PPM, 1 * PPM, 0);

	assert_int_equal(sources.separate[G_TSC], 1 << G_HPET | 1 << G_RTC);
	assert_int_equal(sources.separate[G_KVMCLOCK], 1 << G_HPET | 1 << G_RTC);
	assert_int_equal(sources.separate[G_HPET], 1 << G_TSC | 1 << G_KVMCLOCK);
	sources = find_sources_of_guest(0, 60 * PPM, 0); /* too wide to show whether the ratio may be exact */
	assert_int_equal(sources.separate[G_TSC], 1 << G_HPET | 1 << G_RTC);
}

TEST(all_clocks_of_a_guest_with_exactly_their_nominal_ratios_are_one_source)
{
	struct falseticker_sources sources = find_sources_of_guest(0, 1 * PPM, 100 * PPM);

	for (size_t i = 0; i < G_CLOCKS; i++)
		assert_int_equal(sources.separate[i], 0);
	sources = find_sources_of_guest(0, 20 * PPM, 100 * PPM); /* as exact as a quick run measures a ratio */
	for (size_t i = 0; i < G_CLOCKS; i++)
		assert_int_equal(sources.separate[i], 0);
	sources = find_sources_of_guest(0, 1 * PPM, 70000 * PPM); /* the RTC is 7 % off all others */
	assert_int_equal(sources.separate[G_RTC], 1 << G_TSC | 1 << G_KVMCLOCK | 1 << G_HPET);
	assert_int_equal(sources.separate[G_TSC], 1 << G_RTC);
	assert_int_equal(sources.separate[G_HPET], 1 << G_RTC);
}
