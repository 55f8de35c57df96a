/*
 * Helpers for tests of the checks of devices: they open a driver on the simulated machine, run its checks, and compare
 * the rows that result.
 */
#ifndef BARETICK_CHECK_ROWS_H
#define BARETICK_CHECK_ROWS_H

#include "checks/checks.h"
#include "driver_checks.h"

#include "base/text.h"
#include "clock/behaviour.h"
#include "rules/rules.h"

#define MS_NS UINT64_C(1000000)
/* longest time in which a check may mask interrupts, if no preemption disturbs it */
#define NEVER_MASKED_LONGER_PS (6 * SIM_PS_PER_MS)

static struct behaviours rows;

static inline uint64_t
catalogue_limit(const void *nothing, const char *rule)
{
	return rules_find(rule)->limit;
}

/* Returns true if the row breaks its rule's limit from the catalogue. Fails if the catalogue has no such rule. */
static inline bool
is_bad(const struct behaviour *row)
{
	const struct rule *rule = rules_find(row->rule);

	assert_non_null(rule);
	if (!text_equal(rule->clock, "any"))
		assert_string_equal(rule->clock, row->clock);
	assert_int_equal(row->has_figure && row->checked, rule->unit && row->checked && !row->failed);
	if (row->has_figure)
		assert_true(row->low <= row->measured && row->measured <= row->high);
	return behaviour_get_outcome(row, rule->limit) == OUTCOME_FAILED;
}

/* Returns the row number NTH (from 0) of RULE. Fails if there is none. */
static inline const struct behaviour *
row_of(const char *rule, unsigned nth)
{
	for (size_t i = 0; i < rows.count; i++)
		if (text_equal(rows.rows[i].rule, rule) && nth-- == 0)
			return &rows.rows[i];
	fail_msg("no row %s", rule);
	return NULL;
}

static inline void
assert_passed(const char *rule, const char *text)
{
	const struct behaviour *row = row_of(rule, 0);

	assert_string_equal(row->text, text);
	assert_true(row->checked);
	assert_false(is_bad(row));
}

static inline void
assert_not_checked(const char *rule, const char *text)
{
	const struct behaviour *row = row_of(rule, 0);

	assert_string_equal(row->text, text);
	assert_false(row->checked || row->failed || row->has_figure);
}

/* Asserts that RULE failed with the sentence TEXT, and that no other rule failed. */
static inline void
assert_only(const char *rule, const char *text)
{
	for (size_t i = 0; i < rows.count; i++)
		if (is_bad(&rows.rows[i]))
			assert_string_equal(rows.rows[i].rule, rule);
	assert_string_equal(row_of(rule, 0)->text, text);
	assert_true(is_bad(row_of(rule, 0)));
}

static inline void
assert_none_bad(void)
{
	for (size_t i = 0; i < rows.count; i++)
		if (is_bad(&rows.rows[i]))
			fail_msg("%s: %s", rows.rows[i].rule, rows.rows[i].text);
}

/* Registers that a check may change. After the check they must have their old values. */
struct touched {
	uint64_t hpet_configuration, hpet_counter_writes;
	uint64_t pit_control, pit_reload, pit_null_count, pit_latched, port_61;
	uint64_t rtc_a, rtc_b, rtc_index, pic_slave, pm_mask;
};

static inline struct touched
touched(void)
{
	const struct sim_pit_channel *channel = &sim.pit.channels[2];

	return (struct touched){
		.hpet_configuration = sim.hpet.configuration,
		.hpet_counter_writes = sim.hpet.counter_writes,
		.pit_control = channel->control, .pit_reload = channel->reload,
		.pit_null_count = channel->null_count,
		.pit_latched = channel->count_latched || channel->status_latched,
		.port_61 = sim.pit.port_61,
		.rtc_a = sim.rtc.a, .rtc_b = sim.rtc.b, .rtc_index = sim.rtc.index & 0x7f,
		.pic_slave = sim.pic_mask[1], .pm_mask = device.saved[0],
	};
}

/* Sets world time to 0 before a driver is opened, because the set-up of the machine took time. */
static inline void
begin_world(void)
{
	sim.now_ps = 0;
}

static inline const struct device_check *
check_of(const struct driver *driver)
{
	const struct device_check *check = device_checks;

	while (check->driver != driver)
		check++;
	return check;
}

/* Runs the checks of the opened driver. The time scale of the checks is the TSC's true rate. */
static inline void
check_opened(const struct driver *driver, uint64_t budget_ns)
{
	struct scale scale;
	struct touched before = touched(), after;
	uint64_t begin_ps = sim.now_ps, took_ps;

	scale_init(&scale, sim.tsc.counter.hz);
	memset(&rows, 0, sizeof(rows));
	sim.masked_longest_ps = 0;
	check_of(driver)->run(&(struct checking){ &platform, &device, clocks, &scale, hw_tsc(), budget_ns, NULL,
						   catalogue_limit, NULL, 1, false }, &rows);
	took_ps = sim.now_ps - begin_ps;
	after = touched();
	assert_memory_equal(&before, &after, sizeof(before));
	assert_false(sim.interrupts_masked);
	assert_int_equal(sim.rtc.exposed_ps, 0);
	for (size_t i = 0; i < rows.count; i++) {
		assert_string_equal(rows.rows[i].clock, driver->rows[0].id);
		assert_true(strlen(rows.rows[i].text) > 0);
		assert_true(strlen(rows.rows[i].text) < BEHAVIOUR_TEXT_SIZE - 1); /* the text is not cut */
	}
	if (sim.preempt_every)
		return;
	assert_true(sim.masked_longest_ps <= NEVER_MASKED_LONGER_PS);
	assert_true(took_ps <= (budget_ns + 20 * MS_NS) * SIM_PS_PER_NS);
}

static inline void
open_and_check(const struct driver *driver, uint64_t budget_ns)
{
	begin_world();
	open_driver(driver);
	check_opened(driver, budget_ns);
}

/*
 * Opens and checks a driver. SEED selects random accesses, about one in EVERY. At each of them 30 ms are stolen from
 * the core.
 */
static inline void
open_and_check_preempted(const struct driver *driver, uint64_t every, uint64_t seed, uint64_t budget_ns)
{
	begin_world();
	open_driver(driver);
	sim.preempt_every = every;
	sim.preempt_seed = seed;
	sim.preempt_ps = 30 * SIM_PS_PER_MS;
	check_opened(driver, budget_ns);
}

static inline void
become_a_guest(void)
{
	memcpy(platform.cpu.hypervisor, "TCGTCGTCGTCG", sizeof("TCGTCGTCGTCG"));
}

#endif
