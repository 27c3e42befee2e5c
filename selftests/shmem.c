// SPDX-License-Identifier: GPL-2.0
/*
 * Shared memory by all four routes in every state, above all in swap, which a
 * page table cannot tell from a hole.
 */
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/shm.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64
#define SHM_RW	(M_RW | WSQUERY_SHMEM | WSQUERY_SHARED)
#define SHM_RO	(M_RO | WSQUERY_SHMEM | WSQUERY_SHARED)

enum route { ANONYMOUS, MEMFD, TMPFS, SYSV };

FIXTURE(shmem) {
	char *p;
	int fd;
	int id;
};

FIXTURE_VARIANT(shmem) {
	enum route route;
};

FIXTURE_VARIANT_ADD(shmem, anonymous) { .route = ANONYMOUS };
FIXTURE_VARIANT_ADD(shmem, memfd) { .route = MEMFD };
FIXTURE_VARIANT_ADD(shmem, tmpfs) { .route = TMPFS };
FIXTURE_VARIANT_ADD(shmem, sysv) { .route = SYSV };

/* A file on a tmpfs of its own, which goes with the last descriptor. */
static int tmpfs_file(void)
{
	char dir[] = "/tmp/wsq-tmpfs-XXXXXX", name[64];
	int fd = -1;

	if (!mkdtemp(dir))
		return -1;
	if (!mount("tmpfs", dir, "tmpfs", 0, "")) {
		snprintf(name, sizeof(name), "%s/file", dir);
		fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		umount2(dir, MNT_DETACH);
	}
	rmdir(dir);
	return fd;
}

static int new_file(enum route route)
{
	int fd = route == MEMFD ? memfd_create("wsquery", MFD_CLOEXEC) : tmpfs_file();

	return fd < 0 || ftruncate(fd, PAGES * PAGE) ? -1 : fd;
}

FIXTURE_SETUP(shmem)
{
	own();
	self->fd = -1;
	self->id = -1;
	if (variant->route == MEMFD || variant->route == TMPFS) {
		self->fd = new_file(variant->route);
		ASSERT_LE(0, self->fd);
	} else if (variant->route == SYSV) {
		self->id = shmget(IPC_PRIVATE, PAGES * PAGE, 0600);
		ASSERT_LE(0, self->id);
		self->p = shmat(self->id, NULL, 0);
		ASSERT_EQ(0, shmctl(self->id, IPC_RMID, NULL));
		ASSERT_NE((void *)-1, self->p);
		return;
	}
	self->p = map_shared(self->fd, PAGES);
	ASSERT_NE(NULL, self->p);
}

FIXTURE_TEARDOWN(shmem)
{
}

/* The same memory a second time, with an empty page table. */
static char *again(char *p, int fd, int id)
{
	if (id >= 0)
		return shmat(id, NULL, 0);
	if (fd >= 0)
		return map_shared(fd, PAGES);
	return mremap(p, 0, PAGES * PAGE, MREMAP_MAYMOVE);
}

TEST_F(shmem, never_touched)
{
	EXPECT_PAGES(self->p, PAGES, SHM_RW);
}

TEST_F(shmem, present)
{
	fill(self->p, PAGES);
	EXPECT_PAGES(self->p, PAGES, SHM_RW | WSQUERY_PRESENT);
}

/* Reading a hole of shared memory makes a page: there is no zero page here. */
TEST_F(shmem, zero_page)
{
	touch_read(self->p, PAGES);
	EXPECT_PAGES(self->p, PAGES, SHM_RW | WSQUERY_PRESENT);
}

TEST_F(shmem, prot_none)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_NONE));
	EXPECT_PAGES(self->p, PAGES,
		     M_NONE | WSQUERY_SHMEM | WSQUERY_SHARED | WSQUERY_PRESENT);
}

