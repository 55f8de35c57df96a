/*
 * Simulated measurement passes over random cores with known true offsets. A statement about a core must be true at the
 * time of this core's ping-pong. Only cores in a minority may be named. The tests count the wrong statements, and each
 * count must be 0.
 */
#include <stdio.h>
#include "test.h"
#include "sync/outliers.h"
#include "offsets_literal.h"
#include "sync/offsets.h"
#include "random.h"

#define CORES_MAX 16
#define PAIRS_MAX (CORES_MAX * (CORES_MAX - 1) / 2)
#define TRIALS 1000
#define ROUND_TICKS 1000000

struct core {
	int64_t ticks;          /* offset of the core's TSC from the simulated time, in ticks */
	int64_t ppm;            /* rate error of the core's TSC, in ppm */
	int64_t step, step_tsc; /* size of the step of the TSC in ticks, and TSC value at which it steps */
	bool wide;              /* true if the core's ping-pongs have wide intervals */
};

struct picture {
	struct offsets offsets;
	struct offset pairs[PAIRS_MAX];
	uint64_t moved_ticks[PAIRS_MAX], tsc[PAIRS_MAX];
	struct moment moments[PAIRS_MAX];
	struct offset places[CORES_MAX];
	uint8_t outlier[CORES_MAX];
	struct offsets_summary summary;
};

/* Returns the pair's drift from the first pass to the last. */
static struct offset
ask(const void *context, size_t a, size_t b)
{
	const struct picture *pictures = context;

	return offsets_drift_ppb(&pictures[0].offsets, &pictures[1].offsets, a, b);
}

struct trial {
	uint64_t seed;
	size_t cores;
	struct core core[CORES_MAX];
	struct picture pictures[2]; /* results of the first and of the last pass */
	uint8_t moved[CORES_MAX];
	struct outliers found;
};

static uint64_t
between(struct trial *trial, uint64_t low, uint64_t high)
{
	return low + random_next(&trial->seed) % (high - low + 1);
}

static void
begin(struct trial *trial, uint64_t seed, size_t cores_min, size_t cores_max)
{
	memset(trial, 0, sizeof(*trial));
	trial->seed = seed * 0x9e3779b97f4a7c15u + 1;
	for (unsigned i = 0; i < 8; i++)
		random_next(&trial->seed);
	trial->cores = between(trial, cores_min, cores_max);
}

static int64_t
truth_of(const struct core *core, uint64_t tsc)
{
	return core->ticks + core->ppm * (int64_t)(tsc / 1000) / 1000 + ((int64_t)tsc >= core->step_tsc ? core->step : 0);
}

static int64_t
truth(const struct trial *trial, size_t a, size_t b, uint64_t tsc)
{
	return truth_of(&trial->core[b], tsc) - truth_of(&trial->core[a], tsc);
}

/*
 * Returns the delay in ticks of the fastest message in one direction. Most delays are short, and 1 in 16 is four times
 * as long. If WIDE is true, the delay is always long.
 */
static int64_t
delay(struct trial *trial, bool wide)
{
	if (wide)
		return (int64_t)between(trial, 20000, 90000);
	return (int64_t)between(trial, 60, 200) << (random_next(&trial->seed) % 16 ? 0 : 2);
}

/* Simulates a whole pass that starts at BEGIN_TSC, one round after another. */
static void
play(struct trial *trial, struct picture *picture, enum pair_schedule kind, uint64_t begin_tsc)
{
	size_t rounds = pair_schedule_count_rounds(kind, trial->cores);

	picture->offsets = (struct offsets){ .kind = kind, .cores = trial->cores, .pairs = picture->pairs,
					     .moved_ticks = picture->moved_ticks, .moments = picture->moments,
					     .begin_tsc = begin_tsc,
					     .end_tsc = begin_tsc + rounds * ROUND_TICKS };
	offsets_clear(&picture->offsets);
	for (size_t round = 0; round < rounds; round++)
		for (size_t a = 0; a < trial->cores; a++) {
			size_t b = pair_schedule_get_partner(kind, trial->cores, round, a);
			uint64_t tsc = begin_tsc + round * ROUND_TICKS + ROUND_TICKS / 2;
			bool wide = b < trial->cores && (trial->core[a].wide || trial->core[b].wide);

			if (b == PAIR_SCHEDULE_IDLE || b < a)
				continue;
			picture->tsc[pair_schedule_index_of_pair(kind, trial->cores, a, b)] = tsc;
			literal_set_pingpong_time(&picture->offsets, a, b,
						  (struct moment){ tsc - ROUND_TICKS / 4, tsc + ROUND_TICKS / 4 });
			literal_set_offset(&picture->offsets, a, b,
				    (struct offset){ truth(trial, a, b, tsc) - delay(trial, wide),
						     truth(trial, a, b, tsc) + delay(trial, wide) });
		}
	picture->summary = offsets_calculate_core_offsets(&picture->offsets, picture->places, picture->outlier);
}

