/*
 * Checks the RTC against Motorola's MC146818 data sheet: its update flag UIP, its seconds and its battery flag. The
 * periodic flag is checked in check_rtc_pf.c. Interrupts are masked only during a poll.
 */
#include "checks/check.h"
#include "checks/checks.h"
#include "checks/check_internal.h"
#include "clocks/rtc_registers.h"
#include "hw/wait.h"

#define US            UINT64_C(1000)
/* duration of an observation of UIP: more than 1 s, so that it includes an update */
#define WATCH_NS      (1200 * WAIT_NS_PER_MS)
#define WATCH_LONG_NS (3 * WATCH_NS) /* duration of a longer observation, if the first updates give no result */
/*
 * Limits of the time while UIP is 1. UIP rises 244 us before the update (488 us in Intel's chip sets), and the update
 * takes 1,984 us. QEMU sets UIP for 244 us.
 */
#define UIP_NS_MIN    (244 * US)
#define UIP_NS_MAX    (3 * WAIT_NS_PER_MS)
/* if the time between two polls is longer than this, the duration of UIP is unknown */
#define GAP_NS_MAX    WAIT_NS_PER_MS
/* if the time between two readings of the seconds is longer than this, an update may have been missed */
#define SECOND_NS_MAX (500 * WAIT_NS_PER_MS)

/*
 * In a guest a fault must occur several times, because a single occurrence may have another cause. For example, the
 * host may clear UIP late, or the RTC may have continued while the guest was stopped.
 */
#define GUEST_LONG_MIN   3u
#define GUEST_TIMES_MIN  2u

/* One poll of UIP and the seconds. The seconds are valid if they were read within 244 us after UIP read 0. */
struct update_poll {
	uint64_t begin, after_a, end; /* TSC before and after the read of register A, and after the read of the seconds */
	bool updating, good;
	uint8_t raw;
};

struct seconds_watch { /* observations of the seconds */
	bool known;              /* true if a valid second was read */
	unsigned latest;
	uint64_t latest_tsc;     /* TSC before the latest second was read */
	/* number of updates that advanced the seconds by one, and number of updates by another amount */
	unsigned right, wrong;
	unsigned from, to;       /* seconds before and after the latest wrong update */
	uint64_t invalid;        /* number of readings that are not a second from 0 to 59 */
};

struct update_watch {
	struct checking checking;
	/*
	 * Number of observations that prove a fault. TIMES_MIN applies to a missing UIP and to a wrong second, LONG_MIN
	 * to a UIP that is set for too long.
	 */
	unsigned times_min, long_min;
	uint64_t polls, seen_ticks; /* number of polls, and TSC ticks in which the core ran */
	struct update_poll last;
	/* Observations of UIP. */
	uint64_t risen_low, risen_high; /* TSC before and after the latest rise of UIP; 0 if no rise was seen */
	uint64_t first_tsc;             /* TSC of the first poll if UIP was 1 in all polls, else 0 */
	bool preempted;                 /* true if the core has been preempted since UIP rose */
	unsigned updates, preempted_updates, without_uip;
	uint64_t shortest_low_ticks, shortest_high_ticks;
	struct seconds_watch seconds;
};

static struct update_poll
poll_update_registers_once(const struct device *device, uint64_t good_ticks)
{
	struct update_poll poll = { .begin = check_read_tsc(device) };

	poll.updating = rtc_read_register(device, REGISTER_A) & A_UIP;
	poll.after_a = check_read_tsc(device);
	poll.raw = rtc_read_register(device, REGISTER_SECONDS);
	poll.end = check_read_tsc(device);
	poll.good = !poll.updating && poll.end - poll.begin < good_ticks;
	return poll;
}

