/* What the windows say: the TSC's rate, each clock's by it, each pair's, and what changed. See rate.h. */
#include "survey_tracks.h"

#include "text.h"
#include "witnesses.h"

#define MICROHZ_PER_MILLIHZ 1000

/*
 * An RTC's edge is the end of its update cycle, which a chip's crystal sets. An emulator raises it from its main loop,
 * which a busy host lets run late: by 47 us to 1.3 ms as seen with QEMU, by milliseconds where the host is overloaded.
 */
#define EDGE_LATE_NS (10 * SURVEY_NS_PER_MS) /* in a guest */

/*
 * Two clocks whose ratio is known so well, and is still what they claim, have one source: crystals differ by
 * more, 10 ppm and up.
 */
#define SAME_SOURCE_PPB 5000

/* A row of the report for each clock, over the whole stretch and over each half of the window. */
struct stretches {
	struct rate_interval whole[REPORT_CLOCKS_MAX], halves[2][REPORT_CLOCKS_MAX];
};

#define UNEVEN_TICKS 2 /* of a step that is no whole number the rest, and the same of what is shown of it */

/* By how much the clock moves: any way of reading the device proves that it is no more. */
static void
take_resolution(const struct report *report, const struct report_clock *entry, struct rate_ends *ends)
{
	struct resolution all = entry->resolution;

	for (size_t i = 0; i < report->clock_count; i++) {
		const struct report_clock *other = &report->clocks[i];

		if (text_equal(other->clock.main, entry->clock.main))
			resolution_join(&all, &other->resolution);
	}
	ends->even_ticks = all.gcd_ticks;
	ends->uneven_ticks = all.smallest_ticks + UNEVEN_TICKS;
}

/* NS in ticks of the TSC, by an edge clock's own periods. */
static uint64_t
ticks_of_edges(const struct survey_track *track, uint64_t ns)
{
	const struct rate *claimed = &track->entry->clock.claimed;
	uint64_t periods = track->last.ticks - track->first.ticks;

	return scale_ratio((unsigned __int128)(track->last.end - track->first.begin) * ns, claimed->num,
			   (unsigned __int128)periods * claimed->den * SURVEY_NS_PER_S, SCALE_UP);
}

/* END as it may have been before it was seen. */
static struct sample
widened(const struct sample *end, uint64_t late_ticks)
{
	return (struct sample){ end->begin > late_ticks ? end->begin - late_ticks : 0, end->ticks, end->end };
}

/* The ends in FROM..TO of a clock that moves faster than it is read, with all that is known of them. */
static struct rate_ends
ends_of(const struct survey *survey, const struct survey_track *track, const struct sample *from,
	const struct sample *to)
{
	const struct sample *const all[] = { &track->first, &track->middle, &track->last, to };
	struct rate_ends ends = { .tsc_resolution_ticks = survey->tsc_resolution_ticks };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct rate_end *end = &ends.ends[ends.count];

		if (all[i]->begin < from->begin || all[i]->begin > to->begin ||
		    (ends.count && all[i]->begin == end[-1].sample.begin))
			continue;
		*end = (struct rate_end){ *all[i], NULL };
		for (size_t c = 0; c < RATE_ENDS_MAX && !end->corners; c++)
			if (track->corners[c].lower_count && track->corners[c].begin == all[i]->begin)
				end->corners = &track->corners[c];
		ends.count++;
	}
	take_resolution(survey->report, track->entry, &ends);
	return ends;
}

/* How fast TRACK's clock ran in FROM..TO, with all that is not known of its ends. */
static struct rate_slope
slope_of(const struct survey *survey, const struct survey_track *track, const struct sample *from,
	 const struct sample *to, enum rate_fit *fit)
{
	struct rate_window window = { *from, *to, 0, survey->tsc_resolution_ticks };
	struct rate_ends ends;

	*fit = RATE_FIT_NONE;
	if (!track->entry->clock.edges_only) {
		ends = ends_of(survey, track, from, to);
		if (ends.count < 2)
			return (struct rate_slope){ .known = false };
		return rate_fit(&ends, fit);
	}
	if (survey->report->hypervisor[0] && from->end < to->begin && track->last.ticks != track->first.ticks) {
		uint64_t late = ticks_of_edges(track, EDGE_LATE_NS);

		window.first = widened(from, late);
		window.last = widened(to, late);
	}
	return rate_slope(&window);
}

