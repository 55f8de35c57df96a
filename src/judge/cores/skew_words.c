/* Phrases that the findings on offsets and drifts share. See tsc_sync.h. */
#include "judge/cores/tsc_sync.h"

#define NS_PER_MS 1000000
#define AT_MS     100 /* a longer measurement is reported as "between" two times */

void
skew_set_distance(struct finding *finding, struct distance distance, uint64_t limit)
{
	int64_t near = distance.near > INT64_MAX ? INT64_MAX : (int64_t)distance.near;

	rules_set_figure(finding, near, near,
			 distance.far > INT64_MAX ? INT64_MAX : (int64_t)distance.far, limit);
}

const char *
skew_put_rest(char rest[SKEW_REST_SIZE], size_t count, size_t off)
{
	struct text text;

	text_init(&text, rest, SKEW_REST_SIZE);
	if (count == SKEW_NAMED_MAX && off > count)
		text_printf(&text, " %zu more core%s: the same.", off - count,
			    off - count == 1 ? "" : "s");
	return rest;
}

/*
 * From the earliest time that MOMENT's start may be to the latest that its end may be, in ns since the run's
 * start.
 */
struct stretch {
	uint64_t begin_ns, end_ns;
};

static struct stretch
stretch_of(const struct view *view, struct moment moment)
{
	return (struct stretch){ report_moment_ns(view->report, moment.begin_tsc),
				 report_moment_ns_max(view->report, moment.end_tsc) };
}

static bool
is_long(struct stretch stretch)
{
	return stretch.end_ns / NS_PER_MS >= stretch.begin_ns / NS_PER_MS + AT_MS;
}

void
skew_put_time(struct text *text, const struct view *view, struct moment moment)
{
	struct stretch stretch = stretch_of(view, moment);

	if (is_long(stretch)) {
		report_put_run_time(text, stretch.begin_ns);
		text_put(text, " to ");
	}
	report_put_run_time(text, stretch.end_ns);
}

const char *
skew_put_moment(const struct view *view, struct moment moment, char moments[SKEW_MOMENTS_SIZE])
{
	struct stretch stretch = stretch_of(view, moment);
	struct text text;

	text_init(&text, moments, SKEW_MOMENTS_SIZE);
	if (is_long(stretch)) {
		text_put(&text, "between ");
		report_put_run_time(&text, stretch.begin_ns);
		text_put(&text, " and ");
	} else {
		text_put(&text, "at ");
	}
	report_put_run_time(&text, stretch.end_ns);
	return moments;
}
