/*
 * Computes the results of the rate windows: rates of the TSC, of each clock and of each pair, and their
 * changes. See rate.h.
 */
#include "measure/rates/clock_tracker.h"

#include "base/text.h"
#include "report/clock_sources.h"

#define MICROHZ_PER_MILLIHZ 1000
#define PPT_PER_PPB         1000
#define PPB                 UINT64_C(1000000000)

/*
 * Two clocks come from one source if their ratio is known this well and equals its nominal value. Separate
 * crystals differ by 10 ppm or more.
 */
#define SAME_SOURCE_PPB 5000

/* The TSC's rate that each clock gives, over the whole time and over each half of the window. */
struct stretches {
	struct rate_interval whole[REPORT_CLOCKS_MAX], halves[2][REPORT_CLOCKS_MAX];
};

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

/* Widens the rate by the error of the crystal behind the scale. Unknown if no majority confirms the scale. */
static void
set_absolute(const struct survey *survey, struct report_clock *entry)
{
	entry->absolute = entry->measured;
	entry->absolute.known &= !survey->tsc_doubtful;
	entry->absolute.low = scale_mul_div(entry->measured.low, PPB - REPORT_CRYSTAL_PPB, PPB);
	entry->absolute.high = scale_mul_div_up(entry->measured.high, PPB + REPORT_CRYSTAL_PPB, PPB);
}

/* Computes the TSC's rate against each clock that can measure it, or could before the clock failed. */
static void
imply_all(const struct survey *survey, struct stretches *stretches)
{
	for (size_t i = 0; i < survey->report->clock_count; i++) {
		const struct survey_track *track = &survey->tracks[i];

		if (!track->entry || track->uncounted || !(survey_usable(track->entry) || track->entry->implied.known))
			continue;
		stretches->whole[i] = survey_implied(survey, track, &track->first, &track->end);
		stretches->halves[0][i] = survey_implied(survey, track, &track->first, &track->middle);
		stretches->halves[1][i] = survey_implied(survey, track, &track->middle, &track->last);
	}
}

/* Chooses the clock that sets the TSC's rate. The vote has the same rules as in src/judge: the TSC's nominal
 * frequency takes part, and a clock that src/judge would report as wrong cannot be chosen.
 */
static size_t
choose_reference(struct survey *survey, const struct rate_interval *rates)
{
	const struct report *report = survey->report;
	struct rate_interval votes[REPORT_CLOCKS_MAX] = { { .known = false } }, trusted[REPORT_CLOCKS_MAX];
	struct rate_interval own[REPORT_CLOCKS_MAX];
	struct falseticker_sources sources;
	struct falseticker found;
	size_t best;

	for (size_t i = 0; i < report->clock_count; i++)
		votes[i] = text_equal(report->clocks[i].clock.id, "tsc") ? survey_claim(&report->clocks[i].clock) : rates[i];
	sources = sources_for_rates(report, votes);
	found = falseticker_find(votes, report->clock_count, &sources, survey->rate_limit_ppb);
	for (size_t i = 0; i < report->clock_count; i++) {
		trusted[i] = rates[i];
		trusted[i].known &= set_has(found.truechimers, i);
		own[i] = trusted[i];
		own[i].known &= !report->clocks[i].clock.by_tsc;
	}
	/*
	 * A clock derived from the TSC repeats the rate that its hypervisor assumes, so it is only used if
	 * there is no other.
	 */
	best = rate_consensus(own, report->clock_count);
	if (best == report->clock_count)
		best = rate_consensus(trusted, report->clock_count);
	survey->tsc_doubtful = found.undecided;
	return best < report->clock_count ? best : rate_consensus(rates, report->clock_count);
}

/* Returns a copy of TSC with CLAIM as its nominal frequency. */
static struct clock
with_claim(struct clock tsc, const struct claim *claim)
{
	tsc.claimed = claim->hz;
	tsc.claimed_within_ppb = scale_ratio((unsigned __int128)claim->within_hz * claim->hz.den, PPB, claim->hz.num,
					     SCALE_UP);
	return tsc;
}

static bool
agrees(const struct survey *survey, const struct clock *tsc, const struct rate_interval *rate)
{
	struct rate_interval claimed = survey_claim(tsc);
	struct interval_ppb apart = rate_compare(&claimed, rate);

	return apart.known && !rate_beyond(&apart, survey->rate_limit_ppb);
}

/* A wrong CPUID leaf must not make the TSC differ from all other clocks. If the claim so far contradicts them,
 * takes the first other claim that agrees with them. A claim that is rounded by more than the limit agrees with
 * too much.
 */
