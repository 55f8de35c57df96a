/*
 * Rates: every clock over one shared window that begins and ends at an edge of the RTC's seconds, where
 * there is one. No clock is the reference; see rate.h for how theirs become one rate of the TSC.
 */
#include "survey_internal.h"

#include "text.h"

#define END_SAMPLES       128 /* brackets at each end of the window, of which the tightest counts */
#define FOLLOW_SAMPLES    4   /* readings that only keep count of a counter's wraps */
#define FOLLOW_NS         (10 * SURVEY_NS_PER_MS) /* the PIT wraps in 55 ms: seldom enough, often enough */
#define PROVISIONAL_NS    (5 * SURVEY_NS_PER_MS)
#define PROVISIONAL_SAMPLES 64
#define PROVISIONAL_TURNS 4096  /* of so many samples: 20 ms at 80 ns each; a clock that takes longer stands */
#define EDGE_SAMPLES      64    /* of an edge clock, between two looks at the time */
#define EDGE_BOUND_NS     (1200 * SURVEY_NS_PER_MS) /* a second and a fifth without an edge: it stands */
#define HIGHEST_TSC_HZ    UINT64_C(10000000000) /* for bounds while nothing certain is known of the TSC */
#define VOTES_MIN         2 /* clocks that agree on the TSC before a bound relies on it */
#define PROVISIONAL_TSC_TICKS (UINT64_C(1) << 32) /* a second or so: a clock so slow to read tells nothing */
#define EDGE_QUIET_NS     (3 * SURVEY_NS_PER_MS) /* nothing else is done so close to an expected edge */
#define TURNS_PER_MS      1000  /* no batch is shorter than a microsecond: bounds a window by count */
#define MICROHZ_PER_HZ    UINT64_C(1000000)
#define MICROHZ_PER_MILLIHZ 1000
#define ASSUMED_TSC_HZ    UINT64_C(1000000000)

struct track { /* one clock through the window */
	struct report_clock *entry; /* NULL: not followed */
	struct rate_window window;
	uint64_t raw, begin, tsc; /* the latest reading, and the TSC readings around it */
	uint64_t ticks;     /* from the first reading to the latest, wraps undone */
	bool edge_seen;     /* edge clocks: the window's first end is known */
};

static uint64_t
expected_ticks(const struct survey *survey, const struct clock *clock, uint64_t tsc_ticks)
{
	uint64_t ns = scale_ns(&survey->scale, tsc_ticks);

	return scale_mul_div(ns, clock->claimed.num, clock->claimed.den * SURVEY_NS_PER_S);
}

/* Moves TRACK on to a newer reading. */
static void
track_advance(const struct survey *survey, struct track *track, const struct sample *sample)
{
	const struct clock *clock = &track->entry->clock;

	track->ticks += rate_unwrap(clock, track->raw, sample->ticks,
				    expected_ticks(survey, clock, sample->end - track->tsc));
	track->raw = sample->ticks;
	track->begin = sample->begin;
	track->tsc = sample->end;
}

static void
track_begin(struct track *track, struct report_clock *entry, const struct sample *sample)
{
	*track = (struct track){ .entry = entry, .raw = sample->ticks, .begin = sample->begin,
				 .tsc = sample->end };
}

/* One end of the window for a clock that moves faster than it is read. */
static struct rate_end
track_end(struct survey *survey, struct track *track)
{
	const struct clock *clock = &track->entry->clock;
	struct rate_end end;
	struct sample tightest;

	survey_batch(survey, clock, END_SAMPLES);
	resolution_fold(&track->entry->resolution, clock, survey_trust_ticks(survey, clock), survey->samples,
			END_SAMPLES);
	end = rate_tightest(survey->samples, END_SAMPLES);
	tightest = (struct sample){ end.begin, end.ticks, end.end };
	track_advance(survey, track, &tightest);
	end.ticks = track->ticks;
	return end;
}

/* What the TSC's rate would be by this clock over a few milliseconds, for planning only. */
static struct rate_interval
provisional(struct survey *survey, struct report_clock *entry)
{
	const struct clock *clock = &entry->clock;
	uint64_t wanted = scale_mul_div(PROVISIONAL_NS, clock->claimed.num,
					clock->claimed.den * SURVEY_NS_PER_S);
	struct rate_window window = { .slack_ticks = 1 };
	uint64_t ticks = 0, raw;

	survey_batch(survey, clock, PROVISIONAL_SAMPLES);
	window.first = rate_tightest(survey->samples, PROVISIONAL_SAMPLES);
	raw = window.first.ticks;
	window.first.ticks = 0;
	for (unsigned turn = 0; turn < PROVISIONAL_TURNS && ticks < wanted; turn++) {
		if (survey->samples[PROVISIONAL_SAMPLES - 1].end - window.first.begin > PROVISIONAL_TSC_TICKS)
			break;
		survey_batch(survey, clock, PROVISIONAL_SAMPLES);
		window.last = rate_tightest(survey->samples, PROVISIONAL_SAMPLES);
		ticks += clock_elapsed_ticks(clock, raw, window.last.ticks);
		raw = window.last.ticks;
		window.last.ticks = ticks;
	}
	if (ticks < wanted)
		return (struct rate_interval){ .known = false };
	return rate_implied_tsc(&window, clock->claimed);
}

