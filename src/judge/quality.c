/* Judges how reliable the latencies are under stolen time, and sorts the findings. See judge.h. */
#include "judge/judge_internal.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/text.h"

#define TENTHS_FROM       UINT64_C(1000)   /* above 1 % one decimal is printed, below three */
#define P999              99900

/*
 * Returns true if p99.9 of the boot core's reads was hit by stolen time. An RTC's reads wait for its update,
 * which is no stolen time. If no time is stolen, a long read is the clock's own.
 */
static bool
is_hit(const struct report *report, const struct report_clock *entry)
{
	const struct report_interference *all = &report->interference;

	return entry->clock.state == CLOCK_PRESENT && entry->latency && entry->latency->count &&
	       report_clock_is_main(entry) && !entry->clock.edges_only && (all->gaps || !all->measured) &&
	       latency_percentile_is_hit(entry->latency, P999, report->options.gap_ns);
}

static void
put_stolen(struct text *text, const struct report *report)
{
	const struct report_interference *all = &report->interference;
	unsigned digits = report->quality.stolen_millipercent >= TENTHS_FROM ? 1 : 3;

	if (!all->measured)
		text_put(text, "Stolen time was not observed");
	else if (!all->gaps)
		text_put(text, "No stolen time was observed");
	else
		text_printf(text, "%s %% of the observed time was stolen",
			    number_percent(all->total_ns, all->observed_ns, digits).text);
}

/* Lists the clocks whose p99.9 was hit. Returns their number. */
static size_t
put_hit(struct text *text, const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->clock_count; i++)
		if (is_hit(report, &report->clocks[i]))
			text_printf(text, "%s%s", count++ ? ", " : "", report->clocks[i].clock.id);
	return count;
}

/* Short enough for one line of 80 columns in most cases. */
static void
put_tails(struct text *text, const struct report_quality *quality, const char *hit, size_t hits)
{
	if (!quality->tails_known) {
		text_put(text, ": latency tails may be unreliable.");
		return;
	}
	text_printf(text, ": %s", quality->reliable_tails ? "tails reliable up to p99.9" : "latency tails are unreliable");
	if (hits)
		text_printf(text, "; p99.9 of %s %s hit", hit, hits == 1 ? "was" : "were");
	text_put_char(text, '.');
}

void
judge_quality(struct report *report)
{
	const struct report_interference *all = &report->interference;
	struct report_quality *quality = &report->quality;
	uint64_t stolen = all->measured ? scale_mul_div_nearest(all->total_ns, MILLIPERCENT, all->observed_ns) : 0;
	char bytes[REPORT_SENTENCE];
	struct text hit, text;
	size_t hits;

	text_init(&hit, bytes, sizeof(bytes));
	hits = put_hit(&hit, report);
	quality->stolen_known = all->measured;
	quality->stolen_millipercent = stolen;
	quality->tails_known = all->measured || hits;
	quality->reliable_tails = all->measured && !hits && stolen < STOLEN_MAX_MILLIPERCENT;
	text_init(&text, quality->text, sizeof(quality->text));
	put_stolen(&text, report);
	put_tails(&text, quality, bytes, hits);
}

void
judge_order(struct report *report)
{
	struct finding *findings = report->findings;

	for (size_t i = 1; i < report->finding_count; i++) {
		struct finding finding = findings[i];
		size_t at = i;

		for (; at && finding.severity == VERDICT_FAIL && findings[at - 1].severity != VERDICT_FAIL; at--)
			findings[at] = findings[at - 1];
		findings[at] = finding;
	}
}
