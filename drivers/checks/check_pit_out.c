/*
 * Checks that OUT of the PIT's channel 2 rises in time (Intel 8254 data sheet, mode 0). The requested time is counted
 * in PIT ticks. Therefore this check does not fail if only the PIT's rate is wrong, which another rule reports.
 */
#include "checks/check.h"
#include "checks/pit_checks.h"
#include "hw/wait.h"

#define US                UINT64_C(1000)
#define OUT_TRIES         3u
#define OUT_COUNT         1193u /* number of PIT ticks in 1 ms */
#define OUT_COUNT_MAX     0x8000u /* half of the counter's range, so that the rise is before a wrap */
#define OUT_BOUND_FACTOR  4 /* the wait for OUT ends after this many times the requested time */
#define PACE_SPAN_FACTOR  4
/* The PIT's wraps are not counted, so its ticks are only counted for a time shorter than 3/4 of its range. */
#define SPAN_RANGE_NUM    3
#define SPAN_RANGE_DEN    4
/*
 * OUT is not checked if the PIT is slower than nominal by more than this factor, because interrupts would be masked for
 * too long.
 */
#define PACE_SLOWEST_FACTOR 16
#define PORT_B_UNREADABLE 0xffu

/* The duration of the requested count, as an interval in TSC ticks. */
struct duration {
	uint64_t low_ticks, high_ticks;
};

/* Returns the count that takes 1 ms, or the largest count if the PIT is too fast for that. */
static uint32_t
get_requested_count(const struct checking *checking)
{
	return checking->pace < OUT_COUNT_MAX / OUT_COUNT ? OUT_COUNT * (uint32_t)checking->pace : OUT_COUNT_MAX;
}

/* Returns the PIT ticks until OUT rises. In mode 0 it rises N + 1 ticks after the count N was written. */
static uint32_t
get_requested_clocks(const struct checking *checking)
{
	return get_requested_count(checking) + 1;
}

/* Returns the duration of CLOCKS PIT ticks, by the nominal rate times its measured multiple. */
static uint64_t
get_expected_tsc_ticks(const struct checking *checking, uint64_t clocks)
{
	const struct rate *claimed = &checking->rows->claimed, *tsc = &checking->scale->hz;

	return scale_mul_div_wide((unsigned __int128)tsc->num * claimed->den, clocks,
				  (unsigned __int128)tsc->den * claimed->num * checking->pace, SCALE_NEAREST);
}

static struct duration
get_nominal_count_duration(const struct checking *checking)
{
	uint64_t ticks = get_expected_tsc_ticks(checking, get_requested_clocks(checking));

	return (struct duration){ ticks, ticks };
}

/*
 * Counts PIT ticks for NS, and calculates the duration of the requested count. Uses mode 0, because emulators may run
 * other modes at another rate. If the core was preempted, the counter may have wrapped. The result is then the interval
 * from 0 to UINT64_MAX.
 */
static struct duration
measure_count_duration(const struct checking *checking, uint64_t ns)
{
	uint64_t interrupts = hw_interrupts_mask(), clocks, requested = get_requested_clocks(checking);
	uint64_t range_ticks = get_expected_tsc_ticks(checking, checking->rows->wrap_ticks + 1);
	struct sample first, last;

	hw_out8(PIT_CONTROL, CONTROL_MODE_0);
	hw_out8(PIT_DATA_2, 0);
	hw_out8(PIT_DATA_2, 0);
	(void)pit_wait_until_loaded(checking);
	struct wait wait = wait_begin(checking->scale, ns);
	checking->rows->sample(checking->device, &first, 1);
	while (wait_has_time_left(&wait))
		;
	checking->rows->sample(checking->device, &last, 1);
	pit_start_counting();
	hw_interrupts_restore(interrupts);
	clocks = clock_elapsed_ticks(checking->rows, first.ticks, last.ticks);
	if (last.end - first.begin > PACE_SPAN_FACTOR * scale_ns_to_ticks(checking->scale, ns) ||
	    last.end - first.begin > range_ticks / SPAN_RANGE_DEN * SPAN_RANGE_NUM)
		return (struct duration){ 0, UINT64_MAX };
	return (struct duration){
		scale_mul_div(requested, last.begin - first.end, clocks + 1),
		clocks <= 1 ? UINT64_MAX : scale_mul_div_up(requested, last.end - first.begin, clocks - 1),
	};
}

