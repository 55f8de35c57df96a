/* Tests which clock Linux and Windows use on several machines, and the printed reason. */
#include "test.h"
#include "judge/recommend/recommend.h"
#include "report_literal.h"

static struct report *report;

static struct report_clock *
add(const char *id)
{
	struct report_clock *entry = &report->clocks[report->clock_count++];

	entry->clock = *literal_find_driver_row(id);
	entry->clock.state = CLOCK_PRESENT;
	return entry;
}

/* Makes a machine on bare metal with an invariant TSC, an HPET and a PM timer. */
static int
set_up(void **state)
{
	(void)state;
	report = calloc(1, sizeof(*report));
	report->tsc_is_invariant = true;
	add("tsc");
	add("hpet");
	add("acpi_pm");
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	free(report);
	return 0;
}

TEST_FIXTURE(set_up, tear_down);

static void
offer(enum paravirtual_kind kind)
{
	report->paravirtual.interfaces[report->paravirtual.count++].kind = kind;
	strcpy(report->hypervisor, "KVMKVMKVM");
}

static void
assert_taken(size_t i, const char *system, const char *clock, const char *reason)
{
	assert_true(i < report->taken_count);
	assert_string_equal(report->taken[i].system, system);
	assert_string_equal(report->taken[i].clock, clock);
	assert_string_equal(report->taken[i].reason, reason);
}

TEST(on_bare_metal_linux_and_windows_use_the_invariant_tsc)
{
	recommend_predict_clocksources(report);
	assert_int_equal(report->taken_count, 3);
	assert_taken(0, "Linux", "tsc", "clocksource tsc, rating 300, before hpet, 250.");
	assert_taken(1, "Windows", "tsc", "the TSC is reported as invariant, and nothing was found against it.");
}

static struct report_core core;

/* Sets the facts that PostgreSQL reads from CPUID. */
static void
have_core(bool rdtscp, bool tsc_adjust)
{
	core = (struct report_core){ .facts_known = true, .facts = { .has_tsc_adjust = tsc_adjust } };
	report->cores = &core;
	report->core_count = 1;
	if (rdtscp)
		add("tsc_rdtscp");
}

TEST(postgresql_reads_an_invariant_tsc_with_tsc_adjust)
{
	static const struct calibration_loop loop = { .id = "postgresql" };

	have_core(true, true);
	report->clocks[0].cost.read_ps.known = true;
	report->clocks[0].cost.read_ps.value = 9820;
	report->calibration_count = 1;
	report->calibrations[0] = (struct report_calibration){ .loop = &loop, .runs = 50, .refused = 2,
							       .worst = { true, -310200, -310300, -310100 } };
	report->findings[report->finding_count++] = (struct finding){ .rule = "clock-backward", .clock = "tsc" };
	recommend_predict_clocksources(report);
	assert_taken(2, "PostgreSQL 19", "tsc", "it reads the TSC directly, because the TSC is reported as invariant "
		"and CPUID "
		     "reports TSC_ADJUST; a read costs 9.82 ns; if CPUID gives no rate, PostgreSQL measures it "
		     "by a loop, whose largest error in 48 runs here was 310.2 ppm.");
}

TEST(postgresql_reads_the_tsc_without_tsc_adjust_if_linux_takes_it)
{
	have_core(true, false);
	recommend_predict_clocksources(report);
	assert_taken(2, "PostgreSQL 19", "tsc", "it reads the TSC directly, because the TSC is reported as invariant "
		"and Linux takes the TSC.");
	report->findings[report->finding_count++] = (struct finding){ .rule = "clock-backward", .clock = "tsc" };
	recommend_predict_clocksources(report);
	assert_taken(2, "PostgreSQL 19", "hpet", "it reads Linux's clocksource, because CPUID reports no TSC_ADJUST, "
		     "and Linux's clocksource is not the TSC.");
}

