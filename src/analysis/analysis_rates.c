/*
 * Calculates all rates from the record's entries `batch`: rates of the TSC, of each clock and of each pair, their
 * errors, and their changes during the run. See analysis.h and consensus/rate.h.
 */
#include "analysis/analysis.h"

#include "analysis/rate_readings.h"
#include "analysis/wraps.h"
#include "base/text.h"
#include "base/units.h"
#include "report/clock_sources.h"

#define MICROHZ             UINT64_C(1000000)

/*
 * If the wraps of a clock that is too fast cannot be counted, its rate is from its pace minus 1 to 100,000 times its
 * nominal rate. The pace (see wraps.h) may be too small, because a counter may wrap more than once between readings.
 */
#define PACE_MAX        100000

/*
 * The rate of a clock over a time span, and the TSC's rate that this clock implies over the span and over each half of
 * the rate window.
 */
struct rate_span {
	struct rate_slope slope;
	enum rate_fit fit;
	uint64_t brackets; /* sum of the shortest brackets (TSC reads around a sample) at both ends, in TSC ticks */
	struct rate_interval implied, halves[2];
};

struct clock_rates {
	bool is_followed, is_uncounted, may_have_stopped;
	bool has_final;              /* true if the clock has a reading at the end of the run that its rate can use */
	struct sample first, last, final; /* readings at the ends of the rate window, and at the end of the run */
	uint64_t expected_ticks;     /* ticks of this clock that are expected from its previous reading to FINAL */
	struct rate_span window, whole; /* rates from FIRST to LAST, and from FIRST to FINAL */
	uint64_t pace;
	struct scale scale;         /* the TSC's rate as it was known when the clock was read */
	struct rate_interval again; /* the TSC's rate by an edge clock's additional measurement at the end of the run */
	bool has_again;
};

struct rates {
	const struct report *report;
	struct figures *figures; /* the figures of REPORT */
	struct clock_rates clocks[REPORT_CLOCKS_MAX];
	/* the TSC's rate by each clock, over the rate window or the whole run */
	struct rate_interval implied[REPORT_CLOCKS_MAX];
	uint64_t tsc_resolution_ticks, limit_ppb; /* two clocks disagree if their rates differ by more than LIMIT_PPB */
	struct rate_outcome outcome;
};

/* Calculates the rate from the start of the rate window to TO. */
static void
calculate_rates_of_span(const struct rate_readings *readings, const struct sample *to, struct rate_span *span)
{
	const struct sample *from = &readings->at[RECORD_FIRST], *middle = &readings->at[RECORD_MIDDLE];
	struct rate_ends ends = rate_readings_get_batches_between(readings, from, to);

	span->slope = rate_readings_fit_slope(readings, from, to, &span->fit);
	span->implied = rate_readings_implied_rate(readings, from, to);
	span->halves[0] = rate_readings_implied_rate(readings, from, middle);
	span->halves[1] = rate_readings_implied_rate(readings, middle, &readings->at[RECORD_LAST]);
	if (ends.count >= 2)
		span->brackets = ends.ends[0].corners->narrowest + ends.ends[ends.count - 1].corners->narrowest;
}

/*
 * Returns the ticks that the clock counted from its reading before the end of the run to its reading at the end. If
 * there are many, the number of wraps between the two readings is uncertain.
 */
static uint64_t
expected_ticks_until_final_reading(const struct rate_readings *readings)
{
	const struct sample *first = &readings->at[RECORD_FIRST], *last = &readings->at[RECORD_LAST];
	const struct sample *final = &readings->at[RECORD_FINAL];
	uint64_t counted = final->ticks - last->ticks;

	if (!readings->entry->clock.edges_only)
		return rate_expected_ticks(first, last, readings->final.unread_ticks);
	/* an edge clock that stepped back counted a negative number of ticks */
	return counted >> 63 ? rate_expected_ticks(first, last, final->end - last->end) : counted;
}