/* By the claim as it is written. */
static struct rate_interval
implied_exactly(const struct survey *survey, const struct survey_track *track, const struct sample *from,
		const struct sample *to)
{
	enum rate_fit fit;
	struct rate_slope slope = slope_of(survey, track, from, to, &fit);
	struct rate_interval implied = rate_implied_tsc(&slope, track->entry->clock.claimed);

	implied.known &= track->entry->resolution.steps && survey_is_rate(survey, &implied);
	return implied;
}

struct rate_interval
survey_implied(const struct survey *survey, const struct survey_track *track, const struct sample *from,
	       const struct sample *to)
{
	return rate_within(implied_exactly(survey, track, from, to), track->entry->clock.claimed_within_ppb);
}

struct interval_ppb
survey_change(const struct survey *survey, const struct survey_track *track, const struct sample *from,
	      const struct sample *middle, const struct sample *to)
{
	struct rate_interval before = implied_exactly(survey, track, from, middle);
	struct rate_interval after = implied_exactly(survey, track, middle, to);

	return rate_compare(&after, &before);
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

static void
set_measured(struct report_clock *entry, const struct rate_interval *rate)
{
	entry->measured = to_millihz(rate);
	entry->error = rate_error(rate, entry->clock.claimed);
}

#define PPT            UINT64_C(1000000000000)
#define PPT_PER_PPB    1000
#define PPB            UINT64_C(1000000000)

/* Half of the width of LOW..HIGH. */
static uint64_t
half_ppt(uint64_t low, uint64_t high)
{
	return low ? scale_ratio(high - low, PPT / 2, low, SCALE_UP) : 0;
}

static uint64_t
take_part(uint64_t *rest, uint64_t part)
{
	part = part < *rest ? part : *rest;
	*rest -= part;
	return part;
}

/* How wide the narrowest brackets at the ends of TRACK's stretch are, both together. */
static uint64_t
brackets(const struct survey *survey, const struct survey_track *track)
{
	struct rate_ends ends = ends_of(survey, track, &track->first, &track->end);
	uint64_t ticks = 0;

	for (size_t i = 0; i < ends.count; i++)
		if ((i == 0 || i == ends.count - 1) && ends.ends[i].corners)
			ticks += ends.ends[i].corners->narrowest;
	return ticks;
}

/* Of SLOPE: the readings' own part. What is left of its width when the brackets are taken from it is the resolution. */
static struct rate_budget
budget_of(const struct survey *survey, const struct survey_track *track, const struct rate_slope *slope)
{
	unsigned __int128 low = (unsigned __int128)slope->low_ticks * slope->high_time;
	unsigned __int128 high = (unsigned __int128)slope->high_ticks * slope->low_time;
	uint64_t rest = low ? scale_ratio(high - low, PPT / 2, low, SCALE_UP) : 0;
	struct rate_budget budget = { .known = low != 0 };

	budget.tsc_resolution = take_part(&rest, scale_ratio(survey->tsc_resolution_ticks, PPT, slope->high_time, SCALE_UP));
	budget.bracket = take_part(&rest, track->entry->clock.edges_only ? rest :
				   scale_ratio(brackets(survey, track), PPT / 2, slope->high_time, SCALE_UP));
	budget.resolution = rest;
	return budget;
}

/* What else is in ENTRY's rate: all parts together are half of its interval at least. */
static void
complete_budget(const struct survey *survey, struct report_clock *entry)
{
	struct rate_budget *budget = &entry->budget;
	uint64_t whole = half_ppt(entry->measured.low, entry->measured.high), sum;

	budget->known &= entry->measured.low != 0;
	if (text_equal(entry->clock.id, "tsc"))
		budget->tsc_rate = 0;
	else
		budget->tsc_rate = half_ppt(survey->tsc.low, survey->tsc.high);
	sum = budget->bracket + budget->resolution + budget->tsc_resolution + budget->tsc_rate + budget->claim;
	budget->conversion = whole > sum ? whole - sum : 0;
}

/* As far as the crystal of the clock that sets the scale may be off; unknown where no majority stands behind it. */
static void
set_absolute(const struct survey *survey, struct report_clock *entry)
{
	entry->absolute = entry->measured;
	entry->absolute.known &= !survey->tsc_doubtful;
	entry->absolute.low = scale_mul_div(entry->measured.low, PPB - REPORT_CRYSTAL_PPB, PPB);
	entry->absolute.high = scale_mul_div_up(entry->measured.high, PPB + REPORT_CRYSTAL_PPB, PPB);
}

/* Of each clock that can vouch for the TSC, and of one that could while it was well. */
static void
imply_all(const struct survey *survey, struct stretches *stretches)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct survey_track *track = &survey->tracks[i];

		if (!track->entry || !(survey_usable(track->entry) || track->entry->implied.known))
			continue;
		stretches->whole[i] = survey_implied(survey, track, &track->first, &track->end);
		stretches->halves[0][i] = survey_implied(survey, track, &track->first, &track->middle);
		stretches->halves[1][i] = survey_implied(survey, track, &track->middle, &track->last);
	}
}

