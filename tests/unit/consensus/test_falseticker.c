/*
 * Clocks with wrong rates (falsetickers), and cases in which votes do not decide. Rates are written by hand, in ppm
 * above one gigahertz.
 */
#include "test.h"
#include "consensus/falseticker.h"

#define GHZ       UINT64_C(1000000000000000)
#define PER_PPM   INT64_C(1000000000)
#define LIMIT_PPB 100000

static const struct rate_interval unknown = { .known = false };

/* Returns a rate that is VALUE ppm above one gigahertz, known within WITHIN ppm. */
static struct rate_interval
at(int64_t value, int64_t within)
{
	return (struct rate_interval){ true, GHZ + (uint64_t)(value * PER_PPM),
				       GHZ + (uint64_t)((value - within) * PER_PPM),
				       GHZ + (uint64_t)((value + within) * PER_PPM) };
}

static void
assert_all_agree(const struct rate_interval *rates, size_t count, size_t reference)
{
	struct falseticker falseticker = falseticker_find(rates, count, NULL, LIMIT_PPB);

	assert_int_equal(falseticker.falsetickers, 0);
	assert_false(falseticker.undecided);
	assert_int_equal(falseticker.reference, reference);
}

static void
assert_falsetickers(const struct rate_interval *rates, size_t count, uint32_t falsetickers, size_t reference)
{
	struct falseticker falseticker = falseticker_find(rates, count, NULL, LIMIT_PPB);

	assert_int_equal(falseticker.falsetickers, falsetickers);
	assert_int_equal(falseticker.truechimers & falsetickers, 0);
	assert_false(falseticker.undecided);
	assert_int_equal(falseticker.reference, reference);
}

static void
assert_undecided(const struct rate_interval *rates, size_t count, uint32_t falsetickers, size_t a, size_t b)
{
	struct falseticker falseticker = falseticker_find(rates, count, NULL, LIMIT_PPB);

	assert_true(falseticker.undecided);
	assert_int_equal(falseticker.falsetickers, falsetickers);
	assert_int_equal(falseticker.a, a);
	assert_int_equal(falseticker.b, b);
}

TEST(clocks_that_agree_within_the_limit_are_truechimers)
{
	const struct rate_interval rates[] = { at(0, 2), unknown, at(90, 3), at(-5, 10000), at(1, 1) };

	assert_all_agree(rates, 5, 4);
	assert_all_agree(rates, 1, 0);
	assert_all_agree(&rates[1], 1, 1); /* no rate is known, so there is no reference */
	assert_all_agree(rates, 0, 0);
}

TEST(a_clock_150_ppm_off_three_others_is_a_falseticker)
{
	const struct rate_interval rates[] = { at(0, 2), at(150, 3), unknown, at(1, 4), at(-1, 3) };

	assert_falsetickers(rates, 5, 1u << 1, 0);
}

/* The clock is 106 ppm off with an uncertainty of 7 ppm, so it may be only 99 ppm off. The limit is 100 ppm. */
TEST(a_clock_that_may_be_within_the_limit_is_no_falseticker)
{
	const struct rate_interval inside[] = { at(0, 2), at(106, 5), at(-1, 3) };
	const struct rate_interval outside[] = { at(0, 2), at(106, 3), at(-1, 3) };

	assert_all_agree(inside, 3, 0);
	assert_falsetickers(outside, 3, 1u << 1, 0);
}

TEST(several_falsetickers_are_all_named)
{
	const struct rate_interval rates[] = { at(-20000, 2), at(0, 2), at(1, 1), at(1000, 3), at(300, 3), at(2, 9),
					       at(-3, 9) };

	assert_falsetickers(rates, 7, 1u << 0 | 1u << 3 | 1u << 4, 2);
}

TEST(two_clocks_that_disagree_are_named_and_neither_is_the_falseticker)
{
	const struct rate_interval rates[] = { unknown, at(0, 2), at(1000, 2) };

	assert_undecided(rates, 3, 0, 1, 2);
}

/* Over one second, an RTC's rate is known within 10,000 ppm. It agrees with both clocks, so it decides nothing. */
TEST(a_clock_with_a_wide_interval_does_not_decide_between_two)
{
	const struct rate_interval rates[] = { at(0, 2), at(1000, 2), at(-200, 10000) };
	const struct rate_interval narrower[] = { at(0, 2), at(1000, 2), at(-200, 1050) };

	assert_undecided(rates, 3, 0, 0, 1);
	/* this RTC differs by at most 850 ppm, so it confirms only the first clock */
	assert_falsetickers(narrower, 3, 1u << 1, 0);
}

TEST(two_pairs_that_agree_are_undecided_and_the_narrowest_two_are_named)
{
	const struct rate_interval rates[] = { at(0, 5), at(1, 2), at(500, 3), at(501, 9) };

	assert_undecided(rates, 4, 0, 1, 2);
}

/* The largest group has two of the five clocks, which is no majority. */
TEST(the_largest_of_several_groups_is_no_majority)
{
	const struct rate_interval rates[] = { at(-20000, 2), at(0, 2), at(1, 1), at(1000, 3), at(300, 3) };
	struct falseticker found = falseticker_find(rates, 5, NULL, LIMIT_PPB);

	assert_undecided(rates, 5, 0, 0, 2);
	assert_int_equal(found.reference, 2);
	assert_int_equal(found.group_a, 1u << 0);
	assert_int_equal(found.group_b, 1u << 1 | 1u << 2);
	assert_int_equal(found.others, 1u << 3 | 1u << 4);
}

