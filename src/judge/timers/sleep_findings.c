/* Judges clocks and timers in sleep states: a row for each state and rule. See judge_timers.h. */
#include "judge/timers/judge_timers.h"

#include "base/number.h"
#include "base/text.h"
#include "report/phrase.h"
#include "rules/rules.h"

static const char *const ways_of_waking[WAYS_OF_WAKING] = { "an IPI", "its timer" };

struct judging { /* the check of one rule in one sleep state, on all cores or on one clock of the chipset */
	const struct report *report;
	const char *state;
	size_t clock; /* index in facts.clocks */
	struct behaviour row;
	bool only_proven; /* true if doubtful gains of a TSC do not count */
};

/* A figure of row I of the sleeps or of their clocks. OFFSET_UNKNOWN if it does not exist or does not count. */
typedef struct offset find_figure(const struct judging *at, size_t i);

/* Returns ROW's figure as a text: "lost 19.9 ms to 20.1 ms", or "gained" if it is negative and IS_LOSS is true. */
static struct phrase
describe_change(const struct behaviour *row, bool is_loss)
{
	struct offset figure = { row->low, row->high };

	if (!offset_excludes_zero(figure))
		return phrase("changed by at most %s", number_from_ns(offset_max_abs(figure)).text);
	return phrase("%s %s to %s", (figure.high <= 0) == is_loss ? "gained" : "lost",
		      number_from_ns(offset_min_abs(figure)).text, number_from_ns(offset_max_abs(figure)).text);
}

/* Marks ROW as not checked because of REASON, but keeps its sentence. */
static void
leave_unchecked(struct behaviour *row, enum unchecked unchecked, const char *reason)
{
	behaviour_mark_unchecked(row, unchecked, "%s", phrase("%s %s", row->text, reason).bytes);
}

/*
 * Returns the index of the row with the worst figure, which the check gets. Counts the figures that break the rule.
 * Without any figure, returns COUNT and marks the check as not done.
 */
static size_t
judge_worst(struct judging *at, size_t count, find_figure *find)
{
	uint64_t limit = rules_get_limit_by_id(at->report, at->row.rule);
	struct offset figure, largest = OFFSET_UNKNOWN;
	size_t worst = count;

	for (size_t i = 0; i < count; i++) {
		figure = find(at, i);
		if (!offset_is_known(figure))
			continue;
		at->row.cores += offset_min_abs(figure) > limit;
		if (offset_is_worse(figure, largest)) {
			worst = i;
			largest = figure;
		}
	}
	if (worst < count)
		behaviour_set_bounds(&at->row, largest);
	else
		behaviour_mark_unchecked(&at->row, UNCHECKED_OTHER, "In the state %s this was not measured on any core.",
					 at->state);
	return worst;
}

/* Returns the number of cores that slept in the state. The boot core's sleep shows nothing about its timer. */
static uint32_t
count_sleepers(const struct judging *at)
{
	const struct report_sleeps *sleeps = &at->report->figures.sleeps;
	bool is_tsc = text_equal(at->row.clock, "tsc");
	uint32_t count = 0;

	for (size_t i = 0; i < sleeps->count; i++)
		count += text_equal(sleeps->rows[i].state, at->state) && (is_tsc || !sleeps->rows[i].all);
	return count;
}

/* Returns the core with the worst figure, or NULL if no core has a figure. */
static const struct report_sleep *
judge_cores(struct judging *at, find_figure *find)
{
	const struct report_sleeps *sleeps = &at->report->figures.sleeps;
	size_t worst = judge_worst(at, sleeps->count, find);

	if (worst == sleeps->count)
		return NULL;
	at->row.core = sleeps->rows[worst].core;
	at->row.cores_asked = count_sleepers(at);
	return &sleeps->rows[worst];
}

/*
 * Returns row I if the core slept in the state. The boot core is the last core. Returns NULL for it if the TSC of
 * another core moved, because that core may be its partner.
 */
static const struct report_sleep *
find_sleeper(const struct judging *at, size_t i)
{
	const struct report_sleep *sleep = &at->report->figures.sleeps.rows[i];

	return text_equal(sleep->state, at->state) && !sleep->lost && !sleep->left && !(sleep->all && at->row.cores) ?
	       sleep : NULL;
}

/*
 * Returns the time that the TSC gained while all cores slept, according to the two clocks of the chipset. Returns
 * OFFSET_UNKNOWN if they do not agree that the TSC lost time, because then one of them may have stopped.
 */
