// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The walker: mappings in order, and the runs of pages in each of them.
 */
#include <fcntl.h>
#include <unistd.h>

#include "walk.h"

int wsq_walk_open(struct wsq_walk *walk, const struct wsquery *ws, uint64_t attrs)
{
	int err;

	walk->ws = ws;
	walk->keep = WSQUERY_STATE_MASK | attrs;
	walk->vma_known = false;
	walk->vma_last = false;
	walk->walked = 0;
	walk->pagemap = ws->target;
	if (ws->target == WSQ_SELF)
		walk->pagemap = open("/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC);
	if (walk->pagemap < 0)
		return -errno;

	err = wsq_maps_open(&walk->maps, ws->proc);
	if (err && ws->target == WSQ_SELF)
		close(walk->pagemap);
	return err;
}

/*
 * If the process is there after all was read, then it was there all the time.
 */
int wsq_walk_close(struct wsq_walk *walk)
{
	int err = 0;

	wsq_maps_close(&walk->maps);
	if (walk->ws->target == WSQ_SELF)
		close(walk->pagemap);
	else
		err = wsq_pagemap_alive(walk->pagemap);
	return err;
}

/*
 * Interpret what the page's source says, in the light of the mapping. The kernel
 * calls everything that is neither present nor a hole swapped. Only private
 * pages can be: an entry that refers to a page of the page cache, or one in a
 * shared mapping, is a migration, poison or a marker, and there is no telling
 * which. A hole of a private anonymous mapping is one, that of a file or of
 * shared memory may hide a page in the cache or in swap.
 */
uint64_t wsq_walk_flags(const struct wsq_walk *walk, const struct wsq_seen *seen)
{
	uint64_t flags = walk->vma.flags | seen->flags;
	bool backed = flags & (WSQUERY_FILE | WSQUERY_SHMEM);
	bool private = !(flags & WSQUERY_SHARED);

	if (seen->present) {
		flags |= WSQUERY_PRESENT;
		if (flags & WSQUERY_HUGETLB)
			flags |= WSQUERY_HUGE;
		if (backed && private && !seen->file)
			flags |= WSQUERY_COPY;
	} else if (seen->guard) {
		flags |= WSQUERY_MARKER | WSQUERY_GUARD | WSQUERY_MARKER_GUARD;
	} else if (seen->swapped && private && !seen->file) {
		flags |= WSQUERY_SWAPPED;
		if (backed)
			flags |= WSQUERY_COPY;
	} else if (seen->swapped || backed) {
		flags |= WSQUERY_NOT_TOLD;
	}
	return flags;
}

/*
 * Passes runs on, without what was not asked for. What is not told is passed on
 * always, for whoever counts it.
 */
struct masked {
	wsq_run_fn run;
	void *arg;
	uint64_t keep;
};

static int masked_run(void *arg, uint64_t page, uint64_t count, uint64_t flags)
{
	struct masked *masked = arg;

	return masked->run(masked->arg, page, count,
			   flags & (masked->keep | WSQUERY_NOT_TOLD));
}

/* Let walk->vma be the first mapping that ends after @page. */
static int vma_seek(struct wsq_walk *walk, uint64_t page)
{
	int got;

	if (page < walk->walked) {
		got = wsq_maps_rewind(&walk->maps);
		if (got)
			return got;
		walk->vma_known = false;
		walk->vma_last = false;
	}
	while (!walk->vma_last && (!walk->vma_known || walk->vma.end <= page)) {
		got = wsq_maps_next(&walk->maps, &walk->vma);
		if (got < 0)
			return got;
		walk->vma_known = got;
		walk->vma_last = !got;
	}
	return 0;
}

/*
 * Walk the pages from @page to before @end. Ranges that ascend continue in one
 * reading of the mappings.
 *
 * Return: 0, what @run stopped with, or a negative errno value.
 */
int wsq_walk_range(struct wsq_walk *walk, uint64_t page, uint64_t end, wsq_run_fn run, void *arg)
{
	struct masked masked = { run, arg, walk->keep };
	uint64_t until;
	int err;

	while (page < end) {
		err = vma_seek(walk, page);
		if (err)
			return err;
		walk->walked = page;

		if (walk->vma_last || walk->vma.start > page) {
			until = walk->vma_last || walk->vma.start > end ? end : walk->vma.start;
			err = run(arg, page, until - page, 0);
		} else {
			until = walk->vma.end > end ? end : walk->vma.end;
			if (walk->ws->backend == WSQUERY_BACKEND_SCAN)
				err = wsq_scan_range(walk, page, until, masked_run, &masked);
			else
				err = wsq_pagemap_range(walk, page, until, masked_run, &masked);
		}
		if (err)
			return err;
		page = until;
	}
	return 0;
}
