/* Figures of cores that slept, calculated from records that the tests write. The TSC's rate is 2 GHz. */
#include <stdio.h>

#include "test.h"
#include "report_literal.h"
#include "analysis/sleep/analysis_sleeps.h"
#include "clock/sleep.h"
#include "record/record.h"
#include "report/phrase.h"

#define MS INT64_C(2000000) /* in ticks */

/*
 * The sleep of core 1 in HLT, whose TSC lost 20 ms and counted 4 ms in the long sleep. The measurements of its offset
 * are 300 s apart, so its drift between them is not known.
 */
static const struct record_sleep stopping = {
	.core = 1, .state = SLEEP_BY_HLT, .after = { -20 * MS - 10, -20 * MS + 10, 300000 * MS },
	.asleep = { 999 * MS, 0, 1000 * MS }, .awake = { 1002 * MS, 0, 1003 * MS },
	.seen_ticks = 20 * MS,
};

static struct report_sleep
calculate_sleep_of(struct report *report, const struct record_sleep *sleep)
{
	static uint8_t bytes[4096];
	struct record record;

	record_begin(&record, bytes, sizeof(bytes));
	record_put(&record, RECORD_SLEEP, sleep, NULL, 0);
	analysis_calculate_sleeps(bytes, record.length, report, &report->figures);
	return report->figures.sleeps.rows[0];
}

static void
assert_reached(struct report *report, const struct record_sleep *sleep, const char *words)
{
	struct report_sleep row = calculate_sleep_of(report, sleep);

	assert_string_equal(phrase_reached_state(&row).bytes, words);
}

static struct report_sleep
calculate_sleep(const struct record_sleep *sleep)
{
	return calculate_sleep_of(literal_make_clean_report(), sleep);
}

static bool
is_gain_known(const struct record_sleep *sleep)
{
	return offset_is_known(calculate_sleep(sleep).tsc_gained_ns);
}

TEST(a_tsc_that_counted_4_of_20_ms_of_a_sleep_lost_16_ms_at_least)
{
	struct report_sleep sleep = calculate_sleep(&stopping);

	assert_in_range(-sleep.tsc_gained_ns.high, 15999000, 16001000);
	assert_in_range(-sleep.tsc_gained_ns.low, 19999000, 20001000);
	assert_false(sleep.counted);
}

/*
 * It counted 0.4 of 20 ms. The failed measurements of its offset are 50 ms apart, and its readings are 5.4 ms apart, so
 * it lost at most 44.6 ms.
 */
TEST(a_tsc_of_unknown_offset_lost_what_it_did_not_count_of_its_sleep)
{
	struct record_sleep unknown = stopping;

	unknown.before = (struct record_apart){ INT64_MIN, INT64_MAX, 900 * MS };
	unknown.after = (struct record_apart){ INT64_MIN, INT64_MAX, 950 * MS };
	unknown.begin = (struct sample){ 994 * MS, 0, 994 * MS };
	unknown.awake = (struct sample){ 999 * MS, 0, 999 * MS + MS * 4 / 10 };
	struct offset gained = calculate_sleep(&unknown).tsc_gained_ns;
	assert_in_range(-gained.high, 19599000, 19601000);
	assert_in_range(-gained.low, 44599000, 44601000);
	/* if it counted most of its sleep, nothing is known */
	unknown.awake.end = 1010 * MS;
	assert_false(is_gain_known(&unknown));
}

TEST(a_sleep_that_the_boot_core_did_not_see_shows_no_gain)
{
	struct record_sleep unseen = stopping;

	unseen.seen_ticks = 0;
	assert_false(is_gain_known(&unseen));
	assert_false(calculate_sleep(&unseen).counted);
}

TEST(a_tsc_of_unknown_drift_that_counted_more_than_half_of_its_sleep_has_no_known_gain)
{
	struct record_sleep half = stopping, all = stopping;

	half.awake.end = 1010 * MS;
	assert_false(is_gain_known(&half));
	assert_false(calculate_sleep(&half).counted);
	all.awake.end = 1019 * MS;
	assert_false(is_gain_known(&all));
	assert_true(calculate_sleep(&all).counted);
}

#define C1 1u
#define C3 2u
#define C6 4u
#define C7 8u

