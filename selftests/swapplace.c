// SPDX-License-Identifier: GPL-2.0
/*
 * Entries of 16 bytes: the place in swap, which is where the content really is,
 * and who may know it.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64

FIXTURE(swapplace) {
	struct wsq *q;
	struct wsquery_page e[PAGES];
};

FIXTURE_SETUP(swapplace)
{
	NEED_ROOT();
	NEED_SWAP();
	self->q = own();
}

FIXTURE_TEARDOWN(swapplace)
{
}

static int places(struct wsq *q, const char *p, size_t pages, struct wsquery_page *e)
{
	__u64 f[PAGES];
	size_t i;

	if (wsq_pages(q, p, pages, 16, e) || wsq_wide(q, p, pages, f))
		return -1;
	for (i = 0; i < pages; i++)
		if (e[i].flags != f[i] || (!(f[i] & WSQUERY_SWAPPED) && e[i].swap))
			return -1;
	return 0;
}

/* What the swap device has there is what was written to the page. */
static int contents(const struct wsquery_page *e, size_t pages)
{
	char page[PAGE], expected[PAGES * PAGE];
	size_t i, bad = 0;

	fill(expected, pages);
	for (i = 0; i < pages; i++) {
		if (swap_content(e[i].swap, page))
			return -1;
		bad += !!memcmp(page, expected + i * PAGE, PAGE);
	}
	return bad;
}

TEST_F(swapplace, anonymous)
{
	char *p = map_anon(PAGES);
	__u64 pm[PAGES];
	int i;

	fill(p, PAGES);
	ASSERT_EQ(0, evict(p, PAGES));
	ASSERT_EQ(0, places(self->q, p, PAGES, self->e));
	ASSERT_EQ(0, pagemap_read(pagemap_open(0), p, PAGES, pm));
	for (i = 0; i < PAGES; i++) {
		EXPECT_NE(0, pm[i] & PM_FRAME);
		EXPECT_EQ(pm[i] & PM_FRAME, self->e[i].swap);
	}
	EXPECT_EQ(0, contents(self->e, PAGES));
}

/* pagemap has nothing to compare with: the device itself has. */
TEST_F(swapplace, shared)
{
	char *p = map_shared(-1, PAGES);
	int i, k;

	fill(p, PAGES);
	ASSERT_EQ(0, evict(p, PAGES));
	ASSERT_EQ(0, places(self->q, p, PAGES, self->e));
	for (i = 0; i < PAGES; i++)
		for (k = 0; k < i; k++)
			EXPECT_NE(self->e[i].swap, self->e[k].swap);
	EXPECT_EQ(0, contents(self->e, PAGES));
	/* From the middle of it, where a place could be that of another page. */
	ASSERT_EQ(0, wsq_pages(self->q, p + 5 * PAGE, 3, 16, &self->e[5]));
	EXPECT_EQ(0, contents(self->e, 8));
}

/* The page cache of one page has no node: the value hangs at its root. */
TEST_F(swapplace, shared_single_page)
{
	char *p = map_shared(-1, 1);

	ASSERT_NE(NULL, p);
	fill(p, 1);
	ASSERT_EQ(0, evict(p, 1));
	ASSERT_EQ(0, places(self->q, p, 1, self->e));
	EXPECT_TRUE(self->e[0].flags & WSQUERY_SWAPPED);
	EXPECT_EQ(0, contents(self->e, 1));
}

/* Folios of 64 kB go to swap as one; one value stands for 16 places. */
TEST_F(swapplace, large_folios)
{
	const char *knob = "/sys/kernel/mm/transparent_hugepage/hugepages-64kB/shmem_enabled";
	char *p;

	thp_allow();
	if (write_text(knob, "advise"))
		SKIP(return, "no large folios of shared memory");
	p = map_aligned(HUGE2M, HUGE2M, PROT_READ | PROT_WRITE, MAP_SHARED);
	madvise(p, HUGE2M, MADV_HUGEPAGE);
	fill(p, PAGES);
	write_text(knob, "never");
	ASSERT_EQ(0, evict(p, PAGES));
	ASSERT_EQ(0, places(self->q, p, PAGES, self->e));
	EXPECT_EQ(0, contents(self->e, PAGES));
	ASSERT_EQ(0, wsq_pages(self->q, p + 21 * PAGE, 20, 16, &self->e[21]));
	EXPECT_EQ(0, contents(self->e, PAGES));
}

/* Values for a leaf of the page cache and more are in the level above it. */
TEST_F(swapplace, larger_folios)
{
	static const int kbs[] = { 256, 512, 1024 };
	size_t i, at;
	char knob[96], *p;

	thp_allow();
	for (i = 0; i < ARRAY_SIZE(kbs); i++) {
		snprintf(knob, sizeof(knob), THP_DIR "hugepages-%dkB/shmem_enabled", kbs[i]);
		if (write_text(knob, "advise"))
			SKIP(return, "no large folios of shared memory");
		p = map_aligned(HUGE2M, HUGE2M, PROT_READ | PROT_WRITE, MAP_SHARED);
		ASSERT_NE(NULL, p);
		madvise(p, HUGE2M, MADV_HUGEPAGE);
		for (at = 0; at < HUGE2M; at += PAGES * PAGE)
			fill(p + at, PAGES);
		write_text(knob, "never");
		ASSERT_EQ(0, evict(p, HUGE2M / PAGE));
		for (at = 0; at < HUGE2M; at += PAGES * PAGE) {
			ASSERT_EQ(0, places(self->q, p + at, PAGES, self->e));
			EXPECT_EQ(0, contents(self->e, PAGES)) {
				TH_LOG("%d kB, at %zu", kbs[i], at);
			}
		}
		munmap(p, HUGE2M);
	}
}

