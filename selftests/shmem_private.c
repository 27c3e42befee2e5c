// SPDX-License-Identifier: GPL-2.0
/*
 * Private mappings of shared memory: a private copy, in memory or in swap, wins
 * over what the file has; where there is none, the file's state shows through.
 */
#include <fcntl.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64
#define PRV_RW	(M_RW | WSQUERY_SHMEM)

FIXTURE(shmem_private) {
	char *file;	/* shared mapping of the memfd */
	char *p;	/* private mapping of it, never touched */
	int fd;
};

FIXTURE_SETUP(shmem_private)
{
	own();
	self->fd = memfd_create("wsquery", MFD_CLOEXEC);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ftruncate(self->fd, PAGES * PAGE));
	self->file = map_shared(self->fd, PAGES);
	ASSERT_NE(NULL, self->file);
	self->p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->p);
}

FIXTURE_TEARDOWN(shmem_private)
{
}

TEST_F(shmem_private, never_touched)
{
	EXPECT_PAGES(self->p, PAGES, PRV_RW);
}

TEST_F(shmem_private, cached)
{
	fill(self->file, PAGES);
	EXPECT_PAGES(self->p, PAGES, PRV_RW | WSQUERY_CACHED);
}

/* The file's own pages, mapped privately. */
TEST_F(shmem_private, present)
{
	fill(self->file, PAGES);
	touch_read(self->p, PAGES);
	EXPECT_PAGES(self->p, PAGES, PRV_RW | WSQUERY_PRESENT);
}

TEST_F(shmem_private, prot_none)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_NONE));
	EXPECT_PAGES(self->p, PAGES, M_NONE | WSQUERY_SHMEM | WSQUERY_COPY | WSQUERY_PRESENT);
}

TEST_F(shmem_private, swapped)
{
	NEED_SWAP();
	fill(self->file, PAGES);
	ASSERT_EQ(0, evict(self->file, PAGES));
	EXPECT_PAGES(self->p, PAGES, PRV_RW | WSQUERY_SWAPPED);
	EXPECT_EQ(0, verify(self->p, PAGES));
}

TEST_F(shmem_private, copy_present)
{
	fill(self->file, PAGES / 2);
	fill(self->p, PAGES);
	EXPECT_PAGES(self->p, PAGES, PRV_RW | WSQUERY_PRESENT | WSQUERY_COPY);
}

TEST_F(shmem_private, copy_swapped)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	EXPECT_PAGES(self->p, PAGES, PRV_RW | WSQUERY_SWAPPED | WSQUERY_COPY);
	EXPECT_EQ(0, verify(self->p, PAGES));
	EXPECT_PAGES(self->p, PAGES, PRV_RW | WSQUERY_PRESENT | WSQUERY_COPY);
}

/* Copy and file both in swap, in different places. */
TEST_F(shmem_private, copy_wins_over_swapped)
{
	NEED_SWAP();
	fill(self->p, PAGES / 2);
	ASSERT_EQ(0, evict(self->p, PAGES / 2));
	fill(self->file, PAGES);
	ASSERT_EQ(0, evict(self->file, PAGES));
	EXPECT_PAGES(self->p, PAGES / 2, PRV_RW | WSQUERY_SWAPPED | WSQUERY_COPY);
	EXPECT_PAGES(self->p + PAGES / 2 * PAGE, PAGES / 2, PRV_RW | WSQUERY_SWAPPED);
	self->p[0] = 1;
	EXPECT_PAGES(self->p, 1, PRV_RW | WSQUERY_PRESENT | WSQUERY_COPY);
}

/* A copy that is dropped lets the file's page be seen again. */
TEST_F(shmem_private, copy_discarded)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, madvise(self->p, PAGES / 2 * PAGE, MADV_DONTNEED));
	EXPECT_PAGES(self->p, PAGES / 2, PRV_RW | WSQUERY_CACHED);
	fill(self->file, PAGES);
	ASSERT_EQ(0, evict(self->file, PAGES));
	EXPECT_PAGES(self->p, PAGES / 2, PRV_RW | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->p + PAGES / 2 * PAGE, PAGES / 2,
		     PRV_RW | WSQUERY_PRESENT | WSQUERY_COPY);
}

static int child_copies(void *arg)
{
	char *p = arg;

	*p = 1;
	return check(p, 1, PRV_RW | WSQUERY_PRESENT | WSQUERY_COPY) ||
	       check(p + PAGE, PAGES - 1, PRV_RW | WSQUERY_SWAPPED | WSQUERY_COPY);
}

TEST_F(shmem_private, copy_forked)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	EXPECT_EQ(0, in_child(child_copies, self->p));
	EXPECT_PAGES(self->p, PAGES, PRV_RW | WSQUERY_SWAPPED | WSQUERY_COPY);
}

TEST_F(shmem_private, read_only)
{
	char *ro = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE, self->fd, 0);

	ASSERT_NE(MAP_FAILED, ro);
	fill(self->file, PAGES);
	EXPECT_PAGES(ro, PAGES, M_RO | WSQUERY_SHMEM | WSQUERY_CACHED);
	touch_read(ro, PAGES);
	EXPECT_PAGES(ro, PAGES, M_RO | WSQUERY_SHMEM | WSQUERY_PRESENT);
}

TEST_F(shmem_private, executable)
{
	fill(self->file, PAGES);
	touch_read(self->p, PAGES);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_READ | PROT_EXEC));
	EXPECT_PAGES(self->p, PAGES,
		     M_RO | WSQUERY_SHMEM | WSQUERY_EXECUTABLE | WSQUERY_PRESENT);
}

/* A read brings the file's page in, not a copy. */
TEST_F(shmem_private, read_back)
{
	NEED_SWAP();
	fill(self->file, PAGES);
	ASSERT_EQ(0, evict(self->file, PAGES));
	touch_read(self->p + 9 * PAGE, 1);
	EXPECT_PAGES(self->p, 9, PRV_RW | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->p + 9 * PAGE, 1, PRV_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + 10 * PAGE, PAGES - 10, PRV_RW | WSQUERY_SWAPPED);
}

TEST_F(shmem_private, past_the_end)
{
	fill(self->p, PAGES / 2);
	fill(self->file + PAGES / 2 * PAGE, PAGES / 2);
	ASSERT_EQ(0, ftruncate(self->fd, 10 * PAGE));
	EXPECT_PAGES(self->p, 10, PRV_RW | WSQUERY_PRESENT | WSQUERY_COPY);
	EXPECT_PAGES(self->p + 10 * PAGE, PAGES - 10, PRV_RW);
}

TEST_F(shmem_private, locked)
{
	ASSERT_EQ(0, mlock(self->p, PAGES * PAGE));
	EXPECT_PAGES(self->p, PAGES,
		     PRV_RW | WSQUERY_LOCKED | WSQUERY_PRESENT | WSQUERY_COPY);
}

TEST_HARNESS_MAIN
