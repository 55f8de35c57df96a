/*
 * Checks the PIT's channel 2 after the end of its count, and in modes 6 and 7. Intel's 8254 data sheet describes these
 * in "operation common to all modes" and "control word format". Afterwards the channel counts as open() left it.
 */
#include "checks/check.h"
#include "checks/pit_checks.h"
#include "hw/wait.h"

#define END_COUNT      1024u /* 858 us */
#define END_TRIES      3u
#define END_BOUND_NS   (6 * WAIT_NS_PER_MS)
#define STILL_READS    64u   /* a counter near its end that does not move in this many readings has stopped */
#define END_NEAR       16u
/* If two readings are further apart, the core was preempted, and the counter may have wrapped, which takes 54.9 ms. */
#define APART_NS       (5 * WAIT_NS_PER_MS)
#define MODES_COUNT    64u   /* even, so that a count that falls by two starts again from the same value */
#define MODES_READS    128u

enum end { END_GOES_ON, END_STAYS, END_STARTS_AGAIN, END_NOT_REACHED, END_UNCLEAR, ENDS };

/* Writes CONTROL and COUNT to the channel, and waits until the count is loaded. */
static void
load_count(const struct checking *checking, uint8_t control, uint16_t count)
{
	hw_out8(PIT_CONTROL, control);
	hw_out8(PIT_DATA_2, (uint8_t)count);
	hw_out8(PIT_DATA_2, (uint8_t)(count >> 8));
	(void)pit_wait_until_loaded(checking);
}

static uint32_t
read_count(void)
{
	hw_out8(PIT_CONTROL, CONTROL_LATCH);
	return (uint32_t)(0u - pit_read_latched()) & 0xffffu;
}

/*
 * Reads the counter until it shows how it goes on after its end. A core that was preempted proves nothing. If the latch
 * does not hold, a reading may be too low by 256, so only a larger rise shows a new start.
 */
static enum end
watch_end_of_count(const struct checking *checking)
{
	uint64_t apart = scale_ns_to_ticks(checking->scale, APART_NS), before = check_read_tsc(checking->device), now;
	struct wait wait = wait_begin(checking->scale, END_BOUND_NS);
	uint32_t last = END_COUNT, count;
	unsigned still = 0;

	do {
		count = read_count();
		now = check_read_tsc(checking->device);
		if (now - before > apart)
			return END_UNCLEAR;
		if (count > END_COUNT)
			return END_GOES_ON;
		if (count > last + END_COUNT / 2)
			return END_STARTS_AGAIN;
		still = count == last && count <= END_NEAR ? still + 1 : 0;
		before = now;
		last = count;
	} while (still < STILL_READS && wait_has_time_left(&wait));
	return still < STILL_READS ? END_NOT_REACHED : END_STAYS;
}

static enum end
test_end_of_count(const struct checking *checking, uint8_t control)
{
	uint64_t interrupts = hw_interrupts_mask();

	load_count(checking, control, END_COUNT);
	enum end end = watch_end_of_count(checking);
	pit_start_counting();
	hw_interrupts_restore(interrupts);
	return end;
}

void
pit_check_end_of_count(const struct checking *checking, struct behaviour *row)
{
	static const char *const words[ENDS] = { [END_STAYS] = "stays", [END_STARTS_AGAIN] = "starts again" };
	static const struct {
		unsigned mode;
		uint8_t control;
	} modes[] = { { 0, CONTROL_MODE_0 }, { 4, CONTROL_MODE_4 } };

	if (pit_is_counter_too_fast(checking, row))
		return;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		enum end end = END_UNCLEAR;

		for (unsigned try = 0; try < END_TRIES && end == END_UNCLEAR; try++)
			end = test_end_of_count(checking, modes[i].control);
		if (end == END_UNCLEAR) {
			check_mark_disturbed(row);
			return;
		}
		if (end == END_NOT_REACHED) {
			behaviour_set_text(row, "The counter is too slow for this test.");
			return;
		}
		if (end == END_GOES_ON)
			continue;
		check_set_outcome(row, true);
		behaviour_set_text(row, "In mode %u the counter %s after the end of its count.", modes[i].mode, words[end]);
		return;
	}
	check_set_outcome(row, false);
	behaviour_set_text(row, "In modes 0 and 4 the counter goes on from FFFFh after the end of its count.");
}

struct counting {
	uint32_t most; /* highest count that was read */
	uint64_t step; /* greatest common divisor of the counts, which is 1 or 2; 0 if the counter stood still */
};

static struct counting
observe_counting(const struct checking *checking, uint8_t control)
{
	struct counting seen = { 0, 0 };
	uint64_t interrupts = hw_interrupts_mask();
	bool moved = false;

	load_count(checking, control, MODES_COUNT);
	for (unsigned i = 0; i < MODES_READS; i++) {
		uint32_t count = read_count();

		moved |= i && count != seen.most;
		seen.most = count > seen.most ? count : seen.most;
		seen.step = pit_gcd(seen.step, count);
		pit_wait_varying_time(checking, i);
	}
	pit_start_counting();
	hw_interrupts_restore(interrupts);
	if (!moved)
		seen.step = 0;
	return seen;
}

/*
 * Compares the counts in MODE and in its alias. Returns false, and sets the sentence of ROW, if they differ. The
 * core cannot be the cause: a count above the reload value, or an odd one, shows the mode itself.
 */
static bool
count_modes_alike(const struct checking *checking, struct behaviour *row, unsigned mode, uint8_t control, uint8_t alias)
{
	struct counting of_mode = observe_counting(checking, control), of_alias = observe_counting(checking, alias);
	bool starts_again = of_mode.most <= MODES_COUNT, does_alias = of_alias.most <= MODES_COUNT;

	if (starts_again == does_alias && of_mode.step == of_alias.step)
		return true;
	check_set_outcome(row, true);
	if (starts_again != does_alias)
		behaviour_set_text(row, "In mode %u the counter %s from its count, in mode %u it does%s.", mode + 4,
				   does_alias ? "starts again" : "does not start again", mode, starts_again ? "" : " not");
	else
		behaviour_set_text(row, "In mode %u all counts are multiples of %lu, in mode %u of %lu.", mode + 4,
				   of_alias.step, mode, of_mode.step);
	return false;
}

/*
 * In a guest a difference is described, but not judged, because QEMU's hw/timer/i8254.c counts in mode 7 as in mode 2.
 * KVM, Xen and VirtualBox treat these modes as aliases.
 */
void
pit_check_modes_6_and_7(const struct checking *checking, struct behaviour *row)
{
	if (pit_is_counter_too_fast(checking, row))
		return;
	if (count_modes_alike(checking, row, 2, CONTROL_MODE_2, CONTROL_MODE_6) &&
	    count_modes_alike(checking, row, 3, CONTROL_MODE_3, CONTROL_MODE_7)) {
		check_set_outcome(row, false);
		behaviour_set_text(row, "Modes 6 and 7 count like modes 2 and 3.");
		return;
	}
	if (!check_is_guest(checking))
		return;
	row->checked = row->failed = false;
	row->unchecked = UNCHECKED_GUEST;
}