/*
 * Returns the number of cores whose reported interval of the offset from the boot core does not contain the true offset
 * at the time of the ping-pong.
 */
static size_t
count_wrong_places(const struct trial *trial, const struct picture *picture)
{
	size_t wrong = 0;

	for (size_t i = 1; i < trial->cores; i++) {
		uint64_t tsc = picture->tsc[pair_schedule_index_of_pair(picture->offsets.kind, trial->cores, 0, i)];
		int64_t was = truth(trial, 0, i, tsc);

		wrong += picture->places[i].low > was || picture->places[i].high < was;
	}
	return wrong;
}

static size_t
count_named_but(const struct trial *trial, const struct picture *picture, size_t guilty)
{
	size_t count = 0;

	for (size_t i = 0; i < trial->cores; i++)
		count += picture->outlier[i] && i != guilty && !picture->summary.no_majority;
	return count;
}

static void
report_counts(const char *what, size_t wrong, size_t named)
{
	if (wrong || named)
		printf("%s: of %d runs, %zu places exclude the truth, %zu healthy cores are named\n", what, TRIALS, wrong,
		       named);
}

static void
drift(struct trial *trial, size_t guilty)
{
	trial->core[guilty].ppm = (int64_t)between(trial, 0, 2000) - 1000;
}

static void
step(struct trial *trial, size_t guilty)
{
	trial->core[guilty].step = (int64_t)(1u << between(trial, 6, 24));
	trial->core[guilty].step_tsc = (int64_t)between(trial, 1000, trial->cores * ROUND_TICKS);
}

static void
one_core_gives_no_wrong_offset(void (*move)(struct trial *trial, size_t guilty), const char *name)
{
	struct trial trial;
	size_t wrong = 0, named = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		begin(&trial, seed, 3, CORES_MAX);
		size_t guilty = between(&trial, 0, trial.cores - 1);

		move(&trial, guilty);
		play(&trial, &trial.pictures[0], PAIR_SCHEDULE_ALL, 1000);
		wrong += count_wrong_places(&trial, &trial.pictures[0]);
		named += count_named_but(&trial, &trial.pictures[0], guilty);
	}
	report_counts(name, wrong, named);
	assert_int_equal(wrong, 0);
	assert_int_equal(named, 0);
}

/* One core drifts by up to 100 ppm. It may be the boot core. */
TEST(a_core_that_drifts_gives_no_other_core_a_wrong_offset)
{
	one_core_gives_no_wrong_offset(drift, __func__);
}

/* One core steps at a random time in the pass, by a random number of ticks. */
TEST(a_core_that_steps_gives_no_other_core_a_wrong_offset)
{
	one_core_gives_no_wrong_offset(step, __func__);
}

/* If the cores form two equal halves, there is no minority. Some cores have wide intervals. */
TEST(two_halves_with_some_wide_intervals_have_no_majority)
{
	struct trial trial;
	size_t named = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		begin(&trial, seed, 2, CORES_MAX / 2);
		trial.cores *= 2;
		for (size_t i = 0; i < trial.cores; i++) {
			trial.core[i].ticks = i % 2 ? 5000 : 0;
			trial.core[i].wide = random_next(&trial.seed) % 4 == 0;
		}
		play(&trial, &trial.pictures[0], seed % 2 ? PAIR_SCHEDULE_ALL : PAIR_SCHEDULE_STAR, 1000);
		named += count_named_but(&trial, &trial.pictures[0], CORES_MAX);
	}
	report_counts(__func__, 0, named);
	assert_int_equal(named, 0);
}

/* Three groups have no majority if no group has more than half of the cores. */
TEST(three_groups_have_no_majority)
{
	struct trial trial;
	size_t named = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		begin(&trial, seed, 2, CORES_MAX / 3);
		trial.cores *= 3;
		for (size_t i = 0; i < trial.cores; i++) {
			trial.core[i].ticks = (int64_t)(i % 3) * 7000;
			trial.core[i].wide = random_next(&trial.seed) % 4 == 0;
		}
		play(&trial, &trial.pictures[0], PAIR_SCHEDULE_ALL, 1000);
		named += count_named_but(&trial, &trial.pictures[0], CORES_MAX);
	}
	report_counts(__func__, 0, named);
	assert_int_equal(named, 0);
}

#define LATER_TSC 400000000

/*
 * Simulates the first and the last pass. Returns the number of pairs whose drift interval does not contain the true
 * drift. No core may step.
 */
