/*
 * Readings from pages that a real KVM filled. Each reading is compared with KVM's own values of the same clock before
 * and after the reading. No other clock is used.
 */
#include "kvm_guest.h"

#define READS       50
#define MSR_TSC     0x10
#define WAIT_NS     20000000
/* allowed difference in ppm between the rates of KVM's clock and the TSC, of which NTP may cause 500 ppm */
#define SLEW_PPM    1000
#define ROUND_NS    1000

static uint64_t
clock_of_kvm(void)
{
	struct kvm_clock_data now = { 0 };

	assert_int_equal(ioctl(guest.vm, KVM_GET_CLOCK, &now), 0);
	return now.clock;
}

/*
 * Returns the allowed difference in ns between KVM's clock and the page's clock, which grows with the time since the
 * guest's start.
 */
static uint64_t
slack_ns(void)
{
	return ROUND_NS + (read_host_ns() - guest.begin_ns) / 1000000 * SLEW_PPM;
}

/* Checks that a reading from the page is between KVM's values before and after it. */
static struct pvclock
check_reading(void)
{
	uint64_t before = clock_of_kvm(), slack, tsc, ns, after;
	struct pvclock taken;

	assert_true(pvclock_copy(get_page(), read_guest_tsc, &taken, &tsc));
	ns = pvclock_calculate_ns(&taken, tsc);
	after = clock_of_kvm();
	slack = slack_ns();
	if (ns + slack < before || ns > after + slack)
		fail_msg("%ju is not in %ju to %ju, +-%ju: version %u, TSC %ju since %ju, %ju ns, multiplier %u, shift %d",
			 (uintmax_t)ns, (uintmax_t)before, (uintmax_t)after, (uintmax_t)slack, taken.version, (uintmax_t)tsc,
			 (uintmax_t)taken.tsc_timestamp, (uintmax_t)taken.system_time, taken.tsc_to_system_mul, taken.tsc_shift);
	return taken;
}

static void
wait_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
}

static void
skip_unless(bool can, const char *lacking)
{
	if (can)
		return;
	print_message("skipped: %s\n", lacking);
	skip();
}

TEST_FIXTURE(guest_set_up, guest_tear_down);

TEST(each_reading_is_between_kvms_values_before_and_after)
{
	skip_unless(!guest.lacking, guest.lacking);
	for (unsigned i = 0; i < READS; i++) {
		check_reading();
		if (i % 10 == 0)
			wait_a_little();
	}
}

TEST(no_reading_is_lower_than_the_previous_one)
{
	struct pvclock taken;
	uint64_t last = 0, ns, tsc;

	skip_unless(!guest.lacking, guest.lacking);
	for (unsigned i = 0; i < READS; i++, last = ns) {
		assert_true(pvclock_copy(get_page(), read_guest_tsc, &taken, &tsc));
		ns = pvclock_calculate_ns(&taken, tsc);
		assert_true(ns >= last);
	}
}

TEST(if_the_clock_is_set_the_page_changes)
{
	uint32_t version;

	skip_unless(!guest.lacking, guest.lacking);
	for (uint64_t hour = 1; hour <= 3; hour++) {
		struct kvm_clock_data set = { .clock = hour * 3600 * UINT64_C(1000000000) };

		version = check_reading().version;
		assert_int_equal(ioctl(guest.vm, KVM_SET_CLOCK, &set), 0);
		assert_true(run_to_next_halt());
		assert_true(check_reading().version != version);
		assert_true(clock_of_kvm() >= set.clock);
		wait_a_little();
		check_reading();
	}
}

static uint64_t set_meanwhile_ns;
static unsigned looks;

static uint64_t
guest_tsc_of_a_clock_that_is_set_meanwhile(void)
{
	struct kvm_clock_data set = { .clock = set_meanwhile_ns };

	if (!looks++)
		assert_int_equal(ioctl(guest.vm, KVM_SET_CLOCK, &set), 0);
	return read_guest_tsc();
}

TEST(a_page_that_kvm_changes_during_a_reading_is_read_again)
{
	struct pvclock taken;
	uint64_t ns, tsc;

	skip_unless(!guest.lacking, guest.lacking);
	set_meanwhile_ns = clock_of_kvm() + 3600 * UINT64_C(1000000000);
	looks = 0;
	assert_true(pvclock_copy(get_page(), guest_tsc_of_a_clock_that_is_set_meanwhile, &taken, &tsc));
	ns = pvclock_calculate_ns(&taken, tsc);
	assert_true(looks >= 2);
	assert_true(ns + slack_ns() >= set_meanwhile_ns && ns <= clock_of_kvm() + slack_ns());
}

/* When a guest moves to another host, its TSC may have another value, but its clock continues. */
TEST(if_the_tsc_is_set_the_clock_does_not_change)
{
	struct {
		struct kvm_msrs head;
		struct kvm_msr_entry entry;
	} set = { .head = { .nmsrs = 1 }, .entry = { .index = MSR_TSC, .data = UINT64_C(1) << 52 } };

	skip_unless(!guest.lacking, guest.lacking);
	skip_unless(ioctl(guest.cpu, KVM_SET_MSRS, &set) == 1, "KVM does not let a core's TSC be set");
	skip_unless(read_guest_tsc() >= set.entry.data, "this KVM does not shift a guest's TSC");
	check_reading();
	wait_a_little();
	check_reading();
}

TEST(a_tsc_with_another_rate_has_its_own_multiplier)
{
	uint64_t khz, by_page;
	struct pvclock taken;
	int found;

	skip_unless(!guest.lacking, guest.lacking);
	skip_unless(ioctl(guest.kvm, KVM_CHECK_EXTENSION, KVM_CAP_TSC_CONTROL) > 0,
		    "this KVM can't make a TSC of another rate");
	found = ioctl(guest.cpu, KVM_GET_TSC_KHZ, 0);
	assert_true(found > 0);
	khz = (uint64_t)found / 2;
	assert_int_equal(ioctl(guest.cpu, KVM_SET_TSC_KHZ, khz), 0);
	assert_true(run_to_next_halt());
	taken = check_reading();
	by_page = (UINT64_C(1000000) << 32) / pvclock_get_multiplier(&taken);
	assert_true(by_page + 1 >= khz && by_page <= khz + 1);
	wait_a_little();
	check_reading();
}
