/* The free memory: ranges of pages in a table of fixed size. */
#ifndef BARETICK_RAM_H
#define BARETICK_RAM_H

#include <stddef.h>
#include <stdint.h>

#define RAM_RANGES_MAX 256

struct ram {
	size_t count;
	/* free ranges of whole pages, disjoint and in any order */
	struct ram_range { uint64_t begin, end; } ranges[RAM_RANGES_MAX];
};

/*
 * Adds the complete pages within SIZE bytes at BEGIN to the free memory. If the table is full, the pages are not used.
 */
void ram_add_range(struct ram *ram, uint64_t begin, uint64_t size);

/* Removes each page that contains a byte of the SIZE bytes at BEGIN from the free memory. */
void ram_remove_range(struct ram *ram, uint64_t begin, uint64_t size);

/*
 * Allocates the highest PAGES adjacent free pages whose last byte is at or below ADDRESS_MAX. Returns their address, or
 * 0 if there are none.
 */
uint64_t ram_allocate(struct ram *ram, uint64_t address_max, size_t pages);

#endif
