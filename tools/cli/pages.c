// SPDX-License-Identifier: GPL-2.0
/* wsquery pages: runs of equal pages, with the names of their flags. */
#include <stdlib.h>

#include "cli.h"

struct pages_options {
	struct target target;
	uint64_t attrs;
	uint64_t select;
	bool first;
};

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "The runs:", 2 },
	{ "attrs", 'a', "LIST", 0,
	  "attributes to tell besides the state, by name, separated by commas; all for all", 2 },
	{ "select", 's', "LIST", 0, "only pages that have any of these states or attributes", 2 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct pages_options *pages = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &pages->target;
		break;
	case 'a':
		pages->attrs |= flags_parse(arg);
		break;
	case 's':
		pages->select |= flags_parse(arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int print_text(const struct wsquery_region *region, void *arg)
{
	const struct pages_options *pages = arg;
	uint64_t start = region->start, end = region->end;
	char flags[512];

	wsquery_flags_format(flags, sizeof(flags), region->flags);
	printf("%08jx-%08jx %ju %s\n", start, end,
	       (end - start) / pages->target.page, flags);
	return 0;
}

static int print_json(const struct wsquery_region *region, void *arg)
{
	struct pages_options *pages = arg;
	const struct wsquery_flag *table;
	uint64_t start = region->start, end = region->end, flags = region->flags;
	const char *comma = "";
	size_t i, count;

	printf("%s\n{\"start\":\"0x%jx\",\"end\":\"0x%jx\",\"pages\":%ju,\"flags\":[",
	       pages->first ? "" : ",", start, end, (end - start) / pages->target.page);
	pages->first = false;
	table = wsquery_flag_table(&count);
	for (i = 0; i < count; i++) {
		if (table[i].shift || !(flags & table[i].mask))
			continue;
		printf("%s\"%s\"", comma, table[i].name);
		comma = ",";
	}
	printf("]");
	for (i = 0; i < count; i++)
		if (table[i].shift && (pages->attrs & table[i].mask))
			printf(",\"%s\":%u", table[i].name,
			       (unsigned int)((flags & table[i].mask) >> table[i].shift));
	printf("}");
	return 0;
}

static void pages_run(struct pages_options *pages)
{
	struct target *target = &pages->target;
	struct wsquery_cursor cursor = {
		.start = target->start,
		.length = target->end - target->start,
		.attrs = pages->attrs & ~WSQUERY_STATE_MASK & wsquery_tells(target->ws),
		.select = pages->select,
	};
	int error;

	if (target->json) {
		target_json(target);
		printf("\"runs\":[");
	}
	pages->first = true;
	error = wsquery_for_each_region(target->ws, &cursor, target->json ? print_json : print_text,
					pages);
	if (error < 0)
		die_process(target->pid, error);
	if (target->json)
		printf("],\n\"not-told\":%ju}\n", cursor.not_told);
}

int pages_main(int argc, char **argv)
{
	static const struct argp_child children[] = { { &target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse, "PID|--self",
		"Prints runs of equal pages, a line each: addresses, number of pages, flags.",
		children, NULL, NULL
	};
	struct pages_options pages = { 0 };

	argp_parse(&argp, argc, argv, 0, NULL, &pages);
	/* What decides about a page must be asked for. */
	pages.attrs |= pages.select & ~WSQUERY_STATE_MASK;
	if (pages.target.compare)
		die(STATUS_USAGE, "pages has nothing to compare; map and show have");
	target_open(&pages.target);
	if (pages.select & ~wsquery_tells(pages.target.ws))
		die(STATUS_ERROR, "%s cannot tell all that --select asks for",
		    wsquery_backend_name(wsquery_backend(pages.target.ws)));
	pages_run(&pages);
	target_close(&pages.target);
	return finish();
}
