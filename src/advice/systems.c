/*
 * The table of systems: which clock each takes on this machine, how it reads it, and what it does about the faults that
 * were found. See systems.h and recommend.h. The words are in system_words.c.
 *
 * linux_clocksource.c names the sources of Linux's choice. In Linux 6.12, read_hpet() in arch/x86/kernel/hpet.c makes
 * one access of 32 bits, and acpi_pm_read() in drivers/clocksource/acpi_pm.c makes one read. rdtsc_ordered() in
 * arch/x86/include/asm/msr.h executes RDTSCP if the CPU has it. Otherwise it executes LFENCE and RDTSC.
 *
 * The row of Windows follows from Microsoft, "Acquiring high-resolution time stamps", and from the Hyper-V TLFS on
 * partition reference time. The row of PostgreSQL 19 follows from tsc_detect_frequency() and tsc_use_by_default() in
 * src/common/instr_time.c. The row of Valkey 9.1 follows from monotonicInit_x86linux() in src/monotonic.c, which asks
 * for the flag constant_tsc only. A check of Linux's clocksource (pull request 4707) was not in a release then.
 *
 * Xen 4.17 tries plt_timers[] of xen/arch/x86/time.c in this order: HPET, PM timer, PIT. It does not use an HPET that
 * deep sleep stops. tests/systems has boots of it.
 */
#include "advice/systems.h"

#include "base/text.h"
#include "advice/recommend.h"
#include "advice/system_words.h"
#include "rules/rules.h"

#define PPB_1000_PPM INT64_C(1000000)
#define HALF_S_NS    UINT64_C(500000000)

/*
 * The limits are from kernel/time/clocksource.c. 6.1.192 and 6.12.117 allow 2 * 125 us for each of the two clocks in
 * 0.5 s, which is 1,000 ppm and 500 us. Their watchdog runs on one CPU after another. So an offset between CPUs looks
 * like a skew. In 7.1 (763aacf86f1b) the limit is 1/2048 between calibrated clocks, and otherwise 1/256. It compares
 * the CPUs in turn. check_system_tsc_reliable() exempts 2 memory nodes in 6.1.192, and 4 packages in 6.12.117.
 */
static const struct linux_versions linux_before_6_12 = {
	.unwatched_packages_max = 2, .known_limit_ppb = PPB_1000_PPM, .refined_limit_ppb = PPB_1000_PPM,
	.gain_ns_max = HALF_S_NS,
};

static const struct linux_versions linux_6_12 = {
	.counts_packages = true, .unwatched_packages_max = 4, .known_limit_ppb = PPB_1000_PPM,
	.refined_limit_ppb = PPB_1000_PPM, .gain_ns_max = HALF_S_NS, .pm_timer_may_drop_tsc = true,
};

static const struct linux_versions linux_7_1 = {
	.counts_packages = true, .unwatched_packages_max = 4, .known_limit_ppb = INT64_C(1000000000) / 256,
	.refined_limit_ppb = INT64_C(1000000000) / 2048, .gain_ns_max = 3 * HALF_S_NS, .compares_cores = true,
	.reference_read_ns_max = 50000,
	.pm_timer_may_drop_tsc = true,
	.watch_option = "tsc=watchdog",
};

struct system {
	const char *name, *since, *until;         /* as in struct report_taken */
	const struct linux_versions *versions;    /* NULL for other systems */
	enum taken_evidence evidence;
	/* Sets the clock, and what the system does about faults. Returns false if nothing is known. */
	bool (*predict)(const struct report *report, const struct system *system, struct report_taken *row);
	const char *(*get_read_row)(const struct report *report, const char *clock);
	void (*explain)(const struct report *report, const struct report_taken *row, struct text *reason);
};

size_t
systems_count_packages(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->facts.core_count; i++)
		count += report->facts.cores[i].facts_known &&
			 report_get_first_core_of_package(report, i) == &report->facts.cores[i];
	return count ? count : 1;
}

bool
systems_has_tsc_adjust(const struct report *report)
{
	return report->facts.core_count && report->facts.cores->facts_known &&
	       report->facts.cores->facts.has_tsc_adjust;
}