static bool
can_vouch_for_tsc(const struct report_clock *entry)
{
	return survey_usable(entry) && report_clock_is_main(entry) && entry->clock.claimed.den &&
	       !text_equal(entry->clock.id, "tsc");
}

static struct report_clock *
find_clock(struct report *report, const char *id)
{
	for (size_t i = 0; i < report->clock_count; i++)
		if (text_equal(report->clocks[i].clock.id, id))
			return &report->clocks[i];
	return NULL;
}

void
survey_prepare(struct survey *survey)
{
	struct report *report = survey->report;
	struct rate_interval implied[REPORT_CLOCKS_MAX] = { { .known = false } };
	const struct report_clock *tsc = find_clock(report, "tsc");
	struct rate hz = { ASSUMED_TSC_HZ, 1 };
	size_t best, votes = 0;
	struct scale bound;

	for (size_t i = 0; i < report->clock_count; i++) {
		struct report_clock *entry = &report->clocks[i];

		resolution_clear(&entry->resolution);
		monotonic_clear(&entry->monotonic);
		latency_clear(entry->latency);
		if (!survey_usable(entry))
			continue;
		survey_batch(survey, &entry->clock, SURVEY_WARM_UP);
		if (can_vouch_for_tsc(entry) && !entry->clock.edges_only)
			implied[i] = provisional(survey, entry);
		votes += implied[i].known;
	}
	best = rate_consensus(implied, report->clock_count);
	if (best < report->clock_count)
		hz = (struct rate){ implied[best].value, MICROHZ_PER_HZ };
	else if (tsc && tsc->clock.claimed.den)
		hz = tsc->clock.claimed;
	scale_init(&survey->scale, hz);
	scale_init(&bound, votes >= VOTES_MIN ? hz : (struct rate){ HIGHEST_TSC_HZ, 1 });
	survey->edge_bound_ticks = scale_ticks(&bound, EDGE_BOUND_NS);
	survey->done_ns = 0;
	survey->total_ns = survey_plan_ns(report, survey->crew->count);
}

/* A step that was seen between two readings, which may be of two batches. */
static void
fold_step(struct track *track, uint64_t before_ticks, const struct sample *after)
{
	const struct sample pair[] = { { after->begin, before_ticks, after->begin }, *after };

	resolution_fold(&track->entry->resolution, &track->entry->clock, 0, pair, 2);
}

/* Looks for an edge in COUNT samples of an edge clock and takes it for an end of the window. */
static bool
track_edge(struct survey *survey, struct track *track, size_t count)
{
	bool seen = false;

	for (size_t i = 0; i < count; i++) {
		const struct sample *sample = &survey->samples[i];
		uint64_t raw = track->raw, begin = track->begin;

		track_advance(survey, track, sample);
		if (sample->ticks != raw) {
			track->window.last = (struct rate_end){ begin, sample->end, track->ticks };
			fold_step(track, raw, sample);
			if (!track->edge_seen)
				track->window.first = track->window.last;
			track->edge_seen = seen = true;
		}
	}
	return seen;
}

/* The clocks of one window, and which of them is looked at all the time. */
struct watch {
	struct track *tracks;
	size_t count;
	uint64_t next_tsc; /* when the others are to be looked at again */
};

/* Looks at the clocks that are not edge clocks, often enough to keep count of their wraps. */
static void
follow_others(struct survey *survey, struct watch *watch, uint64_t now_tsc)
{
	if (now_tsc < watch->next_tsc)
		return;
	watch->next_tsc = now_tsc + scale_ticks(&survey->scale, FOLLOW_NS);
	for (size_t i = 0; i < watch->count; i++) {
		struct track *track = &watch->tracks[i];

		if (!track->entry || track->entry->clock.edges_only)
			continue;
		survey_batch(survey, &track->entry->clock, FOLLOW_SAMPLES);
		track_advance(survey, track, &survey->samples[FOLLOW_SAMPLES - 1]);
	}
}

/*
 * Waits for the next edge of an edge clock, at most EDGE_BOUND_NS; a clock without one is stuck. The others are
 * followed meanwhile, but not in the first moments: then the edge is near.
 */
