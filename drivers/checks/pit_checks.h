/* Declarations that check_pit.c and check_pit_out.c share. */
#ifndef BARETICK_PIT_CHECKS_H
#define BARETICK_PIT_CHECKS_H

#include "checks/check.h"
#include "clocks/pit_registers.h"
#include "hw/wait.h"

/* longest wait in ns until a count is loaded; a working PIT loads it at its next tick, within 838 ns */
#define PIT_LOADED_NS WAIT_NS_PER_MS

/*
 * Waits until the PIT has loaded the count that was written, at most PIT_LOADED_NS. Returns the channel's status after
 * that.
 */
static inline uint8_t
pit_wait_until_loaded(const struct checking *checking)
{
	struct wait wait = wait_begin(checking->scale, PIT_LOADED_NS);
	uint8_t status;

	do
		status = pit_read_status();
	while ((status & STATUS_NULL_COUNT) && wait_has_time_left(&wait));
	return status;
}

#define PIT_OUT_NS (12 * UINT64_C(1000000)) /* longest duration of pit_check_out() if the PIT has its nominal rate */

/* A check (see check.h) that OUT of channel 2 rises when the count has ended. */
check_function pit_check_out;

#endif
