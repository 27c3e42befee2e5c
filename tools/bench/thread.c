// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel thread's table: shared memory half of which was never written, a quarter
 * is present, a quarter in swap; asked about in calls of different sizes. Plain
 * pagemap, which does not see what is in swap, beside the exact answer.
 *
 * Published for 16 GiB, seconds with plain pagemap and with a page-cache look-up for
 * each hole: one entry a read 10.20 and 38.59, 64 entries 0.24 and 0.74, 1024 entries
 * 0.10 and 0.21; and 11.82 and 38.44 with one entry in a later run, in which marker
 * entries in the page tables took 13.28, and both 22.34.
 */
#include <stdio.h>

#include "bench.h"

#define PAGES	32768

static const struct row {
	const char *name;
	size_t per_call;
	double published;	/* with look-ups, against plain */
} rows[] = {
	{ "pages/shmem-swapmix-1", 1, 38.59 / 10.20 },
	{ "pages/shmem-swapmix-64", 64, 0.74 / 0.24 },
	{ "pages/shmem-swapmix-1024", 1024, 0.21 / 0.10 },
	{ "pages/shmem-swapmix-whole", 0, -1 },
};

struct seen {
	size_t present, swapped;
};

static struct seen seen_by_us(struct job *job)
{
	struct seen seen = { 0 };
	size_t i;

	job->per_call = 0;
	our_pages.ask(job, 0, job->count);
	for (i = 0; i < job->count; i++) {
		seen.present += !!(job->bytes[i] & WSQUERY_PRESENT);
		seen.swapped += !!(job->bytes[i] & WSQUERY_SWAPPED);
	}
	return seen;
}

static struct seen seen_by_pagemap(struct job *job)
{
	struct seen seen = { 0 };
	size_t i;

	job->per_call = 0;
	peer_pagemap.ask(job, 0, job->count);
	for (i = 0; i < job->count; i++) {
		seen.present += job->words[i] >> 63;
		seen.swapped += job->words[i] >> 62 & 1;
	}
	return seen;
}

static void print(struct job *job)
{
	struct seen us = seen_by_us(job), pagemap = seen_by_pagemap(job);
	size_t i, present = 0, swapped = 0;

	for (i = 0; i < job->count; i++) {
		present += job->pop->want[i] == PRESENT;
		swapped += job->pop->want[i] == SWAPPED;
	}
	printf("\nThe kernel thread's memory, scaled to %zu MiB: mixed at random, page by page\n",
	       job->count * PAGE >> 20);
	printf("%-26s %9s %9s %9s   %s\n", clock_unit(), "pagemap", "wsquery", "ratio",
	       "published: pagemap with page-cache look-ups, against plain");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		double plain = result_get(rows[i].name, "pagemap");
		double ours = result_get(rows[i].name, "wsquery");

		printf("%-26s %9.1f %9.1f %9.2f", rows[i].name, plain, ours, ours / plain);
		if (rows[i].published > 0)
			printf("   %.1f", rows[i].published);
		printf("\n");
	}
	printf("%-26s %9zu %9zu   there are %zu\n", "present pages seen", pagemap.present,
	       us.present, present);
	printf("%-26s %9zu %9zu   there are %zu\n", "swapped pages seen", pagemap.swapped,
	       us.swapped, swapped);
	fflush(stdout);
	if (us.present != present || us.swapped != swapped || pagemap.present != present)
		die("the counts are wrong");
}

void thread_run(void)
{
	struct pop *pop = pop_swapmix(PAGES);
	struct job job;
	size_t i;

	if (!pop)
		return;
	job_start(&job, pop);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		job.per_call = rows[i].per_call;
		result_add(rows[i].name, "wsquery", measure(&job, &our_pages));
		result_add(rows[i].name, "pagemap", measure(&job, &peer_pagemap));
	}
	print(&job);
	job_end(&job);
	pop_free(pop);
}
