/*
 * Judges how reliable the latencies are under stolen time. In a soak, notes when time was stolen, if most of it was
 * stolen in one part of the run. See judge_internal.h.
 */
#include "judge/judge_internal.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/text.h"
#include "base/units.h"
#include "report/phrase.h"

/*
 * The host's counter may differ from the measured gaps by 1 % of the observed time or by 10 ms, whichever is more.
 * Hosts do not count all interruptions: they leave out their page faults, for example.
 */
#define STEAL_APART_MILLIPERCENT UINT64_C(1000)
#define STEAL_APART_NS           UINT64_C(10000000)
#define P999              99900            /* 99.9 % in units of 1/1000 % */
#define LONG_READ_NS      UINT64_C(10000000) /* a read of a clock that takes this long was interrupted */
/*
 * A note names the part of a soak in which most gaps occurred: the shortest part with 9 of 10 gaps, if cores were
 * observed for at most half of the time in this part. A soak with fewer gaps than GAPS_MIN gets no note.
 */
#define GAPS_MIN      32
#define PART_GAPS_NUM 9
#define PART_GAPS_DEN 10
#define PART_SHARE    2

/*
 * Returns the clock with the longest read on the boot core if that read took at least LONG_READ_NS, otherwise NULL. A
 * clock is left out if clocks diverged in its measurement. An RTC is left out because its reads wait for the end of its
 * update. Returns NULL if the TSC jumped, because it times the reads.
 */
static const struct report_clock *
find_interrupted_read(const struct report *report)
{
	const struct report_clock *longest = NULL;

	if (judge_has_tsc_stepped_or_jumped(report) || judge_has_tsc_diverged(report))
		return NULL;
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct report_clock *entry = &report->facts.clocks[i];

		if (entry->clock.state != CLOCK_PRESENT || entry->clock.edges_only || entry->latency_discontinuities ||
		    !entry->latency || !entry->latency->count || entry->latency->max_ns < LONG_READ_NS)
			continue;
		if (!longest || entry->latency->max_ns > longest->latency->max_ns)
			longest = entry;
	}
	return longest;
}

static bool
has_core_stepped(const struct report *report, uint32_t apic_id)
{
	for (size_t i = 0; i < report->facts.core_count; i++)
		if (report->facts.cores[i].apic_id == apic_id)
			return report->outcomes.sync.cores[i].stepped;
	return false;
}

/* Returns true if GAP began in ROW, or at most 1 ms before or after it. */
static bool
is_gap_at(const struct report *report, const struct report_gap *gap, const struct report_discontinuity *row)
{
	return gap->at_ms + 1 >= report_run_time_ns(report, row->from_tsc) / NS_PER_MS &&
	       gap->at_ms <= report_run_time_ns(report, row->at_tsc) / NS_PER_MS + 1;
}

/* Returns the size of the TSC's jump that explains GAP, or 0 if no jump explains it. */
static uint64_t
jump_that_explains_gap_ns(const struct report *report, const struct report_gap *gap)
{
	uint32_t tsc = judge_get_clock_bit(report, "tsc");

	for (size_t i = 0; i < report->figures.discontinuity_count; i++) {
		const struct report_discontinuity *row = &report->figures.discontinuities[i];
		const struct report_group *alone = &row->groups[row->groups[0].clocks != tsc];
		const struct report_group *other = &row->groups[alone == row->groups];
		int64_t low_ns = alone->elapsed.low - other->elapsed.high;

		if (report->outcomes.discontinuities[i].alone == tsc && row->group_count == 2 && alone->elapsed.known &&
		    other->elapsed.known && low_ns > 0 && gap->ns >= (uint64_t)low_ns && is_gap_at(report, gap, row))
			return (uint64_t)low_ns;
	}
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];

		if (text_equal(finding->rule, "tsc-offset") && finding->core == gap->core && has_core_stepped(report, gap->core) &&
		    finding->low > 0 && gap->ns >= (uint64_t)finding->low)
			return (uint64_t)finding->low;
	}
	return 0;
}

/* Returns the time in gaps that the TSC's jumps explain. This time was not stolen. */
static uint64_t
time_of_jumps_in_gaps_ns(const struct report *report)
{
	const struct report_interference *all = &report->figures.interference;
	uint64_t ns = 0;

	for (size_t i = 0; i < all->event_count; i++)
		ns += jump_that_explains_gap_ns(report, &all->events[i]);
	return ns < all->total_ns ? ns : all->total_ns;
}

