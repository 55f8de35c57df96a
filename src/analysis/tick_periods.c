/* Periodic timers: matches each tick of an arming to its deadline. See timer_analysis.h. */
#include "analysis/timer_analysis.h"

#include "base/units.h"

#define PERIODS_MAX    256u /* maximum number of periods in one arming (one start of a timer) */
#define EARLY_SHARE    4  /* period k starts 1/4 period before deadline k */
#define BURST_SHARE    4  /* ticks that are less than 1/4 period apart are a burst */
/* a tick late by more than 1/4 period shows a delay by the host, which also explains the empty periods before it */
#define LATE_SHARE     4
#define PHASE_SHARE    8  /* ticks in time come within 1/8 period after the earliest of them */
/* tolerance in ns: larger than all rounding errors, so that the earliest tick does not count as early */
#define PHASE_SLACK_NS 10
/*
 * More surplus ticks than this prove that the source queued ticks, even if the core was preempted. The test masks
 * interrupts for 20 deadlines, and this is half of them.
 */
#define QUEUED_MIN     10

/* The expected periods of one arming, from programming the source until interrupts were masked again. */
struct periods {
	size_t count; /* the last period is only for ticks that are late for earlier periods */
	uint16_t ticks[PERIODS_MAX]; /* number of ticks in each period */
	uint16_t first[PERIODS_MAX]; /* index of the first interrupt in each period that has ticks */
	int64_t residuals_ps[PERIODS_MAX]; /* see lateness_fit_tick_rate() */
	/* true for an empty period whose tick may have come later, and for the period with the surplus tick */
	bool paired[PERIODS_MAX];
	/* true if the period's first tick may belong to an earlier deadline, so that its lateness is not known */
	bool doubtful[PERIODS_MAX];
};

static int64_t
period_ps(const struct timer_analysis *analysis)
{
	return timer_counter_ticks_to_ps(analysis->arming.ticks, analysis->tick.value);
}

/* Returns the period that was requested. The length of the counter's ticks may be known less exactly. */
static uint64_t
period_tsc_ticks(const struct timer_analysis *analysis)
{
	return scale_ns_to_ticks(&analysis->scale, analysis->timer.interval_ns);
}

static bool
does_device_set_tick_phase(const struct timer_analysis *analysis)
{
	return analysis->timer.flags & RECORD_OWN_PHASE;
}

static uint64_t
interrupt_tsc(const struct timer_analysis *analysis, size_t i)
{
	return timer_get_interrupt(analysis, i).tsc;
}

/*
 * Returns true if interrupt I came less than a quarter period after the previous interrupt, so both were delivered
 * together.
 */
static bool
is_interrupt_in_burst(const struct timer_analysis *analysis, size_t i)
{
	return i && interrupt_tsc(analysis, i) - interrupt_tsc(analysis, i - 1) < period_tsc_ticks(analysis) / BURST_SHARE;
}

/* Returns the time from the first interrupt to interrupt I. */
static int64_t
interrupt_ps(const struct timer_analysis *analysis, size_t i)
{
	return timer_tsc_ticks_to_ps(analysis, interrupt_tsc(analysis, i) - interrupt_tsc(analysis, 0));
}

/*
 * Returns the interrupt that begins the largest cluster of phases: more interrupts come in the 1/8 period after its
 * phase than after any other interrupt's phase. In a burst only the first interrupt counts, because the whole burst has
 * the phase of its delivery.
 */
static size_t
find_start_of_largest_phase_cluster(const struct timer_analysis *analysis)
{
	int64_t period = period_ps(analysis);
	size_t best = 0, most = 0;

	for (size_t from = 0; from < analysis->count; from++) {
		int64_t before_ps = period - interrupt_ps(analysis, from) % period;
		size_t followers = 0;

		for (size_t i = 0; i < analysis->count && !is_interrupt_in_burst(analysis, from); i++)
			followers += (interrupt_ps(analysis, i) + before_ps) % period < period / PHASE_SHARE &&
				     !is_interrupt_in_burst(analysis, i);
		if (followers > most) {
			best = from;
			most = followers;
		}
	}
	return best;
}

