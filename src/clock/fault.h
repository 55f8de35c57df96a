/* An exception that code of ours took: which, and where. SDM vol. 3A, 6.3.1, table 6-1, and 6.13. */
#ifndef BARETICK_FAULT_H
#define BARETICK_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct fault {
	uint32_t vector;
	bool in_image;    /* AT is from the begin of the image, as build/baretick.so has it; else it is an address */
	uint64_t at;      /* of the instruction */
	uint64_t error;   /* 0 where the vector has no error code */
	uint64_t address; /* of a page fault: what was touched */
};

#define FAULT_PAGE 14u

/* Bit V: the processor pushes an error code with vector V. */
#define FAULT_ERRORS 0x60227d00u

/* As "#PF (vector 14, error 2h) at baretick+1a30h, address fed000f0h". */
void fault_print(struct text *text, const struct fault *fault);

/* The sentence "baretick itself took an exception: ..." */
void fault_print_own(struct text *text, const struct fault *fault);

/* Runs WORK; false where it took an exception, which is in FAULT then and has ended it there. */
typedef bool fault_guard(void (*work)(void *argument), void *argument, struct fault *fault);

#endif
