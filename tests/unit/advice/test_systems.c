/* Tests which clock each system takes on several machines, and what it does about faults. */
#include "test.h"
#include "advice/recommend.h"
#include "report_literal.h"

static struct report *report;

static struct report_clock *
add(const char *id)
{
	struct report_clock *entry = &report->facts.clocks[report->facts.clock_count++];

	entry->clock = *literal_find_driver_row(id);
	entry->clock.state = CLOCK_PRESENT;
	return entry;
}

static struct report_clock *
find_added(const char *id)
{
	return &report->facts.clocks[report_find_clock(report, id) - report->facts.clocks];
}

/* Makes a machine on bare metal with an invariant TSC, an HPET and a PM timer. */
static void
set_up(void)
{
	report = calloc(1, sizeof(*report));
	report->facts.machine.tsc_is_invariant = true;
	add("tsc");
	add("hpet");
	add("acpi_pm");
}

static void
tear_down(void)
{
	free(report);
}

TEST_FIXTURE(set_up, tear_down);

static void
offer(enum paravirtual_kind kind)
{
	report->facts.machine.paravirtual.interfaces[report->facts.machine.paravirtual.count++].kind = kind;
	strcpy(report->facts.machine.hypervisor, "KVMKVMKVM");
}

/* Predicts the clocksource of each system. Returns SYSTEM's row, or NULL. */
static const struct report_taken *
find_row(const char *system)
{
	recommend_predict_clocksources(report, &report->advice);
	for (size_t i = 0; i < report->advice.taken_count; i++)
		if (!strcmp(report->advice.taken[i].system, system))
			return &report->advice.taken[i];
	return NULL;
}

static void
assert_taken(const char *system, const char *clock, const char *reason)
{
	const struct report_taken *row = find_row(system);

	assert_non_null(row);
	assert_string_equal(row->clock, clock);
	if (reason)
		assert_string_equal(row->reason, reason);
}

static const char *const linux_systems[] = { "Linux before 6.12", "Linux 6.12 to 7.0", "Linux 7.1 and later" };

#define WINDOWS_WAS_NOT_RUN " This follows from Microsoft's documentation; Windows was not run."

TEST(on_bare_metal_all_systems_use_the_invariant_tsc)
{
	for (size_t i = 0; i < 3; i++)
		assert_taken(linux_systems[i], "tsc", "clocksource tsc, rating 300, before hpet, 250.");
	assert_taken("Windows", "tsc", "the TSC is reported as invariant, and nothing was found against it."
		     WINDOWS_WAS_NOT_RUN);
	assert_taken("Valkey 9.1", "tsc", NULL);
	assert_int_equal(report->advice.taken_count, REPORT_TAKEN_MAX);
}

#define CORES 4
static struct report_core cores[CORES];
static struct core_figures core_figures[CORES];
static struct core_outcome core_outcomes[CORES];

/* Adds COUNT cores in PACKAGES packages. RDTSCP and TSC_ADJUST are what CPUID reports. */
static void
have_cores(size_t count, size_t packages, bool rdtscp, bool tsc_adjust)
{
	for (size_t i = 0; i < count; i++)
		cores[i] = (struct report_core){ .apic_id = (uint32_t)i, .started = true, .boot = !i, .facts_known = true,
						 .facts = { .has_tsc_adjust = tsc_adjust,
							    .package = (uint32_t)(i * packages / count) } };
	report->facts.cores = cores;
	report->figures.cores = core_figures;
	report->outcomes.sync.cores = core_outcomes;
	report->facts.core_count = count;
	report->facts.machine.cores_listed = report->facts.machine.cores_started = (uint32_t)count;
	if (rdtscp)
		add("tsc_rdtscp");
}

/* Adds COUNT cores of one package. Their TSC is not invariant, and TSC_ADJUST is missing, so Linux watches the TSC. */
static void
have_watched_cores(size_t count)
{
	have_cores(count, 1, false, false);
	report->facts.machine.tsc_is_invariant = false;
	report->facts.machine.linux_distrusts_tsc = count > 1;
}

static void
find(const char *rule, const char *clock)
{
	report->outcomes.findings[report->outcomes.finding_count++] = (struct finding){ .rule = rule, .clock = clock };
}

/*
 * The clocksources of Debian's kernels 6.1, 6.12.117 and 7.2.13 on QEMU's machines under TCG. On machines without an
 * HPET the newer kernels sometimes drop the TSC, because the host is busy.
 */
