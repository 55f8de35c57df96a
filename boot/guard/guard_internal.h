/* Declarations that guard.c and guard_entry.nasm share. */
#ifndef BARETICK_GUARD_INTERNAL_H
#define BARETICK_GUARD_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#define GUARD_VECTORS 32u /* number of exceptions: SDM vol. 3A, 6.3.1 */
#define GUARD_STUB_SIZE 16u

struct guard {
	struct guard *outer;
	uint64_t stack; /* stack pointer in guard_enter(), restored when the guard ends */
	uint64_t vector, at, error, address; /* the exception that ended the guard */
	void (*work)(void *argument);
	void *argument;
	/* true for a core other than the boot core: it executes no firmware code, so each exception is in our code */
	bool runs_no_firmware;
};

#define SAME_OFFSET(field, offset) \
	_Static_assert(offsetof(struct guard, field) == (offset), "boot/guard/guard_entry.nasm: guard." #field)

SAME_OFFSET(outer, 0);
SAME_OFFSET(stack, 8);
SAME_OFFSET(vector, 16);
SAME_OFFSET(at, 24);
SAME_OFFSET(error, 32);
SAME_OFFSET(address, 40);

#undef SAME_OFFSET

#define HIDDEN __attribute__((visibility("hidden")))

/* Defined in boot/guard/guard_entry.nasm. */
extern const uint8_t guard_stubs_boot[] HIDDEN, guard_stubs_core[] HIDDEN; /* arrays of GUARD_VECTORS stubs */

/*
 * Calls guard_call_work(GUARD). During the call *TOP is GUARD, the innermost guard. Returns true if guard_call_work()
 * returned, false if an exception ended GUARD.
 */
bool guard_enter(struct guard *guard, struct guard **top) HIDDEN;

/* Ends GUARD and all guards within it. The guard_enter() that started GUARD returns false. */
void guard_unwind(struct guard *guard) __attribute__((noreturn)) HIDDEN;

/* Defined in guard.c, for guard_entry.nasm. */
void guard_call_work(struct guard *guard) HIDDEN;
/* STACK is RSP at the exception. */
bool guard_handles_exception(const struct guard *guard, const uint64_t *stack) HIDDEN;
extern struct guard *guard_top HIDDEN;                      /* innermost guard of the boot core, or NULL */
extern uint64_t guard_firmware[GUARD_VECTORS] HIDDEN;       /* the firmware's own handlers */

#endif