const struct claim_outcome *
systems_find_used_claim(const struct report *report, const char *system)
{
	for (size_t i = 0; i < report->facts.claim_count; i++)
		for (size_t j = 0; j < report->outcomes.claims[i].user_count; j++)
			if (report->facts.claims[i].claim.clock == CLAIM_OF_TSC &&
			    text_equal(report->outcomes.claims[i].users[j], system))
				return &report->outcomes.claims[i];
	return NULL;
}

const char *
systems_get_linux_read_row(const struct report *report, const char *id)
{
	static const struct {
		const char *clock, *row;
	} methods[] = { { "tsc", "tsc_rdtscp" }, { "tsc", "tsc_lfence" }, { "hpet", "hpet_32" } };

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (text_equal(methods[i].clock, id) && recommend_get_read_cost_ps(report, methods[i].row).value)
			return methods[i].row;
	return id;
}

/* Returns the row of a read without a fence, as programs execute it. */
static const char *
get_plain_read_row(const struct report *report, const char *id)
{
	return text_equal(id, "tsc") ? id : systems_get_linux_read_row(report, id);
}

static bool
predict_linux(const struct report *report, const struct system *system, struct report_taken *row)
{
	struct linux_choice choice = linux_choose_clocksource(report, system->versions);

	if (!choice.first)
		return false;
	row->clock = choice.first->id;
	row->notices = choice.response.notices;
	row->blames = choice.response.blames;
	row->blamed = choice.response.drops_tsc ? "tsc" : NULL;
	row->repairs = choice.response.repairs;
	row->time_error = choice.response.error;
	return true;
}

/* Copies into ROW what the newest Linux does, and how it reads the clock, because the program reads Linux's clock. */
static bool
use_clock_of_linux(const struct report *report, struct report_taken *row)
{
	static const struct system newest = { .versions = &linux_7_1 };

	if (!predict_linux(report, &newest, row))
		return false;
	row->read_by = systems_get_linux_read_row(report, row->clock);
	return true;
}

/* Sets the clock of ROW to the first of COUNT clocks in ORDER that works. Returns false if none does. */
static bool
take_first_clock(const struct report *report, const char *const *order, size_t count, struct report_taken *row)
{
	for (size_t i = 0; i < count && !row->clock; i++)
		if (report_has_clock(report, order[i]))
			row->clock = order[i];
	return row->clock != NULL;
}

/* As the hypervisor of this machine. A guest of Xen is not such a machine. */
static bool
predict_xen(const struct report *report, const struct system *, struct report_taken *row)
{
	const char *const order[] = { "hpet", "acpi_pm", "pit" };
	bool skips_hpet = rules_find_finding(report, "hpet-pc10", "hpet") != NULL;

	return !paravirtual_find(&report->facts.machine.paravirtual, PARAVIRTUAL_XEN) &&
	       take_first_clock(report, order + skips_hpet, sizeof(order) / sizeof(order[0]) - skips_hpet, row);
}

/*
 * Windows uses only Hyper-V's interface. A TSC with a fault counts as unsuited.
 */
static bool
predict_windows(const struct report *report, const struct system *, struct report_taken *row)
{
	bool tsc = report->facts.machine.tsc_is_invariant && !system_find_rule_against_tsc(report);
	const char *const order[] = { "hv_page", "hv_ref", tsc ? "tsc" : "hpet", "hpet", "acpi_pm" };

	return take_first_clock(report, order, sizeof(order) / sizeof(order[0]), row);
}

/* Sets ROW for a program that reads the TSC itself. It does not look for faults. */
static bool
use_tsc(const struct report *report, struct report_taken *row)
{
	row->clock = "tsc";
	row->notices = system_find_rule_against_tsc(report) ? TAKEN_NOTICES_NO : TAKEN_NOTICES_UNKNOWN;
	return true;
}