TEST_F(shmem, swapped)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	EXPECT_PAGES(self->p, PAGES, SHM_RW | WSQUERY_SWAPPED);
	EXPECT_EQ(0, verify(self->p, PAGES));
	EXPECT_PAGES(self->p, PAGES, SHM_RW | WSQUERY_PRESENT);
}

TEST_F(shmem, swapped_and_read_again)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	touch_read(self->p + 9 * PAGE, 1);
	EXPECT_PAGES(self->p, 9, SHM_RW | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->p + 9 * PAGE, 1, SHM_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + 10 * PAGE, PAGES - 10, SHM_RW | WSQUERY_SWAPPED);
}

/* What a VM snapshot must tell apart: in swap, never written, in memory. */
TEST_F(shmem, swapped_beside_holes)
{
	int third = PAGES / 4;

	NEED_SWAP();
	fill(self->p, third);
	ASSERT_EQ(0, evict(self->p, third));
	fill(self->p + 2 * third * PAGE, third);
	EXPECT_PAGES(self->p, third, SHM_RW | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->p + third * PAGE, third, SHM_RW);
	EXPECT_PAGES(self->p + 2 * third * PAGE, third, SHM_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + 3 * third * PAGE, PAGES - 3 * third, SHM_RW);
}

TEST_F(shmem, cached)
{
	char *other = again(self->p, self->fd, self->id);

	ASSERT_NE(NULL, other);
	fill(self->p, PAGES);
	EXPECT_PAGES(other, PAGES, SHM_RW | WSQUERY_CACHED);
	ASSERT_EQ(0, madvise(self->p, PAGES * PAGE, MADV_DONTNEED));
	EXPECT_PAGES(self->p, PAGES, SHM_RW | WSQUERY_CACHED);
}

TEST_F(shmem, read_only)
{
	fill(self->p, PAGES / 2);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_READ));
	EXPECT_PAGES(self->p, PAGES / 2, SHM_RO | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + PAGES / 2 * PAGE, PAGES / 2, SHM_RO);
}

/* In swap by one mapping's doing; a second mapping of it was never used. */
TEST_F(shmem, swapped_elsewhere)
{
	char *other;

	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	other = again(self->p, self->fd, self->id);
	ASSERT_NE(NULL, other);
	EXPECT_PAGES(other, PAGES, SHM_RW | WSQUERY_SWAPPED);
	munmap(self->p, PAGES * PAGE);
	EXPECT_PAGES(other, PAGES, SHM_RW | WSQUERY_SWAPPED);
	EXPECT_EQ(0, verify(other, PAGES));
}

static int fill_and_evict(void *p)
{
	fill(p, PAGES);
	return evict(p, PAGES) ? 1 : 0;
}

/* Written and paged out by another process; this one never mapped a page of it. */
TEST_F(shmem, swapped_by_another_process)
{
	NEED_SWAP();
	ASSERT_EQ(0, in_child(fill_and_evict, self->p));
	EXPECT_PAGES(self->p, PAGES, SHM_RW | WSQUERY_SWAPPED);
	EXPECT_EQ(0, verify(self->p, PAGES));
}

TEST_F(shmem, punched)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	ASSERT_EQ(0, madvise(self->p + 8 * PAGE, 8 * PAGE, MADV_REMOVE));
	EXPECT_PAGES(self->p, 8, SHM_RW | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->p + 8 * PAGE, 8, SHM_RW);
	EXPECT_PAGES(self->p + 16 * PAGE, PAGES - 16, SHM_RW | WSQUERY_SWAPPED);
}

/* What a page of the mapping is of the object is not what it is of the mapping. */
TEST_F(shmem, mapped_from_the_middle)
{
	char *middle = self->p + 16 * PAGE;

	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	ASSERT_EQ(0, madvise(middle + 4 * PAGE, PAGE, MADV_REMOVE));
	ASSERT_EQ(0, munmap(self->p, 16 * PAGE));
	EXPECT_PAGES(middle, 4, SHM_RW | WSQUERY_SWAPPED);
	EXPECT_PAGES(middle + 4 * PAGE, 1, SHM_RW);
	EXPECT_PAGES(middle + 5 * PAGE, PAGES - 21, SHM_RW | WSQUERY_SWAPPED);
}

