/* Tests of steps back, jumps and stalls (times in which a clock does not move), from hand-written samples. */
#include "test.h"
#include "stats/monotonic.h"

#define RUN 16

static const struct clock bits_24 = { .id = "acpi_pm", .wrap_ticks = 0xffffff };
static const struct clock bits_64 = { .id = "tsc", .wrap_ticks = UINT64_MAX };
static const struct clock seconds = { .id = "rtc", .wrap_ticks = 59 };
static struct monotonic monotonic;

static void
begin_empty(void)
{
	monotonic = (struct monotonic){ .reads = 0 };
}

TEST_FIXTURE(begin_empty, NULL);

/* Adds a series of reads without pauses, of 100 TSC ticks each. */
static void
add_reads(const struct clock *clock, uint64_t stall_ticks, const uint64_t *readings, size_t count)
{
	struct sample samples[RUN];

	for (size_t i = 0; i < count; i++)
		samples[i] = (struct sample){ 100 * i, readings[i], 100 * i + 100 };
	monotonic_add_samples(&monotonic, clock, &(struct monotonic_bounds){ .stall_ticks = stall_ticks }, samples, count);
}

/* Readings and their counts. A clock stalls if it does not move for more than STALL_TICKS of the TSC. */
static const struct {
	const char *name;
	const struct clock *clock;
	uint64_t stall_ticks, readings[11];
	size_t count;
	uint64_t backward, worst_ticks, stalls;
} cases[] = {
	{ "a wrap of 24 bits", &bits_24, 100, { 0xfffffd, 0xfffffe, 0, 0, 1 }, 5, 0, 0, 0 },
	{ "a wrap of a minute", &seconds, 100, { 59, 0, 1 }, 3, 0, 0, 0 },
	{ "two steps back, of which the largest is kept", &bits_64, 0, { 1000, 990, 1010, 0, 5 }, 5, 2, 1010, 0 },
	{ "5 ticks back across the wrap", &bits_24, 0, { 3, 0xfffffe }, 2, 1, 5, 0 },
	{ "a quarter of the range back", &bits_24, 0, { 0x400000, 0 }, 2, 1, 0x400000, 0 },
	{ "back by what it advanced", &bits_64, 0, { 10, 11, 10 }, 3, 1, 1, 0 },
	{ "59 of 60 s are a step back", &seconds, 0, { 30, 29 }, 2, 1, 1, 0 },
	{ "half of the range is a step forward", &seconds, 0, { 0, 30 }, 2, 0, 0, 0 },
	{ "31 of 60 s are a step back", &seconds, 0, { 0, 31 }, 2, 1, 29, 0 },
	/* the value 7 is first read between the ticks 100 and 200, and last between the ticks 500 and 600 */
	{ "a stall of 300 ticks", &bits_64, 299, { 6, 7, 7, 7, 7, 7, 8 }, 7, 0, 0, 1 },
	{ "no stall of more than 300 ticks", &bits_64, 300, { 6, 7, 7, 7, 7, 7, 8 }, 7, 0, 0, 0 },
	{ "each stall counts once", &bits_64, 50, { 1, 1, 1, 2, 2, 2, 2, 3, 4, 4, 4 }, 11, 0, 0, 3 },
	{ "one value is read for 200 ticks", &bits_64, 199, { 1, 1, 1, 2, 2, 2, 2, 3, 4, 4, 4 }, 11, 0, 0, 1 },
	{ "a stall at the end of a series", &bits_64, 299, { 9, 9, 9, 9, 9 }, 5, 0, 0, 1 },
	{ "no stall at the end of a series", &bits_64, 300, { 9, 9, 9, 9, 9 }, 5, 0, 0, 0 },
	{ "a limit of 0 counts no stall", &bits_64, 0, { 9, 9, 9, 9, 9 }, 5, 0, 0, 0 },
};

TEST(wraps_steps_back_and_stalls_are_told_apart)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_empty();
		print_message("%s\n", cases[i].name);
		add_reads(cases[i].clock, cases[i].stall_ticks, cases[i].readings, cases[i].count);
		assert_int_equal(monotonic.reads, cases[i].count);
		assert_int_equal(monotonic.backward, cases[i].backward);
		assert_int_equal(monotonic.worst_ticks, cases[i].worst_ticks);
		assert_int_equal(monotonic.stalls, cases[i].stalls);
	}
}

/*
 * The PIT wraps in 55 ms. In a preemption of 30 ms, the PIT moves by more than half of its range. If the duration of
 * the preemption is not used, this movement looks like a step back.
 */
TEST(a_pause_of_half_a_wrap_is_no_step_back_if_the_duration_is_known)
{
	static const struct clock bits_16 = { .id = "pit", .wrap_ticks = 0xffff };
	static const struct sample samples[] = { { 0, 100, 10 }, { 10, 40100, 40010 }, { 40010, 40110, 40020 },
						 { 40020, 40000, 40030 } };
	static const struct monotonic_bounds none = { .trust_ticks = 0 }, trust = { .trust_ticks = 16384 };

	monotonic_add_samples(&monotonic, &bits_16, &none, samples, 3);
	/* counted as a step back, because with trust_ticks 0, any two readings are compared */
	assert_int_equal(monotonic.backward, 1);
	monotonic = (struct monotonic){ .reads = 0 };
	monotonic_add_samples(&monotonic, &bits_16, &trust, samples, 3);
	assert_int_equal(monotonic.backward, 0);
	monotonic_add_samples(&monotonic, &bits_16, &trust, samples, 4); /* a real step back is still counted */
	assert_int_equal(monotonic.backward, 1);
	assert_int_equal(monotonic.worst_ticks, 110);
}

