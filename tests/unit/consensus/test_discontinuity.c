/*
 * Tests which clocks agree over one step (the interval between two comparisons of all clocks). Some steps are examples
 * written by hand, and the others are random.
 */
#include <stdio.h>

#include "test.h"
#include "random.h"
#include "consensus/discontinuity.h"

#define MS       INT64_C(1000000)
#define S        (1000 * MS)
#define FLOOR    ((uint64_t)MS)
#define PIT_WRAP UINT64_C(54925493)
#define PM_WRAP  UINT64_C(4686979000)
#define RTC_WRAP ((uint64_t)(60 * S))
#define TRIALS   20000
#define CLOCKS   6

enum { TSC, HPET, PM, PIT, RTC };

static const struct discontinuity_clock unknown = { .known = false };

static struct discontinuity_clock
took(int64_t ns, int64_t within)
{
	return (struct discontinuity_clock){ true, { ns - within, ns + within }, 0, false };
}

/* Returns a clock that counted NS, exact to WITHIN ns. Its counter wraps after WRAP ns. */
static struct discontinuity_clock
wraps(int64_t ns, int64_t within, uint64_t wrap)
{
	return (struct discontinuity_clock){ true, { ns % (int64_t)wrap - within, ns % (int64_t)wrap + within }, wrap, false };
}

/*
 * Compares five clocks over one step, in which the TSC counted TSC ns, the HPET, the PM timer and the PIT counted
 * DEVICES ns, and the RTC counted RTC ns. If AT_AN_EDGE is false, the RTC's time is known only to a second.
 */
static struct discontinuity
find(int64_t tsc, int64_t devices, int64_t rtc, bool at_an_edge)
{
	const struct discontinuity_clock clocks[] = {
		took(tsc, 0), took(devices, MS / 10), wraps(devices, MS / 10, PM_WRAP), wraps(devices, MS / 10, PIT_WRAP),
		at_an_edge ? wraps(rtc, 10 * MS, RTC_WRAP) :
			     (struct discontinuity_clock){ true, { rtc / S * S, rtc / S * S + S }, RTC_WRAP, false },
	};

	return discontinuity_find_groups(clocks, 5, FLOOR);
}

static void
assert_holds(const struct discontinuity_group *group, uint32_t clocks, int64_t ns)
{
	assert_int_equal(group->clocks, clocks);
	assert_true(group->elapsed.low <= ns && ns <= group->elapsed.high);
	assert_true(group->elapsed.high - group->elapsed.low <= S);
}

TEST(clocks_that_agree_are_one_group)
{
	struct discontinuity found = find(10 * MS, 10 * MS, 0, false);

	assert_int_equal(found.count, 1);
	assert_int_equal(found.groups[0].clocks, 0x1f);
	assert_int_equal(find(20 * S, 20 * S, 20 * S, true).count, 1);
	assert_int_equal(find(75 * S, 75 * S, 75 * S, true).count, 1);
	assert_int_equal(find(75 * S, 75 * S + MS, 75 * S, true).count, 1);
	assert_int_equal(discontinuity_find_groups(NULL, 0, FLOOR).count, 0);
	assert_int_equal(discontinuity_find_groups(&unknown, 1, FLOOR).count, 0);
}

TEST(a_pause_leaves_the_rtc_alone_ahead)
{
	struct discontinuity found = find(700 * MS, 700 * MS, 10700 * MS, true);

	assert_int_equal(found.count, 2);
	assert_holds(&found.groups[0], 0x7, 700 * MS);
	assert_holds(&found.groups[1], 1u << RTC, 10700 * MS);
	assert_int_equal(found.mute, 1u << PIT); /* after 182 more wraps, the PIT agrees with the RTC */
	found = find(700 * MS, 700 * MS, 3700 * MS, false);
	assert_int_equal(found.count, 2);
	assert_holds(&found.groups[1], 1u << RTC, 3700 * MS);
	/* The RTC's time is known only to a second here, so it may agree with a time that differs by half a second. */
	assert_int_equal(find(200 * MS, 200 * MS, 700 * MS, false).count, 1);
}