TEST(a_core_reached_the_state_with_the_longest_time_or_none_or_it_is_not_known)
{
	static const struct {
		uint32_t counters;
		int64_t ms[SLEEP_COUNTERS];
		uint32_t lost, early;
		const char *reached;
	} cases[] = {
		{ C1 | C3 | C6 | C7, { 1, 2, 17, 0 }, 0, 0, "C6 17.0 ms" }, /* a CPU that counts C7, but was not in it */
		{ C1 | C6 | C7, { 0, 0, 19, 19 }, 0, 0, "C7 19.0 ms" },     /* an E-core in C7 */
		{ C1 | C6 | C7, { 0, 0, 19, 9 }, 0, 0, "C6 or C7 19.0 ms" }, /* an E-core in C6, and later in C7 */
		{ C1 | C6, { 1, 0, 19, 0 }, 0, 0, "C6 or C7 19.0 ms" },     /* an Atom without a counter of C7 */
		{ C1 | C6, { 19, 0, 0, 0 }, 0, 0, "C1 19.0 ms" },
		{ C1 | C3 | C6, { 0 }, 0, 0, "none" },
		{ C3 | C6, { 0 }, 0, 0, "C1 at most" },
		{ 0, { 0 }, 0, 0, "not known" },
		{ C1 | C6, { 0 }, 0, SLEEP_EARLY_MAX, "left at once" },
		{ C1 | C6, { 0, 0, 19, 0 }, 1, 0, "did not wake" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct report *report = literal_make_bare_metal_report();
		struct record_sleep sleep = stopping;

		sleep.counters = cases[i].counters;
		sleep.lost = cases[i].lost;
		sleep.early = cases[i].early;
		sleep.resident = (struct record_resident){ (uint64_t)(cases[i].ms[0] * MS), (uint64_t)(cases[i].ms[1] * MS),
							   (uint64_t)(cases[i].ms[2] * MS), (uint64_t)(cases[i].ms[3] * MS) };
		assert_reached(report, &sleep, cases[i].reached);
	}
}

/* The boot core is awake. Threads of other physical cores can sleep deeper than C1. */
TEST(the_boot_core_s_second_thread_that_reached_no_state_is_said_to_be_next_to_an_awake_thread)
{
	struct report *report = literal_make_bare_metal_report();
	struct record_sleep sleep = stopping;

	sleep.counters = C1 | C6;
	for (size_t i = 0; i < 2; i++)
		report->facts.cores[i].facts_known = report->facts.cores[i].facts.has_topology = true;
	report->facts.cores[1].facts.package = report->facts.cores[0].facts.package;
	for (uint32_t i = 0; i < 2; i++) {
		report->facts.cores[1].facts.core = report->facts.cores[0].facts.core + i;
		assert_reached(report, &sleep, i ? "none" : "other thread awake");
	}
	report->facts.cores[1].facts.core--;
	sleep.resident.c6 = (uint64_t)MS;
	assert_reached(report, &sleep, "C6 or C7 1.00 ms");
}

/* KVM and QEMU may read an absent MSR as 0. */
TEST(a_residency_counter_that_stands_still_proves_nothing_in_a_guest)
{
	struct report *report = literal_make_clean_report();
	struct record_sleep sleep = stopping;

	sleep.counters = 0xf;
	sleep.resident.c6 = (uint64_t)(19 * MS);
	for (int is_guest = 0; is_guest < 2; is_guest++) {
		snprintf(report->facts.machine.hypervisor, 16, "%s", is_guest ? "KVMKVMKVM" : "");
		struct report_sleep row = calculate_sleep_of(report, &sleep);
		assert_in_range(row.resident_ns[2], 18999000, 19001000);
		assert_true(row.resident_ns[1] == (is_guest ? UINT64_MAX : 0));
	}
	sleep.resident.c1 = UINT64_MAX; /* the counter stepped back by 1 */
	assert_true(calculate_sleep_of(report, &sleep).resident_ns[0] == UINT64_MAX);
	sleep.lost = 1;
	assert_true(calculate_sleep_of(report, &sleep).resident_ns[2] == UINT64_MAX);
}

/* The offset did not change, or the TSC went back in the sleep. */
TEST(figures_that_contradict_each_other_give_no_gain)
{
	struct record_sleep same = stopping, back = stopping;

	same.after = (struct record_apart){ -10, 10, 300000 * MS };
	back.awake.end = 998 * MS;
	back.after.low = -30 * MS;
	assert_false(is_gain_known(&same));
	assert_false(is_gain_known(&back));
}
