/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the rooms of the command share.
 *
 *  main.c      the subcommands
 *  error.c     sentences and exit statuses
 *  target.c    whom to ask about and where: the options that all queries have
 *  mappings.c  the target's mappings, their names, and the choice of one
 *  units.c     pages, bytes and human sizes
 *  text.c      names in which anything can be
 *  columns.c   what a row of the map can hold
 *  map.c       wsquery map: a row for each mapping (map-print.c writes it)
 *  pages.c     wsquery pages: runs of equal pages
 *  show.c      wsquery show: a picture (picture.c draws it)
 *  info.c      wsquery info
 *
 * Names of states and attributes come from libwsquery's table only.
 */
#ifndef WSQ_CLI_H
#define WSQ_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <wsquery.h>

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define __noreturn		__attribute((noreturn))
#define __printf(a, b)		__attribute((format(printf, a, b)))

/* Exit statuses; wsquery(1) documents them. */
enum {
	STATUS_OK,
	STATUS_ERROR,
	STATUS_USAGE,
	STATUS_NO_BACKEND,
	STATUS_NO_PROCESS,
	STATUS_NO_PERMISSION,
};

/* main.c */
int map_main(int argc, char **argv);
int pages_main(int argc, char **argv);
int show_main(int argc, char **argv);
int info_main(int argc, char **argv);

/* error.c: each prints a sentence and exits */
__noreturn __printf(2, 3) void die(int status, const char *format, ...);
__noreturn void die_backend(int backend, int error);
__noreturn void die_process(pid_t pid, int error);
void *need_memory(void *memory);
/* Closes standard output: what could not be written is an error too. */
int finish(void);

/* mappings.c */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	char perms[5];
	char *name;
	size_t number;		/* its row, from 1, however the table is sorted */
};

struct mappings {
	struct mapping *list;
	size_t count;
};

void mappings_read(struct mappings *maps, pid_t pid);
/* Names from a file with lines "START SIZE NAME", as perf(1) has them for compiled code. */
void mappings_name(struct mappings *maps, const char *file);
/* Cuts the mappings down to a range. */
void mappings_clip(struct mappings *maps, uint64_t start, uint64_t end);
/* The one that a row number, an address in it (0x...) or a name means. */
const struct mapping *mappings_choose(const struct mappings *maps, const char *which);
void mappings_free(struct mappings *maps);

/* target.c */
struct target {
	pid_t pid;		/* 0 until it is known */
	bool self;
	bool json;
	int backend;
	int compare;		/* a second backend, or WSQUERY_BACKEND_ANY for none */
	const char *range;
	const char *mapping;
	const char *names;

	struct wsquery *ws;
	struct wsquery *other;	/* of @compare, or NULL */
	struct mappings maps;	/* in the range or mapping asked for */
	uint64_t start, end;	/* that range; everything if none was given */
	uint64_t page;		/* bytes */
};

extern const struct argp target_argp;
void target_open(struct target *target);
void target_close(struct target *target);
/* A backend as people know it: the file or ioctl behind it. */
const char *backend_title(const struct wsquery *ws);
/* The name of the process, or "?", as text_tame() leaves it. */
const char *target_name(const struct target *target);
/* Prints what all JSON documents begin with: {"pid":...,"page_size":..., */
void target_json(const struct target *target);

/* text.c */
/* Writes ? over bytes that are not UTF-8, and over those of control characters. */
void text_tame(char *text);

/* units.c */
enum unit { UNIT_HUMAN, UNIT_BYTES, UNIT_PAGES };
/* A number of pages in a unit. */
void unit_format(char *text, size_t size, int64_t pages, enum unit unit, uint64_t page);
/* 512, 64K, 8M, 2G; exits if it is none. */
uint64_t size_parse(const char *text);
/* START-END or START+SIZE with hexadecimal addresses; exits if it is none. */
void range_parse(const char *text, uint64_t page, uint64_t *start, uint64_t *end);
/* Flag names separated by commas; exits if there is no such name. */
uint64_t flags_parse(const char *text);

/* columns.c */
enum column_kind {
	COLUMN_NUMBER,		/* row number */
	COLUMN_TEXT,
	COLUMN_PAGES,		/* a number of pages, in the unit asked for */
};

#define MAX_COLUMNS	40

/* What was counted in one mapping, or in all. Pages. */
struct totals {
	uint64_t size;
	struct wsquery_count count;
	uint64_t other_present;
	uint64_t other_swapped;
	uint64_t flag[MAX_COLUMNS];	/* for columns that are a flag's name */
};

struct row {
	const struct mapping *map;	/* NULL for sums */
	struct totals totals;
};

struct column {
	const char *name;
	const char *head;
	enum column_kind kind;
	const char *help;
	const struct wsquery_flag *flag;	/* counted by itself, or NULL */
};

struct columns {
	struct column list[MAX_COLUMNS];
	size_t count;
};

/* "a,b,c" replaces what is there, "+a,b" adds to it; exits if a name is unknown. */
void columns_parse(struct columns *columns, const char *text);
const struct column *columns_find(const struct columns *columns, const char *name);
/* The value in pages (or the row number); false if the backend cannot tell. */
bool column_value(const struct column *column, size_t index, const struct row *row,
		  const struct target *target, int64_t *value);
/* The text of a column of kind COLUMN_TEXT, in a static buffer or the mapping. */
const char *column_text(const struct column *column, const struct row *row);
void columns_help(FILE *stream);

/* map-print.c */
struct map_options {
	struct target target;
	struct columns columns;
	enum unit unit;
	const char *list;	/* of columns, as it was asked for */
	const char *sort;
	uint64_t min;
	bool raw;
	bool headings;
};

/* @rest: of the mappings smaller than options->min, or NULL */
void map_print(const struct map_options *options, const struct row *rows, size_t count,
	       const struct row *rest, size_t rest_count, const struct row *sum);
void map_print_json(const struct map_options *options, const struct row *rows, size_t count,
		    const struct row *sum);

/* picture.c */
enum cell { CELL_NONE, CELL_HOLE, CELL_CACHED, CELL_NOT_TOLD, CELL_MARKER, CELL_SWAPPED,
	    CELL_PRESENT, CELLS };

struct picture {
	uint64_t start;
	uint64_t group;		/* pages per cell */
	size_t columns;
	size_t rows;
	uint64_t pages;
	uint64_t sum[CELLS];	/* pages of each state */
	uint64_t (*cells)[CELLS];
};

enum style { STYLE_ASCII, STYLE_UTF8, STYLE_COLOUR };

void picture_take(struct picture *picture, const struct target *target, struct wsquery *ws);
/* One line of text without its end; @line counts lines of text. */
void picture_line(const struct picture *picture, size_t line, enum style style, FILE *stream);
size_t picture_lines(const struct picture *picture, enum style style);
void picture_legend(const struct picture *picture, enum style style, FILE *stream);
void picture_free(struct picture *picture);

#endif /* WSQ_CLI_H */
