/* Declarations for the two files of the PIT's checks. */
#ifndef BARETICK_PIT_CHECKS_H
#define BARETICK_PIT_CHECKS_H

#include "checks/check.h"
#include "clocks/pit_registers.h"
#include "hw/wait.h"

#define PIT_LOADED_NS WAIT_NS_PER_MS /* the count is loaded by the next clock, 838 ns */

/* Waits until the count that was written is loaded, but no longer than that; the status then. */
static inline uint8_t
pit_wait_until_loaded(const struct checking *checking)
{
	struct wait wait = wait_begin(checking->scale, PIT_LOADED_NS);
	uint8_t status;

	do
		status = pit_read_status();
	while ((status & STATUS_NULL_COUNT) && wait_goes_on(&wait));
	return status;
}

#define PIT_OUT_NS (12 * UINT64_C(1000000)) /* what the next one takes, at most, where the PIT keeps its rate */

/* A check, see check.h: whether OUT of channel 2 rises when it is asked to. */
check_look pit_look_at_out;

#endif
