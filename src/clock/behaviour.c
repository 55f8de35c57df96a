/* Rows of behaviour. See behaviour.h. */
#include "behaviour.h"

#include "offset.h"
#include "text.h"

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

bool
behaviour_failed(const struct behaviour *row, uint64_t limit)
{
	if (!row->checked || !row->has_figure)
		return row->checked && row->failed;
	return offset_nearest((struct offset){ row->low, row->high }) > limit;
}
