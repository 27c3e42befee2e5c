// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pages from ioctl PAGEMAP_SCAN (Linux 6.7 and later). The interface is that of
 * <linux/fs.h>, repeated here because the headers at build time may be older
 * than the kernel at run time.
 */
#include <sys/ioctl.h>

#include "walk.h"

struct scan_region {
	uint64_t start;
	uint64_t end;
	uint64_t categories;
};

struct scan_arg {
	uint64_t size;
	uint64_t flags;
	uint64_t start;
	uint64_t end;
	uint64_t walk_end;
	uint64_t vec;
	uint64_t vec_len;
	uint64_t max_pages;
	uint64_t category_inverted;
	uint64_t category_mask;
	uint64_t category_anyof_mask;
	uint64_t return_mask;
};

#define SCAN_IOCTL		_IOWR('f', 16, struct scan_arg)

#define SCAN_WRITTEN		(1 << 1)
#define SCAN_FILE		(1 << 2)
#define SCAN_PRESENT		(1 << 3)
#define SCAN_SWAPPED		(1 << 4)
#define SCAN_ZERO		(1 << 5)
#define SCAN_HUGE		(1 << 6)
#define SCAN_SOFT_DIRTY		(1 << 7)
#define SCAN_GUARD		(1 << 8)

#define REGIONS			128

int wsq_scan_probe(int pagemap, bool *guards)
{
	struct scan_arg arg = { .size = sizeof(arg), .return_mask = SCAN_GUARD };

	*guards = ioctl(pagemap, SCAN_IOCTL, &arg) >= 0;
	if (*guards)
		return 0;
	arg.return_mask = 0;
	if (ioctl(pagemap, SCAN_IOCTL, &arg) >= 0)
		return 0;
	/* Old kernels know no ioctl here at all. */
	return errno == EINVAL ? -ENOTTY : -errno;
}

static uint64_t region_flags(const struct wsq_walk *walk, uint64_t categories)
{
	struct wsq_seen seen = {
		.present = categories & SCAN_PRESENT,
		.swapped = categories & SCAN_SWAPPED,
		.file = categories & SCAN_FILE,
		.guard = categories & SCAN_GUARD,
	};

	if (seen.present && (categories & SCAN_HUGE))
		seen.flags |= WSQUERY_HUGE;
	if (seen.present && (categories & SCAN_ZERO))
		seen.flags |= WSQUERY_ZERO;
	if (categories & SCAN_SOFT_DIRTY)
		seen.flags |= WSQUERY_SOFT_DIRTY;
	if ((seen.present || seen.swapped) && !(categories & SCAN_WRITTEN))
		seen.flags |= WSQUERY_UFFD_WP;
	return wsq_walk_flags(walk, &seen);
}

/* Only what is asked for: each category costs the kernel something per page. */
static uint64_t categories_wanted(const struct wsq_walk *walk)
{
	uint64_t wanted = SCAN_PRESENT | SCAN_SWAPPED | SCAN_FILE | SCAN_HUGE;

	if (walk->keep & WSQUERY_ZERO)
		wanted |= SCAN_ZERO;
	if (walk->keep & WSQUERY_SOFT_DIRTY)
		wanted |= SCAN_SOFT_DIRTY;
	if (walk->keep & WSQUERY_UFFD_WP)
		wanted |= SCAN_WRITTEN;
	if (walk->ws->guards)
		wanted |= SCAN_GUARD;
	return wanted;
}

int wsq_scan_range(struct wsq_walk *walk, uint64_t page, uint64_t end, wsq_run_fn run, void *arg)
{
	struct scan_region regions[REGIONS];
	unsigned int shift = walk->maps.shift;
	uint64_t hole = region_flags(walk, 0);
	uint64_t report = SCAN_PRESENT | SCAN_SWAPPED;
	struct scan_arg scan;
	uint64_t start, until;
	int count, i, err;

	if (walk->ws->guards)
		report |= SCAN_GUARD;
	if (walk->keep & WSQUERY_SOFT_DIRTY)
		report |= SCAN_SOFT_DIRTY;

	while (page < end) {
		scan = (struct scan_arg){
			.size = sizeof(scan),
			.start = page << shift,
			.end = end << shift,
			.vec = (uintptr_t)regions,
			.vec_len = REGIONS,
			.category_anyof_mask = report,
			.return_mask = categories_wanted(walk),
		};
		count = ioctl(walk->pagemap, SCAN_IOCTL, &scan);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;

		for (i = 0; i <= count; i++) {
			start = i < count ? regions[i].start >> shift : scan.walk_end >> shift;
			if (start > page) {
				err = run(arg, page, start - page, hole);
				if (err)
					return err;
				page = start;
			}
			if (i == count)
				break;
			until = regions[i].end >> shift;
			err = run(arg, page, until - page,
				  region_flags(walk, regions[i].categories));
			if (err)
				return err;
			page = until;
		}
		if (!count && scan.walk_end >> shift < end)
			return -EIO;
	}
	return 0;
}
