/* Runs surveys and whole runs with all drivers on the simulated machine. See bench.h. */
#include "bench.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "checks/checks.h"
#include "paravirtual/signals.h"
#include "render/json/json.h"
#include "replay/replay.h"
#include "sim.h"
#include "sim_sleep.h"
#include "smp/startup.h"
#include "threads.h"
#include "timers/timers.h"

#define DURATION_NS UINT64_C(20000000)
#define LOST_FACTS  "The record had no space for all facts about the machine."
#define JSON_BYTES  ((size_t)16 << 20) /* enough for the JSON report of any simulated machine */

static bool
is_core_alive(void *context, size_t core)
{
	const struct bench *bench = context;

	return core != bench->mute || !bench->is_dead;
}

static bool
run_on_core(void *context, size_t core, smp_job *job, void *argument, uint64_t bound_ns)
{
	struct bench *bench = context;
	uint64_t begin_ps = sim.now_ps;

	if (core == bench->mute && bench->mute_after_jobs-- == 0) {
		bench->is_dead = true;
		return false;
	}
	sim_advance_ps(bench->job_ps);
	sim.core = core;
	job(argument, core);
	sim.core = 0;
	if (!core || (sim.now_ps - begin_ps) / SIM_PS_PER_NS <= bound_ns)
		return true;
	bench->mute = core;
	bench->is_dead = bench->is_late = true;
	return false;
}

uint64_t
bench_ticks_left(void *context)
{
	const struct bench *bench = context;
	uint64_t deadline_ps = bench->deadline_ms * SIM_PS_PER_MS;

	if (bench->deadline_ms == BENCH_NEVER_MS)
		return UINT64_MAX;
	return sim.now_ps < deadline_ps ?
	       scale_ns_to_ticks(&bench->run.survey.scale, (deadline_ps - sim.now_ps) / SIM_PS_PER_NS) : 0;
}

static void
check_progress(void *context, const char *what, uint64_t done_ns, uint64_t total_ns)
{
	if (!what || !total_ns)
		sim_fail("progress without a name, or of nothing");
}

static void
ignore_measured_clock(void *context, const struct report *report, const struct report_clock *clock)
{
}

struct bench *
bench_new(void)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	if (!bench)
		sim_fail("no memory for a bench");
	bench->mute = BENCH_NOBODY;
	bench->deadline_ms = BENCH_NEVER_MS;
	bench->duration_ns = DURATION_NS;
	bench->widest = PAIR_SCHEDULE_ALL;
	sim_describe_platform(&bench->platform);
	return bench;
}

/* Marks each core that no longer answers as not started in REPORT, with the reason. */
static void
describe_cores(void *context, struct report *report)
{
	const struct bench *bench = context;

	for (size_t i = 0; i < report->facts.core_count; i++) {
		if (is_core_alive(context, i))
			continue;
		report->facts.cores[i].started = false;
		report->facts.cores[i].timed_out = true;
		strcpy(report->facts.cores[i].reason, startup_explanations[bench->is_late ? CORE_LATE : CORE_SILENT]);
	}
}

static void
fill_core_list(struct bench *bench, size_t cores)
{
	struct report *report = &bench->run.report;

	report->facts.core_count = cores;
	report->facts.machine.cores_listed = report->facts.machine.cores_started = (uint32_t)cores;
	for (size_t i = 0; i < cores; i++) {
		report->facts.cores[i].apic_id = (uint32_t)i;
		report->facts.cores[i].started = true;
		report->facts.cores[i].boot = i == 0;
	}
}

static void
leave_cores_running(void *context, struct run *run)
{
}

static void
read_registers(void *context, struct as_found *registers)
{
	const struct bench *bench = context;

	registers_read_from_clocks(registers, &bench->platform, bench->machine.hooks.guarded);
}

static void
read_signals(void *context, bool first, struct signals *signals)
{
	const struct bench *bench = context;
	const struct platform *platform = &bench->platform;
	const struct signal_places places = { &platform->paravirtual, platform->acpi.vmgenid, platform->acpi.vmclock };

	signals_read_disruption_markers(&places, NULL, first, signals);
}

