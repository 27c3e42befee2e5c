// SPDX-License-Identifier: GPL-2.0
/*
 * Regular files: on a ramfs, which needs no disk, and on a disk if there is one
 * (WSQUERY_DISK names a directory on it), whose pages can be reclaimed.
 */
#include <fcntl.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64
#define FILE_RW	(M_RW | WSQUERY_FILE | WSQUERY_SHARED)
#define FILE_RO	(M_RO | WSQUERY_FILE | WSQUERY_SHARED)
#define PRV_RW	(M_RW | WSQUERY_FILE)

FIXTURE(file) {
	int fd;
	char *p;	/* shared */
	char *priv;	/* private, both never touched */
};

FIXTURE_VARIANT(file) {
	bool disk;
};

FIXTURE_VARIANT_ADD(file, ramfs) { .disk = false };
FIXTURE_VARIANT_ADD(file, disk) { .disk = true };

FIXTURE_SETUP(file)
{
	if (variant->disk && !getenv("WSQUERY_DISK"))
		SKIP(return, "no disk: WSQUERY_DISK is not set");
	own();
	self->fd = regular_file(variant->disk, PAGES);
	ASSERT_LE(0, self->fd);
	self->p = map_shared(self->fd, PAGES);
	ASSERT_NE(NULL, self->p);
	self->priv = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->priv);
}

FIXTURE_TEARDOWN(file)
{
}

TEST_F(file, never_touched)
{
	EXPECT_PAGES(self->p, PAGES, FILE_RW);
	EXPECT_PAGES(self->priv, PAGES, PRV_RW);
}

/* Mapped is not resident, and resident in the page cache is not mapped. */
TEST_F(file, cached)
{
	ASSERT_EQ(0, cache_file(self->fd, PAGES));
	EXPECT_PAGES(self->p, PAGES, FILE_RW | WSQUERY_CACHED);
	EXPECT_PAGES(self->priv, PAGES, PRV_RW | WSQUERY_CACHED);
}

TEST_F(file, present)
{
	ASSERT_EQ(0, cache_file(self->fd, PAGES));
	touch_read(self->p, PAGES);
	EXPECT_PAGES(self->p, PAGES, FILE_RW | WSQUERY_PRESENT);
	touch_read(self->priv, PAGES);
	EXPECT_PAGES(self->priv, PAGES, PRV_RW | WSQUERY_PRESENT);
}

TEST_F(file, written)
{
	fill(self->p, PAGES / 2);
	EXPECT_PAGES(self->p, PAGES / 2, FILE_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->priv, PAGES / 2, PRV_RW | WSQUERY_CACHED);
	ASSERT_EQ(0, msync(self->p, PAGES * PAGE, MS_SYNC));
	EXPECT_PAGES(self->p, PAGES / 2, FILE_RW | WSQUERY_PRESENT);
}

TEST_F(file, prot_none)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_NONE));
	EXPECT_PAGES(self->p, PAGES, M_NONE | WSQUERY_FILE | WSQUERY_SHARED | WSQUERY_PRESENT);
}

TEST_F(file, read_only)
{
	char path[32], *p;
	int fd;

	ASSERT_EQ(0, cache_file(self->fd, PAGES));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->fd);
	fd = open(path, O_RDONLY);
	ASSERT_LE(0, fd);
	p = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	EXPECT_PAGES(p, PAGES, FILE_RO | WSQUERY_CACHED);
	touch_read(p, PAGES);
	EXPECT_PAGES(p, PAGES, FILE_RO | WSQUERY_PRESENT);
}

TEST_F(file, executable_shared)
{
	ASSERT_EQ(0, cache_file(self->fd, PAGES));
	touch_read(self->p, PAGES);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_READ | PROT_EXEC));
	EXPECT_PAGES(self->p, PAGES, FILE_RO | WSQUERY_EXECUTABLE | WSQUERY_PRESENT);
}

TEST_F(file, discarded)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, madvise(self->p, PAGES * PAGE, MADV_DONTNEED));
	EXPECT_PAGES(self->p, PAGES, FILE_RW | WSQUERY_CACHED);
}

/* A child's page table of a file's mapping begins empty. */
static int child_sees(void *p)
{
	if (check(p, PAGES, FILE_RW | WSQUERY_CACHED))
		return 1;
	touch_read(p, PAGES);
	return !!check(p, PAGES, FILE_RW | WSQUERY_PRESENT);
}

