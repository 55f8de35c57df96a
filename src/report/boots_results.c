/* Adds the results of the present boot to the earlier results of its series. See boots_results.h. */
#include "report/boots_results.h"

#include "base/number.h"
#include "base/text.h"
#include "report/phrase.h"

#define NOTES_LEFT 4 /* notes of the run itself have at least so many places */

static struct boots_entry
make_entry(const char *rule, const char *clock, uint32_t core, const char *unit)
{
	struct boots_entry entry = { .core = core };

	text_copy(entry.rule, sizeof(entry.rule), rule);
	text_copy(entry.clock, sizeof(entry.clock), clock ? clock : "");
	text_copy(entry.unit, sizeof(entry.unit), unit ? unit : "");
	return entry;
}

static void
set_range(struct boots_entry *entry, bool known, int64_t low, int64_t high)
{
	if (!known || low > high || low < -BOOTS_VALUE_MAX || high > BOOTS_VALUE_MAX)
		return;
	entry->measured = true;
	entry->low = low;
	entry->high = high;
}

/* Returns true if an earlier finding has the rule, the clock and the core of finding I. */
static bool
has_earlier_finding(const struct report *report, size_t i)
{
	const struct finding *finding = &report->outcomes.findings[i];
	struct boots_entry entry = make_entry(finding->rule, finding->clock, finding->core, finding->unit);

	for (size_t j = 0; j < i; j++) {
		const struct finding *other = &report->outcomes.findings[j];
		struct boots_entry earlier = make_entry(other->rule, other->clock, other->core, other->unit);

		if (boots_have_same_subject(&entry, &earlier))
			return true;
	}
	return false;
}

static void
count_findings(const struct report *report, struct boots *boots)
{
	for (size_t i = 0; i < report->outcomes.finding_count; i++) {
		const struct finding *finding = &report->outcomes.findings[i];
		struct boots_entry entry = make_entry(finding->rule, finding->clock, finding->core, finding->unit);

		if (has_earlier_finding(report, i))
			continue;
		set_range(&entry, finding->has_measured, finding->low, finding->high);
		boots_count_entry(boots, &entry);
	}
}

static void
count_rates(const struct report *report, struct boots *boots)
{
	for (size_t i = 0; i < report->facts.clock_count; i++) {
		const struct interval_millihz *rate = &report->figures.clocks[i].measured;
		struct boots_entry entry = make_entry(BOOTS_RATE, report->facts.clocks[i].clock.id, BOOTS_NO_CORE, "mHz");

		set_range(&entry, rate->known, (int64_t)rate->low, (int64_t)rate->high);
		if (entry.measured)
			boots_count_entry(boots, &entry);
	}
}

/* Counts the offset of each core's TSC from the boot core's TSC, in the pass that the report shows. */
static void
count_offsets(const struct report *report, struct boots *boots)
{
	for (size_t i = 0; i < report->facts.core_count; i++) {
		const struct report_core *core = &report->facts.cores[i];
		struct offset ns = report_offset_to_ns(report, report_get_core_offset(report, report->figures.skew.passes, core));
		struct boots_entry entry = make_entry(BOOTS_OFFSET, "tsc", core->apic_id, "ns");

		if (core->boot)
			continue;
		set_range(&entry, offset_is_known(ns), ns.low, ns.high);
		if (entry.measured)
			boots_count_entry(boots, &entry);
	}
}

static void
count_verdict(const struct report *report, struct boots *boots)
{
	boots->failed += report->outcomes.verdict == VERDICT_FAIL;
	boots->warned += report->outcomes.verdict == VERDICT_WARN;
	boots->incomplete += report->outcomes.verdict == VERDICT_INCOMPLETE;
}

/* Returns the value of an entry as text, with its unit. */
static struct phrase
phrase_value(const struct boots_entry *entry, int64_t value)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
	const char *sign = value < 0 ? "-" : "";

	if (text_equal(entry->unit, "ns"))
		return phrase("%s%s", sign, number_from_ns(size).text);
	if (text_equal(entry->rule, BOOTS_RATE))
		return phrase("%s", number_from_millihz(size).text);
	return phrase("%s%lu %s", sign, size, entry->unit);
}

static bool
is_figure(const struct boots_entry *entry)
{
	return text_equal(entry->rule, BOOTS_RATE) || text_equal(entry->rule, BOOTS_OFFSET);
}

/* Adds a note for each finding of the series, with the number of boots in which it was seen. */
static void
add_notes_on_findings(struct report *report, const struct boots *boots, uint32_t ended)
{
	for (size_t i = 0; i < boots->entry_count && report->notes.count + NOTES_LEFT < REPORT_NOTES_MAX; i++) {
		const struct boots_entry *entry = &boots->entries[i];
		struct phrase about = phrase("%s", entry->rule);

		if (is_figure(entry))
			continue;
		if (entry->clock[0])
			phrase_add(&about, " of %s", entry->clock);
		if (entry->core != BOOTS_NO_CORE)
			phrase_add(&about, ", core %u", entry->core);
		if (entry->measured)
			phrase_add(&about, ", %s to %s", phrase_value(entry, entry->low).bytes,
				   phrase_value(entry, entry->high).bytes);
		notes_add(&report->notes, "In %u of %u boots: %s.", entry->boots, ended, about.bytes);
	}
}

/* Adds a note that starts with WORDS and has the range of each figure RULE, as far as they fit. */
static void
add_note_on_figures(struct report *report, const struct boots *boots, const char *rule, const char *words)
{
	char bytes[REPORT_SENTENCE - 1];
	const char *separator = "";
	struct text text = text_start(bytes, sizeof(bytes));

	text_put(&text, words);
	for (size_t i = 0; i < boots->entry_count; i++) {
		const struct boots_entry *entry = &boots->entries[i];
		struct phrase range = phrase("%s to %s", phrase_value(entry, entry->low).bytes,
					     phrase_value(entry, entry->high).bytes);

		if (!text_equal(entry->rule, rule) || text.length + text_length(range.bytes) + BOOTS_NAME_SIZE > sizeof(bytes))
			continue;
		text_printf(&text, "%s ", separator);
		if (entry->core == BOOTS_NO_CORE)
			text_printf(&text, "%s %s", entry->clock, range.bytes);
		else
			text_printf(&text, "core %u %s", entry->core, range.bytes);
		separator = ",";
	}
	if (separator[0])
		notes_add(&report->notes, "%s.", bytes);
}

static void
add_notes(struct report *report, const struct boots *boots)
{
	notes_add(&report->notes, "This is boot %u of %u. Boots that reached their end: %u; that did not: %u. Verdicts: "
		  "fail %u, warn %u, incomplete %u.", boots->started, boots->planned, boots->started - boots->died, boots->died,
		  boots->failed, boots->warned, boots->incomplete);
	add_notes_on_findings(report, boots, boots->started - boots->died);
	add_note_on_figures(report, boots, BOOTS_RATE, "Range of each rate over the boots:");
	add_note_on_figures(report, boots, BOOTS_OFFSET, "Range of each core's TSC offset over the boots:");
}

void
boots_add_results(struct report *report)
{
	struct boots *boots = &report->outcomes.boots_so_far;

	*boots = report->facts.boots;
	if (!boots->planned)
		return;
	count_verdict(report, boots);
	count_findings(report, boots);
	count_rates(report, boots);
	count_offsets(report, boots);
	add_notes(report, boots);
}

void
boots_add_note_on_single_boot(struct report *report)
{
	notes_add(&report->notes, "This is a single boot, because no boot volume can count the boots of boots=%u.",
		  report->facts.options.save.boots);
}
