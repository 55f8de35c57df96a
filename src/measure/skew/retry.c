/*
 * Repeats the ping-pongs of pairs without a good result. On a busy host, the two virtual cores of a pair may never have
 * run at the same time. See pair_pass.h.
 */
#include "measure/skew/pair_pass.h"

/*
 * Number of round trips in a repeated ping-pong. Unlike in a first ping-pong, the number is not smaller in short runs,
 * because few pairs are repeated.
 */
#define TRIPS_AGAIN 1000
/* limit of the time for repeated ping-pongs, which is not part of the run's plan */
#define TIME_MAX_NS (10 * SURVEY_NS_PER_S)
/*
 * A pair whose interval is wider than this many median widths was disturbed. Different distances between cores explain
 * only a smaller factor.
 */
#define WIDE_FACTOR 4
/*
 * A ping-pong whose interval has at most this width is never repeated. The width is the duration of two messages, one
 * in each direction. A message takes only 197 ns between the sockets of an EPYC 7R13 (tables of
 * nviennot/core-to-core-latency).
 */
#define WIDE_NS     20000

static size_t
count_pairs_narrower_than(const struct offsets *offsets, uint64_t width)
{
	size_t pairs = pair_schedule_count_pairs(offsets->kind, offsets->cores), count = 0;

	for (size_t i = 0; i < pairs; i++)
		count += offset_width(offsets->pairs[i]) < width;
	return count;
}

/* Returns the median width of the known intervals. It is found bit by bit, because there is no memory for sorting. */
static uint64_t
median_width_ticks(const struct offsets *offsets)
{
	size_t known = count_pairs_narrower_than(offsets, UINT64_MAX);
	uint64_t median = 0;

	for (uint64_t bit = UINT64_C(1) << 63; bit; bit >>= 1)
		if (count_pairs_narrower_than(offsets, median | bit) <= known / 2)
			median |= bit;
	return median;
}

/* Returns the largest width of an offset's interval at which the ping-pong is not repeated. */
static uint64_t
allowed_width_ticks(const struct survey_pair_pass *pass)
{
	uint64_t median = median_width_ticks(pass->offsets);
	uint64_t wide = scale_ns_to_ticks(&pass->survey->scale, WIDE_NS);

	return median < wide / WIDE_FACTOR ? WIDE_FACTOR * median : wide;
}

struct candidate {
	uint64_t width;
	size_t index; /* index of the pair */
};

/*
 * Returns true if A is repeated before B, because its interval is wider. Equal intervals are repeated in the order of
 * their index.
 */
static bool
must_repeat_pair_earlier(struct candidate a, struct candidate b)
{
	return a.width > b.width || (a.width == b.width && a.index < b.index);
}

/* Sets NEXT to the first pair after LAST whose interval is wider than ALLOWED. Returns false if there is none. */
static bool
find_next_wide_pair(const struct survey_pair_pass *pass, uint64_t allowed, const struct candidate *last,
	  struct candidate *next)
{
	const struct offsets *offsets = pass->offsets;
	size_t pairs = pair_schedule_count_pairs(offsets->kind, offsets->cores);
	bool found = false;

	for (size_t i = 0; i < pairs; i++) {
		struct candidate candidate = { offset_width(offsets->pairs[i]), i };
		size_t a, b;

		if (candidate.width <= allowed || (last && !must_repeat_pair_earlier(*last, candidate)) ||
		    (found && !must_repeat_pair_earlier(candidate, *next)))
			continue;
		pair_schedule_pair_at_index(offsets->kind, i, &a, &b);
		if (!survey_pair_pass_are_both_alive(pass, a, b))
			continue;
		*next = candidate;
		found = true;
	}
	return found;
}

/* Returns the latest time at which a repetition may start, in ns since the start of the pass. */
static uint64_t
latest_begin_of_repetition_ns(const struct survey_pair_pass *pass)
{
	return survey_smaller(survey_pair_pass_elapsed_ns(pass) + TIME_MAX_NS, survey_max_pair_pass_ns(pass->survey->report));
}

static void
repeat_pingpong_of_pair(struct survey_pair_pass *pass, size_t index)
{
	size_t a, b;

	pair_schedule_pair_at_index(pass->offsets->kind, index, &a, &b);
	survey_pair_pass_add_pair_to_batch(pass, a, b, 0);
	survey_pair_pass_run_batch(pass, 1);
	pass->repeats++;
	survey_pair_pass_show_progress(pass, pass->plan_ns);
}

/*
 * Repeats the ping-pong of each pair whose interval is wider than ALLOWED, in descending order of width. A pair whose
 * new interval is narrower, but still wider than ALLOWED, may be repeated again. Returns true if any interval became
 * narrower.
 */
static bool
repeat_wide_pairs(struct survey_pair_pass *pass, uint64_t allowed, uint64_t end_ns)
{
	size_t left = pair_schedule_count_pairs(pass->offsets->kind, pass->offsets->cores);
	struct candidate last, next;
	bool any = false, got_narrower = false;

	for (; left > 0 && pass->repeats < SURVEY_REPEATS_MAX && !survey_end_run_if_due(pass->survey) &&
	       !survey_is_core_pass_over(pass->survey, pass->end_tsc) &&
	       survey_pair_pass_elapsed_ns(pass) < end_ns &&
	       find_next_wide_pair(pass, allowed, any ? &last : NULL, &next); left--) {
		repeat_pingpong_of_pair(pass, next.index);
		got_narrower |= offset_width(pass->offsets->pairs[next.index]) < next.width;
		last = next;
		any = true;
	}
	return got_narrower;
}

void
survey_pair_pass_repeat_wide_pairs(struct survey_pair_pass *pass)
{
	uint64_t end_ns = latest_begin_of_repetition_ns(pass);

	if (!survey_pair_pass_is_over(pass))
		return;
	pass->trips_max = TRIPS_AGAIN;
	for (unsigned i = 0; i < SURVEY_RETRY_SWEEPS && repeat_wide_pairs(pass, allowed_width_ticks(pass), end_ns); i++)
		;
}
