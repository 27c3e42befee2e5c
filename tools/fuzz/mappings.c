// SPDX-License-Identifier: GPL-2.0
/*
 * The command's reading of /proc/PID/maps, of names files, and of the choice of a mapping.
 * Input: lines of maps, "--", lines of names, "--", the choice, and the numbers of a range.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "fuzz.h"
#include "world.h"

struct call {
	const char *text;
	const char *which;
	uint64_t start, end;
	bool chosen;
};

/* A hexadecimal number as the kernel prints it, or SIZE_MAX characters. */
static size_t number(const char *text, uint64_t *value)
{
	size_t length = strspn(text, "0123456789abcdef");

	if (!length || length > 16)
		return SIZE_MAX;
	*value = strtoull(text, NULL, 16);
	return length;
}

static bool skip(const char **text, const char *set, size_t least, size_t most)
{
	size_t length = strspn(*text, set);

	*text += length;
	return length >= least && length <= most;
}

/* What a line says if it is exactly as the kernel prints it. */
static bool expected(const char *line, struct mapping *map)
{
	const char *at = line;
	size_t length;

	length = number(at, &map->start);
	if (length == SIZE_MAX || at[length] != '-')
		return false;
	at += length + 1;
	length = number(at, &map->end);
	if (length == SIZE_MAX || at[length] != ' ' || map->end <= map->start ||
	    (map->start | map->end) % 4096)
		return false;
	at += length + 1;
	if (!*at || !strchr("r-", at[0]) || !at[1] || !strchr("w-", at[1]) || !at[2] ||
	    !strchr("x-", at[2]) || !at[3] || !strchr("ps", at[3]) || at[4] != ' ')
		return false;
	memcpy(map->perms, at, 4);
	map->perms[4] = '\0';
	at += 5;
	length = number(at, &map->offset);
	if (length == SIZE_MAX || at[length] != ' ')
		return false;
	at += length;
	if (!skip(&at, " ", 1, 1) || !skip(&at, "0123456789abcdef", 2, 5) ||
	    !skip(&at, ":", 1, 1) || !skip(&at, "0123456789abcdef", 2, 5) ||
	    !skip(&at, " ", 1, 1) || !skip(&at, "0123456789", 1, 20) || !skip(&at, " ", 1, 99) ||
	    (*at && !strchr("/[", *at)))
		return false;
	map->name = (char *)at;
	return true;
}

static bool equal(const struct mapping *one, const struct mapping *two)
{
	return one->start == two->start && one->end == two->end && one->offset == two->offset &&
	       !strcmp(one->perms, two->perms) && !strcmp(one->name, two->name);
}

/* Return: whether all lines are as the kernel prints them, in ascending order. */
static bool check_lines(const struct mappings *maps, const char *text, size_t size)
{
	struct input input = { (const uint8_t *)text, size };
	struct mapping want;
	uint64_t before = 0;
	bool whole = true;
	size_t i = 0;
	char *line;

	while ((line = input_line(&input))) {
		if (expected(line, &want)) {
			/* What is wrong in other lines may have been taken for a mapping, too. */
			while (i < maps->count && !equal(&maps->list[i], &want))
				i++;
			CHECK(i < maps->count);
			CHECK(maps->list[i].number == i + 1);
			whole = whole && want.start >= before;
			before = want.end;
			i++;
		} else {
			whole = false;
		}
		free(line);
	}
	return whole;
}

static bool all_of(const char *text, const char *set)
{
	return *text && !text[strspn(text, set)];
}

static void check_choice(const struct mappings *maps, const char *which)
{
	const struct mapping *found = mappings_choose(maps, which);

	CHECK(found >= maps->list && found < maps->list + maps->count);
	if (all_of(which, "0123456789"))
		CHECK(found->number == strtoull(which, NULL, 10));
	else if (!strncmp(which, "0x", 2) && all_of(which + 2, "0123456789abcdefABCDEF"))
		CHECK(found->start <= strtoull(which, NULL, 16) &&
		      found->end > strtoull(which, NULL, 16));
	else
		CHECK(strstr(found->name, which));
}

static void check_clip(struct mappings *maps, uint64_t start, uint64_t end)
{
	uint64_t before = 0, after = 0;
	size_t i;

	for (i = 0; i < maps->count; i++) {
		uint64_t low = maps->list[i].start > start ? maps->list[i].start : start;
		uint64_t high = maps->list[i].end < end ? maps->list[i].end : end;

		before += low < high ? high - low : 0;
	}
	mappings_clip(maps, start, end);
	for (i = 0; i < maps->count; i++) {
		CHECK(maps->list[i].start >= start && maps->list[i].end <= end);
		after += maps->list[i].end - maps->list[i].start;
	}
	CHECK(before == after);
}

static void run(void *arg)
{
	struct call *call = arg;
	struct mappings maps;
	bool whole;

	mappings_read(&maps, 1);
	whole = check_lines(&maps, call->text, strlen(call->text));
	mappings_name(&maps, "names");
	if (whole && call->end > call->start)
		check_clip(&maps, call->start, call->end);
	if (maps.count)
		check_choice(&maps, call->which);
	mappings_free(&maps);
	call->chosen = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	char *maps = input_part(&input), *names = input_part(&input), *which = input_line(&input);
	struct call call = { .text = maps, .which = which ? which : "" };
	int status;

	call.start = input_number(&input, 6);
	call.end = call.start + input_number(&input, 5);
	world = (struct world){
		.on = true,
		.maps = maps, .maps_size = strlen(maps),
		.names = names, .names_size = strlen(names),
	};
	status = fuzz_call(run, &call);
	world.on = false;
	CHECK(call.chosen == (status == -1));
	CHECK(status == -1 || status == STATUS_ERROR || status == STATUS_NO_PROCESS ||
	      (status == STATUS_USAGE && !*call.which));
	free(maps);
	free(names);
	free(which);
	return 0;
}
