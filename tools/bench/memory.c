// SPDX-License-Identifier: GPL-2.0
/*
 * Populations: memory of which each page's state is known by construction. All are
 * aligned to 2 MiB, and have pages of 4 KiB unless huge ones are meant.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

/* An empty mapping's place, with room around it so that nothing merges with it. */
struct pop *pop_reserve(size_t pages)
{
	struct pop *pop = array_make(1, sizeof(*pop));
	const size_t length = pages * PAGE;

	pop->pages = pages;
	pop->reserved_length = length + 3 * HUGE2M;
	pop->reserved = mmap(NULL, pop->reserved_length, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pop->reserved == MAP_FAILED)
		die("no room for %zu pages", pages);
	pop->start = (char *)(((uintptr_t)pop->reserved + 2 * HUGE2M - 1) & ~(HUGE2M - 1));
	pop->want = array_make(pages, sizeof(*pop->want));
	return pop;
}

void pop_free(struct pop *pop)
{
	munmap(pop->reserved, pop->reserved_length);
	array_free(pop->want, pop->pages, sizeof(*pop->want));
	array_free(pop, 1, sizeof(*pop));
}

static struct pop *pop_map(size_t pages, int flags, int fd, int advice)
{
	struct pop *pop = pop_reserve(pages);

	if (mmap(pop->start, pages * PAGE, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0) ==
	    MAP_FAILED)
		die("cannot map %zu pages", pages);
	madvise(pop->start, pages * PAGE, advice);
	return pop;
}

static struct pop *pop_anon(size_t pages)
{
	return pop_map(pages, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, MADV_NOHUGEPAGE);
}

/* Write to what is to be present. */
void pop_touch(struct pop *pop)
{
	size_t i;

	for (i = 0; i < pop->pages; i++)
		if (pop->want[i] != HOLE)
			*(size_t *)(pop->start + i * PAGE) = i + 1;
}

struct pop *pop_anon_full(size_t pages)
{
	struct pop *pop = pop_anon(pages);
	size_t i;

	for (i = 0; i < pages; i++)
		pop->want[i] = PRESENT;
	pop_touch(pop);
	return pop;
}

struct pop *pop_anon_alternate(size_t pages)
{
	struct pop *pop = pop_anon(pages);
	size_t i;

	for (i = 0; i < pages; i += 2)
		pop->want[i] = PRESENT;
	pop_touch(pop);
	return pop;
}

struct pop *pop_anon_random(size_t pages)
{
	struct pop *pop = pop_anon(pages);
	__u64 seed = 1;
	size_t i;

	for (i = 0; i < pages; i++)
		pop->want[i] = random_next(&seed) & 1 ? PRESENT : HOLE;
	pop_touch(pop);
	return pop;
}

struct pop *pop_anon_thp(size_t pages)
{
	struct pop *pop = pop_map(pages, MAP_PRIVATE | MAP_ANONYMOUS, -1, MADV_HUGEPAGE);
	size_t i;

	for (i = 0; i < pages; i++)
		pop->want[i] = PRESENT;
	pop_touch(pop);
	return pop;
}

struct pop *pop_holes(size_t pages)
{
	return pop_anon(pages);
}

struct pop *pop_shmem_full(size_t pages)
{
	struct pop *pop = pop_map(pages, MAP_SHARED | MAP_ANONYMOUS, -1, MADV_NOHUGEPAGE);
	size_t i;

	pop->shared = true;
	for (i = 0; i < pages; i++)
		pop->want[i] = PRESENT;
	pop_touch(pop);
	return pop;
}

/* A file with a page cache and a disk, all of it cached, clean and mapped. */
struct pop *pop_file_full(size_t pages)
{
	char *path, page[PAGE] = "a file's page";
	struct pop *pop;
	size_t i, sum = 0;
	int fd;

	if (asprintf(&path, "%s/wsquery-bench.XXXXXX", scratch) < 0)
		die("out of memory");
	fd = mkstemp(path);
	if (fd < 0)
		die("no file in %s", scratch);
	unlink(path);
	free(path);
	for (i = 0; i < pages; i++)
		if (write(fd, page, PAGE) != (ssize_t)PAGE)
			die("no room for %zu pages in %s", pages, scratch);
	fsync(fd);
	pop = pop_map(pages, MAP_SHARED, fd, MADV_NORMAL);
	close(fd);
	pop->shared = true;
	pop->file = true;
	for (i = 0; i < pages; i++) {
		pop->want[i] = PRESENT;
		sum += pop->start[i * PAGE];
	}
	if (sum != pages * 'a')
		die("the file holds something else");
	return pop;
}

/* Mappings without gaps whose protections differ in turns, so that none merge. */
struct pop *pop_vmas(size_t vmas, size_t pages)
{
	struct pop *pop = pop_anon_full(vmas * pages);
	size_t i;

	for (i = 1; i < vmas; i += 2)
		if (mprotect(pop->start + i * pages * PAGE, pages * PAGE, PROT_READ))
			die("only %zu mappings: vm.max_map_count?", i);
	return pop;
}

#define SMALL_VMAS	10000

struct pop *pop_small_vmas(size_t pages)
{
	return pop_vmas(SMALL_VMAS, pages > 4 * SMALL_VMAS ? 4 : 1);
}
