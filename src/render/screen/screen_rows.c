/* Renders each row of the screen: the title, lines of the page, and the keys. See screen.h. */
#include "render/screen/screen_internal.h"

#include "render/cores/table_cores.h"
#include "render/layout/layout.h"
#include "report/phrase.h"

#define TITLE_SIZE     64
#define KEYS_SCROLLING "  arrows, PgUp, PgDn scroll"

static enum text_ink
choose_colour_on_bar(enum text_ink ink)
{
	switch (ink) {
	case INK_PASS:
		return INK_BAR_PASS;
	case INK_WARN:
		return INK_BAR_WARN;
	case INK_FAIL:
		return INK_BAR_FAIL;
	default:
		return INK_BAR;
	}
}

/* Fills the rest of the row with blanks. */
static void
blank_rest_of_row(struct text *out, enum text_ink ink)
{
	out->ink = ink;
	while (!out->truncated)
		text_put_char(out, ' ');
	out->ink = INK_PLAIN;
}

static void
put_page_title(struct text *out, const struct screen *screen)
{
	const struct report *report = screen->report;

	if (!report)
		text_printf(out, "%s", screen->title);
	else if (screen->page == SCREEN_CLOCK && report->facts.clock_count)
		text_printf(out, "Clock %zu of %zu: %s", screen->clock + 1, report->facts.clock_count,
			    report->facts.clocks[screen->clock].clock.id);
	else
		text_printf(out, "%s", screen_page_name(screen->page));
}

/* Writes the verdict, and the stolen time if it makes the tails of the latencies unreliable. */
static void
put_verdict(struct text *out, const struct report *report)
{
	const struct report_quality *quality = &report->outcomes.quality;

	text_put(out, "  ");
	out->ink = choose_colour_on_bar(table_colour_of_verdict(report->outcomes.verdict));
	text_printf(out, " %s ", verdict_words_in_capitals[report->outcomes.verdict]);
	if (quality->tails_known && !quality->reliable_tails) {
		out->ink = INK_BAR_WARN;
		if (quality->stolen_known)
			text_printf(out, " %s stolen ", phrase_stolen_share(report).bytes);
		else
			text_put(out, " tails unreliable ");
	}
	out->ink = INK_BAR;
}

/* Writes the numbers of the first and last visible line at the right end of the row, unless all lines are visible. */
static void
put_visible_line_numbers(struct text *out, const struct screen *screen)
{
	size_t rows = screen_get_page_rows(screen), columns = out->size - 1;
	char bytes[TITLE_SIZE];

	if (screen->lines <= rows || !rows)
		return;
	struct text text = text_start(bytes, sizeof(bytes));
	text_printf(&text, "  lines %zu-%zu of %zu ", screen->line + 1, screen->line + rows, screen->lines);
	while (out->length + text.length < columns && !out->truncated)
		text_put_char(out, ' ');
	text_put(out, bytes);
}

static void
put_title_row(struct text *out, const struct screen *screen)
{
	out->ink = INK_BAR;
	text_printf(out, " baretick %s   ", screen->version);
	put_page_title(out, screen);
	if (screen->report)
		put_verdict(out, screen->report);
	put_visible_line_numbers(out, screen);
	blank_rest_of_row(out, INK_BAR);
}

/* Forms of the bar of keys (the row that explains the keys), from the widest to the narrowest. */
enum fit { FIT_WIDE, FIT_NARROW, FIT_BRIEF, FITS };

/* Writes a key and its function. HERE is true for the key of the shown page, which is highlighted. */
static void
put_key_name(struct text *out, char key, const char *name, bool here, enum fit fit)
{
	enum text_ink ink = here ? INK_BAR_HERE : INK_BAR;

	out->ink = ink;
	text_printf(out, fit == FIT_WIDE ? " %c %s " : "%c %s", key, name);
	out->ink = INK_BAR;
	text_put_char(out, ' ');
}

static void
put_all_key_names(struct text *out, const struct screen *screen, enum fit fit)
{
	for (size_t i = 0; i < SCREEN_PAGES && screen->report; i++)
		put_key_name(out, (char)('1' + i), fit == FIT_BRIEF ? screen_page_short_name(i) : screen_page_name(i),
			     i == screen->page, fit);
	put_key_name(out, 'R', fit == FIT_WIDE ? "restart" : "reset", false, fit);
	put_key_name(out, 'P', fit == FIT_WIDE ? "power off" : "off", false, fit);
	if (screen->can_quit)
		put_key_name(out, 'Q', "quit", false, fit);
}

/* Writes the bar of keys in its widest form that fits, so that no key is left out. */
static void
put_key_bar(struct text *out, const struct screen *screen)
{
	enum fit fit = FIT_WIDE;

	out->ink = INK_BAR;
	put_all_key_names(out, screen, fit);
	while (out->truncated && ++fit < FITS) {
		out->length = 0;
		out->truncated = false;
		put_all_key_names(out, screen, fit);
	}
	if (fit == FIT_WIDE && out->length + sizeof(KEYS_SCROLLING) < out->size)
		text_put(out, KEYS_SCROLLING);
	blank_rest_of_row(out, INK_BAR);
}

/*
 * Writes the line AHEAD lines after the pane's first visible line, and cuts it at the end of the row. Characters
 * that are not printable ASCII become question marks.
 */
static void
put_visible_line(struct text *out, const struct screen_pane *pane, size_t ahead)
{
	const struct text *text = &pane->text;

	for (size_t i = screen_skip_lines(text->bytes, pane->top, ahead);
	     i < text->length && text->bytes[i] != '\n' && !out->truncated; i++) {
		out->ink = text->inks[i];
		text_printf(out, "%c", text->bytes[i]);
	}
	out->ink = INK_PLAIN;
}

void
screen_render_row(const struct screen *screen, size_t index, struct screen_row *row)
{
	size_t columns = screen->columns < SCREEN_COLUMNS_MAX ? screen->columns : SCREEN_COLUMNS_MAX;
	struct text *out = &row->text;

	text_init(out, row->bytes, columns + 1);
	out->inks = row->inks;
	if (index == 0) {
		put_title_row(out, screen);
	} else if (index + 1 == screen->rows) {
		put_key_bar(out, screen);
	} else {
		put_visible_line(out, &screen->left, index - 1);
		if (screen->right_column) {
			while (out->length < screen->right_column)
				text_put_char(out, ' ');
			put_visible_line(out, &screen->right, index - 1);
		}
	}
	blank_rest_of_row(out, INK_PLAIN);
}
