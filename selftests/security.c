// SPDX-License-Identifier: GPL-2.0
/*
 * What is behind a hole of a file or of shared memory is told only to who owns
 * the file or may write it. Page-table entries of one's own are always told.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64

/* A file of root's on a file system that all may enter. */
FIXTURE(security) {
	char dir[32];
	char path[64];
	int fd;
	__u64 kind;
	mode_t mode;	/* given to the file before the other user looks */
	bool readable_only;
};

FIXTURE_VARIANT(security) {
	bool shmem;
	bool private;
	bool swapped;
};

FIXTURE_VARIANT_ADD(security, file_shared) {};
FIXTURE_VARIANT_ADD(security, file_private) { .private = true };
FIXTURE_VARIANT_ADD(security, shmem_shared) { .shmem = true };
FIXTURE_VARIANT_ADD(security, shmem_private) { .shmem = true, .private = true };
FIXTURE_VARIANT_ADD(security, shmem_swapped) { .shmem = true, .swapped = true };

FIXTURE_SETUP(security)
{
	char *p;

	NEED_ROOT();
	if (variant->swapped)
		NEED_SWAP();
	own();
	snprintf(self->dir, sizeof(self->dir), "/tmp/wsq-XXXXXX");
	if (variant->shmem) {
		ASSERT_NE(NULL, mkdtemp(self->dir));
		ASSERT_EQ(0, mount("tmpfs", self->dir, "tmpfs", 0, "mode=0777"));
	} else {
		ASSERT_EQ(0, mount_ramfs(self->dir));
	}
	ASSERT_EQ(0, chmod(self->dir, 0777));
	snprintf(self->path, sizeof(self->path), "%s/file", self->dir);
	self->fd = open(self->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, fchmod(self->fd, 0644));
	ASSERT_EQ(0, ftruncate(self->fd, PAGES * PAGE));
	/* The first half exists. */
	p = map_shared(self->fd, PAGES);
	ASSERT_NE(NULL, p);
	fill(p, PAGES / 2);
	if (variant->swapped)
		ASSERT_EQ(0, evict(p, PAGES / 2));
	munmap(p, PAGES * PAGE);
	self->kind = M_RO | (variant->shmem ? WSQUERY_SHMEM : WSQUERY_FILE) |
		     (variant->private ? 0 : WSQUERY_SHARED);
}

FIXTURE_TEARDOWN(security)
{
	umount2(self->dir, MNT_DETACH);
	rmdir(self->dir);
}

struct view {
	const char *path;
	int flags;
	__u64 kind;
	__u64 behind;	/* what is told of the first half */
	__u64 hole;	/* and of the second */
	int not_told;
};

static char *map_file(const struct view *v)
{
	int fd = open(v->path, O_RDONLY | O_CLOEXEC);
	char *p = mmap(NULL, PAGES * PAGE, PROT_READ, v->flags, fd, 0);

	if (fd < 0 || p == MAP_FAILED) {
		perror("# the file");
		return NULL;
	}
	close(fd);
	return p;
}

static int sees(void *arg)
{
	struct view *v = arg;
	char *p = map_file(v);
	struct wsquery_region r[PAGES];
	struct wsquery_count c;
	__u8 bytes[PAGES];
	struct wsq q;
	size_t n;
	int bad;

	if (!p || wsq_open(&q))
		return 1;
	bad = check(p, PAGES / 2, v->kind | v->behind);
	bad += check(p + PAGES / 2 * PAGE, PAGES / 2, v->kind | v->hole);
	/* The number is told by every form, without the attribute too. */
	q.attrs = v->kind & WSQUERY_SHMEM ? 0 : WSQUERY_CACHED;
	bad += wsq_count(&q, (uintptr_t)p, PAGES * PAGE, 0, 0, &c) ||
	       q.not_told != (__u64)v->not_told || c.mapped != PAGES;
	bad += wsq_regions(&q, (uintptr_t)p, PAGES * PAGE, 0, r, PAGES, &n) ||
	       q.not_told != (__u64)v->not_told;
	/* Bytes have no attributes, so nothing of other files is kept back from them. */
	q.attrs = 0;
	bad += wsq_bytes(&q, p, PAGES, bytes) ||
	       q.not_told != (v->kind & WSQUERY_SHMEM ? (__u64)v->not_told : 0);
	if (bad)
		fprintf(stderr, "# %d wrong, %llu not told, expected %d\n", bad,
			(unsigned long long)q.not_told, v->not_told);
	return !!bad;
}