static bool
wait_for_edge(struct survey *survey, struct track *track, struct watch *watch)
{
	const struct clock *clock = &track->entry->clock;
	uint64_t turns = EDGE_BOUND_NS / SURVEY_NS_PER_MS * TURNS_PER_MS;
	uint64_t start = track->tsc;

	watch->next_tsc = start + scale_ticks(&survey->scale, FOLLOW_NS);
	for (uint64_t turn = 0; turn < turns && !survey_expired(survey); turn++) {
		survey_batch(survey, clock, EDGE_SAMPLES);
		if (track_edge(survey, track, EDGE_SAMPLES))
			return true;
		if (track->tsc - start > survey->edge_bound_ticks)
			break;
		follow_others(survey, watch, track->tsc);
	}
	if (survey->report->incomplete)
		return false;
	survey_mark_stuck(track->entry, scale_ns(&survey->scale, track->tsc - start));
	return false;
}

/* Follows all clocks until the window is over; PACER is the one that is looked at between the others. */
static void
follow(struct survey *survey, struct watch *watch, struct track *pacer, uint64_t until_tsc)
{
	uint64_t turns = survey_window_ns(survey->report) / SURVEY_NS_PER_MS * TURNS_PER_MS;
	const struct clock *clock = &pacer->entry->clock;
	uint64_t now = pacer->tsc;

	for (uint64_t turn = 0; turn < turns && now < until_tsc && !survey_expired(survey); turn++) {
		survey_batch(survey, clock, EDGE_SAMPLES);
		now = survey->samples[EDGE_SAMPLES - 1].end;
		if (clock->edges_only)
			track_edge(survey, pacer, EDGE_SAMPLES);
		follow_others(survey, watch, now);
	}
}

static struct rate_interval
exactly(struct rate rate)
{
	uint64_t microhz = scale_mul_div_nearest(rate.num, MICROHZ_PER_HZ, rate.den);

	return (struct rate_interval){ true, microhz, microhz, microhz };
}

static struct interval_millihz
to_millihz(const struct rate_interval *rate)
{
	return (struct interval_millihz){
		rate->known,
		(rate->value + MICROHZ_PER_MILLIHZ / 2) / MICROHZ_PER_MILLIHZ,
		rate->low / MICROHZ_PER_MILLIHZ,
		(rate->high + MICROHZ_PER_MILLIHZ - 1) / MICROHZ_PER_MILLIHZ,
	};
}

static struct interval_ppb
to_interval_ppb(const struct rate_ppb *ppb)
{
	return (struct interval_ppb){ ppb->known, ppb->value, ppb->low, ppb->high };
}

static void
set_measured(struct report_clock *entry, const struct rate_interval *rate)
{
	struct rate_ppb error = rate_error(rate, entry->clock.claimed);

	entry->measured = to_millihz(rate);
	entry->error = to_interval_ppb(&error);
}

/* Says where too few clocks vouch for the TSC's rate to tell who is right. */
static void
tell_doubt(struct report *report, const struct rate_interval *implied, size_t best)
{
	size_t known = 0, agreeing = 0;

	for (size_t i = 0; i < report->clock_count && best < report->clock_count; i++) {
		known += implied[i].known;
		agreeing += implied[i].known && implied[i].low <= implied[best].high &&
			    implied[best].low <= implied[i].high;
	}
	if (known == 1)
		report_note(report, "All times rest on %s alone: no other clock could be asked.",
			    report->clocks[best].clock.id);
	else if (known > 1 && agreeing == 1)
		report_note(report, "No two clocks agree on the TSC's rate: all times rest on %s, which may be wrong.",
			    report->clocks[best].clock.id);
}

/* The TSC's rate for the report, and how it was come by. */
static void
settle_tsc(struct survey *survey, const struct rate_interval *implied)
{
	struct report *report = survey->report;
	struct report_clock *tsc = find_clock(report, "tsc");
	size_t best = rate_consensus(implied, report->clock_count);
	struct text source;

	text_init(&source, report->tsc_source, sizeof(report->tsc_source));
	survey->tsc = (struct rate_interval){ .known = false };
	if (best < report->clock_count) {
		survey->tsc = implied[best];
		report->tsc = (struct rate){ implied[best].value, MICROHZ_PER_HZ };
		text_printf(&source, "measured against %s", report->clocks[best].clock.id);
	} else if (tsc && tsc->clock.claimed.den) {
		report->tsc = tsc->clock.claimed;
		text_put(&source, "claimed by CPUID; no other clock could be asked");
	} else {
		report->tsc = (struct rate){ 0, 0 };
		text_put(&source, "no clock could be asked");
		report_note(report, "Nothing tells the TSC's rate: every time here is in ticks of the TSC, shown as "
				    "nanoseconds.");
	}
	tell_doubt(report, implied, best);
	scale_init(&survey->scale, report->tsc);
	if (tsc && survey->tsc.known)
		set_measured(tsc, &survey->tsc);
}

