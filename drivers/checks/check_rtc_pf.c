/* Checks that the RTC's periodic flag is set at the rate that register A selects. See check_internal.h. */
#include "base/units.h"
#include "checks/check.h"
#include "checks/check_internal.h"
#include "clocks/rtc_registers.h"
#include "hw/wait.h"

#define RULE              "rtc-periodic"
/* duration of a short observation of the flag, with interrupts masked: 4 periods at 1,024 Hz */
#define FAST_NS           (4 * WAIT_NS_PER_MS)
#define FAST_TIMES        32u
/* the check of each fast rate gets 1/FAST_SHARE of the budget, because the checks of updates need the rest */
#define FAST_SHARE        8u
#define NARROW_PPM        (PPM / 4)
/* minimum number of observations that must agree, within a fifth of the rate, because fewer may agree by chance */
#define ALIKE_MIN         4u
#define ALIKE_SHARE       5
#define LONG_TRIES        3u
/*
 * Duration of a longer observation: 6 periods at 64 Hz. Polls around an edge are a few microseconds apart, so the
 * measured rate has an error of about 10 ppm.
 */
#define LONG_NS           (100 * WAIT_NS_PER_MS)
#define LONG_EDGES_MIN    4u
/* time that must be left for the checks of updates, which occur once a second */
#define UPDATES_NS        (1300 * WAIT_NS_PER_MS)
/*
 * Our limits of an edge's lateness in a guest: at up to 64 Hz, and at 1,024 and 8,192 Hz, where the best of many
 * observations counts.
 */
#define GUEST_LATE_NS     (10 * WAIT_NS_PER_MS)
#define GUEST_ALWAYS_NS   WAIT_NS_PER_MS
/*
 * A host may stop a guest and its TSC, while the RTC continues. The guest then sees up to two edges too early: the one
 * that came during the stop, and the next one.
 */
#define GUEST_STOP_EDGES  2u
#define IRREGULAR         "At %u Hz the periodic flag is set irregularly, as on a busy host."

void
rtc_select_8192_hz(const struct checking *checking)
{
	struct device *device = checking->device;

	rtc_write_register(device, REGISTER_A, (device->saved[SAVED_A] & A_DIVIDER) | A_RATE_8192_HZ);
	(void)rtc_read_register(device, REGISTER_C);
}

struct periodic_flag
periodic_flag_start_polling(const struct checking *checking, uint64_t hz, uint8_t select)
{
	struct device *device = checking->device;
	struct periodic_flag flag = { .hz = hz };

	rtc_write_register(device, REGISTER_A, (device->saved[SAVED_A] & A_DIVIDER) | select);
	flag.begin = flag.polled = flag.end = check_read_tsc(device);
	rtc_pf_start(device);
	return flag;
}

void
periodic_flag_poll(const struct checking *checking, struct periodic_flag *flag)
{
	uint64_t begin = check_read_tsc(checking->device);
	bool came = rtc_read_register(checking->device, REGISTER_C) & C_PF;

	flag->end = check_read_tsc(checking->device);
	if (flag->end - flag->polled > flag->longest_ticks)
		flag->longest_ticks = flag->end - flag->polled;
	if (came) {
		flag->last_low = flag->polled;
		flag->last_high = flag->end;
		if (flag->edges++ == 0) {
			flag->first_low = flag->last_low;
			flag->first_high = flag->last_high;
		}
	}
	flag->polled = begin;
}

/*
 * Returns false if the time between two polls was so long that two edges may have been counted as one. Assumes that the
 * flag is at most a third faster than the selected rate.
 */
static bool
saw_all_edges(const struct checking *checking, const struct periodic_flag *flag)
{
	return flag->longest_ticks < scale_ns_to_ticks(checking->scale, WAIT_NS_PER_S * 3 / (4 * flag->hz));
}

struct ppm {
	int64_t low, high;
};

/*
 * Returns the error in ppm of the rate EDGES per NS, which is positive if this rate is faster than the selected rate.
 */
