/* The readings that a rate is calculated from: the readings of a track between two times. */
#include "test.h"
#include "measure/rates/clock_tracker.h"

static struct report report;
static struct survey survey;

/* Returns a track with readings that begin at these TSC values. The first and the last are its ends. */
static struct survey_track *
with_looks(const uint64_t *begins, size_t count)
{
	struct survey_track *track = &survey.tracks[0];

	report = (struct report){ .clock_count = 1, .clocks = { { .clock = { .id = "hpet", .main = "hpet" } } } };
	survey = (struct survey){ .report = &report };
	track->entry = &report.clocks[0];
	track->look_count = count;
	for (size_t i = 0; i < count; i++)
		track->looks[i] = (struct survey_look){ .tightest = { begins[i], i, begins[i] + 1 },
							.number = i + 1 < count ? i : 0 };
	return track;
}

static struct rate_ends
from_to(const struct survey_track *track, size_t from, size_t to)
{
	return survey_ends(&survey, track, &track->looks[from].tightest, &track->looks[to].tightest);
}

TEST(a_rate_has_all_looks_of_its_time_and_no_others)
{
	static const uint64_t begins[] = { 100, 200, 300, 400, 500 };
	const struct survey_track *track = with_looks(begins, 5);

	for (size_t from = 0; from < 5; from++)
		for (size_t to = from; to < 5; to++) {
			struct rate_ends ends = from_to(track, from, to);

			assert_int_equal(ends.count, to - from + 1);
			for (size_t i = 0; i < ends.count; i++)
				assert_int_equal(ends.ends[i].sample.ticks, from + i);
		}
}

/* The TSC steps back by 150 after the reading at 300. */
TEST(looks_before_the_latest_time_are_left_out)
{
	static const uint64_t begins[] = { 100, 200, 300, 250, 400 };
	struct rate_ends ends = from_to(with_looks(begins, 5), 0, 4);

	assert_int_equal(ends.count, 4);
	assert_int_equal(ends.ends[2].sample.begin, 300);
	assert_int_equal(ends.ends[3].sample.begin, 400);
}
