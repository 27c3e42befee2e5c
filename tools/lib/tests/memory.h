/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of every kind, for the tests to ask about.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>
#include <wsquery.h>

#include "tap.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT		21
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL	102
#endif

#define PAGE		((size_t)sysconf(_SC_PAGESIZE))
#define MAPS(pointer)	((pointer) != MAP_FAILED)

static inline uint64_t address_of(const void *pointer)
{
	return (uintptr_t)pointer;
}

static inline char *map_with(size_t pages, int prot, int flags, int fd)
{
	char *memory = mmap(NULL, pages * PAGE, prot, flags, fd, 0);

	if (!MAPS(memory)) {
		perror("mmap");
		exit(2);
	}
	/* What is touched is decided page by page. */
	madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static inline char *map_private(size_t pages)
{
	return map_with(pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static inline char *map_shared(size_t pages)
{
	return map_with(pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
}

/* An unlinked file of @pages pages in @directory, in the page cache; or -1. */
static inline int file_in(const char *directory, size_t pages)
{
	char name[64];
	char *page;
	size_t i;
	int fd;

	snprintf(name, sizeof(name), "%s/wsquery-XXXXXX", directory);
	fd = mkstemp(name);
	if (fd < 0)
		return -1;
	unlink(name);
	page = malloc(PAGE);
	memset(page, 'x', PAGE);
	for (i = 0; i < pages; i++)
		if (write(fd, page, PAGE) != (ssize_t)PAGE)
			break;
	free(page);
	fsync(fd);
	return fd;
}

/* Where files are not on a tmpfs, if the machine has such a place. */
static inline const char *disk_directory(void)
{
	static const char * const places[] = { "/scratch", "/var/tmp", "/tmp" };
	struct statfs fs;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!statfs(places[i], &fs) && fs.f_type != TMPFS_MAGIC &&
		    !access(places[i], W_OK))
			return places[i];
	return NULL;
}

static inline const char *tmpfs_directory(void)
{
	static const char * const places[] = { "/dev/shm", "/tmp", "/run" };
	struct statfs fs;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!statfs(places[i], &fs) && fs.f_type == TMPFS_MAGIC &&
		    !access(places[i], W_OK))
			return places[i];
	return NULL;
}

static inline bool have_swap(void)
{
	char line[256];
	int lines = 0;
	FILE *file = fopen("/proc/swaps", "r");

	while (file && fgets(line, sizeof(line), file))
		lines++;
	if (file)
		fclose(file);
	return lines > 1;
}

/* The page of the program's own ELF header: read-only, of a file. */
static inline char *header_page(void)
{
	return (char *)(getauxval(AT_PHDR) & ~(PAGE - 1));
}

/* Elsewhere a page can be on any node. */
static inline bool one_node(void)
{
	return access("/sys/devices/system/node/node1", F_OK);
}

static inline void touch_read(const char *memory)
{
	*(volatile const char *)memory;
}

static inline void touch_write(char *memory)
{
	*(volatile char *)memory = 1;
}

/* A poison that no answer looks like. */
#define POISON	0xa5

/* Skip the whole program if the backend that the runner wants does not exist here. */
static inline void need_backend(void)
{
	const char *wanted = getenv("WSQUERY_BACKEND");
	int backend = wsquery_backend(NULL);

	if (backend == -ENOTTY)
		tap_skip_all("the kernel has no PAGEMAP_SCAN");
	if (backend == -ENOENT)
		tap_skip_all("no /dev/wsquery");
	ok(backend > 0, "a backend answers: %s", backend > 0 ? wsquery_backend_name(backend) :
	   strerror(-backend));
	if (wanted && *wanted)
		ok(backend == wsquery_backend_by_name(wanted), "it is the one asked for");
}

static inline bool is_device(void)
{
	return wsquery_backend(NULL) == WSQUERY_BACKEND_DEVICE;
}

#endif /* MEMORY_H */