/*
 * Returns how much earlier in its period than interrupt FROM the earliest undelayed interrupt came. An interrupt less
 * than a period after a gap (a preemption of the core) is left out, because it may belong to any deadline within the
 * gap.
 */
static int64_t
max_phase_lead_over_interrupt_ps(const struct timer_analysis *analysis, size_t from)
{
	int64_t period = period_ps(analysis), most_ps = 0;

	for (size_t i = 0; i < analysis->count; i++) {
		int64_t lead_ps = (interrupt_ps(analysis, from) + period - interrupt_ps(analysis, i) % period) % period;
		uint64_t tsc = interrupt_tsc(analysis, i);

		if (lead_ps > most_ps && lead_ps < period / 2 &&
		    !timer_was_core_preempted(analysis, tsc - period_tsc_ticks(analysis), tsc, 0))
			most_ps = lead_ps;
	}
	return most_ps;
}

/*
 * Sets the time of the arming for a source whose periods already run when it is armed, so that a tick LEAD_PS earlier
 * in its period than interrupt I is in time. Therefore a delay that all ticks have in common is not visible. The first
 * interrupt belongs to the first deadline.
 */
static void
set_phase_by_interrupt(struct timer_analysis *analysis, size_t i, int64_t lead_ps)
{
	uint64_t slack = scale_ns_to_ticks(&analysis->scale, PHASE_SLACK_NS), since;
	int64_t period = period_ps(analysis), periods = 1;

	if (!analysis->count)
		return;
	periods += (interrupt_ps(analysis, i) - lead_ps + period - period / EARLY_SHARE) / period;
	since = scale_ns_to_ticks(&analysis->scale, (uint64_t)(periods * period + lead_ps) / PS_PER_NS);
	analysis->arming.armed_before = interrupt_tsc(analysis, i) - since - slack;
	analysis->arming.armed_after = interrupt_tsc(analysis, i) - since + slack;
}

/*
 * Converts LATE, a lateness against the first deadline, to the lateness against deadline K. The uncertainty of the
 * period grows with K.
 */
static struct lateness
lateness_after_kth_deadline(const struct timer_analysis *analysis, struct lateness late, size_t k)
{
	late.low -= timer_counter_ticks_to_ps(k * analysis->arming.ticks, analysis->tick.high);
	late.high -= timer_counter_ticks_to_ps(k * analysis->arming.ticks, analysis->tick.low);
	return late;
}

/* Divides an arming into whole periods without ticks. */
static void
divide_arming_into_periods(const struct timer_analysis *analysis, struct periods *periods)
{
	const struct record_interrupts *arming = &analysis->arming;
	uint64_t count = arming->closed > arming->armed_before ?
			 (arming->closed - arming->armed_before) / period_tsc_ticks(analysis) : 0;

	periods->count = count < PERIODS_MAX ? (size_t)count : PERIODS_MAX;
	for (size_t k = 0; k < periods->count; k++) {
		periods->ticks[k] = periods->first[k] = 0;
		periods->residuals_ps[k] = INT64_MAX;
		periods->paired[k] = periods->doubtful[k] = false;
	}
}

/* Returns the lateness of interrupt I against deadline K. */
static struct lateness
lateness_of_tick(const struct timer_analysis *analysis, size_t i, size_t k)
{
	struct record_event event = timer_get_interrupt(analysis, i);

	return lateness_after_kth_deadline(analysis, timer_interrupt_lateness(analysis, &event), k);
}

/* Assigns each tick to the period in which it came. */
static void
assign_ticks_to_periods(const struct timer_analysis *analysis, struct periods *periods)
{
	int64_t period = period_ps(analysis);

	for (size_t i = 0; i < analysis->count; i++) {
		int64_t from_first = lateness_middle_ps(lateness_of_tick(analysis, i, 0)) + period / EARLY_SHARE;
		uint64_t k = from_first < 0 ? UINT64_MAX : (uint64_t)(from_first / period);

		if (k < periods->count && !periods->ticks[k]++)
			periods->first[k] = (uint16_t)i;
	}
}