struct rate_interval
survey_claim(const struct clock *tsc)
{
	const struct rate *claimed = &tsc->claimed;

	if (!claimed->den)
		return (struct rate_interval){ .known = false };
	return rate_within((struct rate_interval){
		true,
		scale_mul_div_nearest(claimed->num, SURVEY_MICROHZ_PER_HZ, claimed->den),
		scale_mul_div(claimed->num, SURVEY_MICROHZ_PER_HZ, claimed->den),
		scale_mul_div_up(claimed->num, SURVEY_MICROHZ_PER_HZ, claimed->den),
	}, tsc->claimed_within_ppb);
}

/*
 * By which clock the TSC's rate is taken: the vote is the one by which the judge accuses, what is claimed of the TSC
 * takes part in it, and a clock that it accuses is not the one.
 */
static size_t
choose_reference(struct survey *survey, const struct rate_interval *rates)
{
	const struct report *report = survey->report;
	struct rate_interval votes[REPORT_CLOCKS_MAX] = { { .known = false } }, trusted[REPORT_CLOCKS_MAX];
	struct falseticker_sources sources;
	struct falseticker found;
	size_t best;

	for (size_t i = 0; i < report->clock_count; i++)
		votes[i] = text_equal(report->clocks[i].clock.id, "tsc") ? survey_claim(&report->clocks[i].clock) : rates[i];
	sources = witnesses_of(report, votes);
	found = falseticker_find(votes, report->clock_count, &sources, survey->rate_limit_ppb);
	for (size_t i = 0; i < report->clock_count; i++) {
		trusted[i] = rates[i];
		trusted[i].known &= set_has(found.truechimers, i);
	}
	best = rate_consensus(trusted, report->clock_count);
	survey->tsc_doubtful = found.undecided;
	return best < report->clock_count ? best : rate_consensus(rates, report->clock_count);
}

/* The TSC's rate for the report, and how it was come by. */
static void
settle_tsc(struct survey *survey, const struct rate_interval *rates)
{
	struct report *report = survey->report;
	struct report_clock *tsc = report_find_clock(report, "tsc");
	size_t best = choose_reference(survey, rates);
	struct text source;

	text_init(&source, report->tsc_source, sizeof(report->tsc_source));
	survey->tsc = (struct rate_interval){ .known = false };
	report->tsc = (struct rate){ 0, 0 };
	report->relative_to = best < report->clock_count ? report->clocks[best].clock.id : "";
	if (best < report->clock_count) {
		survey->tsc = rates[best];
		report->tsc = (struct rate){ rates[best].value, SURVEY_MICROHZ_PER_HZ };
		if (tsc)
			tsc->rate_whole_run = survey->tracks[best].end.begin != survey->tracks[best].last.begin;
		text_printf(&source, "measured against %s", report->clocks[best].clock.id);
	} else if (survey->tsc_stopped) {
		text_put(&source, "the TSC does not count");
	} else if (tsc && tsc->clock.claimed.den) {
		report->tsc = tsc->clock.claimed;
		text_printf(&source, "claimed by %s; no other clock could be asked",
			    report->options.tsc_hz ? "tsc_hz=" : "CPUID");
	} else {
		text_put(&source, "no clock could be asked");
	}
	report->tsc_within = survey->tsc;
	survey->scale = report_scale(report);
	if (tsc && survey->tsc.known)
		set_measured(tsc, &survey->tsc);
}

