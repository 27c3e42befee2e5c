// SPDX-License-Identifier: GPL-2.0
/*
 * Lock holds: how long the mmap lock, a page table's lock and RCU are held and
 * preemption is off, at the longest, while a question is answered; beside others who
 * answer it. Where QEMU's plugin counts (see mark.h), it is told who is asked what, and
 * has the answer. Everywhere else, and again, the kernel's trace events of the mmap
 * lock tell it, with what they cost themselves in it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "mark.h"

#define PAGES		65536
/* Where making it takes long, or room. */
#define PAGES_FEW	32768
#define REPEATS		2
#define MOST		4
#define SPARSE		(1UL << 38)
#define SCATTERED	4096
#define SHUFFLE		4096
#define USER_END	0x7ffffffff000UL

enum order {
	INORDER,
	SHUFFLED,
	SCATTER,
};

struct row {
	const char *name;
	struct pop *(*make)(size_t pages);
	size_t pages;
	enum order order;
	const struct who *who[MOST];
};

/* All memory of the process, of which the rows before have left nothing. */
static struct pop *pop_everything(size_t pages)
{
	static struct pop *parts[4];

	parts[0] = pop_anon_full(pages);
	parts[1] = pop_shmem_full(pages / 2);
	parts[2] = pop_small_vmas(0);
	parts[3] = pop_anon_thp(pages);
	parts[0]->start = NULL;
	parts[0]->pages = USER_END / PAGE;
	return parts[0];
}

/* One touched page in each of many page tables. */
static struct pop *pop_scattered(size_t pages)
{
	struct pop *pop = array_make(1, sizeof(*pop));
	size_t i;

	pop->pages = SPARSE / PAGE;
	pop->reserved_length = SPARSE;
	pop->reserved = mmap(NULL, SPARSE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pop->reserved == MAP_FAILED)
		die("no room for a sparse mapping");
	pop->start = pop->reserved;
	madvise(pop->start, SPARSE, MADV_NOHUGEPAGE);
	for (i = 0; i < pages; i++)
		pop->start[i * (SPARSE / pages)] = 1;
	return pop;
}

/* Shared memory of which each second page was written, but not through this mapping. */
static struct pop *pop_unmapped(size_t pages)
{
	struct pop *pop = pop_reserve(pages);
	int fd = memfd_create("wsquery-bench", MFD_CLOEXEC);
	size_t i;

	if (fd < 0 || ftruncate(fd, pages * PAGE))
		die("no shared memory");
	for (i = 0; i < pages; i += 2)
		if (pwrite(fd, "x", 1, i * PAGE) != 1)
			die("no room in shared memory");
	if (mmap(pop->start, pages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 0) == MAP_FAILED)
		die("cannot map shared memory");
	close(fd);
	return pop;
}

/* With every attribute that the module has. */
static void ask_all(struct job *job, size_t first, size_t n)
{
	struct wsquery_info info = { .size = sizeof(info) };
	struct wsquery_pages arg = {
		.range.size = sizeof(arg),
		.range.start = (uintptr_t)job_address(job, first),
		.range.length = n * PAGE,
		.range.entry_size = sizeof(*job->words),
		.entries = (uintptr_t)job->words,
	};

	if (ioctl(device, WSQUERY_IOC_INFO, &info))
		die("no information");
	arg.range.attrs = info.attrs;
	if (ioctl(device, WSQUERY_IOC_PAGES, &arg))
		die("not all attributes are told");
}

static const struct who our_all = { "wsquery", ask_all, NULL, false, NULL };

#define ARRAYS	{ &our_pages, &peer_pagemap, &peer_scan, &peer_mincore }
#define RUNS(form)	{ &our_##form, &peer_scan }

