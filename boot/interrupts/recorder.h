/* Declarations for interrupts.c and recorder.nasm. */
#ifndef BARETICK_RECORDER_H
#define BARETICK_RECORDER_H

#include "clock/timer.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define SAME_OFFSET(field, offset) \
	_Static_assert(offsetof(struct timer_slot, field) == (offset), "boot/interrupts/recorder.nasm: timer_slot." #field)

SAME_OFFSET(taken, 0);
SAME_OFFSET(strays, 8);
SAME_OFFSET(space, 16);
SAME_OFFSET(counter_address, 24);
SAME_OFFSET(eoi_address, 32);
SAME_OFFSET(acknowledge, 40);
SAME_OFFSET(timer, 48);
SAME_OFFSET(events, 56);
_Static_assert(sizeof(struct timer_event) == 16, "boot/interrupts/recorder.nasm: event");

#undef SAME_OFFSET

extern struct timer_slot *recorder_slot HIDDEN; /* buffer for the boot core's timer interrupts */
extern const uint8_t recorder_record[] HIDDEN, recorder_count_stray[] HIDDEN, recorder_ignore_spurious[] HIDDEN;

#endif
