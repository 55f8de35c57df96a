/* Finds tables that firmware marks by an anchor string in memory. */
#ifndef BARETICK_ANCHOR_H
#define BARETICK_ANCHOR_H

#include <stddef.h>
#include <stdint.h>

/*
 * Searches SIZE bytes at BEGIN for ANCHOR, at multiples of 16 bytes. Returns the address of the first match whose
 * CHECKED bytes sum up to 0, or 0 if there is none. The table may reach beyond the SIZE bytes.
 */
uint64_t anchor_find(uint64_t begin, size_t size, const char *anchor, size_t checked);

#endif
