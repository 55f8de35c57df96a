/*
 * The registers that a run may touch, read before the first driver opens and after the last has closed. A
 * register that differs was not restored, and the report says so in every run.
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

/* Adds a register while there is space. */
void as_found_add(struct as_found *registers, const char *name, uint64_t value);

/* Index of the first register whose two readings differ; the count if none differs. */
size_t as_found_difference(const struct as_found *before, const struct as_found *after);

#endif
