// SPDX-License-Identifier: GPL-2.0
/* wsquery map: counts the pages of each mapping, and puts the rows in order. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define DEFAULT_COLUMNS	"range,size,present,swapped,shared-swapped,holes,huge,name"
#define COMPARE_COLUMNS	"range,size,present,swapped,shared-swapped,holes,huge,other-swapped," \
			"missed,name"

enum { KEY_LIST_COLUMNS = 0x300, KEY_NO_HEADINGS };

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "The table:", 2 },
	{ "columns", 'o', "LIST", 0,
	  "columns by name, separated by commas; +LIST adds to those shown anyway", 2 },
	{ "list-columns", KEY_LIST_COLUMNS, NULL, 0, "what can be a column", 2 },
	{ "sort", 's', "COLUMN", 0,
	  "order by a column, largest first (names: A first); -COLUMN turns it round", 2 },
	{ "min", 'M', "SIZE", 0,
	  "only rows for mappings of at least so many bytes (64K, 1M); one row for the rest", 2 },
	{ "bytes", 'B', NULL, 0, "numbers in bytes", 2 },
	{ "pages", 'P', NULL, 0, "numbers in pages", 2 },
	{ "raw", 'R', NULL, 0, "rows for scripts: one space between, no sums, in pages", 2 },
	{ "no-headings", KEY_NO_HEADINGS, NULL, 0, "no line of headings", 2 },
	{ 0 },
};

static const struct map_options *sorting;

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct map_options *map = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &map->target;
		break;
	case 'o':
		map->list = arg;
		break;
	case 's':
		map->sort = arg;
		break;
	case 'M':
		map->min = size_parse(arg);
		break;
	case 'B':
		map->unit = UNIT_BYTES;
		break;
	case 'P':
		map->unit = UNIT_PAGES;
		break;
	case 'R':
		map->raw = true;
		break;
	case KEY_NO_HEADINGS:
		map->headings = false;
		break;
	case KEY_LIST_COLUMNS:
		columns_help(stdout);
		exit(finish());
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void ask(struct target *target, struct wsquery *ws, struct wsquery_count *count)
{
	int error = wsquery_get_count(ws, count);

	if (error)
		die_process(target->pid, error);
}

static void count_row(struct map_options *options, struct row *row)
{
	struct target *target = &options->target;
	const struct mapping *map = row->map;
	const struct wsquery_range range = { .start = map->start, .length = map->end - map->start };
	struct totals *totals = &row->totals;
	size_t i;

	totals->size = range.length / target->page;
	totals->count.range = range;
	ask(target, target->ws, &totals->count);
	for (i = 0; i < options->columns.count; i++) {
		const struct wsquery_flag *flag = options->columns.list[i].flag;
		struct wsquery_count count = { .range = range };

		if (!flag || !(wsquery_tells(target->ws) & flag->mask))
			continue;
		count.range.attrs = flag->mask & ~WSQUERY_STATE_MASK;
		count.mask = flag->mask;
		count.value = flag->mask;
		ask(target, target->ws, &count);
		totals->flag[i] = count.matched;
	}
	if (target->other) {
		struct wsquery_count count = { .range = range };

		ask(target, target->other, &count);
		totals->other_present = count.present;
		totals->other_swapped = count.swapped;
	}
}

static void add_up(struct totals *sum, const struct totals *one)
{
	size_t i;

	sum->size += one->size;
	sum->count.mapped += one->count.mapped;
	sum->count.present += one->count.present;
	sum->count.swapped += one->count.swapped;
	sum->count.shmem_swapped += one->count.shmem_swapped;
	sum->count.huge += one->count.huge;
	sum->count.marker += one->count.marker;
	sum->count.range.not_told += one->count.range.not_told;
	sum->other_present += one->other_present;
	sum->other_swapped += one->other_swapped;
	for (i = 0; i < MAX_COLUMNS; i++)
		sum->flag[i] += one->flag[i];
}

static int compare(const void *a, const void *b)
{
	const char *name = sorting->sort + (*sorting->sort == '-');
	const struct column *column = columns_find(&sorting->columns, name);
	const struct row *one = a, *two = b;
	int64_t x = 0, y = 0;
	int order;

	if (!strcmp(name, "range")) {
		order = (one->map->start > two->map->start) - (one->map->start < two->map->start);
	} else if (!strcmp(name, "offset")) {
		order = (one->map->offset < two->map->offset) -
			(one->map->offset > two->map->offset);
	} else if (column->kind == COLUMN_TEXT) {
		order = strcmp(column_text(column, one), column_text(column, two));
	} else {
		column_value(column, column - sorting->columns.list, one, &sorting->target, &x);
		column_value(column, column - sorting->columns.list, two, &sorting->target, &y);
		order = (x < y) - (x > y);
	}
	return *sorting->sort == '-' ? -order : order;
}

static void sort_rows(const struct map_options *options, struct row *rows, size_t count)
{
	const char *name = options->sort;

	if (!name)
		return;
	name += *name == '-';
	if (!columns_find(&options->columns, name))
		die(STATUS_USAGE, "--sort %s: that column is not shown", name);
	sorting = options;
	qsort(rows, count, sizeof(*rows), compare);
}

static void map_run(struct map_options *options)
{
	struct target *target = &options->target;
	struct row sum = { 0 }, rest = { 0 };
	size_t i, count = 0, rest_count = 0;
	struct row *rows;

	rows = need_memory(calloc(target->maps.count + 1, sizeof(*rows)));
	for (i = 0; i < target->maps.count; i++) {
		struct row *row = &rows[count];

		memset(row, 0, sizeof(*row));
		row->map = &target->maps.list[i];
		count_row(options, row);
		add_up(&sum.totals, &row->totals);
		if (row->map->end - row->map->start < options->min) {
			add_up(&rest.totals, &row->totals);
			rest_count++;
		} else {
			count++;
		}
	}
	sort_rows(options, rows, count);
	if (target->json)
		map_print_json(options, rows, count, &sum);
	else
		map_print(options, rows, count, &rest, rest_count, &sum);
	free(rows);
}

int map_main(int argc, char **argv)
{
	static const struct argp_child children[] = { { &target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse, "PID|--self",
		"Prints a row for each mapping of a process: what is in memory, in swap, in neither.",
		children, NULL, NULL
	};
	struct map_options map = { .headings = true };

	argp_parse(&argp, argc, argv, 0, NULL, &map);
	columns_parse(&map.columns, map.target.compare ? COMPARE_COLUMNS : DEFAULT_COLUMNS);
	if (map.list)
		columns_parse(&map.columns, map.list);
	if (map.unit == UNIT_HUMAN && (map.raw || map.target.json))
		map.unit = UNIT_PAGES;
	target_open(&map.target);
	map_run(&map);
	target_close(&map.target);
	return finish();
}
