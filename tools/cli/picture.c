// SPDX-License-Identifier: GPL-2.0
/*
 * A picture of a range: equal groups of pages, one cell each, row by row.
 *
 * A cell shows the state that most of its pages have, among those that are
 * something (in memory, in swap, a marker): a group that holds anything does not
 * look empty. In colour, one character has two cells, one above the other.
 */
#include <stdlib.h>

#include "cli.h"

static const struct {
	const char *name;
	const char *ascii;
	const char *utf8;
	int colour;		/* of the 256 that terminals have */
} look[CELLS] = {
	[CELL_NONE] = { "not mapped", " ", " ", 16 },
	[CELL_HOLE] = { "hole", ".", "·", 238 },
	[CELL_CACHED] = { "in page cache only", "c", "░", 25 },
	[CELL_NOT_TOLD] = { "hole that may hide swap or cache", "?", "?", 243 },
	[CELL_MARKER] = { "marker", "!", "!", 220 },
	[CELL_SWAPPED] = { "in swap", "s", "▒", 161 },
	[CELL_PRESENT] = { "in memory", "#", "█", 71 },
};

static enum cell state_of(uint64_t flags)
{
	if (flags & WSQUERY_PRESENT)
		return CELL_PRESENT;
	if (flags & WSQUERY_SWAPPED)
		return CELL_SWAPPED;
	if (flags & WSQUERY_MARKER)
		return CELL_MARKER;
	if (flags & WSQUERY_CACHED)
		return CELL_CACHED;
	if (flags & WSQUERY_NOT_TOLD)
		return CELL_NOT_TOLD;
	return CELL_HOLE;
}

struct filling {
	struct picture *picture;
	uint64_t page;
};

/* Deals the pages of a run to the cells it crosses. */
static int fill(const struct wsquery_region *region, void *arg)
{
	const struct filling *filling = arg;
	struct picture *picture = filling->picture;
	uint64_t at = (region->start - picture->start) / filling->page;
	uint64_t end = (region->end - picture->start) / filling->page;
	enum cell state = state_of(region->flags);

	picture->sum[state] += end - at;
	while (at < end) {
		uint64_t stop = (at / picture->group + 1) * picture->group;

		if (stop > end)
			stop = end;
		picture->cells[at / picture->group][state] += stop - at;
		at = stop;
	}
	return 0;
}

void picture_take(struct picture *picture, const struct target *target, struct wsquery *ws)
{
	struct filling filling = { picture, target->page };
	struct wsquery_cursor cursor = {
		.start = target->start,
		.length = target->end - target->start,
		.attrs = wsquery_tells(ws) & (WSQUERY_CACHED | WSQUERY_NOT_TOLD),
	};
	uint64_t told = 0;
	int error, state;

	picture->start = target->start;
	picture->pages = cursor.length / target->page;
	if (picture->columns > picture->pages)
		picture->columns = picture->pages;
	picture->group = 1;
	while ((picture->pages - 1) / picture->group >= picture->columns * picture->rows)
		picture->group *= 2;
	picture->rows = (picture->pages - 1) / picture->group / picture->columns + 1;
	picture->cells = need_memory(calloc(picture->rows * picture->columns,
					    sizeof(*picture->cells)));
	error = wsquery_for_each_region(ws, &cursor, fill, &filling);
	if (error)
		die_process(target->pid, error);
	for (state = CELL_HOLE; state < CELLS; state++)
		told += picture->sum[state];
	picture->sum[CELL_NONE] = picture->pages - told;
}

static enum cell cell_state(const struct picture *picture, size_t row, size_t column)
{
	size_t index = row * picture->columns + column;
	const uint64_t *cell;
	enum cell state, most = CELL_NONE;

	if (row >= picture->rows)
		return CELL_NONE;
	cell = picture->cells[index];
	for (state = CELL_HOLE; state <= CELL_NOT_TOLD; state++)
		if (cell[state])
			most = state;
	for (state = CELL_MARKER; state < CELLS; state++)
		if (cell[state] && (most < CELL_MARKER || cell[state] >= cell[most]))
			most = state;
	return most;
}

size_t picture_lines(const struct picture *picture, enum style style)
{
	return style == STYLE_COLOUR ? (picture->rows + 1) / 2 : picture->rows;
}

void picture_line(const struct picture *picture, size_t line, enum style style, FILE *stream)
{
	int upper, lower, before = -1;
	enum cell state;
	size_t i;

	for (i = 0; i < picture->columns; i++) {
		if (style != STYLE_COLOUR) {
			state = cell_state(picture, line, i);
			fputs(style == STYLE_UTF8 ? look[state].utf8 : look[state].ascii, stream);
			continue;
		}
		upper = look[cell_state(picture, line * 2, i)].colour;
		lower = look[cell_state(picture, line * 2 + 1, i)].colour;
		if (before != (upper << 8 | lower))
			fprintf(stream, "\033[38;5;%d;48;5;%dm", upper, lower);
		before = upper << 8 | lower;
		fputs("▀", stream);
	}
	if (style == STYLE_COLOUR)
		fputs("\033[0m", stream);
}

void picture_legend(const struct picture *picture, enum style style, FILE *stream)
{
	const char *between = "";
	int state;

	for (state = CELLS - 1; state >= 0; state--) {
		if (!picture->sum[state])
			continue;
		fputs(between, stream);
		if (style == STYLE_COLOUR)
			fprintf(stream, "\033[38;5;%dm██\033[0m", look[state].colour);
		else if (state != CELL_NONE)
			fputs(style == STYLE_UTF8 ? look[state].utf8 : look[state].ascii, stream);
		fprintf(stream, " %s %llu", look[state].name,
			(unsigned long long)picture->sum[state]);
		between = "  ";
	}
}

void picture_free(struct picture *picture)
{
	free(picture->cells);
}
