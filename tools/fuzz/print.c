// SPDX-License-Identifier: GPL-2.0
/*
 * Tables and JSON of the command, about mappings whose names have any bytes in them. JSON is
 * read back by json-c. Input: choices in the first 8 bytes, then numbers and names.
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "fuzz.h"
#include "lib.h"
#include "world.h"

#define ROWS	12

struct call {
	struct map_options options;
	struct mapping maps[ROWS];
	struct row rows[ROWS];
	struct row sum;
	size_t count;
	const char *columns;
};

static void run(void *arg)
{
	struct call *call = arg;
	struct map_options *options = &call->options;

	columns_parse(&options->columns, call->columns);
	if (options->target.json)
		map_print_json(options, call->rows, call->count, &call->sum);
	else
		map_print(options, call->rows, call->count, &call->sum, 3, &call->sum);
}

static uint64_t address_of(json_object *row, const char *name)
{
	json_object *item;

	CHECK(json_object_object_get_ex(row, name, &item));
	return strtoull(json_object_get_string(item), NULL, 16);
}

static void check_json_row(json_object *row, const struct mapping *map)
{
	json_object *item;

	CHECK(address_of(row, "start") == map->start && address_of(row, "end") == map->end);
	CHECK(json_object_object_get_ex(row, "nr", &item));
	CHECK(json_object_get_uint64(item) == map->number);
	CHECK(json_object_object_get_ex(row, "offset", &item));
	CHECK(json_object_is_type(item, json_type_int) ?
	      json_object_get_uint64(item) == map->offset &&
	      json_object_get_int64(item) >= 0 :
	      json_object_is_type(item, json_type_double) &&
	      (uint64_t)json_object_get_double(item) == map->offset);
	CHECK(json_object_object_get_ex(row, "name", &item));
	if (text_utf8(map->name, strlen(map->name)))
		CHECK(item && !strcmp(json_object_get_string(item), map->name));
	else
		CHECK(!item);
}

static void check_json(const struct call *call)
{
	struct json_tokener *tokener = json_tokener_new();
	json_object *document, *rows;
	size_t i;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	document = json_tokener_parse_ex(tokener, said, said_size);
	CHECK(document && json_tokener_get_error(tokener) == json_tokener_success);
	CHECK(said_size - json_tokener_get_parse_end(tokener) <= 1);
	CHECK(json_object_object_get_ex(document, "mappings", &rows));
	CHECK(json_object_array_length(rows) == call->count);
	for (i = 0; i < call->count; i++)
		check_json_row(json_object_array_get_idx(rows, i), &call->maps[i]);
	json_object_put(document);
	json_tokener_free(tokener);
}

/* Every row is one line, and no name changes what a terminal shows of the others. */
static void check_table(const struct call *call)
{
	const struct map_options *options = &call->options;
	size_t lines = 0, want, i, blanks = 0, columns = options->columns.count;

	CHECK(text_clean(said, said_size, "\n"));
	/* A table of nothing has no headings. */
	want = call->count || !options->raw ? call->count + options->headings : 0;
	for (i = 0; i < said_size; i++) {
		blanks += said[i] == ' ';
		if (said[i] != '\n')
			continue;
		if (options->raw && lines < want)
			CHECK(blanks == columns - 1);
		blanks = 0;
		lines++;
	}
	if (options->raw)
		CHECK(lines == want);
	else
		CHECK(lines >= want + 3 && lines <= want + 5);
}

static struct mapping some_mapping(struct input *input, size_t number)
{
	struct mapping map = { .perms = "rw-p", .number = number };
	uint64_t way = input_number(input, 1);

	map.start = (input_number(input, 7) << 12) >> (way % 48);
	map.end = map.start + ((input_number(input, 2) + 1) << 12);
	map.offset = (input_number(input, 7) << 12) >> (way / 4) % 48 << 12;
	map.name = input_line(input);
	if (!map.name)
		map.name = strdup("");
	return map;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const columns[] = {
		"nr,range,perms,offset,name,size", "nr,range,offset,name",
		"name,range,nr,offset,present,ksm,holes",
		"nr,range,offset,name,missed,other-swapped",
	};
	struct wsquery ws = { .backend = WSQUERY_BACKEND_PAGEMAP, .device = -1 };
	struct input input = { data, size };
	uint64_t choice = input_number(&input, 2);
	struct call *call = calloc(1, sizeof(*call));
	char *comm = input_line(&input);
	size_t i;

	call->columns = columns[choice & 3];
	call->options.target = (struct target){
		.pid = 1, .json = choice & 4, .page = 4096, .ws = &ws,
		.other = choice & 8 ? &ws : NULL,
	};
	call->options.unit = choice & 4 ? UNIT_PAGES : choice >> 4 & 1;
	call->options.raw = choice & 32;
	call->options.headings = choice & 64;
	while (input.left && call->count < ROWS) {
		struct row *row = &call->rows[call->count];

		row->map = &call->maps[call->count];
		call->maps[call->count] = some_mapping(&input, call->count + 1);
		row->totals.size = (row->map->end - row->map->start) / 4096;
		row->totals.count.mapped = row->totals.size;
		call->sum.totals.size += row->totals.size;
		call->count++;
	}
	world = (struct world){ .on = true, .comm = comm };
	CHECK(fuzz_call(run, call) == -1);
	world.on = false;
	if (said_size < sizeof(said)) {
		if (choice & 4)
			check_json(call);
		else
			check_table(call);
	}
	for (i = 0; i < call->count; i++)
		free(call->maps[i].name);
	free(call);
	free(comm);
	return 0;
}