static bool
durations_overlap(const struct duration *a, const struct duration *b)
{
	return a->low_ticks <= b->high_ticks && b->low_ticks <= a->high_ticks;
}

/*
 * Returns the duration that the requested count should have. Uses the PIT's measured rate if two measurements agree
 * that it differs from the nominal rate. Otherwise uses the nominal rate.
 */
static struct duration
get_requested_count_duration(const struct checking *checking)
{
	struct duration claim = get_nominal_count_duration(checking);
	uint64_t ns = scale_ns(checking->scale, claim.high_ticks);
	struct duration pace = measure_count_duration(checking, ns), again = measure_count_duration(checking, ns / 2);

	if (durations_overlap(&claim, &pace) || durations_overlap(&claim, &again) || !durations_overlap(&pace, &again))
		return claim;
	return pace;
}

enum out { OUT_ROSE, OUT_NEVER_LOW, OUT_NEVER_HIGH, OUT_UNCLEAR, OUT_KINDS };

/* The time from the write of the count's last byte to the rise of OUT, as an interval in TSC ticks. */
struct rise {
	int64_t low_ticks, high_ticks;
};

static enum out
test_out_pin(const struct checking *checking, const struct duration *requested, struct rise *rise)
{
	struct check_wait wait;
	uint64_t begin, end, written_begin, written_end, low_tsc = 0;
	bool high, was_low = false;

	hw_out8(PIT_CONTROL, CONTROL_MODE_0);
	hw_out8(PIT_DATA_2, get_requested_count(checking) & 0xff);
	written_begin = check_read_tsc(checking->device);
	hw_out8(PIT_DATA_2, (uint8_t)(get_requested_count(checking) >> 8));
	written_end = check_read_tsc(checking->device);
	wait = check_wait_begin(checking, OUT_BOUND_FACTOR * scale_ns(checking->scale, requested->high_ticks));
	do {
		begin = check_read_tsc(checking->device);
		high = hw_in8(PORT_B) & PORT_B_OUT_2;
		end = check_read_tsc(checking->device);
		if (!high) {
			was_low = true;
			low_tsc = begin;
		}
	} while (!high && check_wait_has_time_left(&wait));
	if (!high)
		return OUT_NEVER_HIGH;
	if (!was_low)
		return end - written_begin < requested->low_ticks / 2 ? OUT_NEVER_LOW : OUT_UNCLEAR;
	rise->low_ticks = (int64_t)(low_tsc - written_end);
	rise->high_ticks = (int64_t)(end - written_begin);
	return OUT_ROSE;
}

static int64_t
round_down_to_us(int64_t ns)
{
	return ns / (int64_t)US - (ns % (int64_t)US < 0);
}

static void
report_out_rise(const struct checking *checking, struct behaviour *row, const struct rise *rise,
		const struct duration *requested)
{
	int64_t low_ns = scale_ticks_to_ns_down(checking->scale, rise->low_ticks - (int64_t)requested->high_ticks);
	int64_t high_ns = scale_ticks_to_ns_up(checking->scale, rise->high_ticks - (int64_t)requested->low_ticks);

	check_set_figure(row, round_down_to_us(low_ns), -round_down_to_us(-high_ns));
	if (row->low >= 0)
		behaviour_set_text(row, "OUT rose %ld to %ld us after the end of its count of %u clocks.", row->low, row->high,
				   get_requested_clocks(checking));
	else if (row->high <= 0)
		behaviour_set_text(row, "OUT rose %ld to %ld us before the end of its count of %u clocks.", -row->high, -row->low,
				   get_requested_clocks(checking));
	else
		behaviour_set_text(row, "OUT rose between %ld us before and %ld us after the end of its count of %u clocks.",
				   -row->low, row->high, get_requested_clocks(checking));
}

