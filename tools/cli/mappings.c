// SPDX-License-Identifier: GPL-2.0
/* The mappings of a process, from /proc/PID/maps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static void add_line(struct mappings *maps, char *line)
{
	struct mapping map = { 0 };
	int name = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%jx-%jx %4s %jx %*s %*s %n", &map.start,
		   &map.end, map.perms, &map.offset, &name) < 4 || !name)
		return;
	/* What follows divides by the number of pages. */
	if (map.end <= map.start || (map.start | map.end) % getpagesize())
		return;
	map.name = need_memory(strdup(line + name));
	map.number = maps->count + 1;
	/* Room grows by doubling, whenever the count is a power of two. */
	if (!(maps->count & (maps->count - 1)))
		maps->list = need_memory(realloc(maps->list, (maps->count ? maps->count * 2 : 1) *
						 sizeof(map)));
	maps->list[maps->count++] = map;
}

void mappings_read(struct mappings *maps, pid_t pid)
{
	char path[32], *line = NULL;
	size_t size = 0;
	FILE *file;

	*maps = (struct mappings){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file)
		die_process(pid, -errno);
	errno = 0;
	while (getline(&line, &size, file) > 0)
		add_line(maps, line);
	if (ferror(file))
		die_process(pid, -errno);
	fclose(file);
	free(line);
	if (!maps->count)
		die_process(pid, -ESRCH);
}

static struct mapping *mapping_at(const struct mappings *maps, uint64_t address)
{
	size_t low = 0, high = maps->count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (maps->list[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < maps->count && maps->list[low].start <= address ? &maps->list[low] : NULL;
}

void mappings_name(struct mappings *maps, const char *file)
{
	FILE *stream = fopen(file, "re");
	struct mapping *map;
	uint64_t start;
	char *line = NULL;
	size_t size = 0;
	int name;

	if (!stream)
		die(STATUS_ERROR, "%s: %s", file, strerror(errno));
	while (getline(&line, &size, stream) > 0) {
		line[strcspn(line, "\n")] = '\0';
		name = 0;
		if (sscanf(line, "%jx %*x %n", &start, &name) < 1 || !name || !line[name])
			continue;
		map = mapping_at(maps, start);
		if (map) {
			free(map->name);
			map->name = need_memory(strdup(line + name));
		}
	}
	if (ferror(stream))
		die(STATUS_ERROR, "%s: %s", file, strerror(errno));
	fclose(stream);
	free(line);
}

void mappings_clip(struct mappings *maps, uint64_t start, uint64_t end)
{
	size_t i, kept = 0;

	for (i = 0; i < maps->count; i++) {
		struct mapping map = maps->list[i];

		if (map.end <= start || map.start >= end) {
			free(map.name);
			continue;
		}
		if (map.start < start) {
			map.offset += start - map.start;
			map.start = start;
		}
		if (map.end > end)
			map.end = end;
		maps->list[kept++] = map;
	}
	maps->count = kept;
}

static bool all_digits(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0';
}

static bool is_address(const char *text)
{
	return !strncmp(text, "0x", 2) && text[2] &&
	       text[2 + strspn(text + 2, "0123456789abcdefABCDEF")] == '\0';
}

/* By name: the only one that has it whole, or else the only one that has it in it. */
static const struct mapping *choose_name(const struct mappings *maps, const char *which)
{
	const struct mapping *found = NULL;
	size_t i, whole, part = 0;

	for (i = whole = 0; i < maps->count; i++) {
		const struct mapping *map = &maps->list[i];

		if (!strcmp(map->name, which)) {
			found = map;
			whole++;
		} else if (!whole && strstr(map->name, which)) {
			found = map;
			part++;
		}
	}
	if (!whole && !part)
		die(STATUS_ERROR, "no mapping is named '%s'", which);
	if (whole > 1 || (!whole && part > 1))
		die(STATUS_ERROR, "%zu mappings are named '%s': choose by row number or address",
		    whole ? whole : part, which);
	return found;
}

const struct mapping *mappings_choose(const struct mappings *maps, const char *which)
{
	const struct mapping *map = NULL;
	uint64_t number;

	if (!*which)
		die(STATUS_USAGE, "--mapping takes a row number, an address (0x...) or a name");
	if (all_digits(which)) {
		number = strtoull(which, NULL, 10);
		if (number < 1 || number > maps->count)
			die(STATUS_ERROR, "there is no mapping %s: there are %zu", which,
			    maps->count);
		return &maps->list[number - 1];
	}
	if (is_address(which)) {
		map = mapping_at(maps, strtoull(which, NULL, 16));
		if (!map)
			die(STATUS_ERROR, "no mapping is at %s", which);
		return map;
	}
	return choose_name(maps, which);
}

void mappings_free(struct mappings *maps)
{
	size_t i;

	for (i = 0; i < maps->count; i++)
		free(maps->list[i].name);
	free(maps->list);
}
