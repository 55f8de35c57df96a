/*
 * Timers' interrupts: what each source promises, over all that it was asked for. What a gap of the core's time touched
 * accuses nobody. Rows before judge_behaviours(), which makes findings of them. See judge_timers.h.
 */
#include "judge_timers.h"

#include "interval_asked.h"
#include "interval_cores.h"
#include "number.h"
#include "offset.h"
#include "rules.h"
#include "text.h"

#define PIT_CLOCKS_2_NS 1677 /* OUT follows the clock behind the count's write, and falls or rises at one */

static struct behaviour *
add_row(struct report *report, const char *rule, const struct asked *asked)
{
	struct behaviour *row = behaviour_add(&report->behaviours, rule, asked->source);

	if (row)
		row->checked = true;
	return row;
}

static void
set_figure(struct behaviour *row, int64_t measured, int64_t low, int64_t high)
{
	row->has_figure = true;
	row->measured = measured;
	row->low = low;
	row->high = high;
}

static void
leave_scattered_open(struct behaviour *row)
{
	row->open = true;
	behaviour_say(row, "its ticks lie all over their periods: which deadline each was of can't be told.");
}

/* A LAPIC needs no pin; that an I/O APIC's leads to the core is proven by whatever came by it. */
static bool
judge_missing(struct report *report, const struct asked *asked)
{
	bool proven = asked->came || text_equal(asked->kind, "lapic");
	struct behaviour *row = asked->shots ? add_row(report, "irq-missing", asked) : NULL;

	if (!row)
		return false;
	row->failed = asked->missing && proven;
	row->open = !row->failed && asked->shots_empty;
	row->checked = row->failed || row->open || asked->shots > asked->shots_excused;
	if (row->failed)
		behaviour_say(row, "%lu of %lu one-shots never came, and its own status says that they were due.", asked->missing,
			      asked->shots);
	else if (row->open && !asked->came && asked_is_polled(asked))
		behaviour_say(row, "its status never showed that it was due, though its counter did.");
	else if (row->open && !asked->came)
		behaviour_say(row, "none came by pin %u: it is the timer's fault, or that of the way from it to the core.",
			      asked->pin);
	else if (row->open)
		behaviour_say(row, "%lu of %lu one-shots never came; its own status does not say that they were due.",
			      asked->shots_empty, asked->shots);
	else if (!row->checked)
		behaviour_say(row, "the core was away while each of %lu one-shots was due.", asked->shots);
	else
		behaviour_say(row, "%lu one-shot%s asked for, none missing, %lu excused by gaps.", asked->shots,
			      asked->shots == 1 ? "" : "s", asked->shots_excused);
	return row->failed;
}

/* PIT: OUT rises at a clock, and the count is taken at one: two of them are not its fault. */
static void
judge_early(struct report *report, const struct asked *asked)
{
	struct interval_ns by = asked->earliest;
	struct behaviour *row = asked->came && asked->shots > 1 ? add_row(report, "irq-early", asked) : NULL;

	if (!row)
		return;
	if (text_begins(asked->source, "pit"))
		by.low -= PIT_CLOCKS_2_NS;
	if (!by.known || by.low <= 0) {
		set_figure(row, 0, 0, 0);
		behaviour_say(row, "none of %lu one-shots came early beyond its error.", asked->shots);
		return;
	}
	set_figure(row, by.value, by.low, by.high);
	behaviour_say(row, "%lu of %lu one-shots came early, by up to %ld to %ld ns.", asked->early, asked->shots,
		      by.low, by.high);
	row->open = !asked->early_always;
	if (row->open)
		behaviour_say(row, "%lu of %lu one-shots came early, by up to %ld to %ld ns, but not of every length.",
			      asked->early, asked->shots, by.low, by.high);
}

/* As large a part of the periods is excused as of the rest was lost: what kept the core may have kept its timer. */
static bool
is_lost_like_the_core(const struct asked *asked)
{
	uint64_t seen = asked->periods - asked->periods_excused;

	return 2 * asked->periods_excused >= asked->periods || asked->lost * asked->periods <= asked->periods_excused * seen;
}

static void
judge_lost(struct report *report, const struct asked *asked, bool misses)
{
	struct behaviour *row = asked->periods ? add_row(report, "irq-lost", asked) : NULL;
	uint64_t seen = asked->periods - asked->periods_excused;

	if (!row)
		return;
	if (asked->scattered) {
		leave_scattered_open(row);
		return;
	}
	row->checked = seen && asked->came && !(asked->lost && (misses || report_is_emulated(report)));
	row->open = row->checked && asked->lost && (asked->uneven || is_lost_like_the_core(asked));
	set_figure(row, (int64_t)asked->lost, (int64_t)asked->lost, (int64_t)asked->lost);
	if (!seen)
		behaviour_say(row, "the core was away in each of %lu periods.", asked->periods);
	else if (!asked->came)
		behaviour_say(row, "none of %lu ticks came.", seen);
	else if (misses && asked->lost)
		behaviour_say(row, "%lu of %lu periods were lost as well: see irq-missing.", asked->lost, seen);
	else if (!row->checked)
		behaviour_say(row, "%lu of %lu periods without a tick: not judged in an emulator, which waits for its host.",
			      asked->lost, seen);
	else if (row->open && asked->uneven)
		behaviour_say(row, "%lu of %lu periods without a tick, but ticks come late by more than an eighth of a period.",
			      asked->lost, seen);
	else if (row->open)
		behaviour_say(row, "%lu of %lu periods without a tick; what delayed the core in %lu others may delay "
			      "its timer.",
			      asked->lost, seen, asked->periods_excused);
	else
		behaviour_say(row, "%lu of %lu periods without a tick; %lu are excused by gaps.", asked->lost, seen,
			      asked->periods_excused);
}

