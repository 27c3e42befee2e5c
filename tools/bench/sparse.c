// SPDX-License-Identifier: GPL-2.0
/*
 * 1 TiB of reserved memory of which little is touched, at random: blocks of 2 MiB as
 * allocators and virtual machines touch it, and single pages. The cost is that of a
 * touched page. A single page has a page table of its own, in which 511 entries have
 * to be looked at for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench.h"

#define RESERVED	(1UL << 40)
#define BLOCKS		(RESERVED / HUGE2M)
#define TOUCHED		32768UL

static const struct row {
	const char *name;
	size_t block;			/* pages touched at a time */
	size_t our_window, peer_window;	/* bytes of address space short enough to ask about */
} rows[] = {
	{ "regions/sparse-1t", HUGE_PAGES, RESERVED, RESERVED / 8 },
	{ "regions/sparse-1t-pages", 1, RESERVED / 64, RESERVED / 1024 },
};

/* Numbers of touched blocks of 2 MiB, ascending, and pages touched in each. */
static unsigned int *touched;
static size_t touched_count, touched_pages;

static int compare(const void *one, const void *other)
{
	unsigned int a = *(const unsigned int *)one, b = *(const unsigned int *)other;

	return a < b ? -1 : a > b;
}

static void touch(struct pop *pop, size_t block)
{
	char *seen = calloc(BLOCKS, 1);
	__u64 seed = 4;
	size_t i, page;

	touched_pages = block;
	touched_count = TOUCHED / block;
	touched = array_make(touched_count, sizeof(*touched));
	for (i = 0; i < touched_count;) {
		size_t n = random_next(&seed) % BLOCKS;

		if (!seen[n])
			touched[i++] = n;
		seen[n] = 1;
	}
	free(seen);
	qsort(touched, touched_count, sizeof(*touched), compare);
	for (i = 0; i < touched_count; i++)
		for (page = 0; page < block; page++)
			pop->start[touched[i] * HUGE2M + page * PAGE] = 1;
}

/* Touched pages below page @n. */
static size_t sparse_weight(const struct job *job, size_t n)
{
	size_t i;

	(void)job;
	for (i = 0; i < touched_count && touched[i] < n / HUGE_PAGES; i++)
		;
	return i * touched_pages;
}

static bool sparse_check(struct job *job, size_t first, size_t n, bool blind)
{
	const struct wsquery_region *run = job->regions, *end = run + job->found;
	size_t pages = 0;

	(void)blind;
	for (; run < end; run++) {
		size_t page;

		for (page = (run->start - (uintptr_t)job->pop->start) / PAGE;
		     page < (run->end - (uintptr_t)job->pop->start) / PAGE; page++) {
			unsigned int in = page / HUGE_PAGES;

			if (page % HUGE_PAGES >= touched_pages ||
			    !bsearch(&in, touched, touched_count, sizeof(in), compare))
				return false;
			pages++;
		}
	}
	return pages == sparse_weight(job, first + n) - sparse_weight(job, first);
}

static void row_run(const struct row *row, struct pop *pop)
{
	const struct who us = { "wsquery", our_regions.ask, sparse_check, false, NULL };
	const struct who scan = { "pagemap-scan", peer_scan.ask, sparse_check, true, scan_there };
	struct job job = {
		.pop = pop,
		.count = RESERVED / PAGE,
		.weight = sparse_weight,
		.capacity = TOUCHED + 1,
		.regions = array_make(TOUCHED + 1, sizeof(*job.regions)),
	};

	touch(pop, row->block);
	job.window = row->our_window / PAGE;
	result_add(row->name, us.name, measure(&job, &us));
	job.window = row->peer_window / PAGE;
	result_add(row->name, scan.name, measure(&job, &scan));
	array_free(job.regions, job.capacity, sizeof(*job.regions));
	array_free(touched, touched_count, sizeof(*touched));
}

void sparse_run(void)
{
	const char *names[ARRAY_SIZE(rows)];
	char title[128];
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pop pop = { .pages = RESERVED / PAGE };

		if (!wanted(rows[i].name))
			continue;
		pop.start = mmap(NULL, RESERVED + HUGE2M, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (pop.start == MAP_FAILED)
			die("cannot reserve 1 TiB");
		pop.reserved = pop.start;
		pop.start = (char *)(((uintptr_t)pop.start + HUGE2M - 1) & ~(HUGE2M - 1));
		madvise(pop.start, RESERVED, MADV_NOHUGEPAGE);
		row_run(&rows[i], &pop);
		munmap(pop.reserved, RESERVED + HUGE2M);
		names[n++] = rows[i].name;
	}
	snprintf(title, sizeof(title),
		 "1 TiB reserved, %lu MiB touched at random: cost of a touched page",
		 TOUCHED * PAGE >> 20);
	if (n && !marked)
		results_print(title, names, n);
}