static void
choose_claim(struct survey *survey, const struct rate_interval *rates)
{
	struct report *report = survey->report;
	struct report_clock *tsc = report_find_clock(report, "tsc");
	struct rate_interval own[REPORT_CLOCKS_MAX];
	size_t best;

	for (size_t i = 0; i < report->clock_count; i++) {
		own[i] = rates[i];
		own[i].known &= !report->clocks[i].clock.by_tsc;
	}
	best = rate_consensus(own, report->clock_count);
	if (!tsc || best == report->clock_count || report->options.tsc_hz || agrees(survey, &tsc->clock, &own[best]))
		return;
	for (size_t i = 0; i < report->claim_count; i++) {
		const struct claim *claim = &report->claims[i].claim;
		struct clock other = with_claim(tsc->clock, claim);

		if (claim->clock != CLAIM_OF_TSC || !claim->hz.den || other.claimed_within_ppb > survey->rate_limit_ppb ||
		    !agrees(survey, &other, &own[best]))
			continue;
		for (size_t c = 0; c < report->clock_count; c++)
			if (text_equal(report->clocks[c].clock.main, "tsc"))
				report->clocks[c].clock = with_claim(report->clocks[c].clock, claim);
		return;
	}
}

/* Sets the TSC's rate in the report, and its source. */
static void
settle_tsc(struct survey *survey, const struct rate_interval *rates)
{
	struct report *report = survey->report;
	struct report_clock *tsc = report_find_clock(report, "tsc");
	size_t best = choose_reference(survey, rates);
	struct text source;

	text_init(&source, report->tsc_source, sizeof(report->tsc_source));
	report->tsc_within = (struct rate_interval){ .known = false };
	report->tsc = (struct rate){ 0, 0 };
	report->relative_to = best < report->clock_count ? report->clocks[best].clock.id : "";
	if (best < report->clock_count) {
		report->tsc_within = rates[best];
		report->tsc = (struct rate){ rates[best].value, SURVEY_MICROHZ_PER_HZ };
		if (tsc)
			tsc->rate_whole_run = survey->tracks[best].end.begin != survey->tracks[best].last.begin;
		text_printf(&source, "measured against %s", report->clocks[best].clock.id);
	} else if (survey->tsc_stopped) {
		text_put(&source, "the TSC does not count");
	} else if (tsc && tsc->clock.claimed.den) {
		report->tsc = tsc->clock.claimed;
		text_printf(&source, "claimed by %s; no other clock could measure it",
			    report->options.tsc_hz ? "tsc_hz=" : "CPUID");
	} else {
		text_put(&source, "no clock could measure it");
	}
	survey_set_scale(survey, report_scale(report));
	if (tsc && report->tsc_within.known)
		set_measured(tsc, &report->tsc_within);
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
	choose_claim(survey, stretches.whole);
	settle_tsc(survey, stretches.whole);
	for (size_t i = 0; i < report->clock_count; i++) {
		const struct survey_track *track = &survey->tracks[i];

		report->clocks[i].implied = stretches.whole[i];
		report->clocks[i].uncounted = track->entry && track->uncounted;
		if (!stretches.whole[i].known)
			continue;
		struct rate_slope slope = survey_slope(survey, track, &track->first, &track->end,
						       &report->clocks[i].rate_fit);
		struct rate_interval rate = rate_of_clock(&slope, &report->tsc_within);

		set_measured(track->entry, &rate);
		track->entry->rate_whole_run = track->end.begin != track->last.begin;
		track->entry->budget = survey_budget(survey, track, &slope);
		if (tsc && text_equal(track->entry->clock.id, report->relative_to)) {
			tsc->budget = track->entry->budget;
			tsc->budget.claim = track->entry->clock.claimed_within_ppb * PPT_PER_PPB;
		}
	}
	for (size_t i = 0; i < report->clock_count; i++) {
		struct report_clock *entry = &report->clocks[i];

		if (entry->measured.known)
			survey_complete_budget(report, entry);
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

	for (size_t i = 0; i < report->clock_count && report->tsc_within.known; i++) {
		const struct rate_interval *rate = &report->clocks[i].implied;

		if (!survey->tracks[i].entry || !rate->known)
			continue;
		known++;
		if (rate->value == report->tsc_within.value)
			source = report->clocks[i].clock.id;
	}
	if (!report->tsc.den && !survey->tsc_stopped)
		report_note(report, "The TSC's rate is not known: every time here is in ticks of the TSC, shown as "
				    "nanoseconds.");
	else if (known == 1)
		report_note(report, "All times depend on %s alone: no other clock could confirm its rate.", source);
	else if (known > 1 && survey->tsc_doubtful)
		report_note(report, "No majority of the clocks agrees on the TSC's rate: all times depend on %s, which "
				    "may be wrong.", source);
}
