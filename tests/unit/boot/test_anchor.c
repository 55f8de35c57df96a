/*
 * Tables of the firmware are found by their anchor strings, at any address in the range that the specification allows.
 */
#include "test.h"
#include "bare/firmware/bare.h"

#define RANGE   1024u
#define CHECKED 20u

static uint8_t memory[RANGE + 16] __attribute__((aligned(16)));

/* Writes an RSDP at offset AT whose first 20 bytes add up to SUM. The sum of a valid RSDP is 0. */
static void
lay(size_t at, uint8_t sum)
{
	memset(memory, 0, sizeof(memory));
	memcpy(memory + at, "RSD PTR ", 8);
	for (size_t i = 0; i < CHECKED; i++)
		sum = (uint8_t)(sum - memory[at + i]);
	memory[at + 8] = sum;
}

static uint64_t
found(void)
{
	uint64_t at = anchor_find((uintptr_t)memory, RANGE, "RSD PTR ", CHECKED);

	return at ? at - (uintptr_t)memory : RANGE;
}

TEST(an_rsdp_is_found_at_each_multiple_of_16_up_to_the_end)
{
	for (size_t at = 0; at < RANGE; at += 16) {
		lay(at, 0);
		assert_int_equal(found(), at);
	}
}

TEST(an_rsdp_with_a_wrong_checksum_or_alignment_or_beyond_the_end_is_not_found)
{
	lay(32, 1);
	assert_int_equal(found(), RANGE);
	lay(40, 0);
	assert_int_equal(found(), RANGE);
	memset(memory, 0, sizeof(memory));
	memcpy(memory + RANGE, "RSD PTR ", 8);
	assert_int_equal(anchor_find((uintptr_t)memory, RANGE, "RSD PTR ", 0), 0);
}
