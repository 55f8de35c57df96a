/* Writes the marker file and the checkpoints of a run. See checkpoint.h. */
#include "uefi/checkpoint.h"

#include "base/sha256.h"
#include "hw/hw.h"
#include "report/folders.h"

#define SHARE     10 /* checkpoints use at most 1/SHARE of the run's time, even on a slow volume */
#define MINUTE_NS UINT64_C(60000000000)
#define FIRST     "start-cores" /* machines may hang in this phase: a checkpoint is saved before it if there is none */

/*
 * Makes the marker's file name, a hash of facts that identify the machine. The number of cores and the options are left
 * out, because they may change. The serial number distinguishes two machines of one model. It is used even with
 * identity=off, because the hash does not reveal it.
 */
static void
make_marker_file_name(char name[MARKER_FILE_NAME_SIZE], const struct report *report, const struct smbios_facts *smbios)
{
	char bytes[sizeof(report->facts.machine.cpu) + sizeof(report->facts.machine.hypervisor) +
		   sizeof(report->facts.machine.firmware) + sizeof(*smbios)];
	char hex[SHA256_HEX_SIZE];
	struct text text = text_start(bytes, sizeof(bytes));

	text_printf(&text, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s", report->facts.machine.cpu,
		    report->facts.machine.hypervisor, report->facts.machine.firmware,
		    smbios->vendor, smbios->product, smbios->serial, smbios->board_vendor, smbios->board_product);
	sha256_hex(bytes, text.length, hex);
	text_format(name, MARKER_FILE_NAME_SIZE, "%.8s.run", hex);
}

static void
write_marker_file(struct checkpoint *checkpoint, const char *phase)
{
	char bytes[MARKER_SIZE];

	if (!checkpoint->marks)
		return;
	text_copy(checkpoint->marker.phase, sizeof(checkpoint->marker.phase), phase);
	marker_print(bytes, &checkpoint->marker);
	checkpoint->marks = marker_file_write(checkpoint->name, bytes, sizeof(bytes), &checkpoint->folder_made);
	checkpoint->marked |= checkpoint->marks;
}

void
checkpoint_open(struct checkpoint *checkpoint, struct report *report, const struct smbios_facts *smbios)
{
	struct marker found = { .least = CORES_SIPI }, *marker = &checkpoint->marker;
	char bytes[MARKER_SIZE];

	if (!report->facts.options.save.on_volume || !save_check_volume(checkpoint->damage))
		return;
	make_marker_file_name(checkpoint->name, report, smbios);
	marker->cores = CORES_OFF;
	if (marker_parse(bytes, marker_file_read(checkpoint->name, bytes, sizeof(bytes)), &found)) {
		found.unrenamed = found.report && save_has_incomplete_folder(found.report);
		marker->least = marker_make_options_safer(&found, report);
	}
	checkpoint->number = save_find_next_report_number();
	/* Checkpoints use the two folder numbers after the report's number. */
	checkpoint->marks = checkpoint->number && checkpoint->number <= FOLDERS_MAX - 2;
	write_marker_file(checkpoint, "open");
}

void
checkpoint_set_plan(struct checkpoint *checkpoint, struct plan *plan, struct progress *progress)
{
	checkpoint->plan = plan;
	checkpoint->progress = progress;
	checkpoint->saves = checkpoint->marks;
}

/*
 * Writes PHASE into the marker during a run. If nothing is written, the deadline does not move. Otherwise its alarm
 * would be set again by the TSC, and would not count the time in which the TSC stood still.
 */
static void
mark(struct checkpoint *checkpoint, const char *phase)
{
	uint64_t begin_tsc = hw_tsc();

	if (!checkpoint->marks)
		return;
	write_marker_file(checkpoint, phase);
	progress_extend_deadline(checkpoint->progress, begin_tsc);
}

/*
 * Saves a checkpoint, and writes its number and the phase into the marker. The previous checkpoint is removed last,
 * because the marker names it until the marker is written again.
 */