TEST(readings_of_two_series_are_not_compared)
{
	add_reads(&bits_64, 100, (const uint64_t[]){ 50, 51 }, 2);
	add_reads(&bits_64, 100, (const uint64_t[]){ 10, 11 }, 2);
	add_reads(&bits_64, 100, NULL, 0);
	assert_int_equal(monotonic.reads, 4);
	assert_int_equal(monotonic.backward, 0);
	/* but their counts are added, and the largest step back of both is kept */
	add_reads(&bits_64, 0, (const uint64_t[]){ 1000, 0 }, 2);
	add_reads(&bits_64, 0, (const uint64_t[]){ 5, 0 }, 2);
	assert_int_equal(monotonic.backward, 2);
	assert_int_equal(monotonic.worst_ticks, 1000);
}

TEST(a_tsc_that_steps_back_in_a_bracket_proves_no_fault_of_the_clock)
{
	const struct sample samples[] = { { 1000, 5, 1100 }, { 1100, 5, 900 }, { 900, 5, 1000 } };

	monotonic_add_samples(&monotonic, &bits_64, &(struct monotonic_bounds){ .stall_ticks = 10 }, samples, 3);
	assert_int_equal(monotonic.backward, 0);
	assert_int_equal(monotonic.stalls, 0);
}

/*
 * The clock ticks at a tenth of the TSC's rate. An advance is a jump if it exceeds this rate by more than an eighth
 * plus four ticks.
 */
static const struct monotonic_bounds leaps = { .leap_rate = (UINT64_C(9) << MONOTONIC_RATE_SHIFT) / 80,
					       .leap_ticks = 4 };

/*
 * Two readings are at most 200 ticks of the TSC apart. At an eighth above its rate the clock advances by 22.5 ticks in
 * this time, and 4 more are allowed.
 */
TEST(an_advance_of_27_ticks_in_200_is_a_jump_and_26_is_not)
{
	struct sample samples[] = { { 0, 1000, 100 }, { 100, 1026, 200 }, { 200, 1053, 300 }, { 300, 1063, 400 },
				    { 400, 1563, 500 } };

	monotonic_add_samples(&monotonic, &bits_64, &leaps, samples, 2);
	assert_int_equal(monotonic.leaps, 0);
	monotonic_add_samples(&monotonic, &bits_64, &leaps, samples, 5);
	assert_int_equal(monotonic.leaps, 2);
	assert_int_equal(monotonic.last_leap_ticks, 500 - 26);
	assert_int_equal(monotonic.backward, 0);
	monotonic = (struct monotonic){ .reads = 0 };
	monotonic_add_samples(&monotonic, &bits_64, &(struct monotonic_bounds){ .leap_ticks = 4 }, samples, 5);
	assert_int_equal(monotonic.leaps, 0); /* without a rate, jumps cannot be found */
}

TEST(a_preemption_between_two_readings_causes_no_jump)
{
	/*
	 * The core was preempted for 10 ms at 1 GHz: in the second bracket in `behind`, and in the first bracket in
	 * `before`. In `behind`, the 24-bit counter also wraps.
	 */
	const struct sample behind[] = { { 0, 0xfffff0, 100 }, { 100, 999990, 10000100 } };
	const struct sample before[] = { { 0, 1000, 10000000 }, { 10000000, 1001000, 10000100 } };
	const struct sample nowhere[] = { { 0, 1000, 100 }, { 100, 1001000, 200 } };

	monotonic_add_samples(&monotonic, &bits_24, &leaps, behind, 2);
	monotonic_add_samples(&monotonic, &bits_24, &leaps, before, 2);
	assert_int_equal(monotonic.leaps, 0);
	/* the same advance without a preemption is a jump */
	monotonic_add_samples(&monotonic, &bits_24, &leaps, nowhere, 2);
	assert_int_equal(monotonic.leaps, 1);
	assert_int_equal(monotonic.last_leap_ticks, 1000000 - 26);
}

TEST(an_advance_that_undoes_a_step_back_is_no_jump)
{
	const struct sample good[] = { { 0, 5000, 100 }, { 100, 904, 200 }, { 200, 5020, 300 } };
	const struct sample beyond[] = { { 0, 5000, 100 }, { 100, 904, 200 }, { 200, 5123, 300 } };
	const struct sample later[] = { { 0, 5000, 100 }, { 100, 904, 200 }, { 200, 914, 300 }, { 300, 5040, 400 } };

	monotonic_add_samples(&monotonic, &bits_64, &leaps, good, 3);
	assert_int_equal(monotonic.backward, 1);
	assert_int_equal(monotonic.leaps, 0);
	monotonic_add_samples(&monotonic, &bits_64, &leaps, beyond, 3);
	assert_int_equal(monotonic.leaps, 1);
	monotonic_add_samples(&monotonic, &bits_64, &leaps, later, 4);
	assert_int_equal(monotonic.leaps, 2);
}
