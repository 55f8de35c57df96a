/* Calculates what clocks and timers did while cores slept, from the record's entries `sleep` and `slept`. */
#include "analysis/sleep/analysis_sleeps.h"

#include "analysis/analysis.h"
#include "base/number.h"
#include "base/text.h"
#include "base/units.h"
#include "clock/sleep.h"

#define TICKS_MAX  (INT64_C(1) << 60) /* the most ticks that are converted to ns */
/* the longest time in ticks over which a drift is subtracted; 90 s at 3 GHz */
#define DRIFT_TICKS_MAX (INT64_C(1) << 38)
/* A larger drift is no drift of an oscillator, but of a TSC that also stops in the sleeps between measurements. */
#define DRIFT_MAX_PPB 10000000u
#define WAKES_MAX  16u
#define ERROR_MAX_NS NS_PER_MS /* with a larger error, it is not known how late a core woke from a sleep of 1 ms */
/* a counter of 24 bits at 3.58 MHz wraps after 4.69 s, so its ticks in a longer time are not known */
#define WRAP_NS    UINT64_C(4000000000)

/* Returns A - B, limited to TICKS_MAX. */
static int64_t
difference(uint64_t a, uint64_t b)
{
	int64_t ticks = (int64_t)(a - b);

	return ticks > TICKS_MAX ? TICKS_MAX : ticks < -TICKS_MAX ? -TICKS_MAX : ticks;
}

/* Returns a core's offset, or OFFSET_UNKNOWN if it was not measured or its bounds contradict each other. */
static struct offset
read_offset(const struct record_apart *apart)
{
	return apart->low <= apart->high ? (struct offset){ apart->low, apart->high } : OFFSET_UNKNOWN;
}

/* Converts an interval of ticks to ns. */
static struct offset
to_ns(const struct scale *scale, struct offset ticks)
{
	return offset_is_known(ticks) ? (struct offset){ scale_ticks_to_ns_down(scale, difference((uint64_t)ticks.low, 0)),
							 scale_ticks_to_ns_up(scale, difference((uint64_t)ticks.high, 0)) } : ticks;
}

/*
 * Returns the offset that the core's TSC gained by its DRIFT, which is known from the time in which it was awake, in
 * TICKS. SPREAD_TICKS is the error of TICKS. Returns OFFSET_UNKNOWN if the drift is not known.
 */
static struct offset
calculate_gain_by_drift(struct offset drift, int64_t ticks, int64_t spread_ticks)
{
	if (!offset_is_known(drift) || drift.low > drift.high || offset_max_abs(drift) > DRIFT_MAX_PPB || ticks < 0 ||
	    ticks > DRIFT_TICKS_MAX || spread_ticks > DRIFT_TICKS_MAX)
		return OFFSET_UNKNOWN;
	int64_t error = (int64_t)offset_max_abs(drift) * spread_ticks / PPB + 1;

	return (struct offset){ drift.low * ticks / PPB - error - 1, drift.high * ticks / PPB + error + 1 };
}

/* Returns the ticks that the core's TSC counted in the long sleep, in which the boot core sees it asleep. */
static int64_t
count_ticks_asleep(const struct record_sleep *entry)
{
	return difference(entry->awake.end, entry->asleep.begin);
}

/*
 * Returns the part of GAINED that the core's TSC surely gained in its sleeps, although its drift, or its offset, is not
 * known. If most of the TICKS between the measurements are missing, this is all of it. On a busy host these ticks are
 * far more than the sleeps. Then only the missing part of the long sleep counts, if most of it is missing.
 */
static struct offset
find_gain_in_sleep(struct offset gained, int64_t ticks, const struct record_sleep *entry)
{
	int64_t seen_ticks = difference(entry->seen_ticks, 0), counted_ticks = count_ticks_asleep(entry);
	int64_t low = gained.low, high = counted_ticks - seen_ticks;

	if (!offset_is_known(gained)) /* at most, it lost all the time between the measurements that it did not count */
		low = difference(entry->awake.end, entry->begin.begin) - ticks;
	else if (offset_min_abs(gained) >= (uint64_t)ticks / SLEEP_LOST_SHARE)
		return gained;
	return counted_ticks >= 0 && counted_ticks < seen_ticks / SLEEP_LOST_SHARE && low <= high ?
	       (struct offset){ low, high } : OFFSET_UNKNOWN;
}