/* Moves tick I of period K into the nearest empty period, at most MOST periods before. Returns false if none is. */
static bool
move_tick_to_empty_period(struct periods *periods, size_t k, size_t i, size_t most)
{
	for (size_t back = 1; back <= most && back <= k; back++)
		if (!periods->ticks[k - back]) {
			periods->ticks[k - back] = 1;
			periods->first[k - back] = (uint16_t)i;
			periods->ticks[k]--;
			return true;
		}
	return false;
}

/*
 * Moves ticks that came before their deadline, and ticks of a burst except its last tick, into empty periods before.
 * The host may have delayed them. The last N ticks of a burst belong to the last N deadlines.
 */
static void
move_ticks_to_empty_periods(const struct timer_analysis *analysis, struct periods *periods)
{
	for (size_t k = 1; k < periods->count; k++) {
		size_t first = periods->first[k], end = first + periods->ticks[k], left = end, burst = 0;

		for (size_t i = end; i-- > first;) {
			burst = i + 1 < end && is_interrupt_in_burst(analysis, i + 1) ? burst + 1 : 1;
			if ((burst == 1 && lateness_of_tick(analysis, i, k).high >= 0) ||
			    !move_tick_to_empty_period(periods, k, i, burst))
				left = i;
		}
		periods->first[k] = (uint16_t)left;
	}
}

/* Pairs the surplus tick of period K with the nearest empty period before it. Returns false if there is none. */
static bool
pair_surplus_tick(struct periods *periods, size_t k)
{
	size_t empty = k;

	while (empty > 0 && (periods->ticks[empty - 1] || periods->paired[empty - 1]))
		empty--;
	if (!empty)
		return false;
	periods->paired[empty - 1] = true;
	for (size_t i = empty; i <= k; i++)
		periods->doubtful[i] = true;
	return true;
}

/* Returns true if a tick of the arming is late by more than 1/4 period, so that others may be late by a whole one. */
static bool
is_any_tick_late(const struct timer_analysis *analysis, const struct periods *periods)
{
	for (size_t k = 0; k < periods->count; k++)
		if (periods->ticks[k] && lateness_middle_ps(lateness_of_tick(analysis, periods->first[k], k)) >
						 period_ps(analysis) / LATE_SHARE)
			return true;
	return false;
}

/*
 * Finds ticks that may be late by more than a period. Then their own period is empty, and each following period has the
 * tick of the deadline before, until a period has a surplus tick. A tick after an empty period is doubtful even without
 * a surplus tick, because two interrupts that are pending together are delivered as one. This does not hold if most
 * ticks follow an empty period: such a source regularly loses ticks.
 */
static void
find_doubtful_ticks(const struct timer_analysis *analysis, struct periods *periods)
{
	size_t after_empty = 0, with_ticks = 0;
	bool late = is_any_tick_late(analysis, periods);

	for (size_t k = 0; k < periods->count; k++) {
		size_t surplus = periods->ticks[k] > 1 ? periods->ticks[k] - 1u : 0, paired = 0;

		while (late && paired < surplus && pair_surplus_tick(periods, k))
			paired++;
		periods->paired[k] |= surplus && paired == surplus;
		with_ticks += periods->ticks[k] != 0;
		after_empty += k && periods->ticks[k] && !periods->ticks[k - 1];
	}
	for (size_t k = 1; late && k < periods->count && 2 * after_empty <= with_ticks; k++)
		periods->doubtful[k] |= periods->ticks[k] && !periods->ticks[k - 1];
}

/*
 * Adds the lateness of each period's first tick to the row, unless the tick is doubtful, or the core was preempted
 * between the deadline and the tick. A tick that came before its deadline may be a delayed tick of the previous
 * deadline. For such a tick, a preemption after the previous deadline also counts. If the phase of the source is not
 * known exactly, no tick is early.
 */
static void
add_lateness_of_periods(struct timer_analysis *analysis, struct periods *periods)
{
	const struct record_interrupts *arming = &analysis->arming;

	for (size_t k = 0; k + 1 < periods->count; k++) {
		uint64_t tsc, due;

		if (!periods->ticks[k])
			continue;
		struct lateness late = lateness_of_tick(analysis, periods->first[k], k);
		tsc = interrupt_tsc(analysis, periods->first[k]);
		due = arming->armed_before + (k + (late.high >= 0)) * period_tsc_ticks(analysis);
		if ((does_device_set_tick_phase(analysis) && late.high < 0) ||
		    timer_was_core_preempted(analysis, due < tsc ? due : tsc - 1, tsc, 0))
			continue;
		periods->residuals_ps[k] = timer_tsc_ticks_to_ps(analysis, tsc - arming->armed_before) -
					   timer_counter_ticks_to_ps((k + 1) * arming->ticks, analysis->tick.value);
		if (periods->doubtful[k])
			analysis->row->doubtful++;
		else
			timer_add_lateness(analysis, late);
	}
}