static struct offset
find_gain_by_clocks(const struct judging *at)
{
	const struct report_sleeps *sleeps = &at->report->figures.sleeps;
	struct offset lost = OFFSET_UNKNOWN;
	size_t count = 0;

	for (size_t i = 0; i < sleeps->clock_count; i++) {
		if (!sleeps->clocks[i].all || !text_equal(sleeps->clocks[i].state, at->state) ||
		    !offset_is_known(sleeps->clocks[i].lost_ns))
			continue;
		lost = offset_intersect(lost, sleeps->clocks[i].lost_ns);
		count++;
	}
	return count > 1 && lost.low <= lost.high && lost.high < 0 ? lost : OFFSET_UNKNOWN;
}

/*
 * Returns the sentence why GAIN does not prove that the TSC changed in SLEEP, or NULL. A step back of the boot core's
 * TSC looks like a gain of the TSC of each other core. A large loss may have come at another time if the TSC counted
 * for the whole long sleep. A small change proves nothing if this TSC also steps back while its core is awake.
 */
static const char *
find_doubt(const struct report *report, const struct report_sleep *sleep, struct offset gain)
{
	const struct report_core *core = report_find_core(report, sleep->core);

	if (offset_excludes_zero(sleep->adjusted_ns) && !offset_gap_between(sleep->adjusted_ns, gain))
		return " A change of its TSC_ADJUST may be the cause.";
	if (gain.low > 0 && report->facts.core_count && report->facts.cores[0].tsc.backward)
		return " The boot core's TSC, with which it was compared, steps back.";
	if (offset_min_abs(gain) > sleep->slept_ns / SLEEP_LOST_SHARE)
		return sleep->counted && gain.high < 0 ? " It counted in the long sleep, so it may have moved at another time." :
							 NULL;
	return core && core->tsc.backward ? " It also steps back while the core is awake." : NULL;
}

/*
 * Returns the gain of row I. A gain of the boot core is not proven, because it may be the loss of the other core. The
 * clocks are read less exactly than the other core's TSC, so they count only if they prove a stop.
 */
static struct offset
find_gain_of_tsc(const struct judging *at, size_t i)
{
	const struct report_sleep *sleep = find_sleeper(at, i);
	struct offset by_clocks = OFFSET_UNKNOWN;

	if (!sleep || (at->only_proven && (sleep->all || find_doubt(at->report, sleep, sleep->tsc_gained_ns))))
		return OFFSET_UNKNOWN;
	if (sleep->all && !report_is_guest(at->report))
		by_clocks = find_gain_by_clocks(at);
	return offset_is_known(by_clocks) && offset_min_abs(by_clocks) > rules_get_limit_by_id(at->report, "clock-sleeps") ?
	       by_clocks : sleep->tsc_gained_ns;
}

/* Judges the core with the largest gain. If this gain is doubtful, another core with a proven gain counts. */
static void
judge_tsc(struct judging *at)
{
	struct judging proven = *at;
	const struct report_sleep *worst = judge_cores(at, find_gain_of_tsc), *other;
	const char *doubt = worst ? find_doubt(at->report, worst, (struct offset){ at->row.low, at->row.high }) : NULL;

	if (!worst)
		return;
	proven.only_proven = true;
	if (doubt && (other = judge_cores(&proven, find_gain_of_tsc)) && rules_has_check_failed(at->report, &proven.row)) {
		*at = proven;
		worst = other;
		doubt = NULL;
	}
	at->row.open = doubt != NULL;
	behaviour_set_text(&at->row, "In the state %s the TSC of core %u %s.%s", at->state, worst->core,
			   describe_change(&at->row, false).bytes, doubt ? doubt : "");
}

static struct offset
find_change_of_adjust(const struct judging *at, size_t i)
{
	const struct report_sleep *sleep = &at->report->figures.sleeps.rows[i];

	return text_equal(sleep->state, at->state) ? sleep->adjusted_ns : OFFSET_UNKNOWN;
}

static void
judge_adjust(struct judging *at)
{
	const struct report_sleep *worst = judge_cores(at, find_change_of_adjust);

	if (worst)
		behaviour_set_text(&at->row, "In the state %s the TSC_ADJUST of core %u changed by %s%s.", at->state, worst->core,
				   at->row.measured < 0 ? "-" : "", number_from_ns(offset_max_abs(worst->adjusted_ns)).text);
}

/* Returns row I if the TSC of this core did not move in its sleeps. It then can time the core's timer and wake-ups. */
static const struct report_sleep *
find_timed_sleeper(const struct judging *at, size_t i)
{
	const struct report_sleep *sleep = find_sleeper(at, i);

	return sleep && !sleep->all && offset_is_known(sleep->tsc_gained_ns) &&
	       offset_min_abs(sleep->tsc_gained_ns) <= rules_get_limit_by_id(at->report, "tsc-sleeps") ? sleep : NULL;
}