static int64_t
get_rate_error_ppm(const struct periodic_flag *flag, uint64_t edges, uint64_t ns, enum scale_rounding rounding)
{
	return (int64_t)scale_mul_div_wide((unsigned __int128)edges * WAIT_NS_PER_S, PPM,
					   (unsigned __int128)flag->hz * (ns ? ns : 1), rounding) - PPM;
}

/*
 * Returns the rate's error, measured from the first edge to the last edge, as an interval in ppm. Each edge may be
 * LATE_NS late, and EARLY edges may have come too early. With too few edges there is no lower bound. With fewer than
 * two edges, the upper bound assumes that another edge was about to come.
 */
static struct ppm
get_flag_rate_error_ppm(const struct checking *checking, const struct periodic_flag *flag, uint64_t late_ns,
			uint64_t early)
{
	uint64_t short_ns, long_ns, least = flag->edges > early + 1 ? flag->edges - 1 - early : 0;

	if (flag->edges < 2) {
		short_ns = scale_ns(checking->scale, flag->polled - flag->begin);
		return (struct ppm){ -PPM, get_rate_error_ppm(flag, flag->edges + 1, short_ns, SCALE_UP) };
	}
	short_ns = flag->last_low > flag->first_high ?
		   scale_ns(checking->scale, flag->last_low - flag->first_high) : 0;
	long_ns = scale_ns(checking->scale, flag->last_high - flag->first_low);
	return (struct ppm){
		get_rate_error_ppm(flag, least, long_ns + late_ns + 1, SCALE_DOWN),
		get_rate_error_ppm(flag, flag->edges - 1, short_ns > late_ns + 1 ? short_ns - late_ns - 1 : 0, SCALE_UP),
	};
}

static void
report_flag_rate(struct behaviour *row, const struct periodic_flag *flag, struct ppm ppm)
{
	check_set_figure(row, ppm.low, ppm.high);
	behaviour_set_text(row, "At %u Hz the periodic flag is off by %ld to %ld ppm, measured over %lu edges.",
			   (unsigned)flag->hz,
		       ppm.low, ppm.high, flag->edges);
}

static bool
is_rate_error_within_limit(const struct checking *checking, struct ppm ppm)
{
	int64_t limit = (int64_t)checking->limit(checking->limits, RULE);

	return ppm.low >= -limit && ppm.high <= limit;
}

/*
 * Returns the flag's rate error. In a guest, if the error is outside the limit, returns a wider interval, with the
 * assumptions that each edge may be up to LATE_NS late, and that the guest may have been stopped once.
 */
static struct ppm
get_rate_error_allowing_lateness(const struct checking *checking, const struct periodic_flag *flag, uint64_t late_ns)
{
	struct ppm ppm = get_flag_rate_error_ppm(checking, flag, 0, 0);

	return check_is_guest(checking) && !is_rate_error_within_limit(checking, ppm) ?
	       get_flag_rate_error_ppm(checking, flag, late_ns, GUEST_STOP_EDGES) : ppm;
}

void
periodic_flag_report_rate(const struct checking *checking, const struct periodic_flag *flag, struct behaviour *row)
{
	if (!saw_all_edges(checking, flag))
		check_mark_disturbed(row);
	else if (scale_ns(checking->scale, flag->polled - flag->begin) < WAIT_NS_PER_S / flag->hz &&
		 flag->edges < 2)
		behaviour_mark_unchecked(row, UNCHECKED_TIME, "There was time to poll the periodic flag at %u Hz for %lu ms, "
					 "less than its period of %lu ms. " CHECK_TIME_BY_PROFILE, (unsigned)flag->hz,
					 scale_ns(checking->scale, flag->polled - flag->begin) / WAIT_NS_PER_MS,
					 check_round_up_to_ms(WAIT_NS_PER_S / flag->hz));
	else
		report_flag_rate(row, flag, get_rate_error_allowing_lateness(checking, flag, GUEST_LATE_NS));
}

static bool
leaves_time_for_update_check(const struct checking *checking, uint64_t ns)
{
	return check_get_time_left_ns(checking) > ns + UPDATES_NS;
}

/*
 * Observes the flag for NS or for EDGES_MAX edges, with interrupts enabled between polls. Use it only if the flag works
 * without PIE. If the core is preempted, the observation ends. It then has a result if there were at least
 * LONG_EDGES_MIN edges before the preemption.
 */