/* Calculates the rates in and after the rate window, from the start of the window to the end of the run. */
static void
calculate_rates_between_readings(struct rate_readings *readings, struct clock_rates *clock,
				 struct clock_figures *figures)
{
	const struct record_batch *batch = &readings->final;
	const struct sample *first = &readings->at[RECORD_FIRST], *last = &readings->at[RECORD_LAST];
	const struct sample *final = &readings->at[RECORD_FINAL];

	clock->first = *first;
	clock->last = *last;
	clock->final = *final;
	clock->has_final = final->end != 0;
	calculate_rates_of_span(readings, last, &clock->window);
	figures->change_halves = rate_readings_rate_change(readings, first, &readings->at[RECORD_MIDDLE], last);
	if (clock->has_final) {
		readings->gcd_ticks = batch->gcd_ticks;
		readings->smallest_ticks = batch->smallest_ticks;
		clock->expected_ticks = expected_ticks_until_final_reading(readings);
		calculate_rates_of_span(readings, final, &clock->whole);
		figures->implied_since = rate_readings_implied_rate(readings, last, final);
		figures->change_since = rate_readings_rate_change(readings, first, last, final);
	}
	if (readings->again_first.end)
		clock->again = rate_readings_implied_rate(readings, &readings->again_first, &readings->at[RECORD_AGAIN]);
}

/*
 * Calculates the rates of clock I between its readings. Each row of a soak's series contains the clock's first and last
 * reading in the row's interval.
 */
static void
calculate_rates_of_clock(struct rates *rates, const struct rate_windows *windows, size_t i)
{
	struct clock_figures *figures = &rates->figures->clocks[i];
	struct clock_rates *clock = &rates->clocks[i];
	struct rate_readings readings;

	rate_read_batches(windows, rates->report, i, &readings);
	clock->is_followed = readings.is_closed;
	clock->pace = readings.pace;
	clock->scale = readings.scale;
	clock->may_have_stopped = readings.may_have_stopped;
	clock->has_again = readings.has_again;
	if (clock->is_followed) {
		rates->tsc_resolution_ticks = readings.tsc_resolution_ticks;
		calculate_rates_between_readings(&readings, clock, figures);
	}
	for (size_t r = 0; r < rates->report->facts.series.count; r++) {
		const struct series_clock *row = &rates->report->facts.series.rows[r].clocks[i];
		struct series_rate *rate = &rates->figures->soak_rates[r * rates->report->facts.series.clocks + i];

		rate->implied = (struct rate_interval){ .known = false };
		if (clock->is_followed && row->last.end)
			rate->implied = rate_readings_implied_rate_of_two_samples(&readings, &row->first, &row->last);
	}
}

static struct interval_millihz
rate_interval_to_millihz(const struct rate_interval *rate)
{
	return (struct interval_millihz){
		rate->known,
		(rate->value + MICROHZ_PER_MILLIHZ / 2) / MICROHZ_PER_MILLIHZ,
		rate->low / MICROHZ_PER_MILLIHZ,
		(rate->high + MICROHZ_PER_MILLIHZ - 1) / MICROHZ_PER_MILLIHZ,
	};
}

static void
set_measured_rate(const struct rates *rates, const struct report_clock *entry, const struct rate_interval *rate)
{
	struct clock_figures *figures = &rates->figures->clocks[entry - rates->report->facts.clocks];

	figures->measured = rate_interval_to_millihz(rate);
	figures->error = rate_error_against_claim(rate, report_get_claimed_rate(rates->report, entry));
}

/*
 * Widens the measured rate by the crystal error of the clock that sets the scale. The rate is unknown if no majority
 * of the clocks confirms that clock.
 */
static void
set_rate_with_crystal_error(const struct rates *rates, struct clock_figures *figures)
{
	figures->absolute = figures->measured;
	figures->absolute.known &= !rates->outcome.undecided;
	figures->absolute.low = scale_mul_div(figures->measured.low, PPB - REPORT_CRYSTAL_PPB, PPB);
	figures->absolute.high = scale_mul_div_up(figures->measured.high, PPB + REPORT_CRYSTAL_PPB, PPB);
}

