/* Fills rows for rules of behaviour. See behaviour.h. */
#include "clock/behaviour.h"

#include "base/offset.h"
#include "base/text.h"

struct behaviour *
behaviour_add(struct behaviours *behaviours, const char *rule, const char *clock)
{
	struct behaviour *row;

	if (behaviours->count == BEHAVIOURS_MAX)
		return NULL;
	row = &behaviours->rows[behaviours->count++];
	*row = (struct behaviour){ .rule = rule, .clock = clock };
	return row;
}

void
behaviour_say(struct behaviour *row, const char *format, ...)
{
	struct text text;
	va_list arguments;

	text_init(&text, row->text, sizeof(row->text));
	va_start(arguments, format);
	text_vprintf(&text, format, arguments);
	va_end(arguments);
}

enum outcome
behaviour_outcome(const struct behaviour *row, uint64_t limit)
{
	struct offset figure = { row->low, row->high };

	if (!row->checked)
		return OUTCOME_NOT_CHECKED;
	if (row->open)
		return OUTCOME_NOT_DETERMINED;
	if (!row->has_figure)
		return row->failed ? OUTCOME_FAILED : OUTCOME_PASSED;
	if (offset_min_size(figure) > limit)
		return OUTCOME_FAILED;
	return offset_max_size(figure) > limit ? OUTCOME_NOT_DETERMINED : OUTCOME_PASSED;
}