/*
 * QEMU's hpet_timer() leaves a comparator as it is whose own tick has not passed, and so fires again 10 ns later; and
 * a tick that its loop sends late may come beside the next.
 */
static void
judge_doubled(struct report *report, const struct asked *asked)
{
	struct behaviour *row = asked->came && !asked_is_polled(asked) ? add_row(report, "irq-doubled", asked) : NULL;

	if (!row)
		return;
	if (asked->scattered && !asked->storms && !asked->doubled) {
		leave_scattered_open(row);
		return;
	}
	row->checked = asked->storms || !asked->doubled || !report_is_emulated(report);
	row->open = row->checked && !asked->storms && asked->uneven && asked->doubled &&
		    asked->doubled == asked->doubled_periods;
	set_figure(row, (int64_t)asked->doubled, (int64_t)asked->doubled, (int64_t)asked->doubled);
	if (asked->storms)
		behaviour_say(row, "its interrupts did not stop after one deadline.");
	else if (!row->checked)
		behaviour_say(row, "%lu of %lu deadlines had two interrupts: not judged in an emulator, which sends late "
			      "ones at once.",
			      asked->doubled, asked->shots + asked->periods);
	else if (row->open)
		behaviour_say(row, "%lu of %lu periods had two ticks, of a source that comes late by more than an eighth of one.",
			      asked->doubled, asked->periods);
	else
		behaviour_say(row, "%lu of %lu deadlines had two interrupts.", asked->doubled, asked->shots + asked->periods);
}

/* The finding that names CLOCK, or the device of a source of it: "hpet0" is of "hpet". */
static bool
is_device_named(const struct report *report, const char *source)
{
	for (size_t i = 0; i < report->finding_count; i++)
		if (report->findings[i].clock && text_begins(source, report->findings[i].clock))
			return true;
	return false;
}

static void
judge_rate(struct report *report, const struct asked *asked)
{
	struct behaviour *row = asked->periods ? add_row(report, "irq-rate", asked) : NULL;
	struct interval_ppm rate = interval_in_ppm(&asked->rate);

	if (!row)
		return;
	row->checked = rate.known;
	if (!row->checked) {
		behaviour_say(row, "too few ticks came, or nothing shows how long they took.");
		return;
	}
	set_figure(row, rate.value, rate.low, rate.high);
	row->open = is_device_named(report, asked->source) ||
		    behaviour_outcome(row, rules_limit_of(report, row->rule)) == OUTCOME_NOT_DETERMINED;
	behaviour_say(row, "its periods are off by %ld to %ld ppm%s", row->low, row->high,
		      is_device_named(report, asked->source) ? ": a finding on its clock explains that." :
		      row->open ? ": they come too unevenly to tell." : ".");
}

static void
judge_late(struct report *report, const struct asked *asked)
{
	struct behaviour *row = asked->shots > 1 ? add_row(report, "irq-late", asked) : NULL;
	const struct report_lateness *late;
	struct number_within told;

	if (!row)
		return;
	row->checked = asked->late && !report_is_emulated(report);
	if (!asked->late) {
		behaviour_say(row, "fewer than %u one-shots of 100 us came without a gap.", ASKED_LATE_SHOTS_MIN);
		return;
	}
	late = &asked->late->lateness;
	if (late->p50_ns + (int64_t)late->error_ns < 0) {
		set_figure(row, 0, 0, 0);
		behaviour_say(row, "half of its one-shots of 100 us came before they were due: see irq-early.");
		return;
	}
	set_figure(row, late->p50_ns, late->p50_ns - (int64_t)late->error_ns, late->p50_ns + (int64_t)late->error_ns);
	if (row->low < 0)
		row->low = 0;
	told = number_within(late->p50_ns, late->error_ns);
	behaviour_say(row, "half of its one-shots of 100 us are %ld ns late or more, +-%lu%s", told.value, told.error,
		      row->checked ? "." : ": not judged in an emulator.");
}

/* QEMU's hpet_timer() sends what is over at once, whoever runs it: its kernels and its firmware live with that. */
static void
judge_stale(struct report *report, const struct asked *asked)
{
	struct behaviour *row = asked->over ? add_row(report, "hpet-stale", asked) : NULL;
	bool by_qemu = report_is_emulated(report) || text_equal(report->hypervisor, "KVMKVMKVM");

	if (!row)
		return;
	row->failed = 2 * asked->stale > asked->over;
	row->checked = !(asked->stale && by_qemu);
	row->open = row->checked && asked->stale && !row->failed;
	behaviour_say(row, "armed %lu times with a deadline that was over, it interrupted %lu times%s", asked->over,
		      asked->stale, !row->checked ? ", as all of QEMU's do." :
		      row->open ? ": one that was late before may have come then." : ".");
}

static bool
was_seen_before(const struct report *report, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (text_equal(report->intervals[before].source, report->intervals[i].source))
			return true;
	return false;
}

void
judge_intervals(struct report *report)
{
	for (size_t i = 0; i < report->interval_count; i++) {
		struct asked asked;

		if (was_seen_before(report, i) || !report->intervals[i].asked_ns) /* what comes at once is no timer */
			continue;
		asked = asked_all_of(report, report->intervals[i].source);
		bool misses = judge_missing(report, &asked);

		judge_early(report, &asked);
		judge_lost(report, &asked, misses);
		judge_doubled(report, &asked);
		judge_rate(report, &asked);
		judge_late(report, &asked);
		judge_stale(report, &asked);
	}
	interval_cores_judge(report);
}