/* Returns the set of clocks that are not derived from the TSC. */
static uint32_t
find_clocks_not_derived_from_tsc(const struct report *report)
{
	uint32_t clocks = 0;

	for (size_t i = 0; i < report->facts.clock_count; i++)
		clocks |= report->facts.clocks[i].clock.by_tsc ? 0 : set_of(i);
	return clocks;
}

static uint64_t
get_claim_error_ppb(const struct claim *claim)
{
	return scale_mul_div_wide((unsigned __int128)claim->within_hz * claim->hz.den, PPB, claim->hz.num, SCALE_UP);
}

static struct rate_interval
get_rate_of_claim(const struct claim *claim)
{
	return rate_get_claimed_rate(claim->hz, claim->hz.den ? get_claim_error_ppb(claim) : 0);
}

/* Returns the nominal frequency of TSC that is in use, see report_get_claimed_rate(). */
static struct rate_interval
get_claimed_rate_of_tsc(const struct report *report, const struct report_clock *tsc)
{
	return report->figures.tsc_claim ? get_rate_of_claim(report->figures.tsc_claim) :
					   rate_get_claimed_rate(tsc->clock.claimed, tsc->clock.claimed_within_ppb);
}

/*
 * Chooses the clock that sets the TSC's rate. The clocks and the TSC's nominal frequency vote on this rate, by the same
 * rules as in src/judge. A clock that src/judge would report as wrong cannot be chosen.
 */
static size_t
choose_clock_that_sets_scale(struct rates *rates)
{
	const struct report *report = rates->report;
	struct rate_interval votes[REPORT_CLOCKS_MAX] = { { .known = false } };
	size_t count = report->facts.clock_count, best;

	for (size_t i = 0; i < count; i++)
		votes[i] = text_equal(report->facts.clocks[i].clock.id, "tsc") ?
			   get_claimed_rate_of_tsc(report, &report->facts.clocks[i]) : rates->implied[i];
	struct falseticker_sources sources = find_clock_sources_for_rates(report, votes);
	struct falseticker found = falseticker_find(votes, count, &sources, rates->limit_ppb);
	rates->outcome.undecided = found.undecided;
	/*
	 * A clock derived from the TSC repeats the rate that its hypervisor assumes, so such a clock is only used if
	 * there is no other clock.
	 */
	best = rate_find_consensus_index(rates->implied, count, found.truechimers & find_clocks_not_derived_from_tsc(report));
	if (best == count)
		best = rate_find_consensus_index(rates->implied, count, found.truechimers);
	return best < count ? best : rate_find_consensus_index(rates->implied, count, UINT32_MAX);
}

static bool
tsc_claim_agrees_with_rate(const struct rates *rates, const struct rate_interval *claimed,
			   const struct rate_interval *rate)
{
	struct interval_ppb apart = rate_relative_difference(claimed, rate);

	return apart.known && !rate_is_beyond(&apart, rates->limit_ppb);
}

/* Returns the first claim of the TSC's rate that agrees with RATE and is exact to the limit; NULL if there is none. */
static const struct claim *
find_tsc_claim_that_agrees(const struct rates *rates, const struct rate_interval *rate)
{
	for (size_t i = 0; i < rates->report->facts.claim_count; i++) {
		const struct claim *claim = &rates->report->facts.claims[i].claim;
		struct rate_interval claimed = get_rate_of_claim(claim);

		if (claim->clock == CLAIM_OF_TSC && claimed.known && get_claim_error_ppb(claim) <= rates->limit_ppb &&
		    tsc_claim_agrees_with_rate(rates, &claimed, rate))
			return claim;
	}
	return NULL;
}

/*
 * A wrong CPUID leaf must not make the TSC differ from all other clocks. If the stated rate (claim) in use contradicts
 * the clocks, uses the first other claim that agrees with them. A claim that is rounded by more than the limit is not
 * used, because it would agree with too many rates.
 */
static void
choose_tsc_claim(struct rates *rates)
{
	const struct report *report = rates->report;
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	size_t best = rate_find_consensus_index(rates->implied, report->facts.clock_count,
						find_clocks_not_derived_from_tsc(report));

	if (!tsc || best == report->facts.clock_count || report->facts.options.tsc_hz)
		return;
	struct rate_interval claimed = get_claimed_rate_of_tsc(report, tsc);
	if (!tsc_claim_agrees_with_rate(rates, &claimed, &rates->implied[best]))
		rates->figures->tsc_claim = find_tsc_claim_that_agrees(rates, &rates->implied[best]);
}

