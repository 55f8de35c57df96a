/*
 * Findings about stated rates (CPUID leaves and others): which rate is wrong, which systems would use it, and how wrong
 * their time would be. If the stated rates agree with each other but not with the clocks, no stated rate is named.
 */
#include "test.h"
#include "report_literal.h"

#include "judge/judge_internal.h"

#define TSC_MILLIHZ (UINT64_C(1000) * LITERAL_TSC_HZ)
#define MICROHZ     UINT64_C(1000000)

static struct report *report;

/* Makes a machine on bare metal. Three of its clocks confirm the TSC's rate within 1 ppm. */
static void
set_up(void)
{
	static const char *const ids[] = { "tsc", "hpet", "acpi_pm", "pit" };

	report = calloc(1, sizeof(*report));
	options_set_defaults(&report->facts.options);
	LITERAL_COPY(report->facts.machine.cpu_vendor, "GenuineIntel");
	report->figures.relative_to = "hpet";
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct report_clock *entry = &report->facts.clocks[report->facts.clock_count++];
		struct rate_interval *implied = &report->figures.clocks[i].implied;

		entry->clock = (struct clock){ .id = ids[i], .main = ids[i], .state = CLOCK_PRESENT,
					       .claimed = { LITERAL_TSC_HZ, 1 } };
		*implied = (struct rate_interval){ true, LITERAL_TSC_HZ * MICROHZ, LITERAL_TSC_HZ * (MICROHZ - 1),
						   LITERAL_TSC_HZ * (MICROHZ + 1) };
	}
	report->figures.clocks[0].measured = (struct interval_millihz){ true, TSC_MILLIHZ, TSC_MILLIHZ - 2000,
								      TSC_MILLIHZ + 2000 };
	report->figures.clocks[0].absolute = report->figures.clocks[0].measured;
}

static void
tear_down(void)
{
	free(report);
}

TEST_FIXTURE(set_up, tear_down);

/* Adds a stated rate that is PPM below the measured one. The time of a system that uses it is too fast by PPM. */
static void
claim(enum claim_source source, enum claim_clock clock, const char *by, uint64_t hz, int64_t ppm, uint64_t within_hz)
{
	literal_add_claim(report, source, clock, by, (uint64_t)((int64_t)hz - (int64_t)hz / 1000000 * ppm), within_hz)->base =
		0x40000000;
}

static void
become_a_guest(enum paravirtual_kind kind)
{
	LITERAL_COPY(report->facts.machine.hypervisor, "KVMKVMKVM");
	report->facts.machine.paravirtual = (struct paravirtual){ 1, { { .kind = kind, .base = 0x40000000 } } };
}

/*
 * Changes the machine so that no majority of clocks confirms the TSC's rate. The TSC's nominal rate is then the first
 * stated rate, and all clocks that contradict it share one oscillator.
 */
static void
dispute(void)
{
	report->figures.clocks[0].absolute.known = false;
	report->facts.clocks[0].clock.claimed = report->facts.claims[0].claim.hz;
	report->figures.clocks[0].implied.value = report->facts.claims[0].claim.hz.num * MICROHZ;
	report->figures.clocks[0].implied.low = report->figures.clocks[0].implied.high =
		report->figures.clocks[0].implied.value;
}

static const struct finding *
finding_of(const char *rule)
{
	const struct finding *found = NULL;

	literal_judge(report);
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		assert_true(strcmp(report->outcomes.findings[i].rule, "rate-wrong") &&
			    strcmp(report->outcomes.findings[i].rule, "rate-off"));
		if (strcmp(report->outcomes.findings[i].rule, rule) == 0) {
			assert_null(found);
			found = &report->outcomes.findings[i];
		}
	}
	return found;
}

TEST(right_and_rounded_claims_pass)
{
	claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", LITERAL_TSC_HZ, 50, 0);
	claim(CLAIM_LEAF_16, CLAIM_OF_TSC, "CPUID 16h", LITERAL_TSC_HZ, 4000, 50000000);
	assert_null(finding_of("tsc-claim"));
	assert_int_equal(report->outcomes.claims[0].outcome, OUTCOME_PASSED);
	assert_int_equal(report->outcomes.claims[1].outcome, OUTCOME_PASSED);
	assert_in_range(report->outcomes.claims[1].error.value, 4015000, 4018000);
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
}

/* The TSC runs at 3.0928 GHz, 2,310 ppm below the rate in the name. The name's last digit is 0.01 GHz. */
TEST(a_rate_in_the_cpus_name_that_is_off_has_a_note_and_no_finding)
{
	claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", LITERAL_TSC_HZ, 0, 0);
	claim(CLAIM_CPU_NAME, CLAIM_OF_TSC, "the CPU's name", LITERAL_TSC_HZ, 2315, 1000000);
	assert_null(finding_of("tsc-claim"));
	assert_int_equal(report->outcomes.claims[1].outcome, OUTCOME_FAILED);
	assert_int_equal(report->outcomes.verdict, VERDICT_PASS);
	assert_non_null(strstr(report->outcomes.notes.sentences[report->outcomes.notes.count - 1], "The CPU's name states "));
	assert_non_null(strstr(report->outcomes.notes.sentences[report->outcomes.notes.count - 1], " ppm "));
}