static void view_init(struct view *v, const char *path, __u64 kind, bool private, __u64 behind)
{
	v->path = path;
	v->flags = private ? MAP_PRIVATE : MAP_SHARED;
	v->kind = kind;
	v->behind = behind;
	v->hole = behind & WSQUERY_NOT_TOLD;
	v->not_told = behind & WSQUERY_NOT_TOLD ? PAGES : 0;
}

#define TOLD	(variant->swapped ? WSQUERY_SWAPPED : WSQUERY_CACHED)

TEST_F(security, reader_is_not_told)
{
	struct view v;

	view_init(&v, self->path, self->kind, variant->private, WSQUERY_NOT_TOLD);
	EXPECT_EQ(0, as_user(ORDINARY_UID, sees, &v));
}

TEST_F(security, root_is_told)
{
	struct view v;

	view_init(&v, self->path, self->kind, variant->private, TOLD);
	EXPECT_EQ(0, in_child(sees, &v));
}

/* Who owns it needs no capabilities. */
TEST_F(security, owner_is_told)
{
	struct view v;

	view_init(&v, self->path, self->kind, variant->private, TOLD);
	EXPECT_EQ(0, without_caps(sees, &v));
	ASSERT_EQ(0, fchown(self->fd, ORDINARY_UID, ORDINARY_UID));
	ASSERT_EQ(0, fchmod(self->fd, 0444));
	EXPECT_EQ(0, as_user(ORDINARY_UID, sees, &v));
	view_init(&v, self->path, self->kind, variant->private, WSQUERY_NOT_TOLD);
	EXPECT_EQ(0, as_user(ORDINARY_UID + 1, sees, &v));
}

/* Who may write it, even if it was opened to be read. */
TEST_F(security, writer_is_told)
{
	struct view v;

	view_init(&v, self->path, self->kind, variant->private, TOLD);
	ASSERT_EQ(0, fchmod(self->fd, 0666));
	EXPECT_EQ(0, as_user(ORDINARY_UID, sees, &v));
}

/* Root of a namespace of its own is nobody to root's file. */
TEST_F(security, namespace_root_is_not_told)
{
	struct view v;

	view_init(&v, self->path, self->kind, variant->private, WSQUERY_NOT_TOLD);
	EXPECT_EQ(0, in_user_ns(ORDINARY_UID, sees, &v));
}

/* mincore makes up residency where this says that it may not tell. */
static int mincore_makes_it_up(void *arg)
{
	struct view *v = arg;
	char *p = map_file(v);
	unsigned char core[PAGES];
	int i;

	if (!p || mincore(p, PAGES * PAGE, core))
		return 1;
	for (i = 0; i < PAGES; i++)
		if (!(core[i] & 1))
			return 1;
	return 0;
}

TEST_F(security, rule_is_mincores)
{
	struct view v;

	view_init(&v, self->path, self->kind, variant->private, WSQUERY_NOT_TOLD);
	EXPECT_EQ(0, as_user(ORDINARY_UID, mincore_makes_it_up, &v));
	EXPECT_EQ(1, in_child(mincore_makes_it_up, &v));
}

