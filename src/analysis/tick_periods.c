/* Periodic timers: matches each tick of an arming to its deadline. See timer_analysis.h. */
#include "analysis/timer_analysis.h"

#define PPB            UINT64_C(1000000000)
#define PS_PER_NS      1000
#define BURST_SHARE    4  /* ticks less than 1/4 period apart are a burst */
#define LATE_SHARE     4  /* a tick later than 1/4 period also explains the empty periods before it */
#define PHASE_SHARE    8  /* a phase that was found is accurate to 1/8 period */
#define PHASE_SLACK_NS 10 /* more than the rounding of conversions, so that the earliest tick is not early */
/* Surplus ticks that prove a queue, although a gap hides some: half of the 20 masked deadlines. */
#define QUEUED_MIN     10

static int64_t
middle(struct lateness late)
{
	return late.low + (late.high - late.low) / 2;
}

/* Returns the period in TSC ticks. */
static uint64_t
period_of(const struct timer_analysis *analysis)
{
	return scale_ticks(&analysis->scale, analysis->timer.interval_ns);
}

static bool
has_own_phase(const struct timer_analysis *analysis)
{
	return analysis->timer.flags & RECORD_OWN_PHASE;
}

static uint64_t
tsc_of(const struct timer_analysis *analysis, size_t i)
{
	return timer_interrupt(analysis, i).tsc;
}

/* Returns true if interrupt I came less than a quarter period after the one before, so it was held back. */
static bool
is_in_burst(const struct timer_analysis *analysis, size_t i)
{
	return i && tsc_of(analysis, i) - tsc_of(analysis, i - 1) < period_of(analysis) / BURST_SHARE;
}

/* Returns the time from interrupt FROM to interrupt I modulo the period, from -1/2 to 1/2 period. */
static int64_t
phase_ps(const struct timer_analysis *analysis, size_t from, size_t i, int64_t period_ps)
{
	uint64_t since = tsc_of(analysis, i) - tsc_of(analysis, from);
	int64_t since_ps = i < from ? -timer_tsc_ps(analysis, 0 - since) : timer_tsc_ps(analysis, since);
	int64_t half_ps = since_ps < 0 ? -period_ps / 2 : period_ps / 2;

	return since_ps - (since_ps + half_ps) / period_ps * period_ps;
}

/*
 * Returns the interrupt after whose phase the most others come within 1/8 period. Only the first of each burst counts,
 * because the whole burst has the phase of its delivery.
 */
static size_t
most_followed(const struct timer_analysis *analysis, int64_t period_ps)
{
	size_t best = 0, most = 0;

	for (size_t from = 0; from < analysis->count; from++) {
		size_t followers = 0;

		for (size_t i = 0; i < analysis->count && !is_in_burst(analysis, from); i++) {
			int64_t ps = phase_ps(analysis, from, i, period_ps);

			followers += ps >= 0 && ps < period_ps / PHASE_SHARE && !is_in_burst(analysis, i);
		}
		if (followers > most) {
			best = from;
			most = followers;
		}
	}
	return best;
}

static uint64_t
ps_in_ticks(const struct timer_analysis *analysis, int64_t ps)
{
	return scale_ticks(&analysis->scale, (uint64_t)ps / PS_PER_NS);
}

/* Returns by how many ps the earliest undelayed interrupt came earlier in its period than interrupt FROM. One
 * that came less than a period after a gap may belong to any deadline within the gap.
 */
static int64_t
ahead_ps(const struct timer_analysis *analysis, size_t from, int64_t period_ps)
{
	uint64_t period = ps_in_ticks(analysis, period_ps);
	int64_t ahead = 0;

	for (size_t i = 0; i < analysis->count; i++) {
		int64_t ps = -phase_ps(analysis, from, i, period_ps);
		uint64_t tsc = tsc_of(analysis, i);

		if (ps > ahead && !timer_was_away(analysis, tsc - period, tsc, 0))
			ahead = ps;
	}
	return ahead;
}

/*
 * For a source whose periods run before it is armed: sets the time of the arming so that no tick is early and at least
 * one is not late. A delay common to all ticks therefore cannot be seen. Most ticks come in time, but a delayed one may
 * lie anywhere in a period, even the first one. Therefore the phase is taken from the largest cluster.
 */