static void
record_uip_fall(struct update_watch *w, const struct update_poll *poll)
{
	uint64_t high_ticks = poll->after_a - w->risen_low;

	if (w->preempted) {
		w->preempted_updates++;
		return;
	}
	if (w->updates++ == 0 || high_ticks < w->shortest_high_ticks) {
		/* If only one poll saw UIP set, it may have been set for any short time, so the lower bound is 0. */
		w->shortest_low_ticks = w->last.begin > w->risen_high ? w->last.begin - w->risen_high : 0;
		w->shortest_high_ticks = high_ticks;
	}
}

static void
record_uip(struct update_watch *w, const struct update_poll *poll)
{
	bool gap = poll->after_a - w->last.begin > scale_ns_to_ticks(w->checking.scale, GAP_NS_MAX);

	if (!poll->updating)
		w->first_tsc = 0;
	if (poll->updating && !w->last.updating) {
		w->risen_low = w->last.begin;
		w->risen_high = poll->after_a;
		w->preempted = false;
	}
	w->preempted |= gap;
	if (!poll->updating && w->last.updating && w->risen_low)
		record_uip_fall(w, poll);
}

/*
 * Returns true if the seconds changed within 244 us after a poll in which UIP was 0. This is a fault, because UIP must
 * be set for at least 244 us before the seconds change.
 */
static bool
seconds_changed_without_uip(const struct update_watch *w, const struct update_poll *poll)
{
	return w->last.good && poll->end - w->last.begin < scale_ns_to_ticks(w->checking.scale, UIP_NS_MIN);
}

static void
record_seconds_reading(struct update_watch *w, const struct update_poll *poll)
{
	unsigned second = rtc_decode_seconds(poll->raw, (uint8_t)w->checking.device->saved[SAVED_B]);

	if (second > RTC_SECONDS_MAX) {
		w->seconds.invalid++;
		return;
	}
	if (w->seconds.known && second != w->seconds.latest &&
	    poll->end - w->seconds.latest_tsc < scale_ns_to_ticks(w->checking.scale, SECOND_NS_MAX)) {
		if (second == (w->seconds.latest + 1) % (RTC_SECONDS_MAX + 1)) {
			w->seconds.right++;
		} else {
			w->seconds.wrong++;
			w->seconds.from = w->seconds.latest;
			w->seconds.to = second;
		}
		w->without_uip += seconds_changed_without_uip(w, poll);
	}
	w->seconds.known = true;
	w->seconds.latest = second;
	w->seconds.latest_tsc = poll->begin;
}

static bool
has_uip_result(const struct update_watch *w)
{
	if (w->without_uip >= w->times_min || w->updates >= w->long_min)
		return true;
	return w->updates && w->shortest_low_ticks <= scale_ns_to_ticks(w->checking.scale, UIP_NS_MAX);
}

static bool
has_seconds_result(const struct update_watch *w)
{
	return w->seconds.wrong ? w->seconds.wrong >= w->times_min : w->seconds.right != 0;
}

static bool
has_uip_and_seconds_results(const struct update_watch *w)
{
	return has_uip_result(w) && has_seconds_result(w);
}

static bool
saw_update(const struct update_watch *w)
{
	return w->seconds.right || w->seconds.wrong || w->updates || w->preempted_updates;
}

/*
 * Polls UIP and the seconds until all results are known, but at most for WATCH_NS. If an update was seen that gave no
 * result, polls up to WATCH_LONG_NS. If FLAG is not NULL, also polls the periodic flag at 2 Hz.
 */
