/* Counts checks and errors, and prints the table. See tally.h. */
#include "tally.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX   4   /* largest number of errors that are printed for each check */
#define LINE_SIZE   400
#define CLASSES_MAX 8
#define VALUES_MAX  65536
/*
 * A quarter of a rate's widths must be at most this multiple of the smallest widths that the readings allow. There must
 * be at least WIDTHS_MIN widths. The median has no limit: in some kinds half of the PM timer's widths are three times
 * the smallest, so the median of few widths depends on the seed.
 */
#define WIDEST_QUARTER 1.5L
#define WIDTHS_MIN     14

static const struct {
	const char *what;
	bool counted; /* true if this row counts cases that are not errors */
} rows[CHECKS] = {
	[CHECK_PAIR_RATE] = { "rates of pairs", false },
	[CHECK_SAME_SOURCE] = { "pairs of clocks, with one source or not", false },
	[CHECK_HZ] = { "rates in Hz, by the clock that sets the scale", false },
	[CHECK_HZ_ABSOLUTE] = { "rates in Hz, absolute", false },
	[CHECK_BUDGET] = { "budgets that are the whole error, and the TSC's steps", false },
	[CHECK_CHANGE] = { "changes of a rate, where there was none", false },
	[CHECK_SINCE] = { "rates since the window", false },
	[CHECK_PERIODIC] = { "rates of the periodic flag", false },
	[CHECK_PAIR_OFFSET] = { "offsets, of each pair by itself", false },
	[CHECK_PLACE] = { "offsets against the boot core", false },
	[CHECK_PLACE_NS] = { "the same, in ns", false },
	[CHECK_DRIFT] = { "drifts against the boot core", false },
	[CHECK_WITHIN] = { "bounds of all offsets, at all times", false },
	[CHECK_TIMER_LATE] = { "lateness of timers' interrupts", false },
	[CHECK_TIMER_RATE] = { "rates of periodic timers", false },
	[CHECK_TIMER_COUNT] = { "interrupts lost or doubled, where some were", false },
	[CHECK_TIMER_NAMED] = { "timers named, that are sick, with their figure", false },
	[CHECK_TIMER_POLICY] = { "words for what follows a masked stretch", false },
	[CHECK_TIMER_SILENT] = { "sick timers that could be told, and are named", false },
	[CHECK_SLEEP_FIGURE] = { "figures of cores and clocks in sleep", false },
	[CHECK_SLEEP_NAMED] = { "cores and clocks named, that have a fault in sleep", false },
	[CHECK_SLEEP_SILENT] = { "faults in sleep that could be told, and are named", false },
	[CHECK_END] = { "runs that come to their end", false },
	[CHECK_SCALE] = { "scales set by a right clock, where most are right", false },
	[CHECK_CLOCK_NAMED] = { "clocks named, that are sick", false },
	[CHECK_CORE_NAMED] = { "cores named, that are sick", false },
	[CHECK_SENTENCE] = { "other sentences, that are true", false },
	[CHECK_MOTION] = { "moves said to be steady, or a step at its time", false },
	[CHECK_DISCONTINUITY] = { "discontinuities, where there were some", false },
	[CHECK_ELAPSED] = { "how long they took, by each group", false },
	[CHECK_CLOCK_SILENT] = { "sick clocks that could be told, and are named", false },
	[CHECK_HOST_NAMED] = { "promises of the host named, that it breaks", false },
	[CHECK_HOST_SILENT] = { "broken promises of the host that could be told, and are named", false },
	[CHECK_STOP_SILENT] = { "stops of the machine that are mentioned", false },
	[CHECK_EVENT_SILENT] = { "clocks that jump or stop, and are named", false },
	[CHECK_CHANGE_SILENT] = { "changes of a rate that are proven, and have a finding", false },
	[CHECK_CORE_SILENT] = { "sick cores that could be told, and are named", false },
	[CHECK_PASSED_OFF] = { "rates passed, of clocks that are not off", false },
	[CHECK_PASSED_WIDE] = { "clocks passed, by an interval that could tell", true },
	[CHECK_PROMISE_WIDE] = { "promises passed, by an interval that could tell", true },
	[CHECK_WITHIN_LOOSE] = { "\"synchronised within\" 1 us or 4 round trips, 10 us at most", true },
};

static const char *const width_names[] = { "ppb, HPET", "ppb, PM timer", "ppb, PIT", "ticks, offset" };

static struct {
	const struct kind *kind;
	bool all_errors;
	uint64_t seed, trials, simulated, wrong_trials;
	bool trial_is_wrong, trial_is_simulated;
	struct {
		uint64_t looked, wrong, wrong_trials, last_wrong;
		size_t lines;
		char line[LINES_MAX][LINE_SIZE];
	} checks[CHECKS];
	struct {
		const char *why;
		uint64_t count;
		long double least, most;
	} silent[CLASSES_MAX];
	size_t value_count[WIDTHS];
} table;

