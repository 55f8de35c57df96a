/* Calculates the figures of timer tests from the record's entries `timer` and `interrupts`. See analysis.h. */
#include "analysis/timer_analysis.h"

#include "base/text.h"
#include "base/units.h"

/* upper bound of the time to enter a handler, which takes tens of us in an emulator */
#define ENTRY_NS    UINT64_C(250000)
/* A one-shot counts as armed over a gap if at least 1/4 of its time is left at the gap, and the gap is as long. */
#define GAP_LEFT_SHARE 4
#define GAP_NEAR_SHARE 8 /* its lateness is equal to the gap's length if they differ by at most 1/8 of its time */
/* Limits that prevent overflow, because a record may contain any values. */
#define PS_MAX      (INT64_C(1) << 50)     /* 19 min */
#define TSC_MAX     (UINT64_C(1) << 40)    /* limit of the TSC ticks between two readings */
#define TSC_HZ_MIN  UINT64_C(10000000)
#define PERIOD_PS_MIN (INT64_C(1) << 20)   /* 1 us */

static int64_t
clamp_to_max_ps(uint64_t ps)
{
	return ps < (uint64_t)PS_MAX ? (int64_t)ps : PS_MAX;
}

int64_t
timer_tsc_ticks_to_ps(const struct timer_analysis *analysis, uint64_t ticks)
{
	return clamp_to_max_ps(scale_ns(&analysis->scale, (ticks < TSC_MAX ? ticks : TSC_MAX) * PS_PER_NS));
}

int64_t
timer_counter_ticks_to_ps(uint64_t ticks, uint64_t tick_as)
{
	return clamp_to_max_ps(scale_mul_div(ticks, tick_as, AS_PER_PS));
}

struct timer_tick
analysis_calculate_timer_tick(const struct record_timer *timer, const struct scale *scale)
{
	struct rate hz = timer->flags & RECORD_BY_TSC ? scale->hz : (struct rate){ timer->hz_num, timer->hz_den };
	struct timer_tick tick;

	if (hz.num && hz.den) {
		tick.value = tick.low = tick.high = scale_mul_div(AS_PER_S, hz.den, hz.num);
		return tick;
	}
	if (timer->span_ticks < 2 || timer->span_least > timer->span_most || timer->span_most > TSC_MAX)
		return (struct timer_tick){ 0 };
	tick.low = scale_mul_div(scale_ns(scale, timer->span_least * PS_PER_NS), AS_PER_PS, timer->span_ticks + 1);
	tick.high = scale_mul_div_up(scale_ns(scale, timer->span_most * PS_PER_NS), AS_PER_PS, timer->span_ticks - 1);
	tick.value = tick.low + (tick.high - tick.low) / 2;
	return tick;
}

struct record_event
timer_get_interrupt(const struct timer_analysis *analysis, size_t i)
{
	struct record_event event;

	record_read_item(analysis->entry, analysis->arming.gaps + i, &event);
	return event;
}

bool
timer_was_core_preempted(const struct timer_analysis *analysis, uint64_t from, uint64_t to, uint64_t most)
{
	for (size_t i = 0; i < analysis->arming.gaps; i++) {
		struct record_event gap;

		record_read_item(analysis->entry, i, &gap);
		if (gap.count < to && gap.tsc > from && gap.tsc - gap.count > most)
			return true;
	}
	return analysis->arming.gaps >= RECORD_AWAY_MAX;
}

/*
 * Converts TICKS, which may be negative, to ps. They are ticks of the TSC if TICK_AS is 0, otherwise of the timer's
 * counter.
 */
static int64_t
signed_ticks_to_ps(const struct timer_analysis *analysis, int64_t ticks, uint64_t tick_as)
{
	uint64_t size = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
	int64_t ps = tick_as ? timer_counter_ticks_to_ps(size, tick_as) : timer_tsc_ticks_to_ps(analysis, size);

	return ticks < 0 ? -ps : ps;
}

