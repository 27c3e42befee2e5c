// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines of a file under /proc, without allocating.
 */
#include <string.h>
#include <unistd.h>

#include "walk.h"

static int refill(struct wsq_lines *lines)
{
	ssize_t count;

	lines->filled -= lines->next;
	memmove(lines->buffer, lines->buffer + lines->next, lines->filled);
	lines->next = 0;

	do {
		count = read(lines->fd, lines->buffer + lines->filled,
			     sizeof(lines->buffer) - 1 - lines->filled);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return -errno;
	lines->filled += count;
	return count;
}

/* Return: 1 and a terminated line, 0 at the end, or a negative errno value. */
int wsq_lines_next(struct wsq_lines *lines, char **line)
{
	for (;;) {
		char *start = lines->buffer + lines->next;
		char *end = memchr(start, '\n', lines->filled - lines->next);
		bool skipped = lines->skip;
		int got;

		if (end) {
			*end = '\0';
			lines->next = end + 1 - lines->buffer;
			lines->skip = false;
			if (skipped)
				continue;
			*line = start;
			return 1;
		}

		if (lines->filled - lines->next == sizeof(lines->buffer) - 1) {
			/* Longer than the buffer: the rest is a path's, and can go. */
			start[lines->filled - lines->next] = '\0';
			lines->next = lines->filled;
			lines->skip = true;
			if (skipped)
				continue;
			*line = start;
			return 1;
		}

		got = refill(lines);
		if (got <= 0)
			return got;
	}
}
