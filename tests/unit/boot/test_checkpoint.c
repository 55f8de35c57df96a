/* The marker, a file that tells the next boot which phase of a run was the last. */
#include <stdio.h>

#include "test.h"
#include "hw/hw.h"
#include "sim.h"
#include "uefi/checkpoint.h"
#include "volume_sim.h"

static uint8_t record_bytes[4096];
static unsigned renders;

#define RENDER_S 100 /* simulated time to render a checkpoint's files */

/* Replaces the real function, because these tests save no files. Counts the checkpoints that were to be saved. */
bool
plan_render_files(struct plan *plan, const struct report *report, const struct text *texts[SAVE_FILES])
{
	renders++;
	sim_advance_ps(RENDER_S * 1000 * SIM_PS_PER_MS);
	return false;
}

/* Replaces the real function, which also sets an alarm of the firmware. */
void
progress_extend_deadline(struct progress *progress, uint64_t begin_tsc)
{
	progress->start_tsc += hw_tsc() - begin_tsc;
}

static struct marker
marker_on(const char *name)
{
	char path[VOLUME_SIM_PATH];
	struct volume_sim_file *file;
	struct marker marker;

	snprintf(path, sizeof(path), "\\baretick\\%s", name);
	file = volume_sim_find_file(path);
	assert_non_null(file);
	assert_true(marker_parse(file->bytes, file->length, &marker));
	return marker;
}

TEST(the_marker_says_if_the_firmware_starts_the_cores)
{
	static const struct run_phase start = { .id = "start-cores", .with_cores = true };
	struct checkpoint *checkpoint = calloc(1, sizeof(*checkpoint));
	struct run *run = calloc(1, sizeof(*run));
	const struct smbios_facts smbios = { .product = "sim" };
	struct progress progress = { .start_tsc = 0 };

	sim_reset();
	firmware_sim_reset();
	volume_sim_open();
	options_set_defaults(&run->report.facts.options);
	run->report.facts.options.cores.method = CORES_SIPI;
	checkpoint_open(checkpoint, &run->report, &smbios);
	checkpoint_set_plan(checkpoint, NULL, &progress);
	checkpoint->saves = false;
	checkpoint_mark_phase_start(checkpoint, run, &start);
	assert_true(progress.start_tsc > 0); /* the write of the marker does not count for the deadline */
	assert_string_equal(marker_on(checkpoint->name).phase, "start-cores");
	assert_int_equal(marker_on(checkpoint->name).cores, CORES_SIPI);
	checkpoint_set_core_start_method(checkpoint, CORES_MP);
	assert_string_equal(marker_on(checkpoint->name).phase, "start-cores");
	assert_int_equal(marker_on(checkpoint->name).cores, CORES_MP);

	uint64_t moved_ticks = progress.start_tsc;

	checkpoint->marks = false;
	checkpoint_mark_phase_start(checkpoint, run, &start);
	assert_int_equal(progress.start_tsc, moved_ticks); /* nothing was written, so the deadline is the same */
	volume_sim_close();
	free(checkpoint);
	free(run);
}

TEST(the_start_of_the_cores_saves_a_checkpoint_unless_one_was_just_saved)
{
	static const struct run_phase start = { .id = "start-cores", .with_cores = true };
	static const struct run_machine machine = { .hooks = { .tsc_ordered = hw_tsc_lfence } };
	const struct smbios_facts smbios = { .product = "sim" };

	for (unsigned report = 0; report <= 2; report += 2) {
		struct checkpoint *checkpoint = calloc(1, sizeof(*checkpoint));
		struct run *run = calloc(1, sizeof(*run));
		struct record *record = &run->survey.record;
		struct progress progress = { .start_tsc = 0 };

		sim_reset();
		firmware_sim_reset();
		volume_sim_open();
		options_set_defaults(&run->report.facts.options);
		run->machine = &machine;
		record_begin(record, record_bytes, sizeof(record_bytes));
		checkpoint_open(checkpoint, &run->report, &smbios);
		checkpoint_set_plan(checkpoint, NULL, &progress);
		checkpoint->marker.report = report; /* the one before Stall(), which took an hour of the TSC */
		checkpoint->saved_tsc = hw_tsc();
		checkpoint->took_ticks = UINT64_C(3600000000000);
		renders = 0;
		checkpoint_mark_phase_start(checkpoint, run, &start);
		assert_int_equal(renders, report == 0);
		/* the time of a checkpoint does not count for the deadline */
		assert_int_equal(progress.start_tsc / (sim.tsc.counter.hz.num / sim.tsc.counter.hz.den) / RENDER_S, report == 0);
		volume_sim_close();
		free(checkpoint);
		free(run);
	}
}

/* The next run's note must name the checkpoint's folder as it is called on the volume. */
TEST(a_checkpoint_that_was_not_renamed_is_named_as_on_the_volume)
{
	static const char *const folders[] = { "\\baretick\\0002", "\\baretick\\0003.new" };
	const struct smbios_facts smbios = { .product = "sim" };

	for (unsigned i = 0; i < 2; i++) {
		struct checkpoint *checkpoint = calloc(1, sizeof(*checkpoint));
		struct run *run = calloc(1, sizeof(*run));
		const struct marker left = { .phase = "rates", .cores = CORES_OFF, .report = 2 + i };
		char bytes[MARKER_SIZE], path[VOLUME_SIM_PATH];

		firmware_sim_reset();
		volume_sim_open();
		options_set_defaults(&run->report.facts.options);
		checkpoint_open(checkpoint, &run->report, &smbios);
		snprintf(path, sizeof(path), "\\baretick\\%s", checkpoint->name);
		marker_print(bytes, &left);
		memcpy(volume_sim_find_file(path)->bytes, bytes, MARKER_SIZE);
		volume_sim_add_file(folders[i], true);
		memset(checkpoint, 0, sizeof(*checkpoint));
		checkpoint_open(checkpoint, &run->report, &smbios);
		assert_int_equal(run->report.notes.count, 1);
		snprintf(path, sizeof(path), " its report up to there is %s.", folders[i]);
		assert_non_null(strstr(run->report.notes.sentences[0], path));
		volume_sim_close();
		free(checkpoint);
		free(run);
	}
}