TEST(a_clock_far_from_two_equal_groups_is_in_neither_and_not_accused)
{
	const struct rate_interval rates[] = { at(0, 5), at(1, 2), at(500, 3), at(501, 9), at(-20000, 1) };

	assert_undecided(rates, 5, 0, 1, 4);
}

/*
 * The clock with the wide interval overlaps both groups. Therefore it counts for neither group, although it contradicts
 * the fourth clock.
 */
TEST(a_clock_with_a_wide_interval_has_no_vote_for_two_groups)
{
	const struct rate_interval rates[] = { at(0, 2), at(1000, 2), at(500, 600), at(-20000, 2), at(1, 5) };
	struct falseticker found = falseticker_find(rates, 5, NULL, LIMIT_PPB);

	assert_true(found.undecided); /* the largest group has two of four clocks */
	assert_int_equal(found.falsetickers, 0);
	assert_int_equal(found.reference, 0);
	assert_int_equal((found.group_a | found.group_b | found.others) & 1u << 2, 0);
}

TEST(three_clocks_of_one_source_are_one_against_two)
{
	const struct rate_interval rates[] = { at(0, 2), at(2, 2), at(200, 2), at(201, 2), at(200, 3) };
	struct falseticker_sources sources = { .separate = { 0x1e, 0x1d, 0x03, 0x03, 0x03 } };
	struct falseticker found = falseticker_find(rates, 5, &sources, LIMIT_PPB);

	assert_true(found.undecided);
	assert_int_equal(found.falsetickers, 0);
	assert_int_equal(found.group_a | found.group_b, 0x1f);
	assert_int_equal(found.others, 0);
	assert_falsetickers(rates, 5, 0x03, 2); /* a majority of five sources needs three */
}

/*
 * The last three clocks share one source, although their rates differ. The first two clocks agree, but they are not
 * more than half of the five clocks.
 */
TEST(two_of_five_clocks_are_no_majority)
{
	const struct rate_interval rates[] = { at(0, 2), at(2, 2), at(200, 2), at(500, 2), at(900, 2) };
	struct falseticker_sources sources = { .separate = { 0x1e, 0x1d, 0x03, 0x03, 0x03 } };
	struct falseticker found = falseticker_find(rates, 5, &sources, LIMIT_PPB);

	assert_true(found.undecided);
	assert_int_equal(found.falsetickers, 0);
}

/* The clocks 0 and 1 have two sources, and the clocks 2 and 3 have one. But two of four clocks are no majority. */
TEST(half_of_the_clocks_are_no_majority_although_they_have_more_sources)
{
	const struct rate_interval rates[] = { at(0, 2), at(2, 2), at(500, 2), at(501, 2) };
	struct falseticker_sources sources = { .separate = { 0xe, 0xd, 0x3, 0x3 } };
	struct falseticker found = falseticker_find(rates, 4, &sources, LIMIT_PPB);

	assert_true(found.undecided);
	assert_int_equal(found.falsetickers, 0);
	assert_int_equal(found.group_a, 0x3);
	assert_int_equal(found.group_b, 0xc);
}

TEST(half_of_the_clocks_of_one_source_do_not_accuse_the_others)
{
	const struct rate_interval rates[] = { at(0, 2), at(2, 2), at(500, 2), at(501, 2) };
	struct falseticker_sources sources = { .same_source = 0xf };
	struct falseticker found = falseticker_find(rates, 4, &sources, LIMIT_PPB);

	assert_int_equal(found.falsetickers, 0);
	assert_int_equal(found.same_source, 0);
	assert_true(found.undecided);
	sources.same_source = 0x7; /* without the last clock, two of three are a majority */
	found = falseticker_find(rates, 3, &sources, LIMIT_PPB);
	assert_int_equal(found.falsetickers, 0x4);
	assert_int_equal(found.same_source, 0x3);
}

TEST(a_clock_that_differs_from_two_of_its_own_source_is_accused)
{
	const struct rate_interval rates[] = { at(0, 2), at(1000, 2), at(0, 3), at(500, 2) };
	struct falseticker_sources sources = { .separate = { 0x8, 0x8, 0x8, 0x7 }, .same_source = 0x7 };
	struct falseticker found = falseticker_find(rates, 4, &sources, LIMIT_PPB);

	assert_int_equal(found.falsetickers, 0x2);
	assert_true(found.undecided); /* either the source of clocks 0 and 2 or clock 3 is wrong */
	assert_int_equal(found.same_source, 0x5);
	assert_int_equal(found.same_source_reference, 0);
	assert_int_equal(found.group_a, 0x5);
	assert_int_equal(found.group_b, 0x8);
}

/* In a chain of three, only the ends disagree. The clock in the middle agrees with both and has no vote. */
TEST(the_two_ends_of_a_chain_disagree)
{
	const struct rate_interval rates[] = { at(0, 1), at(80, 1), at(160, 1) };

	assert_undecided(rates, 3, 0, 0, 2);
}

TEST(a_clock_within_the_limit_of_the_groups_rate_is_no_falseticker)
{
	/*
	 * The last clock differs by 160 and 120 ppm from two clocks of the group, so it does not belong to the group.
	 * But it differs by only 65 ppm from the rate that most clocks of the group share.
	 */
	const struct rate_interval rates[] = { at(0, 1), at(40, 1), at(94, 2), at(95, 2), at(160, 1) };
	struct falseticker falseticker = falseticker_find(rates, 5, NULL, LIMIT_PPB);

	assert_false(falseticker.undecided);
	assert_false(set_has(falseticker.truechimers, 4));
	assert_int_equal(falseticker.falsetickers, 0);
}