static const struct sleep_hooks sleep = { .driver = &sim_sleep_driver };

static bool
does_firmware_tick(uint64_t (*tsc)(void), uint64_t bound)
{
	return true;
}

static void
set_deadline(void *context, struct rate hz, uint64_t deadline_ns)
{
	struct bench *bench = context;

	if (bench->deadline_ms == BENCH_NEVER_MS)
		bench->deadline_ms = (sim.now_ps + deadline_ns * SIM_PS_PER_NS) / SIM_PS_PER_MS;
}

void
bench_open(struct bench *bench, size_t cores)
{
	struct report *report = &bench->run.report;
	const struct cpu_facts *cpu = &bench->platform.cpu;

	report->facts.run.version = report->facts.run.commit = "x";
	report->facts.machine.fence = "";
	options_set_defaults(&report->facts.options);
	report->facts.options.profile = bench->interval_ns ? PROFILE_SOAK : PROFILE_QUICK;
	if (bench->interval_ns)
		report->facts.options.interval_ns = bench->interval_ns;
	report->facts.options.duration_ns = bench->duration_ns;
	for (size_t i = 0; bench->clocks && bench->clocks[i]; i++)
		strcpy(report->facts.options.clocks.ids[report->facts.options.clocks.count++], bench->clocks[i]);
	report->facts.options.cores.sleep = bench->sleeps ? SLEEP_HALT : SLEEP_OFF;
	report->facts.machine.lapic_always_runs = cpu->lapic_always_runs;
	report->facts.machine.tsc_is_invariant = cpu->tsc_is_invariant;
	report->facts.machine.paravirtual = bench->platform.paravirtual;
	for (size_t i = 0; i < bench->platform.claims.count; i++)
		report_add_claim(report, &bench->platform.claims.rows[i]);
	memcpy(report->facts.machine.cpu_vendor, bench->platform.cpu.vendor, sizeof(report->facts.machine.cpu_vendor));
	memcpy(report->facts.machine.hypervisor, cpu->hypervisor, sizeof(report->facts.machine.hypervisor));
	bench->run.smp = (struct smp){ .context = bench, .count = cores, .alive = is_core_alive, .run = run_on_core };
	bench->machine = (struct run_machine){
		.context = bench,
		.drivers = drivers,
		.checks = device_checks,
		.platform = &bench->platform,
		.claims = &bench->platform.claims,
		.time_firmware = bench->time_firmware,
		.timers = timer_drivers,
		.window = sim.interrupts.plugged ? sim_interrupts_make_window() : (struct timer_window){ .slot = NULL },
		.hooks = {
			.context = bench,
			.interrupts_mask = hw_interrupts_mask,
			.interrupts_restore = hw_interrupts_restore,
			.tsc_ordered = hw_tsc_lfence,
			.pause = hw_pause,
			.core_facts = cpu_read_core_facts,
			.ticks_left = bench_ticks_left,
			.progress = check_progress,
			.measured = ignore_measured_clock,
		},
		.start_cores = leave_cores_running,
		.describe_cores = describe_cores,
		.stop_cores = leave_cores_running,
		.read_registers = read_registers,
		.read_signals = read_signals,
		.set_tsc_rate = set_deadline,
	};
	if (bench->sleeps) {
		bench->machine.hooks.sleep = &sleep;
		bench->machine.window.firmware_ticks = does_firmware_tick;
	}
	bench->stolen_counter = steal_time_open_counter(cpu, &bench->platform.paravirtual, bench->guard, NULL);
	bench->machine.hooks.stolen_counter = &bench->stolen_counter;
	bench->memory = sim_allocate_zeros(PINGPONG_LINE, survey_memory_bytes(cores, bench->widest,
									      run_max_series_rows(&report->facts.options, cores)));
	if (bench->interval_ns)
		bench->series = bench->machine.series = calloc(1, run_series_size_bytes(&report->facts.options, cores));
	run_set_up(&bench->run, &bench->machine, bench->memory, cores, bench->widest);
	fill_core_list(bench, cores);
}