static bool
holds_zero(const struct rate_interval *a, const struct rate_interval *b)
{
	struct interval_ppb ppb = rate_compare(a, b);

	return ppb.known && ppb.low <= 0 && ppb.high >= 0;
}

static void
compare_pair(struct report *report, const struct stretches *stretches, size_t a, size_t b)
{
	struct interval_ppb ppb = rate_compare(&stretches->whole[a], &stretches->whole[b]);
	struct report_rate *pair = &report->rates[report->rate_count];

	if (!ppb.known || report->rate_count == REPORT_RATES_MAX)
		return;
	report->rate_count++;
	*pair = (struct report_rate){ report->clocks[a].clock.id, report->clocks[b].clock.id,
				      ppb, ppb.high - ppb.low <= 2 * SAME_SOURCE_PPB };
	pair->same_source &= holds_zero(&stretches->whole[a], &stretches->whole[b]);
	for (size_t half = 0; half < 2; half++)
		pair->same_source &= holds_zero(&stretches->halves[half][a], &stretches->halves[half][b]);
}

void
survey_conclude(struct survey *survey)
{
	struct report *report = survey->report;
	struct stretches stretches = { .whole = { { .known = false } } };
	struct report_clock *tsc = report_find_clock(report, "tsc");

	imply_all(survey, &stretches);
	settle_tsc(survey, stretches.whole);
	for (size_t i = 0; i < report->clock_count; i++) {
		const struct survey_track *track = &survey->tracks[i];

		report->clocks[i].implied = stretches.whole[i];
		if (!stretches.whole[i].known)
			continue;
		struct rate_slope slope = slope_of(survey, track, &track->first, &track->end,
						   &report->clocks[i].rate_fit);
		struct rate_interval rate = rate_of_clock(&slope, &survey->tsc);

		set_measured(track->entry, &rate);
		track->entry->rate_whole_run = track->end.begin != track->last.begin;
		track->entry->budget = budget_of(survey, track, &slope);
		if (tsc && text_equal(track->entry->clock.id, report->relative_to)) {
			tsc->budget = track->entry->budget;
			tsc->budget.claim = track->entry->clock.claimed_within_ppb * PPT_PER_PPB;
		}
	}
	for (size_t i = 0; i < report->clock_count; i++) {
		struct report_clock *entry = &report->clocks[i];

		if (entry->measured.known)
			complete_budget(survey, entry);
		set_absolute(survey, entry);
	}
	if (tsc) {
		tsc->implied = survey_claim(&tsc->clock);
		stretches.whole[tsc - report->clocks] = tsc->implied;
		stretches.halves[0][tsc - report->clocks] = stretches.halves[1][tsc - report->clocks] =
			tsc->implied;
	}
	report->rate_count = 0;
	for (size_t a = 0; a < report->clock_count; a++)
		for (size_t b = a + 1; b < report->clock_count; b++)
			compare_pair(report, &stretches, a, b);
}

void
survey_note_doubt(const struct survey *survey)
{
	struct report *report = survey->report;
	const char *source = "";
	size_t known = 0;

	for (size_t i = 0; i < report->clock_count && survey->tsc.known; i++) {
		const struct rate_interval *rate = &report->clocks[i].implied;

		if (!survey->tracks[i].entry || !rate->known)
			continue;
		known++;
		if (rate->value == survey->tsc.value)
			source = report->clocks[i].clock.id;
	}
	if (!report->tsc.den && !survey->tsc_stopped)
		report_note(report, "The TSC's rate is not known: every time here is in ticks of the TSC, shown as "
				    "nanoseconds.");
	else if (known == 1)
		report_note(report, "All times rest on %s alone: no other clock could be asked.", source);
	else if (known > 1 && survey->tsc_doubtful)
		report_note(report, "No majority of the clocks agrees on the TSC's rate: all times rest on %s, which may "
				    "be wrong.", source);
}
