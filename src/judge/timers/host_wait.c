/* Decides whether a busy host explains an emulator's lost, doubled or late interrupts. See irq_totals.h. */
#include "judge/timers/irq_totals.h"

#include "base/text.h"
#include "rules/rules.h"

#define IN_TIME_SHARE 8 /* a tick that is later than 1/8 of its period was delayed */
#define EVENTS_MIN    4 /* fewer lost ticks may come from pauses of the host that ended just before a tick */
#define SPREAD_SHARE  8 /* if all interrupts have one common delay, p1 is within 1/8 of the median */
#define FAR_FACTOR    4 /* the host's delay changes by less than this factor from one timer to another */

/*
 * Returns true if no tick of the test ROW was late. A pause of the host ends at any time in a period, so it delays
 * ticks, too.
 */
static bool
are_ticks_in_time(const struct report_interval *row)
{
	const struct report_lateness *late = &row->lateness;

	return late->count && late->p999_ns + (int64_t)late->error_ns < (int64_t)(row->asked_ns / IN_TIME_SHARE);
}

/* Returns true if the host explains EVENTS lost ticks (if LOST) or doubled interrupts. */
static bool
explains(const struct report *report, const struct irq_totals *totals, bool lost, uint64_t events)
{
	bool in_time = true;

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];

		if (text_equal(row->source, totals->source) && (lost ? row->periodic && row->empty : row->doubled != 0))
			in_time &= are_ticks_in_time(row);
	}
	return report_is_emulated(report) && (!in_time || events < EVENTS_MIN);
}

bool
host_wait_explains_lost(const struct report *report, const struct irq_totals *totals)
{
	return explains(report, totals, true, totals->losses);
}

bool
host_wait_explains_doubled(const struct report *report, const struct irq_totals *totals)
{
	return explains(report, totals, false, totals->doubled);
}

/* Returns the length of the device's name in SOURCE, as of "hpet" in hpet0 and in hpet_legacy. */
static size_t
device_name_length(const char *source)
{
	size_t length = 0;

	while (source[length] >= 'a' && source[length] <= 'z')
		length++;
	return length;
}

static bool
is_same_device(const char *a, const char *b)
{
	size_t length = device_name_length(a);

	return device_name_length(b) == length && __builtin_memcmp(a, b, length) == 0;
}

static bool
has_lateness_of_shots(const struct report_interval *row)
{
	return !row->periodic && row->asked_ns && row->lateness.count >= IRQ_LATE_SHOTS_MIN;
}

/*
 * Returns an upper bound of the host's delay in ns, by the one-shots of devices other than SOURCE's; -1 if there are
 * none.
 */
static int64_t
host_delay_ns(const struct report *report, const char *source)
{
	int64_t most_ns = -1;

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];
		const struct report_lateness *late = &row->lateness;
		int64_t ns = FAR_FACTOR * late->p50_ns > late->p99_ns ? FAR_FACTOR * late->p50_ns : late->p99_ns;

		if (is_same_device(row->source, source) || !has_lateness_of_shots(row))
			continue;
		ns += (int64_t)late->error_ns;
		most_ns = ns > most_ns ? ns : most_ns;
	}
	return most_ns;
}

/* Returns a lower bound in ns of the lateness of 99 % of SOURCE's one-shots, in every length and on every core. */
static int64_t
least_delay_ns(const struct report *report, const char *source)
{
	int64_t least_ns = INT64_MAX;

	for (size_t i = 0; i < report->interval_count; i++) {
		const struct report_interval *row = &report->intervals[i];
		int64_t ns = row->lateness.p1_ns - (int64_t)row->lateness.error_ns;

		if (text_equal(row->source, source) && has_lateness_of_shots(row) && ns < least_ns)
			least_ns = ns;
	}
	return least_ns;
}

bool
host_wait_explains_late(const struct report *report, const struct irq_totals *totals)
{
	const struct report_lateness *late = &totals->late->lateness;
	int64_t limit_ns = (int64_t)rules_limit_of(report, "irq-late"), host_ns = host_delay_ns(report, totals->source);

	if (!report_is_emulated(report) || late->p50_ns + (int64_t)late->error_ns <= limit_ns)
		return false;
	return late->p50_ns - late->p1_ns > late->p50_ns / SPREAD_SHARE || host_ns < 0 ||
	       least_delay_ns(report, totals->source) <= host_ns;
}
