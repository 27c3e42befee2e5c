// SPDX-License-Identifier: GPL-2.0
/*
 * The main rows: each form over each population, beside all who can do the same.
 */
#include "bench.h"

#define PAGES		16384
#define PAGES_QUICK	8192
#define MOST		6

struct row {
	const char *name;
	struct pop *(*make)(size_t pages);
	bool shuffled;
	bool one;
	const struct who *who[MOST];
};

#define ARRAYS	{ &our_pages, &peer_pagemap, &peer_pagemap_256, &peer_pagemap_pread, \
		  &peer_scan, &peer_mincore }

static const struct row rows[] = {
	{ "pages/anon-full", pop_anon_full, false, false, ARRAYS },
	{ "pages/shmem-full", pop_shmem_full, false, false, ARRAYS },
	{ "pages/file-full", pop_file_full, false, false, ARRAYS },
	{ "pages/anon-alternate", pop_anon_alternate, false, false, ARRAYS },
	{ "pages/anon-random", pop_anon_random, false, false, ARRAYS },
	{ "pages/anon-thp", pop_anon_thp, false, false, ARRAYS },
	{ "pages/holes", pop_holes, false, false, ARRAYS },
	{ "pages/small-vmas", pop_small_vmas, false, false, ARRAYS },
	{ "pages/shmem-swapmix", pop_swapmix, false, false, ARRAYS },
	{ "regions/anon-full", pop_anon_full, false, false,
		{ &our_regions, &peer_scan, &peer_pagemap } },
	{ "regions/small-vmas", pop_small_vmas, false, false, { &our_regions, &peer_scan } },
	{ "count/anon-full", pop_anon_full, false, false,
		{ &our_count, &peer_scan_few, &peer_pagemap, &peer_mincore } },
	{ "list/anon-shuffled", pop_anon_full, true, false,
		{ &our_list, &peer_pagemap_pread, &peer_wine_8, &peer_wine_10 } },
	{ "one/anon", pop_anon_full, false, true,
		{ &our_one, &peer_pagemap_pread, &peer_wine_8, &peer_wine_10, &peer_mincore } },
};

/* Entries of a list: shuffled within a region of so many pages. */
#define SHUFFLE	4096

static unsigned int *shuffled(size_t pages)
{
	unsigned int *order = array_make(pages, sizeof(*order));
	__u64 seed = 2;
	size_t i;

	for (i = 0; i < pages; i++)
		order[i] = i;
	for (i = 0; i < pages; i++) {
		size_t block = i / SHUFFLE * SHUFFLE;
		size_t left = i - block + 1;
		size_t other = block + random_next(&seed) % left;
		unsigned int swap = order[i];

		order[i] = order[other];
		order[other] = swap;
	}
	return order;
}

static void row_run(const struct row *row, size_t pages)
{
	struct pop *pop = row->make(pages);
	unsigned int *order = NULL;
	struct job job;
	size_t i;

	if (!pop)
		return;
	job_start(&job, pop);
	wine_views(pop);
	if (row->shuffled)
		order = shuffled(pop->pages);
	job.order = order;
	job.per_call = row->one;
	for (i = 0; i < MOST && row->who[i]; i++) {
		/* A read for each entry takes long, and is as dear in a short list. */
		if (row->shuffled && row->who[i] != &our_list && row->who[i] != &peer_wine_10)
			job.window = SHUFFLE / 32;
		else if (row->shuffled)
			job.window = SHUFFLE;
		result_add(row->name, row->who[i]->name, measure(&job, row->who[i]));
	}
	if (order)
		array_free(order, pop->pages, sizeof(*order));
	job_end(&job);
	pop_free(pop);
}

void rows_run(void)
{
	const char *names[ARRAY_SIZE(rows)];
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!wanted(rows[i].name))
			continue;
		row_run(&rows[i], quick ? PAGES_QUICK : PAGES);
		names[n++] = rows[i].name;
	}
	if (n && !marked)
		results_print("Cost of a page (list/: of an entry, one/: of a call)", names, n);
}