TEST(the_versions_of_linux_take_the_clocks_that_real_kernels_took)
{
	static const struct {
		size_t cores, packages;
		bool intel, hpet;
		const char *taken[3];
	} machines[] = {
		{ 1, 1, false, true, { "tsc", "tsc", "tsc" } },           /* q35, 1 core; qemu64 */
		{ 2, 1, false, true, { "hpet", "tsc", "tsc" } },          /* q35, pc, and EPYC: 2 cores */
		{ 2, 1, false, false, { "acpi_pm", "tsc", "tsc" } },      /* q35,hpet=off */
		{ 2, 2, false, true, { "hpet", "hpet", "hpet" } },        /* 2 cores in 2 packages */
		{ 4, 2, false, true, { "hpet", "hpet", "hpet" } },        /* 4 cores in 2 packages */
		{ 2, 1, true, true, { "tsc", "tsc", "tsc" } },            /* Skylake-Client as Intel */
	};

	report->facts.machine.tsc_is_invariant = false;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		have_cores(machines[i].cores, machines[i].packages, false, false);
		report->facts.machine.linux_distrusts_tsc = !machines[i].intel && machines[i].cores > 1;
		report->facts.clocks[1].clock.state = machines[i].hpet ? CLOCK_PRESENT : CLOCK_ABSENT;
		for (size_t j = 0; j < 3; j++) {
			print_message("machine %zu: %s\n", i, linux_systems[j]);
			assert_taken(linux_systems[j], machines[i].taken[j], NULL);
			assert_int_equal(find_row(linux_systems[j])->notices, TAKEN_NOTICES_UNKNOWN);
		}
	}
}

TEST(without_an_hpet_a_busy_host_may_make_new_kernels_drop_the_tsc)
{
	static const char busy[] =
		"This holds if the watchdog, which compares it with acpi_pm, does not drop it on a busy host.";

	have_watched_cores(1);
	report->facts.clocks[1].clock.state = CLOCK_ABSENT;
	assert_null(strstr(find_row(linux_systems[1])->reason, busy)); /* bare metal */
	strcpy(report->facts.machine.hypervisor, "TCGTCGTCGTCG");
	assert_null(strstr(find_row(linux_systems[0])->reason, busy));
	assert_non_null(strstr(find_row(linux_systems[1])->reason, busy));
	assert_non_null(strstr(find_row(linux_systems[2])->reason, busy));
}

static struct offset pair_offset;
static uint32_t core_of[] = { 0, 1 };

/* Puts the TSC of core 1 ahead by TICKS of 0.5 ns. The checks of warps have seen it. */
static void
put_core_ahead(int64_t ticks)
{
	struct report_pass *pass = &report->figures.skew.passes[0];

	report->figures.tsc = (struct rate){ 2000000000, 1 };
	report->facts.warp_checks.locked = (struct report_contended){ .measured = true, .warps = 3 };
	report->figures.skew.pass_count = 1;
	report->figures.skew.core_of = core_of;
	pair_offset = (struct offset){ ticks, ticks };
	pass->offsets = (struct offsets){ .cores = 2, .pairs = &pair_offset };
	pass->summary = (struct offsets_summary){ .pairs = 1, .worst_a = 0, .worst_b = 1, .worst = pair_offset,
						  .no_majority = true };
	find("tsc-offset", "tsc");
}

static void
assert_linux(size_t i, const char *clock, enum taken_notices notices, enum taken_blames blames)
{
	const struct report_taken *row = find_row(linux_systems[i]);
	print_message("%s: %s %s, %s\n", row->system, row->clock, taken_notices_words[row->notices], row->reason);
	assert_string_equal(row->clock, clock);
	assert_int_equal(row->notices, notices);
	assert_int_equal(row->blames, blames);
}

/*
 * Two cores of QEMU. Kernels before 6.12 do not look, because they never trust this TSC. A real 6.12.117 kept a TSC
 * that was 2.5 us ahead, and a real 7.2.13 did not.
 */
