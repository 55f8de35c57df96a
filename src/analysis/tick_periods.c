/* Periodic timers: matches each tick of an arming to its deadline. See timer_analysis.h. */
#include "analysis/timer_analysis.h"

#define PPB            UINT64_C(1000000000)
#define PS_PER_NS      1000
#define BURST_SHARE    4  /* ticks that are less than 1/4 period apart are a burst */
/* a tick late by more than 1/4 period shows a delay by the host, which also explains the empty periods before it */
#define LATE_SHARE     4
#define PHASE_SHARE    8  /* the phase that find_phase_of_periods() finds is accurate to 1/8 period */
/* tolerance in ns: larger than all rounding errors, so that the earliest tick does not count as early */
#define PHASE_SLACK_NS 10
/*
 * More surplus ticks than this prove that the source queued ticks, even if the core was preempted. The test masks
 * interrupts for 20 deadlines, and this is half of them.
 */
#define QUEUED_MIN     10

/* Returns the period in TSC ticks. */
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

/* Returns the time from interrupt FROM to interrupt I modulo the period, from -1/2 to 1/2 period. */
static int64_t
interrupt_phase_difference_ps(const struct timer_analysis *analysis, size_t from, size_t i, int64_t period_ps)
{
	uint64_t since = interrupt_tsc(analysis, i) - interrupt_tsc(analysis, from);
	int64_t since_ps = i < from ? -timer_tsc_ticks_to_ps(analysis, 0 - since) : timer_tsc_ticks_to_ps(analysis, since);
	int64_t half_ps = since_ps < 0 ? -period_ps / 2 : period_ps / 2;

	return since_ps - (since_ps + half_ps) / period_ps * period_ps;
}

/*
 * Returns the interrupt that begins the largest cluster of phases: more interrupts come in the 1/8 period after its
 * phase than after any other interrupt's phase. In a burst only the first interrupt counts, because the whole burst has
 * the phase of its delivery.
 */
static size_t
find_start_of_largest_phase_cluster(const struct timer_analysis *analysis, int64_t period_ps)
{
	size_t best = 0, most = 0;

	for (size_t from = 0; from < analysis->count; from++) {
		size_t followers = 0;

		for (size_t i = 0; i < analysis->count && !is_interrupt_in_burst(analysis, from); i++) {
			int64_t ps = interrupt_phase_difference_ps(analysis, from, i, period_ps);

			followers += ps >= 0 && ps < period_ps / PHASE_SHARE && !is_interrupt_in_burst(analysis, i);
		}
		if (followers > most) {
			best = from;
			most = followers;
		}
	}
	return best;
}

static uint64_t
ps_to_tsc_ticks(const struct timer_analysis *analysis, int64_t ps)
{
	return scale_ns_to_ticks(&analysis->scale, (uint64_t)ps / PS_PER_NS);
}

/*
 * Returns by how many ps the earliest undelayed interrupt came earlier in its period than interrupt FROM. An interrupt
 * less than a period after a gap (a preemption of the core) is left out, because it may belong to any deadline within
 * the gap.
 */
static int64_t
max_phase_lead_over_interrupt_ps(const struct timer_analysis *analysis, size_t from, int64_t period_ps)
{
	uint64_t period = ps_to_tsc_ticks(analysis, period_ps);
	int64_t ahead = 0;

	for (size_t i = 0; i < analysis->count; i++) {
		int64_t ps = -interrupt_phase_difference_ps(analysis, from, i, period_ps);
		uint64_t tsc = interrupt_tsc(analysis, i);

		if (ps > ahead && !timer_was_core_preempted(analysis, tsc - period, tsc, 0))
			ahead = ps;
	}
	return ahead;
}

/*
 * Sets the time of the arming for a source whose periods already run when it is armed. The time is chosen so that no
 * tick is early and at least one is not late. Therefore a delay that all ticks have in common is not visible. Most
 * ticks come in time, but a delayed tick may come anywhere in a period, so the phase of the largest cluster is used.
 */