static void
watch_updates(struct update_watch *w, struct periodic_flag *flag)
{
	const struct checking *checking = &w->checking;
	uint64_t left_ns = check_get_time_left_ns(checking), good_ticks = scale_ns_to_ticks(checking->scale, UIP_NS_MIN);
	struct check_wait wait = check_wait_begin(checking, left_ns < WATCH_LONG_NS ? left_ns : WATCH_LONG_NS);
	bool settled = false;

	do {
		uint64_t interrupts = hw_interrupts_mask();
		struct update_poll poll = poll_update_registers_once(checking->device, good_ticks);

		if (flag)
			periodic_flag_poll(checking, flag);
		hw_interrupts_restore(interrupts);
		if (w->polls++ == 0) {
			w->first_tsc = poll.updating ? poll.begin : 0;
			w->last = poll;
		}
		record_uip(w, &poll);
		if (poll.good)
			record_seconds_reading(w, &poll);
		w->last = poll;
		settled = has_uip_and_seconds_results(w) && (!flag || flag->edges >= 2);
	} while (!settled && check_wait_has_time_left(&wait) && check_get_time_left_ns(checking) &&
		 ((saw_update(w) && !has_uip_and_seconds_results(w)) ||
		  wait.seen_ticks < scale_ns_to_ticks(checking->scale, WATCH_NS)));
	w->seen_ticks = wait.seen_ticks;
}

static unsigned
get_watch_duration_ms(const struct update_watch *w)
{
	return (unsigned)(scale_ns(w->checking.scale, w->seen_ticks) / WAIT_NS_PER_MS);
}

static void
report_update_flag(const struct update_watch *w, struct behaviour *row)
{
	uint64_t low_us = scale_ns(w->checking.scale, w->shortest_low_ticks) / US;
	uint64_t high_us = scale_ns(w->checking.scale, w->shortest_high_ticks) / US + 1;

	if (w->updates && has_uip_result(w)) {
		check_set_figure(row, (int64_t)low_us, (int64_t)high_us);
		behaviour_set_text(row, "The update flag (UIP) stayed 1 for %lu to %lu us in the shortest update; updates seen: %u.",
			       low_us, high_us, w->updates);
	} else if (w->updates) {
		row->disturbed = true;
		behaviour_set_text(row, "The update flag (UIP) stayed 1 for %lu us, but fewer than %u updates were seen, and a busy "
				   "host may have cleared the flag late.", low_us, w->long_min);
	} else if (w->first_tsc) {
		check_set_figure(row, (int64_t)(get_watch_duration_ms(w) * US),
				 (int64_t)(get_watch_duration_ms(w) * US + US));
		behaviour_set_text(row, "The update flag (UIP) was 1 in all %lu reads, for %u ms.", w->polls,
				   get_watch_duration_ms(w));
	} else if (w->without_uip >= w->times_min) {
		check_set_outcome(row, true);
		behaviour_set_text(row, "The update flag (UIP) was never 1 in %u ms, not even before the seconds changed.",
				   get_watch_duration_ms(w));
	} else if (w->without_uip) {
		row->disturbed = true;
		behaviour_set_text(row, "In some updates, but fewer than %u, the update flag (UIP) was not 1 before "
				   "the seconds changed: too few to decide.",
			       w->times_min);
	} else if (saw_update(w)) {
		check_mark_disturbed(row);
	} else {
		behaviour_set_text(row, "No update came in %u ms.", get_watch_duration_ms(w));
	}
}

static void
report_seconds_register(const struct update_watch *w, struct behaviour *row)
{
	if (rtc_do_minutes_stand(w->checking.device)) {
		check_set_outcome(row, true);
		behaviour_set_text(row, "The seconds changed from 59 to 0, and the minutes did not change.");
	} else if (!w->seconds.known && w->seconds.invalid) {
		check_set_outcome(row, true);
		behaviour_set_text(row, "The seconds register reads %02xh, which is not a second.", w->last.raw);
	} else if (w->seconds.wrong && has_seconds_result(w)) {
		check_set_outcome(row, true);
		behaviour_set_text(row, "The seconds changed from %u to %u; updates seen: %u, with a wrong second: %u.",
			       w->seconds.from, w->seconds.to, w->seconds.right + w->seconds.wrong, w->seconds.wrong);
	} else if (w->seconds.wrong) {
		row->disturbed = true;
		behaviour_set_text(row, "The seconds changed once from %u to %u: the whole machine may have been "
				   "stopped.",
			       w->seconds.from, w->seconds.to);
	} else if (w->seconds.right) {
		check_set_outcome(row, false);
		behaviour_set_text(row, "The seconds advanced by one each time; updates seen: %u.", w->seconds.right);
	} else {
		behaviour_set_text(row, "No update came in %u ms.", get_watch_duration_ms(w));
	}
}