TEST_F(swapplace, huge_page)
{
	char *p = map_aligned(HUGE2M, HUGE2M, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	__u64 pm[PAGES];
	int i;

	thp_allow();
	madvise(p, HUGE2M, MADV_HUGEPAGE);
	fill(p, 512);
	ASSERT_EQ(0, evict(p, 512));
	ASSERT_EQ(0, places(self->q, p, PAGES, self->e));
	ASSERT_EQ(0, pagemap_read(pagemap_open(0), p, PAGES, pm));
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(pm[i] & PM_FRAME, self->e[i].swap);
	EXPECT_EQ(0, contents(self->e, PAGES));
}

/* The private copy and the file's page are in different places. */
TEST_F(swapplace, private_copy)
{
	int fd = memfd_create("wsquery", MFD_CLOEXEC), i;
	struct wsquery_page file[PAGES];
	char *shared, *p;

	ASSERT_EQ(0, ftruncate(fd, PAGES * PAGE));
	shared = map_shared(fd, PAGES);
	p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	fill(p, PAGES);
	ASSERT_EQ(0, evict(p, PAGES));
	memset(shared, 0x77, PAGES * PAGE);
	ASSERT_EQ(0, evict(shared, PAGES));
	ASSERT_EQ(0, places(self->q, p, PAGES, self->e));
	ASSERT_EQ(0, places(self->q, shared, PAGES, file));
	EXPECT_EQ(0, contents(self->e, PAGES));
	EXPECT_EQ(PAGES, contents(file, PAGES));
	for (i = 0; i < PAGES; i++)
		EXPECT_NE(file[i].swap, self->e[i].swap);
}

/* The kernel tells of the poison by a signal too. */
static void ignore(int sig)
{
	(void)sig;
}

/* What is in swap behind a private copy that was poisoned is not where it is. */
TEST_F(swapplace, poisoned_copy)
{
	int fd = memfd_create("poisoned", MFD_CLOEXEC);
	char *p, *shared;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ftruncate(fd, 4 * PAGE));
	shared = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	p = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ASSERT_NE(MAP_FAILED, shared);
	ASSERT_NE(MAP_FAILED, p);
	fill(shared, 4);
	p[PAGE] = 1;
	signal(SIGBUS, ignore);
	if (madvise(p + PAGE, PAGE, MADV_HWPOISON))
		SKIP(return, "no MADV_HWPOISON");
	ASSERT_EQ(0, evict(shared, 4));
	ASSERT_EQ(0, places(self->q, p, 4, self->e));
	EXPECT_TRUE(self->e[0].swap);
	EXPECT_FALSE(self->e[1].flags & WSQUERY_SWAPPED);
	EXPECT_EQ(0, self->e[1].swap);
}

TEST_F(swapplace, nowhere)
{
	char *p = map_anon(PAGES);

	fill(p, PAGES / 2);
	touch_read(p + PAGES / 2 * PAGE, 8);
	munmap(p + (PAGES - 4) * PAGE, 4 * PAGE);
	EXPECT_EQ(0, places(self->q, p, PAGES, self->e));
}

static int refused(void *arg)
{
	struct wsquery_page e[8];
	char *p = map_anon(8);
	struct wsq q;

	(void)arg;
	if (wsq_open(&q))
		return 1;
	/* wsq_pages() sees to it that nothing was written. */
	return wsq_pages(&q, p, 8, 16, e) != -EPERM || q.done;
}

TEST_F(swapplace, needs_the_capability)
{
	EXPECT_EQ(0, as_user(ORDINARY_UID, refused, NULL));
	EXPECT_EQ(0, without_caps(refused, NULL));
}

TEST_F(swapplace, not_that_of_a_namespace)
{
	EXPECT_EQ(0, in_user_ns(ORDINARY_UID, refused, NULL));
}

static int uses_an_open_device(void *arg)
{
	struct wsquery_page e[8];
	char *p = map_anon(8);

	return wsq_pages(arg, p, 8, 16, e) ? 1 : 0;
}

/* As with pagemap: who opened the device counts, not who uses it. */
TEST_F(swapplace, opened_by_root_used_by_another)
{
	EXPECT_EQ(0, as_user(ORDINARY_UID, uses_an_open_device, self->q));
	EXPECT_EQ(0, without_caps(uses_an_open_device, self->q));
}

static int opens_for_another(void *arg)
{
	int fd = open("/dev/wsquery", O_RDONLY | O_CLOEXEC);

	return fd < 0 || send_fd(*(int *)arg, fd);
}

TEST_F(swapplace, opened_by_another_used_by_root)
{
	struct wsq q = *self->q;
	char *p = map_anon(8);
	int sockets[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	ASSERT_EQ(0, as_user(ORDINARY_UID, opens_for_another, &sockets[0]));
	q.dev = recv_fd(sockets[1]);
	ASSERT_LE(0, q.dev);
	EXPECT_EQ(-EPERM, wsq_pages(&q, p, 8, 16, self->e));
	EXPECT_EQ(0, wsq_wide(&q, p, 4, (__u64 *)self->e));
}

TEST_HARNESS_MAIN
