// SPDX-License-Identifier: GPL-2.0
/*
 * Peers that are dear and so are asked about a sample of the pages only: /proc/kpageflags
 * and /proc/kpagecount for what is in a page's descriptor, move_pages(2) for its node. And
 * mincore(2) for all, which is cheap but only knows the caller and counts the swap cache.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trust.h"

#define SAMPLE	128
#define KPF_THP	(1ULL << 22)

static int kpageflags = -1, kpagecount = -1;

static uint64_t kpage(int fd, uint64_t frame)
{
	uint64_t value = 0;

	return pread64(fd, &value, 8, frame * 8) == 8 ? value : 0;
}

/* One present page's descriptor. */
static void sample_page(struct truth *t, size_t i, uint64_t pm)
{
	uint64_t frame = pm & PM_FRAME, flags = kpage(kpageflags, frame);
	uint64_t count = kpage(kpagecount, frame);
	bool huge = t->flags[i] & WSQUERY_HUGE;

	/* Not KPF_KSM, which kernels from 6.10 on set for all anonymous pages. */
	t->known[i] |= WSQUERY_ZERO;
	/* What one entry maps is told by its first page. Without PAGEMAP_SCAN it may be one. */
	if (!(t->known[i] & WSQUERY_HUGE))
		huge = flags & KPF_THP;
	if (!huge || !(i % (HUGE2M / PAGE)))
		t->known[i] |= WSQUERY_SHARE_COUNT;
	if (flags & KPF_ZERO_PAGE) {
		t->flags[i] |= WSQUERY_ZERO;
		return;
	}
	t->flags[i] |= (count > 7 ? 7 : count) << WSQUERY_SHARE_COUNT_SHIFT;
}

static void sample_nodes(struct truth *t, pid_t pid, const size_t *index, size_t n)
{
	void *pages[SAMPLE];
	int status[SAMPLE];
	size_t i;

	for (i = 0; i < n; i++)
		pages[i] = ARENA_START + index[i] * PAGE;
	if (!n || syscall(SYS_move_pages, pid, n, pages, NULL, status, 0))
		return;
	for (i = 0; i < n; i++) {
		if (status[i] < 0 || (t->flags[index[i]] & WSQUERY_ZERO))
			continue;
		t->known[index[i]] |= WSQUERY_NODE;
		t->flags[index[i]] |= (uint64_t)status[i] << WSQUERY_NODE_SHIFT;
	}
}

/* Fills in what a sample of the present pages is known to be; returns how many. */
int truth_sample(struct truth *t, struct rng *r, pid_t pid, int pagemap)
{
	size_t index[SAMPLE], n = 0, tries, i;
	__u64 pm;

	if (kpageflags < 0) {
		kpageflags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
		kpagecount = open("/proc/kpagecount", O_RDONLY | O_CLOEXEC);
	}
	if (kpageflags < 0 || kpagecount < 0)
		return 0;
	for (tries = 0; tries < 2 * SAMPLE && n < SAMPLE; tries++) {
		i = rng_below(r, ARENA_PAGES);
		if (!(t->flags[i] & WSQUERY_PRESENT) || (t->known[i] & WSQUERY_NODE) ||
		    pagemap_read(pagemap, ARENA_START + i * PAGE, 1, &pm) ||
		    !(pm & PM_PRESENT))
			continue;
		sample_page(t, i, pm);
		index[n++] = i;
	}
	sample_nodes(t, pid, index, n);
	return n;
}
