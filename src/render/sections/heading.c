/* The heading of the report: the run, the machine and the verdict. See table_sections.h. */
#include "render/sections/table_sections.h"

#include "base/number.h"
#include "base/scale.h"
#include "base/units.h"
#include "render/cores/table_cores.h"
#include "rules/rules.h"

#define LINE_SIZE   320
#define SYSTEM_SIZE 1024

static const char *
text_or_dash(const char *string)
{
	return string && string[0] ? string : "-";
}

void
table_put_run_start(struct text *out, const struct report *report)
{
	char line[LINE_SIZE];
	struct text text = text_start(line, sizeof(line));

	text_printf(&text, "%s (%s)", report->facts.run.version, report->facts.run.commit);
	if (report->facts.run.started_at[0])
		text_printf(&text, ", started %s", report->facts.run.started_at);
	if (report->facts.run.elapsed_known) {
		text_put(&text, ", ran ");
		text_put_decimal(&text, report->facts.run.elapsed_ms, 3, 3);
		text_put(&text, " s");
	}
	table_put_labelled_line(out, "baretick", "%s", line);
}

void
table_put_summary(struct text *out, const struct report *report)
{
	if (report->advice.answer.text[0])
		table_put_labelled_line(out, "answer", "%s", report->advice.answer.text);
}

void
table_put_cpu(struct text *out, const struct report *report)
{
	table_put_labelled_line(out, "cpu", "%s", text_or_dash(report->facts.machine.cpu));
}

/* Writes the options as the user gave them. */
static void
put_given_options(struct text *out, const struct report *report)
{
	size_t line_start = out->length;

	text_printf(out, "%-*s", TABLE_LABEL_COLUMNS, "options");
	table_put_wrapped(out, line_start, TABLE_LABEL_COLUMNS,
			  report->options_given[0] ? report->options_given : "all defaults");
}

/* Appends BEFORE and WORDS to LINE, unless WORDS is empty. */
static void
put_fact_if_known(struct text *line, const char *before, const char *words)
{
	if (words[0])
		text_printf(line, "%s%s%s", line->length ? "; " : "", before, words);
}

/* Writes the machine's label, vendor, product, firmware and CPU model. Writes no line if all are empty. */
static void
put_system_line(struct text *out, const struct report *report)
{
	const struct report_identity *identity = &report->facts.machine.identity;
	char line[SYSTEM_SIZE];
	struct text text = text_start(line, sizeof(line));

	put_fact_if_known(&text, "", report->facts.options.label);
	put_fact_if_known(&text, "", identity->vendor);
	if (identity->vendor[0] && identity->product[0])
		text_printf(&text, " %s", identity->product);
	else
		put_fact_if_known(&text, "", identity->product);
	put_fact_if_known(&text, "serial number ", identity->serial);
	put_fact_if_known(&text, "board ", identity->board);
	put_fact_if_known(&text, "BIOS ", identity->bios);
	if (identity->bios[0] && identity->bios_date[0])
		text_printf(&text, " of %s", identity->bios_date);
	if (identity->cpu_known)
		text_printf(&text, "%sCPU family %u, model %u, stepping %u", text.length ? "; " : "", identity->family,
			    identity->model, identity->stepping);
	if (identity->microcode)
		text_printf(&text, ", microcode %xh", identity->microcode);
	if (text.length)
		table_put_labelled_line(out, "system", "%s", line);
}

/* Writes a line for each paravirtual interface, such as KVM's, that the machine's hypervisors offer. */
static void
put_paravirtual_interfaces(struct text *out, const struct report *report)
{
	for (size_t i = 0; i < report->facts.machine.paravirtual.count; i++) {
		const struct paravirtual_interface *interface = &report->facts.machine.paravirtual.interfaces[i];
		char line[LINE_SIZE];
		struct text text = text_start(line, sizeof(line));

		text_printf(&text, "%s%s%s at CPUID %xh", interface->name, interface->version[0] ? " " : "",
			    interface->version, interface->base);
		put_fact_if_known(&text, "", interface->offers);
		if (interface->tsc.den)
			text_printf(&text, "; states the TSC's rate as %s +-%lu Hz, in %s",
				    number_from_millihz(interface->tsc.num * MILLIHZ_PER_HZ).text, interface->tsc_within_hz,
				    interface->tsc_by);
		if (interface->stable != STABLE_UNKNOWN)
			text_printf(&text, "; its clock is %smarked as stable", interface->stable == STABLE_YES ? "" : "not ");
		table_put_labelled_line(out, i ? "" : "offers", "%s", line);
	}
}

/*
 * Writes the measuring time for each clock. If a key shortened the run, adds the time of the key press, and the
 * measuring time for each clock after the key press.
 */
static void
put_duration(struct text *text, const struct report *report)
{
	uint64_t quick_ns = options_default_duration_ns(PROFILE_QUICK);

	text_printf(text, "%s per clock", number_from_ns(report->duration_ns).text);
	if (report->facts.run.ended_early && report->duration_ns > quick_ns)
		text_printf(text, " to %lu.%lu s, then %s", report->facts.run.ended_early_ms / 1000,
			    report->facts.run.ended_early_ms / 100 % 10,
			    number_from_ns(quick_ns).text);
}

