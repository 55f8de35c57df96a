/* The rule catalogue. See rules.h; rules_judge.c applies it. */
#include "rules.h"

#include "text.h"

const struct rule rules[] = {
	{
		.id = "clock-backward",
		.clock = "any",
		.what = "steps back, read from one core",
		.limit = 0,
		.unit = "steps",
		.severity = VERDICT_FAIL,
		.sentence = "A clock that steps back gives durations below zero and events in the wrong order.",
		.source = "PostgreSQL pg_test_timing; Linux drivers/clocksource/acpi_pm.c",
	},
	{
		.id = "clock-stuck",
		.clock = "any",
		.severity = VERDICT_FAIL,
		.sentence = "A clock that is there and never moves makes whoever waits for it hang.",
		.source = "Linux arch/x86/kernel/hpet.c; memtest86plus issues 40 and 102",
	},
	{
		.id = "clock-broken",
		.clock = "any",
		.severity = VERDICT_FAIL,
		.sentence = "What the clock answers contradicts itself or the table that announces it.",
		.source = "Linux arch/x86/kernel/hpet.c; Xen arch/x86/time.c",
	},
	{
		.id = "tsc-warp",
		.clock = "tsc",
		.what = "warps between cores, under contention",
		.limit = 0,
		.unit = "warps",
		.severity = VERDICT_FAIL,
		.sentence = "A later reading on one core was below an earlier one on another core.",
		.source = "Linux arch/x86/kernel/tsc_sync.c",
	},
	{
		.id = "tsc-offset",
		.clock = "tsc",
		.what = "how far a core's TSC is proven to stand apart from most others'",
		.limit = 0,
		.unit = "ns",
		.severity = VERDICT_FAIL,
		.sentence = "A time taken on one core can't be compared with a time taken on the other.",
		.cause = "Firmware that wrote the TSC of some cores, a socket that was reset later, or a hypervisor "
			 "that gives each core an offset of its own.",
		.advice = "Update the firmware; until then keep the kernel off this TSC: on Linux "
			  "clocksource=hpet, or tsc=unstable.",
		.source = "Microsoft Windows-Time-Calibration-Tools; illumos tscc",
	},
	{
		.id = "tsc-drift",
		.clock = "tsc",
		.what = "how fast a core's TSC is proven to drift away from most others'",
		.limit = 0,
		.unit = "ppb",
		.severity = VERDICT_FAIL,
		.sentence = "Cores that agree at boot disagree after some hours, and nobody looks again.",
		.cause = "A core whose TSC runs from a source of its own, or a hypervisor that scales it.",
		.advice = "Update the firmware; until then keep the kernel off this TSC: on Linux "
			  "clocksource=hpet, or tsc=unstable.",
		.source = "Framework issue tracker 107 (AMD 7040)",
	},
	{
		.id = "tsc-contradiction",
		.clock = "tsc",
		.what = "pairs of cores that contradict what all others say of them",
		.limit = 0,
		.unit = "pairs",
		.severity = VERDICT_WARN,
		.sentence = "No set of offsets explains what all pairs of cores measured.",
		.cause = "A TSC that was written, or a virtual core that moved to a real one with another TSC, "
			 "while the cores were measured.",
		.advice = "Run it again with profile=soak; in a guest, pin the virtual cores to real ones.",
		.source = "RFC 1305, 4.2.1 (falsetickers); Linux arch/x86/kernel/tsc_sync.c",
	},
	{
		.id = "tsc-adjust",
		.clock = "tsc",
		.what = "the largest TSC_ADJUST, where it is the same on all cores",
		.limit = 0,
		.unit = "ticks",
		.severity = VERDICT_WARN,
		.sentence = "Somebody wrote the TSC after reset: it no longer counts from there.",
		.cause = "Firmware that sets the TSC at start or after sleep.",
		.advice = "Harmless while all cores have the same; update the firmware if kernels complain of it.",
		.source = "Linux arch/x86/kernel/tsc_sync.c",
	},
	{
		.id = "tsc-adjust-unequal",
		.clock = "tsc",
		.what = "the largest TSC_ADJUST minus the smallest",
		.limit = 0,
		.unit = "ticks",
		.severity = VERDICT_WARN,
		.sentence = "The TSCs were written core by core, so that nothing but luck keeps them together.",
		.cause = "Firmware that sets the TSC of each core at another moment.",
		.advice = "Update the firmware; Linux sets TSC_ADJUST to one value by itself at boot.",
		.source = "Linux arch/x86/kernel/tsc_sync.c; X299 firmware",
	},
	{
		.id = "core-missing",
		.what = "cores that did not start or stopped answering",
		.limit = 0,
		.unit = "cores",
		.severity = VERDICT_WARN,
		.sentence = "What is said of the other cores is not known of these.",
		.source = "Intel SDM volume 3, multiple-processor initialization",
	},
	{
		.id = "acpi-table",
		.severity = VERDICT_WARN,
		.sentence = "The firmware describes the machine in a table that contradicts itself.",
		.source = "ACPI specification, system description tables",
	},
	{ .id = NULL },
};

const struct rule *
rules_find(const char *id)
{
	for (const struct rule *rule = rules; rule->id; rule++)
		if (text_equal(rule->id, id))
			return rule;
	return NULL;
}

void
rules_limit_ids(const char *ids[RULES_MAX + 1])
{
	size_t count = 0;

	for (const struct rule *rule = rules; rule->id && count < RULES_MAX; rule++)
		if (rule->what)
			ids[count++] = rule->id;
	ids[count] = NULL;
}

uint64_t
rules_limit(const struct rule *rule, const struct options *options)
{
	for (size_t i = 0; i < options->limit_count; i++)
		if (text_equal(options->limits[i].rule, rule->id))
			return options->limits[i].value;
	return rule->limit;
}

static void
note_lost_finding(struct report *report)
{
	static const char sentence[] = "There were more findings than the report has room for.";

	if (report->note_count && text_equal(report->notes[report->note_count - 1], sentence))
		return;
	report_note(report, "%s", sentence);
}

struct finding *
rules_add_finding(struct report *report, const char *rule_id, const char *clock, uint32_t core,
		  const char *format, ...)
{
	const struct rule *rule = rules_find(rule_id);
	struct finding *finding;
	struct text text;
	va_list arguments;

	if (!rule)
		return NULL;
	if (rule->severity == VERDICT_FAIL || report->verdict == VERDICT_PASS)
		report->verdict = rule->severity;
	if (report->finding_count >= REPORT_FINDINGS_MAX) {
		note_lost_finding(report);
		return NULL;
	}
	finding = &report->findings[report->finding_count++];
	*finding = (struct finding){ .rule = rule->id, .severity = rule->severity, .clock = clock,
				     .core = core, .unit = rule->unit, .source = rule->source };
	text_init(&text, finding->text, sizeof(finding->text));
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
	return finding;
}