struct lateness
timer_interrupt_lateness(const struct timer_analysis *analysis, const struct record_event *event)
{
	const struct record_timer *timer = &analysis->timer;
	const struct record_interrupts *arming = &analysis->arming;
	const struct timer_tick *tick = &analysis->tick;
	uint64_t early = timer->count_mask / 4, late = event->tsc - arming->deadline;
	/* A reading stays the same until the next step of its counter, so it may be up to one step old. */
	uint64_t old = timer->step_ticks - 1, tick_as = timer->count_mask ? tick->value : 0;

	/* The counter shows the lateness modulo its range. A lateness from -1/4 to 3/4 of the range is assumed. */
	if (timer->count_mask)
		late = ((event->count - arming->deadline + early) & timer->count_mask) - early;
	if (timer->count_mask || timer->flags & RECORD_BY_TSC) /* the deadline may be anywhere within a step, too */
		return (struct lateness){ signed_ticks_to_ps(analysis, (int64_t)(late - old), tick_as),
					  signed_ticks_to_ps(analysis, (int64_t)(late + old + 1), tick_as) };
	return (struct lateness){
		signed_ticks_to_ps(analysis, (int64_t)(event->tsc - arming->armed_after - old), 0) -
			timer_counter_ticks_to_ps(arming->ticks + timer->phase_ticks, tick->high),
		signed_ticks_to_ps(analysis, (int64_t)(event->tsc - arming->armed_before + old), 0) -
			timer_counter_ticks_to_ps(arming->ticks, tick->low),
	};
}

void
timer_add_lateness(struct timer_analysis *analysis, struct lateness late)
{
	if (analysis->value_count < TIMER_VALUES_MAX)
		analysis->values[analysis->value_count++] = late;
}

/* Returns the lateness of a polled source, whose status became set between two polls. */
static struct lateness
lateness_between_polls(const struct timer_analysis *analysis, const struct record_event *polls)
{
	struct lateness before = timer_interrupt_lateness(analysis, &(struct record_event){ .tsc = polls->count });

	return (struct lateness){ before.low, timer_interrupt_lateness(analysis, polls).high };
}

/*
 * Returns true if a one-shot is not counted. This is so if the core was preempted when the one-shot was due, or if the
 * interrupt may belong to an earlier one-shot that seemed lost. It is also so if the first poll found the status
 * already set.
 */
static bool
must_ignore_shot(struct timer_analysis *analysis, const struct record_event *first, const struct lateness *late)
{
	const struct record_interrupts *arming = &analysis->arming;
	uint64_t due = arming->armed_before + scale_ns_to_ticks(&analysis->scale, analysis->timer.interval_ns);

	if (arming->what == RECORD_POLLED)
		return arming->taken && !first->count;
	if (arming->what != RECORD_SHOT)
		return false;
	if (arming->taken && analysis->missing && late->high < 0) {
		analysis->missing--;
		return true;
	}
	return timer_was_core_preempted(analysis, due, arming->taken ? first->tsc : UINT64_MAX, 0);
}

struct gaps { /* the gaps of the core between the arming of a one-shot and its interrupt, in TSC ticks */
	uint64_t begin, end; /* start of the first gap, end of the last one */
	uint64_t sum;
};

/*
 * Returns the gaps before the deadline DUE. A deadline that stands still in each gap is later by as much, so gaps
 * before this later deadline count as well.
 */
static struct gaps
find_gaps_while_armed(const struct timer_analysis *analysis, uint64_t due, uint64_t taken_tsc)
{
	struct gaps gaps = { .begin = UINT64_MAX };

	for (size_t i = 0; i < analysis->arming.gaps; i++) {
		struct record_event gap;

		record_read_item(analysis->entry, i, &gap);
		if (gap.count < analysis->arming.armed_after || gap.count >= due + gaps.sum || gap.tsc > taken_tsc ||
		    gap.tsc < gap.count)
			continue;
		gaps.begin = gap.count < gaps.begin ? gap.count : gaps.begin;
		gaps.end = gap.tsc > gaps.end ? gap.tsc : gaps.end;
		gaps.sum += gap.tsc - gap.count;
	}
	return gaps;
}

/*
 * A timer of the host goes on while the core is preempted, so its interrupt comes when it is due, or at once when
 * the core runs again. Counts the one-shots that came later, by as long as the core was preempted: their timer stood
 * still then.
 */
