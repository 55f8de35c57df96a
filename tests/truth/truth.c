/*
 * Counts false statements in baretick's reports on random machines with known true values.
 *
 * truth SEED COUNT [--kind NAME]... [--simulated] [--all] [--report] [--entries]
 *
 * Does COUNT trials of each kind, or of the named kinds, with the seeds from SEED on. One in SIMULATED_SHARE trials is
 * simulated, and the others have drawn readings. With --simulated, all trials are simulated. `truth SEED 1 --kind NAME`
 * repeats a single trial. --all prints all errors, not only the first few of each check. --report prints each report.
 * --entries prints the number and the size of each record's entries.
 * The exit status is 1 if there was an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "tally.h"
#include "verdict.h"

#define SIMULATED_SHARE 20

static void
print_report(const struct report *report)
{
	printf("tsc: %s\n", report->figures.tsc_source);
	for (size_t i = 0; i < report->outcomes.finding_count; i++)
		printf("%s: %s\n", report->outcomes.findings[i].rule, report->outcomes.findings[i].text);
	for (size_t i = 0; i < report->figures.discontinuity_count; i++)
		for (size_t g = 0; g < report->figures.discontinuities[i].group_count; g++) {
			const struct report_group *group = &report->figures.discontinuities[i].groups[g];

			printf("%.3f to %.3f ms: ", (double)report_run_time_ns(report, report->figures.discontinuities[i].from_tsc) / 1e6,
			       (double)report_run_time_ns(report, report->figures.discontinuities[i].at_tsc) / 1e6);
			for (size_t c = 0; c < report->facts.clock_count; c++)
				if (group->clocks >> c & 1)
					printf("%s ", report->facts.clocks[c].clock.id);
			printf("%.6f (%.6f to %.6f) s\n", group->elapsed.value / 1e9, group->elapsed.low / 1e9, group->elapsed.high / 1e9);
		}
	for (size_t i = 0; i < report->notes.count; i++)
		printf("note: %s\n", report->notes.sentences[i]);
}

/*
 * Prints each pair's offset in ticks, as B minus A, and its time. All statements about cores come from these offsets.
 */
static void
print_pairs(const struct report *report, const char *which, const struct offsets *offsets)
{
	for (size_t a = 0; a < offsets->cores; a++)
		for (size_t b = a + 1; b < offsets->cores; b++) {
			struct offset own = offsets_get_offset(offsets, a, b);
			struct moment moment = offsets_get_time_of_pair(offsets, a, b);

			if (offset_is_known(own))
				printf("%s: core %zu against %zu: %lld to %lld ticks, %.6f to %.6f s\n", which, b, a,
				       (long long)own.low, (long long)own.high,
				       report_run_time_ns(report, moment.begin_tsc) / 1e9,
				       report_run_time_ns(report, moment.end_tsc) / 1e9);
		}
}

static void
print_machine(void)
{
	for (int i = 0; i < CLOCKS; i++)
		if (machine.has[i])
			printf("true: %s %.6Lf Hz, oscillator %u, off by %.1Lf ppb\n", clock_ids[i], machine.hz[i], machine.source[i],
			       machine_get_rate_error_ppb(i));
	if (machine.at_ps != SIM_NEVER)
		printf("true: event %d of %s at %.3f s, for %.3f s, by %lld ppm\n", (int)machine.event, clock_ids[machine.clock],
		       (machine.at_ps - machine.run.from_ps) / 1e12, machine.by_ps / 1e12, (long long)machine.bend_ppm);
	for (size_t i = 1; i < machine.stop_count; i++)
		printf("true: further stop at %.6f s\n", (machine.stops_at_ps[i] - machine.run.from_ps) / 1e12);
	printf("true: the TSC counts in steps of %.3f\n", machine.step_1024 / 1024.0);
	for (size_t i = 0; i < machine.cores && machine.cores > 1; i++) {
		const struct core *core = &machine.core[i];

		printf("true: core %zu offset %lld, %.3f ppb", i, (long long)core->offset,
		       ((double)core->microhz / (double)machine.core[0].microhz - 1) * 1e9);
		if (core->steps_at_ps != SIM_NEVER)
			printf(", steps by %lld at %.6f s", (long long)core->step, (core->steps_at_ps - machine.run.from_ps) / 1e12);
		printf("\n");
	}
	printf("true: window %.3f to %.3f s, tournaments %.6f to %.6f s and %.6f to %.6f s, %llu accesses\n",
	       (machine.rates.from_ps - machine.run.from_ps) / 1e12, (machine.rates.to_ps - machine.run.from_ps) / 1e12,
	       (machine.first.from_ps - machine.run.from_ps) / 1e12, (machine.first.to_ps - machine.run.from_ps) / 1e12,
	       (machine.last.from_ps - machine.run.from_ps) / 1e12, (machine.last.to_ps - machine.run.from_ps) / 1e12,
	       (unsigned long long)sim.accesses);
}