/*
 * Returns true if stolen time lengthened the boot core's p99.9. An RTC is left out, because its reads wait for the end
 * of its update. If no time was stolen, a long read is due to the clock itself.
 */
static bool
is_p999_due_to_stolen_time(const struct report *report, const struct report_clock *entry)
{
	const struct report_interference *all = &report->figures.interference;

	return entry->clock.state == CLOCK_PRESENT && entry->latency && entry->latency->count &&
	       report_clock_is_main_of_device(entry) && !entry->clock.edges_only && (all->gaps || !all->measured) &&
	       latency_is_percentile_interrupted(entry->latency, P999, report->facts.options.gap_ns);
}

/* JUMPS_NS is the time in gaps that the TSC's jumps explain. READ is the clock with an interrupted read, or NULL. */
static struct phrase
describe_stolen_time(const struct report *report, uint64_t jumps_ns, const struct report_clock *read)
{
	const struct report_interference *all = &report->figures.interference;

	if (!all->measured)
		return phrase("Stolen time was not observed");
	if ((!all->gaps || all->total_ns == jumps_ns) && read)
		return phrase("No stolen time was observed while only the TSC was read, but a read of %s took %s",
			      read->clock.id, number_from_ns(read->latency->max_ns).text);
	if (!all->gaps || all->total_ns == jumps_ns)
		return phrase("No stolen time was observed");
	if (jumps_ns)
		return phrase("%s %% of the observed time was stolen",
			      number_as_percent(all->total_ns - jumps_ns, all->observed_ns - jumps_ns, 1).text);
	return phrase("%s of the observed time was stolen", phrase_stolen_share(report).bytes);
}

/*
 * Writes a sentence on stolen time and on the clocks whose p99.9 it lengthened. The sentence fits a line of 80 columns
 * in most cases.
 */
void
judge_timing_quality(const struct report *report, struct outcomes *outcomes)
{
	const struct report_interference *all = &report->figures.interference;
	struct report_quality *quality = &outcomes->quality;
	struct phrase hit = { "" };
	const struct report_clock *read = find_interrupted_read(report);
	uint64_t jumps_ns = all->measured ? time_of_jumps_in_gaps_ns(report) : 0;
	uint64_t stolen = all->observed_ns > jumps_ns ?
		scale_mul_div_nearest(all->total_ns - jumps_ns, MILLIPERCENT, all->observed_ns - jumps_ns) : 0;
	bool unseen = read && !all->gaps; /* time was stolen, but not when the cores were watched */
	size_t hits = 0;

	for (size_t i = 0; i < report->facts.clock_count; i++)
		if (is_p999_due_to_stolen_time(report, &report->facts.clocks[i]))
			phrase_add(&hit, "%s%s", hits++ ? ", " : "; p99.9 of ", report->facts.clocks[i].clock.id);
	if (hits)
		phrase_add(&hit, " %s from stolen time", hits == 1 ? "is" : "are");
	quality->stolen_known = all->measured;
	quality->stolen_millipercent = stolen;
	quality->tails_known = all->measured || hits;
	quality->reliable_tails = all->measured && !hits && !unseen && stolen < STOLEN_MAX_MILLIPERCENT;
	text_format(quality->text, sizeof(quality->text), "%s: %s%s.", describe_stolen_time(report, jumps_ns, read).bytes,
		    !quality->tails_known ? "latency tails may be unreliable" :
		    quality->reliable_tails ? "tails reliable up to p99.9" : "latency tails are unreliable", hit.bytes);
	if (jumps_ns)
		notes_add(&outcomes->notes, "%s of the time in gaps are jumps of the TSC, and not stolen time.",
			  number_from_ns(jumps_ns).text);
}

/*
 * Returns true if one time is certainly larger than another. LOW_NS, a lower bound of the first, must exceed HIGH_NS,
 * an upper bound of the second, by more than both tolerances: a share of the observed time, and STEAL_APART_NS.
 */
