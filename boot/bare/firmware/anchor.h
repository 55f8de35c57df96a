/* Tables that firmware marks by an anchor string in memory. */
#ifndef BARETICK_ANCHOR_H
#define BARETICK_ANCHOR_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the address of the first ANCHOR that starts at a multiple of 16 bytes in SIZE bytes at BEGIN, and whose
 * CHECKED bytes sum up to 0; or 0. The table may reach beyond the SIZE bytes.
 */
uint64_t anchor_find(uint64_t begin, size_t size, const char *anchor, size_t checked);

#endif