static void
find_phase(struct timer_analysis *analysis)
{
	struct record_interrupts *arming = &analysis->arming;
	int64_t period_ps = timer_ticks_ps(arming->ticks, analysis->tick.value), since_ps;
	uint64_t period = ps_in_ticks(analysis, period_ps), slack = scale_ticks(&analysis->scale, PHASE_SLACK_NS), first;
	size_t best;

	if (!analysis->count)
		return;
	best = most_followed(analysis, period_ps);
	first = tsc_of(analysis, best) - ps_in_ticks(analysis, ahead_ps(analysis, best, period_ps));
	/* Move back to the deadline whose period has the first tick: one period after the arming. */
	since_ps = timer_tsc_ps(analysis, first - tsc_of(analysis, 0)) - period_ps / PERIOD_EARLY_SHARE;
	if (first > tsc_of(analysis, 0) && since_ps > 0)
		first -= ps_in_ticks(analysis, (since_ps + period_ps - 1) / period_ps * period_ps);
	arming->armed_before = first - period - slack;
	arming->armed_after = first - period + slack;
}

/* Converts LATE from the first deadline to deadline K. The uncertainty of the period grows with K. */
static struct lateness
against(const struct timer_analysis *analysis, struct lateness late, size_t k)
{
	late.low -= timer_ticks_ps(k * analysis->arming.ticks, analysis->tick.high);
	late.high -= timer_ticks_ps(k * analysis->arming.ticks, analysis->tick.low);
	return late;
}

/* Divides the window into whole periods, and adds one for ticks that are late for the last deadline. */
static void
lay_out(const struct timer_analysis *analysis, struct periods *periods)
{
	const struct record_interrupts *arming = &analysis->arming;
	uint64_t count = arming->closed > arming->armed_before ?
			 (arming->closed - arming->armed_before) / period_of(analysis) : 0;

	periods->period_ps = (uint64_t)timer_ticks_ps(arming->ticks, analysis->tick.value);
	periods->count = count < TIMER_PERIODS_MAX ? (size_t)count : TIMER_PERIODS_MAX;
	for (size_t k = 0; k < periods->count; k++) {
		periods->ticks[k] = periods->valued[k] = 0;
		periods->residuals_ps[k] = INT64_MAX;
	}
}

/* Returns the period of an interrupt that came AFTER_PS after the first deadline; SIZE_MAX if it is outside all
 * periods.
 */
static size_t
period_at(const struct periods *periods, int64_t after_ps)
{
	int64_t from_first = after_ps + (int64_t)(periods->period_ps / PERIOD_EARLY_SHARE);
	uint64_t k = from_first < 0 ? UINT64_MAX : (uint64_t)from_first / periods->period_ps;

	return k < periods->count ? (size_t)k : SIZE_MAX;
}

size_t
periods_place(const struct periods *periods, size_t k, bool before_due, size_t burst)
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
 * Returns true if a tick in period K belongs to period K - 1. With an unknown phase no tick counts as early: one that
 * is early by at most HIGH_PS is late for the deadline before. If period K - 1 has its own tick, only a tick earlier
 * than the phase's uncertainty moves. In a burst, all ticks but the last belong to earlier deadlines.
 */
static bool
is_of_before(const struct periods *periods, size_t k, int64_t high_ps, bool has_own)
{
	return has_own || periods->ticks[k - 1] ? high_ps < -(int64_t)(periods->period_ps / PHASE_SHARE) : high_ps < 0;
}

/*
 * Notes the lateness of interrupt I for period K, unless the core was preempted at the deadline. A tick that is early
 * may be a delayed tick of the deadline before, so the check starts there. A tick at the end of a gap that came before
 * its deadline, within the error, may be one, too.
 */
static void
note_late(const struct timer_analysis *analysis, struct periods *periods, struct lateness late, size_t k, size_t i)
{
	const struct record_interrupts *arming = &analysis->arming;
	uint64_t tsc = tsc_of(analysis, i), due = arming->armed_before + (k + (late.high >= 0)) * period_of(analysis);

	if (timer_was_away(analysis, due < tsc ? due : tsc - 1, tsc, 0))
		return;
	periods->residuals_ps[k] = timer_tsc_ps(analysis, tsc - arming->armed_before) -
				   timer_ticks_ps((k + 1) * arming->ticks, analysis->tick.value);
	periods->late[k] = late;
	periods->valued[k] = (uint16_t)(i + 1);
}

/*
 * Adds interrupt I to its period. BURST is its place in its burst, counted from the end. LAST: it ends a burst of two
 * or more, so it belongs to the latest deadline. A burst is added from its last interrupt to its first. If several are
 * in one period, the first gives the lateness.
 */
