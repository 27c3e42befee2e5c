// SPDX-License-Identifier: GPL-2.0
/*
 * An independent answer for each page of an arena: pagemap for what an entry of the page
 * table is, PAGEMAP_SCAN for what it maps, smaps for the mapping, cachestat(2) for what is
 * behind a hole, which it tells by the page cache alone and so tells swap from nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../selftests/newer.h"
#include "trust.h"

#ifndef SYS_cachestat
#define SYS_cachestat	451
#endif

/* Type that the kernel gives markers, as pagemap shows it to root; -1: not learnt. */
static int marker_type = -1;
static bool have_scan, have_cachestat;

/* Learns what this kernel has, from a marker of its own. Root only. */
int truth_learn(void)
{
	struct watched w = { .pages = 1 };
	uint64_t entry = 0, scan;
	int fd = pagemap_open(0);

	w.p = map_shared(-1, 1);
	if (fd < 0 || !w.p)
		return -1;
	if (!uffd_watch(&w, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, UFFDIO_REGISTER_MODE_WP) &&
	    !uffd_protect(&w, true) && !pagemap_read(fd, w.p, 1, (__u64 *)&entry) &&
	    (entry & PM_SWAP))
		marker_type = WSQUERY_SWAP_TYPE(entry & PM_FRAME);
	have_scan = !scan_read(fd, w.p, 1, (__u64 *)&scan);
	have_cachestat = syscall(SYS_cachestat, -1, NULL, NULL, 0) < 0 && errno == EBADF;
	munmap(w.p, PAGE);
	if (w.uffd >= 0)
		close(w.uffd);
	close(fd);
	printf("# peers: pagemap, smaps, mincore%s%s, type of markers %d\n",
	       have_scan ? ", PAGEMAP_SCAN" : "", have_cachestat ? ", cachestat" : "", marker_type);
	return 0;
}

/* Halves the range until a part is all of one kind. */
static void behind(struct truth *t, const struct vma *v, size_t page, uint64_t offset, size_t n)
{
	struct { uint64_t off, len; } range = { offset, n * PAGE };
	struct { uint64_t cache, dirty, writeback, evicted, recent; } stat;
	size_t i;

	if (syscall(SYS_cachestat, v->fd, &range, &stat, 0)) {
		for (i = page; i < page + n; i++)
			t->known[i] &= ~(WSQUERY_SWAPPED | WSQUERY_CACHED);
		return;
	}
	if (n > 1 && (stat.cache || stat.evicted) && stat.cache != n && stat.evicted != n) {
		behind(t, v, page, offset, n / 2);
		behind(t, v, page + n / 2, offset + n / 2 * PAGE, n - n / 2);
		return;
	}
	for (i = page; i < page + n; i++) {
		/* The place in swap of what only the page cache knows is told by nobody. */
		t->swap_known[i] = !stat.evicted;
		if (stat.cache)
			t->flags[i] |= WSQUERY_CACHED;
		else if (stat.evicted && (v->base & WSQUERY_SHMEM))
			t->flags[i] |= WSQUERY_SWAPPED;
	}
}

/* What is behind the holes of a mapping, for the runs of them. */
static void truth_behind(struct truth *t, const struct vma *v)
{
	size_t at = (v->start - (uintptr_t)ARENA_START) / PAGE, n = (v->end - v->start) / PAGE;
	const uint64_t entry = WSQUERY_PRESENT | WSQUERY_SWAPPED;
	size_t i, k;

	if (!(v->base & (WSQUERY_SHMEM | WSQUERY_FILE)) || (v->base & WSQUERY_HUGETLB))
		return;
	for (i = at; i < at + n; i = k) {
		for (k = i; k < at + n && !(t->flags[k] & entry); k++)
			;
		if (k == i) {
			k++;
		} else if (have_cachestat && v->fd >= 0) {
			behind(t, v, i, v->offset + (i - at) * PAGE, k - i);
		} else {
			for (size_t m = i; m < k; m++) {
				t->known[m] &= ~(WSQUERY_SWAPPED | WSQUERY_CACHED);
				t->swap_known[m] = false;
			}
		}
	}
}

