/*
 * Registers that a run may change. They are read before the first driver opens, and again after the last driver has
 * closed. If a value differs, the register was not restored, and the report says so.
 */
#ifndef BARETICK_AS_FOUND_H
#define BARETICK_AS_FOUND_H

#include <stddef.h>
#include <stdint.h>

#define AS_FOUND_MAX 32

struct as_found {
	size_t count;
	struct {
		const char *name; /* name of the register; static storage */
		uint64_t value;
	} registers[AS_FOUND_MAX];
};

/* Adds a register. Does nothing if there is no space. */
void as_found_add(struct as_found *registers, const char *name, uint64_t value);

/* Returns the index of the first register whose two readings differ, or the number of registers if none does. */
size_t as_found_difference(const struct as_found *before, const struct as_found *after);

#endif