static const struct row rows[] = {
	{ "pages/anon-full", pop_anon_full, PAGES, INORDER, ARRAYS },
	{ "pages/shmem-full", pop_shmem_full, PAGES, INORDER, ARRAYS },
	{ "pages/file-full", pop_file_full, PAGES_FEW, INORDER, ARRAYS },
	{ "pages/anon-alternate", pop_anon_alternate, PAGES, INORDER, ARRAYS },
	{ "pages/anon-random", pop_anon_random, PAGES, INORDER, ARRAYS },
	{ "pages/anon-thp", pop_anon_thp, PAGES, INORDER, ARRAYS },
	{ "pages/holes", pop_holes, PAGES, INORDER, ARRAYS },
	{ "pages/small-vmas", pop_small_vmas, 0, INORDER, ARRAYS },
	{ "pages/shmem-swapmix", pop_swapmix, PAGES_FEW, INORDER, ARRAYS },
	{ "pages/shmem-unmapped", pop_unmapped, PAGES, INORDER, ARRAYS },
	{ "attrs/anon-full", pop_anon_full, PAGES, INORDER, { &our_all } },
	{ "attrs/file-full", pop_file_full, PAGES_FEW, INORDER, { &our_all } },
	{ "attrs/shmem-swapmix", pop_swapmix, PAGES_FEW, INORDER, { &our_all } },
	{ "regions/anon-full", pop_anon_full, PAGES, INORDER, RUNS(regions) },
	{ "regions/anon-alternate", pop_anon_alternate, PAGES, INORDER, RUNS(regions) },
	{ "regions/small-vmas", pop_small_vmas, 0, INORDER, RUNS(regions) },
	{ "regions/scattered", pop_scattered, SCATTERED, INORDER, RUNS(regions) },
	{ "regions/everything", pop_everything, PAGES, INORDER, RUNS(regions) },
	{ "count/anon-full", pop_anon_full, PAGES, INORDER, RUNS(count) },
	{ "count/small-vmas", pop_small_vmas, 0, INORDER, RUNS(count) },
	{ "count/shmem-unmapped", pop_unmapped, PAGES, INORDER, RUNS(count) },
	{ "count/everything", pop_everything, PAGES, INORDER, RUNS(count) },
	{ "list/anon-sorted", pop_anon_full, PAGES, INORDER, { &our_list } },
	{ "list/anon-shuffled", pop_anon_full, PAGES, SHUFFLED, { &our_list } },
	{ "list/scattered", pop_scattered, SCATTERED, SCATTER, { &our_list } },
	{ "one/anon", pop_anon_full, 16, INORDER, { &our_one, &peer_pagemap_pread } },
};

/* Each @step-th page, shuffled within blocks of as many entries as rows.c has. */
static void order_fill(unsigned int *order, size_t n, size_t step)
{
	__u64 seed = 5;
	size_t i;

	for (i = 0; i < n; i++)
		order[i] = i * step;
	for (i = 0; i < n; i++) {
		size_t block = i / SHUFFLE * SHUFFLE;
		size_t other = block + random_next(&seed) % (i - block + 1);
		unsigned int swap = order[i];

		order[i] = order[other];
		order[other] = swap;
	}
}

static void ask_marked(struct job *job, const struct who *who, unsigned int id)
{
	int i;

	/* One more, which warms up. */
	for (i = 0; i <= REPEATS; i++) {
		job->found = 0;
		mark(MARK_CASE + (i ? id : 0));
		who->ask(job, 0, job->count);
		mark(MARK_CASE);
	}
}

static void row_run(const struct row *row, unsigned int *id)
{
	struct pop *pop = row->make(row->pages);
	size_t room, i;
	struct job job;

	if (!pop)
		return;
	room = row->pages ? row->pages : pop->pages;
	job = (struct job){
		.pop = pop,
		.count = row->order == SCATTER || row->make != pop_scattered ? room : pop->pages,
		.capacity = PAGES + 1,
		.bytes = array_make(room, sizeof(*job.bytes)),
		.words = array_make(room, sizeof(*job.words)),
		.entries = array_make(room, sizeof(*job.entries)),
		.regions = array_make(PAGES + 1, sizeof(*job.regions)),
	};
	if (row->make == pop_everything)
		job.count = pop->pages;
	if (row->order != INORDER) {
		unsigned int *order = array_make(room, sizeof(*order));

		order_fill(order, room, row->order == SCATTER ? pop->pages / room : 1);
		job.order = order;
	}
	for (i = 0; i < MOST && row->who[i]; i++) {
		double memory;
		size_t j;

		++*id;
		if (row->who[i]->there && !row->who[i]->there())
			continue;
		for (j = 0; j < room; j++)
			job.entries[j].address = (uintptr_t)job_address(&job, j);
		if (marked)
			ask_marked(&job, row->who[i], *id);
		/* What an open file keeps for the next call is part of the first one's. */
		close(device);
		ours_start();
		/* mincore() takes a page, which is no event. */
		memory = row->who[i] == &peer_mincore ? -1 : trace_memory(&job, row->who[i]);
		printf("lock %u %s %s %zu %.0f %.0f\n", *id, row->name, row->who[i]->name,
		       job.count, trace_longest(&job, row->who[i]), memory);
		fflush(stdout);
	}
	if (job.order)
		array_free((void *)job.order, room, sizeof(*job.order));
	array_free(job.bytes, room, sizeof(*job.bytes));
	array_free(job.words, room, sizeof(*job.words));
	array_free(job.entries, room, sizeof(*job.entries));
	array_free(job.regions, job.capacity, sizeof(*job.regions));
	if (row->make != pop_everything)
		munmap(pop->reserved, pop->reserved_length);
}

void locks_run(void)
{
	struct wsquery_info info = { .size = sizeof(info) };
	unsigned int id = 0;
	size_t i;

	if (ioctl(device, WSQUERY_IOC_INFO, &info))
		die("no information");
	printf("promise %u %u\n", info.lock_pages, info.call_bytes);
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (wanted(rows[i].name))
			row_run(&rows[i], &id);
}
