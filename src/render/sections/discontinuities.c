/* The discontinuities: what each clock did, which systems are late afterwards, and which timers still interrupt. */
#include "render/sections/table_sections.h"

#include "report/phrase.h"

#define CLOCK_COLUMNS   12
#define ELAPSED_COLUMN  36 /* end of the first column of durations */
#define SYSTEM_COLUMNS  36
#define TAKEN_COLUMN    48 /* start of the column of a system's lateness */

static struct phrase
describe_duration(const struct interval_ns *duration)
{
	return duration->known ? phrase_duration(duration->value, duration->low, duration->high) : phrase("-");
}

/* Returns how late a time is. It is "-" if it may be right. */
static struct phrase
describe_lateness(const struct interval_ns *late)
{
	if (!late->known)
		return phrase("not known");
	if (late->low <= 0 && late->high >= 0)
		return phrase("-");
	return late->value < 0 ? phrase("early by %s", phrase_duration(-late->value, -late->high, -late->low).bytes) :
	       describe_duration(late);
}

static void
put_title_of_discontinuity(struct text *out, const struct report *report, size_t i)
{
	const struct report_discontinuity *row = &report->figures.discontinuities[i];
	const struct aftermath *aftermath = &report->advice.aftermaths[i];
	static const char *const what[] = {
		[DISCONTINUITY_PARTED] = "groups of clocks diverged", [DISCONTINUITY_STOPPED] = "the machine was stopped",
		[DISCONTINUITY_JUMPED] = "one clock jumped",
		[DISCONTINUITY_TSC_MOVED] = "the TSC moved, or all other clocks were stopped",
	};
	static const char *const announced[] = {
		[ANNOUNCED_UNKNOWN] = "", [ANNOUNCED_NO] = " The hypervisor did not announce it.",
		[ANNOUNCED_PERHAPS] = " The hypervisor announced it, or another disruption in this run.",
		[ANNOUNCED_YES] = " The hypervisor announced it.",
	};

	table_put_sentence(out, "%s%s%s %s, %s.%s%s", row->from_tsc ? "between " : "before ",
			   row->from_tsc ? phrase_tsc_time(report, row->from_tsc).bytes : "", row->from_tsc ? " and" : "",
			   phrase_tsc_time(report, row->at_tsc).bytes, what[report->outcomes.discontinuities[i].class],
			   announced[aftermath->announced],
			   aftermath->right == REPORT_GROUPS_MAX ? " Nothing shows which of the clocks was right." : "");
}

static void
put_clocks(struct text *out, const struct report *report, const struct report_discontinuity *row,
	   const struct aftermath *aftermath)
{
	text_printf(out, "\n%-*s%*s   then late by\n", CLOCK_COLUMNS, "clock", ELAPSED_COLUMN - CLOCK_COLUMNS, "advanced by");
	for (size_t i = 0; i < row->clock_count; i++)
		text_printf(out, "%-*s%*s   %s\n", CLOCK_COLUMNS, report_clock_id(report, row->clocks[i].clock),
			    ELAPSED_COLUMN - CLOCK_COLUMNS, describe_duration(&row->clocks[i].elapsed).bytes,
			    describe_lateness(&aftermath->clocks[i]).bytes);
}

static void
put_systems(struct text *out, const struct report *report, const struct aftermath *aftermath)
{
	text_printf(out, "\n%-*s%-*stime then late by\n", SYSTEM_COLUMNS, "system", TAKEN_COLUMN - SYSTEM_COLUMNS, "takes");
	for (size_t i = 0; i < report->advice.taken_count; i++)
		text_printf(out, "%-*s%-*s%s\n", SYSTEM_COLUMNS, report->advice.taken[i].system, TAKEN_COLUMN - SYSTEM_COLUMNS,
			    report->advice.taken[i].clock, describe_lateness(&aftermath->systems[i]).bytes);
}

/* Adds the sources of AFTERMATH whose result is SURVIVES to a sentence, followed by the words END. */
static void
add_sources(struct text *sentence, const struct aftermath *aftermath, enum report_survives survives,
	    const char *singular, const char *plural)
{
	size_t count = 0, written = 0;

	for (size_t i = 0; i < aftermath->source_count; i++)
		count += aftermath->sources[i].survives == survives;
	for (size_t i = 0; i < aftermath->source_count; i++)
		if (aftermath->sources[i].survives == survives)
			text_printf(sentence, "%s%s", phrase_list_separator(written++, count), aftermath->sources[i].source);
	if (count)
		text_put(sentence, count == 1 ? singular : plural);
}

static void
put_timers(struct text *out, const struct aftermath *aftermath)
{
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);

	text_put(text, "timers afterwards: ");
	add_sources(text, aftermath, SURVIVES_YES, " interrupts. ", " interrupt. ");
	add_sources(text, aftermath, SURVIVES_NO, " does not interrupt. ", " do not interrupt. ");
	add_sources(text, aftermath, SURVIVES_UNKNOWN, " was not tested afterwards.", " were not tested afterwards.");
	if (!aftermath->source_count)
		text_put(text, "none was tested.");
	table_end_sentence(out, &sentence);
}

void
table_put_discontinuities(struct text *out, const struct report *report)
{
	if (!report->figures.discontinuity_count)
		return;
	text_printf_coloured(out, INK_HEADING, "\nTimes at which the clocks diverged, and what is wrong afterwards\n");
	for (size_t i = 0; i < report->figures.discontinuity_count; i++) {
		const struct aftermath *aftermath = &report->advice.aftermaths[i];

		text_put_char(out, '\n');
		put_title_of_discontinuity(out, report, i);
		put_clocks(out, report, &report->figures.discontinuities[i], aftermath);
		if (report->advice.taken_count)
			put_systems(out, report, aftermath);
		text_put_char(out, '\n');
		put_timers(out, aftermath);
	}
	table_put_sentence(out, "Late: what a time that only this clock counts lacks afterwards, until something sets it. "
			   "\"-\": nothing is proven to be wrong.");
}
