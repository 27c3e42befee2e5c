// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mappings, from /proc/PID/maps.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "walk.h"

int wsq_maps_open(struct wsq_maps *maps, int proc)
{
	maps->lines.next = 0;
	maps->lines.filled = 0;
	maps->lines.skip = false;
	maps->fs.count = 0;
	maps->shift = wsq_page_shift();
	if (proc == WSQ_SELF)
		maps->lines.fd = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
	else
		maps->lines.fd = openat(proc, "maps", O_RDONLY | O_CLOEXEC);
	if (maps->lines.fd >= 0)
		return 0;
	return errno == ENOENT ? -ESRCH : -errno;
}

void wsq_maps_close(struct wsq_maps *maps)
{
	close(maps->lines.fd);
}

int wsq_maps_rewind(struct wsq_maps *maps)
{
	maps->lines.next = 0;
	maps->lines.filled = 0;
	maps->lines.skip = false;
	return lseek(maps->lines.fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static bool skip_char(char **text, char c)
{
	if (**text != c)
		return false;
	++*text;
	return true;
}

/* "START-END rwxp OFFSET MAJOR:MINOR INODE    PATH", all but the inode in hex. */
static bool parse(struct wsq_maps *maps, char *line, struct wsq_vma *vma)
{
	unsigned long long inode;
	unsigned long major, minor;
	char *perm;

	vma->start = strtoull(line, &line, 16) >> maps->shift;
	if (!skip_char(&line, '-'))
		return false;
	vma->end = strtoull(line, &line, 16) >> maps->shift;
	if (!skip_char(&line, ' ') || strnlen(line, 5) < 5)
		return false;
	perm = line;
	strtoull(line + 5, &line, 16);
	major = strtoul(line, &line, 16);
	if (!skip_char(&line, ':'))
		return false;
	minor = strtoul(line, &line, 16);
	inode = strtoull(line, &line, 10);
	line += strspn(line, " ");

	/* Belongs to the kernel, is in no process's mappings. */
	if (!strcmp(line, "[vsyscall]"))
		return false;

	vma->flags = WSQUERY_MAPPED;
	if (perm[0] == 'r')
		vma->flags |= WSQUERY_READABLE;
	if (perm[1] == 'w')
		vma->flags |= WSQUERY_WRITABLE;
	if (perm[2] == 'x')
		vma->flags |= WSQUERY_EXECUTABLE;
	if (perm[3] == 's')
		vma->flags |= WSQUERY_SHARED;
	if (inode || major || minor)
		vma->flags |= wsq_fs_flags(&maps->fs, makedev(major, minor), line);
	return true;
}

/* Return: 1 and a mapping, 0 at the end, or a negative errno value. */
int wsq_maps_next(struct wsq_maps *maps, struct wsq_vma *vma)
{
	char *line;
	int got;

	do {
		got = wsq_lines_next(&maps->lines, &line);
	} while (got > 0 && !parse(maps, line, vma));
	return got;
}
