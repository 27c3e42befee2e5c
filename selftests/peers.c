// SPDX-License-Identifier: GPL-2.0
/*
 * What pagemap, PAGEMAP_SCAN, mincore and kpageflags say about the same pages,
 * and whether that fits the answers of /dev/wsquery, with exactly the
 * differences that its header documents.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "newer.h"
#include "wsq.h"

int pagemap_open(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid ? pid : getpid());
	return open(path, O_RDONLY | O_CLOEXEC);
}

int pagemap_read(int fd, const void *start, size_t pages, __u64 *out)
{
	off64_t at = (off64_t)((uintptr_t)start / PAGE) * 8;
	size_t done = 0;

	while (done < pages * 8) {
		ssize_t n = pread64(fd, (char *)out + done, pages * 8 - done, at + done);

		if (n <= 0)
			return n ? -errno : -ENODATA;
		done += n;
	}
	return 0;
}

/* PAGE_IS_* of each page, 0 where there is no mapping. -ENOTTY before 6.7. */
int scan_read(int fd, const void *start, size_t pages, __u64 *out)
{
	struct page_region *regions = calloc(pages + 1, sizeof(*regions));
	__u64 from = (uintptr_t)start, end = from + (__u64)pages * PAGE;
	struct pm_scan_arg arg = {
		.size = sizeof(arg), .start = from, .end = end,
		.vec = (uintptr_t)regions, .vec_len = pages + 1,
		.return_mask = PAGE_IS_FILE | PAGE_IS_PRESENT | PAGE_IS_SWAPPED |
			PAGE_IS_PFNZERO | PAGE_IS_HUGE | PAGE_IS_SOFT_DIRTY,
	};
	int i, n = ioctl(fd, PAGEMAP_SCAN, &arg), rc = n < 0 ? -errno : 0;
	__u64 a;

	memset(out, 0, pages * 8);
	for (i = 0; i < n; i++)
		for (a = regions[i].start; a < regions[i].end; a += PAGE)
			out[(a - from) / PAGE] = regions[i].categories;
	free(regions);
	return rc;
}

/* An entry of /proc/kpageflags or /proc/kpagecount. */
int kpage_read(const char *name, __u64 frame, __u64 *out)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = pread64(fd, out, 8, frame * 8) == 8 ? 0 : -EIO;
	close(fd);
	return rc;
}

static bool differs(const char *peer, const void *start, size_t page, __u64 seen, __u64 flags,
		    const char *what)
{
	fprintf(stderr, "# page %zu of %p: %s says %#llx, wsquery %#llx: %s\n", page, start,
		peer, (unsigned long long)seen, (unsigned long long)flags, what);
	return true;
}

/* Swapped as pagemap means it: an entry that is neither none nor present. */
static bool is_entry(__u64 f)
{
	return f & (WSQUERY_SWAPPED | WSQUERY_MARKER | WSQUERY_MIGRATING | WSQUERY_HWPOISON |
		    WSQUERY_DEVICE);
}

static int compare_pagemap(const struct wsq *q, const void *start, size_t pages,
			   const __u64 *flags, const __u64 *pm)
{
	int bad = 0;
	size_t i;

	for (i = 0; i < pages && bad < 4; i++) {
		__u64 f = flags[i], p = pm[i];
		bool present = (f & WSQUERY_PRESENT) && !(f & WSQUERY_MIGRATING);
		const char *s = NULL;

		if (!(f & WSQUERY_MAPPED) && (p & ~PM_SOFT_DIRTY))
			s = "not mapped";
		else if (!!(p & PM_PRESENT) != present && !(f & WSQUERY_DEVICE))
			s = "present";
		else if ((p & PM_SWAP) && !is_entry(f))
			s = "swapped";
		else if (!(p & PM_SWAP) && (f & WSQUERY_SWAPPED) && !(f & WSQUERY_SHMEM))
			s = "swapped without an entry";
		else if (!(p & PM_SWAP) && (f & WSQUERY_MARKER) && !(f & WSQUERY_HUGETLB))
			s = "marker without an entry";
		else if ((q->attrs & WSQUERY_SOFT_DIRTY) && (f & WSQUERY_MAPPED) &&
			 !!(p & PM_SOFT_DIRTY) != !!(f & WSQUERY_SOFT_DIRTY))
			s = "soft-dirty";
		else if ((q->attrs & WSQUERY_UFFD_WP) && !(f & WSQUERY_HUGETLB) &&
			 !!(p & PM_UFFD_WP) != !!(f & WSQUERY_UFFD_WP))
			s = "write-protected by userfaultfd";
		else if ((q->attrs & WSQUERY_COPY) && (p & PM_PRESENT) &&
			 (f & (WSQUERY_FILE | WSQUERY_SHMEM)) && !(f & WSQUERY_DEVICE) &&
			 !!(p & PM_FILE) == !!(f & WSQUERY_COPY))
			s = "a private copy";
		if (s && differs("pagemap", start, i, p, f, s))
			bad++;
	}
	return bad;
}