/* Sets the TSC's rate in the report, and a text on the origin of this rate. */
static void
set_tsc_rate(struct rates *rates, bool whole_run)
{
	const struct report *report = rates->report;
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	struct clock_figures *figures = tsc ? &rates->figures->clocks[tsc - report->facts.clocks] : NULL;
	size_t best = choose_clock_that_sets_scale(rates);
	struct text source = text_start(rates->figures->tsc_source, sizeof(rates->figures->tsc_source));

	rates->figures->tsc_within = (struct rate_interval){ .known = false };
	rates->figures->tsc = (struct rate){ 0, 0 };
	rates->figures->relative_to = best < report->facts.clock_count ? report->facts.clocks[best].clock.id : "";
	if (best < report->facts.clock_count) {
		rates->figures->tsc_within = rates->implied[best];
		rates->figures->tsc = (struct rate){ rates->implied[best].value, MICROHZ };
		if (tsc)
			figures->rate_whole_run = whole_run && rates->clocks[best].has_final;
		text_printf(&source, "measured against %s", report->facts.clocks[best].clock.id);
	} else if (tsc && tsc->clock.state == CLOCK_STUCK) {
		text_put(&source, "the TSC does not count");
	} else if (tsc && report_get_claimed_rate(report, tsc).den) {
		rates->figures->tsc = report_get_claimed_rate(report, tsc);
		text_printf(&source, "claimed by %s; no other clock could measure the rate",
			    report->facts.options.tsc_hz ? "tsc_hz=" : "CPUID");
	} else {
		text_put(&source, "no clock could measure the rate");
	}
	if (tsc && rates->figures->tsc_within.known)
		set_measured_rate(rates, tsc, &rates->figures->tsc_within);
}

/* Returns half the width of LOW..HIGH, divided by LOW. */
static uint64_t
half_width_ppt(unsigned __int128 low, unsigned __int128 high)
{
	return low ? scale_mul_div_wide(high - low, PPT / 2, low, SCALE_UP) : 0;
}

/* Returns the smaller of PART and REST, and subtracts the result from REST. */
static uint64_t
take_part_of_remaining_error(uint64_t *rest, uint64_t part)
{
	part = part < *rest ? part : *rest;
	*rest -= part;
	return part;
}

/*
 * Sets the error budget of the rate in FIGURES: the parts of half the width of its interval, in parts per 10^12. FROM
 * is the clock whose readings in SPAN give this rate: the clock itself or, if OF_TSC is true, the clock that sets the
 * TSC's rate. The parts from the brackets and the TSC's resolution are subtracted from half the width of SPAN's slope,
 * and the rest of it is due to the clock's resolution. The part from the conversion is the rest of the rate's error.
 */
static void
set_error_budget(const struct rates *rates, const struct report_clock *from, const struct rate_span *span,
		 bool of_tsc, struct clock_figures *figures)
{
	const struct rate_interval *tsc = &rates->figures->tsc_within;
	const struct rate_slope *slope = &span->slope;
	unsigned __int128 low = (unsigned __int128)slope->low_ticks * slope->high_time;
	unsigned __int128 high = (unsigned __int128)slope->high_ticks * slope->low_time;
	uint64_t rest = half_width_ppt(low, high), whole = half_width_ppt(figures->measured.low, figures->measured.high);
	struct rate_budget budget = { .known = low != 0 && figures->measured.low != 0 };

	budget.tsc_resolution = take_part_of_remaining_error(&rest, scale_mul_div_wide(rates->tsc_resolution_ticks, PPT,
										       slope->high_time, SCALE_UP));
	budget.bracket = take_part_of_remaining_error(&rest, from->clock.edges_only ? rest :
						      scale_mul_div_wide(span->brackets, PPT / 2, slope->high_time,
									 SCALE_UP));
	budget.resolution = rest;
	if (of_tsc)
		budget.claim = from->clock.claimed_within_ppb * PPT_PER_PPB;
	else
		budget.tsc_rate = half_width_ppt(tsc->low, tsc->high);
	uint64_t sum = budget.bracket + budget.resolution + budget.tsc_resolution + budget.tsc_rate + budget.claim;
	budget.conversion = whole > sum ? whole - sum : 0;
	figures->budget = budget;
}

