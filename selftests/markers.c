// SPDX-License-Identifier: GPL-2.0
/*
 * Page-table entries that are marks, not pages: write-protection by userfaultfd,
 * poison, guards. And the same write-protection on pages that are there.
 */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "newer.h"
#include "wsq.h"

#define PAGES	64
enum kind { ANON, SHMEM, HUGETLB };

FIXTURE(markers) {
	struct watched w;
	__u64 base;
};

FIXTURE_VARIANT(markers) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(markers, anon) { .kind = ANON };
FIXTURE_VARIANT_ADD(markers, shmem) { .kind = SHMEM };
FIXTURE_VARIANT_ADD(markers, hugetlb) { .kind = HUGETLB };

FIXTURE_SETUP(markers)
{
	own();
	self->w.uffd = -1;
	self->w.pages = PAGES;
	if (variant->kind == ANON) {
		self->w.p = map_anon(PAGES);
		self->base = M_RW;
	} else if (variant->kind == SHMEM) {
		self->w.p = map_shared(-1, PAGES);
		self->base = M_RW | WSQUERY_SHMEM | WSQUERY_SHARED;
	} else {
		if (hugetlb_reserve(HUGE2M, 2))
			SKIP(return, "no huge pages to be had");
		self->w.pages = HUGE2M / PAGE;
		self->w.p = mmap(NULL, HUGE2M, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
		self->base = M_RW | WSQUERY_FILE | WSQUERY_HUGETLB | WSQUERY_SHARED;
	}
	ASSERT_NE(NULL, self->w.p);
	ASSERT_NE(MAP_FAILED, self->w.p);
}

FIXTURE_TEARDOWN(markers)
{
}

#define WP_FEATURES (variant->kind == ANON ? 0 : UFFD_FEATURE_WP_HUGETLBFS_SHMEM)

TEST_F(markers, wp_present)
{
	__u64 there = WSQUERY_PRESENT | (variant->kind == HUGETLB ? WSQUERY_HUGE : 0);

	NEED_UFFD(&self->w, WP_FEATURES, UFFDIO_REGISTER_MODE_WP);
	fill(self->w.p, self->w.pages);
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	EXPECT_PAGES(self->w.p, self->w.pages, self->base | there | WP);
	ASSERT_EQ(0, uffd_protect(&self->w, false));
	EXPECT_PAGES(self->w.p, self->w.pages, self->base | there);
}

TEST_F(markers, wp_unpopulated)
{
	NEED_UFFD(&self->w, variant->kind == ANON ? UFFD_FEATURE_WP_UNPOPULATED : WP_FEATURES,
		  UFFDIO_REGISTER_MODE_WP);
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	EXPECT_PAGES(self->w.p, self->w.pages, self->base | WP_MARK);
	ASSERT_EQ(0, uffd_protect(&self->w, false));
	EXPECT_PAGES(self->w.p, self->w.pages, self->base);
}

/* Paged out, anonymous memory keeps the mark in its entry, shared has a marker. */
TEST_F(markers, wp_swapped)
{
	NEED_SWAP();
	NEED_UFFD(&self->w, WP_FEATURES, UFFDIO_REGISTER_MODE_WP);
	fill(self->w.p, self->w.pages);
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	if (variant->kind == HUGETLB) {
		/* Not these: they stay. */
		madvise(self->w.p, HUGE2M, MADV_PAGEOUT);
		EXPECT_PAGES(self->w.p, self->w.pages,
			     self->base | WSQUERY_PRESENT | WSQUERY_HUGE | WP);
		return;
	}
	ASSERT_EQ(0, evict(self->w.p, self->w.pages));
	EXPECT_PAGES(self->w.p, self->w.pages,
		     self->base | WSQUERY_SWAPPED | (variant->kind == ANON ? WP : WP_MARK));
	EXPECT_EQ(0, verify(self->w.p, self->w.pages));
}

TEST_F(markers, poisoned)
{
	NEED_UFFD(&self->w, UFFD_FEATURE_POISON, UFFDIO_REGISTER_MODE_MISSING);
	ASSERT_EQ(0, uffd_poison(&self->w));
	EXPECT_PAGES(self->w.p, self->w.pages, self->base | POISONED);
}

/* Guards exist in all but hugetlb memory. */
FIXTURE(guards) {
	char *p;
	size_t pages;
	__u64 base;
};

FIXTURE_VARIANT(guards) {
	enum kind kind;
};

FIXTURE_VARIANT_ADD(guards, anon) { .kind = ANON };
FIXTURE_VARIANT_ADD(guards, shmem) { .kind = SHMEM };

FIXTURE_SETUP(guards)
{
	own();
	self->pages = PAGES;
	self->p = variant->kind == ANON ? map_anon(PAGES) : map_shared(-1, PAGES);
	ASSERT_NE(NULL, self->p);
	self->base = M_RW | (variant->kind == ANON ? 0 : WSQUERY_SHMEM | WSQUERY_SHARED);
}

FIXTURE_TEARDOWN(guards)
{
}

TEST_F(guards, installed)
{
	size_t half = self->pages / 2;

	fill(self->p, self->pages);
	if (madvise(self->p, half * PAGE, MADV_GUARD_INSTALL)) {
		ASSERT_EQ(EINVAL, errno);
		SKIP(return, "this kernel has no guard regions in this memory");
	}
	EXPECT_PAGES(self->p, half, self->base | WSQUERY_MARKER | WSQUERY_GUARD |
		     WSQUERY_MARKER_GUARD | (variant->kind == SHMEM ? WSQUERY_CACHED : 0));
	EXPECT_PAGES(self->p + half * PAGE, half, self->base | WSQUERY_PRESENT);
}

/* Markers on top of what only shared memory has. */
FIXTURE(shmem_markers) {
	struct watched w;
	__u64 base;
};

FIXTURE_SETUP(shmem_markers)
{
	own();
	self->w.pages = PAGES;
	self->w.p = map_shared(-1, PAGES);
	ASSERT_NE(NULL, self->w.p);
	self->base = M_RW | WSQUERY_SHMEM | WSQUERY_SHARED;
}

FIXTURE_TEARDOWN(shmem_markers)
{
}

/* A marker over a page that is only in the page cache. */
TEST_F(shmem_markers, wp_cached)
{
	fill(self->w.p, self->w.pages);
	ASSERT_EQ(0, madvise(self->w.p, self->w.pages * PAGE, MADV_DONTNEED));
	NEED_UFFD(&self->w, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, UFFDIO_REGISTER_MODE_WP);
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	EXPECT_PAGES(self->w.p, self->w.pages, self->base | WP_MARK | WSQUERY_CACHED);
}

TEST_F(shmem_markers, half_of_each)
{
	struct uffdio_writeprotect wp = { .mode = UFFDIO_WRITEPROTECT_MODE_WP };

	NEED_SWAP();
	NEED_UFFD(&self->w, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, UFFDIO_REGISTER_MODE_WP);
	fill(self->w.p, 32);
	ASSERT_EQ(0, evict(self->w.p, 32));
	fill(self->w.p + 32 * PAGE, 16);
	wp.range.start = (uintptr_t)self->w.p + 16 * PAGE;
	wp.range.len = 40 * PAGE;
	ASSERT_EQ(0, ioctl(self->w.uffd, UFFDIO_WRITEPROTECT, &wp));
	EXPECT_PAGES(self->w.p, 16, self->base | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->w.p + 16 * PAGE, 16, self->base | WSQUERY_SWAPPED | WP_MARK);
	EXPECT_PAGES(self->w.p + 32 * PAGE, 16, self->base | WSQUERY_PRESENT | WP);
	EXPECT_PAGES(self->w.p + 48 * PAGE, 8, self->base | WP_MARK);
	EXPECT_PAGES(self->w.p + 56 * PAGE, 8, self->base);
}

/*
 * A mark at the end of a leaf of the page cache has the leaf searched to its end; then
 * comes a leaf that nobody needs to look at, and then swap.
 */
TEST(mark_before_a_leaf)
{
	struct watched w = { .p = map_shared(-1, 256), .pages = 256 }, mark;
	__u64 f[256], want, seen;
	struct wsq *q = own();
	int i;

	NEED_ROOT();
	NEED_SWAP();
	ASSERT_NE(NULL, w.p);
	NEED_UFFD(&w, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, UFFDIO_REGISTER_MODE_WP);
	fill(w.p + 128 * PAGE, 64);
	ASSERT_EQ(0, evict(w.p + 128 * PAGE, 64));
	fill(w.p, 1);
	fill(w.p + 64 * PAGE, 64);
	mark = w;
	mark.p += 63 * PAGE;
	mark.pages = 1;
	ASSERT_EQ(0, uffd_protect(&mark, true));
	q->attrs = 0;
	ASSERT_EQ(0, wsq_wide(q, w.p, 256, f));
	for (i = 0; i < 256; i++) {
		want = i == 0 || i / 64 == 1 ? WSQUERY_PRESENT :
		       i / 64 == 2 ? WSQUERY_SWAPPED : i == 63 ? WSQUERY_MARKER : 0;
		seen = f[i] & (WSQUERY_PRESENT | WSQUERY_SWAPPED | WSQUERY_MARKER);
		EXPECT_EQ(want, seen) TH_LOG("page %d", i);
	}
}

TEST_HARNESS_MAIN
