// SPDX-License-Identifier: GPL-2.0
/*
 * Regular files: on a ramfs, which needs no disk, and on a disk if there is one
 * (WSQUERY_DISK names a directory on it), whose pages can be reclaimed.
 */
#include <fcntl.h>
#include <sys/mount.h>

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

static int new_file(bool disk)
{
	char dir[] = "/tmp/wsq-ramfs-XXXXXX", name[256];
	const char *on_disk = getenv("WSQUERY_DISK");
	int fd;

	if (disk) {
		snprintf(name, sizeof(name), "%s/wsq-XXXXXX", on_disk);
		fd = mkostemp(name, O_CLOEXEC);
		unlink(name);
		return fd;
	}
	if (mount_ramfs(dir))
		return -1;
	snprintf(name, sizeof(name), "%s/file", dir);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
	return fd;
}

FIXTURE_SETUP(file)
{
	if (variant->disk && !getenv("WSQUERY_DISK"))
		SKIP(return, "no disk: WSQUERY_DISK is not set");
	own();
	self->fd = new_file(variant->disk);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ftruncate(self->fd, PAGES * PAGE));
	self->p = map_shared(self->fd, PAGES);
	ASSERT_NE(NULL, self->p);
	self->priv = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->priv);
}

FIXTURE_TEARDOWN(file)
{
}

/* In the page cache, by way of the descriptor. */
static int cache(int fd)
{
	char page[PAGE];
	int i;

	for (i = 0; i < PAGES; i++) {
		fill(page, 1);
		if (pwrite(fd, page, PAGE, i * PAGE) != (ssize_t)PAGE)
			return -1;
	}
	return fsync(fd);
}

TEST_F(file, never_touched)
{
	EXPECT_PAGES(self->p, PAGES, FILE_RW);
	EXPECT_PAGES(self->priv, PAGES, PRV_RW);
}

/* Mapped is not resident, and resident in the page cache is not mapped. */
TEST_F(file, cached)
{
	ASSERT_EQ(0, cache(self->fd));
	EXPECT_PAGES(self->p, PAGES, FILE_RW | WSQUERY_CACHED);
	EXPECT_PAGES(self->priv, PAGES, PRV_RW | WSQUERY_CACHED);
}

TEST_F(file, present)
{
	ASSERT_EQ(0, cache(self->fd));
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

	ASSERT_EQ(0, cache(self->fd));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", self->fd);
	fd = open(path, O_RDONLY);
	ASSERT_LE(0, fd);
	p = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	EXPECT_PAGES(p, PAGES, FILE_RO | WSQUERY_CACHED);
	touch_read(p, PAGES);
	EXPECT_PAGES(p, PAGES, FILE_RO | WSQUERY_PRESENT);
}

TEST_F(file, executable)
{
	char *p;

	ASSERT_EQ(0, cache(self->fd));
	p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, self->fd, 0);
	if (p == MAP_FAILED)
		SKIP(return, "the file system permits no execution");
	touch_read(p, PAGES);
	EXPECT_PAGES(p, PAGES, M_RO | WSQUERY_EXECUTABLE | WSQUERY_FILE | WSQUERY_PRESENT);
}

TEST_F(file, copy_present)
{
	ASSERT_EQ(0, cache(self->fd));
	fill(self->priv, PAGES / 2);
	EXPECT_PAGES(self->priv, PAGES / 2, PRV_RW | WSQUERY_PRESENT | WSQUERY_COPY);
	EXPECT_PAGES(self->priv + PAGES / 2 * PAGE, PAGES / 2, PRV_RW | WSQUERY_CACHED);
}

TEST_F(file, copy_swapped)
{
	NEED_SWAP();
	fill(self->priv, PAGES);
	ASSERT_EQ(0, evict(self->priv, PAGES));
	EXPECT_PAGES(self->priv, PAGES, PRV_RW | WSQUERY_SWAPPED | WSQUERY_COPY);
	EXPECT_EQ(0, verify(self->priv, PAGES));
}

TEST_F(file, copy_discarded)
{
	fill(self->priv, PAGES);
	ASSERT_EQ(0, madvise(self->priv, PAGES * PAGE, MADV_DONTNEED));
	EXPECT_PAGES(self->priv, PAGES, PRV_RW | WSQUERY_CACHED);
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
	self->fd = new_file(true);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ftruncate(self->fd, PAGES * PAGE));
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

	ASSERT_EQ(0, cache(self->fd));
	touch_read(self->p, PAGES);
	for (i = 0; i < 50 && in_core(self->p); i++) {
		ASSERT_EQ(0, madvise(self->p, PAGES * PAGE, MADV_PAGEOUT));
		usleep(20000);
	}
	ASSERT_FALSE(in_core(self->p));
	EXPECT_PAGES(self->p, PAGES, FILE_RW);
	EXPECT_PAGES(self->priv, PAGES, PRV_RW);
}

TEST_F(disk, dropped)
{
	ASSERT_EQ(0, cache(self->fd));
	ASSERT_EQ(0, posix_fadvise(self->fd, 0, PAGES * PAGE, POSIX_FADV_DONTNEED));
	ASSERT_FALSE(in_core(self->p));
	EXPECT_PAGES(self->p, PAGES, FILE_RW);
}

/* The cache of a block device belongs to another inode than the device node. */
TEST_F(disk, block_device)
{
	char name[128], dir[128], page[PAGE], *p;
	FILE *mounts = fopen("/proc/mounts", "r");
	int fd = -1, i;

	while (mounts && fscanf(mounts, "%127s %127s %*[^\n]", name, dir) == 2)
		if (!strcmp(dir, getenv("WSQUERY_DISK")))
			fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		SKIP(return, "the disk's device was not found");
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	p = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	for (i = 0; i < PAGES; i += 2)
		ASSERT_EQ((ssize_t)PAGE, pread(fd, page, PAGE, i * PAGE));
	/* What is cached is mincore's to say: the file system uses the device too. */
	EXPECT_EQ(0, check_flags(own(), __FILE__, __LINE__, p, PAGES, FILE_RO,
				 ~(VOLATILE_ATTRS | WSQUERY_CACHED)));
	touch_read(p, PAGES);
	EXPECT_PAGES(p, PAGES, FILE_RO | WSQUERY_PRESENT);
}

TEST_HARNESS_MAIN
