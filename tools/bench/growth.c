// SPDX-License-Identifier: GPL-2.0
/*
 * Growth: the cost of a page from 1 to 16 M pages in one call, and of a mapping from
 * 1 to 64 K mappings. It is flat when nothing grows faster than the question.
 *
 * More than 64 K pages are zero pages that were only read, since memory does not
 * suffice for others; more than 1 M are huge zero pages.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

#define FULL_MOST	65536UL
#define SMALL_MOST	1048576UL
#define MAPS		"/proc/sys/vm/max_map_count"
/* Everywhere so many are allowed. */
#define MAPS_LEAST	60000UL

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ	22
#endif

static const size_t page_steps[] = { 1, 16, 256, 4096, 65536, 1048576, 16777216 };
static const size_t vma_steps[] = { 1, 16, 256, 4096, 65536 };

static struct pop *pop_zero(size_t pages, int advice)
{
	struct pop *pop = pop_reserve(pages);

	if (mmap(pop->start, pages * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		die("cannot map %zu pages", pages);
	madvise(pop->start, pages * PAGE, advice);
	if (madvise(pop->start, pages * PAGE, MADV_POPULATE_READ))
		die("cannot populate %zu pages", pages);
	memset(pop->want, PRESENT, pages);
	return pop;
}

static struct pop *pop_of(size_t pages)
{
	if (pages <= FULL_MOST)
		return pop_anon_full(pages);
	return pop_zero(pages, pages <= SMALL_MOST ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
}

static void step_run(const char *name, struct pop *pop, size_t units)
{
	struct job job = {
		.pop = pop,
		.count = pop->pages,
		.bytes = array_make(pop->pages, sizeof(*job.bytes)),
		.words = array_make(pop->pages, sizeof(*job.words)),
	};

	result_add(name, "wsquery", measure_whole(&job, &our_pages) / units);
	result_add(name, "pagemap", measure_whole(&job, &peer_pagemap) / units);
	array_free(job.words, pop->pages, sizeof(*job.words));
	array_free(job.bytes, pop->pages, sizeof(*job.bytes));
	pop_free(pop);
}

void growth_run(void)
{
	static char names[ARRAY_SIZE(page_steps) + ARRAY_SIZE(vma_steps)][32];
	const char *list[ARRAY_SIZE(names)];
	unsigned long maps;
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(page_steps); i++, n++) {
		snprintf(names[n], sizeof(names[n]), "pages/pages-%zu", page_steps[i]);
		step_run(names[n], pop_of(page_steps[i]), page_steps[i]);
		list[n] = names[n];
	}
	results_print("Growth: cost of a page, all in one call (the last two are of zero pages)",
		      list, n);

	maps = setting_swap(MAPS, 4 * 65536);
	for (i = 0; i < ARRAY_SIZE(vma_steps) && (maps || vma_steps[i] < MAPS_LEAST); i++, n++) {
		snprintf(names[n], sizeof(names[n]), "pages/vmas-%zu", vma_steps[i]);
		step_run(names[n], pop_vmas(vma_steps[i], 1), vma_steps[i]);
		list[n] = names[n];
	}
	if (maps)
		setting_swap(MAPS, maps);
	results_print("Growth: cost of a mapping of one page, all in one call",
		      list + ARRAY_SIZE(page_steps), n - ARRAY_SIZE(page_steps));
}
