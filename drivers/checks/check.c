/* Common functions of the devices' checks. See check.h. */
#include "checks/check.h"

#include "clocks/probe.h"
#include "hw/wait.h"

/*
 * A wait counts at most this time for one poll, in ns. A poll has a few accesses, and an access takes up to 57 us in a
 * nested guest.
 */
#define CHECK_POLL_NS_MAX  UINT64_C(100000)
/* the TSC has stopped if this many polls in a row read the same value; these polls take at least 8 ms */
#define CHECK_STILL_POLLS_MAX 65536u
/*
 * Assumed minimum duration of a poll of a port, in ns. It limits the number of polls in a wait. On bare metal a poll
 * takes 500 ns or more. In an emulator a poll took only 120 ns, so a wait may end a fifth too early there.
 */
#define CHECK_POLL_NS_MIN  150u

static uint64_t
read_tsc(void *device)
{
	return check_read_tsc(device);
}

void
check_discard_rows_if_tsc_stopped(const struct checking *checking, struct behaviours *behaviours, size_t first)
{
	if (probe_counter_moves(read_tsc, checking->device))
		return;
	for (size_t i = first; i < behaviours->count; i++) {
		struct behaviour *row = &behaviours->rows[i];

		*row = (struct behaviour){ .rule = row->rule, .clock = row->clock };
		behaviour_set_text(row, "The TSC stopped, so it could not time this test.");
	}
}

uint64_t
check_round_up_to_ms(uint64_t ns)
{
	return (ns + WAIT_NS_PER_MS - 1) / WAIT_NS_PER_MS;
}

uint64_t
check_get_time_left_ns(const struct checking *checking)
{
	uint64_t spent_ns = scale_ns(checking->scale, hw_tsc() - checking->begin_tsc);

	return spent_ns < checking->budget_ns ? checking->budget_ns - spent_ns : 0;
}

bool
check_has_time(const struct checking *checking, uint64_t needs_ns, struct behaviour *row)
{
	uint64_t left_ns = check_get_time_left_ns(checking);

	if (left_ns < needs_ns)
		behaviour_mark_unchecked(row, UNCHECKED_TIME, "The test takes %lu ms, but only %lu ms were left for the "
					 "checks of this device. " CHECK_TIME_BY_PROFILE, check_round_up_to_ms(needs_ns),
					 left_ns / WAIT_NS_PER_MS);
	return left_ns >= needs_ns;
}

void
check_run_all(const struct checking *checking, const struct check *checks, struct behaviours *behaviours)
{
	for (; checks->rule; checks++) {
		bool asked = check_must_run_next_rows(checking, behaviours, 1);
		struct behaviour *row = behaviour_add_row(behaviours, checks->rule, checking->rows->id);

		if (row && asked && check_has_time(checking, checks->needs_ns, row))
			checks->run(checking, row);
		check_discard_rows_if_tsc_stopped(checking, behaviours, behaviours->count - (row != NULL));
	}
}

bool
check_must_run_next_rows(const struct checking *checking, const struct behaviours *behaviours, size_t count)
{
	const struct behaviours *before = checking->before;

	for (size_t i = behaviours->count; before && i < before->count && count; i++, count--)
		if (before->rows[i].disturbed)
			return true;
	return !before;
}

uint64_t
check_read_tsc(const struct device *device)
{
	return device->bracket_with_mfence ? hw_tsc_mfence() : hw_tsc_lfence();
}

uint64_t
check_convert_to_clock_ticks(const struct scale *scale, struct rate rate, uint64_t tsc_ticks)
{
	return scale_mul_div_wide((unsigned __int128)tsc_ticks * scale->hz.den, rate.num,
				  (unsigned __int128)scale->hz.num * rate.den, SCALE_UP);
}

bool
check_is_guest(const struct checking *checking)
{
	return checking->platform->cpu.hypervisor[0] != 0;
}

void
check_set_outcome(struct behaviour *row, bool failed)
{
	row->checked = true;
	row->failed = failed;
}

void
check_mark_disturbed(struct behaviour *row)
{
	row->disturbed = true;
	behaviour_set_text(row, "Time was stolen from the core in each try.");
}

void
check_set_figure(struct behaviour *row, int64_t low, int64_t high)
{
	row->checked = true;
	behaviour_set_bounds(row, (struct offset){ low, high });
}

struct check_wait
check_wait_begin(const struct checking *checking, uint64_t bound_ns)
{
	return (struct check_wait){
		.device = checking->device,
		.bound_ticks = scale_ns_to_ticks(checking->scale, bound_ns),
		.poll_ticks_max = scale_ns_to_ticks(checking->scale, CHECK_POLL_NS_MAX),
		.last_tsc = check_read_tsc(checking->device),
		.polls_left = bound_ns / CHECK_POLL_NS_MIN + 1,
	};
}

bool
check_wait_has_time_left(struct check_wait *wait)
{
	uint64_t now = check_read_tsc(wait->device), ticks = now - wait->last_tsc;

	wait->last_tsc = now;
	wait->seen_ticks += ticks < wait->poll_ticks_max ? ticks : wait->poll_ticks_max;
	wait->still = ticks ? 0 : wait->still + 1;
	return --wait->polls_left && wait->still < CHECK_STILL_POLLS_MAX && wait->seen_ticks < wait->bound_ticks;
}