static bool
may_rates_be_equal(const struct rate_interval *a, const struct rate_interval *b)
{
	struct interval_ppb ppb = rate_relative_difference(a, b);

	return ppb.known && ppb.low <= 0 && ppb.high >= 0;
}

static void
compare_rates_of_pair(struct rates *rates, const struct rate_span *spans, size_t a, size_t b)
{
	const struct report *report = rates->report;
	struct interval_ppb ppb = rate_relative_difference(&spans[a].implied, &spans[b].implied);
	struct report_rate *pair = &rates->figures->rates[rates->figures->rate_count];

	if (!ppb.known || rates->figures->rate_count == REPORT_RATES_MAX)
		return;
	rates->figures->rate_count++;
	*pair = (struct report_rate){ report->facts.clocks[a].clock.id, report->facts.clocks[b].clock.id,
				      ppb, ppb.high - ppb.low <= 2 * SAME_SOURCE_PPB };
	pair->same_source &= may_rates_be_equal(&spans[a].implied, &spans[b].implied);
	for (size_t half = 0; half < 2; half++)
		pair->same_source &= may_rates_be_equal(&spans[a].halves[half], &spans[b].halves[half]);
}

/*
 * Returns the rate of a clock whose pace is at least 2. The TSC's rate in SCALE was known when the clock was read.
 * Returns a rate that is not known if the pace is 1, because then the clock may be right.
 */
static struct rate_span
make_span_of_pace(const struct clock_rates *clock, const struct rate *claimed, const struct scale *scale)
{
	uint64_t time = claimed->den * scale_mul_div(scale->hz.num, 1, scale->hz.den ? scale->hz.den : 1);
	struct rate_span span = { .fit = RATE_FIT_NONE };

	if (clock->pace < 2 || clock->pace >= PACE_MAX || time < PACE_MAX)
		return span;
	span.slope = (struct rate_slope){
		true, (clock->pace - 1) * claimed->num, time, claimed->num, time / PACE_MAX,
	};
	span.implied = rate_of_tsc_implied_by_clock(&span.slope, *claimed);
	return span;
}

/*
 * Calculates all rates of the report. If WHOLE_RUN is true, they are over the whole run for each clock that was read
 * at the end of the run. All other rates are over the rate window.
 */
static void
calculate_rates(struct rates *rates, bool whole_run)
{
	const struct report *report = rates->report;
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	struct rate_span spans[REPORT_CLOCKS_MAX] = { { .fit = RATE_FIT_NONE } };

	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct clock_rates *clock = &rates->clocks[i];

		if (clock->is_followed && !clock->is_uncounted)
			spans[i] = whole_run && clock->has_final ? clock->whole : clock->window;
		if (clock->is_followed && !spans[i].implied.known)
			spans[i] = make_span_of_pace(clock, &report->facts.clocks[i].clock.claimed, &clock->scale);
		rates->implied[i] = rates->figures->clocks[i].implied = spans[i].implied;
	}
	choose_tsc_claim(rates);
	set_tsc_rate(rates, whole_run);
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];
		struct clock_figures *figures = &rates->figures->clocks[i];

		figures->uncounted = rates->clocks[i].is_uncounted ||
				     (rates->clocks[i].pace > 1 && spans[i].fit == RATE_FIT_NONE);
		if (figures->implied.known) {
			struct rate_interval rate = rate_of_clock(&spans[i].slope, &rates->figures->tsc_within);

			figures->rate_fit = spans[i].fit;
			figures->rate_whole_run = whole_run && rates->clocks[i].has_final;
			set_measured_rate(rates, entry, &rate);
			set_error_budget(rates, entry, &spans[i], false, figures);
			if (tsc && entry != tsc && text_equal(entry->clock.id, rates->figures->relative_to))
				set_error_budget(rates, entry, &spans[i], true, &rates->figures->clocks[tsc - report->facts.clocks]);
		}
		set_rate_with_crystal_error(rates, figures);
	}
	if (tsc) {
		struct rate_interval claimed = get_claimed_rate_of_tsc(report, tsc);
		size_t i = (size_t)(tsc - report->facts.clocks);

		rates->figures->clocks[i].implied = claimed;
		spans[i].implied = spans[i].halves[0] = spans[i].halves[1] = claimed;
	}
	rates->figures->rate_count = 0;
	for (size_t a = 0; a < report->facts.clock_count; a++)
		for (size_t b = a + 1; b < report->facts.clock_count; b++)
			compare_rates_of_pair(rates, spans, a, b);
}

