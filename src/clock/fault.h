/*
 * An exception in baretick's own code, with its vector and its address. The exceptions are described in SDM vol. 3A,
 * 6.3.1, table 6-1, and 6.13.
 */
#ifndef BARETICK_FAULT_H
#define BARETICK_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct fault {
	uint32_t vector;
	/* true if AT is an offset into the image, as in build/baretick.so; otherwise AT is an address */
	bool in_image;
	uint64_t at;      /* address or offset of the instruction */
	uint64_t error;   /* error code; 0 if the vector has none */
	uint64_t address; /* address that caused a page fault */
};

#define FAULT_PAGE 14u

/* Bit V is set if the processor pushes an error code with vector V. */
#define FAULT_ERRORS 0x60227d00u

/* Prints for example "#PF (vector 14, error 2h) at baretick+1a30h, address fed000f0h". */
void fault_print(struct text *text, const struct fault *fault);

/* Prints the sentence "baretick itself took an exception: ...". */
void fault_print_own(struct text *text, const struct fault *fault);

/* Runs WORK. If an exception ends it, describes the exception in FAULT and returns false. */
typedef bool fault_guard(void (*work)(void *argument), void *argument, struct fault *fault);

#endif
