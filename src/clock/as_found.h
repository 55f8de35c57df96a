/*
 * The registers that a run may touch, read twice: before the first driver opens and after the last has
 * closed. What differs then was not put back, and the report says so, in every run on every machine.
 */
#ifndef BARETICK_AS_FOUND_H
#define BARETICK_AS_FOUND_H

#include <stddef.h>
#include <stdint.h>

#define AS_FOUND_MAX 32

struct as_found {
	size_t count;
	struct {
		const char *name; /* static storage */
		uint64_t value;
	} registers[AS_FOUND_MAX];
};

/* Adds one while there is space. */
void as_found_add(struct as_found *registers, const char *name, uint64_t value);

/* The first place at which two readings of the same registers differ; their count where none does. */
size_t as_found_difference(const struct as_found *before, const struct as_found *after);

#endif