/*
 * Sets behind_tsc of a clock that a hypervisor calculates from the TSC, at its first reading. Such a clock does not
 * wrap.
 */
static void
compare_count_with_tsc(const struct rates *rates, size_t i)
{
	const struct clock *clock = &rates->report->facts.clocks[i].clock;
	const struct sample *first = &rates->clocks[i].first;
	const struct rate_interval *tsc = &rates->figures->tsc_within;
	unsigned __int128 ns_microhz = (unsigned __int128)NS_PER_S * MICROHZ;
	uint64_t at_ns, low_ns, high_ns;

	if (!rates->clocks[i].is_followed || !clock->by_tsc || wraps_range(clock) || !tsc->known)
		return;
	at_ns = scale_mul_div_wide((unsigned __int128)first->ticks * NS_PER_S, clock->claimed.den, clock->claimed.num,
				   SCALE_NEAREST);
	low_ns = scale_mul_div_wide(ns_microhz, first->begin, tsc->high, SCALE_DOWN);
	high_ns = scale_mul_div_wide(ns_microhz, first->end, tsc->low, SCALE_UP);
	/* the upper bound is below the lower one if the TSC stepped back in this reading */
	if ((at_ns | low_ns | high_ns) > INT64_MAX || high_ns < low_ns)
		return;
	rates->figures->clocks[i].behind_tsc = (struct interval_ns){
		true, (int64_t)(low_ns + (high_ns - low_ns) / 2) - (int64_t)at_ns, (int64_t)low_ns - (int64_t)at_ns,
		(int64_t)high_ns - (int64_t)at_ns,
	};
}

static void
store_window_rates(struct rates *rates, const struct scale *scale)
{
	for (size_t i = 0; i < rates->report->facts.clock_count; i++) {
		const struct clock_rates *clock = &rates->clocks[i];
		struct clock_figures *figures = &rates->figures->clocks[i];

		figures->implied_window = figures->implied;
		if (figures->uncounted) /* a wrap more or less in one half looks like a change */
			figures->change_halves = figures->change_since = (struct interval_ppb){ .known = false };
		if (!clock->is_followed || figures->uncounted || !figures->implied.known)
			continue;
		figures->window_ns = scale_ns(scale, clock->last.begin - clock->first.begin);
		figures->change = figures->change_halves;
	}
}

/*
 * Returns false if the clock has no reading at the end of the run, if it is uncertain how often the clock wrapped after
 * the rate window, or if the clock stepped back. If the clock then advanced by more than this step back, the step is
 * not found here, but changes the clock's rate.
 */
static bool
is_final_reading_usable(struct rates *rates, size_t i, uint64_t change_ppb)
{
	const struct clock_rates *clock = &rates->clocks[i];
	const struct clock *described = &rates->report->facts.clocks[i].clock;
	const struct rate_interval *window = &rates->figures->clocks[i].implied_window;
	uint64_t back_ticks = clock->last.ticks - clock->final.ticks;

	if (!clock->has_final || !window->known ||
	    rate_may_wraps_be_miscounted(described, window, clock->expected_ticks, change_ppb))
		return false;
	if (back_ticks == 0 || back_ticks >> 63)
		return true;
	rates->outcome.went_back |= set_of(i);
	return false;
}