TEST_F(file, forked)
{
	fill(self->p, PAGES);
	EXPECT_EQ(0, in_child(child_sees, self->p));
	EXPECT_PAGES(self->p, PAGES, FILE_RW | WSQUERY_PRESENT);
}

TEST_F(file, locked)
{
	ASSERT_EQ(0, mlock(self->p, PAGES * PAGE));
	EXPECT_PAGES(self->p, PAGES, FILE_RW | WSQUERY_LOCKED | WSQUERY_PRESENT);
}

TEST_F(file, past_the_end)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, ftruncate(self->fd, 10 * PAGE));
	EXPECT_PAGES(self->p, 10, FILE_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + 10 * PAGE, PAGES - 10, FILE_RW);
}

/* What takes a disk: pages that leave the page cache. */
FIXTURE(disk) {
	int fd;
	char *p;
	char *priv;
};

FIXTURE_SETUP(disk)
{
	if (!getenv("WSQUERY_DISK"))
		SKIP(return, "no disk: WSQUERY_DISK is not set");
	own();
	self->fd = regular_file(true, PAGES);
	ASSERT_LE(0, self->fd);
	self->p = map_shared(self->fd, PAGES);
	ASSERT_NE(NULL, self->p);
	self->priv = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->priv);
}

FIXTURE_TEARDOWN(disk)
{
}

static bool in_core(const char *p)
{
	unsigned char v[PAGES];
	int i;

	if (mincore((void *)p, PAGES * PAGE, v))
		return true;
	for (i = 0; i < PAGES; i++)
		if (v[i] & 1)
			return true;
	return false;
}

/*
 * A reclaimed page leaves a shadow in the page cache, a value where shared memory
 * has its places in swap. It is a hole.
 */
TEST_F(disk, reclaimed)
{
	int i;

	ASSERT_EQ(0, cache_file(self->fd, PAGES));
	touch_read(self->p, PAGES);
	for (i = 0; i < 200 && in_core(self->p); i++) {
		if (i % 10 == 5)
			lists_drain();
		ASSERT_EQ(0, madvise(self->p, PAGES * PAGE, MADV_PAGEOUT));
		usleep(20000);
	}
	ASSERT_FALSE(in_core(self->p));
	EXPECT_PAGES(self->p, PAGES, FILE_RW);
	EXPECT_PAGES(self->priv, PAGES, PRV_RW);
}

TEST_F(disk, dropped)
{
	ASSERT_EQ(0, cache_file(self->fd, PAGES));
	ASSERT_EQ(0, posix_fadvise(self->fd, 0, PAGES * PAGE, POSIX_FADV_DONTNEED));
	ASSERT_FALSE(in_core(self->p));
	EXPECT_PAGES(self->p, PAGES, FILE_RW);
}

/* The cache of a block device belongs to another inode than the device node. */
TEST_F(disk, block_device)
{
	char name[128], dir[128], page[PAGE], *p;
	FILE *mounts = fopen("/proc/mounts", "r");
	const off_t free_blocks = 20 << 20;
	int fd = -1, i;

	while (mounts && fscanf(mounts, "%127s %127s %*[^\n]", name, dir) == 2)
		if (!strcmp(dir, getenv("WSQUERY_DISK")))
			fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		SKIP(return, "the disk's device was not found");
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	/*
	 * Amid free blocks: of its metadata the file system reads less than a page, which is
	 * in the page cache then, but mincore wants it whole.
	 */
	p = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, free_blocks);
	ASSERT_NE(MAP_FAILED, p);
	for (i = 0; i < PAGES; i += 2)
		ASSERT_EQ((ssize_t)PAGE, pread(fd, page, PAGE, free_blocks + i * PAGE));
	/* What is cached is mincore's to say: the file system uses the device too. */
	EXPECT_EQ(0, check_flags(own(), __FILE__, __LINE__, p, PAGES, FILE_RO,
				 ~(VOLATILE_ATTRS | WSQUERY_CACHED)));
	touch_read(p, PAGES);
	EXPECT_PAGES(p, PAGES, FILE_RO | WSQUERY_PRESENT);
}

TEST_HARNESS_MAIN