TEST(a_wrong_leaf_is_named_with_the_systems_that_use_it_and_the_tsc_passes)
{
	claim(CLAIM_LEAF_16, CLAIM_OF_TSC, "CPUID 16h", LITERAL_TSC_HZ, 0, 50000000);
	claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", LITERAL_TSC_HZ, 1737, 0);
	const struct finding *finding = finding_of("tsc-claim");
	assert_non_null(finding);
	assert_null(finding->clock);
	assert_int_equal(finding->severity, VERDICT_FAIL);
	assert_int_equal(report->outcomes.verdict, VERDICT_FAIL);
	assert_int_not_equal(report->outcomes.clocks[0].verdict, VERDICT_FAIL);
	assert_non_null(strstr(finding->text, "CPUID 15h states "));
	assert_non_null(strstr(finding->text, " by hpet: Linux's clock would run 1740 ppm fast until NTP corrects it, and "
			       "EDK II's delays would be 1740 ppm too short, and PostgreSQL 19 would show times 1740 ppm too "
			       "long."));
	assert_in_range(finding->measured, 1739, 1741);
}

/* A warning that is raised to a failure afterwards would find no space. */
TEST(a_claim_that_fails_replaces_a_warning_in_a_full_list_of_findings)
{
	struct outcomes *outcomes = &report->outcomes;

	claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", LITERAL_TSC_HZ, 1737, 0);
	outcomes->finding_count = 0;
	for (size_t i = 0; i < REPORT_FINDINGS_MAX; i++)
		assert_non_null(rules_add_finding(report, outcomes, "clock-slow", "hpet", REPORT_NO_CORE, "Warning %zu.", i));
	judge_claims(report, outcomes);
	judge_add_claim_findings(report, outcomes);
	assert_int_equal(outcomes->finding_count, REPORT_FINDINGS_MAX);
	assert_string_equal(outcomes->findings[REPORT_FINDINGS_MAX - 1].rule, "tsc-claim");
	assert_int_equal(outcomes->findings[REPORT_FINDINGS_MAX - 1].severity, VERDICT_FAIL);
	assert_string_equal(outcomes->findings[REPORT_FINDINGS_MAX - 2].text, "Warning 62.");
}

TEST(a_leaf_that_is_wrong_by_a_factor_is_off_in_percent)
{
	claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", LITERAL_TSC_HZ, -1800000, 0);
	const struct finding *finding = finding_of("tsc-claim");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "Linux's clock would run 64.3 % slow until NTP corrects it"));
	assert_non_null(strstr(finding->text, "PostgreSQL 19 would show times 64.3 % too short (pg_test_timing warns above "
			       "10 %)."));
}

TEST(a_wrong_rate_that_no_system_uses_or_that_ntp_can_correct_only_warns)
{
	claim(CLAIM_AMD_P0, CLAIM_OF_TSC, "MSR C0010064h", LITERAL_TSC_HZ, 20000, LITERAL_TSC_HZ / 100);
	assert_int_equal(finding_of("tsc-claim")->severity, VERDICT_WARN);
	assert_non_null(strstr(report->outcomes.findings[0].text, ". No system that baretick knows uses this rate."));
	report->facts.claim_count = 0;
	claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", LITERAL_TSC_HZ, 300, 0);
	assert_int_equal(finding_of("tsc-claim")->severity, VERDICT_WARN);
	assert_int_equal(report->outcomes.verdict, VERDICT_WARN);
}

TEST(in_a_guest_a_leaf_and_the_devices_that_contradict_it_are_both_named)
{
	become_a_guest(PARAVIRTUAL_VIRTUALBOX);
	claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", LITERAL_TSC_HZ, 30000, 0);
	dispute();
	report->figures.rates[report->figures.rate_count++] = (struct report_rate){ "hpet", "acpi_pm",
										    { true, 0, -1000, 1000 }, true };
	const struct finding *finding = finding_of("tsc-claim");
	assert_non_null(finding);
	assert_int_equal(finding->severity, VERDICT_WARN);
	assert_non_null(strstr(finding->text, "by hpet (this claim or these clocks are wrong): "));
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		assert_string_not_equal(report->outcomes.findings[i].rule, "rate-disagree");
	for (size_t i = 0; i < report->outcomes.behaviours.count; i++)
		if (strcmp(report->outcomes.behaviours.rows[i].clock, "tsc") == 0) {
			assert_string_equal(report->outcomes.behaviours.rows[i].explained_by.rule, "tsc-claim");
			assert_string_equal(report->outcomes.behaviours.rows[i].text,
					    "tsc: the claimed rate is wrong, so the "
				"measured rate cannot be checked: see the finding.");
		}
}

