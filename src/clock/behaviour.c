/* Fills the rows of check results. See behaviour.h. */
#include "clock/behaviour.h"

#include "base/offset.h"
#include "base/text.h"

struct behaviour *
behaviour_add_row(struct behaviours *behaviours, const char *rule, const char *clock)
{
	if (behaviours->count == BEHAVIOURS_MAX)
		return NULL;
	struct behaviour *row = &behaviours->rows[behaviours->count++];
	*row = (struct behaviour){ .rule = rule, .clock = clock };
	return row;
}

static void
set_row_text(struct behaviour *row, const char *format, va_list arguments)
{
	struct text text = text_start(row->text, sizeof(row->text));

	text_vprintf(&text, format, arguments);
}

void
behaviour_set_text(struct behaviour *row, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	set_row_text(row, format, arguments);
	va_end(arguments);
}

void
behaviour_mark_unchecked(struct behaviour *row, enum unchecked unchecked, const char *format, ...)
{
	va_list arguments;

	row->checked = false;
	row->unchecked = unchecked;
	va_start(arguments, format);
	set_row_text(row, format, arguments);
	va_end(arguments);
}

void
behaviour_set_figure(struct behaviour *row, int64_t measured, int64_t low, int64_t high)
{
	row->has_figure = true;
	row->measured = measured;
	row->low = low;
	row->high = high;
}

void
behaviour_set_bounds(struct behaviour *row, struct offset bounds)
{
	behaviour_set_figure(row, offset_middle(bounds), bounds.low, bounds.high);
}

enum outcome
behaviour_get_outcome(const struct behaviour *row, uint64_t limit)
{
	struct offset figure = { row->low, row->high };

	if (!row->checked)
		return OUTCOME_NOT_CHECKED;
	if (row->open)
		return OUTCOME_NOT_DETERMINED;
	if (!row->has_figure)
		return row->failed ? OUTCOME_FAILED : OUTCOME_PASSED;
	if (offset_min_abs(figure) > limit)
		return OUTCOME_FAILED;
	return offset_max_abs(figure) > limit ? OUTCOME_NOT_DETERMINED : OUTCOME_PASSED;
}