static void
add_tick(struct timer_analysis *analysis, struct periods *periods, size_t i, size_t burst, bool last)
{
	struct record_event event = timer_interrupt(analysis, i);
	struct lateness late = timer_lateness(analysis, &event);
	size_t k = period_at(periods, middle(late));
	bool again, before_due;
	int64_t high_ps;

	if (k == SIZE_MAX)
		return;
	high_ps = against(analysis, late, k).high;
	before_due = high_ps < 0;
	if (has_own_phase(analysis) && k > 0) {
		if (is_of_before(periods, k, high_ps, last))
			before_due = against(analysis, late, --k).high < 0;
		else if (last)
			before_due = false;
	}
	k = periods_place(periods, k, before_due, burst);
	if (k == SIZE_MAX)
		return;
	analysis->row->delivered++;
	again = burst > 1 && periods->ticks[k] == 1 && periods->valued[k] > i + 1;
	if (again)
		periods->valued[k] = 0;
	late = against(analysis, late, k);
	if ((periods->ticks[k]++ == 0 || again) && !(has_own_phase(analysis) && late.high < 0))
		note_late(analysis, periods, late, k, i);
}

static void
add_ticks(struct timer_analysis *analysis, struct periods *periods)
{
	size_t end;

	for (size_t first = 0; first < analysis->count && periods->count; first = end) {
		end = first + 1;
		while (end < analysis->count && is_in_burst(analysis, end))
			end++;
		for (size_t i = end; i-- > first;)
			add_tick(analysis, periods, i, end - i, i + 1 == end && end - first > 1);
	}
}

/* Returns the TSC of the first interrupt in the burst that includes FROM; FROM if there is no burst. */
static uint64_t
burst_begin(const struct timer_analysis *analysis, uint64_t from)
{
	size_t i = 0;

	while (i < analysis->count && tsc_of(analysis, i) < from)
		i++;
	if (i == analysis->count || !is_in_burst(analysis, i))
		return from;
	while (is_in_burst(analysis, i))
		i--;
	return tsc_of(analysis, i);
}

/*
 * Returns true if the core was preempted around period K: from a quarter period before its deadline to the next
 * deadline. If the source then sent a burst, the time starts with that burst, because its interrupts may belong to any
 * of these periods.
 */
static bool
is_away(const struct timer_analysis *analysis, size_t k, uint16_t ticks)
{
	uint64_t period = period_of(analysis), due = analysis->arming.armed_before + (k + 1) * period;
	uint64_t from = due - period / PERIOD_EARLY_SHARE, burst;

	if (ticks > 1)
		from = burst_begin(analysis, from) - 1;
	else if (!ticks && (burst = burst_begin(analysis, from) - 1) < from)
		from = burst;
	return timer_was_away(analysis, from, due + period, analysis->entry_ticks);
}

/*
 * Returns true if the first tick at or after period K is late or not alone. A source that its host delays skips the
 * deadlines in between. Its next tick then comes late, or together with one that is in time.
 */
static bool
ends_late(const struct periods *periods, size_t k)
{
	while (k + 1 < periods->count && !periods->ticks[k])
		k++;
	return periods->ticks[k] > 1 ||
	       (periods->ticks[k] && (periods->residuals_ps[k] == INT64_MAX ||
				      periods->residuals_ps[k] > (int64_t)(periods->period_ps / LATE_SHARE)));
}

/*
 * First of the empty periods that end the window; the count if they are half of the window or more. A source that its
 * host still delays at the end has sent nothing since, and these periods may only be late. A source that is silent for
 * longer has stopped. The guest need not be preempted for that, because its timers may run in a thread of their own.
 */
static size_t
first_cut_off(const struct periods *periods)
{
	size_t first = periods->count;

	while (first > 0 && !periods->ticks[first - 1])
		first--;
	return 2 * (periods->count - first) < periods->count ? first : periods->count;
}

/*
 * Returns true if the surplus ticks of a period were PENDING since earlier empty ones, and takes them off PENDING.
 * Hypervisors queue undelivered ticks and reinject them right after the guest takes the next (Linux
 * arch/x86/kvm/i8254.c, reinject).
 */
static bool
is_reinjected(uint16_t ticks, size_t *pending)
{
	size_t more = ticks > 1 ? ticks - 1u : 0;
	bool reinjected = more && more <= *pending;

	*pending -= more < *pending ? more : *pending;
	return reinjected;
}

/*
 * Counts lost and doubled periods. A period that proves nothing about the source is not counted. Two ticks after an
 * empty period prove nothing either, because one of them may be late by more than a period: it was pending.
 */