static bool
exceeds_stolen_time_tolerance(const struct report_stolen *stolen, uint64_t low_ns, uint64_t high_ns)
{
	uint64_t tolerated_ns = scale_mul_div(stolen->observed_ns, STEAL_APART_MILLIPERCENT, MILLIPERCENT);

	return low_ns > high_ns && low_ns - high_ns > tolerated_ns && low_ns - high_ns > STEAL_APART_NS;
}

void
judge_reported_stolen_time(const struct report *report, struct outcomes *outcomes)
{
	const struct report_interference *all = &report->figures.interference;
	const struct report_stolen *stolen = &all->stolen;
	const struct stolen_counters *counters = &report->facts.stolen_counters;
	bool less = exceeds_stolen_time_tolerance(stolen, stolen->low_ns, stolen->reported_ns);
	bool more = exceeds_stolen_time_tolerance(stolen, stolen->reported_low_ns, stolen->high_ns);
	bool lent_unread;
	struct behaviour *row = counters->counter ? behaviour_add_row(&outcomes->behaviours, "pv-steal",
								      counters->counter) : NULL;
	struct number took, reported;

	if (!row)
		return;
	row->checked = !counters->counter_reason && stolen->observed_ns;
	if (!row->checked) {
		behaviour_set_text(row, "%s", counters->counter_reason ? counters->counter_reason : "The counter of stolen time was "
			"not read on any core.");
		return;
	}
	lent_unread = report->facts.options.cores.method == CORES_MP && text_equal(counters->counter, "kvm_steal") &&
		stolen->observed_ns < all->observed_ns;
	row->failed = less || more;
	row->open = row->failed && (report->figures.discontinuity_count || judge_has_tsc_stepped(report));
	took = number_as_percent(more ? stolen->high_ns : stolen->low_ns, stolen->observed_ns, 1);
	reported = number_as_percent(stolen->reported_ns, stolen->observed_ns, 1);
	behaviour_set_text(row, "The host took %s %s %% of the cores' time, and reports %s %% as stolen%s.%s",
			   more ? "at most" : "at least", took.text, reported.text,
			   row->open ? ", in a run in which the clocks disagree" : "",
			   lent_unread ? " The stolen-time counters of cores that run through the firmware's MP services "
				    "(cores=mp) were not read." : "");
}

/* Rows FROM to TO - 1 of a series, and their sums. */
struct soak_part {
	size_t from, to;
	uint64_t gaps, observed_ns;
};

/*
 * Returns the shortest part of the soak that has at least PART_GAPS_NUM / PART_GAPS_DEN of all gaps. ALL is the whole
 * soak. For each last row, the part starts as late as the share of gaps allows.
 */
static struct soak_part
find_part_with_most_gaps(const struct series *series, const struct soak_part *all)
{
	struct soak_part best = *all, part = { 0, 0, 0, 0 };

	while (part.to < series->count) {
		part.gaps += series->rows[part.to].gaps;
		part.observed_ns += series->rows[part.to++].observed_ns;
		for (; (part.gaps - series->rows[part.from].gaps) * PART_GAPS_DEN >= all->gaps * PART_GAPS_NUM; part.from++) {
			part.gaps -= series->rows[part.from].gaps;
			part.observed_ns -= series->rows[part.from].observed_ns;
		}
		if (part.gaps * PART_GAPS_DEN >= all->gaps * PART_GAPS_NUM && part.observed_ns < best.observed_ns)
			best = part;
	}
	return best;
}

void
judge_note_stolen_time(const struct report *report, struct outcomes *outcomes)
{
	const struct series *series = &report->facts.series;
	struct soak_part all = { 0, series->count, 0, 0 }, part;

	for (size_t i = 0; i < series->count; i++) {
		all.gaps += series->rows[i].gaps;
		all.observed_ns += series->rows[i].observed_ns;
	}
	if (all.gaps < GAPS_MIN)
		return;
	part = find_part_with_most_gaps(series, &all);
	if (part.observed_ns > all.observed_ns / PART_SHARE)
		return;
	notes_add(&outcomes->notes, "Time was stolen mostly between %s and %s: %lu of %lu gaps occurred then, in %lu of "
		  "%lu ms that cores were observed.", phrase_tsc_time(report, series->rows[part.from].from_tsc).bytes,
		  phrase_tsc_time(report, series->rows[part.to - 1].to_tsc).bytes, part.gaps, all.gaps,
		  part.observed_ns / NS_PER_MS, all.observed_ns / NS_PER_MS);
}
