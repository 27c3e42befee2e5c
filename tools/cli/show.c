// SPDX-License-Identifier: GPL-2.0
/* wsquery show: a picture of one range, or the same seen by two backends side by side. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

#define GAP		3
#define MAX_WIDTH	4096
#define MAX_ROWS	4096

struct show_options {
	struct target target;
	const char *style;
	size_t width;
	size_t rows;
};

enum { KEY_STYLE = 0x400, KEY_WIDTH, KEY_ROWS };

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "The picture:", 2 },
	{ "style", KEY_STYLE, "NAME", 0,
	  "ascii, utf8 or colour; default: colour on a terminal unless NO_COLOR is set", 2 },
	{ "width", KEY_WIDTH, "COLUMNS", 0, "default: that of the terminal, or 80", 2 },
	{ "rows", KEY_ROWS, "N", 0, "at most this many lines of picture; default 16", 2 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct show_options *show = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &show->target;
		break;
	case KEY_STYLE:
		show->style = arg;
		break;
	case KEY_WIDTH:
		show->width = size_parse(arg);
		break;
	case KEY_ROWS:
		show->rows = size_parse(arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static bool locale_utf8(void)
{
	static const char * const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static enum style choose_style(const char *name)
{
	if (!name) {
		if (!locale_utf8())
			return STYLE_ASCII;
		return isatty(STDOUT_FILENO) && !getenv("NO_COLOR") ? STYLE_COLOUR : STYLE_UTF8;
	}
	if (!strcmp(name, "ascii"))
		return STYLE_ASCII;
	if (!strcmp(name, "utf8"))
		return STYLE_UTF8;
	if (!strcmp(name, "colour") || !strcmp(name, "color"))
		return STYLE_COLOUR;
	die(STATUS_USAGE, "no style '%s'; there are ascii, utf8 and colour", name);
}

/* Of the terminal, or of the environment where there is none; nothing there is an error. */
static size_t terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	long width = 0;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		width = size.ws_col;
	else if (columns)
		width = strtol(columns, NULL, 10);
	if (width < 1)
		return 80;
	return width > MAX_WIDTH ? MAX_WIDTH : width;
}

/* The most columns, a power of two, so that lines start at round addresses. */
static size_t columns_that_fit(size_t width, size_t margin, bool two)
{
	size_t columns = 1;

	width = width > margin ? width - margin : 1;
	if (two)
		width = width > GAP ? (width - GAP) / 2 : 1;
	while (columns * 2 <= width)
		columns *= 2;
	return columns;
}

static void print_headings(const struct target *target, const struct picture *picture,
			   size_t margin)
{
	int columns = picture->columns;

	printf("%*s%-*.*s%*s%.*s\n", (int)margin, "", columns, columns,
	       backend_title(target->ws), GAP, "", columns, backend_title(target->other));
}

/* Of the mapping, if it is one. */
static void print_name(const struct target *target)
{
	char *name;

	if (target->maps.count != 1 || !*target->maps.list[0].name)
		return;
	name = need_memory(strdup(target->maps.list[0].name));
	text_tame(name);
	printf("%s, ", name);
	free(name);
}

static void show_run(struct show_options *show, enum style style)
{
	struct target *target = &show->target;
	struct picture one = { 0 }, two = { 0 };
	char line_size[32], group_size[32], address[20];
	size_t i, cells_per_line, margin;

	margin = snprintf(address, sizeof(address), "%jx", target->end) + 1;
	one.columns = columns_that_fit(show->width, margin, target->other);
	one.rows = style == STYLE_COLOUR ? show->rows * 2 : show->rows;
	two = one;
	picture_take(&one, target, target->ws);
	if (target->other)
		picture_take(&two, target, target->other);

	cells_per_line = one.columns * (style == STYLE_COLOUR ? 2 : 1);
	unit_format(line_size, sizeof(line_size), one.group * cells_per_line, UNIT_HUMAN,
		    target->page);
	unit_format(group_size, sizeof(group_size), one.group, UNIT_HUMAN, target->page);
	printf("Process %d (%s), ", target->pid, target_name(target));
	print_name(target);
	printf("%ju pages: %s a %s, %s a line\n", one.pages, group_size,
	       style == STYLE_COLOUR ? "half character" : "character", line_size);
	if (target->other)
		print_headings(target, &one, margin);
	for (i = 0; i < picture_lines(&one, style); i++) {
		printf("%-*jx", (int)margin,
		       one.start + i * one.group * cells_per_line * target->page);
		picture_line(&one, i, style, stdout);
		if (target->other) {
			printf("%*s", GAP, "");
			picture_line(&two, i, style, stdout);
		}
		putchar('\n');
	}
	if (target->other)
		printf("%-17s ", backend_title(target->ws));
	picture_legend(&one, style, stdout);
	if (target->other) {
		printf("\n%-17s ", backend_title(target->other));
		picture_legend(&two, style, stdout);
	}
	putchar('\n');
	picture_free(&one);
	picture_free(&two);
}

int show_main(int argc, char **argv)
{
	static const struct argp_child children[] = { { &target_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options, parse, "PID|--self",
		"Draws the range of --range or --mapping: a character for each group of pages.",
		children, NULL, NULL
	};
	struct show_options show = { .rows = 16 };
	enum style style;

	argp_parse(&argp, argc, argv, 0, NULL, &show);
	if (!show.target.range && !show.target.mapping)
		die(STATUS_USAGE, "show needs --mapping WHICH or --range START-END");
	if (show.target.json)
		die(STATUS_USAGE, "a picture is not JSON; 'wsquery pages --json' is its data");
	if (!show.width)
		show.width = terminal_width();
	if (!show.rows || show.rows > MAX_ROWS || show.width > MAX_WIDTH)
		die(STATUS_USAGE, "rows and columns go from 1 to %d", MAX_WIDTH);
	style = choose_style(show.style);
	target_open(&show.target);
	show_run(&show, style);
	target_close(&show.target);
	return finish();
}
