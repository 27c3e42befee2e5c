// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pages from reading /proc/PID/pagemap. The bits are those of
 * Documentation/admin-guide/mm/pagemap.rst.
 */
#include <unistd.h>

#include "walk.h"

#define PM_SOFT_DIRTY	(1ULL << 55)
#define PM_UFFD_WP	(1ULL << 57)
#define PM_GUARD	(1ULL << 58)
#define PM_FILE		(1ULL << 61)
#define PM_SWAP		(1ULL << 62)
#define PM_PRESENT	(1ULL << 63)
#define PM_STATE	(PM_SOFT_DIRTY | PM_UFFD_WP | PM_GUARD | PM_FILE | PM_SWAP | PM_PRESENT)

#define ENTRIES		512

/* Of a process that is gone, the file is empty. */
int wsq_pagemap_alive(int pagemap)
{
	uint64_t entry;
	ssize_t got;

	got = pread(pagemap, &entry, sizeof(entry), 0);
	if (got < 0)
		return -errno;
	return got ? 0 : -ESRCH;
}

static uint64_t entry_flags(const struct wsq_walk *walk, uint64_t entry)
{
	struct wsq_seen seen = {
		.present = entry & PM_PRESENT,
		.swapped = entry & PM_SWAP,
		.file = entry & PM_FILE,
		.guard = entry & PM_GUARD,
	};

	if (entry & PM_SOFT_DIRTY)
		seen.flags |= WSQUERY_SOFT_DIRTY;
	if (entry & PM_UFFD_WP)
		seen.flags |= WSQUERY_UFFD_WP;
	return wsq_walk_flags(walk, &seen);
}

int wsq_pagemap_range(struct wsq_walk *walk, uint64_t page, uint64_t end, wsq_run_fn run,
		      void *arg)
{
	uint64_t entries[ENTRIES];
	ssize_t got, i, first;
	size_t want;
	int err;

	while (page < end) {
		want = end - page < ENTRIES ? end - page : ENTRIES;
		got = pread(walk->pagemap, entries, want * sizeof(*entries),
			    page * sizeof(*entries));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		got /= sizeof(*entries);
		if (!got)
			return -ESRCH;

		for (first = 0; first < got; first = i) {
			for (i = first + 1; i < got; i++)
				if ((entries[i] ^ entries[first]) & PM_STATE)
					break;
			err = run(arg, page + first, i - first, entry_flags(walk, entries[first]));
			if (err)
				return err;
		}
		page += got;
	}
	return 0;
}