static bool
predict_postgresql(const struct report *report, const struct system *system, struct report_taken *row)
{
	const struct claim_outcome *claim = systems_find_used_claim(report, system->name);

	if (system_explain_why_postgresql_avoids_tsc(report))
		return use_clock_of_linux(report, row);
	use_tsc(report, row);
	if (claim && claim->outcome == OUTCOME_FAILED) {
		row->notices = TAKEN_NOTICES_NO;
		row->time_error = claim->error;
	}
	return true;
}

static bool
predict_valkey(const struct report *report, const struct system *, struct report_taken *row)
{
	return report_has_clock(report, "tsc") && report->facts.machine.tsc_is_invariant ? use_tsc(report, row) :
	       use_clock_of_linux(report, row);
}

static bool
predict_reader_of_tsc(const struct report *report, const struct system *, struct report_taken *row)
{
	if (!report_has_clock(report, "tsc"))
		return false;
	use_tsc(report, row);
	row->safety = system_explain_safety_of_tsc(report, NULL);
	return true;
}

static const struct system systems[REPORT_TAKEN_MAX] = {
	{
		.name = "Linux before 6.12", .until = "6.12", .versions = &linux_before_6_12,
		.evidence = TAKEN_FROM_BOOTS,
		.predict = predict_linux, .get_read_row = systems_get_linux_read_row,
	},
	{
		.name = "Linux 6.12 to 7.0", .since = "6.12", .until = "7.1", .versions = &linux_6_12,
		.evidence = TAKEN_FROM_BOOTS,
		.predict = predict_linux, .get_read_row = systems_get_linux_read_row,
	},
	{
		.name = "Linux 7.1 and later", .since = "7.1", .versions = &linux_7_1,
		.evidence = TAKEN_FROM_BOOTS,
		.predict = predict_linux, .get_read_row = systems_get_linux_read_row,
	},
	{
		.name = "Xen 4.17", .evidence = TAKEN_FROM_BOOTS,
		.predict = predict_xen, .get_read_row = systems_get_linux_read_row, .explain = system_explain_xen,
	},
	{
		.name = "Windows", .evidence = TAKEN_FROM_DOCUMENTATION,
		.predict = predict_windows, .get_read_row = systems_get_linux_read_row, .explain = system_explain_windows,
	},
	{
		.name = "PostgreSQL 19", .evidence = TAKEN_FROM_SOURCE,
		.predict = predict_postgresql, .get_read_row = get_plain_read_row, .explain = system_explain_postgresql,
	},
	{
		.name = "Valkey 9.1", .evidence = TAKEN_FROM_SOURCE,
		.predict = predict_valkey, .get_read_row = get_plain_read_row, .explain = system_explain_valkey,
	},
	{
		.name = "a program that reads the TSC itself", .evidence = TAKEN_FROM_SOURCE,
		.predict = predict_reader_of_tsc, .get_read_row = get_plain_read_row,
		.explain = system_explain_reader_of_tsc,
	},
};

static void
add_row_of_system(const struct report *report, struct advice *advice, const struct system *system)
{
	struct report_taken row = { .system = system->name, .since = system->since, .until = system->until,
				    .evidence = system->evidence };

	if (!system->predict(report, system, &row))
		return;
	if (!row.read_by)
		row.read_by = system->get_read_row(report, row.clock);
	row.read_ps = (uint64_t)recommend_get_read_cost_ps(report, row.read_by).value;
	struct text reason = text_start(row.reason, sizeof(row.reason));
	if (system->versions)
		linux_explain_choice(report, system->versions, &reason);
	else
		system->explain(report, &row, &reason);
	advice->taken[advice->taken_count++] = row;
	if (system->versions)
		advice->answer.linux_takes = row.clock;
}

/* If the options excluded clocks, the result is unknown, because a system might take one of these. */
void
recommend_predict_clocksources(const struct report *report, struct advice *advice)
{
	advice->taken_count = 0;
	advice->answer.linux_takes = NULL;
	if (report->facts.options.clocks.count)
		return;
	for (size_t i = 0; i < REPORT_TAKEN_MAX; i++)
		add_row_of_system(report, advice, &systems[i]);
}
