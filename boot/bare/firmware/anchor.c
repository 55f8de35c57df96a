/* Searches memory for a table's anchor string. See bare.h. */
#include "bare/firmware/bare.h"

#include <stdbool.h>

#include "base/text.h"

#define ANCHOR_STEP 16u

static bool
has_zero_checksum(const uint8_t *bytes, size_t size)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = (uint8_t)(sum + bytes[i]);
	return sum == 0;
}

uint64_t
anchor_find(uint64_t begin, size_t size, const char *anchor, size_t checksum_size)
{
	size_t length = text_length(anchor);

	for (uint64_t address = begin; address < begin + size; address += ANCHOR_STEP) {
		const uint8_t *bytes = (const uint8_t *)(uintptr_t)address;

		if (__builtin_memcmp(bytes, anchor, length) == 0 && has_zero_checksum(bytes, checksum_size))
			return address;
	}
	return 0;
}
