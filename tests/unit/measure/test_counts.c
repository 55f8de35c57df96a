/*
 * Tests of the count of a counter's wraps. A TSC whose rate is only estimated gives the count. Clocks that wrap later
 * show if the count is right.
 */
#include "test.h"
#include "measure/rates/clock_tracker.h"

#define TSC_HZ   UINT64_C(2000000000)
#define PIT_HZ   UINT64_C(1193182)
#define PM_HZ    UINT64_C(3579545)
#define PIT_WRAP UINT64_C(65536)

enum { PM, PIT, CLOCKS };

static struct report report;
static struct survey survey;

/*
 * Returns the tracks of two clocks that were read MS after their previous reading. The PIT gets EXTRA wraps. CUT is
 * true if the window was cut.
 */
static struct survey_track *
counted(uint64_t ms, int64_t extra, bool cut)
{
	static const struct clock clocks[CLOCKS] = {
		{ .id = "acpi_pm", .main = "acpi_pm", .state = CLOCK_PRESENT, .wrap_ticks = 0xffffff, .claimed = { PM_HZ, 1 } },
		{ .id = "pit", .main = "pit", .state = CLOCK_PRESENT, .wrap_ticks = PIT_WRAP - 1, .claimed = { PIT_HZ, 1 } },
	};

	report = (struct report){ .clock_count = CLOCKS };
	survey = (struct survey){ .report = &report };
	for (size_t i = 0; i < CLOCKS; i++) {
		uint64_t hz = clocks[i].claimed.num, late_us = i * 300; /* the clocks are read 300 us after each other */

		report.clocks[i].clock = clocks[i];
		survey.paces[i] = 1;
		survey.tracks[i].entry = &report.clocks[i];
		survey.tracks[i].counted_tsc = late_us * (TSC_HZ / 1000000);
		survey.tracks[i].tsc = survey.tracks[i].counted_tsc + ms * (TSC_HZ / 1000);
		survey.tracks[i].ticks = ms * hz / 1000;
	}
	survey.tracks[PIT].ticks += (uint64_t)extra * PIT_WRAP;
	survey_check_counts(&survey, cut);
	return survey.tracks;
}

TEST(a_wrap_too_many_or_too_few_is_seen)
{
	for (uint64_t ms = 60; ms <= 4000; ms += 70) {
		assert_false(counted(ms, 0, false)[PIT].uncounted);
		assert_true(counted(ms, 1, false)[PIT].uncounted);
		assert_true(counted(ms, -1, false)[PIT].uncounted);
		/* the PM timer wraps later than the PIT, so it confirms the count */
		assert_false(counted(ms, 1, false)[PM].uncounted);
	}
}

TEST(behind_a_cut_the_window_has_its_rate_and_is_not_followed_on)
{
	const struct survey_track *tracks = counted(1000, 1, true);

	assert_false(tracks[PIT].uncounted);
	assert_true(tracks[PIT].stood);
	assert_false(tracks[PM].stood);
}

/*
 * Adds a second, in which the PIT counts EXTRA ticks more than nominal. Returns true if its wraps are then uncounted.
 */
static bool
is_uncounted_after_a_second(struct survey_track *tracks, uint64_t extra)
{
	for (size_t i = 0; i < CLOCKS; i++) {
		tracks[i].ticks += tracks[i].entry->clock.claimed.num + (i == PIT) * extra;
		tracks[i].tsc += TSC_HZ;
	}
	survey_check_counts(&survey, false);
	return tracks[PIT].uncounted;
}

TEST(each_stretch_is_looked_at_by_itself)
{
	struct survey_track *tracks = counted(1000, 0, false);

	assert_false(is_uncounted_after_a_second(tracks, 0));
	assert_true(is_uncounted_after_a_second(tracks, PIT_WRAP));
}

TEST(a_clock_that_is_a_little_off_is_no_wrap)
{
	assert_false(is_uncounted_after_a_second(counted(1000, 0, false), PIT_WRAP / 5));
}