static void
count_periods(struct timer_analysis *analysis, const struct periods *periods)
{
	struct report_interval *row = analysis->row;
	bool waits = analysis->report->hypervisor[0] || timer_was_away(analysis, 0, UINT64_MAX, analysis->entry_ticks);
	size_t cut_off = waits ? first_cut_off(periods) : periods->count, pending = 0;
	bool was_empty = false;

	for (size_t k = 0; k + 1 < periods->count; k++) {
		uint16_t ticks = periods->ticks[k];
		bool reinjected = is_reinjected(ticks, &pending);
		bool excused = reinjected || is_away(analysis, k, ticks) || (!ticks && ends_late(periods, k)) || k >= cut_off;
		bool empty = !ticks && !excused;

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
part_ppb(uint64_t part, uint64_t whole)
{
	uint64_t ppb = whole ? scale_mul_div_up(part, PPB, whole) : PPB;

	return (int64_t)(ppb < PPB ? ppb : PPB);
}

/* Adds the uncertainty of the period and of the TSC's rate to RATE, and combines it with the row's rate. */
static void
join_rate(struct timer_analysis *analysis, struct interval_ppb rate)
{
	const struct timer_tick *tick = &analysis->tick;
	uint64_t low = analysis->tsc_low_microhz;
	int64_t error = part_ppb(tick->high - tick->low, tick->value) + part_ppb(analysis->tsc_high_microhz - low, low);

	if (!rate.known || !low)
		return;
	rate.low -= error;
	rate.high += error;
	analysis->row->rate = lateness_combine_rates(analysis->row->rate, rate);
}

void
timer_add_periods(struct timer_analysis *analysis)
{
	struct periods periods;

	analysis->row->asked += analysis->arming.asked;
	if (has_own_phase(analysis))
		find_phase(analysis);
	lay_out(analysis, &periods);
	add_ticks(analysis, &periods);
	count_periods(analysis, &periods);
	for (size_t k = 0; k < periods.count; k++)
		if (periods.valued[k])
			timer_add_value(analysis, periods.late[k]);
	join_rate(analysis, lateness_tick_rate(periods.residuals_ps, periods.count, periods.period_ps));
}

/*
 * For a source whose periods run before it is armed: sets its arming so that the last interrupt is not late. The first
 * one may have been pending, so it does not show the phase.
 */
static void
end_phase(struct timer_analysis *analysis)
{
	uint64_t period = period_of(analysis), last, count;

	if (!analysis->count)
		return;
	last = tsc_of(analysis, analysis->count - 1);
	count = (last - tsc_of(analysis, 0)) / period + 2;
	analysis->arming.armed_before = analysis->arming.armed_after = last - count * period;
}

/* Returns true if interrupts were opened near the middle of a period. Otherwise a timer that restarted its
 * period then has nearly the same phase as a timer that did not.
 */
static bool
is_opened_between(const struct timer_analysis *analysis)
{
	uint64_t period = period_of(analysis), phase = (analysis->arming.opened - analysis->arming.armed_before) % period;

	return phase >= period * 3 / 8 && phase <= period * 5 / 8;
}

/*
 * Decides by the number of ticks that were sent later, then by the phase of the others. A gap in the core's time ends
 * with one or two pending interrupts, which do not show that ticks were queued.
 */
enum report_policy
timer_policy(struct timer_analysis *analysis)
{
	const struct record_interrupts *arming = &analysis->arming;
	int64_t period_ps = timer_ticks_ps(arming->ticks, analysis->tick.value);
	uint64_t period = period_of(analysis), open = (arming->closed - arming->opened) / period;
	bool away = timer_was_away(analysis, 0, UINT64_MAX, period / 4);
	size_t shifted = 0;

	if (has_own_phase(analysis))
		end_phase(analysis);
	if (analysis->count > open + (away ? QUEUED_MIN : 2))
		return REPORT_POLICY_CATCH_UP;
	if (analysis->count < 2 || away || (!has_own_phase(analysis) && !is_opened_between(analysis)))
		return REPORT_POLICY_UNKNOWN;
	for (size_t i = 1; i < analysis->count; i++) {
		struct record_event event = timer_interrupt(analysis, i);
		int64_t late_ps = middle(timer_lateness(analysis, &event)) % period_ps;

		shifted += late_ps > period_ps / 4 && late_ps < period_ps - period_ps / 4;
	}
	return 2 * shifted > analysis->count ? REPORT_POLICY_DELAY : REPORT_POLICY_DISCARD;
}
