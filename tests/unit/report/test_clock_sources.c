/* Tests which clocks count as having separate oscillators, because of their rates or changes of these rates. */
#include "report/clock_sources.h"
#include "test.h"

#define PPM 1000 /* one ppm in ppb */

static struct report report;

static void
clock_is(size_t i, const char *id, int64_t change_ppb)
{
	report.clocks[i].clock.id = report.clocks[i].clock.main = id;
	report.clocks[i].change_halves = (struct interval_ppb){ true, change_ppb, change_ppb - PPM, change_ppb + PPM };
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

	report = (struct report){ .clock_count = 2 };
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