TEST(postgresql_reads_the_systems_clock_without_rdtscp_or_an_invariant_tsc)
{
	have_core(false, true);
	recommend_predict_clocksources(report);
	assert_taken(2, "PostgreSQL 19", "tsc", "it reads Linux's clocksource, because there is no RDTSCP.");
	report->tsc_is_invariant = false;
	recommend_predict_clocksources(report);
	assert_taken(2, "PostgreSQL 19", "tsc", "it reads Linux's clocksource, because the TSC is not reported as "
		"invariant.");
}

TEST(a_tsc_that_linux_distrusts_is_marked_unstable_and_the_hpet_is_next)
{
	report->tsc_is_invariant = false;
	report->linux_distrusts_tsc = true;
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "hpet", "clocksource hpet, rating 250, before acpi_pm, 200; Linux marks the TSC "
		"unstable: the CPU is not Intel's, has several cores, and reports no invariant TSC "
		     "(\"Marking TSC unstable due to TSCs "
		     "unsynchronized\").");
	assert_taken(1, "Windows", "hpet", "the platform's counter, because the TSC is not reported as invariant.");
}

TEST(warps_make_the_tsc_unstable)
{
	report->skew.locked = (struct report_contended){ .measured = true, .warps = 3 };
	report->clocks[1].clock.state = CLOCK_ABSENT;
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "acpi_pm", "clocksource acpi_pm, rating 200; hpet, 250, is absent; Linux marks the "
		"TSC unstable: Linux's check of two cores finds warps "
		     "(\"Marking TSC unstable due to check_tsc_sync_source failed\").");
	assert_taken(1, "Windows", "acpi_pm", "the platform's counter, because the TSC is not reliable here.");
}

TEST(a_tsc_that_linux_distrusts_is_not_checked_for_warps)
{
	struct report_clock *kvmclock;

	report->tsc_is_invariant = false;
	report->linux_distrusts_tsc = true;
	report->skew.locked = (struct report_contended){ .measured = true, .warps = 3 };
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "hpet", "clocksource hpet, rating 250, before acpi_pm, 200; Linux marks the TSC "
		"unstable: the CPU is not Intel's, has several cores, and reports no invariant TSC "
		     "(\"Marking TSC unstable due to TSCs "
		     "unsynchronized\").");
	report->linux_distrusts_tsc = false;
	kvmclock = add("kvmclock");
	kvmclock->clock.rating = 400;
	offer(PARAVIRTUAL_KVM);
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "kvmclock", "clocksource kvm-clock, rating 400, before hpet, 250; Linux marks the "
		"TSC unstable: "
		     "Linux's check of two cores finds warps "
		     "(\"Marking TSC unstable due to check_tsc_sync_source failed\"); the TSC is not reported as invariant, so the "
		     "hypervisor's clock comes first.");
	report->tsc_is_invariant = true;
	kvmclock->clock.rating = 299;
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "kvmclock", "clocksource kvm-clock, rating 299, before hpet, 250; Linux marks the "
		"TSC unstable: "
		     "Linux's check of two cores finds warps "
		     "(\"Marking TSC unstable due to check_tsc_sync_source failed\").");
}

TEST(a_step_back_makes_the_tsc_unstable)
{
	report->findings[report->finding_count++] = (struct finding){ .rule = "clock-backward", .clock = "tsc" };
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "hpet", "clocksource hpet, rating 250, before acpi_pm, 200; Linux marks the TSC "
		"unstable: Linux's watchdog sees the TSC stop, jump or change its rate (\"Marking TSC unstable due to "
		     "clocksource watchdog\").");
}

TEST(kvm_clock_comes_first_unless_the_tsc_is_invariant)
{
	struct report_clock *kvmclock = add("kvmclock");

	offer(PARAVIRTUAL_KVM);
	kvmclock->clock.rating = 299; /* rating of kvm-clock's driver on a machine with an invariant TSC */
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "tsc", "clocksource tsc, rating 300, before kvm-clock, 299; if the TSC is reported as "
					"invariant, Linux ranks the hypervisor's clock below the TSC.");
	report->tsc_is_invariant = false;
	kvmclock->clock.rating = 400;
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "kvmclock", "clocksource kvm-clock, rating 400, before tsc, 300; the TSC is not "
					     "reported as invariant, so the hypervisor's clock comes first.");
	assert_taken(1, "Windows", "hpet", "the platform's counter, because the TSC is not reported as invariant.");
}