/*
 * Writes the error of the TSC's rate, on the assumption that the clock it was measured against has its nominal
 * frequency. Writes nothing if the rate was not measured.
 */
static void
put_tsc_rate_error(struct text *text, const struct report *report)
{
	const struct report_clock *tsc = report_find_clock(report, "tsc");
	const struct interval_millihz *rate = tsc ? &report_get_figures(report, tsc)->measured : NULL;
	uint64_t below, above;

	if (!rate || !rate->known || !rate->value)
		return;
	below = scale_mul_div_wide(rate->value - rate->low, PPB, rate->value, SCALE_UP);
	above = scale_mul_div_wide(rate->high - rate->value, PPB, rate->value, SCALE_UP);
	text_put(text, " +-");
	text_put_decimal(text, below > above ? below : above, 3, 3);
	text_put(text, " ppm");
}

void
table_put_machine(struct text *out, const struct report *report)
{
	struct rate tsc = report->figures.tsc;
	uint64_t tsc_millihz = tsc.den ? scale_mul_div_nearest(tsc.num, 1000, tsc.den) : 0;
	char line[LINE_SIZE];

	put_system_line(out, report);
	if (report_is_guest(report))
		table_put_labelled_line(out, "machine", "hypervisor %s (%s), firmware %s",
					report->facts.machine.hypervisor,
					text_or_dash(report->facts.machine.accelerator),
					text_or_dash(report->facts.machine.firmware));
	else
		table_put_labelled_line(out, "machine", "bare metal, firmware %s",
					text_or_dash(report->facts.machine.firmware));
	put_paravirtual_interfaces(out, report);
	struct text text = text_start(line, sizeof(line));
	put_duration(&text, report);
	table_put_labelled_line(out, "cores", "%u listed, %u started; %s; TSC bracket: %s",
				report->facts.machine.cores_listed,
				report->facts.machine.cores_started, line, text_or_dash(report->facts.machine.fence));
	put_given_options(out, report);
	text_init(&text, line, sizeof(line));
	if (tsc_millihz)
		put_tsc_rate_error(&text, report);
	table_put_labelled_line(out, "tsc", "%s%s%s%s, %s",
				tsc_millihz ? number_from_millihz(tsc_millihz).text : "rate unknown: 1 tick is shown as 1 ns", line,
				report->figures.tsc_source[0] ? ", " : "", report->figures.tsc_source,
				report->facts.machine.tsc_is_invariant ? "invariant" : "not invariant");
	text_init(&text, line, sizeof(line));
	table_put_skew_in_short(&text, report);
	table_put_labelled_line(out, "skew", "%s", line);
}

void
table_put_verdict(struct text *out, const struct report *report)
{
	size_t line_start = out->length;
	char line[LINE_SIZE];
	struct text text = text_start(line, sizeof(line));

	text_printf(&text, ", %zu finding%s", report->outcomes.finding_count,
		    table_plural_ending(report->outcomes.finding_count));
	if (report->facts.run.ended_early)
		text_printf(&text, "; ended early at %lu.%lu s", report->facts.run.ended_early_ms / 1000,
			    report->facts.run.ended_early_ms / 100 % 10);
	text_put(&text, report->facts.run.incomplete ? "; not everything was measured" : "");
	if (report->outcomes.unjudged[0])
		text_printf(&text, "; %s", report->outcomes.unjudged);
	text_printf(out, "%-*s", TABLE_LABEL_COLUMNS, "verdict");
	text_printf_coloured(out, table_colour_of_verdict(report->outcomes.verdict), "%s",
			     verdict_words_in_capitals[report->outcomes.verdict]);
	table_put_wrapped(out, line_start, TABLE_LABEL_COLUMNS, line);
}

void
table_put_timing_quality(struct text *out, const struct report *report)
{
	const struct report_quality *quality = &report->outcomes.quality;
	size_t line_start = out->length;

	if (!quality->text[0])
		return;
	text_printf(out, "%-*s", TABLE_LABEL_COLUMNS, "stolen");
	out->ink = quality->tails_known && !quality->reliable_tails ? INK_WARN : INK_PLAIN;
	table_put_wrapped(out, line_start, TABLE_LABEL_COLUMNS, quality->text);
	out->ink = INK_PLAIN;
}

void
table_put_phases(struct text *out, const struct report *report)
{
	struct table_sentence sentence;
	struct text *text = table_begin_sentence(&sentence);

	if (!report->facts.run.phase_count || !report->figures.tsc.den)
		return;
	text_printf_coloured(out, INK_HEADING, "\nDurations of the run's phases\n\n");
	for (size_t i = 0; i < report->facts.run.phase_count; i++)
		text_printf(text, "%s%s %lu ms", i ? ", " : "", report->facts.run.phases[i].id,
			    report_ticks_to_ms(report, report->facts.run.phases[i].ticks));
	text_put_char(text, '.');
	table_end_sentence(out, &sentence);
}