static bool
has_missed_timer(const struct report_sleep *sleep)
{
	return sleep->wakes[WOKEN_BY_TIMER].missed > sleep->wakes[WOKEN_BY_TIMER].count;
}

/* Returns the loss of the timer in ns. A timer that mostly never interrupted has lost at least its whole time, 1 ms. */
static struct offset
find_loss_of_timer(const struct judging *at, size_t i)
{
	const struct report_sleep *sleep = find_timed_sleeper(at, i);

	return !sleep ? OFFSET_UNKNOWN :
	       has_missed_timer(sleep) ? (struct offset){ 1000000, 1000000 } : sleep->lapic_lost_ns;
}

static void
judge_lapic(struct judging *at)
{
	const struct report_sleep *worst = judge_cores(at, find_loss_of_timer);

	if (!worst)
		return;
	at->row.open = at->row.high < 0; /* a timer that is ahead has not stopped */
	behaviour_set_text(&at->row, "In the state %s the timer of core %u %s%s.", at->state, worst->core,
			   describe_change(&at->row, true).bytes, has_missed_timer(worst) ? ", because it did not interrupt" : "");
	if (rules_has_check_failed(at->report, &at->row) && !at->report->facts.machine.lapic_always_runs)
		leave_unchecked(&at->row, UNCHECKED_OTHER, "CPUID does not promise that it runs (ARAT).");
}

/*
 * Returns the way of waking with the latest median in SLEEP. WAYS_OF_WAKING if no wake-up can be judged. A timer that
 * stopped in the sleep does not show how late the core wakes.
 */
static size_t
find_latest_way(const struct judging *at, const struct report_sleep *sleep)
{
	bool has_stopped = offset_is_known(sleep->lapic_lost_ns) &&
			   offset_min_abs(sleep->lapic_lost_ns) > rules_get_limit_by_id(at->report, "lapic-sleeps");
	size_t latest = WAYS_OF_WAKING;

	for (size_t i = 0; i < WAYS_OF_WAKING; i++)
		if (sleep->wakes[i].count && !sleep->wakes[i].missed && !(i == WOKEN_BY_TIMER && has_stopped) &&
		    (latest == WAYS_OF_WAKING || sleep->wakes[i].p50_ns > sleep->wakes[latest].p50_ns))
			latest = i;
	return latest;
}

static struct offset
find_median_lateness(const struct judging *at, size_t i)
{
	const struct report_sleep *sleep = find_timed_sleeper(at, i);
	size_t way = sleep ? find_latest_way(at, sleep) : WAYS_OF_WAKING;

	if (way == WAYS_OF_WAKING)
		return OFFSET_UNKNOWN;
	int64_t median = sleep->wakes[way].p50_ns;
	int64_t error = sleep->wakes[way].error_ns < INT64_MAX ? (int64_t)sleep->wakes[way].error_ns : INT64_MAX;

	return offset_add((struct offset){ median, median }, (struct offset){ -error, error });
}

/* Sets the text of the row on a core that was lost: it did not wake, or an exception ended its job. */
static void
describe_lost_core(struct judging *at)
{
	const struct report_core *core = report_find_core(at->report, at->row.core);

	if (core && core->reason[0] && !core->timed_out)
		behaviour_set_text(&at->row, "Core %u was lost in the state %s: %s%s", at->row.core, at->state, core->reason,
				   rules_get_missing_full_stop(core->reason));
	else
		behaviour_set_text(&at->row, "Core %u did not wake from the state %s, and was stopped by INIT.", at->row.core,
				   at->state);
}

static void
judge_wake(struct judging *at)
{
	const struct report_sleep *worst = judge_cores(at, find_median_lateness);
	const struct report_sleeps *sleeps = &at->report->figures.sleeps;

	if (worst)
		behaviour_set_text(&at->row, "In the state %s half of the wake-ups of core %u by %s took up to %s.", at->state,
				   worst->core, ways_of_waking[find_latest_way(at, worst)],
				   number_from_ns(at->row.high < 0 ? 0 : (uint64_t)at->row.high).text);
	for (size_t i = 0; i < sleeps->count; i++) {
		if (!sleeps->rows[i].lost || !text_equal(sleeps->rows[i].state, at->state))
			continue;
		if (!at->row.failed) {
			at->row = (struct behaviour){ .rule = at->row.rule, .clock = at->row.clock, .checked = true, .failed = true,
						      .cores_asked = count_sleepers(at), .core = sleeps->rows[i].core };
			describe_lost_core(at);
		}
		at->row.cores++;
	}
}