static void
check_battery(const struct checking *checking, struct behaviour *row)
{
	uint64_t interrupts = hw_interrupts_mask();
	uint8_t d = rtc_read_register(checking->device, REGISTER_D);

	hw_interrupts_restore(interrupts);
	check_set_outcome(row, !(d & D_VRT));
	behaviour_set_text(row, "VRT in register D is %u: %s.", (d & D_VRT) != 0, row->failed ?
		       "the battery failed: time and settings are not valid" : "the battery is good");
}

/*
 * Checks UIP and the seconds during updates. If WITH_FLAG is true, the periodic flag can be used, and is checked at 2
 * Hz at the same time, because each observation takes over a second.
 */
static void
check_updates_and_2_hz_flag(const struct checking *checking, bool with_flag, struct behaviours *behaviours)
{
	bool guest = check_is_guest(checking);
	struct update_watch w = {
		.checking = *checking, .times_min = guest ? GUEST_TIMES_MIN : 1, .long_min = guest ? GUEST_LONG_MIN : 1,
	};
	size_t first = behaviours->count;
	struct behaviour *row;
	struct periodic_flag flag;

	if (!check_must_run_next_rows(checking, behaviours, with_flag ? 3 : 2))
		return;
	uint64_t interrupts = hw_interrupts_mask();
	if (with_flag)
		flag = periodic_flag_start_polling(checking, 2, A_RATE_2_HZ);
	hw_interrupts_restore(interrupts);
	watch_updates(&w, with_flag ? &flag : NULL);
	if ((row = behaviour_add_row(behaviours, "rtc-update", checking->rows->id)))
		report_update_flag(&w, row);
	if ((row = behaviour_add_row(behaviours, "rtc-seconds", checking->rows->id)))
		report_seconds_register(&w, row);
	if (with_flag && (row = behaviour_add_row(behaviours, "rtc-periodic", checking->rows->id)))
		periodic_flag_report_rate(checking, &flag, row);
	check_discard_rows_if_tsc_stopped(checking, behaviours, first);
}

/* Sets ROW's sentence to the reason why open() could not use the flag: it is never set, or the firmware uses it. */
static void
explain_missing_periodic_flag(const struct checking *checking, struct behaviour *row)
{
	behaviour_set_text(row, "%s", checking->rows[RTC_PF].reason);
}

static void
restore_rate_and_index(const struct checking *checking, bool with_flag)
{
	uint64_t interrupts = hw_interrupts_mask();

	if (with_flag)
		rtc_select_8192_hz(checking);
	rtc_restore_index(checking->device);
	hw_interrupts_restore(interrupts);
}

void
rtc_check(const struct checking *checking, struct behaviours *behaviours)
{
	static const struct check battery[] = { { "rtc-battery", 0, check_battery }, { NULL, 0, NULL } };
	static const struct check no_flag[] = {
		{ "rtc-periodic", 0, explain_missing_periodic_flag }, { NULL, 0, NULL }
	};
	const struct clock *rows = checking->rows;
	bool with_flag = rows[RTC_PF].state == CLOCK_PRESENT;

	if (rows[RTC].state == CLOCK_ABSENT)
		return;
	check_run_all(checking, battery, behaviours);
	if (with_flag)
		rtc_check_fast_rates(checking, behaviours);
	else
		check_run_all(checking, no_flag, behaviours);
	if (rows[RTC].state != CLOCK_STUCK)
		check_updates_and_2_hz_flag(checking, with_flag && !checking->device->saved[RTC_NEEDS_PIE], behaviours);
	restore_rate_and_index(checking, with_flag);
}