/* The pages that the caller's own page table has are the caller's to know. */
static int sees_its_own(void *arg)
{
	struct view *v = arg;
	char *p = map_file(v);
	__u64 f[PAGES], pm[PAGES];
	int fd = pagemap_open(0), i, present = 0;
	struct wsq q;

	if (!p || wsq_open(&q))
		return 1;
	touch_read(p + 5 * PAGE, 1);
	touch_read(p + 40 * PAGE, 1);
	if (wsq_wide(&q, p, PAGES, f) || pagemap_read(fd, p, PAGES, pm) ||
	    check_forms(&q, p, PAGES, f))
		return 2;
	for (i = 0; i < PAGES; i++) {
		__u64 expected = v->kind | (pm[i] & PM_PRESENT ? WSQUERY_PRESENT :
					    WSQUERY_NOT_TOLD);

		if ((f[i] & ~VOLATILE_ATTRS) != expected)
			return 3;
		present += !!(pm[i] & PM_PRESENT);
	}
	return present < 2 || q.not_told > (__u64)(PAGES - present);
}

TEST_F(security, own_entries_are_told)
{
	struct view v;

	view_init(&v, self->path, self->kind, variant->private, WSQUERY_NOT_TOLD);
	EXPECT_EQ(0, as_user(ORDINARY_UID, sees_its_own, &v));
}

static int copies_are_told(void *arg)
{
	struct view *v = arg;
	char *p = map_file(v);
	__u64 kind;

	if (!p || mprotect(p, PAGES * PAGE, PROT_READ | PROT_WRITE))
		return 1;
	memset(p + 3 * PAGE, 1, PAGE);
	kind = v->kind | WSQUERY_WRITABLE;
	return check(p + 3 * PAGE, 1, kind | WSQUERY_PRESENT | WSQUERY_COPY) ||
	       check(p + 4 * PAGE, PAGES - 4, kind | WSQUERY_NOT_TOLD);
}

TEST_F(security, private_copies_are_told)
{
	struct view v;

	view_init(&v, self->path, self->kind, true, WSQUERY_NOT_TOLD);
	v.kind &= ~WSQUERY_SHARED;
	EXPECT_EQ(0, as_user(ORDINARY_UID, copies_are_told, &v));
}

static int anonymous_is_told(void *arg)
{
	char *p = map_anon(8), *s = map_shared(-1, 8);

	(void)arg;
	return check(p, 8, M_RW) || check(s, 8, M_RW | WSQUERY_SHMEM | WSQUERY_SHARED);
}

TEST(anonymous_memory_is_told)
{
	NEED_ROOT();
	EXPECT_EQ(0, as_user(ORDINARY_UID, anonymous_is_told, NULL));
	EXPECT_EQ(0, in_user_ns(ORDINARY_UID, anonymous_is_told, NULL));
}

/* The kernel tells of the poison by a signal too. */
static void ignore(int sig)
{
	(void)sig;
}

/* No entry has the number of a page's frame, though this caller may read it in pagemap. */
TEST(frame_numbers_are_not_told)
{
	struct wsquery_page e[8];
	char *p = map_anon(8);
	__u64 pm[8];
	int i;

	NEED_ROOT();
	own();
	fill(p, 4);
	touch_read(p + 4 * PAGE, 2);
	ASSERT_EQ(0, pagemap_read(pagemap_open(0), p, 8, pm));
	signal(SIGBUS, ignore);
	/* Where that does not exist, it is one more page that is there. */
	madvise(p + 3 * PAGE, PAGE, MADV_HWPOISON);
	ASSERT_EQ(0, wsq_pages(own(), p, 8, 16, e));
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(i < 6, !!(pm[i] & PM_FRAME));
		EXPECT_EQ(0, e[i].swap);
		EXPECT_EQ(0, e[i].flags & ~(ALL_ATTRS | WSQUERY_STATE_MASK));
	}
}

static int opens(void *arg)
{
	(void)arg;
	return open("/dev/wsquery", O_RDONLY | O_CLOEXEC) < 0 ||
	       open("/dev/wsquery", O_RDWR | O_CLOEXEC) < 0;
}

TEST(everybody_may_open_the_device)
{
	NEED_ROOT();
	EXPECT_EQ(0, as_user(ORDINARY_UID, opens, NULL));
}

TEST_HARNESS_MAIN