static struct offset
find_loss_of_clock(const struct judging *at, size_t i)
{
	const struct report_sleep_clock *clock = &at->report->figures.sleeps.clocks[i];

	return clock->clock == at->clock && text_equal(clock->state, at->state) ? clock->lost_ns : OFFSET_UNKNOWN;
}

/* Returns the cause why a change of CLOCK against the TSC does not prove that the clock stopped, or NULL. */
static const char *
find_other_cause(const struct report *report, const struct report_sleep_clock *clock)
{
	const struct report_sleeps *sleeps = &report->figures.sleeps;
	size_t others = 0, agreeing = 0;

	for (size_t i = 0; i < sleeps->clock_count; i++) {
		const struct report_sleep_clock *other = &sleeps->clocks[i];

		if (other == clock || other->all != clock->all || !text_equal(other->state, clock->state) ||
		    !offset_is_known(other->lost_ns))
			continue;
		others++;
		agreeing += offset_gap_between(other->lost_ns, clock->lost_ns) == 0;
	}
	/* in this phase the firmware's tick runs, because it wakes the boot core */
	return report->facts.clocks[clock->clock].clock.firmware_ticks ? "the firmware's tick may stop it for short times" :
	       clock->lost_ns.high < 0 ? "a clock that is ahead has not stopped" :
	       agreeing ? "another clock differs from the TSC in the same way" :
	       !others ? "no third clock shows whether it or the TSC stopped" : NULL;
}

/* Judges a clock of the chipset by its worst row in this state. Marks the check as not done without a row. */
static void
judge_clock(struct judging *at)
{
	const struct report_sleeps *sleeps = &at->report->figures.sleeps;
	size_t worst = judge_worst(at, sleeps->clock_count, find_loss_of_clock);
	const char *cause;

	if (worst == sleeps->clock_count)
		return;
	at->row.cores = 0;
	cause = rules_has_check_failed(at->report, &at->row) ? find_other_cause(at->report, &sleeps->clocks[worst]) : NULL;
	at->row.open = cause != NULL;
	behaviour_set_text(&at->row, "While %s in the state %s, it %s against the TSC%s%s.",
			   sleeps->clocks[worst].all ? "the boot core was" : "cores were", at->state, describe_change(&at->row, true).bytes,
			   cause ? ", but " : "", cause ? cause : "");
}

/*
 * Adds the row to OUTCOMES. In a guest, the host may stop or delay clocks, timers and cores. So there, only a TSC that
 * lost time, or was written, proves a fault, and the time of a wake-up proves nothing.
 */
static void
add_row(struct outcomes *outcomes, struct judging *at)
{
	bool is_wake = text_equal(at->row.rule, "wake-late"), is_tsc = text_equal(at->row.clock, "tsc");
	struct behaviour *row = behaviour_add_row(&outcomes->behaviours, at->row.rule, at->row.clock);

	if (report_is_guest(at->report) && at->row.checked &&
	    (is_wake || (!is_tsc && rules_has_check_failed(at->report, &at->row))))
		leave_unchecked(&at->row, UNCHECKED_GUEST, "In a guest, the host may be the cause.");
	if (row)
		*row = at->row;
}

void
judge_sleep_states(const struct report *report, struct outcomes *outcomes)
{
	static const struct {
		const char *rule, *clock; /* CLOCK is NULL for each clock of the report */
		void (*judge)(struct judging *at);
	} parts[] = { { "tsc-sleeps", "tsc", judge_tsc }, { "tsc-adjust-sleeps", "tsc", judge_adjust },
		      { "lapic-sleeps", "lapic", judge_lapic }, { "wake-late", "lapic", judge_wake },
		      { "clock-sleeps", NULL, judge_clock } };
	const struct report_sleeps *sleeps = &report->figures.sleeps;

	for (size_t i = 0; i < sleeps->count; i++) {
		const char *state = sleeps->rows[i].state;

		if (i && text_equal(sleeps->rows[i - 1].state, state)) /* the rows of a state follow each other */
			continue;
		for (size_t k = 0; k < sizeof(parts) / sizeof(*parts); k++)
			for (size_t clock = 0; clock < (parts[k].clock ? 1 : report->facts.clock_count); clock++) {
				const char *id = parts[k].clock ? parts[k].clock : report_clock_id(report, clock);
				struct judging at = { .report = report, .state = state, .clock = clock,
						      .row = { .rule = parts[k].rule, .clock = id, .checked = true } };

				parts[k].judge(&at);
				if (parts[k].clock || at.row.checked)
					add_row(outcomes, &at);
			}
	}
}