static struct periodic_flag
observe_flag_for_ns(const struct checking *checking, uint64_t hz, uint8_t select, uint64_t ns, uint64_t edges_max)
{
	struct check_wait wait = check_wait_begin(checking, ns);
	uint64_t interrupts = hw_interrupts_mask();
	struct periodic_flag flag = periodic_flag_start_polling(checking, hz, select), before;

	do {
		before = flag;
		periodic_flag_poll(checking, &flag);
		hw_interrupts_restore(interrupts);
		interrupts = hw_interrupts_mask();
	} while (saw_all_edges(checking, &flag) && flag.edges < edges_max && check_wait_has_time_left(&wait));
	hw_interrupts_restore(interrupts);
	return saw_all_edges(checking, &flag) || before.edges < LONG_EDGES_MIN ? flag : before;
}

static struct periodic_flag
observe_flag_briefly(const struct checking *checking, uint64_t hz, uint8_t select)
{
	uint64_t interrupts = hw_interrupts_mask();
	struct periodic_flag flag = periodic_flag_start_polling(checking, hz, select);
	struct wait wait = wait_begin(checking->scale, FAST_NS);

	do
		periodic_flag_poll(checking, &flag);
	while (wait_has_time_left(&wait));
	rtc_pf_stop(checking->device);
	hw_interrupts_restore(interrupts);
	return flag;
}

/*
 * Returns the distance in ppm between the interval PPM and 0, which is the selected rate. Returns 0 if the interval
 * includes 0.
 */
static int64_t
get_distance_from_zero_ppm(struct ppm ppm)
{
	if (ppm.low > 0)
		return ppm.low;
	return ppm.high < 0 ? -ppm.high : 0;
}

/* The combined results of all observations in which no edge was missed. */
struct observations {
	unsigned whole;
	struct ppm best, slowest, fastest;
	struct periodic_flag best_flag;
};

/* Returns true if PPM is nearer to the selected rate than BEST, or at the same distance and narrower. */
static bool
is_smaller_rate_error(struct ppm ppm, struct ppm best)
{
	if (get_distance_from_zero_ppm(ppm) != get_distance_from_zero_ppm(best))
		return get_distance_from_zero_ppm(ppm) < get_distance_from_zero_ppm(best);
	return ppm.high - ppm.low < best.high - best.low;
}

static void
record_observation(struct observations *w, const struct periodic_flag *flag, struct ppm ppm)
{
	bool first = w->whole++ == 0;

	if (first || is_smaller_rate_error(ppm, w->best)) {
		w->best = ppm;
		w->best_flag = *flag;
	}
	if (first || ppm.low < w->slowest.low)
		w->slowest = ppm;
	if (first || ppm.high > w->fastest.high)
		w->fastest = ppm;
}

/*
 * Returns true if the best observation's interval includes the selected rate, and is too narrow to include another rate
 * that the RTC can have.
 */
static bool
observations_prove_selected_rate(const struct observations *w)
{
	return w->whole && get_distance_from_zero_ppm(w->best) == 0 && w->best.high - w->best.low < NARROW_PPM;
}

static bool
observations_agree(const struct observations *w)
{
	int64_t spread = w->fastest.high - w->slowest.low;
	int64_t mean = PPM + (w->slowest.low + w->fastest.high) / 2;

	return w->whole >= ALIKE_MIN && spread <= mean / ALIKE_SHARE;
}

/*
 * Reports the result of the short observations. In a guest a fault is reported only if the observations agree. A busy
 * host may set the flag late in every observation, but the delays then differ.
 */
static void
report_observations(const struct checking *checking, const struct observations *w, struct behaviour *row)
{
	bool guest = check_is_guest(checking);
	struct ppm off = guest ? get_flag_rate_error_ppm(checking, &w->best_flag, GUEST_ALWAYS_NS, 0) : w->best;

	if (observations_prove_selected_rate(w))
		report_flag_rate(row, &w->best_flag, w->best);
	else if (get_distance_from_zero_ppm(off) == 0 || (guest && !observations_agree(w)))
		behaviour_set_text(row, IRREGULAR, (unsigned)w->best_flag.hz);
	else
		report_flag_rate(row, &w->best_flag, off);
}

