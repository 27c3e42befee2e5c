// SPDX-License-Identifier: GPL-2.0
/*
 * Private mappings of regular files: their private copies, and the file's own
 * pages where there is none.
 */
#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64
#define FILE_RW	(M_RW | WSQUERY_FILE)
#define FILE_RO	(M_RO | WSQUERY_FILE)

FIXTURE(file_private) {
	int fd;
	char *p;	/* never touched */
};

FIXTURE_VARIANT(file_private) {
	bool disk;
};

FIXTURE_VARIANT_ADD(file_private, ramfs) { .disk = false };
FIXTURE_VARIANT_ADD(file_private, disk) { .disk = true };

FIXTURE_SETUP(file_private)
{
	if (variant->disk && !getenv("WSQUERY_DISK"))
		SKIP(return, "no disk: WSQUERY_DISK is not set");
	own();
	self->fd = regular_file(variant->disk, PAGES);
	ASSERT_LE(0, self->fd);
	self->p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->p);
}

FIXTURE_TEARDOWN(file_private)
{
}

TEST_F(file_private, read_only)
{
	ASSERT_EQ(0, cache_file(self->fd, PAGES));
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_READ));
	EXPECT_PAGES(self->p, PAGES, FILE_RO | WSQUERY_CACHED);
	touch_read(self->p, PAGES);
	EXPECT_PAGES(self->p, PAGES, FILE_RO | WSQUERY_PRESENT);
}

TEST_F(file_private, prot_none)
{
	ASSERT_EQ(0, cache_file(self->fd, PAGES));
	touch_read(self->p, PAGES);
	fill(self->p, PAGES / 2);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_NONE));
	EXPECT_PAGES(self->p, PAGES / 2, M_NONE | WSQUERY_FILE | WSQUERY_PRESENT | WSQUERY_COPY);
	EXPECT_PAGES(self->p + PAGES / 2 * PAGE, PAGES / 2,
		     M_NONE | WSQUERY_FILE | WSQUERY_PRESENT);
}

TEST_F(file_private, copy_present)
{
	ASSERT_EQ(0, cache_file(self->fd, PAGES));
	fill(self->p, PAGES / 2);
	EXPECT_PAGES(self->p, PAGES / 2, FILE_RW | WSQUERY_PRESENT | WSQUERY_COPY);
	EXPECT_PAGES(self->p + PAGES / 2 * PAGE, PAGES / 2, FILE_RW | WSQUERY_CACHED);
}

TEST_F(file_private, copy_swapped)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	EXPECT_PAGES(self->p, PAGES, FILE_RW | WSQUERY_SWAPPED | WSQUERY_COPY);
	EXPECT_EQ(0, verify(self->p, PAGES));
}

TEST_F(file_private, copy_discarded)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, madvise(self->p, PAGES * PAGE, MADV_DONTNEED));
	EXPECT_PAGES(self->p, PAGES, FILE_RW | WSQUERY_CACHED);
}

TEST_F(file_private, executable)
{
	char *p;

	ASSERT_EQ(0, cache_file(self->fd, PAGES));
	p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, self->fd, 0);
	if (p == MAP_FAILED)
		SKIP(return, "the file system permits no execution");
	touch_read(p, PAGES);
	EXPECT_PAGES(p, PAGES, M_RO | WSQUERY_EXECUTABLE | WSQUERY_FILE | WSQUERY_PRESENT);
}

TEST_F(file_private, copy_read_back)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	touch_read(self->p + 9 * PAGE, 1);
	EXPECT_PAGES(self->p, 9, FILE_RW | WSQUERY_SWAPPED | WSQUERY_COPY);
	EXPECT_PAGES(self->p + 9 * PAGE, 1, FILE_RW | WSQUERY_PRESENT | WSQUERY_COPY);
	EXPECT_PAGES(self->p + 10 * PAGE, PAGES - 10, FILE_RW | WSQUERY_SWAPPED | WSQUERY_COPY);
}

static int child_sees(void *p)
{
	if (check(p, PAGES / 2, FILE_RW | WSQUERY_SWAPPED | WSQUERY_COPY))
		return 1;
	touch_read(p, 1);
	return !!check(p, 1, FILE_RW | WSQUERY_PRESENT | WSQUERY_COPY);
}

TEST_F(file_private, copy_forked)
{
	NEED_SWAP();
	fill(self->p, PAGES / 2);
	ASSERT_EQ(0, evict(self->p, PAGES / 2));
	EXPECT_EQ(0, in_child(child_sees, self->p));
	EXPECT_PAGES(self->p, PAGES / 2, FILE_RW | WSQUERY_SWAPPED | WSQUERY_COPY);
}

/* Cutting the file takes its private copies too. */
TEST_F(file_private, past_the_end)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, ftruncate(self->fd, 10 * PAGE));
	EXPECT_PAGES(self->p, 10, FILE_RW | WSQUERY_PRESENT | WSQUERY_COPY);
	EXPECT_PAGES(self->p + 10 * PAGE, PAGES - 10, FILE_RW);
}

TEST_F(file_private, locked)
{
	ASSERT_EQ(0, mlock(self->p, PAGES * PAGE));
	EXPECT_PAGES(self->p, PAGES, FILE_RW | WSQUERY_LOCKED | WSQUERY_PRESENT | WSQUERY_COPY);
}

TEST_HARNESS_MAIN