static void
count_shot_over_gap(struct timer_analysis *analysis, uint64_t taken_tsc, const struct lateness *late)
{
	struct interval_figures *row = analysis->row;
	uint64_t interval = scale_ns_to_ticks(&analysis->scale, analysis->timer.interval_ns);
	uint64_t due = analysis->arming.armed_before + interval;
	struct gaps gaps = find_gaps_while_armed(analysis, due, taken_tsc);
	int64_t sum_ps = timer_tsc_ticks_to_ps(analysis, gaps.sum);
	int64_t near_ps = timer_tsc_ticks_to_ps(analysis, interval / GAP_NEAR_SHARE);

	if (gaps.begin >= due - interval / GAP_LEFT_SHARE || gaps.sum < interval / GAP_LEFT_SHARE)
		return;
	row->over_gaps++;
	if (taken_tsc < (gaps.end > due ? gaps.end : due) + interval / GAP_NEAR_SHARE || late->low > sum_ps + near_ps ||
	    late->high < sum_ps - near_ps)
		return;
	row->delayed++;
	if (!row->delay.known || late->low / PS_PER_NS > row->delay.low)
		row->delay = (struct interval_ns){ true, lateness_middle_ps(*late) / PS_PER_NS,
						   late->low / PS_PER_NS, late->high / PS_PER_NS + 1 };
}

static void
add_oneshot_arming_to_row(struct timer_analysis *analysis)
{
	const struct record_interrupts *arming = &analysis->arming;
	struct interval_figures *row = analysis->row;
	struct record_event first = { 0 };
	struct lateness late = { 0, 0 };
	bool taken = arming->taken != 0, excused;

	if (taken) {
		first = timer_get_interrupt(analysis, 0);
		late = arming->what == RECORD_POLLED ? lateness_between_polls(analysis, &first) :
		       timer_interrupt_lateness(analysis, &first);
	}
	excused = must_ignore_shot(analysis, &first, &late);
	if (taken && arming->what == RECORD_SHOT && !(analysis->timer.flags & RECORD_UNTIMED))
		count_shot_over_gap(analysis, first.tsc, &late);
	row->asked++;
	row->expected++;
	row->excused += excused;
	row->delivered += taken;
	row->empty += !taken && !excused;
	row->doubled += arming->taken > 1 && !excused;
	row->expired += !taken && !excused && arming->due;
	if (!taken && !excused && arming->due)
		row->lost_tsc = arming->armed_before;
	analysis->missing += !taken;
	if (taken && !excused && !(analysis->timer.flags & RECORD_UNTIMED))
		timer_add_lateness(analysis, late);
}

static void
add_masked_arming_to_row(struct timer_analysis *analysis)
{
	const struct record_interrupts *arming = &analysis->arming;

	analysis->row->held_ns = (uint64_t)timer_tsc_ticks_to_ps(analysis, arming->opened - arming->armed_after) / PS_PER_NS;
	analysis->row->held_delivered = arming->taken;
	analysis->row->policy_reason = NULL;
	if (arming->taken <= analysis->count)
		analysis->row->policy = timer_find_masking_policy(analysis, &analysis->row->policy_reason);
	else
		analysis->row->policy_reason = "not all of them were recorded";
}

/* Stores when the source was armed, and when its latest interrupt came. A passed deadline need not interrupt. */
static void
note_times_of_arming(const struct timer_analysis *analysis)
{
	const struct record_interrupts *arming = &analysis->arming;
	struct interval_figures *row = analysis->row;

	if (arming->what != RECORD_EXPIRED)
		row->armed_tsc = arming->armed_before;
	if (arming->taken)
		row->came_tsc = arming->taken <= analysis->count ? timer_get_interrupt(analysis, arming->taken - 1).tsc :
				arming->closed;
}

static void
add_arming_to_row(struct timer_analysis *analysis)
{
	const struct record_interrupts *arming = &analysis->arming;
	struct interval_figures *row = analysis->row;

	note_times_of_arming(analysis);
	if (arming->what == RECORD_EXPIRED) {
		row->over++;
		row->stale += arming->taken != 0;
		return;
	}
	if (arming->what == RECORD_MASKED)
		add_masked_arming_to_row(analysis);
	/* after an interrupt storm, the record does not contain the interrupts */
	if (arming->taken > analysis->count) {
		row->doubled += arming->taken - 1;
		return;
	}
	if (arming->what == RECORD_PERIODS)
		timer_add_periodic_arming(analysis);
	else if (arming->what != RECORD_MASKED)
		add_oneshot_arming_to_row(analysis);
}

static bool
is_timer_period_long_enough(const struct timer_analysis *analysis)
{
	return analysis->timer.flags & RECORD_PERIODIC &&
	       timer_counter_ticks_to_ps(analysis->arming.ticks, analysis->tick.value) >= PERIOD_PS_MIN;
}