TEST(an_offset_between_cores_is_noticed_by_kernels_that_take_the_tsc)
{
	have_watched_cores(2);
	strcpy(report->facts.machine.hypervisor, "TCGTCGTCGTCG");
	put_core_ahead(600000000); /* 300 ms */
	assert_linux(0, "hpet", TAKEN_NOTICES_UNKNOWN, TAKEN_BLAMES_NONE);
	assert_linux(1, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	assert_linux(2, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	assert_string_equal(find_row(linux_systems[2])->blamed, "tsc");
	report->outcomes.finding_count = 0;
	put_core_ahead(5000); /* 2.5 us */
	assert_linux(0, "hpet", TAKEN_NOTICES_UNKNOWN, TAKEN_BLAMES_NONE);
	assert_linux(1, "tsc", TAKEN_NOTICES_PERHAPS, TAKEN_BLAMES_NONE);
	assert_linux(2, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	report->facts.machine.hypervisor[0] = '\0'; /* on hardware the check of two cores at the start is reliable */
	assert_linux(1, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
}

/* The boot core's second pass shows an offset of core 1 that the first pass excludes: the core stepped in between. */
TEST(the_check_of_two_cores_at_the_start_finds_no_later_step)
{
	static struct offset none = { 0, 0 };
	struct report_pass *first = &report->figures.skew.passes[0];

	have_cores(2, 1, false, false);
	put_core_ahead(600000000);
	report->figures.skew.passes[1] = *first;
	report->figures.skew.pass_count = 2;
	report->facts.warp_checks.locked.warps = 0;
	report->figures.skew.warps = 3;
	first->offsets.pairs = &none;
	first->summary.worst = none;
	assert_linux(0, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	assert_null(strstr(find_row(linux_systems[0])->reason, "its check of two cores"));
	assert_non_null(strstr(find_row(linux_systems[0])->reason, "Linux's watchdog, which compares it with hpet"));
	first->summary.worst = pair_offset; /* the first pass shows it, too */
	assert_linux(0, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	assert_non_null(strstr(find_row(linux_systems[0])->reason, "its check of two cores finds warps"));
}

/* TSC_ADJUST skips the check within a package. Then only the watchdog can see an offset, and 7.1 sees smaller ones. */
TEST(with_tsc_adjust_only_the_watchdog_compares_cores_of_one_package)
{
	have_cores(2, 1, false, true);
	report->facts.machine.tsc_is_invariant = false;
	put_core_ahead(600000000);
	assert_linux(0, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	report->outcomes.finding_count = 0;
	put_core_ahead(5000); /* 2.5 us */
	assert_linux(0, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
	assert_linux(1, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
	assert_linux(2, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	report->facts.machine.tsc_is_invariant = true; /* no watchdog */
	assert_linux(1, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
	assert_linux(2, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
	assert_non_null(strstr(find_row(linux_systems[2])->reason, "Linux does not watch this TSC and keeps it, although it "
			       "breaks the rule tsc-offset (tsc=watchdog makes Linux watch it)."));
	assert_non_null(strstr(find_row(linux_systems[1])->reason, "keeps it, although it breaks the rule tsc-offset."));
}

TEST(linux_repairs_cores_by_tsc_adjust)
{
	have_cores(2, 1, false, true);
	cores[1].facts.tsc_adjust = 600000000;
	put_core_ahead(600000000);
	for (size_t i = 0; i < 3; i++) {
		assert_linux(i, "tsc", TAKEN_NOTICES_YES, TAKEN_BLAMES_NONE);
		assert_true(find_row(linux_systems[i])->repairs);
	}
	have_cores(2, 2, false, true); /* a warp between packages is compensated */
	assert_linux(2, "tsc", TAKEN_NOTICES_YES, TAKEN_BLAMES_NONE);
	assert_true(find_row(linux_systems[2])->repairs);
}

static struct finding *
find_change(const char *clock, int64_t ppm)
{
	find("rate-changed", clock);
	report->outcomes.findings[report->outcomes.finding_count - 1].has_measured = true;
	report->outcomes.findings[report->outcomes.finding_count - 1].measured = ppm;
	report->outcomes.findings[report->outcomes.finding_count - 1].low = ppm - 1;
	report->outcomes.findings[report->outcomes.finding_count - 1].high = ppm + 1;
	return &report->outcomes.findings[report->outcomes.finding_count - 1];
}

/* One core, and the HPET becomes 2 % fast: all three kernels dropped the TSC for the wrong HPET. */
TEST(a_reference_whose_rate_changes_makes_linux_blame_the_tsc)
{
	have_watched_cores(1);
	find_change("hpet", 20000);
	for (size_t i = 0; i < 3; i++) {
		assert_linux(i, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_WRONG);
		assert_int_equal(find_row(linux_systems[i])->time_error.value, 20000000);
	}
	assert_non_null(strstr(find_row(linux_systems[1])->reason, "It blames the wrong clock: hpet is wrong, and not the "
			       "TSC. Its seconds are then 2.0 % too short."));
	report->outcomes.finding_count = 0;
	find_change("hpet", 700); /* 1/2048 is 488 ppm; before 7.1 the limit is 1,000 ppm */
	assert_linux(1, "tsc", TAKEN_NOTICES_UNKNOWN, TAKEN_BLAMES_NONE);
	assert_linux(2, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_WRONG);
}

/* Two cores, and an HPET that is 2 % fast from the start: the TSC was calibrated by it, in silence. */
TEST(a_tsc_that_a_wrong_reference_calibrates_is_wrong_with_it)
{
	static const struct calibration_loop loop = { .id = "linux_pit" };

	have_watched_cores(2);
	report->figures.clocks[1].error = (struct interval_ppb){ true, 20000000, 19999000, 20001000 };
	find("rate-wrong", "hpet");
	assert_linux(0, "hpet", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
	for (size_t i = 1; i < 3; i++)
		assert_linux(i, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(find_row(linux_systems[i])->time_error.value, 20000000);
	assert_non_null(strstr(find_row(linux_systems[1])->reason,
			       "It does not notice rate-wrong (hpet). Its seconds are then 2.0 % too short."));
	/* if the PIT has calibrated the TSC, the watchdog sees the difference, and blames the TSC */
	report->figures.calibration_count = 1;
	report->figures.calibrations[0] = (struct calibration_figures){ .loop = &loop, .runs = 50, .refused = 2 };
	assert_linux(1, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_WRONG);
	assert_int_equal(find_row(linux_systems[1])->time_error.value, 20000000);
}

/* An HPET that is stuck from the start counts as absent, and the PM timer is the reference. */
TEST(a_stuck_hpet_is_not_taken)
{
	have_watched_cores(2);
	report->facts.clocks[1].clock.state = CLOCK_STUCK;
	find("clock-stuck", "hpet");
	assert_linux(0, "acpi_pm", TAKEN_NOTICES_UNKNOWN, TAKEN_BLAMES_NONE);
	assert_linux(2, "tsc", TAKEN_NOTICES_UNKNOWN, TAKEN_BLAMES_NONE);
}

/*
 * All three kernels on one core dropped the TSC for an HPET that stopped. They took the HPET, and their time stood
 * still.
 */
TEST(an_hpet_that_stops_later_makes_linux_take_it_and_stand_still)
{
	have_watched_cores(1);
	report->facts.clocks[1].clock.state = CLOCK_STUCK;
	report->facts.clocks[1].failed_tsc = 1;
	find("clock-stuck", "hpet");
	for (size_t i = 0; i < 3; i++) {
		assert_linux(i, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_WRONG);
		assert_string_equal(find_row(linux_systems[i])->blamed, "tsc");
		assert_non_null(strstr(find_row(linux_systems[i])->reason, "It blames the wrong clock: hpet is wrong, and not "
				       "the TSC. Its time then stands still."));
	}
	/* with two cores, kernels before 6.12 take the HPET from the start */
	report->facts.machine.linux_distrusts_tsc = true;
	have_cores(2, 1, false, false);
	assert_linux(0, "hpet", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
	have_cores(1, 1, false, true); /* no watchdog */
	report->facts.machine.tsc_is_invariant = true;
	report->facts.machine.linux_distrusts_tsc = false;
	assert_linux(1, "tsc", TAKEN_NOTICES_UNKNOWN, TAKEN_BLAMES_NONE);
}

/* All three kernels kept the TSC without a message. */
TEST(a_tsc_that_steps_back_on_one_core_is_taken_in_silence)
{
	have_watched_cores(1);
	find("clock-backward", "tsc");
	for (size_t i = 0; i < 3; i++)
		assert_linux(i, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
	assert_false(find_row(linux_systems[0])->time_error.known);
}

TEST(a_change_of_the_tscs_rate_is_noticed_if_linux_watches_it)
{
	have_cores(1, 1, false, true);
	find_change("tsc", -3000);
	for (size_t i = 0; i < 3; i++) {
		assert_linux(i, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
		assert_int_equal(find_row(linux_systems[i])->time_error.value, -3000000);
	}
	cores[0].facts.has_tsc_adjust = false;
	for (size_t i = 0; i < 3; i++) {
		assert_linux(i, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
		assert_false(find_row(linux_systems[i])->time_error.known);
	}
}

#define US INT64_C(1000)
#define MS (1000 * US)

/* Lets the TSC gain GAIN_NS on the HPET and the PM timer in 300 ms. It is proven for the clock ALONE, or for none. */
static void
part_tsc(int64_t gain_ns, enum discontinuity_class class, uint32_t alone)
{
	int64_t tsc_ns = 300 * MS + gain_ns;

	report->outcomes.finding_count = 0;
	report->figures.discontinuity_count = 1;
	report->outcomes.discontinuities[0] = (struct discontinuity_outcome){ .class = class, .alone = alone };
	report->figures.discontinuities[0] = (struct report_discontinuity){
		.group_count = 2,
		.groups = { { 6, 2, { 1, 2 }, { true, 300 * MS, 300 * MS - US, 300 * MS + US } },
			    { 1, 1, { 0 }, { true, tsc_ns, tsc_ns, tsc_ns } } },
	};
}

/*
 * tests/systems has a boot of each kernel with a jump of 300 ms. The check is left out above 1 s between two readings
 * in 6.1.176 and 6.12.117, and above 2 s in 7.1 with a PM timer.
 */
TEST(a_jump_of_the_tsc_is_noticed_by_the_watchdog_according_to_its_size)
{
	static const struct {
		int64_t gain_ns;
		enum taken_notices notices[3];
	} jumps[] = {
		{ 100 * US, { TAKEN_NOTICES_NO, TAKEN_NOTICES_NO, TAKEN_NOTICES_NO } },
		{ 300 * US, { TAKEN_NOTICES_NO, TAKEN_NOTICES_NO, TAKEN_NOTICES_YES } },
		{ 300 * MS, { TAKEN_NOTICES_YES, TAKEN_NOTICES_YES, TAKEN_NOTICES_YES } },
		{ -300 * MS, { TAKEN_NOTICES_YES, TAKEN_NOTICES_YES, TAKEN_NOTICES_YES } },
		{ 800 * MS, { TAKEN_NOTICES_PERHAPS, TAKEN_NOTICES_PERHAPS, TAKEN_NOTICES_YES } },
		{ 5000 * MS, { TAKEN_NOTICES_PERHAPS, TAKEN_NOTICES_PERHAPS, TAKEN_NOTICES_PERHAPS } },
	};

	have_watched_cores(1);
	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		part_tsc(jumps[i].gain_ns, DISCONTINUITY_TSC_MOVED, 1);
		find("clocks-parted", NULL);
		for (size_t j = 0; j < 3; j++)
			assert_linux(j, jumps[i].notices[j] == TAKEN_NOTICES_YES ? "hpet" : "tsc", jumps[i].notices[j],
				     TAKEN_BLAMES_NONE);
	}
}

TEST(a_jump_is_blamed_on_the_tsc_whichever_clock_is_proven_to_have_jumped)
{
	have_watched_cores(1);
	part_tsc(300 * MS, DISCONTINUITY_JUMPED, 1);
	find("clock-jumped", "tsc");
	assert_linux(1, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	part_tsc(-300 * MS, DISCONTINUITY_JUMPED, 1);
	find("clock-backward", "tsc");
	assert_linux(1, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	part_tsc(0, DISCONTINUITY_JUMPED, 2);
	report->figures.discontinuities[0].groups[0] = (struct report_group){ 2, 1, { 1 },
									      { true, 600 * MS, 600 * MS, 600 * MS } };
	find("clock-jumped", "hpet");
	assert_linux(1, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_WRONG);
	assert_string_equal(find_row(linux_systems[1])->blamed, "tsc");
}

TEST(a_divergence_of_other_clocks_does_not_matter_to_linux)
{
	have_watched_cores(1);
	part_tsc(300 * MS, DISCONTINUITY_PARTED, 0);
	report->figures.discontinuities[0].groups[0] = (struct report_group){ 4, 1, { 2 }, { true, 0, 0, 0 } };
	find("clocks-parted", NULL);
	assert_linux(1, "tsc", TAKEN_NOTICES_UNKNOWN, TAKEN_BLAMES_NONE);
	part_tsc(300 * MS, DISCONTINUITY_PARTED, 0);
	find("clocks-parted", NULL);
	have_cores(1, 1, false, true); /* no watchdog */
	report->facts.machine.tsc_is_invariant = true;
	assert_linux(1, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
}

/* Before 6.12 the watchdog is off with up to 2 memory nodes, later with up to 4 packages. */
TEST(the_watchdog_is_off_with_few_packages)
{
	have_cores(4, 4, false, true);
	find_change("tsc", -3000);
	assert_linux(0, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	assert_linux(1, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
}

/* A rate from CPUID that is 0.2 % off: 7.1 allows 1/256 if a rate was not measured. */
TEST(a_stated_rate_that_is_wrong_is_noticed_above_the_limit)
{
	have_cores(1, 1, false, false);
	report->facts.claim_count = 1;
	report->facts.claims[0] = (struct report_claim){ .claim = { .clock = CLAIM_OF_TSC } };
	report->outcomes.claims[0] = (struct claim_outcome){ .outcome = OUTCOME_FAILED,
							     .error = { true, 2000000, 1999000, 2001000 },
							     .user_count = 1, .users = { "Linux" } };
	find("tsc-claim", NULL);
	assert_linux(1, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	assert_linux(2, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
	assert_int_equal(find_row(linux_systems[2])->time_error.value, 2000000);
}

static void
have_cost(const char *id, int64_t ps)
{
	const struct report_clock *entry = report_find_clock(report, id);

	if (!entry)
		entry = add(id);
	report->figures.clocks[entry - report->facts.clocks].cost.read_ps = (struct interval_ns){ true, ps, 0, 0 };
	report->figures.tsc = (struct rate){ 1000000000, 1 }; /* without a rate, costs are in ticks */
}

TEST(a_row_has_the_cost_of_the_systems_own_read_method)
{
	have_cores(2, 1, false, true);
	have_cost("tsc", 9820);
	have_cost("tsc_lfence", 12000);
	have_cost("hpet", 451000);
	have_cost("hpet_32", 152000);
	assert_string_equal(find_row(linux_systems[0])->read_by, "tsc_lfence");
	assert_int_equal(find_row(linux_systems[0])->read_ps, 12000);
	have_cost("tsc_rdtscp", 15000);
	assert_string_equal(find_row(linux_systems[0])->read_by, "tsc_rdtscp");
	assert_string_equal(find_row("PostgreSQL 19")->read_by, "tsc");
	assert_int_equal(find_row("Valkey 9.1")->read_ps, 9820);
	report->facts.machine.tsc_is_invariant = false;
	report->facts.machine.linux_distrusts_tsc = true;
	assert_string_equal(find_row(linux_systems[0])->read_by, "hpet_32");
	assert_int_equal(find_row(linux_systems[0])->read_ps, 152000);
	assert_int_equal(recommend_get_read_cost_ps(report, recommend_get_kernel_read_row(report, "hpet")).value, 152000);
}

/* A nested HPET: 217 us a read (au-ts/libvmm issue 389). */
TEST(linux_7_1_does_not_use_a_reference_that_is_slow_to_read)
{
	have_cores(1, 1, false, false);
	have_cost("hpet", 217000000);
	find_change("tsc", -3000);
	assert_linux(1, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
	assert_linux(2, "tsc", TAKEN_NOTICES_NO, TAKEN_BLAMES_NONE);
	assert_non_null(strstr(find_row(linux_systems[2])->reason, "It cannot check the TSC here: a read of hpet takes 217 us "
			       "(limit 50 us)."));
	have_cost("hpet", 49000000);
	assert_linux(2, "hpet", TAKEN_NOTICES_YES, TAKEN_BLAMES_RIGHT);
}

TEST(a_program_may_read_the_tsc_of_cores_that_agree)
{
	static const char program[] = "a program that reads the TSC itself";

	have_cores(2, 1, false, true);
	assert_taken(program, "tsc", "not proven: it is not determined whether the cores' TSCs agree.");
	assert_int_equal(find_row(program)->safety, TAKEN_SAFETY_UNPROVEN);
	report->outcomes.sync.synchronised = report->outcomes.sync.within_known = true;
	assert_taken(program, "tsc", "safe on all cores.");
	assert_int_equal(find_row(program)->safety, TAKEN_SAFE);
	put_core_ahead(-3212000000); /* core 1 is 1.606 s behind core 0 */
	assert_taken(program, "tsc", "not safe: core 1 is 1.61 s behind core 0.");
	assert_int_equal(find_row(program)->safety, TAKEN_UNSAFE);
	assert_non_null(strstr(find_row("Valkey 9.1")->reason, "That is not safe here"));
	have_cores(1, 1, false, true);
	report->outcomes.finding_count = report->figures.skew.pass_count = 0;
	assert_taken(program, "tsc", "safe on all cores.");
	report->facts.machine.tsc_is_invariant = false;
	assert_int_equal(find_row(program)->safety, TAKEN_SAFETY_UNPROVEN);
}

TEST(postgresql_reads_an_invariant_tsc_with_tsc_adjust)
{
	static const struct calibration_loop loop = { .id = "postgresql" };

	have_cores(1, 1, true, true);
	have_cost("tsc", 9820);
	have_cost("tsc_rdtscp", 15000);
	report->figures.calibration_count = 1;
	report->figures.calibrations[0] = (struct calibration_figures){ .loop = &loop, .runs = 50, .refused = 2,
							       .worst = { true, -310200, -310300, -310100 } };
	assert_taken("PostgreSQL 19", "tsc", "it reads the TSC directly, because the TSC is reported as invariant and CPUID "
		     "reports TSC_ADJUST; it executes RDTSC (9.82 ns) and RDTSCP (15.0 ns); if CPUID gives no rate, PostgreSQL "
		     "measures it by a loop, whose largest error in 48 runs here was 310.2 ppm.");
}

TEST(postgresql_reads_the_tsc_without_tsc_adjust_if_linux_takes_it)
{
	have_cores(1, 1, true, false);
	assert_taken("PostgreSQL 19", "tsc", "it reads the TSC directly, because the TSC is reported as invariant and Linux "
		     "takes the TSC.");
	find_change("tsc", -3000);
	assert_taken("PostgreSQL 19", "hpet", "it reads Linux's clocksource, because CPUID reports no TSC_ADJUST, "
		     "and Linux's clocksource is not the TSC.");
}

TEST(postgresql_reads_the_systems_clock_without_rdtscp_or_an_invariant_tsc)
{
	have_cores(1, 1, false, true);
	assert_taken("PostgreSQL 19", "tsc", "it reads Linux's clocksource, because there is no RDTSCP.");
	report->facts.machine.tsc_is_invariant = false;
	assert_taken("PostgreSQL 19", "tsc", "it reads Linux's clocksource, because the TSC is not reported as "
		"invariant.");
	assert_taken("Valkey 9.1", "tsc", "it reads Linux's clocksource, because the TSC is not reported as invariant.");
}

/* PostgreSQL 19 and Valkey 9.1 then pay for RDTSCP, or for the HPET of an older kernel, and not for RDTSC. */
TEST(a_program_that_reads_linuxs_clock_pays_what_linux_pays)
{
	static const char *const programs[] = { "PostgreSQL 19", "Valkey 9.1" };

	have_cores(2, 1, true, true);
	report->facts.machine.tsc_is_invariant = false;
	report->facts.machine.linux_distrusts_tsc = true;
	have_cost("tsc", 21600);
	have_cost("tsc_rdtscp", 44600);
	have_cost("hpet", 262000);
	assert_taken(linux_systems[0], "hpet", NULL);
	assert_taken(linux_systems[2], "tsc", NULL);
	for (size_t i = 0; i < 2; i++) {
		assert_taken(programs[i], "tsc", "it reads Linux's clocksource, because the TSC is not reported as "
			     "invariant. On Linux before 6.12 that is hpet (262 ns).");
		assert_string_equal(find_row(programs[i])->read_by, "tsc_rdtscp");
		assert_int_equal(find_row(programs[i])->read_ps, 44600);
	}
}

TEST(a_tsc_that_linux_distrusts_is_marked_unstable_and_the_hpet_is_next)
{
	have_cores(2, 2, false, false);
	report->facts.machine.tsc_is_invariant = false;
	report->facts.machine.linux_distrusts_tsc = true;
	assert_taken(linux_systems[0], "hpet", "clocksource hpet, rating 250, before acpi_pm, 200; Linux marks the TSC "
		     "unstable: the CPU is not Intel's, has several cores, and reports no invariant TSC (\"TSCs "
		     "unsynchronized\").");
	assert_taken(linux_systems[2], "hpet", "clocksource hpet, rating 250, before acpi_pm, 200; Linux marks the TSC "
		     "unstable: the CPU is not Intel's, has several packages, and reports no invariant TSC (\"TSCs "
		     "unsynchronized\").");
	assert_taken("Windows", "hpet", "the platform's counter, because the TSC is not reported as invariant."
		     WINDOWS_WAS_NOT_RUN);
}

TEST(warps_make_the_tsc_unstable)
{
	have_cores(2, 1, false, false);
	put_core_ahead(5000);
	report->facts.clocks[1].clock.state = CLOCK_ABSENT;
	assert_taken(linux_systems[0], "acpi_pm", "clocksource acpi_pm, rating 200; hpet, 250, is absent; Linux marks the "
		     "TSC unstable: its check of two cores finds warps (\"check_tsc_sync_source failed\").");
	assert_taken("Windows", "acpi_pm", "the platform's counter, because the TSC is not reliable here."
		     WINDOWS_WAS_NOT_RUN);
}

TEST(kvm_clock_comes_first_unless_the_tsc_is_invariant)
{
	struct report_clock *kvmclock = add("kvmclock");

	offer(PARAVIRTUAL_KVM);
	kvmclock->clock.rating = 299; /* rating of kvm-clock's driver on a machine with an invariant TSC */
	assert_taken(linux_systems[0], "tsc", "clocksource tsc, rating 300, before kvm-clock, 299; if the TSC is reported as "
					"invariant, Linux ranks the hypervisor's clock below the TSC.");
	report->facts.machine.tsc_is_invariant = false;
	kvmclock->clock.rating = 400;
	assert_taken(linux_systems[0], "kvmclock", "clocksource kvm-clock, rating 400, before tsc, 300; the TSC is not "
					     "reported as invariant, so the hypervisor's clock comes first.");
	assert_taken("Windows", "hpet", "the platform's counter, because the TSC is not reported as invariant."
		     WINDOWS_WAS_NOT_RUN);
}

/* QEMU with both interfaces puts Hyper-V's CPUID leaves first, and KVM's leaves above them. */
TEST(with_two_interfaces_linux_uses_the_higher_leaves_and_windows_uses_hyperv)
{
	report->facts.machine.tsc_is_invariant = false;
	offer(PARAVIRTUAL_HYPERV);
	offer(PARAVIRTUAL_KVM);
	add("kvmclock");
	add("hv_ref");
	add("hv_page");
	assert_taken(linux_systems[0], "kvmclock", NULL);
	assert_taken("Windows", "hv_page", "Hyper-V's reference time, which is read from a page of the hypervisor."
		     WINDOWS_WAS_NOT_RUN);
	find_added("hv_page")->clock.state = CLOCK_DISABLED;
	assert_taken("Windows", "hv_ref", "Hyper-V's reference counter, which is read from an MSR: there is no page "
			"that may be used."
		     WINDOWS_WAS_NOT_RUN);
	report->facts.machine.paravirtual.interfaces[0].missing =
		"AccessPartitionReferenceTsc (EAX bit 9), so each reading exits to the hypervisor";
	assert_taken("Windows", "hv_ref", "Hyper-V's reference counter, which is read from an MSR: there is no page "
			"that may be used. "
		     "CPUID 40000003h lacks AccessPartitionReferenceTsc (EAX bit 9), so each reading exits to the hypervisor."
		     WINDOWS_WAS_NOT_RUN);
	report->facts.machine.paravirtual.interfaces[0].missing = NULL;
	report->facts.machine.paravirtual.count = 1;
	assert_taken(linux_systems[0], "hv_ref", NULL);
}

/* Linux registers Hyper-V's page as a clocksource even if the page is invalid. Each read then reads the MSR. */
TEST(linux_uses_hypervs_clocksource_although_its_page_is_invalid)
{
	report->facts.machine.tsc_is_invariant = false;
	offer(PARAVIRTUAL_HYPERV);
	add("hv_ref");
	struct report_clock *page = add("hv_page");
	page->clock.state = CLOCK_DISABLED;
	page->clock.paravirtual.falls_back = true;
	assert_taken(linux_systems[0], "hv_page", "clocksource hyperv_clocksource_tsc_page, rating 500, before "
		     "hyperv_clocksource_msr, 495; the sequence number of the clock's page is 0, so each read of the "
		     "clock reads the MSR; Hyper-V does not offer control of an invariant TSC (CPUID 40000003h), so its "
		     "clock comes first.");
	assert_taken("Windows", "hv_ref", "Hyper-V's reference counter, which is read from an MSR: there is no page "
			"that may be used."
		     WINDOWS_WAS_NOT_RUN);
}

/* WSL issue 11790: CPUID 80000007h reports an invariant TSC, and Hyper-V's ratings do not depend on that leaf. */
TEST(linux_ranks_hypervs_clocks_by_hypervs_own_leaf)
{
	report->facts.machine.tsc_is_invariant = true;
	offer(PARAVIRTUAL_HYPERV);
	add("hv_page");
	assert_taken(linux_systems[0], "hv_page", "clocksource hyperv_clocksource_tsc_page, rating 500, before tsc, 300; "
		     "Hyper-V does not offer control of an invariant TSC (CPUID 40000003h), so its clock comes first.");
	report->facts.clocks[1].clock.state = CLOCK_ABSENT; /* the HPET, whose rating is the same */
	find_added("hv_page")->clock.rating = 250;
	assert_taken(linux_systems[0], "tsc", "clocksource tsc, rating 300, before hyperv_clocksource_tsc_page, 250; if "
		     "Hyper-V offers control of an invariant TSC (CPUID 40000003h), Linux ranks its clock below the TSC.");
}

TEST(xens_clock_comes_first_unless_the_tsc_is_invariant_and_never_emulated)
{
	struct report_clock *xen = add("xen");

	offer(PARAVIRTUAL_HYPERV); /* viridian=1 */
	offer(PARAVIRTUAL_XEN);
	add("hv_page");
	assert_int_equal(xen->clock.rating, 400);
	assert_taken(linux_systems[0], "xen", "clocksource xen, rating 400, before tsc, 300; Xen may emulate the "
		     "TSC, so Linux takes Xen's clock first.");
	assert_string_equal(find_row("Windows")->clock, "hv_page");
	report->facts.machine.tsc_is_invariant = false;
	assert_taken(linux_systems[0], "xen", "clocksource xen, rating 400, before tsc, 300; the TSC is not reported as "
		     "invariant, so the hypervisor's clock comes first.");
	report->facts.machine.tsc_is_invariant = true;
	xen->clock.rating = 299; /* rating of the driver of Xen's clock on a machine with an invariant TSC */
	assert_taken(linux_systems[0], "tsc", "clocksource tsc, rating 300, before xen, 299; if the TSC is reported as "
					"invariant and "
		     "Xen never emulates the TSC, Linux ranks Xen's clock below the TSC.");
}

TEST(a_run_without_the_tsc_names_no_clocksource)
{
	report->facts.options.clocks.count = 2;
	report->facts.clocks[0].clock.state = CLOCK_ABSENT;
	assert_null(find_row(linux_systems[0]));
	assert_int_equal(report->advice.taken_count, 0);
}
