/* Common functions of the clock drivers. See probe.h. */
#include "clocks/probe.h"

#include <stdarg.h>

#include "base/text.h"

/*
 * Limits of the wait for a counter to move. It ends after 2^24 TSC ticks: 3 ms at 5 GHz, 17 ms at 1 GHz. The slowest
 * counter is the RTC's periodic flag at 8,192 Hz, which is set every 122 us. There is a minimum number of polls,
 * because the core may be preempted. A maximum number of polls ends the wait if the TSC has stopped.
 */
#define WAIT_TICKS      (UINT64_C(1) << 24)
#define WAIT_POLLS_MIN  64
#define WAIT_POLLS_MAX  100000

bool
probe_initialize_clocks(const struct platform *platform, struct device *device, struct clock *clocks,
			const struct driver *driver)
{
	device->bracket_with_mfence = !platform->cpu.lfence_serialises;
	for (size_t i = 0; i < driver->clock_count; i++) {
		clocks[i] = driver->rows[i];
		clocks[i].main = driver->rows[0].id;
		clocks[i].device = device;
		if (!platform->cpu.has_tsc)
			probe_set_state(&clocks[i], CLOCK_ABSENT, "CPUID 1h EDX[4] reports no TSC.");
	}
	return platform->cpu.has_tsc;
}

void
probe_close(struct device *)
{
}

static void
append_reason(struct clock *clock, const char *format, va_list arguments)
{
	struct text text = text_continue(clock->reason, sizeof(clock->reason));

	if (text.length)
		text_put_char(&text, ' ');
	text_vprintf(&text, format, arguments);
}

bool
probe_set_state(struct clock *clock, enum clock_state state, const char *format, ...)
{
	va_list arguments;

	clock->state = state;
	clock->reason[0] = 0;
	va_start(arguments, format);
	append_reason(clock, format, arguments);
	va_end(arguments);
	return false;
}

void
probe_append_note(struct clock *clock, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	append_reason(clock, format, arguments);
	va_end(arguments);
}

void
probe_copy_state_of_first_clock(struct clock *clocks, size_t count)
{
	for (size_t i = 1; i < count; i++)
		probe_set_state(&clocks[i], clocks[0].state, "%s", clocks[0].reason);
}

bool
probe_wait_has_time_left(struct probe_wait *wait)
{
	uint64_t now = hw_tsc();

	if (wait->polls == 0)
		wait->begin = now;
	wait->polls++;
	if (wait->polls > WAIT_POLLS_MAX)
		return false;
	return wait->polls <= WAIT_POLLS_MIN || (int64_t)(now - wait->begin) < (int64_t)WAIT_TICKS;
}

bool
probe_counter_moves(sample_read *read, struct device *device)
{
	struct probe_wait wait = { 0 };
	uint64_t first = read(device);

	while (probe_wait_has_time_left(&wait))
		if (read(device) != first)
			return true;
	return false;
}