static int compare_scan(const struct wsq *q, const void *start, size_t pages,
			const __u64 *flags, const __u64 *scan)
{
	int bad = 0;
	size_t i;

	for (i = 0; i < pages && bad < 4; i++) {
		__u64 f = flags[i], c = scan[i];
		const char *s = NULL;

		if ((c & PAGE_IS_PRESENT) && !(f & WSQUERY_PRESENT))
			s = "present";
		else if ((c & PAGE_IS_SWAPPED) && !is_entry(f))
			s = "swapped";
		else if (c && (c & PAGE_IS_PRESENT) && !!(c & PAGE_IS_HUGE) != !!(f & WSQUERY_HUGE))
			s = "huge";
		else if ((q->attrs & WSQUERY_ZERO) &&
			 !!(c & PAGE_IS_PFNZERO) != !!(f & WSQUERY_ZERO))
			s = "the zero page";
		if (s && differs("PAGEMAP_SCAN", start, i, c, f, s))
			bad++;
	}
	return bad;
}

/* mincore answers about the caller only, and invents what it may not tell. */
static int compare_mincore(const struct wsq *q, const void *start, size_t pages,
			   const __u64 *flags)
{
	int bad = 0;
	size_t i;

	for (i = 0; i < pages && bad < 4; i++) {
		unsigned char in_core;
		__u64 f = flags[i];
		const char *s = NULL;

		if (mincore((char *)start + i * PAGE, PAGE, &in_core)) {
			if (errno == ENOMEM && (f & WSQUERY_MAPPED))
				s = "no mapping";
			else if (errno != ENOMEM)
				s = strerror(errno);
			in_core = 0;
		} else if (!(f & WSQUERY_MAPPED)) {
			s = "a mapping";
		} else if (f & (WSQUERY_NOT_TOLD | WSQUERY_HUGETLB | WSQUERY_DEVICE)) {
			continue;
		} else if ((f & WSQUERY_PRESENT) && !in_core) {
			s = "not resident";
		} else if (!(f & (WSQUERY_PRESENT | WSQUERY_SWAPPED | WSQUERY_HWPOISON)) &&
			   (q->attrs & WSQUERY_CACHED) && in_core != !!(f & WSQUERY_CACHED)) {
			s = "in the page cache";
		}
		if (s && differs("mincore", start, i, in_core, f, s))
			bad++;
	}
	return bad;
}

/* What holds for a mapping as a whole is in smaps' VmFlags. */
static int compare_smaps(const struct wsq *q, const void *start, size_t pages,
			 const __u64 *flags)
{
	static const struct {
		const char *name;
		__u64 flag;
	} names[] = {
		{ " rd", WSQUERY_READABLE }, { " wr", WSQUERY_WRITABLE },
		{ " ex", WSQUERY_EXECUTABLE }, { " ms", WSQUERY_SHARED },
		{ " lo", WSQUERY_LOCKED }, { " ht", WSQUERY_HUGETLB },
	};
	struct smaps s = {};
	size_t i, k;
	int bad = 0;

	for (i = 0; i < pages && bad < 4; i++) {
		unsigned long at = (uintptr_t)start + i * PAGE;

		if (at >= s.end && (!(flags[i] & WSQUERY_MAPPED) || smaps_of((void *)at, &s))) {
			if (flags[i] & WSQUERY_MAPPED)
				bad += differs("smaps", start, i, 0, flags[i], "no mapping");
			continue;
		}
		for (k = 0; k < ARRAY_SIZE(names); k++) {
			bool has = strstr(s.flags, names[k].name);

			if (((q->attrs | WSQUERY_STATE_MASK) & names[k].flag) &&
			    has != !!(flags[i] & names[k].flag))
				bad += differs("smaps", start, i, has, flags[i], names[k].name);
		}
	}
	return bad;
}

/* The count of what does not fit, 0 if all peers agree. */
int compare_peers(const struct wsq *q, const void *start, size_t pages, const __u64 *flags)
{
	int fd = q->target >= 0 ? q->target : pagemap_open(0), bad = 0, rc;
	__u64 *seen = calloc(pages, 8);

	if (fd < 0 || !seen)
		return 1;
	rc = pagemap_read(fd, start, pages, seen);
	if (rc) {
		fprintf(stderr, "# reading pagemap at %p: %s\n", start, strerror(-rc));
		bad++;
	} else {
		bad += compare_pagemap(q, start, pages, flags, seen);
	}
	rc = scan_read(fd, start, pages, seen);
	if (!rc) {
		bad += compare_scan(q, start, pages, flags, seen);
	} else if (rc != -ENOTTY) {
		fprintf(stderr, "# PAGEMAP_SCAN of %p: %s\n", start, strerror(-rc));
		bad++;
	}
	if (q->target < 0) {
		bad += compare_mincore(q, start, pages, flags);
		bad += compare_smaps(q, start, pages, flags);
	}
	free(seen);
	if (q->target < 0)
		close(fd);
	return bad;
}
