/* A set of numbers from 0 to 31 in a 32-bit word. Bit I is set if I is in the set. */
#ifndef BARETICK_SET_H
#define BARETICK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint32_t
set_of(size_t number)
{
	return UINT32_C(1) << number;
}

static inline bool
set_has(uint32_t set, size_t number)
{
	return set >> number & 1;
}

static inline unsigned
set_size(uint32_t set)
{
	unsigned count = 0;

	for (; set; set &= set - 1)
		count++;
	return count;
}

#endif