/*
 * Returns the clock that takes longest to wrap, among clocks that are not in DONE; REPORT_CLOCKS_MAX if none is left.
 */
static size_t
find_clock_with_longest_wrap(const struct rates *rates, uint32_t done)
{
	size_t last = REPORT_CLOCKS_MAX;
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < rates->report->facts.clock_count; i++) {
		const struct clock *clock = &rates->report->facts.clocks[i].clock;
		uint64_t ns;

		if (!rates->clocks[i].has_final || set_has(done, i))
			continue;
		ns = scale_mul_div_wide((unsigned __int128)clock->wrap_ticks * PPB, clock->claimed.den, clock->claimed.num,
					SCALE_UP);
		if (last < REPORT_CLOCKS_MAX && ns <= longest_ns)
			continue;
		longest_ns = ns;
		last = i;
	}
	return last;
}

/*
 * Fills the changes of rates since the rate window. Clocks that take longer to wrap come first, because their changes
 * decide whether the wraps of the other clocks can be counted.
 */
static void
set_rate_changes_since_window(struct rates *rates, const struct scale *scale)
{
	uint64_t change_ppb = 0;
	uint32_t done = 0;

	for (size_t i; (i = find_clock_with_longest_wrap(rates, done)) < REPORT_CLOCKS_MAX;) {
		struct clock_figures *figures = &rates->figures->clocks[i];
		struct clock_rates *clock = &rates->clocks[i];

		done |= set_of(i);
		clock->has_final = is_final_reading_usable(rates, i, change_ppb);
		figures->implied_since.known &= clock->has_final;
		figures->change_since.known &= clock->has_final;
		figures->since_ns = scale_ns(scale, clock->final.begin - clock->last.begin);
		if (rate_min_abs(&figures->change_since) > change_ppb)
			change_ppb = rate_min_abs(&figures->change_since);
		if (rate_min_abs(&figures->change_since) > rate_min_abs(&figures->change) ||
		    !figures->change.known)
			figures->change = figures->change_since;
	}
}

/* Returns true if the rate that the scale uses for the TSC is outside RATE. */
static bool
is_scale_outside_rate(const struct scale *scale, const struct rate_interval *rate)
{
	uint64_t microhz = scale_mul_div(scale->hz.num, MICROHZ, scale->hz.den);

	return rate->known && (microhz < rate->low || microhz > rate->high);
}

/*
 * A pause of a guest may delay an edge of its RTC. The rates before and after this edge are then both wrong. Therefore
 * two time spans without a common edge are compared: the first half of the window, and the time after the window. If
 * both show a wrong rate, the rate in the first half is kept. Otherwise the clock is added to outcome.unsure, so that
 * the run measures its rate once more. A clock that was already measured once more stays unsure.
 */
static void
find_edge_clocks_of_unsure_rate(struct rates *rates, const struct scale *scale)
{
	for (size_t i = 0; i < rates->report->facts.clock_count; i++) {
		const struct clock_rates *clock = &rates->clocks[i];
		const struct rate_interval *half = &clock->window.halves[0];
		struct clock_figures *figures = &rates->figures->clocks[i];

		if (clock->has_again)
			figures->implied_since = clock->again;
		if (!report_is_guest(rates->report) || !clock->is_followed ||
		    !rates->report->facts.clocks[i].clock.edges_only ||
		    !is_scale_outside_rate(scale, &figures->implied_window) ||
		    (figures->implied_since.known && !may_rates_be_equal(&figures->implied_window, &figures->implied_since)))
			continue;
		if (!(clock->has_again && clock->final.end) && is_scale_outside_rate(scale, half) &&
		    is_scale_outside_rate(scale, &figures->implied_since))
			figures->implied_window = *half;
		else
			rates->outcome.unsure |= set_of(i);
	}
}

/*
 * Returns true if all clocks of the rate window were also read at the end of the run, and no clock changed its rate
 * against the TSC. In this case the TSC's own rate did not change either.
 */
