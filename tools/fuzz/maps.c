// SPDX-License-Identifier: GPL-2.0
/*
 * The library's reading of /proc/PID/maps and mountinfo, whatever is in them and however the
 * kernel cuts them up. Input: two bytes of how, lines of maps, "--", lines of mountinfo.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "walk.h"
#include "world.h"

#define MOST	256

static size_t read_all(struct wsq_vma *vmas, unsigned int chunk)
{
	struct wsq_maps maps;
	size_t count = 0;
	int got;

	world.chunk = chunk;
	CHECK(!wsq_maps_open(&maps, WSQ_SELF));
	while ((got = wsq_maps_next(&maps, &vmas[count % MOST])) > 0)
		count++;
	CHECK(!got);
	/* From the start again, the first is the first. */
	CHECK(!wsq_maps_rewind(&maps));
	got = wsq_maps_next(&maps, &vmas[MOST]);
	CHECK(got == (count > 0));
	if (count && count <= MOST)
		CHECK(!memcmp(&vmas[0], &vmas[MOST], sizeof(*vmas)));
	wsq_maps_close(&maps);
	return count;
}

/* The permissions and addresses that a line has if it begins as the kernel's do. */
static bool expected(const char *line, struct wsq_vma *vma)
{
	unsigned long long start, end, offset, inode;
	unsigned int major, minor;
	char perms[5], again[128];

	if (strlen(line) > 4000 ||
	    sscanf(line, "%llx-%llx %4s %llx %x:%x %llu", &start, &end, perms, &offset, &major,
		   &minor, &inode) != 7 || strlen(perms) != 4)
		return false;
	snprintf(again, sizeof(again), "%08llx-%08llx %s %08llx %02x:%02x %llu", start, end, perms,
		 offset, major, minor, inode);
	if (strncmp(line, again, strlen(again)) || !strchr(" ", line[strlen(again)]) ||
	    strstr(line, "[vsyscall]"))
		return false;
	*vma = (struct wsq_vma){ start >> 12, end >> 12, WSQUERY_MAPPED };
	if (perms[0] == 'r')
		vma->flags |= WSQUERY_READABLE;
	if (perms[1] == 'w')
		vma->flags |= WSQUERY_WRITABLE;
	if (perms[2] == 'x')
		vma->flags |= WSQUERY_EXECUTABLE;
	if (perms[3] == 's')
		vma->flags |= WSQUERY_SHARED;
	return true;
}

static void check_lines(const struct wsq_vma *vmas, size_t count, const char *text, size_t size)
{
	const uint64_t own = WSQUERY_MAPPED | WSQUERY_READABLE | WSQUERY_WRITABLE |
			     WSQUERY_EXECUTABLE | WSQUERY_SHARED;
	const uint64_t kinds = WSQUERY_FILE | WSQUERY_SHMEM;
	struct input input = { (const uint8_t *)text, size };
	struct wsq_vma want;
	size_t i = 0;
	char *line;

	/* What has no end is not a line of the kernel's. */
	while (memchr(input.at, '\n', input.left)) {
		line = input_line(&input);
		if (expected(line, &want)) {
			for (; i < count; i++)
				if (vmas[i].start == want.start && vmas[i].end == want.end &&
				    (vmas[i].flags & own) == want.flags)
					break;
			CHECK(i < count);
			i++;
		}
		free(line);
	}
	for (i = 0; i < count; i++)
		CHECK((vmas[i].flags & kinds) != kinds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct wsq_vma one[MOST + 1], two[MOST + 1];
	struct input input = { data, size };
	uint64_t way = input_number(&input, 2);
	char *maps = input_part(&input), *mounts = input_part(&input);
	size_t count;

	world = (struct world){
		.on = true,
		.maps = maps, .maps_size = strlen(maps),
		.mounts = mounts, .mounts_size = strlen(mounts),
	};
	count = read_all(one, 0);
	world.interrupt = way & 0xff ? (way & 0xff) + 1 : 0;
	CHECK(read_all(two, (way >> 8) + 1) == count);
	world.on = false;
	if (count <= MOST) {
		CHECK(!memcmp(one, two, count * sizeof(*one)));
		check_lines(one, count, maps, strlen(maps));
	}
	free(maps);
	free(mounts);
	return 0;
}