/*
 * Returns true if the core was preempted around period K: from a quarter period before its deadline to the next
 * deadline. If the period has several TICKS, some of them may belong to the period before, so the checked time starts
 * with that period's deadline.
 */
static bool
was_core_preempted_around_period(const struct timer_analysis *analysis, size_t k, uint16_t ticks)
{
	uint64_t period = period_tsc_ticks(analysis), due = analysis->arming.armed_before + (k + 1) * period;

	return timer_was_core_preempted(analysis, due - (ticks > 1 ? period : period / EARLY_SHARE), due + period,
					analysis->entry_ticks);
}

/*
 * Returns true if the host may have delayed the tick of the empty period K. During a delay, the source skips deadlines.
 * Its next tick is late, or comes together with a tick that is in time. If no tick follows, the source has stopped, or
 * its host is busy (BUSY) and would send the ticks later. It has stopped if at least half of all periods are empty.
 */
static bool
may_host_have_delayed_tick(const struct timer_analysis *analysis, const struct periods *periods, size_t k, bool busy)
{
	size_t first = k;

	while (first > 0 && !periods->ticks[first - 1])
		first--;
	while (k < periods->count && !periods->ticks[k])
		k++;
	if (k == periods->count)
		return busy && 2 * (k - first) < k;
	return periods->ticks[k] > 1 || periods->residuals_ps[k] == INT64_MAX ||
	       periods->residuals_ps[k] > period_ps(analysis) / LATE_SHARE;
}

/*
 * Counts lost and doubled periods. A period is excused (neither lost nor doubled) if a fault of the source is not the
 * only possible cause. For example, a second tick after an excused empty period may be the tick of that empty period,
 * late by more than a period: see find_doubtful_ticks(). Hypervisors queue undelivered ticks and reinject them right
 * after the guest handles the next tick (Linux arch/x86/kvm/i8254.c, reinject). If a period has more surplus ticks than
 * ticks are pending, it is doubled, and the pending ticks may still come later.
 */
static void
count_lost_and_doubled_periods(struct timer_analysis *analysis, const struct periods *periods)
{
	struct interval_figures *row = analysis->row;
	/* The host can delay the ticks of a guest without preempting the core, because its timers may be other threads. */
	bool busy = report_is_guest(analysis->report) ||
		    timer_was_core_preempted(analysis, 0, UINT64_MAX, analysis->entry_ticks), was_empty = false;
	size_t pending = 0;

	for (size_t k = 0; k + 1 < periods->count; k++) {
		uint16_t ticks = periods->ticks[k];
		bool reinjected = ticks > 1 && ticks - 1u <= pending;
		bool excused = reinjected || periods->paired[k] || was_core_preempted_around_period(analysis, k, ticks) ||
			       (!ticks && may_host_have_delayed_tick(analysis, periods, k, busy));
		bool empty = !ticks && !excused;

		if (reinjected)
			pending -= ticks - 1u;
		pending += excused && !ticks;
		row->expected++;
		row->delivered += ticks;
		row->excused += excused;
		row->doubled += ticks > 1 && !excused;
		row->empty += empty;
		row->losses += empty && !was_empty;
		was_empty = empty;
	}
}

static int64_t
ratio_ppb(uint64_t part, uint64_t whole)
{
	uint64_t ppb = whole ? scale_mul_div_up(part, PPB, whole) : PPB;

	return (int64_t)(ppb < PPB ? ppb : PPB);
}