TEST_F(shmem, executable)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_READ | PROT_EXEC));
	EXPECT_PAGES(self->p, PAGES, SHM_RO | WSQUERY_EXECUTABLE | WSQUERY_PRESENT);
}

/* A child's page table of shared memory begins empty. */
static int child_sees(void *p)
{
	if (check(p, PAGES, SHM_RW | WSQUERY_CACHED))
		return 1;
	touch_read(p, PAGES);
	return !!check(p, PAGES, SHM_RW | WSQUERY_PRESENT);
}

TEST_F(shmem, forked)
{
	fill(self->p, PAGES);
	EXPECT_EQ(0, in_child(child_sees, self->p));
	EXPECT_PAGES(self->p, PAGES, SHM_RW | WSQUERY_PRESENT);
}

TEST_F(shmem, locked)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, mlock(self->p, PAGES * PAGE));
	EXPECT_PAGES(self->p, PAGES, SHM_RW | WSQUERY_LOCKED | WSQUERY_PRESENT);
}

/* What takes a descriptor to do. */
FIXTURE(shmem_file) {
	char *p;
	int fd;
};

FIXTURE_VARIANT(shmem_file) {
	enum route route;
};

FIXTURE_VARIANT_ADD(shmem_file, memfd) { .route = MEMFD };
FIXTURE_VARIANT_ADD(shmem_file, tmpfs) { .route = TMPFS };

FIXTURE_SETUP(shmem_file)
{
	own();
	self->fd = new_file(variant->route);
	ASSERT_LE(0, self->fd);
	self->p = map_shared(self->fd, PAGES);
	ASSERT_NE(NULL, self->p);
}

FIXTURE_TEARDOWN(shmem_file)
{
}

TEST_F(shmem_file, past_the_end)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	ASSERT_EQ(0, ftruncate(self->fd, 10 * PAGE));
	EXPECT_PAGES(self->p, 10, SHM_RW | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->p + 10 * PAGE, PAGES - 10, SHM_RW);
}

/*
 * fallocate(2) makes pages that nobody wrote or mapped: memory all the same. To
 * mincore(2) they are not, since they are not up to date yet.
 */
TEST_F(shmem_file, allocated)
{
	__u64 flags[PAGES];
	int i;

	ASSERT_EQ(0, fallocate(self->fd, 0, 0, PAGES / 2 * PAGE));
	EXPECT_PAGES(self->p + PAGES / 2 * PAGE, PAGES / 2, SHM_RW);
	ASSERT_EQ(0, wsq_wide(own(), self->p, PAGES / 2, flags));
	for (i = 0; i < PAGES / 2; i++)
		EXPECT_EQ(SHM_RW | WSQUERY_CACHED, flags[i] & ~VOLATILE_ATTRS);
	EXPECT_EQ(0, check_forms(own(), self->p, PAGES / 2, flags));
	touch_read(self->p, PAGES / 2);
	EXPECT_PAGES(self->p, PAGES / 2, SHM_RW | WSQUERY_PRESENT);
}

TEST_F(shmem_file, mapped_from_an_offset)
{
	char *p = mmap(NULL, 8 * PAGE, PROT_READ, MAP_SHARED, self->fd, 18 * PAGE);

	NEED_SWAP();
	ASSERT_NE(MAP_FAILED, p);
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	ASSERT_EQ(0, madvise(self->p + 20 * PAGE, PAGE, MADV_REMOVE));
	EXPECT_PAGES(p, 2, SHM_RO | WSQUERY_SWAPPED);
	EXPECT_PAGES(p + 2 * PAGE, 1, SHM_RO);
	EXPECT_PAGES(p + 3 * PAGE, 5, SHM_RO | WSQUERY_SWAPPED);
}

TEST_HARNESS_MAIN