void
checkpoint_save(void *context)
{
	struct checkpoint *checkpoint = context;
	const struct text *texts[SAVE_FILES];
	uint64_t begin = hw_tsc();
	unsigned earlier = checkpoint->marker.report;
	unsigned number = checkpoint->number + 1;

	if (earlier == number)
		number++;
	run_make_report_so_far(checkpoint->run, checkpoint->phase, &checkpoint->report);
	checkpoint->saves = plan_render_files(checkpoint->plan, &checkpoint->report, texts) &&
			    save_checkpoint(texts, number);
	if (checkpoint->saves)
		checkpoint->marker.report = number;
	write_marker_file(checkpoint, checkpoint->phase->id);
	if (checkpoint->saves) {
		if (earlier)
			save_remove_report(earlier);
		checkpoint->saved_tsc = hw_tsc();
		checkpoint->took_ticks = checkpoint->saved_tsc - begin;
	}
	progress_extend_deadline(checkpoint->progress, begin);
}

void
checkpoint_mark_phase_start(void *context, const struct run *run, const struct run_phase *phase)
{
	struct checkpoint *checkpoint = context;
	bool first = text_equal(phase->id, FIRST), due;

	checkpoint->run = run;
	checkpoint->phase = phase;
	/*
	 * No checkpoint is saved if the marker could not be written, because the volume is then read-only or removed.
	 */
	checkpoint->saves &= checkpoint->marks;
	due = checkpoint->saves && (checkpoint->marker.report ?
				    hw_tsc() - checkpoint->saved_tsc >= SHARE * checkpoint->took_ticks : first);
	checkpoint->marker.cores = phase->with_cores ? run->report.facts.options.cores.method : CORES_OFF;
	if (due)
		checkpoint_save(checkpoint);
	else
		mark(checkpoint, phase->id);
}

void
checkpoint_mark_sleep_state(void *context, const char *name)
{
	char phase[MARKER_PHASE_SIZE];

	text_format(phase, sizeof(phase), MARKER_SLEEP_STATE "%s", name);
	mark(context, phase);
}

void
checkpoint_set_core_start_method(void *context, enum options_cores cores)
{
	struct checkpoint *checkpoint = context;

	checkpoint->marker.cores = cores;
	mark(checkpoint, checkpoint->phase->id);
}

void
checkpoint_save_before_dangerous_call(void *context)
{
	struct checkpoint *checkpoint = context;

	if (checkpoint->saves)
		checkpoint_save(checkpoint);
}

bool
checkpoint_is_due(const void *context)
{
	const struct checkpoint *checkpoint = context;
	uint64_t ago_ticks = hw_tsc() - checkpoint->saved_tsc;

	if (!checkpoint->saves || !checkpoint->marker.report || !checkpoint->phase->reports_within)
		return false;
	return scale_ns(&checkpoint->run->survey.scale, ago_ticks) >= MINUTE_NS &&
	       ago_ticks >= SHARE * checkpoint->took_ticks;
}

unsigned
checkpoint_mark_end_and_get_number(struct checkpoint *checkpoint)
{
	checkpoint->marker.cores = CORES_OFF;
	write_marker_file(checkpoint, "report");
	return checkpoint->number;
}

void
checkpoint_close(struct checkpoint *checkpoint, bool saved)
{
	unsigned latest = checkpoint->marker.report;

	/* Writes the marker again even after an earlier error, because an old marker would mislead the next boot. */
	checkpoint->marks = checkpoint->marked;
	if (saved)
		checkpoint->marker.report = 0;
	if (checkpoint->marker.least != CORES_SIPI)
		write_marker_file(checkpoint, "");
	else if (checkpoint->marked)
		marker_file_remove(checkpoint->name, checkpoint->folder_made && !saved && !latest);
	if (saved && latest)
		save_remove_report(latest);
}
