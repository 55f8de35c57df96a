/*
 * Compares the number of interrupts with the number of deadlines. Deadlines during a gap of the core's time are
 * excused. If these are more than half, nothing is known of the source. See irq_counts.h.
 */
#include "judge/timers/irq_counts.h"

#include "base/text.h"
#include "judge/timers/host_wait.h"

/* Two PIT clocks: OUT follows the clock after the count was written, and changes at a clock. */
#define PIT_CLOCKS_2_NS 1677
#define WORDS_SIZE      64

struct excused { /* a clause on excused deadlines, for the end of a sentence */
	char words[WORDS_SIZE];
	bool most;
};

static struct excused
excused_of(uint64_t excused, uint64_t all)
{
	struct excused said = { .most = 2 * excused > all };
	struct text text;

	text_init(&text, said.words, sizeof(said.words));
	if (excused)
		text_printf(&text, "; %lu more are excused by gaps%s", excused, said.most ? ", too many to decide" : "");
	return said;
}

static void
say_all_excused(struct behaviour *row, uint64_t shots)
{
	row->checked = false;
	behaviour_say(row, "the core was preempted when each of %lu one-shots was due.", shots);
}

static void
leave_scattered_open(struct behaviour *row)
{
	row->open = true;
	behaviour_say(row, "its ticks are spread over their periods, so none can be matched to its deadline.");
}

/*
 * A LAPIC timer needs no pin. That an I/O APIC's pin leads to the core is proven if any interrupt came through
 * it.
 */
static bool
judge_missing(struct report *report, const struct asked *asked)
{
	bool proven = asked->came || text_equal(asked->kind, "lapic");
	struct behaviour *row = asked->shots ? asked_row(report, "irq-missing", asked) : NULL;
	struct excused excused = excused_of(asked->shots_untold, asked->shots);
	uint64_t told = asked->shots - asked->shots_untold;

	if (!row)
		return false;
	row->failed = asked->missing && proven;
	row->open = !row->failed && asked->shots_empty;
	if (row->failed)
		behaviour_say(row, "%lu of %lu one-shots never came, and its own status says that they were due.", asked->missing,
			      asked->shots);
	else if (row->open && !asked->came && asked_is_polled(asked))
		behaviour_say(row, "its status never showed that it was due, though its counter did.");
	else if (row->open && !asked->came)
		behaviour_say(row, "none came through pin %u: either the timer or the route to the core has failed.",
			      asked->pin);
	else if (row->open)
		behaviour_say(row, "%lu of %lu one-shots never came; its own status does not say that they were due.",
			      asked->shots_empty, asked->shots);
	else if (!told)
		say_all_excused(row, asked->shots);
	else {
		row->open = excused.most;
		behaviour_say(row, "none of %lu one-shot%s is missing%s.", told, told == 1 ? "" : "s", excused.words);
	}
	return row->failed;
}

/* PIT: OUT rises at a clock, and the count is taken at a clock, so two clocks early are no fault. */
static void
judge_early(struct report *report, const struct asked *asked)
{
	struct interval_ns by = asked->earliest;
	struct behaviour *row = asked->came && asked->shots > 1 ? asked_row(report, "irq-early", asked) : NULL;
	struct excused excused = excused_of(asked->shots_excused, asked->shots);
	uint64_t seen = asked->shots - asked->shots_excused;

	if (!row)
		return;
	if (!seen) {
		say_all_excused(row, asked->shots);
		return;
	}
	if (text_begins(asked->source, "pit"))
		by.low -= PIT_CLOCKS_2_NS;
	if (!by.known || by.low <= 0) {
		asked_set_figure(row, 0, 0, 0);
		row->open = excused.most;
		behaviour_say(row, "none of %lu one-shot%s came earlier than its error allows%s.", seen, seen == 1 ? "" : "s",
			      excused.words);
		return;
	}
	asked_set_figure(row, by.value, by.low, by.high);
	behaviour_say(row, "%lu of %lu one-shots came early, by up to %ld to %ld ns.", asked->early, seen,
		      by.low, by.high);
	row->open = !asked->early_always;
	if (row->open)
		behaviour_say(row, "%lu of %lu one-shots came early, by up to %ld to %ld ns, but not of every length.",
			      asked->early, seen, by.low, by.high);
}

/*
 * Returns true if at least as large a part of the periods is excused as of the rest was lost. Then the cause of
 * the core's gaps may also have delayed its timer.
 */
static bool
is_lost_like_the_core(const struct asked *asked)
{
	uint64_t seen = asked->periods - asked->periods_excused;

	return 2 * asked->periods_excused >= asked->periods || asked->lost * asked->periods <= asked->periods_excused * seen;
}

