// SPDX-License-Identifier: GPL-2.0
/*
 * Peers that are asked about a mapping as a whole: smaps has totals, mincore(2) a byte a page.
 */
#include <sys/mman.h>

#include "trust.h"

static void complain(bool quiet, const char *peer, size_t page, unsigned long expected,
		     unsigned long seen)
{
	if (!quiet)
		printf("# %s, page %zu: expected %lu, seen %#lx\n", peer, page, expected, seen);
}

/* The mappings' totals of smaps; returns how many differ. */
unsigned int sums_differ(const struct truth *t, const uint64_t *wide, uint64_t *sums,
			 bool quiet)
{
	unsigned int bad = 0;
	int k;

	for (k = 0; k < t->n_vmas; k++) {
		const struct vma *v = &t->vmas[k];
		size_t i = (v->start - (uintptr_t)ARENA_START) / PAGE;
		size_t end = (v->end - (uintptr_t)ARENA_START) / PAGE, at = i;
		unsigned long swapped = 0, present = 0, merged = 0;
		bool odd = false;

		for (; i < end; i++) {
			uint64_t f = wide[i];

			swapped += !!(f & WSQUERY_SWAPPED);
			present += (f & WSQUERY_PRESENT) && !(f & WSQUERY_ZERO);
			merged += !!(f & WSQUERY_KSM);
			/* Here smaps looks at the file, not at the mapping's own pages. */
			odd |= (f & WSQUERY_MARKER) || ((f & WSQUERY_SHMEM) && (f & WSQUERY_COPY));
		}
		if (v->base & WSQUERY_HUGETLB)
			continue;
		*sums += 3;
		if (v->has_merged && merged * 4 != v->merged) {
			complain(quiet, "KSM of smaps", at, v->merged / 4, merged);
			bad++;
		}
		if (present * 4 != v->rss) {
			complain(quiet, "Rss of smaps", at, v->rss / 4, present);
			bad++;
		}
		/* An entry for many pages is counted whole by smaps where a mapping cuts it. */
		odd |= v->swap > swapped * 4 && (v->base & WSQUERY_SHMEM) &&
		       ((wide[at] | wide[end - 1]) & WSQUERY_SWAPPED);
		if (!odd && swapped * 4 != v->swap) {
			complain(quiet, "Swap of smaps", at, v->swap / 4, swapped);
			bad++;
		}
	}
	return bad;
}

/*
 * The caller's own pages. It counts what is in the swap cache too, so that swapped pages can
 * be both.
 */
unsigned int mincore_differs(const struct truth *t, const uint64_t *wide, bool quiet)
{
	static unsigned char in_core[ARENA_PAGES];
	unsigned int bad = 0;
	size_t i, at, n;
	int k;

	for (k = 0; k < t->n_vmas; k++) {
		const struct vma *v = &t->vmas[k];

		at = (v->start - (uintptr_t)ARENA_START) / PAGE;
		n = (v->end - v->start) / PAGE;
		if ((v->base & WSQUERY_HUGETLB) ||
		    mincore(ARENA_START + at * PAGE, n * PAGE, in_core))
			continue;
		for (i = at; i < at + n; i++) {
			uint64_t f = wide[i];
			bool in = in_core[i - at] & 1;

			if (f & (WSQUERY_SWAPPED | WSQUERY_HWPOISON | WSQUERY_MARKER))
				continue;
			if (!!(f & (WSQUERY_PRESENT | WSQUERY_CACHED)) == in)
				continue;
			/* Of fallocate(2) or half truncated: there, but not up to date. */
			if (!in && (f & WSQUERY_CACHED))
				continue;
			if (bad++ < 4)
				complain(quiet, "mincore", i, in, f);
		}
	}
	return bad;
}