/*
 * Returns the ticks that the core's TSC gained between the two measurements of its offset, without the drift that it
 * has while it is awake.
 */
static struct offset
calculate_gain_of_tsc(const struct report *report, const struct record_sleep *entry)
{
	struct offset before = read_offset(&entry->before), after = read_offset(&entry->after), gained;
	struct offset drift = report_get_core_drift(report, &report->facts.cores[entry->core | entry->partner]);
	int64_t ticks = difference(entry->after.tsc, entry->before.tsc);
	const struct scale scale = report_get_tsc_scale(report);

	gained = offset_add(after, offset_negate(before));
	drift = calculate_gain_by_drift(drift, ticks, (int64_t)scale_ns_to_ticks(&scale, SLEEP_OFFSET_NS));
	gained = offset_is_known(gained) && offset_is_known(drift) ? offset_add(gained, offset_negate(drift)) :
								     find_gain_in_sleep(gained, ticks, entry);
	/* The offset of a partner is its offset against the boot core, so the boot core gained what the partner lost. */
	return entry->partner ? offset_negate(gained) : gained;
}

struct span { /* ticks of a counter, and the bounds of the TSC ticks in the same time */
	uint64_t ticks;
	uint64_t least, most;
};

/*
 * Returns the TSC ticks that a counter lost while the core slept. The counter's rate is known from the time AWAKE in
 * which the core was awake. Each reading of the counter is at most LAG ticks behind its exact value.
 */
static struct offset
calculate_loss(struct span awake, struct span asleep, uint64_t lag)
{
	if (awake.ticks <= lag || !awake.least || awake.least > awake.most || asleep.least > asleep.most ||
	    asleep.most > (uint64_t)TICKS_MAX || awake.most > (uint64_t)TICKS_MAX)
		return OFFSET_UNKNOWN;
	uint64_t low = scale_mul_div(asleep.ticks > lag ? asleep.ticks - lag : 0, awake.least, awake.ticks + lag);
	uint64_t high = scale_mul_div_up(asleep.ticks + lag, awake.most, awake.ticks - lag);

	return high > (uint64_t)TICKS_MAX ? OFFSET_UNKNOWN : (struct offset){ (int64_t)(asleep.least - high),
									      (int64_t)(asleep.most - low) };
}

/*
 * Returns the largest lag of a reading behind the counter's exact value in ticks: the smallest step that was seen, and
 * RESOLUTION_UNEVEN_TICKS. The steps are uneven if the counter is calculated from a slower counter.
 */
static uint64_t
find_lag(const struct resolution *resolution)
{
	return (resolution->steps ? resolution->smallest_ticks : 1) + RESOLUTION_UNEVEN_TICKS;
}

/* Returns the TICKS of a counter from FROM to TO, and the bounds of the TSC ticks in this time. */
static struct span
span_between(const struct report *report, uint64_t ticks, struct sample from, struct sample to)
{
	uint64_t step = report->figures.tsc_resolution_ticks, least = to.begin - from.end;

	return (struct span){ ticks, least > step ? least - step : 0, to.end - from.begin + step };
}

static struct offset
calculate_loss_of_lapic(const struct report *report, const struct record_sleep *entry)
{
	/* A count of 0 has ended, or was not read. */
	return !entry->awake.ticks || entry->lost ? OFFSET_UNKNOWN : calculate_loss(
		span_between(report, entry->begin.ticks - entry->asleep.ticks, entry->begin, entry->asleep),
		span_between(report, entry->asleep.ticks - entry->awake.ticks, entry->asleep, entry->awake), 1);
}

/*
 * Sets the lateness of wake-ups by an IPI, or by the timer. An IPI is sent by the boot core, so the offset of this core
 * is subtracted, which was between those before and after the sleeps. Half of the width is the error.
 */