static void
judge_lost(struct report *report, const struct asked *asked, bool misses)
{
	struct behaviour *row = asked->periods ? asked_row(report, "irq-lost", asked) : NULL;
	struct excused excused = excused_of(asked->periods_excused, asked->periods);
	uint64_t seen = asked->periods - asked->periods_excused;

	if (!row)
		return;
	if (asked->scattered) {
		leave_scattered_open(row);
		return;
	}
	row->checked = seen && asked->came && !(asked->lost && (misses || host_wait_explains_lost(report, asked)));
	row->open = row->checked && asked->lost && (asked->uneven || is_lost_like_the_core(asked));
	asked_set_figure(row, (int64_t)asked->lost, (int64_t)asked->lost, (int64_t)asked->lost);
	if (!seen)
		behaviour_say(row, "the core was preempted in each of %lu periods.", asked->periods);
	else if (!asked->came)
		behaviour_say(row, "none of %lu ticks came.", seen);
	else if (misses && asked->lost)
		behaviour_say(row, "%lu of %lu periods were lost as well: see irq-missing.", asked->lost, seen);
	else if (!row->checked) {
		row->unchecked = UNCHECKED_GUEST;
		behaviour_say(row, "%lu of %lu periods without a tick: not judged in an emulator, which waits for its host.",
			      asked->lost, seen);
	}
	else if (row->open && asked->uneven)
		behaviour_say(row, "%lu of %lu periods without a tick, but ticks come late by more than an eighth of a period.",
			      asked->lost, seen);
	else if (row->open)
		behaviour_say(row, "%lu of %lu periods without a tick; the cause of gaps in %lu others may also have delayed "
			      "its timer.",
			      asked->lost, seen, asked->periods_excused);
	else if (asked->lost && report_is_emulated(report))
		behaviour_say(row, "%lu of %lu periods without a tick; other ticks are late by less than 1/8 period, "
			      "so waiting for the host does not explain that.",
			      asked->lost, seen);
	else {
		row->open = !asked->lost && excused.most;
		behaviour_say(row, "%lu of %lu periods without a tick%s.", asked->lost, seen, excused.words);
	}
}

/*
 * Judges double interrupts. QEMU's hpet_timer() does not advance a comparator before its own tick has passed,
 * and so fires again 10 ns later. Also, a tick that its main loop sends late may come together with the next
 * one.
 */
static void
judge_doubled(struct report *report, const struct asked *asked)
{
	struct behaviour *row = asked->came && !asked_is_polled(asked) ? asked_row(report, "irq-doubled", asked) : NULL;
	struct excused excused = excused_of(asked->shots_excused + asked->periods_excused, asked->shots + asked->periods);
	uint64_t seen = asked->shots + asked->periods - asked->shots_excused - asked->periods_excused;

	if (!row)
		return;
	if (asked->scattered && !asked->storms && !asked->doubled) {
		leave_scattered_open(row);
		return;
	}
	row->checked = asked->storms || (asked->doubled ? !host_wait_explains_doubled(report, asked) : seen != 0);
	row->open = row->checked && !asked->storms && asked->uneven && asked->doubled &&
		    asked->doubled == asked->doubled_periods;
	asked_set_figure(row, (int64_t)asked->doubled, (int64_t)asked->doubled, (int64_t)asked->doubled);
	if (asked->storms)
		behaviour_say(row, "its interrupts did not stop after one deadline.");
	else if (!row->checked && !asked->doubled)
		behaviour_say(row, "the core was preempted at each of its deadlines.");
	else if (!row->checked) {
		row->unchecked = UNCHECKED_GUEST;
		behaviour_say(row, "%lu of %lu deadlines had two interrupts: not judged in an emulator, which sends late "
			      "ones at once.",
			      asked->doubled, seen);
	}
	else if (row->open)
		behaviour_say(row, "%lu of %lu periods had two ticks, but ticks come late by more than an eighth of a period.",
			      asked->doubled, asked->periods - asked->periods_excused);
	else if (asked->doubled && report_is_emulated(report))
		behaviour_say(row, "%lu of %lu deadlines had two interrupts, late by less than 1/8 of the interval: "
			      "waiting for the host does not explain that.",
			      asked->doubled, seen);
	else {
		row->open = !asked->doubled && excused.most;
		behaviour_say(row, "%lu of %lu deadlines had two interrupts%s.", asked->doubled, seen, excused.words);
	}
}

void
interval_counts_judge(struct report *report, const struct asked *asked)
{
	bool misses = judge_missing(report, asked);

	judge_early(report, asked);
	judge_lost(report, asked, misses);
	judge_doubled(report, asked);
}
