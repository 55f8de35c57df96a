/* Declarations that check_pit.c, check_pit_out.c and check_pit_modes.c share. */
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

/* longest durations of the functions below if the PIT has its nominal rate */
#define PIT_END_NS   (40 * UINT64_C(1000000))
#define PIT_MODES_NS (10 * UINT64_C(1000000))

/* A check that the counter goes on from FFFFh after the end of its count in modes 0 and 4. */
check_function pit_check_end_of_count;
/* A check that modes 6 and 7 count like modes 2 and 3. */
check_function pit_check_modes_6_and_7;

uint64_t pit_gcd(uint64_t a, uint64_t b);

/*
 * Returns true, and sets the sentence of ROW, if the counter wraps within the time that a try needs. Its tick is
 * then also shorter than the differences between the times of readings.
 */
bool pit_is_counter_too_fast(const struct checking *checking, struct behaviour *row);

/* Waits for a time that depends on READING, so that the readings are not synchronised with the counter. */
void pit_wait_varying_time(const struct checking *checking, unsigned reading);

#endif