static void
calculate_lateness(struct report_wakes *wakes, const struct record_entry *entry, const struct record_sleep *sleep,
		   bool by_timer, const struct report *report)
{
	struct offset before = read_offset(&sleep->before), after = read_offset(&sleep->after), offset = { 0, 0 };
	const struct scale scale = report_get_tsc_scale(report);
	int64_t late[WAKES_MAX];
	struct record_woken woken;
	size_t count = 0;

	if (!by_timer)
		offset = offset_is_known(before) && offset_is_known(after) ? offset_hull(before, after) : OFFSET_UNKNOWN;
	if (!offset_is_known(offset) || offset_max_abs(offset) > (uint64_t)TICKS_MAX ||
	    scale_ns(&scale, offset_width(offset)) > ERROR_MAX_NS)
		return;
	int64_t middle = offset_middle(offset);

	for (size_t i = 0; i < entry->item_count && count < WAKES_MAX; i++) {
		record_read_item(entry, i, &woken);
		if (woken.by_timer != by_timer)
			continue;
		wakes->missed += !woken.woke_tsc;
		if (!woken.woke_tsc)
			continue;
		int64_t ns = scale_ticks_to_ns_down(&scale, difference(woken.woke_tsc, woken.due_tsc + (uint64_t)middle));
		size_t at = count++;

		for (; at && late[at - 1] > ns; at--)
			late[at] = late[at - 1];
		late[at] = ns;
	}
	wakes->count = (uint32_t)count;
	wakes->error_ns = scale_ns(&scale, (uint64_t)(offset.high - middle) + report->figures.tsc_resolution_ticks);
	if (count) {
		wakes->p50_ns = late[(count - 1) / 2];
		wakes->max_ns = late[count - 1];
	}
}

/* Returns true if CORE is a thread of the boot core's physical core, which then cannot sleep deeper than C1. */
static bool
is_other_thread_awake(const struct report *report, const struct report_core *core)
{
	const struct report_core *boot = report->facts.cores;

	return core != boot && core->facts_known && core->facts.has_topology && boot->facts_known &&
	       boot->facts.has_topology && core->facts.package == boot->facts.package && core->facts.core == boot->facts.core;
}

/*
 * Sets the time in each of the states that the CPU counts, and the state that the core reached. An absent counter may
 * read as 0 in a guest, so there a time of 0 is not known. Nor is the time of a counter that stepped back, as if the
 * guest moved to another core. On Atoms the counter of C6 also counts C7 (Linux commit 7ab5ff4937a3). Many CPUs do not
 * count C1.
 */
static void
set_residency(struct report_sleep *row, const struct record_sleep *sleep, const struct report *report,
	      const struct scale *scale)
{
	uint64_t ticks[SLEEP_COUNTERS], *ns = row->resident_ns;
	size_t longest = SLEEP_COUNTERS;

	__builtin_memcpy(ticks, &sleep->resident, sizeof(ticks));
	for (size_t i = 0; i < SLEEP_COUNTERS; i++) {
		ns[i] = sleep->counters >> i & 1 && !sleep->lost && ticks[i] <= (uint64_t)TICKS_MAX &&
			(ticks[i] || !report_is_guest(report)) ? scale_ns(scale, ticks[i]) : UINT64_MAX;
		if (ns[i] != UINT64_MAX && (longest == SLEEP_COUNTERS || ns[i] >= ns[longest]))
			longest = i;
	}
	row->reached = row->lost ? REACHED_LOST : row->left ? REACHED_LEFT : longest == SLEEP_COUNTERS ? REACHED_UNKNOWN :
		       ns[longest] ? longest == REACHED_C6 && ns[REACHED_C7] ? REACHED_C6_OR_C7 : (enum report_reached)longest :
		       is_other_thread_awake(report, &report->facts.cores[sleep->core]) ? REACHED_SIBLING :
		       ns[REACHED_C1] ? REACHED_AT_MOST_C1 : REACHED_NONE;
}