/* Prints the number of entries and bytes of each kind in the record, and the rules of the findings. */
static void
print_record_entries(const struct bench *bench, uint64_t seed)
{
	const struct record *record = &bench->run.survey.record;
	size_t bytes[RECORD_KINDS] = { 0 }, before = RECORD_HEADER_BYTES;
	struct record_reader reader;
	struct record_entry entry;

	reader = record_open(record->bytes, record->length);
	for (; record_read_next(&reader, &entry); before = reader.at)
		bytes[entry.kind] += reader.at - before;
	printf("%llu entries:", (unsigned long long)seed);
	for (size_t kind = 0; kind < RECORD_KINDS; kind++)
		if (record->entries_of[kind])
			printf(" %zu=%u/%zu", kind, record->entries_of[kind], bytes[kind]);
	printf("; findings:");
	for (size_t i = 0; i < bench->run.report.outcomes.finding_count; i++)
		printf(" %s", bench->run.report.outcomes.findings[i].rule);
	printf("\n");
}

struct arguments {
	bool simulated, show, entries;
};

static void
run_trial(const struct kind *kind, uint64_t seed, const struct arguments *arguments, bool simulated)
{
	struct bench *bench;

	tally_begin_trial(seed, simulated);
	bench = machine_run_trial(kind, seed, !simulated);
	if (arguments->entries)
		print_record_entries(bench, seed);
	if (arguments->show) {
		print_report(&bench->run.report);
		if (bench->run.report.figures.skew.pass_count > 0)
			print_pairs(&bench->run.report, "first", &bench->run.report.figures.skew.passes[0].offsets);
		if (bench->run.report.figures.skew.pass_count > 1)
			print_pairs(&bench->run.report, "last", &report_get_last_pass(&bench->run.report)->offsets);
		print_machine();
	}
	verdict_check_claims(bench);
	verdict_check_rates(bench);
	verdict_check_clocks(&bench->run.report);
	if (machine.cores > 1)
		verdict_check_cores(bench);
	if (sim.interrupts.plugged)
		verdict_check_timers(&bench->run.report);
	if (machine.sleeps)
		verdict_check_sleeps(&bench->run.report);
	verdict_check_host(&bench->run.report);
	bench_free(bench);
	cores_free();
}

/* Returns true if the command line names this kind of machine, or no kind at all. */
static bool
is_kind_requested(const struct kind *kind, int count, char **words)
{
	bool any = false;

	for (int i = 0; i + 1 < count; i++) {
		if (strcmp(words[i], "--kind") != 0)
			continue;
		any = true;
		if (strcmp(words[i + 1], kind->name) == 0)
			return true;
	}
	return !any;
}

static bool
has_word(const char *word, int count, char **words)
{
	for (int i = 0; i < count; i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

int
main(int count, char **words)
{
	uint64_t first, trials, wrong = 0;
	bool all = has_word("--all", count, words);
	const struct arguments arguments = {
		.simulated = has_word("--simulated", count, words),
		.show = has_word("--report", count, words),
		.entries = has_word("--entries", count, words),
	};

	if (count < 3) {
		fprintf(stderr, "usage: truth SEED COUNT [--kind NAME]... [--simulated] [--all] [--report] [--entries]; "
				"the kinds:\n");
		for (const struct kind *kind = kinds; kind->name; kind++)
			fprintf(stderr, "  %-14s %s\n", kind->name, kind->what);
		return 2;
	}
	first = strtoull(words[1], NULL, 0);
	trials = strtoull(words[2], NULL, 0);
	for (const struct kind *kind = kinds; kind->name; kind++) {
		if (!is_kind_requested(kind, count, words))
			continue;
		tally_begin_kind(kind, all);
		for (uint64_t i = 0; i < trials; i++)
			run_trial(kind, first + i, &arguments, arguments.simulated ||
				  i % SIMULATED_SHARE == SIMULATED_SHARE - 1);
		wrong += tally_end();
	}
	return wrong > 0;
}
