/* The memory of the cores' measuring, in one block. See survey.h. */
#include "survey_internal.h"

#define LINE PINGPONG_LINE /* each part begins on a cache line: some are written by cores at the same time */

/* Takes BYTES off the block at *NEXT; the address alone, since there is no block while its size is asked. */
static void *
take(uintptr_t *next, size_t bytes)
{
	uintptr_t taken = *next;

	*next += (bytes + LINE - 1) / LINE * LINE;
	return (void *)taken;
}

static size_t
lay_out(struct survey_room *room, uintptr_t begin, size_t cores, enum tournament widest)
{
	size_t pairs = tournament_pairs(widest, cores);
	uintptr_t next = begin;

	*room = (struct survey_room){ .cores = cores, .widest = widest };
	room->rows = take(&next, cores * sizeof(*room->rows));
	room->warp = take(&next, warp_table_size(cores));
	room->meetings = take(&next, cores / 2 * sizeof(*room->meetings));
	room->players = take(&next, cores * sizeof(*room->players));
	room->first.pairs = take(&next, pairs * sizeof(*room->first.pairs));
	room->latest.pairs = take(&next, pairs * sizeof(*room->latest.pairs));
	room->first.moved_ticks = take(&next, pairs * sizeof(*room->first.moved_ticks));
	room->latest.moved_ticks = take(&next, pairs * sizeof(*room->latest.moved_ticks));
	room->solved = take(&next, cores * sizeof(*room->solved));
	room->apart = take(&next, cores * sizeof(*room->apart));
	room->playing = take(&next, cores * sizeof(*room->playing));
	room->seats = take(&next, cores * sizeof(*room->seats));
	room->medians = take(&next, cores / 2 * sizeof(*room->medians));
	room->samples = take(&next, cores * SURVEY_CONTENDED_SAMPLES * sizeof(*room->samples));
	room->others = take(&next, cores * sizeof(*room->others));
	return next - begin;
}

size_t
survey_room_size(size_t cores, enum tournament widest)
{
	struct survey_room room;

	return lay_out(&room, 0, cores, widest);
}

void
survey_lay_out(struct survey *survey, void *memory, size_t cores, enum tournament widest)
{
	struct report_core *rows;

	lay_out(&survey->room, (uintptr_t)memory, cores, widest);
	rows = survey->room.rows;
	for (size_t i = 0; i < cores; i++) {
		rows[i].offset = OFFSET_UNKNOWN;
		rows[i].drift = (struct drift){ INT64_MIN, INT64_MAX };
	}
	survey->report->cores = rows;
}