static void
find_phase_of_periods(struct timer_analysis *analysis)
{
	struct record_interrupts *arming = &analysis->arming;
	int64_t period_ps = timer_counter_ticks_to_ps(arming->ticks, analysis->tick.value), since_ps;
	uint64_t period = ps_to_tsc_ticks(analysis, period_ps), first;
	uint64_t slack = scale_ns_to_ticks(&analysis->scale, PHASE_SLACK_NS);
	size_t best;

	if (!analysis->count)
		return;
	best = find_start_of_largest_phase_cluster(analysis, period_ps);
	first = interrupt_tsc(analysis, best) -
		ps_to_tsc_ticks(analysis, max_phase_lead_over_interrupt_ps(analysis, best, period_ps));
	/*
	 * Moves FIRST back by whole periods to the deadline of the first tick. The arming is one period before this
	 * deadline.
	 */
	since_ps = timer_tsc_ticks_to_ps(analysis, first - interrupt_tsc(analysis, 0)) - period_ps / PERIOD_EARLY_SHARE;
	if (first > interrupt_tsc(analysis, 0) && since_ps > 0)
		first -= ps_to_tsc_ticks(analysis, (since_ps + period_ps - 1) / period_ps * period_ps);
	arming->armed_before = first - period - slack;
	arming->armed_after = first - period + slack;
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

/*
 * Divides an arming, from programming the source until interrupts were masked again, into whole periods. The last
 * period is only for ticks that are late for earlier deadlines.
 */
static void
divide_arming_into_periods(const struct timer_analysis *analysis, struct periods *periods)
{
	const struct record_interrupts *arming = &analysis->arming;
	uint64_t count = arming->closed > arming->armed_before ?
			 (arming->closed - arming->armed_before) / period_tsc_ticks(analysis) : 0;

	periods->period_ps = (uint64_t)timer_counter_ticks_to_ps(arming->ticks, analysis->tick.value);
	periods->count = count < TIMER_PERIODS_MAX ? (size_t)count : TIMER_PERIODS_MAX;
	for (size_t k = 0; k < periods->count; k++) {
		periods->ticks[k] = periods->valued[k] = 0;
		periods->residuals_ps[k] = INT64_MAX;
	}
}

/*
 * Returns the period of an interrupt that came AFTER_PS after the first deadline. Returns SIZE_MAX if it is outside all
 * periods.
 */
static size_t
find_period_at(const struct periods *periods, int64_t after_ps)
{
	int64_t from_first = after_ps + (int64_t)(periods->period_ps / PERIOD_EARLY_SHARE);
	uint64_t k = from_first < 0 ? UINT64_MAX : (uint64_t)from_first / periods->period_ps;

	return k < periods->count ? (size_t)k : SIZE_MAX;
}

size_t
periods_choose_period_of_tick(const struct periods *periods, size_t k, bool before_due, size_t burst)
{
	bool is_later = before_due || periods->ticks[k];
	size_t before = before_due || burst > 1 ? burst : 0, first = k > before ? k - before : 0;

	for (size_t empty = k; is_later && empty-- > first;)
		if (!periods->ticks[empty]) {
			k = empty;
			break;
		}
	return k + 1 == periods->count ? SIZE_MAX : k;
}

/*
 * Returns true if a tick in period K is a late tick of period K - 1. The phase of the source is not known exactly, so a
 * tick before deadline K counts as late, not as early. HIGH_PS, the upper bound of its lateness against deadline K, is
 * then below 0. If K - 1 already has a tick, or if this tick is the LAST of a burst, HIGH_PS must be below 0 by more
 * than the uncertainty of the phase.
 */
static bool
does_tick_belong_to_previous_period(const struct periods *periods, size_t k, int64_t high_ps, bool last)
{
	return last || periods->ticks[k - 1] ? high_ps < -(int64_t)(periods->period_ps / PHASE_SHARE) : high_ps < 0;
}

/*
 * Stores the lateness of interrupt I in period K, unless the core was preempted between the deadline and the interrupt.
 * An interrupt that came before its deadline may be a delayed tick of the previous deadline. For such an interrupt, a
 * preemption after the previous deadline also counts. An interrupt at the end of a gap (a preemption of the core) is
 * not stored either.
 */
static void
store_lateness(const struct timer_analysis *analysis, struct periods *periods, struct lateness late, size_t k, size_t i)
{
	const struct record_interrupts *arming = &analysis->arming;
	uint64_t tsc = interrupt_tsc(analysis, i);
	uint64_t due = arming->armed_before + (k + (late.high >= 0)) * period_tsc_ticks(analysis);

	if (timer_was_core_preempted(analysis, due < tsc ? due : tsc - 1, tsc, 0))
		return;
	periods->residuals_ps[k] = timer_tsc_ticks_to_ps(analysis, tsc - arming->armed_before) -
				   timer_counter_ticks_to_ps((k + 1) * arming->ticks, analysis->tick.value);
	periods->late[k] = late;
	periods->valued[k] = (uint16_t)(i + 1);
}

/*
 * Adds interrupt I to its period. BURST is the interrupt's position in its burst, counted from the end. LAST is true if
 * the interrupt ends a burst of two or more, so that it belongs to the latest deadline. The interrupts of a burst are
 * added from the last to the first. If a period has several interrupts, the first of them gives the period's lateness.
 */
static void
assign_tick_to_period(struct timer_analysis *analysis, struct periods *periods, size_t i, size_t burst, bool last)
{
	struct record_event event = timer_get_interrupt(analysis, i);
	struct lateness late = timer_interrupt_lateness(analysis, &event);
	size_t k = find_period_at(periods, lateness_middle_ps(late));
	bool again, before_due;
	int64_t high_ps;

	if (k == SIZE_MAX)
		return;
	high_ps = lateness_after_kth_deadline(analysis, late, k).high;
	before_due = high_ps < 0;
	if (does_device_set_tick_phase(analysis) && k > 0) {
		if (does_tick_belong_to_previous_period(periods, k, high_ps, last))
			before_due = lateness_after_kth_deadline(analysis, late, --k).high < 0;
		else if (last)
			before_due = false;
	}
	k = periods_choose_period_of_tick(periods, k, before_due, burst);
	if (k == SIZE_MAX)
		return;
	analysis->row->delivered++;
	again = burst > 1 && periods->ticks[k] == 1 && periods->valued[k] > i + 1;
	if (again)
		periods->valued[k] = 0;
	late = lateness_after_kth_deadline(analysis, late, k);
	if ((periods->ticks[k]++ == 0 || again) && !(does_device_set_tick_phase(analysis) && late.high < 0))
		store_lateness(analysis, periods, late, k, i);
}

static void
assign_ticks_to_periods(struct timer_analysis *analysis, struct periods *periods)
{
	size_t end;

	for (size_t first = 0; first < analysis->count && periods->count; first = end) {
		end = first + 1;
		while (end < analysis->count && is_interrupt_in_burst(analysis, end))
			end++;
		for (size_t i = end; i-- > first;)
			assign_tick_to_period(analysis, periods, i, end - i, i + 1 == end && end - first > 1);
	}
}

/* Returns the TSC of the first interrupt in the burst that includes FROM; FROM if there is no burst. */
static uint64_t
burst_begin_tsc(const struct timer_analysis *analysis, uint64_t from)
{
	size_t i = 0;

	while (i < analysis->count && interrupt_tsc(analysis, i) < from)
		i++;
	if (i == analysis->count || !is_interrupt_in_burst(analysis, i))
		return from;
	while (is_interrupt_in_burst(analysis, i))
		i--;
	return interrupt_tsc(analysis, i);
}

/*
 * Returns true if the core was preempted around period K: from a quarter period before its deadline to the next
 * deadline. If the first interrupt in this time belongs to a burst, the checked time starts with the burst, because the
 * burst's interrupts may belong to any of the periods before.
 */
static bool
was_core_preempted_around_period(const struct timer_analysis *analysis, size_t k, uint16_t ticks)
{
	uint64_t period = period_tsc_ticks(analysis), due = analysis->arming.armed_before + (k + 1) * period;
	uint64_t from = due - period / PERIOD_EARLY_SHARE, burst;

	if (ticks > 1)
		from = burst_begin_tsc(analysis, from) - 1;
	else if (!ticks && (burst = burst_begin_tsc(analysis, from) - 1) < from)
		from = burst;
	return timer_was_core_preempted(analysis, from, due + period, analysis->entry_ticks);
}

/*
 * Returns true if the next tick, in period K or later, is late or shares its period with another tick. The host may
 * then have delayed the source: during a delay, the source skips deadlines. Its next tick is late, or comes together
 * with a tick that is in time.
 */
static bool
is_next_tick_late(const struct periods *periods, size_t k)
{
	while (k + 1 < periods->count && !periods->ticks[k])
		k++;
	return periods->ticks[k] > 1 ||
	       (periods->ticks[k] && (periods->residuals_ps[k] == INT64_MAX ||
				      periods->residuals_ps[k] > (int64_t)(periods->period_ps / LATE_SHARE)));
}

/*
 * Returns the first of the empty periods at the end of the arming. If they are at least half of all periods, the source
 * has stopped, and the number of periods is returned. If they are fewer, the host may only delay their ticks. The host
 * can do this without preempting the guest, because it may run its timers in another thread.
 */
static size_t
find_first_trailing_empty_period(const struct periods *periods)
{
	size_t first = periods->count;

	while (first > 0 && !periods->ticks[first - 1])
		first--;
	return 2 * (periods->count - first) < periods->count ? first : periods->count;
}

/*
 * Counts lost and doubled periods. A period is excused (neither lost nor doubled) if a fault of the source is not the
 * only possible cause. For example, a second tick after an excused empty period may be the tick of that empty period,
 * late by more than a period. Hypervisors queue undelivered ticks and reinject them right after the guest handles the
 * next tick (Linux arch/x86/kvm/i8254.c, reinject). If a period has more surplus ticks than ticks are pending, it is
 * doubled, and the pending ticks may still come later.
 */
static void
count_lost_and_doubled_periods(struct timer_analysis *analysis, const struct periods *periods)
{
	struct report_interval *row = analysis->row;
	bool waits = analysis->report->hypervisor[0] ||
		     timer_was_core_preempted(analysis, 0, UINT64_MAX, analysis->entry_ticks);
	size_t cut_off = waits ? find_first_trailing_empty_period(periods) : periods->count, pending = 0;
	bool was_empty = false;

	for (size_t k = 0; k + 1 < periods->count; k++) {
		uint16_t ticks = periods->ticks[k];
		bool reinjected = ticks > 1 && ticks - 1u <= pending;
		bool excused = reinjected || was_core_preempted_around_period(analysis, k, ticks) ||
			       (!ticks && is_next_tick_late(periods, k)) || k >= cut_off;
		bool empty = !ticks && !excused;

		if (reinjected)
			pending -= ticks - 1u;
		pending += excused && !ticks;
		row->expected++;
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

	analysis->row->asked += analysis->arming.asked;
	if (does_device_set_tick_phase(analysis))
		find_phase_of_periods(analysis);
	divide_arming_into_periods(analysis, &periods);
	assign_ticks_to_periods(analysis, &periods);
	count_lost_and_doubled_periods(analysis, &periods);
	for (size_t k = 0; k < periods.count; k++)
		if (periods.valued[k])
			timer_add_lateness(analysis, periods.late[k]);
	add_tick_rate(analysis, lateness_fit_tick_rate(periods.residuals_ps, periods.count, periods.period_ps));
}

/*
 * Sets the time of the arming for a source whose periods already run when it is armed, so that the last interrupt is
 * not late. The first interrupt may have been pending, so it does not show the phase.
 */
static void
set_phase_by_last_interrupt(struct timer_analysis *analysis)
{
	uint64_t period = period_tsc_ticks(analysis), last, count;

	if (!analysis->count)
		return;
	last = interrupt_tsc(analysis, analysis->count - 1);
	count = (last - interrupt_tsc(analysis, 0)) / period + 2;
	analysis->arming.armed_before = analysis->arming.armed_after = last - count * period;
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
 * ticks are needed.
 */
enum report_policy
timer_find_masking_policy(struct timer_analysis *analysis)
{
	const struct record_interrupts *arming = &analysis->arming;
	int64_t period_ps = timer_counter_ticks_to_ps(arming->ticks, analysis->tick.value);
	uint64_t period = period_tsc_ticks(analysis), open = (arming->closed - arming->opened) / period;
	bool away = timer_was_core_preempted(analysis, 0, UINT64_MAX, period / 4);
	size_t shifted = 0;

	if (does_device_set_tick_phase(analysis))
		set_phase_by_last_interrupt(analysis);
	if (analysis->count > open + (away ? QUEUED_MIN : 2))
		return REPORT_POLICY_CATCH_UP;
	if (analysis->count < 2 || away ||
	    (!does_device_set_tick_phase(analysis) && !are_interrupts_enabled_mid_period(analysis)))
		return REPORT_POLICY_UNKNOWN;
	for (size_t i = 1; i < analysis->count; i++) {
		struct record_event event = timer_get_interrupt(analysis, i);
		int64_t late_ps = lateness_middle_ps(timer_interrupt_lateness(analysis, &event)) % period_ps;

		shifted += late_ps > period_ps / 4 && late_ps < period_ps - period_ps / 4;
	}
	return 2 * shifted > analysis->count ? REPORT_POLICY_DELAY : REPORT_POLICY_DISCARD;
}