TEST(a_snapshot_separates_the_clocks)
{
	struct discontinuity found = find(3110 * MS, 10 * MS, 3110 * MS, true);

	assert_int_equal(found.count, 2);
	assert_holds(&found.groups[0], 1u << HPET | 1u << PM | 1u << PIT, 10 * MS);
	assert_holds(&found.groups[1], 1u << TSC | 1u << RTC, 3110 * MS);
}

TEST(a_clock_that_jumps_or_steps_back_is_a_group)
{
	struct discontinuity_clock clocks[] = { took(10 * MS, 0), took(13 * MS, MS / 10),
						wraps(10 * MS, MS / 10, PM_WRAP), unknown };
	struct discontinuity found = discontinuity_find_groups(clocks, 4, FLOOR);

	assert_int_equal(found.count, 2);
	assert_holds(&found.groups[0], 1u << 0 | 1u << 2, 10 * MS);
	assert_holds(&found.groups[1], 1u << 1, 13 * MS);
	clocks[1] = took(-500 * MS, MS / 10);
	found = discontinuity_find_groups(clocks, 4, FLOOR);
	assert_int_equal(found.count, 2);
	assert_holds(&found.groups[1], 1u << 1, -500 * MS);
	clocks[1] = took(10 * MS + MS / 2, MS / 10);
	assert_int_equal(discontinuity_find_groups(clocks, 4, FLOOR).count, 1);
}

/* A counter that wraps may have jumped by whole wraps, so its reading alone does not show how much time passed. */
TEST(a_counter_that_wraps_soon_proves_nothing_alone)
{
	const struct discontinuity_clock clocks[] = { took(10 * MS, 0), wraps(30 * MS, MS / 10, PIT_WRAP) };
	struct discontinuity found = discontinuity_find_groups(clocks, 2, FLOOR);

	assert_int_equal(found.count, 2);
	assert_int_equal(found.groups[1].clocks, 1u << 1);
	assert_false(offset_is_known(found.groups[1].elapsed));
	/* Two counters that wrap agree if their times are equal for some numbers of wraps. */
	const struct discontinuity_clock both[] = { wraps(S, MS / 10, PM_WRAP), wraps(S, MS / 10, PIT_WRAP) };

	assert_int_equal(discontinuity_find_groups(both, 2, FLOOR).count, 1);
}

/*
 * The PM timer alone is ahead, by three wraps of the PIT, or ahead by half a wrap more. In the first case the PIT
 * agrees with both other clocks.
 */
TEST(a_counter_that_wraps_sooner_than_another_may_agree_with_it)
{
	for (int half = 0; half < 2; half++) {
		const int64_t ahead = 3 * (int64_t)PIT_WRAP + half * (int64_t)PIT_WRAP / 2;

		for (size_t pit = 0; pit < 3; pit++) {
			struct discontinuity_clock clocks[3];

			clocks[pit] = wraps(0, MS / 10, PIT_WRAP);
			clocks[(pit + 1) % 3] = took(0, 0);
			clocks[(pit + 2) % 3] = wraps(ahead, MS / 10, PM_WRAP);
			struct discontinuity found = discontinuity_find_groups(clocks, 3, FLOOR);
			assert_int_equal(found.count, 2);
			assert_int_equal(found.mute, half ? 0 : 1u << pit);
		}
	}
}

/*
 * The result must not depend on the order of the clocks. Here the clock with the widest interval comes before the
 * clock with the narrowest.
 */
TEST(a_counter_that_wraps_late_is_compared_with_the_most_exact_clock)
{
	const uint64_t late = (uint64_t)(1200 * S);
	const struct discontinuity_clock clocks[] = { took(30 * S, 1280 * S), took(0, 0), wraps(MS / 10, MS / 10, late) };

	assert_int_equal(discontinuity_find_groups(clocks, 3, FLOOR).count, 1);
}

