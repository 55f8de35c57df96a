/*
 * A phrase is a short text that is part of a printed sentence, for example "at 3.1 s" or "hpet and acpi_pm". Phrases
 * are returned by value, so that a call can be an argument: text_printf(text, "...%s", phrase("...", ...).bytes).
 */
#ifndef BARETICK_PHRASE_H
#define BARETICK_PHRASE_H

#include "report/report.h"

struct phrase {
	char bytes[REPORT_SENTENCE];
};

/* Returns the formatted text. Text that does not fit is cut. */
struct phrase phrase(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends text to PHRASE. Text that does not fit is cut. */
void phrase_add(struct phrase *phrase, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Returns an upper bound of NS ns as text: "91 ns", "10001 ns". A bound from 100,000 ns is rounded up to three digits:
 * 679425 becomes "680 us".
 */
struct phrase phrase_bound_ns(uint64_t ns);

/* Returns the stolen share of the observed time, as "25.6 %" or "0.198 %". Call it only if stolen time was observed. */
struct phrase phrase_stolen_share(const struct report *report);

/* Returns the state that a core reached in its sleep, as "C6 17.0 ms", "C1 at most" or "not known". */
struct phrase phrase_reached_state(const struct report_sleep *sleep);

/*
 * Returns a duration with the digits that its error allows, and the error: "299.53 ms +-350 us", "-3.00 s +-12.0ms".
 */
struct phrase phrase_duration(int64_t value_ns, int64_t low_ns, int64_t high_ns);

/*
 * Returns a duration that may be anything from LOW_NS to HIGH_NS: "120 to 180 ns". From 1 ms on, the bounds are rounded
 * outwards to the digits that their distance allows: "3.1839097 to 3.1839123 s".
 */
struct phrase phrase_duration_range(uint64_t low_ns, uint64_t high_ns);

/* Returns the length of a firmware's second, from its excess over a second, as "0.998 to 1.003 s". */
struct phrase phrase_firmware_second(const struct interval_ppb *second);

/*
 * Returns the cost of a read by the method of the row ID as "13.9 ns", or "13.9 ns to 45.2 ns" if it differs between
 * cores. The unit is ticks if the TSC's rate is not known. The cost must be known.
 */
struct phrase phrase_read_cost(const struct report *report, const char *id);

/* Returns the separator before item I in a list of COUNT items: "", ", " or " and ". */
const char *phrase_list_separator(size_t i, size_t count);

/*
 * Returns the time since the start of the run at which the boot core's TSC had the value TSC, as "3.1 s" or "312 ms".
 */
struct phrase phrase_tsc_time(const struct report *report, uint64_t tsc);

/*
 * Returns the times of the first and the last measurement pass, as "at 3.1 s and 9.8 s", or the time of the only pass.
 */
struct phrase phrase_pass_times(const struct report *report);

/* Returns " in 3 of 9 runs" for the noun "run", " in each of 9 runs", or "" if there was only one. */
struct phrase phrase_in_count_of(const char *noun, uint64_t count, uint64_t all);

/* Returns the time interval MOMENT as "at 3.1 s", or as "between 3.1 s and 3.4 s" if it lasts 100 ms or more. */
struct phrase phrase_at_or_between(const struct report *report, struct moment moment);

/*
 * Returns the end of a sentence about half of a timer's interrupts, from the median of their lateness and its error. It
 * is "came before they were due", "are at most 30 ns late" or "are at least 59.9us late".
 */
struct phrase phrase_median_lateness(const struct report_lateness *late);

/*
 * Returns a name for the versions of Linux in the rows FIRST to LAST of advice.taken: "Linux", "Linux before 7.1",
 * "Linux 6.12 and later". Returns the name of the system if there is one row.
 */
struct phrase phrase_linux_versions(const struct report_taken *first, const struct report_taken *last);

/* Returns the time interval MOMENT as "3.1 s", or as "3.1 s to 3.4 s" if it lasts 100 ms or more. */
struct phrase phrase_time_span(const struct report *report, struct moment moment);

#endif