static long double values[WIDTHS][VALUES_MAX];

void
tally_begin_kind(const struct kind *kind, bool all_errors)
{
	memset(&table, 0, sizeof(table));
	table.kind = kind;
	table.all_errors = all_errors;
}

void
tally_begin_trial(uint64_t seed, bool simulated)
{
	table.seed = seed;
	table.trial_is_simulated = simulated;
	table.trials++;
	table.simulated += simulated;
	table.trial_is_wrong = false;
}

bool
tally_check(enum check check, bool right, const char *format, ...)
{
	va_list arguments;
	char line[LINE_SIZE];
	int length;

	table.checks[check].looked++;
	if (right)
		return true;
	table.checks[check].wrong++;
	if (table.checks[check].last_wrong != table.trials) {
		table.checks[check].last_wrong = table.trials;
		table.checks[check].wrong_trials++;
	}
	if (!rows[check].counted && !table.trial_is_wrong) {
		table.trial_is_wrong = true;
		table.wrong_trials++;
	}
	length = snprintf(line, sizeof(line), "%llu%s: ", (unsigned long long)table.seed,
			  table.trial_is_simulated ? " --simulated" : "");
	va_start(arguments, format);
	vsnprintf(line + length, sizeof(line) - (size_t)length, format, arguments);
	va_end(arguments);
	if (table.all_errors)
		printf("   %s --kind %s: %s\n", rows[check].what, table.kind->name, line);
	else if (table.checks[check].lines < (rows[check].counted ? 1 : LINES_MAX))
		strcpy(table.checks[check].line[table.checks[check].lines++], line);
	return false;
}

void
tally_count_unreported_fault(const char *why, long double size)
{
	size_t i = 0;

	while (table.silent[i].why && strcmp(table.silent[i].why, why) != 0 && i + 1 < CLASSES_MAX)
		i++;
	if (!table.silent[i].count++ || size < table.silent[i].least)
		table.silent[i].least = size;
	table.silent[i].why = why;
	if (size > table.silent[i].most)
		table.silent[i].most = size;
}

void
tally_record_width(enum width width, long double value)
{
	if (value >= 0 && table.value_count[width] < VALUES_MAX)
		values[width][table.value_count[width]++] = value;
}

static int
compare_values(const void *a, const void *b)
{
	const long double *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}

/* Returns a quantile of WIDTH's values: the smallest value that is at least as large as 1/SHARE of the values. */
static long double
get_width_quantile(enum width width, size_t share)
{
	qsort(values[width], table.value_count[width], sizeof(values[0][0]), compare_values);
	return values[width][table.value_count[width] / share];
}

/* Prints the median width of each kind of interval. Returns the number of kinds that are too wide. */
static uint64_t
print_widths(void)
{
	uint64_t wide = 0;

	for (enum width width = 0; width < WIDTH_HPET_BEST; width++) {
		bool is_wide;

		if (!table.value_count[width])
			continue;
		is_wide = width < WIDTH_OFFSET && table.value_count[width] >= WIDTHS_MIN &&
			  get_width_quantile(width + WIDTH_HPET_BEST, 4) > WIDEST_QUARTER;
		printf("  %-50s %10.1Lf, %.3Lf times the best (%zu)%s\n", width_names[width], get_width_quantile(width, 2),
		       get_width_quantile(width + WIDTH_HPET_BEST, 2), table.value_count[width], is_wide ? ": too wide" : "");
		wide += is_wide;
	}
	return wide;
}

uint64_t
tally_end(void)
{
	uint64_t wrong = 0;

	printf("%s: %s. %llu trials, %llu of them simulated, %llu with something wrong\n", table.kind->name,
	       table.kind->what, (unsigned long long)table.trials, (unsigned long long)table.simulated,
	       (unsigned long long)table.wrong_trials);
	for (enum check check = 0; check < CHECKS; check++) {
		if (!table.checks[check].looked)
			continue;
		printf("  %-50s %10llu, %llu %s in %llu trials\n", rows[check].what,
		       (unsigned long long)table.checks[check].looked, (unsigned long long)table.checks[check].wrong,
		       rows[check].counted ? "not" : "wrong", (unsigned long long)table.checks[check].wrong_trials);
		wrong += rows[check].counted ? 0 : table.checks[check].wrong;
		for (size_t i = 0; i < table.checks[check].lines; i++)
			printf("      %s\n", table.checks[check].line[i]);
	}
	for (size_t i = 0; i < CLASSES_MAX && table.silent[i].count; i++)
		printf("  silent: %-42s %10llu, of %.1Lf to %.1Lf times what is allowed or can be told\n", table.silent[i].why,
		       (unsigned long long)table.silent[i].count, table.silent[i].least, table.silent[i].most);
	wrong += print_widths();
	printf("\n");
	fflush(stdout);
	return wrong;
}
