/* Changes the shown page when a key is pressed. See screen.h. */
#include "render/screen/screen_internal.h"

#define DIGIT_FIRST '1'

size_t
screen_get_page_rows(const struct screen *screen)
{
	return screen->rows > SCREEN_BARS ? screen->rows - SCREEN_BARS : 0;
}

size_t
screen_skip_lines(const char *bytes, size_t from, size_t count)
{
	while (count > 0 && bytes[from])
		count -= bytes[from++] == '\n';
	return from;
}

/* Scrolls so that LINE is the first visible line, but not so far that rows below the last line are empty. */
static void
go_to_line(struct screen *screen, size_t line)
{
	size_t rows = screen_get_page_rows(screen);
	size_t last = screen->lines > rows ? screen->lines - rows : 0;

	screen->line = line < last ? line : last;
	screen->left.top = screen_skip_lines(screen->left.text.bytes, 0, screen->line);
	screen->right.top = screen_skip_lines(screen->right.text.bytes, 0, screen->line);
}

static void
go_to_page(struct screen *screen, enum screen_page page, size_t clock)
{
	screen->page = page;
	screen->clock = clock;
	screen_render(screen);
	go_to_line(screen, 0);
}

/* Shows the next page, or the next clock if the page of a clock is shown. The first page follows the last. */
static void
go_to_next_page(struct screen *screen)
{
	size_t clocks = screen->report ? screen->report->facts.clock_count : 0;

	if (screen->page == SCREEN_CLOCK && screen->clock + 1 < clocks)
		go_to_page(screen, SCREEN_CLOCK, screen->clock + 1);
	else
		go_to_page(screen, (screen->page + 1) % SCREEN_PAGES,
			   screen->page + 1 == SCREEN_CLOCK ? 0 : screen->clock);
}

static void
go_to_previous_page(struct screen *screen)
{
	size_t clocks = screen->report ? screen->report->facts.clock_count : 0;

	if (screen->page == SCREEN_CLOCK && screen->clock > 0)
		go_to_page(screen, SCREEN_CLOCK, screen->clock - 1);
	else
		go_to_page(screen, (screen->page + SCREEN_PAGES - 1) % SCREEN_PAGES,
			   screen->page == SCREEN_CLOCK + 1 && clocks ? clocks - 1 : screen->clock);
}

/*
 * If the page of a clock is shown, shows the clock STEP places later in the report. The first clock follows the last.
 * If another page is shown, shows the clock that was shown last.
 */
static void
go_to_clock_by_step(struct screen *screen, size_t step)
{
	size_t clocks = screen->report->facts.clock_count;
	bool there = screen->page == SCREEN_CLOCK && clocks;

	go_to_page(screen, SCREEN_CLOCK, there ? (screen->clock + step) % clocks : screen->clock);
}

/* Shows the page that KEY requests. Returns false if KEY requests no page. */
static bool
turn_page_if_requested(struct screen *screen, unsigned key)
{
	size_t clocks = screen->report ? screen->report->facts.clock_count : 0;

	if (!screen->report)
		return false;
	if (key == DIGIT_FIRST + SCREEN_CLOCK || (key == ']' && screen->page == SCREEN_CLOCK))
		go_to_clock_by_step(screen, 1);
	else if (key == '[' && screen->page == SCREEN_CLOCK)
		go_to_clock_by_step(screen, clocks ? clocks - 1 : 0);
	else if (key >= DIGIT_FIRST && key < DIGIT_FIRST + SCREEN_PAGES)
		go_to_page(screen, key - DIGIT_FIRST, screen->clock);
	else if (key == '\t')
		go_to_page(screen, (screen->page + 1) % SCREEN_PAGES, screen->clock);
	else if (key == SCREEN_KEY_RIGHT)
		go_to_next_page(screen);
	else if (key == SCREEN_KEY_LEFT)
		go_to_previous_page(screen);
	else
		return false;
	return true;
}

static void
scroll_by_key(struct screen *screen, unsigned key)
{
	size_t rows = screen_get_page_rows(screen), line = screen->line;

	switch (key) {
	case SCREEN_KEY_UP:
		go_to_line(screen, line - (line > 0));
		break;
	case SCREEN_KEY_DOWN:
		go_to_line(screen, line + 1);
		break;
	case SCREEN_KEY_PAGE_UP: case 'b': case 'B':
		go_to_line(screen, line > rows ? line - rows : 0);
		break;
	case SCREEN_KEY_PAGE_DOWN: case ' ': case '\r':
		go_to_line(screen, line + rows);
		break;
	case SCREEN_KEY_HOME:
		go_to_line(screen, 0);
		break;
	case SCREEN_KEY_END:
		go_to_line(screen, screen->lines);
		break;
	default:
		break;
	}
}

enum screen_action
screen_handle_key(struct screen *screen, unsigned key)
{
	switch (key) {
	case 'r': case 'R':
		return SCREEN_RESTART;
	case 'p': case 'P':
		return SCREEN_POWER_OFF;
	case 'q': case 'Q': case SCREEN_KEY_ESCAPE:
		return screen->can_quit ? SCREEN_QUIT : SCREEN_STAY;
	default:
		if (!turn_page_if_requested(screen, key))
			scroll_by_key(screen, key);
		return SCREEN_STAY;
	}
}

void
screen_open(struct screen *screen)
{
	go_to_page(screen, SCREEN_SUMMARY, 0);
}
