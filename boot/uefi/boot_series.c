/* Counts the boots of a series, and starts the next one. See boot_series.h. */
#include "uefi/boot_series.h"

#include "base/text.h"
#include "report/boots.h"
#include "report/boots_results.h"
#include "uefi/firmware/uefi.h"

#define SUFFIX_AT 8 /* length of the name before its suffix ".run" */

static bool
write_file(struct boot_series *series, const struct boots *boots, bool running)
{
	bool folder_made;

	boots_print(series->bytes, boots, running);
	return marker_file_write(series->name, series->bytes, BOOTS_FILE_SIZE, &folder_made);
}

/* Counts the present boot in the file. Returns false if the volume cannot keep the file. */
static bool
count_boot(struct boot_series *series, const struct checkpoint *checkpoint, struct report *report)
{
	bool running = false;

	series->bytes = checkpoint->marks ? firmware_allocate(BOOTS_FILE_SIZE + 1) : NULL;
	if (!series->bytes)
		return false;
	text_format(series->name, sizeof(series->name), "%.*s.sum", SUFFIX_AT, checkpoint->name);
	size_t length = marker_file_read(series->name, series->bytes, BOOTS_FILE_SIZE);
	bool found = boots_parse(series->bytes, length, &report->facts.boots, &running);

	boots_start_next(&report->facts.boots, report->facts.options.save.boots, found, running);
	return write_file(series, &report->facts.boots, true);
}

void
boot_series_start(struct boot_series *series, const struct checkpoint *checkpoint, struct report *report)
{
	struct options *options = &report->facts.options;

	*series = (struct boot_series){ .bytes = NULL };
	if (options->save.boots < 2)
		return;
	if (!count_boot(series, checkpoint, report)) {
		boots_add_note_on_single_boot(report);
		report->facts.boots = (struct boots){ .planned = 0 };
		firmware_free(series->bytes);
		series->bytes = NULL;
		return;
	}
	series->has_next = boots_has_next(&report->facts.boots);
	if (!series->has_next)
		return;
	boot_entry_choose_again();
	if (options->exit == EXIT_ASK || options->exit == EXIT_RETURN)
		options->exit = EXIT_REBOOT;
}

void
boot_series_end(struct boot_series *series, const struct report *report)
{
	if (!series->bytes)
		return;
	if (series->has_next)
		(void)write_file(series, &report->outcomes.boots_so_far, false);
	else
		marker_file_remove(series->name, false);
	firmware_free(series->bytes);
	series->bytes = NULL;
}

enum options_exit
boot_series_get_exit(const struct boot_series *series, enum options_exit exit)
{
	return series->has_next && exit == EXIT_POWEROFF && !firmware_set_wake_up_time() ? EXIT_REBOOT : exit;
}
