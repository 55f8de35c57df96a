/*
 * Readings from hypervisors' pages, calculated from a page in memory and the TSC. In these tests a read of the TSC may
 * change the page.
 */
#include "test.h"
#include "paravirtual/pages.h"

static struct pvclock page;
static struct hv_tsc_page hv_page;
static uint64_t now_tsc, reads;
static void (*meanwhile)(void); /* called at each reading of the TSC */

static uint64_t
tsc(void)
{
	reads++;
	if (meanwhile)
		meanwhile();
	return now_tsc;
}

static void
set_up(void)
{
	page = (struct pvclock){ .version = 2, .tsc_timestamp = 1000, .system_time = 50, .tsc_to_system_mul = 1u << 31,
				 .tsc_shift = 0, .flags = PVCLOCK_TSC_STABLE };
	hv_page = (struct hv_tsc_page){ .sequence = 1, .scale = UINT64_C(1) << 63, .offset = -3 };
	now_tsc = 1100;
	reads = 0;
	meanwhile = NULL;
}

TEST_FIXTURE(set_up, NULL);

static uint64_t
reading(void)
{
	struct pvclock taken;
	uint64_t at;

	assert_true(pvclock_copy(&page, tsc, &taken, &at));
	return pvclock_calculate_ns(&taken, at);
}

TEST(a_tick_of_half_a_nanosecond_is_added_to_the_time_stamp)
{
	assert_int_equal(reading(), 50 + 50);
	assert_int_equal(pvclock_get_multiplier(&page), UINT64_C(1) << 31);
}

TEST(the_shift_is_to_the_left_or_right_and_before_the_multiplication)
{
	page.tsc_shift = 3;
	assert_int_equal(reading(), 50 + 400);
	assert_int_equal(pvclock_get_multiplier(&page), UINT64_C(1) << 34);
	page.tsc_shift = -1;
	page.tsc_to_system_mul = UINT32_MAX;
	/* each of the 50 ticks takes slightly less than 1 ns, and the sum is rounded down */
	assert_int_equal(reading(), 50 + 49);
	assert_int_equal(pvclock_get_multiplier(&page), UINT32_MAX >> 1);
	page.tsc_shift = -32; /* all 32 bits are shifted out */
	assert_int_equal(pvclock_get_multiplier(&page), 0);
	page.tsc_shift = -128;
	assert_int_equal(pvclock_get_multiplier(&page), 0); /* no TSC needs such a shift */
}

/*
 * 2^63 ticks of 4 ns are 2^65 ns, and the reading must be the lower 64 bits. A 64-bit product would lose bits before
 * the shift.
 */
TEST(a_product_of_more_than_64_bits_loses_no_bits)
{
	page.system_time = 0;
	page.tsc_timestamp = 0;
	page.tsc_to_system_mul = UINT32_MAX;
	page.tsc_shift = 0;
	now_tsc = UINT64_C(1) << 62;
	assert_true(reading() == (UINT64_C(1) << 62) - (UINT64_C(1) << 30));
	page.tsc_shift = 1;
	assert_true(reading() == (UINT64_C(1) << 63) - (UINT64_C(1) << 31));
}

static void
write_whole(void)
{
	if (reads == 1) {
		page.version += 2;
		page.system_time = 7000;
		page.tsc_timestamp = now_tsc;
	}
}

TEST(a_page_that_changed_during_a_reading_is_read_again)
{
	meanwhile = write_whole;
	assert_int_equal(reading(), 7000);
	assert_int_equal(reads, 2);
}

static void
end_writing(void)
{
	if (reads == 3)
		page.version = 4;
}

TEST(a_reading_waits_while_the_page_is_being_written)
{
	page.version = 3;
	meanwhile = end_writing;
	assert_int_equal(reading(), 100);
	assert_int_equal(reads, 4);
}

TEST(a_reading_of_a_page_that_stays_odd_ends_after_a_number_of_tries)
{
	struct pvclock taken;
	uint64_t at;

	page.version = 5;
	assert_false(pvclock_copy(&page, tsc, &taken, &at));
	assert_int_equal(reads, PAGES_TRIES);
	assert_int_equal(taken.version, 5);
}

TEST(hyperv_scales_the_whole_tsc_and_adds_a_signed_offset)
{
	struct hv_tsc_page taken;
	uint64_t at;

	assert_true(hv_tsc_page_copy(&hv_page, tsc, &taken, &at));
	assert_int_equal(hv_tsc_page_calculate_ticks(&taken, at), 550 - 3);
	hv_page.scale = UINT64_MAX;
	hv_page.offset = 0;
	assert_true(hv_tsc_page_calculate_ticks(&hv_page,
						UINT64_MAX) == UINT64_MAX - 1); /* the product needs 128 bits */
	hv_page.scale = UINT64_C(184467440737095516); /* the factor from 1 GHz to 10 MHz */
	assert_in_range(hv_tsc_page_get_multiplier(&hv_page), (UINT64_C(1) << 32) - 1, UINT64_C(1) << 32);
}

static void
change_sequence(void)
{
	hv_page.sequence++;
}

TEST(hypervs_page_is_read_again_a_limited_number_of_times)
{
	struct hv_tsc_page taken;
	uint64_t at;

	meanwhile = change_sequence;
	assert_false(hv_tsc_page_copy(&hv_page, tsc, &taken, &at));
	assert_int_equal(reads, PAGES_TRIES);
}
