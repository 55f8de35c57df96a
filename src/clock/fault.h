/* An exception in baretick's own code. Intel SDM vol. 3A, 6.3.1, 6.13 and table 6-1, describes exceptions. */
#ifndef BARETICK_FAULT_H
#define BARETICK_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct fault {
	uint32_t vector;
	/* true if AT is an offset into the image build/baretick.so; false if it is an address */
	bool in_image;
	uint64_t at;      /* offset or address of the instruction that caused the exception */
	uint64_t error;   /* error code; 0 if this vector has none */
	uint64_t address; /* the address whose access caused a page fault */
};

#define FAULT_PAGE 14u

/* bit V is set if the processor pushes an error code for vector V */
#define FAULT_ERRORS 0x60227d00u

/* Prints for example "#PF (vector 14, error 2h) at baretick+1a30h, address fed000f0h". */
void fault_print(struct text *text, const struct fault *fault);

/* Prints a sentence that starts with "baretick itself took an exception: ". */
void fault_print_baretick_exception(struct text *text, const struct fault *fault);

/* Runs WORK. If WORK causes an exception, stops it, describes the exception in FAULT and returns false. */
typedef bool fault_guard(void (*work)(void *argument), void *argument, struct fault *fault);

#endif