/* An entry that is neither none nor present, by the type that pagemap shows. */
static uint64_t entry_flags(uint64_t pm, const struct vma *v, uint64_t *swap)
{
	uint64_t frame = pm & PM_FRAME, flags = 0;
	int type = WSQUERY_SWAP_TYPE(frame);

	if (type == marker_type) {
		flags = WSQUERY_MARKER |
			(WSQUERY_SWAP_OFFSET(frame) << WSQUERY_MARKER_KIND_SHIFT);
		if (flags & WSQUERY_MARKER_POISON)
			flags |= WSQUERY_HWPOISON;
		return flags;
	}
	/* There is one swap device, or a few: a high type is something else. */
	if (type > 8)
		return WSQUERY_HWPOISON;
	*swap = frame;
	flags = WSQUERY_SWAPPED;
	if (v->base & (WSQUERY_FILE | WSQUERY_SHMEM))
		flags |= WSQUERY_COPY;
	return flags;
}

static void page_truth(struct truth *t, const struct vma *v, size_t i, uint64_t pm, uint64_t scan)
{
	uint64_t flags = v->base, known = ~VOLATILE_ATTRS | WSQUERY_SOFT_DIRTY;

	if (pm & PM_PRESENT) {
		flags |= WSQUERY_PRESENT;
		if (scan & PAGE_IS_HUGE)
			flags |= WSQUERY_HUGE;
		else if (scan & PAGE_IS_PFNZERO)
			flags |= WSQUERY_ZERO;
		if ((v->base & (WSQUERY_FILE | WSQUERY_SHMEM)) && !(pm & PM_FILE))
			flags |= WSQUERY_COPY;
		if (!have_scan)
			known &= ~(WSQUERY_HUGE | WSQUERY_ZERO);
		/* The huge zero page is not told; who merged a page is asked elsewhere. */
		if (scan & PAGE_IS_HUGE)
			known &= ~WSQUERY_ZERO;
		known &= ~WSQUERY_KSM;
	} else if (pm & PM_SWAP) {
		flags |= entry_flags(pm, v, &t->swap[i]);
	} else if (v->base & WSQUERY_HUGETLB) {
		/* pagemap says nothing about entries of hugetlb that are not pages. */
		known &= ~(WSQUERY_MARKER | WSQUERY_MARKER_KIND | WSQUERY_UFFD_WP |
			   WSQUERY_HWPOISON);
	}
	if (pm & PM_UFFD_WP)
		flags |= WSQUERY_UFFD_WP;
	if (pm & PM_SOFT_DIRTY)
		flags |= WSQUERY_SOFT_DIRTY;
	t->flags[i] = flags;
	t->known[i] = known;
}

/* Returns -1 if the peers cannot be asked. */
int truth_find(struct truth *t, const struct space *s, pid_t pid, int pagemap)
{
	static __u64 pm[ARENA_PAGES], scan[ARENA_PAGES];
	size_t i, end;
	int k;

	memset(scan, 0, sizeof(scan));
	memset(t->flags, 0, sizeof(t->flags));
	memset(t->swap, 0, sizeof(t->swap));
	memset(t->known, 0xff, sizeof(t->known));
	memset(t->swap_known, 1, sizeof(t->swap_known));
	if (vmas_read(t, s, pid) || pagemap_read(pagemap, ARENA_START, ARENA_PAGES, pm))
		return -1;
	if (have_scan && scan_read(pagemap, ARENA_START, ARENA_PAGES, scan))
		return -1;
	for (k = 0; k < t->n_vmas; k++) {
		const struct vma *v = &t->vmas[k];

		i = (v->start - (uintptr_t)ARENA_START) / PAGE;
		end = (v->end - (uintptr_t)ARENA_START) / PAGE;
		for (; i < end; i++)
			page_truth(t, v, i, pm[i], scan[i]);
		truth_behind(t, v);
	}
	return 0;
}