/*
 * Measures the rate more exactly by a longer observation, if there is time. BEST is the best short observation, which
 * is consistent with the selected rate. If the longer observation has a result, replaces BEST and returns true.
 */
static bool
observe_flag_longer(const struct checking *checking, uint64_t hz, uint8_t select, struct periodic_flag *best)
{
	for (unsigned i = 0; i < LONG_TRIES && leaves_time_for_update_check(checking, LONG_NS); i++) {
		struct periodic_flag flag = observe_flag_for_ns(checking, hz, select, LONG_NS, UINT64_MAX);

		if (!saw_all_edges(checking, &flag) || flag.edges <= best->edges)
			continue;
		*best = flag;
		return true;
	}
	return false;
}

/* Repeats short observations until one is consistent with the selected rate. If none is, reports the best one. */
static void
check_fast_flag_rate(const struct checking *checking, struct behaviour *row, uint64_t hz, uint8_t select)
{
	uint64_t left_ns = check_get_time_left_ns(checking), share_ns = checking->budget_ns / FAST_SHARE;
	uint64_t until_left_ns = left_ns > share_ns ? left_ns - share_ns : 0;
	struct observations w = { 0 };

	for (unsigned i = 0; i < FAST_TIMES && !observations_prove_selected_rate(&w) &&
	     check_get_time_left_ns(checking) > until_left_ns; i++) {
		struct periodic_flag flag = observe_flag_briefly(checking, hz, select);

		if (saw_all_edges(checking, &flag))
			record_observation(&w, &flag, get_flag_rate_error_ppm(checking, &flag, 0, 0));
	}
	if (w.whole == 0)
		check_mark_disturbed(row);
	else if (observations_prove_selected_rate(&w) && !checking->device->saved[RTC_NEEDS_PIE] &&
		 observe_flag_longer(checking, hz, select, &w.best_flag))
		report_flag_rate(row, &w.best_flag, get_rate_error_allowing_lateness(checking, &w.best_flag,
									 GUEST_ALWAYS_NS));
	else
		report_observations(checking, &w, row);
}

static void
check_flag_at_8192_hz(const struct checking *checking, struct behaviour *row)
{
	check_fast_flag_rate(checking, row, 8192, A_RATE_8192_HZ);
}

static void
check_flag_at_1024_hz(const struct checking *checking, struct behaviour *row)
{
	check_fast_flag_rate(checking, row, 1024, A_RATE_1024_HZ);
}

/*
 * Observes the flag at 64 Hz for an eighth of the budget. If too little time would be left for the checks of updates,
 * observes only a few edges.
 */
static void
check_flag_at_64_hz(const struct checking *checking, struct behaviour *row)
{
	uint64_t share_ns = checking->budget_ns / FAST_SHARE;
	bool longer = leaves_time_for_update_check(checking, share_ns);
	struct periodic_flag flag;
	unsigned tries = 0;

	if (checking->device->saved[RTC_NEEDS_PIE]) {
		behaviour_set_text(row, "The test at 64 Hz would take longer than interrupts may be masked.");
		return;
	}
	do
		flag = observe_flag_for_ns(checking, 64, A_RATE_64_HZ, longer ? share_ns : LONG_NS,
				  longer ? UINT64_MAX : LONG_EDGES_MIN);
	while (!saw_all_edges(checking, &flag) && ++tries < LONG_TRIES && check_get_time_left_ns(checking) > LONG_NS);
	periodic_flag_report_rate(checking, &flag, row);
}

void
rtc_check_fast_rates(const struct checking *checking, struct behaviours *behaviours)
{
	static const struct check checks[] = {
		{ RULE, FAST_NS, check_flag_at_8192_hz },
		{ RULE, FAST_NS, check_flag_at_1024_hz },
		{ RULE, LONG_NS, check_flag_at_64_hz },
		{ NULL, 0, NULL },
	};

	check_run_all(checking, checks, behaviours);
}
