/*
 * Checks the PIT's channel 2 against the Intel 8254 data sheet. After each check the channel counts again, as open()
 * left it.
 */
#include "checks/check.h"
#include "checks/checks.h"
#include "checks/pit_checks.h"
#include "hw/wait.h"

#define US                UINT64_C(1000)
#define STEP_READS        256u
/*
 * The waits between readings are 0 to 6 times STEP_WAIT_NS, which is a seventh of a PIT tick. So the readings are at
 * different times within a tick, even if a reading takes a whole number of ticks.
 */
#define STEP_WAITS        7u
#define STEP_WAIT_NS      120u
#define STEP_POLLS        1000u

#define LATCH_TRIES       8u
/*
 * A latched count is read after a wait of LATCH_HELD_NS, plus LATCH_FACTOR times the duration of the preceding
 * accesses. A count that is not held by the latch changes in this time.
 */
#define LATCH_HELD_NS     (20 * US)
#define LATCH_FACTOR      4u
/* maximum of this wait; if it would be longer, there is no wait, because the counter could wrap before the try ends */
#define LATCH_HELD_NS_MAX (5 * WAIT_NS_PER_MS)
/*
 * A try that takes longer is ignored, because the counter might have wrapped, which it does after 54.9 ms. The limit is
 * below half of that, so that a TSC rate that is wrong by a factor of two cannot hide a wrap.
 */
#define LATCH_SPAN_NS_MAX (20 * WAIT_NS_PER_MS)
#define PACE_MAX          10u /* with a higher multiple of the nominal rate, the counter is not checked */

uint64_t
pit_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static struct sample
take_pit_sample(const struct checking *checking)
{
	struct sample sample;

	checking->rows->sample(checking->device, &sample, 1);
	return sample;
}

static struct sample
take_pit_sample_without_interrupts(const struct checking *checking)
{
	uint64_t interrupts = hw_interrupts_mask();
	struct sample sample = take_pit_sample(checking);

	hw_interrupts_restore(interrupts);
	return sample;
}

bool
pit_is_counter_too_fast(const struct checking *checking, struct behaviour *row)
{
	if (checking->pace <= PACE_MAX)
		return false;
	behaviour_set_text(row, "The counter runs %lu times too fast: it wraps too soon for this test.", checking->pace);
	return true;
}

void
pit_wait_varying_time(const struct checking *checking, unsigned reading)
{
	uint64_t ticks = scale_ns_to_ticks(checking->scale, reading % STEP_WAITS * STEP_WAIT_NS);
	uint64_t begin = check_read_tsc(checking->device);

	for (unsigned polls = STEP_POLLS; polls > 0 && check_read_tsc(checking->device) - begin < ticks; polls--)
		hw_pause();
}

static void
check_smallest_count_step(const struct checking *checking, struct behaviour *row)
{
	uint64_t first_ticks = take_pit_sample_without_interrupts(checking).ticks, step = 0;

	if (pit_is_counter_too_fast(checking, row))
		return;
	for (unsigned i = 0; i < STEP_READS; i++) {
		pit_wait_varying_time(checking, i);
		step = pit_gcd(step, clock_elapsed_ticks(checking->rows, first_ticks,
							 take_pit_sample_without_interrupts(checking).ticks));
	}
	if (step == 0) {
		behaviour_set_text(row, "The counter did not change in %u readings.", STEP_READS);
		return;
	}
	check_set_outcome(row, step != 1);
	behaviour_set_text(row, "In mode 2, all %u readings differ by multiples of %u (expected: 1).", STEP_READS,
			   (unsigned)step);
}

enum latch { LATCH_HELD, LATCH_LOST, LATCH_UNCLEAR, LATCH_KINDS };

/* A latched count under test, between the complete readings BEFORE and AFTER. */
struct latched {
	struct sample before, after;
	uint64_t latched_tsc; /* TSC after the latch command */
	/* TSC after the wait. Then the count is read, in half of the tries after a second latch command. */
	uint64_t waited_tsc;
	uint64_t ticks, wait_ticks;
};

/*
 * Compares the latched count with the readings before and after it. All are in PIT ticks, so the PIT's rate does not
 * matter. The result is unclear if the core was preempted, or if the count fits both a working latch and a latch that
 * does not hold the count.
 */
static enum latch
classify_latch(const struct checking *checking, const struct latched *l)
{
	uint64_t all = clock_elapsed_ticks(checking->rows, l->before.ticks, l->after.ticks);
	uint64_t part = clock_elapsed_ticks(checking->rows, l->before.ticks, l->ticks), held_max, lost_min;

	if (l->after.end - l->before.begin > scale_ns_to_ticks(checking->scale, LATCH_SPAN_NS_MAX / checking->pace) ||
	    l->waited_tsc - l->latched_tsc > 2 * l->wait_ticks ||
	    l->after.end - l->waited_tsc > l->wait_ticks || all == 0)
		return LATCH_UNCLEAR;
	held_max = scale_mul_div_up(l->latched_tsc - l->before.begin, all + 1,
				    l->after.begin - l->before.end) + 1;
	lost_min = scale_mul_div(l->waited_tsc - l->before.end, all - 1, l->after.end - l->before.begin);
	if (held_max + 1 >= lost_min)
		return LATCH_UNCLEAR;
	if (part <= held_max)
		return LATCH_HELD;
	return part + 1 >= lost_min ? LATCH_LOST : LATCH_UNCLEAR;
}

