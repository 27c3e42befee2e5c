// SPDX-License-Identifier: GPL-2.0
/*
 * What a row of the map can hold. A column that is not in this table is a flag of
 * libwsquery's table, and counts the pages that have it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const struct column table[] = {
	{ "nr", "NR", COLUMN_NUMBER, "row number of the mapping, for --mapping", NULL },
	{ "range", "ADDRESSES", COLUMN_TEXT, "first address and the one after the last", NULL },
	{ "perms", "PERMS", COLUMN_TEXT, "as in /proc/PID/maps: rwx, p private or s shared", NULL },
	{ "offset", "OFFSET", COLUMN_TEXT, "offset in the file", NULL },
	{ "name", "NAME", COLUMN_TEXT, "file, or what else the kernel calls it", NULL },
	{ "size", "SIZE", COLUMN_PAGES, "all of the mapping", NULL },
	{ "shared-swapped", "(SHARED)", COLUMN_PAGES,
	  "shared-memory pages in swap, private copies not included (device only)", NULL },
	{ "holes", "HOLES", COLUMN_PAGES, "neither in memory and mapped nor in swap", NULL },
	{ "other-present", "OTHER-PRESENT", COLUMN_PAGES, "present to the backend of --compare",
	  NULL },
	{ "other-swapped", "OTHER-SEES", COLUMN_PAGES, "swapped to the backend of --compare",
	  NULL },
	{ "missed", "MISSED", COLUMN_PAGES, "swapped, but not to the backend of --compare", NULL },
};

#define ROWS	ARRAY_SIZE(table)

static bool is_column(const struct wsquery_flag *flag)
{
	return !flag->shift;
}

static void add(struct columns *columns, const char *name)
{
	struct column column = { 0 };
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (!strcmp(table[i].name, name))
			column = table[i];
	if (!column.name) {
		column.flag = wsquery_flag_by_name(name);
		if (!column.flag || !is_column(column.flag))
			die(STATUS_USAGE, "no column '%s'; see 'wsquery map --list-columns'", name);
		column.name = column.flag->name;
		column.kind = COLUMN_PAGES;
		column.help = column.flag->help;
	}
	if (columns->count == MAX_COLUMNS)
		die(STATUS_USAGE, "at most %d columns", MAX_COLUMNS);
	if (!columns_find(columns, name))
		columns->list[columns->count++] = column;
}

void columns_parse(struct columns *columns, const char *text)
{
	char *copy = need_memory(strdup(text)), *rest = copy, *name;

	if (*rest == '+')
		rest++;
	else
		columns->count = 0;
	while ((name = strsep(&rest, ",")))
		add(columns, name);
	free(copy);
}

const struct column *columns_find(const struct columns *columns, const char *name)
{
	size_t i;

	for (i = 0; i < columns->count; i++)
		if (!strcmp(columns->list[i].name, name))
			return &columns->list[i];
	return NULL;
}

static bool flag_value(const struct wsquery_flag *flag, size_t index, const struct row *row,
		       const struct target *target, int64_t *value)
{
	const struct wsquery_count *count = &row->totals.count;

	switch (flag->mask) {
	case WSQUERY_PRESENT:
		*value = count->present;
		break;
	case WSQUERY_SWAPPED:
		*value = count->swapped;
		break;
	case WSQUERY_HUGE:
		*value = count->huge;
		break;
	case WSQUERY_MARKER:
		*value = count->marker;
		break;
	case WSQUERY_MAPPED:
		*value = count->mapped;
		break;
	case WSQUERY_NOT_TOLD:
		*value = count->range.not_told;
		return true;
	default:
		*value = row->totals.flag[index];
	}
	return wsquery_tells(target->ws) & flag->mask;
}

bool column_value(const struct column *column, size_t index, const struct row *row,
		  const struct target *target, int64_t *value)
{
	const struct totals *totals = &row->totals;

	if (column->flag)
		return flag_value(column->flag, index, row, target, value);
	if (column->kind == COLUMN_NUMBER) {
		*value = row->map ? row->map->number : 0;
		return row->map;
	}
	if (!strcmp(column->name, "size")) {
		*value = totals->size;
		return true;
	}
	if (!strcmp(column->name, "shared-swapped")) {
		*value = totals->count.shmem_swapped;
		return wsquery_backend(target->ws) == WSQUERY_BACKEND_DEVICE;
	}
	if (!strcmp(column->name, "holes")) {
		*value = totals->count.mapped - totals->count.present - totals->count.swapped;
		return true;
	}
	if (!strcmp(column->name, "other-present"))
		*value = totals->other_present;
	else if (!strcmp(column->name, "other-swapped"))
		*value = totals->other_swapped;
	else
		*value = totals->count.swapped - totals->other_swapped;
	return target->other;
}

const char *column_text(const struct column *column, const struct row *row)
{
	static char text[64];
	const struct mapping *map = row->map;

	if (!map)
		return "";
	if (!strcmp(column->name, "perms"))
		return map->perms;
	if (!strcmp(column->name, "name"))
		return map->name;
	if (!strcmp(column->name, "offset"))
		snprintf(text, sizeof(text), "%jx", map->offset);
	else
		snprintf(text, sizeof(text), "%08jx-%08jx", map->start, map->end);
	return text;
}

void columns_help(FILE *stream)
{
	const struct wsquery_flag *flags;
	size_t i, count;

	for (i = 0; i < ROWS; i++)
		fprintf(stream, "%-15s %s\n", table[i].name, table[i].help);
	fprintf(stream, "\nand pages that have this flag:\n");
	flags = wsquery_flag_table(&count);
	for (i = 0; i < count; i++)
		if (is_column(&flags[i]))
			fprintf(stream, "%-15s %s\n", flags[i].name, flags[i].help);
}