/* QEMU with both interfaces puts Hyper-V's CPUID leaves first, and KVM's leaves above them. */
TEST(with_two_interfaces_linux_uses_the_higher_leaves_and_windows_uses_hyperv)
{
	report->tsc_is_invariant = false;
	offer(PARAVIRTUAL_HYPERV);
	offer(PARAVIRTUAL_KVM);
	add("kvmclock");
	add("hv_ref");
	add("hv_page");
	recommend_predict_clocksources(report);
	assert_string_equal(report->taken[0].clock, "kvmclock");
	assert_taken(1, "Windows", "hv_page", "Hyper-V's reference time, which is read from a page of the hypervisor.");
	report_find_clock(report, "hv_page")->clock.state = CLOCK_DISABLED;
	recommend_predict_clocksources(report);
	assert_taken(1, "Windows", "hv_ref", "Hyper-V's reference counter, which is read from an MSR: there is no page "
			"that may be used.");
	report->paravirtual.interfaces[0].missing =
		"AccessPartitionReferenceTsc (EAX bit 9), so each reading exits to the hypervisor";
	recommend_predict_clocksources(report);
	assert_taken(1, "Windows", "hv_ref", "Hyper-V's reference counter, which is read from an MSR: there is no page "
			"that may be used. "
		     "CPUID 40000003h lacks AccessPartitionReferenceTsc (EAX bit 9), so each reading exits to the hypervisor.");
	report->paravirtual.interfaces[0].missing = NULL;
	report->paravirtual.count = 1;
	recommend_predict_clocksources(report);
	assert_string_equal(report->taken[0].clock, "hv_ref");
}

/* Linux registers Hyper-V's page as a clocksource even if the page is invalid. Each read then reads the MSR. */
TEST(linux_uses_hypervs_clocksource_although_its_page_is_invalid)
{
	struct report_clock *page;

	report->tsc_is_invariant = false;
	offer(PARAVIRTUAL_HYPERV);
	add("hv_ref");
	page = add("hv_page");
	page->clock.state = CLOCK_DISABLED;
	page->clock.paravirtual.falls_back = true;
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "hv_page", "clocksource hyperv_clocksource_tsc_page, rating 500, before "
		     "hyperv_clocksource_msr, 495; the sequence number of the clock's page is 0, so each read of the "
		     "clock reads the MSR; the "
		     "TSC is not reported as invariant, so the hypervisor's clock comes first.");
	assert_taken(1, "Windows", "hv_ref", "Hyper-V's reference counter, which is read from an MSR: there is no page "
			"that may be used.");
}

TEST(xens_clock_comes_first_unless_the_tsc_is_invariant_and_never_emulated)
{
	struct report_clock *xen = add("xen");

	offer(PARAVIRTUAL_HYPERV); /* viridian=1 */
	offer(PARAVIRTUAL_XEN);
	add("hv_page");
	assert_int_equal(xen->clock.rating, 400);
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "xen", "clocksource xen, rating 400, before tsc, 300; Xen may emulate the "
		     "TSC, so Linux takes Xen's clock first.");
	assert_string_equal(report->taken[1].clock, "hv_page");
	report->tsc_is_invariant = false;
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "xen", "clocksource xen, rating 400, before tsc, 300; the TSC is not reported as invariant, "
		     "so the hypervisor's clock comes first.");
	report->tsc_is_invariant = true;
	xen->clock.rating = 299; /* rating of the driver of Xen's clock on a machine with an invariant TSC */
	recommend_predict_clocksources(report);
	assert_taken(0, "Linux", "tsc", "clocksource tsc, rating 300, before xen, 299; if the TSC is reported as "
					"invariant and "
		     "Xen never emulates the TSC, Linux ranks Xen's clock below the TSC.");
}

TEST(a_run_without_the_tsc_names_no_clocksource)
{
	report->options.clocks.count = 2;
	report->clocks[0].clock.state = CLOCK_ABSENT;
	recommend_predict_clocksources(report);
	assert_int_equal(report->taken_count, 0);
}
