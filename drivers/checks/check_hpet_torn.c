/*
 * Checks that 64-bit readings of the HPET are not torn (IA-PC HPET 1.0a). If the low half rolls over between two 32-bit
 * accesses, their combination may be a value that the counter never had. The same happens if the bus splits a 64-bit
 * access in two.
 */
#include "checks/check.h"
#include "checks/check_internal.h"
#include "clocks/hpet_registers.h"
#include "hw/wait.h"

#define HPET_FS_PER_NS    UINT64_C(1000000)
#define TORN_BEFORE_NS    (200 * UINT64_C(1000)) /* readings start this long before the low half's rollover */
#define TORN_EXTRA_NS     WAIT_NS_PER_MS
#define TORN_READINGS_AFTER 64u
/*
 * Longest duration of a valid reading during the rollover. A longer reading is ignored, because it might be torn and
 * still look plausible.
 */
#define TORN_CROSSING_NS  (50 * UINT64_C(1000))

/* Takes a 64-bit reading between two TSC reads: in one access if IN_ONE_ACCESS is set, otherwise like hpet_read64(). */
static struct sample
sample_counter(const struct checking *checking, bool in_one_access)
{
	struct sample sample = { .begin = check_read_tsc(checking->device) };

	sample.ticks = in_one_access ? hw_read64(checking->device->address + HPET_COUNTER) :
			       hpet_read64(checking->device);
	sample.end = check_read_tsc(checking->device);
	return sample;
}

static bool
is_plausible_counter_step(const struct hpet_pace *pace, const struct sample *then, const struct sample *now)
{
	return now->ticks - then->ticks <= hpet_get_ticks_max_during(pace, now->end - then->begin);
}

/*
 * Returns true if one 64-bit access gives a valid reading. Returns false in a guest without testing it, because the
 * hypervisor may split the access, as the specification allows for a 32-bit bus.
 */
static bool
can_be_read_in_one_access(const struct checking *checking, const struct hpet_pace *pace)
{
	struct sample before, plain;

	if (check_is_guest(checking))
		return false;
	before = sample_counter(checking, false);
	plain = sample_counter(checking, true);
	return is_plausible_counter_step(pace, &before, &plain);
}

/* Takes readings until the counter's low half has rolled over, and fills ROW with the result. */
static void
read_across_rollover(const struct checking *checking, struct behaviour *row, const struct hpet_pace *pace,
		     bool in_one_access)
{
	struct check_wait wait = check_wait_begin(checking, TORN_BEFORE_NS + TORN_EXTRA_NS);
	uint64_t interrupts = hw_interrupts_mask(), crossing_ticks = 0;
	struct sample then = sample_counter(checking, false), now = then;
	unsigned after = 0, readings = 1;
	bool torn = false;

	while (!torn && after < TORN_READINGS_AFTER && check_wait_has_time_left(&wait)) {
		now = sample_counter(checking, in_one_access && readings % 2);
		readings++;
		torn = !is_plausible_counter_step(pace, &then, &now);
		if (!torn && (uint32_t)now.ticks < (uint32_t)then.ticks)
			crossing_ticks = now.end - then.begin;
		after += crossing_ticks != 0;
		if (!torn)
			then = now;
	}
	hw_interrupts_restore(interrupts);
	if (!torn && (!crossing_ticks || crossing_ticks > scale_ns_to_ticks(checking->scale, TORN_CROSSING_NS))) {
		check_mark_disturbed(row);
		return;
	}
	check_set_outcome(row, torn);
	if (torn)
		behaviour_set_text(row, "At the rollover of the low half the HPET read %lxh, then %lxh.",
			       then.ticks, now.ticks);
	else
		behaviour_set_text(row, "%u readings across the rollover of the low half are in order%s.",
			       readings, in_one_access ? ", whether read by one access or by several" : "");
}

void
hpet_check_torn_readings(const struct checking *checking, struct behaviour *row)
{
	uint64_t period_fs = checking->rows->claimed.den, rollover_ns, left_ns;
	uint32_t low = hpet_read_low_half(checking), before;

	if (checking->rows->width_bits != 64) {
		behaviour_set_text(row, "The HPET is 32 bits wide, so one access reads all of it.");
		return;
	}
	rollover_ns = scale_mul_div((uint64_t)UINT32_MAX - low + 1, period_fs, HPET_FS_PER_NS);
	left_ns = check_get_time_left_ns(checking);
	if (rollover_ns < 2 * TORN_BEFORE_NS) {
		behaviour_set_text(row, "The low half rolls over in %lu ms, too soon.", rollover_ns / WAIT_NS_PER_MS);
		return;
	}
	/* A longer profile rarely helps: the most time for the HPET's checks is 7.5 s, and a period is up to 429 s. */
	if (rollover_ns + TORN_EXTRA_NS > left_ns) {
		behaviour_mark_unchecked(row, UNCHECKED_TIME, "The test takes %lu ms, until the low half has rolled over, but "
					 "only %lu ms were left for this device's checks. As it rolls over only once in %lu s, "
					 "few runs can make this test.", check_round_up_to_ms(rollover_ns + TORN_EXTRA_NS),
					 left_ns / WAIT_NS_PER_MS,
					 scale_mul_div(UINT64_C(1) << 32, period_fs, HPET_FS_PER_NS) / WAIT_NS_PER_S);
		return;
	}
	struct hpet_pace pace = hpet_measure_rate_by_tsc(checking);
	bool plain = can_be_read_in_one_access(checking, &pace);

	before = (uint32_t)(TORN_BEFORE_NS * HPET_FS_PER_NS / period_fs);
	struct wait wait = wait_begin(checking->scale, rollover_ns);
	while (low <= UINT32_MAX - before && wait_has_time_left(&wait))
		low = hpet_read_low_half(checking);
	read_across_rollover(checking, row, &pace, plain);
}