static void
add_sleep(const struct report *report, struct figures *figures, const struct scale *scale,
	  const struct record_entry *entry)
{
	struct report_sleeps *sleeps = &figures->sleeps;
	struct record_sleep sleep;

	record_read_fixed_part(entry, &sleep);
	if ((sleep.core | sleep.partner) >= report->facts.core_count || sleeps->count == REPORT_SLEEPS_MAX)
		return;
	struct report_sleep *row = &sleeps->rows[sleeps->count++];

	const struct report_core *core = &report->facts.cores[sleep.core];

	*row = (struct report_sleep){
		.core = core->apic_id,
		.all = !sleep.core,
		.lost = sleep.lost,
		.left = sleep.early >= SLEEP_EARLY_MAX,
		.tsc_gained_ns = to_ns(scale, calculate_gain_of_tsc(report, &sleep)),
		.lapic_lost_ns = to_ns(scale, calculate_loss_of_lapic(report, &sleep)),
		.adjusted_ns = core->facts_known && core->facts.has_tsc_adjust && !sleep.lost ?
			       to_ns(scale, (struct offset){ sleep.adjusted, sleep.adjusted }) : OFFSET_UNKNOWN,
	};
	sleep_print_name(row->state, sleep.state);
	set_residency(row, &sleep, report, scale);
	if (row->lost)
		return;
	row->counted = sleep.seen_ticks && count_ticks_asleep(&sleep) >= difference(sleep.seen_ticks, 0);
	int64_t slept_ticks = difference(sleep.awake.begin, sleep.asleep.end);
	row->slept_ns = slept_ticks > 0 ? scale_ns(scale, (uint64_t)slept_ticks) : 0; /* 0 if the core's TSC stepped back */
	calculate_lateness(&row->wakes[WOKEN_BY_IPI], entry, &sleep, false, report);
	calculate_lateness(&row->wakes[WOKEN_BY_TIMER], entry, &sleep, true, report);
}

static void
add_sleep_clocks(const struct report *report, struct figures *figures, const struct scale *scale,
		 const struct record_entry *entry)
{
	struct report_sleeps *sleeps = &figures->sleeps;
	struct record_slept_clock item;
	struct record_slept slept;

	record_read_fixed_part(entry, &slept);
	for (size_t i = 0; i < entry->item_count && sleeps->clock_count < REPORT_SLEEP_CLOCKS_MAX; i++) {
		record_read_item(entry, i, &item);
		if (item.clock >= report->facts.clock_count || !item.awake.end)
			continue;
		const struct report_clock *found = &report->facts.clocks[item.clock];
		struct span awake = span_between(report, clock_elapsed_ticks(&found->clock, item.begin.ticks, item.asleep.ticks),
						 item.begin, item.asleep);
		struct span asleep = span_between(report, clock_elapsed_ticks(&found->clock, item.asleep.ticks, item.awake.ticks),
						  item.asleep, item.awake);
		struct report_sleep_clock *row = &sleeps->clocks[sleeps->clock_count++];

		*row = (struct report_sleep_clock){ .all = slept.all, .clock = item.clock,
						    .lost_ns = to_ns(scale, calculate_loss(awake, asleep, find_lag(&found->resolution))) };
		if (scale_ns(scale, asleep.most & TICKS_MAX) > WRAP_NS)
			row->lost_ns = OFFSET_UNKNOWN;
		sleep_print_name(row->state, slept.state);
	}
}

void
analysis_calculate_sleeps(const void *record, size_t size, const struct report *report, struct figures *figures)
{
	struct record_reader reader = record_open_without_checksums(record, size);
	struct scale scale = report_get_tsc_scale(report);
	struct record_entry entry;

	figures->sleeps.count = figures->sleeps.clock_count = 0;
	while (record_read_next(&reader, &entry)) {
		if (entry.kind == RECORD_SLEEP)
			add_sleep(report, figures, &scale, &entry);
		else if (entry.kind == RECORD_SLEPT)
			add_sleep_clocks(report, figures, &scale, &entry);
	}
}
