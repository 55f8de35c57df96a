/* The contents of each page. See screen.h. */
#include "render/screen/screen_internal.h"

#include "render/cores/table_cores.h"
#include "render/layout/layout.h"
#include "render/sections/table_sections.h"
#include "render/text/table_firmware.h"

#define PANES_GAP     2
#define WORDS_COLUMNS 58 /* number of columns at which sentences are easy to read */
/* a screen with this number of rows shows the machine, the clocks and the findings without scrolling */
#define TALL_ROWS     36
#define BUFFERS       4  /* number of parts of SCREEN's buffer: the bytes and the colours of two panes */
#define LINE_SIZE     320

/* Writes a page into two panes. LEFT and RIGHT are the same text if the screen is too narrow for two panes. */
typedef void page_put(const struct screen *screen, struct text *left, struct text *right);

/*
 * The verdict, the place of the saved report and the clocks come first: without a keyboard nobody can scroll to the
 * rest. A large screen also shows the histograms.
 */
static void
put_summary_page(const struct screen *screen, struct text *left, struct text *right)
{
	const struct report *report = screen->report;
	bool machine_first = left != right || screen->rows >= TALL_ROWS;

	table_put_summary(left, report);
	table_put_verdict(left, report);
	table_put_timing_quality(left, report);
	table_put_wrapped(left, left->length, 0, screen->saved);
	table_put_cpu(left, report);
	if (machine_first)
		table_put_machine(left, report);
	text_put_char(left, '\n');
	table_put_clocks(left, report);
	if (left == right)
		text_put_char(right, '\n');
	else
		text_printf_coloured(right, INK_HEADING, "\nFindings\n\n");
	table_put_findings(right, report, NULL, false);
	table_put_notes(right, report);
	table_put_advice(right, report);
	if (!machine_first) {
		text_printf_coloured(left, INK_HEADING, "\nThe machine\n\n");
		table_put_machine(left, report);
	}
	if (left != right) {
		table_put_main_histograms(left, report);
		table_put_synchrony(right, report);
	}
	table_put_database_timing_in_short(right, report);
}

static void
put_histograms_page(const struct screen *screen, struct text *left, struct text *)
{
	table_put_all_histograms(left, screen->report);
	table_put_interference(left, screen->report);
	table_put_database_timing_cost(left, screen->report);
}

static void
put_clock_page(const struct screen *screen, struct text *left, struct text *right)
{
	const struct report *report = screen->report;
	const struct report_clock *entry = &report->facts.clocks[screen->clock];

	if (!report->facts.clock_count) {
		text_put(left, "No clock was measured.\n");
		return;
	}
	screen_put_clock_facts(left, report, entry);
	if (table_has_findings(report, entry)) {
		text_printf_coloured(left, INK_HEADING, "\nFindings\n\n");
		table_put_findings(left, report, entry, true);
	}
	table_put_behaviours_of_clock(left, report, entry->clock.main);
	table_put_histogram_of_clock(left, report, screen->clock);
	table_put_durations_of_clock(right, report, entry);
}

static void
put_timers_page(const struct screen *screen, struct text *left, struct text *)
{
	if (!screen->report->figures.interval_count)
		text_put(left, "No timer was tested.\n");
	table_put_intervals(left, screen->report);
	table_put_sleeps(left, screen->report);
	table_put_firmware_times(left, screen->report);
}

static void
put_cores_page(const struct screen *screen, struct text *left, struct text *right)
{
	table_put_cores(left, screen->report);
	table_put_skew_section(right, screen->report);
}

static void
put_findings_page(const struct screen *screen, struct text *left, struct text *right)
{
	text_printf_coloured(left, INK_HEADING, "\nFindings\n\n");
	table_put_findings(left, screen->report, NULL, true);
	table_put_notes(left, screen->report);
	table_put_advice(right, screen->report);
	table_put_behaviours(right, screen->report);
}

static void
put_paragraph(struct text *out, const char *sentences)
{
	table_put_wrapped(out, out->length, 0, sentences);
	text_put_char(out, '\n');
}

static void
put_key_help(struct text *out, bool can_quit)
{
	text_printf_coloured(out, INK_HEADING, "\nKeys\n\n");
	table_put_labelled_line(out, "1 to 7", "go to that page; 3 again or ] shows the next clock, [ the previous one");
	table_put_labelled_line(out, "Tab", "go to the next page; left, right: the previous or next page or clock");
	table_put_labelled_line(out, "up, down", "scroll a line; PgUp, PgDn, B, Space a screen; Home, End to an end");
	table_put_labelled_line(out, "R, P", "restart the machine, power it off");
	if (can_quit)
		table_put_labelled_line(out, "Q, Esc", "back to the shell that started baretick");
}