TEST(a_counter_with_an_interval_of_many_wraps_agrees_with_all_clocks)
{
	const int64_t late = 503 * S;
	const struct discontinuity_clock clocks[] = {
		took(0, 0), { true, { 22 * S - 87 * late, 22 * S + 87 * late }, (uint64_t)late, false }, took(MS / 10, MS / 10),
	};
	const struct discontinuity found = discontinuity_find_groups(clocks, 3, FLOOR);

	assert_int_equal(found.count, 1);
	assert_int_equal(found.groups[0].clocks, 5);
}

TEST(a_clock_that_agrees_with_all_groups_has_no_vote)
{
	const struct discontinuity_clock clocks[] = { took(10 * MS, 0), took(100 * MS, 0), took(50 * MS, 80 * MS) };
	struct discontinuity found = discontinuity_find_groups(clocks, 3, FLOOR);

	assert_int_equal(found.count, 2);
	assert_int_equal(found.mute, 1u << 2);
	assert_int_equal(found.groups[0].clocks | found.groups[1].clocks, 3);
}

TEST(groups_without_space_are_merged_into_the_last)
{
	struct discontinuity_clock clocks[6];
	uint32_t all = 0;

	for (int i = 0; i < 6; i++)
		clocks[i] = took(i * S, MS);
	struct discontinuity found = discontinuity_find_groups(clocks, 6, FLOOR);
	assert_int_equal(found.count, DISCONTINUITY_GROUPS_MAX);
	for (size_t i = 0; i < found.count; i++)
		all |= found.groups[i].clocks;
	assert_int_equal(all, 0x3f);
}

static uint64_t seed;

static int64_t
draw(int64_t below)
{
	return (int64_t)(random_next(&seed) % (uint64_t)below);
}

/*
 * Each step has two possible true durations. Each clock's interval contains one of them, and some clocks wrap. Clocks
 * with the same true duration must never be reported as different.
 */
TEST(random_steps_have_no_wrong_result)
{
	unsigned told = 0;

	for (uint64_t trial = 1; trial <= TRIALS; trial++) {
		struct discontinuity_clock clocks[CLOCKS];
		int64_t truth[2] = { draw(20 * S), 0 };
		uint32_t of_second = (uint32_t)draw(1 << CLOCKS);

		seed = trial * UINT64_C(0x9e3779b97f4a7c15);
		truth[1] = truth[0] + (draw(2) ? draw(5 * S) : -draw(5 * S));
		for (int i = 0; i < CLOCKS; i++) {
			int64_t ns = truth[of_second >> i & 1], width = 1 + draw(INT64_C(1) << draw(31)), below = draw(width);

			clocks[i] = took(0, 0);
			clocks[i].elapsed = (struct offset){ ns - below, ns - below + width };
			if (i % 3 == 2) {
				int64_t wrap = (int64_t)(clocks[i].wrap_ns = i == 2 ? PM_WRAP : RTC_WRAP);

				clocks[i].elapsed.low -= ns / wrap * wrap;
				clocks[i].elapsed.high -= ns / wrap * wrap;
			}
		}
		struct discontinuity found = discontinuity_find_groups(clocks, CLOCKS, FLOOR);
		for (size_t a = 0; a < found.count; a++) {
			uint32_t members = found.groups[a].clocks;

			for (size_t b = 0; b < a; b++)
				for (uint32_t truths = 0; truths < 2; truths++)
					if ((members & found.groups[b].clocks) ||
					    ((members & (truths ? of_second : ~of_second)) &&
					     (found.groups[b].clocks & (truths ? of_second : ~of_second))))
						fail_msg("seed %lu: clocks of one truth in two groups", trial);
			told += found.count == 2;
		}
		if (of_second == 0)
			assert_int_equal(found.count, 1);
	}
	assert_true(told > TRIALS / 4);
}
