/* Delivers the report to the volume, the screen and the serial lines. See deliver.h. */
#include "uefi/deliver.h"

#include "blocks.h"
#include "judge/judge.h"
#include "advice/recommend.h"
#include "uefi/volume/save.h"

#define SAVING "Saving the report on the boot volume ..."

/*
 * Saves the report on the volume. The report is saved before it is sent over the serial lines, for two reasons. If
 * saving fails, the report on the serial lines includes the reason. Sending a report of 64 cores takes minutes at
 * 115,200 baud, and the user might remove the stick in this time. A driver may wait long for a broken device, so the
 * screen first shows the summary and the text SAVING.
 */
static void
save_and_show_report(struct console *console, struct plan *plan, struct report *report,
		     const struct text *texts[SAVE_FILES], struct checkpoint *checkpoint, struct pager *pager)
{
	unsigned number = checkpoint_mark_end_and_get_number(checkpoint);
	const char *damage = checkpoint->damage;
	char sentence[SAVE_SENTENCE_SIZE];
	const char *said = damage[0] ? damage : sentence;

	if (!report->facts.options.save.on_volume) {
		pager_show_report(pager, console, report,
				  "No report was saved on the boot volume, because of save=off.", plan->screen);
		return;
	}
	pager_show_report(pager, console, report, SAVING, plan->screen);
	console_print_serial(console, SAVING "\n");
	bool saved = !damage[0] && save_report(texts, number, sentence);

	checkpoint_close(checkpoint, saved);
	if (!saved) {
		notes_add(&report->notes, "%s", said);
		/* renders again, because the report now has a note on the failure */
		plan_render_files(plan, report, texts);
	}
	pager_show_report(pager, console, report, said, plan->screen);
	console_print_serial(console, said);
	console_print_serial(console, "\n");
}

bool
deliver_report(struct console *console, struct plan *plan, struct report *report, struct checkpoint *checkpoint,
	       struct pager *pager)
{
	const struct text *texts[SAVE_FILES];

	if (!plan_render_files(plan, report, texts)) {
		checkpoint_close(checkpoint, false);
		console_print(console, DELIVER_TOO_LARGE);
		pager_show_document(pager, console, "Error", DELIVER_TOO_LARGE);
		return false;
	}
	save_and_show_report(console, plan, report, texts, checkpoint, pager);
	blocks_queue_report(&console->serial, plan, report);
	return true;
}

/* Adds a note with the text ERROR. A text that is too long is cut between two words. */
static void
add_error_note(struct report *report, const char *error)
{
	size_t length = text_length(error);

	if (length < REPORT_SENTENCE) {
		notes_add(&report->notes, "%s", error);
		return;
	}
	length = REPORT_SENTENCE - sizeof("...");
	while (length && error[length - 1] != ' ')
		length--;
	notes_add(&report->notes, "%.*s...", (int)length, error);
}

bool
deliver_error_report(struct plan *plan, struct report *report, const struct plan_page *page, const char *error,
		     char sentence[SAVE_SENTENCE_SIZE])
{
	const struct text *texts[SAVE_FILES];

	if (!report->facts.options.save.on_volume || !save_check_volume(sentence) ||
	    !plan_allocate_memory(plan, 1, page, report))
		return false;
	add_error_note(report, error);
	notes_add(&report->notes, "Nothing was measured.");
	report->facts.run.started_at[0] = '\0';
	report->duration_ns = options_duration_ns(&report->facts.options); /* the requested duration */
	struct text given = text_start(report->options_given, sizeof(report->options_given));
	options_put_changed_options(&given, &report->facts.options); /* exit=, for example, was obeyed */
	report->facts.machine.cores_started = 1; /* the boot core, which runs this program */
	report->facts.run.incomplete = true;
	judge_report(report, &report->outcomes);
	recommend_clocks(report, &report->advice);
	return plan_render_files(plan, report, texts) && !save_is_latest_report(texts[SAVE_JSON]) &&
	       save_report(texts, 0, sentence);
}
