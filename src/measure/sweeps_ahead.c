/*
 * Computes how far each clock is ahead of the TSC since it last fitted, and groups the clocks by that. See
 * sweeps.h.
 */
#include "measure/sweeps.h"

#include "base/text.h"

/* A real RTC's updates start at its own time and take a while. */
#define EDGE_UNEVEN_NS (5 * (int64_t)SURVEY_NS_PER_MS)
/* An RTC that appears to be further behind than this is taken to be ahead, modulo its wrap. */
#define EDGE_BACK_NS   (-5 * (int64_t)SURVEY_NS_PER_S)
#define TICKS_FAR      (INT64_C(1) << 58) /* a larger difference is garbage */
/*
 * QEMU's emulated TSC never goes back. If a reading is below the one before, QEMU moves the TSC ahead
 * permanently, by milliseconds if several cores read it.
 */
#define PUSHED_NS      (100 * (int64_t)SURVEY_NS_PER_MS)

bool
steps_is_compared(const struct survey *survey, size_t i)
{
	return survey_can_vouch(survey, &survey->report->clocks[i]) && survey->steps[i].implied.known;
}

bool
steps_is_edge_clock(const struct survey *survey, size_t i)
{
	return survey->report->clocks[i].clock.edges_only;
}

int64_t
steps_clamped(int64_t ticks)
{
	return ticks > TICKS_FAR ? TICKS_FAR : ticks < -TICKS_FAR ? -TICKS_FAR : ticks;
}

/* TICKS of clock I in TSC ticks. */
static int64_t
as_tsc_ticks(const struct survey *survey, size_t i, int64_t ticks, enum scale_rounding rounding)
{
	const struct rate *claimed = &survey->report->clocks[i].clock.claimed;
	uint64_t size = ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks;
	uint64_t tsc = scale_ratio((unsigned __int128)size * survey->steps[i].implied.value, claimed->den,
				   (unsigned __int128)claimed->num * SURVEY_MICROHZ_PER_HZ, rounding);

	tsc = tsc < (uint64_t)TICKS_FAR ? tsc : (uint64_t)TICKS_FAR;
	return ticks < 0 ? -(int64_t)tsc : (int64_t)tsc;
}

static bool
is_pushed(const struct survey *survey)
{
	return report_is_emulated(survey->report) && survey->report->cores_started > 1;
}

/* How far clock I is ahead of the TSC since it last fitted, in ns, modulo its wrap. */
static struct offset
ahead(const struct survey *survey, size_t i, int64_t edge_late_ns)
{
	const struct survey_step *step = &survey->steps[i];
	const struct report_clock *entry = &survey->report->clocks[i];
	const struct rate_interval *rate = &step->implied;
	int64_t least = steps_clamped((int64_t)(step->now.begin - step->then.end));
	int64_t most = steps_clamped((int64_t)(step->now.end - step->then.begin));
	int64_t ticks = entry->clock.wrap_ticks == UINT64_MAX ? (int64_t)(step->now.ticks - step->then.ticks) :
			(int64_t)clock_elapsed_ticks(&entry->clock, step->then.ticks, step->now.ticks);
	int64_t slack = entry->resolution.steps ? (int64_t)entry->resolution.smallest_ticks : 1;
	/* Between its edges an edge clock has counted up to a tick more than it shows. */
	int64_t less = entry->clock.edges_only ? !step->then_at_edge : slack;
	int64_t more = entry->clock.edges_only ? !step->at_edge : slack;
	int64_t by_rate, late_ns = 0;
	uint64_t size;
	struct offset offset = { as_tsc_ticks(survey, i, ticks - less, SCALE_DOWN),
				 as_tsc_ticks(survey, i, ticks + more, SCALE_UP) };

	/* The uncertainty of the rate applies to the whole time, including the time before a wrap. */
	size = most < 0 ? 0 - (uint64_t)most : (uint64_t)most;
	size = offset.high > 0 && (uint64_t)offset.high > size ? (uint64_t)offset.high : size;
	by_rate = steps_clamped((int64_t)scale_mul_div_up(size, rate->high - rate->low, rate->low));
	if (entry->clock.edges_only)
		late_ns = !survey->report->hypervisor[0] ? EDGE_UNEVEN_NS : edge_late_ns + (is_pushed(survey) ? PUSHED_NS : 0);
	return (struct offset){ scale_ns_down(&survey->scale, steps_clamped(offset.low - most - by_rate)) - late_ns,
				scale_ns_up(&survey->scale, steps_clamped(offset.high - least + by_rate)) + late_ns };
}

/* Reduces an edge clock's offset by whole wraps, to the range from EDGE_BACK_NS up. */
static struct offset
without_wraps(struct offset offset, int64_t wrap_ns)
{
	int64_t by = (offset.high - EDGE_BACK_NS) / wrap_ns;

	by -= offset.high - EDGE_BACK_NS < by * wrap_ns;
	return (struct offset){ offset.low - by * wrap_ns, offset.high - by * wrap_ns };
}

static uint64_t
wrap_ns(const struct survey *survey, size_t i)
{
	const struct clock *clock = &survey->report->clocks[i].clock;

	if (clock->wrap_ticks == UINT64_MAX)
		return 0;
	return scale_ns(&survey->scale, (uint64_t)as_tsc_ticks(survey, i, (int64_t)clock->wrap_ticks + 1, SCALE_NEAREST));
}

/* Returns true if clock I may have wrapped in its step: see clock_comparable(). */
static bool
is_too_long(const struct survey *survey, size_t i, uint64_t wrap_ns)
{
	const struct survey_step *step = &survey->steps[i];
	int64_t ticks = steps_clamped((int64_t)(step->now.end - step->then.begin));

	return wrap_ns && scale_ns_up(&survey->scale, ticks) > (int64_t)wrap_ns / 4 && !steps_is_edge_clock(survey, i);
}

struct discontinuity
steps_find(const struct survey *survey, int64_t edge_late_ns, uint64_t floor_ns)
{
	struct discontinuity_clock clocks[STEPS_TSC + 1] = { { .known = false } };

	for (size_t i = 0; i < survey->report->clock_count; i++) {
		if (!steps_is_compared(survey, i) || !survey->steps[i].then.end)
			continue;
		clocks[i] = (struct discontinuity_clock){ true, ahead(survey, i, edge_late_ns), wrap_ns(survey, i) };
		/* A clock first read within the step does not cover all of it. */
		clocks[i].known = !is_too_long(survey, i, clocks[i].wrap_ns) &&
				  survey->steps[i].then.begin <= survey->step_tsc;
		if (!steps_is_edge_clock(survey, i))
			continue;
		/* Two readings between edges are uncertain by two ticks, and a stopped edge clock has no edge. */
		clocks[i].known &= survey->steps[i].then_at_edge || survey->steps[i].at_edge;
		clocks[i].elapsed = without_wraps(clocks[i].elapsed, (int64_t)clocks[i].wrap_ns);
		clocks[i].wrap_ns = 0;
	}
	clocks[STEPS_TSC] = (struct discontinuity_clock){ true, { is_pushed(survey) ? -PUSHED_NS : 0, 0 }, 0 };
	return discontinuity_find(clocks, STEPS_TSC + 1, floor_ns);
}

int64_t
steps_hidden_ns(const struct survey *survey, size_t i)
{
	struct offset by;

	if (!steps_is_edge_clock(survey, i) || !survey->report->hypervisor[0])
		return 0;
	by = without_wraps(ahead(survey, i, STEPS_EDGE_LATEST_NS), (int64_t)wrap_ns(survey, i));
	return by.high > 0 ? by.high : 0;
}
