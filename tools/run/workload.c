// SPDX-License-Identifier: GPL-2.0
/*
 * A process with memory of every common kind, which knows what it did with it.
 *
 *  workload DIRECTORY SCRATCH
 *
 * Each row of the table below is a mapping; its pattern says what is done with
 * each of its equal parts. Written to DIRECTORY:
 *
 *  ledger	"mapping START-END" and then "PAGES STATE" for each run of its pages:
 *		present, swapped, shared-swapped, cached (in the page cache only)
 *		or hole
 *  names	"START SIZE NAME" for each mapping, for wsquery --names
 *  pid		written last, when all is done
 *
 * Then it waits to be killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workload.h"

/* Letters of swapped pages between two lines of pages in memory; the rest is never touched. */
#define PICTURE \
	"################################" \
	"..ssss...s....s....ss....sssss.." \
	".s.......s....s...s..s...s....s." \
	"..ssss...s....s..s....s..sssss.." \
	"......s..s.ss.s..ssssss..s......" \
	".s....s..ss..ss..s....s..s......" \
	"..ssss...s....s..s....s..s......" \
	"################################"

/* # write  s write and swap out  c in the page cache only  . leave alone (a file: not cached) */
static struct deed deeds[] = {
	{ .name = "anonymous, written",
	  .kind = ANONYMOUS, .megabytes = 8, .pattern = "####" },
	{ .name = "anonymous, half swapped out",
	  .kind = ANONYMOUS, .megabytes = 8, .pattern = "##ss" },
	{ .name = "anonymous, never touched",
	  .kind = ANONYMOUS, .megabytes = 64, .pattern = "." },
	{ .name = "transparent huge pages",
	  .kind = HUGE, .megabytes = 8, .pattern = "####" },
	{ .name = "hugetlb pages, half touched",
	  .kind = HUGETLB, .megabytes = 4, .pattern = "#." },
	{ .name = "file on disk, part cached",
	  .kind = ON_DISK, .megabytes = 8, .pattern = "##c." },
	{ .name = "shared anonymous, part swapped",
	  .kind = SHARED, .megabytes = 8, .pattern = "##s." },
	{ .name = "tmpfs file, swapped out",
	  .kind = TMPFS, .megabytes = 4, .pattern = "ssss" },
	{ .name = "SysV shared memory, swapped out",
	  .kind = SYSV, .megabytes = 4, .pattern = "ssss" },
	{ .name = "memfd of a virtual machine",
	  .kind = MEMFD, .megabytes = 16, .pattern = PICTURE },
};

#define DEEDS	(sizeof(deeds) / sizeof(*deeds))

static FILE *create(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static const char *state_name(const struct deed *deed, char what)
{
	switch (what) {
	case '#':
		return "present";
	case 's':
		return deed->kind == ANONYMOUS ? "swapped" : "shared-swapped";
	case 'c':
		return "cached";
	default:
		return "hole";
	}
}

static void write_ledger(FILE *ledger, FILE *names, const struct deed *deed)
{
	size_t part = deed->bytes / strlen(deed->pattern), i, next;
	unsigned long start = (unsigned long)deed->memory;

	fprintf(names, "%lx %zx %s\n", start, deed->bytes, deed->name);
	fprintf(ledger, "mapping %lx-%lx\n", start, start + deed->bytes);
	for (i = 0; deed->pattern[i]; i = next) {
		next = i + strspn(deed->pattern + i, (char[]){ deed->pattern[i], '\0' });
		fprintf(ledger, "%zu %s\n", (next - i) * part / sysconf(_SC_PAGESIZE),
			state_name(deed, deed->pattern[i]));
	}
}

int main(int argc, char **argv)
{
	FILE *ledger, *names, *pid;
	bool swap;
	size_t i;

	if (argc != 3) {
		fprintf(stderr, "Usage: workload DIRECTORY SCRATCH\n");
		return 2;
	}
	swap = swap_exists();
	if (!swap)
		printf("There is no swap here: nothing is swapped out.\n");
	ledger = create(argv[1], "ledger");
	names = create(argv[1], "names");
	for (i = 0; i < DEEDS; i++) {
		struct deed *deed = &deeds[i];

		if (!deed_map(deed, argv[2])) {
			printf("Left out: %s: %s\n", deed->name, errno == EMEDIUMTYPE ?
			       "that directory is in memory too" : strerror(errno));
			continue;
		}
		if (!swap)
			deed_keep(deed);
		if (!deed_do(deed))
			return 1;
		write_ledger(ledger, names, deed);
	}
	if (fclose(ledger) || fclose(names))
		return 1;
	pid = create(argv[1], "pid");
	fprintf(pid, "%d\n", getpid());
	fclose(pid);
	fflush(stdout);
	pause();
	return 0;
}
