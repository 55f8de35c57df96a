/* Section on the firmware's own time. It is no section on a clock, so each row starts with the word "firmware". */
#include "render/text/table_firmware.h"

#include "base/number.h"
#include "report/phrase.h"

#define ASKED_COLUMNS 9
#define NAME_COLUMNS  12
#define BOUND_COLUMNS 9

/* Writes NS in COLUMNS, or blanks if it is not KNOWN. */
static void
put_time(struct text *out, int columns, bool known, uint64_t ns)
{
	text_printf(out, "%*s", columns, known ? number_from_ns(ns).text : "");
}

static void
put_row(struct text *out, const struct report_firmware *row)
{
	text_printf(out, "firmware  %-*s", NAME_COLUMNS, report_firmware_words[row->service].id);
	put_time(out, ASKED_COLUMNS, row->asked_ns, row->asked_ns);
	text_printf(out, "%6lu", row->count);
	if (row->most_ns || row->second.known) { /* otherwise the row would end with blanks */
		put_time(out, BOUND_COLUMNS, row->most_ns, row->least_ns);
		put_time(out, BOUND_COLUMNS, row->most_ns, row->most_ns);
	}
	if (row->second.known)
		text_printf(out, "  %s", phrase_firmware_second(&row->second).bytes);
	text_put_char(out, '\n');
}

/* Writes what drives the firmware's tick. */
static void
put_tick(struct text *out, const struct report *report)
{
	for (size_t i = 0; i < report->figures.firmware_count; i++) {
		const struct report_firmware *row = &report->figures.firmware[i];
		const char *device = report_firmware_ticks[row->tick];

		if (row->service != FIRMWARE_PERIODIC)
			continue;
		table_put_paragraph(out, 0, "\"asked\": requested time. \"second\": the length of a second of the firmware. These "
				    "rows have no vote on the rates of clocks. The firmware's tick comes from %s%s%s.",
				    device ? device : "a device that is not known",
				    row->stated ? ", each " : ", with a period that is not stated",
				    row->stated ? number_from_ns(row->stated).text : "");
	}
}

void
table_put_firmware_times(struct text *out, const struct report *report)
{
	if (!report->figures.firmware_count)
		return;
	text_printf_coloured(out, INK_HEADING, "\nThe firmware's own time\n\n");
	text_printf(out, "          %-*s%*s%6s%*s%*s  second\n", NAME_COLUMNS, "service", ASKED_COLUMNS, "asked", "times",
		    BOUND_COLUMNS, "least", BOUND_COLUMNS, "most");
	for (size_t i = 0; i < report->figures.firmware_count; i++)
		put_row(out, &report->figures.firmware[i]);
	put_tick(out, report);
}