static size_t
follow(struct trial *trial, enum pair_schedule kind)
{
	size_t wrong = 0;

	play(trial, &trial->pictures[0], kind, 1000);
	play(trial, &trial->pictures[1], kind, LATER_TSC);
	trial->found = outliers_find(ask, trial->pictures, 0, trial->cores, trial->moved);
	for (size_t a = 0; a < trial->cores; a++)
		for (size_t b = a + 1; b < trial->cores && (!a || kind == PAIR_SCHEDULE_ALL); b++) {
			struct offset drift = offsets_drift_ppb(&trial->pictures[0].offsets, &trial->pictures[1].offsets, a, b);
			int64_t ppb = 1000 * (trial->core[b].ppm - trial->core[a].ppm);

			wrong += drift.low > ppb || drift.high < ppb;
		}
	return wrong;
}

static size_t
count_moved_but(const struct trial *trial, size_t guilty)
{
	size_t count = 0;

	for (size_t i = 0; i < trial->cores; i++)
		count += trial->moved[i] && i != guilty;
	return count;
}

/*
 * One core steps in the first pass, in the last pass, or between them. It may be the boot core. No other core may be
 * named.
 */
TEST(a_core_that_steps_makes_no_other_core_drift)
{
	struct trial trial;
	size_t named = 0, found = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		begin(&trial, seed, 2, CORES_MAX);
		size_t guilty = seed % 2 ? 0 : between(&trial, 0, trial.cores - 1);

		trial.core[guilty].step = (int64_t)(1u << between(&trial, 6, 24));
		trial.core[guilty].step_tsc = (int64_t)between(&trial, 1000, trial.cores * ROUND_TICKS);
		if (seed % 3 == 0)
			trial.core[guilty].step_tsc += LATER_TSC;
		if (seed % 7 == 0)
			trial.core[guilty].step_tsc = LATER_TSC / 2;
		follow(&trial, PAIR_SCHEDULE_ALL);
		named += count_moved_but(&trial, guilty);
		found += trial.moved[guilty];
	}
	report_counts(__func__, 0, named);
	assert_int_equal(named, 0);
	assert_in_range(found, TRIALS / 4, TRIALS);
}

TEST(a_core_that_drifts_is_named_and_every_drift_is_right)
{
	struct trial trial;
	size_t named = 0, silent = 0, wrong = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		begin(&trial, seed, 3, CORES_MAX);
		size_t guilty = between(&trial, 0, trial.cores - 1);

		for (size_t i = 0; i < trial.cores; i++)
			trial.core[i].ticks = (int64_t)between(&trial, 0, 2000000) - 1000000;
		trial.core[guilty].ppm = seed % 2 ? 50 : -50;
		wrong += follow(&trial, PAIR_SCHEDULE_ALL);
		named += count_moved_but(&trial, guilty);
		silent += !trial.moved[guilty];
	}
	report_counts(__func__, wrong, named);
	assert_int_equal(wrong, 0);
	assert_int_equal(named, 0);
	assert_int_equal(silent, 0);
}

/*
 * The cores form two halves or three groups, and each group has its own rate. Some cores have wide intervals. No group
 * has more than half of the cores.
 */
TEST(three_groups_that_drift_and_halves_have_no_majority)
{
	struct trial trial;
	size_t named = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		size_t groups = 2 + seed % 2;

		begin(&trial, seed, 1, CORES_MAX / groups);
		trial.cores *= groups;
		for (size_t i = 0; i < trial.cores; i++) {
			trial.core[i].ppm = (int64_t)(i % groups) * 40;
			trial.core[i].wide = random_next(&trial.seed) % 4 == 0;
		}
		follow(&trial, PAIR_SCHEDULE_ALL);
		named += count_moved_but(&trial, CORES_MAX);
	}
	report_counts(__func__, 0, named);
	assert_int_equal(named, 0);
}

/* If all intervals are narrow, the majority names each core of the minority. */
TEST(a_minority_is_named_and_no_other_core)
{
	struct trial trial;
	size_t silent = 0, named = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		begin(&trial, seed, 3, CORES_MAX);
		size_t sick = between(&trial, 1, (trial.cores - 1) / 2), from = between(&trial, 0, trial.cores - sick);

		for (size_t i = from; i < from + sick; i++)
			trial.core[i].ticks = 20000;
		play(&trial, &trial.pictures[0], PAIR_SCHEDULE_ALL, 1000);
		for (size_t i = 0; i < trial.cores; i++) {
			bool guilty = i >= from && i < from + sick;

			named += !guilty && trial.pictures[0].outlier[i];
			silent += guilty && !trial.pictures[0].outlier[i];
		}
	}
	report_counts(__func__, 0, named);
	assert_int_equal(silent, 0);
	assert_int_equal(named, 0);
}