/* A block of memory that a replay allocates. The blocks form a list, so that all can be freed. */
struct block {
	struct block *next;
	max_align_t bytes[];
};

static void *
allocate_for_replay(void *context, size_t bytes)
{
	struct block **blocks = context, *block = calloc(1, sizeof(*block) + bytes);

	if (!block)
		sim_fail("no memory for a replay");
	block->next = *blocks;
	*blocks = block;
	return block->bytes;
}

static void
render_json(const struct report *report, char bytes[JSON_BYTES])
{
	struct text text;

	text_init(&text, bytes, JSON_BYTES);
	json_render(&text, report);
}

/* Fails the test if the two reports differ, and names the first difference. */
static void
compare_texts(const char *expected, const char *found)
{
	size_t at = 0, line = 0;

	for (; expected[at] && expected[at] == found[at]; at++)
		line = expected[at] == '\n' ? at + 1 : line;
	if (expected[at] != found[at])
		sim_fail("the replay of the record differs:\n%.200s\nand not\n%.200s", found + line, expected + line);
}

static void
check_replay(struct run *run)
{
	/* static, because a sanitizer needs long to allocate and free so much memory */
	static char expected[JSON_BYTES], found[JSON_BYTES];
	struct block *blocks = NULL;
	const struct replay_memory memory = { allocate_for_replay, &blocks };
	struct record *record = &run->survey.record;
	struct report *report = calloc(1, sizeof(*report));
	struct replay_found entries;
	const char *error = report ? replay_restore_report(record->bytes, record->length, &memory, report, &entries) :
			    "no memory";

	render_json(&run->report, expected);
	if (error && !(record->dropped && text_equal(error, LOST_FACTS)))
		sim_fail("the replay fails: %s", error);
	if (!error)
		replay_calculate_results(report, record->bytes, record->length, entries.entries, entries.dropped);
	render_json(error ? &run->report : report, found);
	compare_texts(expected, found);
	for (struct block *next; blocks; blocks = next) {
		next = blocks->next;
		free(blocks);
	}
	free(report);
}

void
bench_close(struct bench *bench)
{
	run_close_clocks_and_judge(&bench->run);
	if (bench->run.survey.record.length)
		check_replay(&bench->run);
}

const struct report *
bench_run(struct bench *bench)
{
	run_measure(&bench->run);
	bench_close(bench);
	return &bench->run.report;
}

void
bench_measure_rates(struct bench *bench)
{
	survey_warm_up_and_estimate_tsc_rate(&bench->run.survey);
	survey_measure_rates(&bench->run.survey);
}

void
bench_free(struct bench *bench)
{
	if (!bench)
		return;
	for (size_t d = 0; drivers[d]; d++)
		drivers[d]->close(&bench->run.devices[d]);
	if (bench->has_threads)
		threads_stop();
	free(bench->memory);
	free(bench->series);
	free(bench);
}

struct report_clock *
bench_find_clock(struct bench *bench, const char *id)
{
	for (size_t i = 0; i < bench->run.report.facts.clock_count; i++)
		if (strcmp(bench->run.report.facts.clocks[i].clock.id, id) == 0)
			return &bench->run.report.facts.clocks[i];
	sim_fail("no clock %s", id);
}

const struct clock_figures *
bench_find_figures(struct bench *bench, const char *id)
{
	return report_get_figures(&bench->run.report, bench_find_clock(bench, id));
}

static struct {
	void (*sample)(void *device, struct sample *samples, size_t count); /* the driver's function */
	unsigned batches_left;
	void (*work)(void);
} before_batch;

static void
sample_after_work(void *device, struct sample *samples, size_t count)
{
	if (before_batch.batches_left-- == 0)
		before_batch.work();
	before_batch.sample(device, samples, count);
}

void
bench_call_before_batch(struct bench *bench, const char *id, unsigned batch, void (*work)(void))
{
	struct clock *clock = &bench_find_clock(bench, id)->clock;

	before_batch.sample = clock->sample;
	before_batch.batches_left = batch;
	before_batch.work = work;
	clock->sample = sample_after_work;
}