static void
put_about_page(const struct screen *screen, struct text *left, struct text *right)
{
	const struct report *report = screen->report;

	table_put_run_start(left, report);
	table_put_wrapped(left, left->length, 0, screen->saved);
	table_put_cpu(left, report);
	table_put_machine(left, report);
	put_key_help(right, screen->can_quit);
	text_printf_coloured(left, INK_HEADING, "\nHow the figures are made\n\n");
	put_paragraph(left, "A clock is read between two reads of the TSC, the bracket: the time between them is the "
			    "latency. The row null reads nothing, so it shows the cost of the bracket. The column \"a read\" "
			    "is the typical latency without the bracket, as the median of the cores.");
	put_paragraph(left, "No clock is the reference. All are sampled over the same window and compared pair by pair; one "
			    "that disagrees with the majority is a falseticker. A rate or an offset is an interval, and fails only "
			    "if all of it is beyond the limit.");
	put_paragraph(left, "Pairs of cores exchange ping-pongs that carry TSC time stamps. No message arrives before it is "
			    "sent, so each message bounds the offset between the two TSCs.");
}

/* Writes the document line by line. A line that is too long continues in the next. */
static void
put_document(struct text *out, const char *document)
{
	while (*document) {
		char line[LINE_SIZE];
		size_t length = 0;

		while (length < LINE_SIZE - 1 && *document && *document != '\n')
			line[length++] = *document++;
		document += *document == '\n';
		line[length] = '\0';
		table_put_wrapped(out, out->length, 0, line);
	}
}

static const struct page {
	/* name of the page in the title and in the bar of keys, and a shorter name for a narrow screen */
	const char *name, *brief;
	size_t right_columns; /* width that the right pane needs; 0 if the page has none */
	page_put *put;
} pages[SCREEN_PAGES] = {
	[SCREEN_SUMMARY] = { "Summary", "Sum", WORDS_COLUMNS, put_summary_page },
	[SCREEN_HISTOGRAMS] = { "Histograms", "Histo", 0, put_histograms_page },
	[SCREEN_CLOCK] = { "Clock", "Clock", WORDS_COLUMNS, put_clock_page },
	[SCREEN_CORES] = { "Cores", "Cores", TABLE_COLUMNS, put_cores_page },
	[SCREEN_FINDINGS] = { "Findings", "Findings", WORDS_COLUMNS, put_findings_page },
	[SCREEN_ABOUT] = { "About", "About", WORDS_COLUMNS, put_about_page },
	[SCREEN_TIMERS] = { "Timers", "Timers", 0, put_timers_page },
};

const char *
screen_page_name(enum screen_page page)
{
	return pages[page].name;
}

const char *
screen_page_short_name(enum screen_page page)
{
	return pages[page].brief;
}

static size_t
count_used_columns(const struct screen *screen)
{
	return screen->columns < SCREEN_COLUMNS_MAX ? screen->columns : SCREEN_COLUMNS_MAX;
}

/*
 * Returns the column of the right pane, or 0 if its text is shown below the left pane. This happens on a narrow screen,
 * and for a map of cores that needs the whole width.
 */
static size_t
find_column_of_right_pane(const struct screen *screen)
{
	size_t columns = count_used_columns(screen), right = TABLE_COLUMNS + PANES_GAP;
	const struct page *page = &pages[screen->page];
	size_t map = screen->report && screen->page == SCREEN_CORES ? table_count_pair_map_columns(screen->report) : 0;

	if (!screen->report || !page->right_columns || columns < right + page->right_columns)
		return 0;
	if (right < (columns + PANES_GAP) / 2)
		right = (columns + PANES_GAP) / 2;
	return map > columns - right && map < columns ? 0 : right;
}

static struct screen_pane
begin_pane(const struct screen *screen, size_t buffer, size_t columns)
{
	size_t size = screen->buffer_size / BUFFERS;
	struct screen_pane pane = { .lines = 0 };

	text_init(&pane.text, screen->buffer + buffer * size, size);
	pane.text.inks = (uint8_t *)screen->buffer + (buffer + 1) * size;
	pane.text.columns = columns > 1 ? columns : 1;
	return pane;
}

/* Counts the lines, and removes empty lines at the start: every section writes an empty line before itself. */
static void
end_pane(struct screen_pane *pane)
{
	struct text *text = &pane->text;

	while (text->bytes[0] == '\n') {
		text->bytes++;
		text->inks++;
		text->size--;
		text->length--;
	}
	for (size_t i = 0; i < text->length; i++)
		pane->lines += text->bytes[i] == '\n';
}

void
screen_render(struct screen *screen)
{
	size_t columns = count_used_columns(screen), right = find_column_of_right_pane(screen);

	screen->right_column = right;
	screen->left = begin_pane(screen, 0, right ? right - PANES_GAP : columns ? columns - 1 : 0);
	screen->right = begin_pane(screen, 2, columns - right);
	if (screen->report)
		pages[screen->page].put(screen, &screen->left.text, right ? &screen->right.text : &screen->left.text);
	else
		put_document(&screen->left.text, screen->document);
	end_pane(&screen->left);
	end_pane(&screen->right);
	screen->lines = screen->left.lines > screen->right.lines ? screen->left.lines : screen->right.lines;
}
