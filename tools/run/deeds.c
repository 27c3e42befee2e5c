// SPDX-License-Identifier: GPL-2.0
/* Makes the workload's mappings and does with them what their patterns say. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "workload.h"

#define HUGE_BYTES	(2UL << 20)
#define ROOM		(256UL << 20)
#define ATTEMPTS	50

bool swap_exists(void)
{
	FILE *file = fopen("/proc/swaps", "re");
	int lines = 0, c;

	if (!file)
		return false;
	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	fclose(file);
	return lines > 1;
}

/* What is dropped from the page cache of such a file system is not dropped. */
static bool in_memory(const char *directory)
{
	struct statfs fs;

	return !statfs(directory, &fs) &&
	       (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* A file of full length: of zeroes in the page cache, or with nothing in it yet. */
static int make_file(const char *directory, size_t bytes, bool written)
{
	char path[4096], block[65536] = { 0 };
	size_t done;
	int fd;

	snprintf(path, sizeof(path), "%s/workload.data", directory);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	unlink(path);
	for (done = 0; written && done < bytes; done += sizeof(block))
		if (write(fd, block, sizeof(block)) != sizeof(block))
			return -1;
	if (ftruncate(fd, bytes) || (written && fsync(fd)))
		return -1;
	return fd;
}

static void *map_sysv(void *place, size_t bytes)
{
	int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
	void *memory;

	if (id < 0)
		return MAP_FAILED;
	memory = shmat(id, place, 0);
	shmctl(id, IPC_RMID, NULL);
	return memory;
}

/*
 * Mappings lie in the order of the table, at multiples of 2 MiB as huge pages
 * need it, with a gap after each, so that neighbours do not become one.
 */
static void *find_place(size_t bytes)
{
	static char *next;
	char *place;

	if (!next) {
		next = mmap(NULL, ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			    -1, 0);
		if (next == MAP_FAILED)
			return NULL;
		munmap(next, ROOM);
		next += -(uintptr_t)next & (HUGE_BYTES - 1);
	}
	place = next;
	next += bytes + HUGE_BYTES;
	return place;
}

bool deed_map(struct deed *deed, const char *scratch)
{
	int flags = MAP_SHARED;
	void *place;

	deed->bytes = deed->megabytes << 20;
	deed->fd = -1;
	place = find_place(deed->bytes);
	switch (deed->kind) {
	case ANONYMOUS:
	case HUGE:
		flags = MAP_PRIVATE | MAP_ANONYMOUS;
		break;
	case HUGETLB:
		flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB;
		break;
	case SHARED:
		flags = MAP_SHARED | MAP_ANONYMOUS;
		break;
	case ON_DISK:
		if (in_memory(scratch)) {
			errno = EMEDIUMTYPE;
			return false;
		}
		deed->fd = make_file(scratch, deed->bytes, true);
		break;
	case TMPFS:
		deed->fd = make_file("/dev/shm", deed->bytes, false);
		break;
	case MEMFD:
		deed->fd = memfd_create("vm", MFD_CLOEXEC);
		if (deed->fd < 0 || ftruncate(deed->fd, deed->bytes))
			return false;
		break;
	case SYSV:
		deed->memory = map_sysv(place, deed->bytes);
		return deed->memory != MAP_FAILED;
	}
	if (!(flags & MAP_ANONYMOUS) && deed->fd < 0)
		return false;
	deed->memory = mmap(place, deed->bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE,
			    deed->fd, 0);
	if (deed->memory == MAP_FAILED)
		return false;
	if (deed->kind != HUGETLB)
		madvise(deed->memory, deed->bytes,
			deed->kind == HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return true;
}

void deed_keep(struct deed *deed)
{
	char *copy = strdup(deed->pattern);
	char *c;

	if (!copy)
		return;
	for (c = copy; *c; c++)
		if (*c == 's')
			*c = '#';
	deed->pattern = copy;
}

/* Of the mapping at an address, from /proc/self/smaps: kilobytes of a field, or -1. */
static long smaps_field(const void *address, const char *field)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	unsigned long start, end;
	char line[512];
	bool here = false;
	long value = -1;

	while (file && value < 0 && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			here = start <= (unsigned long)address && (unsigned long)address < end;
		else if (here && !strncmp(line, field, strlen(field)))
			value = strtol(line + strlen(field), NULL, 10);
	}
	if (file)
		fclose(file);
	return value;
}

/*
 * MADV_PAGEOUT skips pages that others hold at that moment, for instance those
 * in a CPU's list of pages not yet on an LRU list. So it is repeated until the
 * kernel's own sum says that all are out.
 */
static bool swap_out(const struct deed *deed)
{
	size_t parts = strlen(deed->pattern), part = deed->bytes / parts, i, swapped = 0;
	int attempt;

	for (i = 0; i < parts; i++)
		swapped += deed->pattern[i] == 's';
	if (!swapped)
		return true;
	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		for (i = 0; i < parts; i++)
			if (deed->pattern[i] == 's' &&
			    madvise(deed->memory + i * part, part, MADV_PAGEOUT))
				break;
		if (smaps_field(deed->memory, "Swap:") == (long)(swapped * part / 1024))
			return true;
		usleep(10000);
	}
	fprintf(stderr, "workload: %s: of %zu kB to swap out, %ld are\n", deed->name,
		swapped * part / 1024, smaps_field(deed->memory, "Swap:"));
	return false;
}

bool deed_do(struct deed *deed)
{
	size_t parts = strlen(deed->pattern), part = deed->bytes / parts, i, at;
	size_t page = sysconf(_SC_PAGESIZE);

	for (i = 0; i < parts; i++) {
		if (deed->pattern[i] == '#' || deed->pattern[i] == 's') {
			for (at = 0; at < part; at += page)
				deed->memory[i * part + at] = 1 + i;
		} else if (deed->pattern[i] == '.' && deed->fd >= 0) {
			posix_fadvise(deed->fd, i * part, part, POSIX_FADV_DONTNEED);
		}
	}
	return swap_out(deed);
}
