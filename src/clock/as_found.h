/*
 * A list of registers that a run may change, with their values. One list is filled before the first driver is opened,
 * and a second list after the last driver was closed. If a value differs, its register was not restored, and the
 * report states this.
 */
#ifndef BARETICK_AS_FOUND_H
#define BARETICK_AS_FOUND_H

#include <stddef.h>
#include <stdint.h>

#define AS_FOUND_MAX 32

struct as_found {
	size_t count;
	struct {
		const char *name; /* in static storage */
		uint64_t value;
	} registers[AS_FOUND_MAX];
};

/* Adds a register. Does nothing if there is no space. */
void as_found_add_register(struct as_found *registers, const char *name, uint64_t value);

/* Returns the index of the first register whose value differs, or the number of registers if all are equal. */
size_t as_found_find_changed_register(const struct as_found *before, const struct as_found *after);

#endif
