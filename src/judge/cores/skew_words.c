/* What the sentences of offsets and drifts share. See skew_internal.h. */
#include "skew_internal.h"

#define NS_PER_MS 1000000
#define AT_MS     100 /* what takes longer is "between" two moments */

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
		text_printf(&text, " %zu more core%s likewise.", off - count,
			    off - count == 1 ? "" : "s");
	return rest;
}

static bool
is_long(const struct view *view, struct moment moment)
{
	return report_moment_ns(view->report, moment.end_tsc) / NS_PER_MS >=
	       report_moment_ns(view->report, moment.begin_tsc) / NS_PER_MS + AT_MS;
}

void
skew_put_time(struct text *text, const struct view *view, struct moment moment)
{
	if (is_long(view, moment)) {
		report_put_moment(text, view->report, moment.begin_tsc);
		text_put(text, " to ");
	}
	report_put_moment(text, view->report, moment.end_tsc);
}

const char *
skew_put_moment(const struct view *view, struct moment moment, char moments[SKEW_MOMENTS_SIZE])
{
	struct text text;

	text_init(&text, moments, SKEW_MOMENTS_SIZE);
	if (is_long(view, moment)) {
		text_put(&text, "between ");
		report_put_moment(&text, view->report, moment.begin_tsc);
		text_put(&text, " and ");
	} else {
		text_put(&text, "at ");
	}
	report_put_moment(&text, view->report, moment.end_tsc);
	return moments;
}
