// SPDX-License-Identifier: GPL-2.0
/* Writes the map: a table with sums, raw rows, or JSON. */
#include <jansson.h>
#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static const char *other_name(const struct target *target)
{
	return wsquery_backend_name(wsquery_backend(target->other));
}

/* "OTHER-SEES" reads better with the other's name: "PAGEMAP-SEES". */
static void heading(char *text, size_t size, const struct column *column,
		    const struct target *target)
{
	const char *head = column->flag ? column->name : column->head;
	size_t i;

	if (target->other && !strncmp(head, "OTHER-", 6))
		snprintf(text, size, "%s-%s", other_name(target), head + 6);
	else
		snprintf(text, size, "%s", head);
	for (i = 0; text[i]; i++)
		if (text[i] >= 'a' && text[i] <= 'z')
			text[i] -= 'a' - 'A';
}

static struct libscols_table *new_table(const struct map_options *options)
{
	struct libscols_table *table = need_memory(scols_new_table());
	char text[64];
	size_t i;

	for (i = 0; i < options->columns.count; i++) {
		const struct column *column = &options->columns.list[i];
		int flags = column->kind == COLUMN_TEXT ? 0 : SCOLS_FL_RIGHT;

		if (!strcmp(column->name, "name"))
			flags |= SCOLS_FL_TRUNC;
		heading(text, sizeof(text), column, &options->target);
		need_memory(scols_table_new_column(table, text, 0, flags));
	}
	scols_table_enable_raw(table, options->raw);
	scols_table_enable_noheadings(table, !options->headings);
	return table;
}

/* Where sums say what they are: under the names, or else in the first text. */
static size_t label_column(const struct columns *columns)
{
	const struct column *name = columns_find(columns, "name");
	size_t i;

	if (name)
		return name - columns->list;
	for (i = 0; i < columns->count && columns->list[i].kind != COLUMN_TEXT; i++)
		;
	return i;
}

static void cell_text(char *text, size_t size, const struct map_options *options, size_t index,
		      const struct row *row)
{
	const struct column *column = &options->columns.list[index];
	const struct target *target = &options->target;
	int64_t value;

	if (!column_value(column, index, row, target, &value))
		snprintf(text, size, column->kind == COLUMN_NUMBER ? "" : "-");
	else if (column->kind == COLUMN_NUMBER)
		snprintf(text, size, "%jd", value);
	else
		unit_format(text, size, value, options->unit, target->page);
}

/* @label: of a sum; NULL for a mapping */
static void add_row(struct libscols_table *table, const struct map_options *options,
		    const struct row *row, const char *label)
{
	const struct columns *columns = &options->columns;
	struct libscols_line *line = need_memory(scols_table_new_line(table, NULL));
	char text[64];
	size_t i;

	for (i = 0; i < columns->count; i++) {
		if (columns->list[i].kind == COLUMN_TEXT) {
			scols_line_set_data(line, i, column_text(&columns->list[i], row));
		} else {
			cell_text(text, sizeof(text), options, i, row);
			scols_line_set_data(line, i, text);
		}
	}
	i = label_column(columns);
	if (label && i < columns->count)
		scols_line_set_data(line, i, label);
}

static void print_title(const struct map_options *options)
{
	const struct target *target = &options->target;
	char page[32];

	printf("Process %d (%s) through %s", target->pid, target_name(target),
	       backend_title(target->ws));
	if (target->other)
		printf(", compared with %s", backend_title(target->other));
	unit_format(page, sizeof(page), 1, UNIT_HUMAN, target->page);
	if (options->unit == UNIT_PAGES)
		printf("; numbers are pages of %s", page);
	else if (options->unit == UNIT_BYTES)
		printf("; numbers are bytes, pages have %s", page);
	printf("\n");
}

static void print_notes(const struct map_options *options, const struct row *sum)
{
	uint64_t not_told = sum->totals.count.range.not_told;

	if (wsquery_backend(options->target.ws) != WSQUERY_BACKEND_DEVICE)
		printf("Without the module, shared memory in swap looks like a hole: of %ju pages\n"
		       "it is not known what is behind the hole.\n", not_told);
	else if (not_told)
		printf("Of %ju pages you may not know what is behind the hole (see not-told).\n",
		       not_told);
}

void map_print(const struct map_options *options, const struct row *rows, size_t count,
	       const struct row *rest, size_t rest_count, const struct row *sum)
{
	struct libscols_table *table = new_table(options);
	char label[64];
	size_t i;

	for (i = 0; i < count; i++)
		add_row(table, options, &rows[i], NULL);
	if (!options->raw) {
		if (rest_count) {
			snprintf(label, sizeof(label), "%zu smaller mappings", rest_count);
			add_row(table, options, rest, label);
		}
		add_row(table, options, sum, "total");
		print_title(options);
	}
	if (scols_print_table(table))
		die(STATUS_ERROR, "the table could not be written");
	if (!options->raw)
		print_notes(options, sum);
	scols_unref_table(table);
}

/*
 * Integers of jansson have a sign, which the offset in a device need not fit in. One of so many
 * bits is a number with an exponent then, and exact: an offset is a number of pages.
 */
static json_t *json_offset(uint64_t offset)
{
	return offset > INT64_MAX ? json_real(offset) : json_integer(offset);
}

static json_t *json_row(const struct map_options *options, const struct row *row)
{
	const struct target *target = &options->target;
	int64_t page = options->unit == UNIT_BYTES ? target->page : 1;
	json_t *object = need_memory(json_object());
	char text[32];
	int64_t value;
	size_t i;

	for (i = 0; i < options->columns.count; i++) {
		const struct column *column = &options->columns.list[i];
		json_t *item;

		if (!row->map && column->kind != COLUMN_PAGES)
			continue;
		if (!strcmp(column->name, "range")) {
			snprintf(text, sizeof(text), "0x%jx", row->map->start);
			json_object_set_new(object, "start", json_string(text));
			snprintf(text, sizeof(text), "0x%jx", row->map->end);
			json_object_set_new(object, "end", json_string(text));
			continue;
		}
		if (!strcmp(column->name, "offset"))
			item = json_offset(row->map->offset);
		else if (column->kind == COLUMN_TEXT)
			/* A file's name need not be UTF-8, which JSON must be. */
			item = json_string(column_text(column, row)) ?: json_null();
		else if (!column_value(column, i, row, target, &value))
			item = json_null();
		else
			item = json_integer(column->kind == COLUMN_PAGES ? value * page : value);
		json_object_set_new(object, column->name, need_memory(item));
	}
	return object;
}

static void print_object(json_t *object)
{
	json_dumpf(object, stdout, JSON_COMPACT);
	json_decref(object);
}

void map_print_json(const struct map_options *options, const struct row *rows, size_t count,
		    const struct row *sum)
{
	size_t i;

	target_json(&options->target);
	printf("\"unit\":\"%s\",\n\"mappings\":[", options->unit == UNIT_BYTES ? "bytes" : "pages");
	for (i = 0; i < count; i++) {
		printf(i ? ",\n" : "\n");
		print_object(json_row(options, &rows[i]));
	}
	printf("],\n\"total\":");
	print_object(json_row(options, sum));
	printf("}\n");
}