/* A guest has such rates if it was migrated to a host whose TSC has another rate. */
TEST(two_stated_rates_that_agree_against_all_clocks_accuse_the_tsc)
{
	report->facts.clock_count = 4;
	claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", LITERAL_TSC_HZ, 30000, 0);
	claim(CLAIM_KHZ_LEAF, CLAIM_OF_TSC, "CPUID 40000010h EAX", LITERAL_TSC_HZ, 30000, 1000);
	dispute();
	assert_null(finding_of("tsc-claim"));
	assert_int_equal(report->outcomes.finding_count, 1);
	assert_string_equal(report->outcomes.findings[0].rule, "rate-disagree");
}

TEST(a_wrong_lapic_rate_is_named_with_the_timers_that_would_be_wrong)
{
	report->facts.lapic = (struct interval_millihz){ true, UINT64_C(1000000000000), UINT64_C(999900000000),
						   UINT64_C(1000100000000) };
	claim(CLAIM_LEAF_15, CLAIM_OF_LAPIC, "CPUID 15h ECX", 25000000, 0, 0);
	const struct finding *finding = finding_of("lapic-claim");
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "Linux's timers would fire 3900.0 % too early."));
	assert_int_equal(finding->severity, VERDICT_FAIL);
	report->facts.claim_count = 0;
	claim(CLAIM_HYPERV, CLAIM_OF_LAPIC, "MSR 40000023h", 1000000000, 100, 1000);
	assert_null(finding_of("lapic-claim"));
	assert_int_equal(report->outcomes.claims[0].outcome, OUTCOME_PASSED);
}

TEST(without_an_independent_clock_no_stated_rate_is_checked)
{
	claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", LITERAL_TSC_HZ, 30000, 0);
	report->facts.clocks[1].clock.by_tsc = true;
	assert_null(finding_of("tsc-claim"));
	assert_int_equal(report->outcomes.claims[0].outcome, OUTCOME_NOT_CHECKED);
	assert_int_equal(report->outcomes.claims[0].user_count, 3);
}

static void
assert_users(size_t row, const char *users)
{
	char all[64] = "";

	for (size_t i = 0; i < report->outcomes.claims[row].user_count; i++)
		strcat(strcat(all, i ? ", " : ""), report->outcomes.claims[row].users[i]);
	assert_string_equal(all, users);
}

TEST(systems_that_use_a_stated_rate_depend_on_the_machine)
{
	claim(CLAIM_LEAF_15, CLAIM_OF_TSC, "CPUID 15h", LITERAL_TSC_HZ, 0, 0);
	claim(CLAIM_LEAF_15, CLAIM_OF_CRYSTAL, "CPUID 15h ECX", 25000000, 0, 0);
	claim(CLAIM_LEAF_16, CLAIM_OF_TSC, "CPUID 16h", LITERAL_TSC_HZ, 0, 50000000);
	claim(CLAIM_KHZ_LEAF, CLAIM_OF_TSC, "CPUID 40000010h EAX", LITERAL_TSC_HZ, 0, 1000);
	claim(CLAIM_KHZ_LEAF, CLAIM_OF_LAPIC, "CPUID 40000010h EBX", 1000000000, 0, 1000);
	literal_judge(report);
	assert_users(0, "Linux, EDK II, PostgreSQL 19");
	assert_users(1, "");
	assert_users(2, "");
	LITERAL_COPY(report->facts.machine.cpu_vendor, "AuthenticAMD");
	literal_judge(report);
	assert_users(0, "EDK II, PostgreSQL 19");
	LITERAL_COPY(report->facts.machine.cpu_vendor, "GenuineIntel");
	become_a_guest(PARAVIRTUAL_KVM);
	literal_judge(report);
	assert_users(0, "Linux, EDK II");
	for (size_t i = 0; i < 3; i++) {
		static const enum claim_source asked[] = { CLAIM_HYPERV, CLAIM_KVM_PAGE, CLAIM_SECURE_TSC };

		claim(asked[i], CLAIM_OF_TSC, "the hypervisor", LITERAL_TSC_HZ, 0, 1000);
		literal_judge(report);
		assert_users(0, "EDK II");
		report->facts.claim_count--;
	}
	assert_users(3, "FreeBSD, PostgreSQL 19");
	assert_users(4, "FreeBSD");
	become_a_guest(PARAVIRTUAL_ACRN);
	literal_judge(report);
	assert_users(0, "EDK II");
	assert_users(3, "Linux, FreeBSD");
	report->facts.claim_count = 0;
	claim(CLAIM_LEAF_16, CLAIM_OF_TSC, "CPUID 16h", LITERAL_TSC_HZ, 0, 50000000);
	report->facts.machine.hypervisor[0] = '\0';
	literal_judge(report);
	assert_users(0, "PostgreSQL 19");
}