static void
read_arming_entry(struct timer_analysis *analysis, const struct record_entry *entry)
{
	struct record_interrupts *arming = &analysis->arming;

	record_read_fixed_part(entry, arming);
	analysis->entry = entry;
	if (!analysis->row || arming->timer != analysis->timer.timer || arming->gaps > entry->item_count)
		return;
	analysis->count = entry->item_count - arming->gaps;
	if ((arming->what != RECORD_PERIODS && arming->what != RECORD_MASKED) || is_timer_period_long_enough(analysis))
		add_arming_to_row(analysis);
}

static void
complete_timer_row(struct timer_analysis *analysis)
{
	struct interval_figures *row = analysis->row;

	if (!row)
		return;
	lateness_store_percentiles(row, analysis->values, analysis->value_count);
	/* If the core was preempted at some one-shots, the timer may have worked there, so it is not called stuck. */
	if (row->state == CLOCK_PRESENT && row->empty && !row->excused && !row->delivered && !row->expired &&
	    !row->test.periodic) {
		row->state = CLOCK_STUCK;
		row->reason = "No interrupt came, and the timer's own status shows that none was due.";
	}
	if (!row->test.periodic || !lateness_are_ticks_scattered(row, analysis->values, analysis->value_count))
		return;
	row->scattered = true;
	row->early = row->empty = row->losses = row->doubled = 0;
	row->excused = row->expected;
	row->lateness = (struct report_lateness){ .count = 0 };
	row->reason = "The timer's ticks come anywhere in their periods, so none can be matched to a deadline.";
}

static bool
are_timer_fields_in_range(const struct record_timer *timer)
{
	return timer->count_mask <= UINT32_MAX &&
	       (!(timer->flags & RECORD_PERIODIC) || timer->interval_ns >= PERIOD_PS_MIN / PS_PER_NS);
}

static void
read_timer_entry(struct timer_analysis *analysis, const struct record_entry *entry)
{
	const struct record_timer before = analysis->timer;
	struct record_timer *timer = &analysis->timer;

	complete_timer_row(analysis);
	record_read_fixed_part(entry, timer);
	if (timer->core != before.core || __builtin_memcmp(timer->source, before.source, sizeof(timer->source)))
		analysis->missing = 0;
	analysis->tick = analysis_calculate_timer_tick(timer, &analysis->scale);
	analysis->value_count = 0;
	analysis->row = NULL;
	if (timer->timer < analysis->figures->interval_count && are_timer_fields_in_range(timer))
		analysis->row = &analysis->figures->intervals[timer->timer];
}

static void
read_tsc_scale(struct timer_analysis *analysis, const struct record_entry *entry)
{
	struct record_scale scale;

	record_read_fixed_part(entry, &scale);
	if (!scale.hz_den || scale.hz_num / scale.hz_den < TSC_HZ_MIN)
		return;
	scale_init(&analysis->scale, (struct rate){ scale.hz_num, scale.hz_den });
	analysis->entry_ticks = scale_ns_to_ticks(&analysis->scale, ENTRY_NS);
	analysis->tsc_low_microhz = scale.low_microhz;
	analysis->tsc_high_microhz = scale.high_microhz;
}

/* Makes a row without figures for each timer test. */
static void
add_timer_rows(const struct report *report, struct figures *figures)
{
	figures->interval_count = report->facts.interval_count;
	for (size_t i = 0; i < report->facts.interval_count; i++) {
		const struct interval_facts *facts = &report->facts.intervals[i];

		figures->intervals[i] = (struct interval_figures){ .test = facts->test, .state = facts->state,
									  .reason = facts->reason };
	}
}

void
analysis_calculate_timers(const void *record, size_t size, const struct report *report, struct figures *figures)
{
	struct timer_analysis analysis = { .report = report, .figures = figures };
	struct record_reader reader = record_open_without_checksums(record, size);
	struct record_entry entry;

	add_timer_rows(report, figures);
	scale_init(&analysis.scale, figures->tsc);
	while (record_read_next(&reader, &entry)) {
		if (entry.kind == RECORD_SCALE)
			read_tsc_scale(&analysis, &entry);
		else if (entry.kind == RECORD_TIMER)
			read_timer_entry(&analysis, &entry);
		else if (entry.kind == RECORD_INTERRUPTS)
			read_arming_entry(&analysis, &entry);
	}
	complete_timer_row(&analysis);
}