/* Returns the distance in TSC ticks between RISE and the requested time. Returns 0 if the intervals overlap. */
static uint64_t
get_ticks_from_requested_rise(const struct rise *rise, const struct duration *requested)
{
	if (rise->low_ticks > 0 && (uint64_t)rise->low_ticks > requested->high_ticks)
		return (uint64_t)rise->low_ticks - requested->high_ticks;
	if (rise->high_ticks < 0 || (uint64_t)rise->high_ticks < requested->low_ticks)
		return requested->low_ticks - (uint64_t)(rise->high_ticks < 0 ? 0 : rise->high_ticks);
	return 0;
}

/*
 * Returns true if RISE is nearer to the requested time than BEST, or at the same distance and more exact. The best of
 * several tries counts, because a real fault appears in every try, but a stopped TSC may spoil a single try.
 */
static bool
is_rise_nearer_to_request(const struct rise *rise, const struct rise *best, const struct duration *requested)
{
	uint64_t far = get_ticks_from_requested_rise(rise, requested);
	uint64_t best_far = get_ticks_from_requested_rise(best, requested);

	if (far != best_far)
		return far < best_far;
	return rise->high_ticks - rise->low_ticks < best->high_ticks - best->low_ticks;
}

/*
 * Reports the best of OUT_TRIES tries. If OUT rose in no try, reports that OUT stayed low or was high at once. If all
 * tries were unclear, marks ROW as disturbed.
 */
void
pit_check_out(const struct checking *checking, struct behaviour *row)
{
	struct rise best = { 0, 0 }, rise = best;
	unsigned counts[OUT_KINDS] = { 0 };

	if (hw_in8(PORT_B) == PORT_B_UNREADABLE) {
		behaviour_set_text(row, "Port 61h, where OUT is read, reads FFh.");
		return;
	}
	struct duration time = get_requested_count_duration(checking);
	if (time.high_ticks > PACE_SLOWEST_FACTOR * get_nominal_count_duration(checking).high_ticks) {
		behaviour_set_text(row, "The counter hardly counts.");
		return;
	}
	uint64_t requested_us = scale_ns(checking->scale, time.high_ticks) / US;
	for (unsigned i = 0; i < OUT_TRIES; i++) {
		uint64_t interrupts = hw_interrupts_mask();
		enum out out = test_out_pin(checking, &time, &rise);

		pit_start_counting();
		hw_interrupts_restore(interrupts);
		counts[out]++;
		if (out == OUT_ROSE && (counts[OUT_ROSE] == 1 || is_rise_nearer_to_request(&rise, &best, &time)))
			best = rise;
	}
	if (counts[OUT_ROSE]) {
		report_out_rise(checking, row, &best, &time);
		return;
	}
	if (counts[OUT_UNCLEAR] && checking->pace > 1) {
		behaviour_set_text(row, "OUT rises too soon for this test: the counter runs %lu times too fast.", checking->pace);
		return;
	}
	if (counts[OUT_UNCLEAR] == OUT_TRIES) {
		check_mark_disturbed(row);
		return;
	}
	check_set_outcome(row, true);
	if (counts[OUT_NEVER_HIGH])
		behaviour_set_text(row, "OUT (port 61h bit 5) was set to rise after %lu us and did not within %lu us.",
				   requested_us, OUT_BOUND_FACTOR * requested_us);
	else
		behaviour_set_text(row, "OUT (port 61h bit 5) was set to rise after %lu us, but was high at once.", requested_us);
}