static void
compare_pairs(struct report *report, const struct rate_interval *implied)
{
	report->rate_count = 0;
	for (size_t a = 0; a < report->clock_count; a++) {
		for (size_t b = a + 1; b < report->clock_count; b++) {
			struct rate_ppb ppb = rate_compare(&implied[a], &implied[b]);

			if (!ppb.known || report->rate_count == REPORT_RATES_MAX)
				continue;
			report->rates[report->rate_count++] = (struct report_rate){
				report->clocks[a].clock.id, report->clocks[b].clock.id, to_interval_ppb(&ppb)
			};
		}
	}
}

/* What each clock's window says of the TSC, and from all of them what each clock's rate is. */
static void
conclude(struct survey *survey, struct track *tracks)
{
	struct report *report = survey->report;
	struct rate_interval implied[REPORT_CLOCKS_MAX] = { { .known = false } };
	struct report_clock *tsc = find_clock(report, "tsc");

	for (size_t i = 0; i < report->clock_count; i++) {
		struct track *track = &tracks[i];

		if (!track->entry || track->entry->clock.state != CLOCK_PRESENT)
			continue;
		if (!track->entry->resolution.steps)
			continue;
		track->window.slack_ticks = track->entry->clock.edges_only ?
			0 : track->entry->resolution.smallest_ticks;
		implied[i] = rate_implied_tsc(&track->window, track->entry->clock.claimed);
	}
	settle_tsc(survey, implied);
	for (size_t i = 0; i < report->clock_count; i++) {
		if (!implied[i].known)
			continue;
		struct rate_interval rate = rate_of_clock(&tracks[i].window, &survey->tsc);

		set_measured(tracks[i].entry, &rate);
	}
	if (tsc && tsc->clock.claimed.den)
		implied[tsc - report->clocks] = exactly(tsc->clock.claimed);
	compare_pairs(report, implied);
}

/* Follows CLOCK from here on, its first end taken now. */
static void
open_window(struct survey *survey, struct track *track, struct report_clock *entry)
{
	survey_batch(survey, &entry->clock, FOLLOW_SAMPLES);
	track_begin(track, entry, &survey->samples[FOLLOW_SAMPLES - 1]);
	if (!entry->clock.edges_only)
		track->window.first = track_end(survey, track);
}

/* The window itself, from the first edge of the edge clock (EDGES, or NULL) to the one after the window. */
static void
watch_window(struct survey *survey, struct watch *watch, struct track *edges)
{
	struct report *report = survey->report;
	struct track *tracks = watch->tracks;
	struct track *pacer = edges;
	uint64_t window_ns = survey_window_ns(report);

	for (size_t i = 0; i < report->clock_count; i++) {
		struct report_clock *entry = &report->clocks[i];

		if (!can_vouch_for_tsc(entry) || entry->clock.edges_only)
			continue;
		open_window(survey, &tracks[i], entry);
		if (!edges)
			pacer = &tracks[i];
	}
	if (!pacer)
		return;
	if (edges)
		window_ns -= EDGE_QUIET_NS;
	follow(survey, watch, pacer, pacer->tsc + scale_ticks(&survey->scale, window_ns));
	if (edges)
		wait_for_edge(survey, edges, watch);
	for (size_t i = 0; i < report->clock_count; i++)
		if (tracks[i].entry && !tracks[i].entry->clock.edges_only)
			tracks[i].window.last = track_end(survey, &tracks[i]);
}

void
survey_rates(struct survey *survey)
{
	struct report *report = survey->report;
	struct track tracks[REPORT_CLOCKS_MAX] = { { .entry = NULL } };
	struct watch watch = { tracks, report->clock_count, 0 };
	struct track *edges = NULL;

	survey->hooks.progress(survey->hooks.context, "rates", survey->done_ns, survey->total_ns);
	for (size_t i = 0; i < report->clock_count && !edges; i++) {
		struct report_clock *entry = &report->clocks[i];

		if (!can_vouch_for_tsc(entry) || !entry->clock.edges_only)
			continue;
		open_window(survey, &tracks[i], entry);
		if (wait_for_edge(survey, &tracks[i], &watch))
			edges = &tracks[i];
	}
	if (!report->incomplete)
		watch_window(survey, &watch, edges);
	conclude(survey, tracks);
	survey->done_ns += survey_rates_ns(report);
}
