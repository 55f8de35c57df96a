/* The free memory, as ranges of pages in a table of fixed size. */
#ifndef BARETICK_RAM_H
#define BARETICK_RAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAM_RANGES_MAX 256

struct ram {
	size_t count;
	struct ram_range { uint64_t begin, end; } ranges[RAM_RANGES_MAX]; /* multiples of a page, in any order, disjoint */
};

/* Adds the whole pages of SIZE bytes at BEGIN. If the table is full, they stay unused. */
void ram_add(struct ram *ram, uint64_t begin, uint64_t size);

/* Removes each page that SIZE bytes at BEGIN touch. */
void ram_remove(struct ram *ram, uint64_t begin, uint64_t size);

/*
 * Removes the highest PAGES adjacent pages whose last byte is at or below ADDRESS_MAX. Returns their address, or 0 if
 * there are none.
 */
uint64_t ram_allocate(struct ram *ram, uint64_t address_max, size_t pages);

#endif
