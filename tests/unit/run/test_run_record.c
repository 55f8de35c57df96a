/* Tests of the record that a whole run on the simulated machine makes, and of the report's sentence about it. */
#include "test.h"
#include "bench.h"
#include "findings.h"
#include "record/record.h"
#include "sim.h"

#define CORES 2

static struct bench *bench;

static void
open_bench(void)
{
	sim_reset();
	sim_slow_tsc_reads(8);
	bench = bench_new();
	bench_open(bench, CORES);
	bench_use_threads(bench);
}

static void
close_bench(void)
{
	bench_free(bench);
}

TEST_FIXTURE(open_bench, close_bench);

static const struct report *
play(void)
{
	(void)bench_run(bench);
	assert_false(bench->run.report.facts.run.incomplete);
	return &bench->run.report;
}

TEST(the_record_has_each_cpuid_leaf_and_msr_that_states_a_rate)
{
	const struct report *report = play();
	const struct claims *claims = bench->machine.claims;
	struct record_reader reader;
	struct record_entry entry;
	struct record_stated stated;
	size_t count = 0;

	reader = record_open(report->record.bytes, report->record.length);
	while (record_read_next(&reader, &entry)) {
		const struct claim_raw *raw = &claims->raw[count];

		if (entry.kind != RECORD_STATED)
			continue;
		record_read_fixed_part(&entry, &stated);
		assert_int_equal(stated.is_msr, raw->is_msr);
		assert_int_equal(stated.faulted, raw->faulted);
		assert_int_equal(stated.number, raw->number);
		assert_int_equal(stated.eax, raw->eax);
		assert_int_equal(stated.ebx, raw->ebx);
		assert_int_equal(stated.ecx, raw->ecx);
		assert_int_equal(stated.edx, raw->edx);
		count++;
	}
	assert_int_equal(count, claims->raw_count);
	assert_true(count >= 4); /* at least the leaves 0h, 1h, 15h and 16h */
}

TEST(the_record_is_complete_and_the_report_has_its_sha256)
{
	const struct report *report = play();
	uint64_t cores = 0, watches = 0;
	char hex[SHA256_HEX_SIZE];
	struct record_reader reader;
	struct record_entry entry;
	struct record_core core;
	struct record_run run;

	sha256_hex(report->record.bytes, report->record.length, hex);
	assert_string_equal(report->record.sha256, hex);
	assert_int_equal(report->record.dropped, 0);
	reader = record_open(report->record.bytes, report->record.length);
	assert_true(record_read_next(&reader, &entry));
	assert_int_equal(entry.kind, RECORD_RUN);
	record_read_fixed_part(&entry, &run);
	assert_int_equal(run.start_tsc, report->facts.run.start_tsc);
	while (record_read_next(&reader, &entry)) {
		watches += entry.kind == RECORD_WATCH;
		if (entry.kind != RECORD_CORE)
			continue;
		record_read_fixed_part(&entry, &core);
		assert_int_equal(core.core, cores);
		assert_int_equal(core.apic_id, report->facts.cores[cores].apic_id);
		cores++;
	}
	assert_int_equal(reader.state, RECORD_WHOLE);
	assert_int_equal(cores, CORES);
	assert_int_equal(watches, CORES);
}

/*
 * The record has space for the entries run, scale and core, but not for an entry `watch` (a search for gaps) with
 * gaps.
 */
TEST(each_phase_of_the_run_has_its_time)
{
	const struct report *report = play();
	const struct run_phase *phase = run_phases;
	uint64_t end = 0;

	assert_true(report->facts.run.phase_count > 0 && report->facts.run.phase_count <= REPORT_PHASES_MAX);
	for (size_t i = 0; i < report->facts.run.phase_count; i++) {
		phase += phase->with_firmware; /* the simulated machine has no firmware */
		assert_string_equal(report->facts.run.phases[i].id, phase++->id);
		assert_true(report->facts.run.phases[i].begin_ticks >= end);
		end = report->facts.run.phases[i].begin_ticks + report->facts.run.phases[i].ticks;
	}
	assert_null(phase->id);
	assert_in_range(report_ticks_to_ms(report, end), 1, report->facts.run.elapsed_ms + 2); /* rounded up and down */
}

TEST(a_full_record_is_reported_and_later_figures_are_not_measured)
{
	const struct report *report;

	bench->run.survey.memory.record_size = RECORD_SIZE_MIN + 400;
	bench->run.survey.memory.facts_size = 0;
	report = play();
	assert_true(report->record.dropped > 0);
	assert_false(report->figures.interference.measured);
	assert_int_equal(report->figures.cores[0].observed_ns, 0);
	assert_true(has_note(report, "The record of the run had no space for "));
}

/* The record is full, but has reserved space for facts, so that bench_close() can make the same report from it. */
TEST(facts_have_reserved_space_in_a_full_record)
{
	struct survey_memory *memory = &bench->run.survey.memory;
	const struct record *record = &bench->run.survey.record;
	uint64_t dropped;

	memory->record_size = RECORD_SIZE_MIN + 400 + memory->facts_size;
	run_measure(&bench->run);
	dropped = record->dropped;
	assert_true(dropped > 0);
	bench_close(bench);
	assert_int_equal(record->dropped, dropped);
	assert_true(record->entries_of[RECORD_FACTS] > 0 && record->entries_of[RECORD_LATENCY] > 0);
}