/*
 * Latches a count, waits and reads it. If LATCH_TWICE is set, sends a second latch command before the read, which the
 * PIT must ignore according to the data sheet.
 */
static enum latch
test_latch(const struct checking *checking, bool latch_twice)
{
	uint64_t interrupts = hw_interrupts_mask();
	struct latched l = { .before = take_pit_sample(checking) };

	hw_out8(PIT_CONTROL, CONTROL_LATCH);
	l.latched_tsc = check_read_tsc(checking->device);
	l.wait_ticks = LATCH_FACTOR * (l.latched_tsc - l.before.begin) +
		       scale_ns_to_ticks(checking->scale, LATCH_HELD_NS);
	struct wait wait = wait_begin(checking->scale, scale_ns(checking->scale, l.wait_ticks) < LATCH_HELD_NS_MAX ?
				      scale_ns(checking->scale, l.wait_ticks) : 0);
	while (wait_has_time_left(&wait))
		;
	l.waited_tsc = check_read_tsc(checking->device);
	if (latch_twice)
		hw_out8(PIT_CONTROL, CONTROL_LATCH);
	l.ticks = pit_read_latched();
	l.after = take_pit_sample(checking);
	hw_interrupts_restore(interrupts);
	return classify_latch(checking, &l);
}

static void
check_latch(const struct checking *checking, struct behaviour *row)
{
	unsigned counts[2][LATCH_KINDS] = { { 0 } };

	if (pit_is_counter_too_fast(checking, row))
		return;
	for (unsigned i = 0; i < LATCH_TRIES; i++)
		for (unsigned again = 0; again < 2; again++)
			counts[again][test_latch(checking, again)]++;
	for (unsigned again = 0; again < 2; again++) {
		unsigned held = counts[again][LATCH_HELD], lost = counts[again][LATCH_LOST];

		if (lost > held) {
			check_set_outcome(row, true);
			behaviour_set_text(row, "%s: in %u of %u tries.", again ?
				       "A second latch command latches a new count" :
				       "A latched count keeps counting", lost, LATCH_TRIES);
			return;
		}
		if (held == 0) {
			check_mark_disturbed(row);
			return;
		}
	}
	check_set_outcome(row, false);
	behaviour_set_text(row, "A latched count is held until it is read; a second latch command is ignored.");
}

/* Status bytes after the control words of modes 0 and 2, and after a count was loaded. */
struct statuses {
	uint8_t mode_0, mode_2, loaded;
};

static struct statuses
read_readback_statuses(const struct checking *checking)
{
	struct statuses s;
	uint64_t interrupts = hw_interrupts_mask();

	hw_out8(PIT_CONTROL, CONTROL_MODE_0);
	s.mode_0 = pit_read_status();
	hw_out8(PIT_CONTROL, CONTROL_MODE_2);
	s.mode_2 = pit_read_status();
	pit_start_counting();
	s.loaded = pit_wait_until_loaded(checking);
	if (s.loaded & STATUS_NULL_COUNT)
		/* read again, because the core may have been preempted during the whole wait */
		s.loaded = pit_read_status();
	hw_interrupts_restore(interrupts);
	return s;
}

/*
 * Checks the mode and access bits of the status, and that NULL COUNT is 0 after a count was loaded. On bare metal it
 * also checks that NULL COUNT is 1 between control word and count. QEMU and KVM do not implement this, and no software
 * needs it.
 */
static void
check_readback_status(const struct checking *checking, struct behaviour *row)
{
	struct statuses s = read_readback_statuses(checking);
	bool is_read_back = (s.mode_0 & STATUS_CONTROL) == (CONTROL_MODE_0 & STATUS_CONTROL) &&
		    (s.mode_2 & STATUS_CONTROL) == (CONTROL_MODE_2 & STATUS_CONTROL) &&
		    (s.loaded & STATUS_CONTROL) == (CONTROL_MODE_2 & STATUS_CONTROL);
	bool waits = s.mode_0 & s.mode_2 & STATUS_NULL_COUNT;

	check_set_outcome(row, !is_read_back || (s.loaded & STATUS_NULL_COUNT) || (!waits && !check_is_guest(checking)));
	behaviour_set_text(row, "The status reads %02xh in mode 0, %02xh in mode 2, %02xh after a count was "
			   "loaded%s.", s.mode_0,
		       s.mode_2, s.loaded, waits ? "" : "; NULL COUNT is never set");
}

void
pit_check(const struct checking *checking, struct behaviours *behaviours)
{
	static const struct check checks[] = {
		{ "pit-step", 10 * WAIT_NS_PER_MS, check_smallest_count_step },
		{ "pit-latch", 10 * WAIT_NS_PER_MS, check_latch },
		{ "pit-status", PIT_LOADED_NS, check_readback_status },
		{ "pit-out", PIT_OUT_NS, pit_check_out },
		{ "pit-end", PIT_END_NS, pit_check_end_of_count },
		{ "pit-modes", PIT_MODES_NS, pit_check_modes_6_and_7 },
		{ NULL, 0, NULL },
	};

	if (checking->rows->state == CLOCK_PRESENT)
		check_run_all(checking, checks, behaviours);
}
