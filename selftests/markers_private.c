// SPDX-License-Identifier: GPL-2.0
/*
 * Marks of userfaultfd in private mappings of shared memory and on transparent
 * huge pages.
 */
#include <linux/userfaultfd.h>

#include "kselftest_harness.h"
#include "newer.h"
#include "wsq.h"

#define PAGES	64
#define PRV_RW	(M_RW | WSQUERY_SHMEM)

FIXTURE(private_markers) {
	struct watched w;	/* private, never touched */
	char *file;		/* shared mapping of the same */
};

FIXTURE_SETUP(private_markers)
{
	int fd = memfd_create("wsquery", MFD_CLOEXEC);

	own();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, PAGES * PAGE));
	self->file = map_shared(fd, PAGES);
	ASSERT_NE(NULL, self->file);
	self->w.pages = PAGES;
	self->w.p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, self->w.p);
}

FIXTURE_TEARDOWN(private_markers)
{
}

#define NEED_WP() \
	NEED_UFFD(&self->w, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, UFFDIO_REGISTER_MODE_WP)

TEST_F(private_markers, wp_copy_present)
{
	NEED_WP();
	fill(self->w.p, PAGES);
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	EXPECT_PAGES(self->w.p, PAGES, PRV_RW | WSQUERY_PRESENT | WSQUERY_COPY | WP);
}

TEST_F(private_markers, wp_copy_swapped)
{
	NEED_SWAP();
	NEED_WP();
	fill(self->w.p, PAGES);
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	ASSERT_EQ(0, evict(self->w.p, PAGES));
	EXPECT_PAGES(self->w.p, PAGES, PRV_RW | WSQUERY_SWAPPED | WSQUERY_COPY | WP);
	EXPECT_EQ(0, verify(self->w.p, PAGES));
}

TEST_F(private_markers, wp_hole)
{
	NEED_WP();
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	EXPECT_PAGES(self->w.p, PAGES, PRV_RW | WP_MARK);
}

TEST_F(private_markers, wp_cached)
{
	NEED_WP();
	fill(self->file, PAGES);
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	EXPECT_PAGES(self->w.p, PAGES, PRV_RW | WP_MARK | WSQUERY_CACHED);
}

/* A marker here, the file's page in swap. */
TEST_F(private_markers, wp_swapped)
{
	NEED_SWAP();
	NEED_WP();
	fill(self->file, PAGES);
	ASSERT_EQ(0, evict(self->file, PAGES));
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	EXPECT_PAGES(self->w.p, PAGES, PRV_RW | WP_MARK | WSQUERY_SWAPPED);
}

TEST_F(private_markers, poisoned)
{
	NEED_UFFD(&self->w, UFFD_FEATURE_POISON, UFFDIO_REGISTER_MODE_MISSING);
	ASSERT_EQ(0, uffd_poison(&self->w));
	EXPECT_PAGES(self->w.p, PAGES, PRV_RW | POISONED);
}

FIXTURE(huge_markers) {
	struct watched w;
};

FIXTURE_SETUP(huge_markers)
{
	own();
	thp_allow();
	self->w.pages = HUGE2M / PAGE;
	self->w.p = map_aligned(HUGE2M, HUGE2M, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	ASSERT_NE(NULL, self->w.p);
	ASSERT_EQ(0, madvise(self->w.p, HUGE2M, MADV_HUGEPAGE));
}

FIXTURE_TEARDOWN(huge_markers)
{
}

TEST_F(huge_markers, wp_present)
{
	NEED_UFFD(&self->w, 0, UFFDIO_REGISTER_MODE_WP);
	fill(self->w.p, self->w.pages);
	NEED_HUGE(self->w.p, HUGE2M);
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	EXPECT_PAGES(self->w.p, self->w.pages, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE | WP);
	ASSERT_EQ(0, uffd_protect(&self->w, false));
	EXPECT_PAGES(self->w.p, self->w.pages, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE);
}

/* There is no huge marker: small ones take the huge page's place. */
TEST_F(huge_markers, wp_hole)
{
	NEED_UFFD(&self->w, UFFD_FEATURE_WP_UNPOPULATED, UFFDIO_REGISTER_MODE_WP);
	ASSERT_EQ(0, uffd_protect(&self->w, true));
	EXPECT_PAGES(self->w.p, self->w.pages, M_RW | WP_MARK);
}

TEST_HARNESS_MAIN