static bool
are_all_rates_steady(const struct rates *rates)
{
	for (size_t i = 0; i < rates->report->facts.clock_count; i++) {
		const struct clock_rates *clock = &rates->clocks[i];
		const struct clock_figures *figures = &rates->figures->clocks[i];

		if (clock->is_followed && figures->implied_window.known && !clock->may_have_stopped &&
		    (!figures->change_since.known || rate_min_abs(&figures->change)))
			return false;
	}
	return true;
}

/*
 * Returns true if the rates of all clocks against the TSC changed in the same direction, by more than the limit. In
 * this case the TSC's own rate has changed, and its average over the run is a rate that the TSC never had.
 */
static bool
has_tsc_rate_changed(const struct rates *rates)
{
	int64_t limit_ppb = (int64_t)rates->limit_ppb;
	bool gained = false, lost = false;

	for (size_t i = 0; i < rates->report->facts.clock_count; i++) {
		const struct clock_figures *figures = &rates->figures->clocks[i];

		if (!rates->clocks[i].is_followed || rates->report->facts.clocks[i].clock.edges_only || !figures->change_since.known)
			continue;
		if (figures->change_since.low <= limit_ppb && figures->change_since.high >= -limit_ppb)
			return false;
		gained |= figures->change_since.high < 0;
		lost |= figures->change_since.high > 0;
	}
	return gained != lost;
}

/* Returns the TSC's frequency that the clock ENTRY implies in the ROW. The TSC itself implies its claimed frequency. */
static struct rate_interval
clock_rate_in_soak_row(const struct report *report, const struct series_rate *row, const struct report_clock *entry)
{
	if (text_equal(entry->clock.id, "tsc"))
		return get_claimed_rate_of_tsc(report, entry);
	return rate_widen(row[entry - report->facts.clocks].implied, entry->clock.claimed_within_ppb);
}

/* Sets each clock's rate in each row of the series, relative to the clock that sets the TSC's rate. */
static void
compare_rates_in_soak_rows(const struct report *report, struct figures *figures)
{
	const struct report_clock *by = report_find_clock(report, figures->relative_to);

	for (size_t r = 0; r < report->facts.series.count; r++) {
		struct series_rate *row = &figures->soak_rates[r * report->facts.series.clocks];
		struct rate_interval scale = { .known = false };

		if (by)
			scale = clock_rate_in_soak_row(report, row, by);

		for (size_t i = 0; i < report->facts.clock_count; i++) {
			struct rate_interval rate = clock_rate_in_soak_row(report, row, &report->facts.clocks[i]);

			row[i].ppb = rate_relative_difference(&rate, &scale);
		}
		if (scale.known)
			row[by - report->facts.clocks].ppb = (struct interval_ppb){ true, 0, 0, 0 };
	}
}

struct rate_outcome
analysis_calculate_rates(const void *record, size_t size, uint64_t limit_ppb, const struct report *report,
			 struct figures *figures)
{
	struct rate_windows windows = rate_find_windows(record, size);
	uint32_t miscounted = wraps_find_miscounted_clocks(&windows, report);
	struct rates rates = { .report = report, .figures = figures, .limit_ppb = limit_ppb };

	figures->tsc_claim = NULL;
	figures->soak_rates = report->facts.series.rates;
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		figures->clocks[i] = (struct clock_figures){ .rate_whole_run = false };
		calculate_rates_of_clock(&rates, &windows, i);
		rates.clocks[i].is_uncounted = rates.clocks[i].is_followed && set_has(miscounted, i);
	}
	calculate_rates(&rates, false);
	struct scale scale = report_get_tsc_scale(report);
	store_window_rates(&rates, &scale);
	if (windows.final) {
		set_rate_changes_since_window(&rates, &scale);
		find_edge_clocks_of_unsure_rate(&rates, &scale);
		rates.outcome.whole_run = are_all_rates_steady(&rates) ||
					  (report->facts.options.profile == PROFILE_SOAK &&
					   !has_tsc_rate_changed(&rates));
	}
	if (rates.outcome.whole_run)
		calculate_rates(&rates, true);
	for (size_t i = 0; i < report->facts.clock_count; i++)
		compare_count_with_tsc(&rates, i);
	compare_rates_in_soak_rows(report, figures);
	return rates.outcome;
}