/* Adds the uncertainty of the period and of the TSC's rate to RATE, and combines it with the row's rate. */
static void
add_tick_rate(struct timer_analysis *analysis, struct interval_ppb rate)
{
	const struct timer_tick *tick = &analysis->tick;
	uint64_t low = analysis->tsc_low_microhz;
	int64_t error = ratio_ppb(tick->high - tick->low, tick->value) + ratio_ppb(analysis->tsc_high_microhz - low, low);

	if (!rate.known || !low)
		return;
	rate.low -= error;
	rate.high += error;
	analysis->row->rate = lateness_combine_tick_rates(analysis->row->rate, rate);
}

void
timer_add_periodic_arming(struct timer_analysis *analysis)
{
	struct periods periods;
	size_t start;

	analysis->row->asked += analysis->arming.asked;
	if (does_device_set_tick_phase(analysis)) {
		start = find_start_of_largest_phase_cluster(analysis);
		set_phase_by_interrupt(analysis, start, max_phase_lead_over_interrupt_ps(analysis, start));
	}
	divide_arming_into_periods(analysis, &periods);
	assign_ticks_to_periods(analysis, &periods);
	move_ticks_to_empty_periods(analysis, &periods);
	find_doubtful_ticks(analysis, &periods);
	add_lateness_of_periods(analysis, &periods);
	count_lost_and_doubled_periods(analysis, &periods);
	for (size_t k = 0; k < periods.count; k++)
		if (periods.doubtful[k])
			periods.residuals_ps[k] = INT64_MAX;
	add_tick_rate(analysis,
		      lateness_fit_tick_rate(periods.residuals_ps, periods.count, (uint64_t)period_ps(analysis),
					     analysis->timer.count_mask && analysis->timer.step_ticks ?
					     timer_counter_ticks_to_ps(analysis->timer.step_ticks - 1, analysis->tick.value) : 0));
}

/*
 * Returns true if interrupts were enabled near the middle of a period. Only then does the phase of the ticks show
 * whether the timer restarted its period at that time.
 */
static bool
are_interrupts_enabled_mid_period(const struct timer_analysis *analysis)
{
	uint64_t period = period_tsc_ticks(analysis);
	uint64_t phase = (analysis->arming.opened - analysis->arming.armed_before) % period;

	return phase >= period * 3 / 8 && phase <= period * 5 / 8;
}

/*
 * Returns how the source handled the deadlines at which interrupts were masked. Surplus ticks after interrupts were
 * enabled show that the source queued ticks. Without surplus ticks, the source discarded ticks if the later ticks come
 * at their old deadlines. It delayed them if the later ticks come between these deadlines. One or two surplus ticks
 * prove nothing, because they may be pending with any source. If the core was preempted, more than QUEUED_MIN surplus
 * ticks are needed. If the policy is unknown, sets *REASON to the reason.
 */
enum report_policy
timer_find_masking_policy(struct timer_analysis *analysis, const char **reason)
{
	const struct record_interrupts *arming = &analysis->arming;
	uint64_t period = period_tsc_ticks(analysis), open = (arming->closed - arming->opened) / period;
	bool away = timer_was_core_preempted(analysis, 0, UINT64_MAX, period / 4);
	size_t shifted = 0;

	if (does_device_set_tick_phase(analysis))
		set_phase_by_interrupt(analysis, analysis->count - 1, 0); /* the first interrupt may have been pending */
	if (analysis->count > open + (away ? QUEUED_MIN : 2))
		return REPORT_POLICY_CATCH_UP;
	if (analysis->count < 2)
		*reason = "fewer than two interrupts came";
	else if (away)
		*reason = "preemption or slow reads of the TSC may have affected them";
	else if (!does_device_set_tick_phase(analysis) && !are_interrupts_enabled_mid_period(analysis))
		*reason = "interrupts were enabled too near to a deadline";
	if (*reason)
		return REPORT_POLICY_UNKNOWN;
	for (size_t i = 1; i < analysis->count; i++) {
		struct record_event event = timer_get_interrupt(analysis, i);
		int64_t late_ps = lateness_middle_ps(timer_interrupt_lateness(analysis, &event)) % period_ps(analysis);

		shifted += late_ps > period_ps(analysis) / 4 && late_ps < period_ps(analysis) * 3 / 4;
	}
	return 2 * shifted > analysis->count ? REPORT_POLICY_DELAY : REPORT_POLICY_DISCARD;
}
