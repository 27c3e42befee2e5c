// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes that come and go: accessed, dirty, soft-dirty, how many map a page,
 * on which node it is. Each is made to change and compared with who knows.
 */
#include <fcntl.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "newer.h"
#include "wsq.h"

#define PAGES	32

FIXTURE(attrs) {
	struct wsq *q;
	char *p;
	__u64 f[PAGES];
};

FIXTURE_SETUP(attrs)
{
	self->q = own();
	self->p = map_anon(PAGES);
	ASSERT_NE(NULL, self->p);
}

FIXTURE_TEARDOWN(attrs)
{
}

static int count_flag(struct wsq *q, const char *p, __u64 *f, __u64 flag)
{
	int i, n = 0;

	if (wsq_wide(q, p, PAGES, f) || check_forms(q, p, PAGES, f) ||
	    compare_peers(q, p, PAGES, f))
		return -1;
	for (i = 0; i < PAGES; i++)
		n += !!(f[i] & flag);
	return n;
}

/* smaps counts the same pages as referenced. */
TEST_F(attrs, accessed)
{
	struct smaps s;
	int n;

	fill(self->p, PAGES);
	EXPECT_EQ(PAGES, count_flag(self->q, self->p, self->f, WSQUERY_ACCESSED));
	ASSERT_EQ(0, write_text("/proc/self/clear_refs", "1"));
	/* The processor may still hold the entries as accessed; this makes it forget. */
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_READ));
	n = count_flag(self->q, self->p, self->f, WSQUERY_ACCESSED);
	EXPECT_EQ(0, n);
	touch_read(self->p + 3 * PAGE, 2);
	n = count_flag(self->q, self->p, self->f, WSQUERY_ACCESSED);
	EXPECT_EQ(2, n);
	EXPECT_NE(0, self->f[3] & WSQUERY_ACCESSED);
	EXPECT_NE(0, self->f[4] & WSQUERY_ACCESSED);
	ASSERT_EQ(0, smaps_of(self->p, &s));
	EXPECT_EQ(n * PAGE / 1024, s.referenced);
}

/* A page of a file that was only read is clean in this mapping. */
TEST_F(attrs, dirty)
{
	int fd = memfd_create("wsquery", MFD_CLOEXEC);
	char *p;

	ASSERT_EQ(0, ftruncate(fd, PAGES * PAGE));
	p = map_shared(fd, PAGES);
	ASSERT_NE(NULL, p);
	ASSERT_EQ(0, fallocate(fd, 0, 0, PAGES * PAGE));
	p = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, p);
	touch_read(p, PAGES);
	EXPECT_EQ(0, count_flag(self->q, p, self->f, WSQUERY_DIRTY));
	ASSERT_EQ(0, mprotect(p, PAGES * PAGE, PROT_READ | PROT_WRITE));
	p[5 * PAGE] = 1;
	EXPECT_EQ(1, count_flag(self->q, p, self->f, WSQUERY_DIRTY));
	EXPECT_NE(0, self->f[5] & WSQUERY_DIRTY);
	fill(self->p, PAGES);
	EXPECT_EQ(PAGES, count_flag(self->q, self->p, self->f, WSQUERY_DIRTY));
}

/* compare_peers() compares each page with bit 55 of pagemap. */
TEST_F(attrs, soft_dirty)
{
	int n;

	if (!(self->q->attrs & WSQUERY_SOFT_DIRTY))
		SKIP(return, "this kernel has no soft-dirty bits");
	fill(self->p, PAGES / 2);
	EXPECT_EQ(PAGES, count_flag(self->q, self->p, self->f, WSQUERY_SOFT_DIRTY));
	ASSERT_EQ(0, write_text("/proc/self/clear_refs", "4"));
	n = count_flag(self->q, self->p, self->f, WSQUERY_SOFT_DIRTY);
	EXPECT_EQ(0, n);
	self->p[2 * PAGE] = 1;
	self->p[(PAGES - 1) * PAGE] = 1;
	EXPECT_EQ(2, count_flag(self->q, self->p, self->f, WSQUERY_SOFT_DIRTY));
	EXPECT_NE(0, self->f[2] & WSQUERY_SOFT_DIRTY);
	EXPECT_NE(0, self->f[PAGES - 1] & WSQUERY_SOFT_DIRTY);
}

TEST_F(attrs, soft_dirty_swapped)
{
	NEED_SWAP();
	if (!(self->q->attrs & WSQUERY_SOFT_DIRTY))
		SKIP(return, "this kernel has no soft-dirty bits");
	fill(self->p, PAGES);
	ASSERT_EQ(0, write_text("/proc/self/clear_refs", "4"));
	self->p[3 * PAGE] = 1;
	ASSERT_EQ(0, evict(self->p, PAGES));
	EXPECT_EQ(1, count_flag(self->q, self->p, self->f, WSQUERY_SOFT_DIRTY));
	EXPECT_NE(0, self->f[3] & WSQUERY_SOFT_DIRTY);
}

/* Ten processes map a page of shared memory; /proc/kpagecount counts them too. */
static void map_it(struct peer *peer, void *p)
{
	(void)peer;
	touch_read(p, 1);
}

static int counts_agree(const char *p, __u64 flags)
{
	int fd = pagemap_open(0);
	__u64 pm, count;

	if (pagemap_read(fd, p, 1, &pm) ||
	    kpage_read("/proc/kpagecount", pm & PM_FRAME, &count))
		return -1;
	close(fd);
	if (SHARE_COUNT(flags) == (count > 7 ? 7 : count))
		return 0;
	fprintf(stderr, "# kpagecount %llu, share count %llu\n", (unsigned long long)count,
		(unsigned long long)SHARE_COUNT(flags));
	return 1;
}

TEST_F(attrs, share_count_shmem)
{
	char *p = map_shared(-1, 1);
	struct peer peers[10];
	__u64 flags;
	int i;

	NEED_ROOT();
	ASSERT_EQ(0, wsq_wide(self->q, p, 1, &flags));
	EXPECT_EQ(0, SHARE_COUNT(flags));
	*p = 1;
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, wsq_wide(self->q, p, 1, &flags));
		EXPECT_EQ(i + 1 < 7 ? i + 1 : 7, SHARE_COUNT(flags));
		EXPECT_EQ(0, counts_agree(p, flags));
		ASSERT_EQ(0, check_forms(self->q, p, 1, &flags));
		ASSERT_EQ(0, peer_start(&peers[i], map_it, p));
	}
	while (i--)
		peer_end(&peers[i]);
	ASSERT_EQ(0, wsq_wide(self->q, p, 1, &flags));
	EXPECT_EQ(1, SHARE_COUNT(flags));
}

TEST_F(attrs, share_count_anon)
{
	struct wsq q = *self->q;
	struct peer peers[2];
	int i;

	NEED_ROOT();
	fill(self->p, PAGES);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, peer_start(&peers[i], map_it, self->p));
	ASSERT_EQ(0, wsq_wide(&q, self->p, PAGES, self->f));
	for (i = 0; i < PAGES; i++) {
		EXPECT_EQ(3, SHARE_COUNT(self->f[i]));
		EXPECT_EQ(0, counts_agree(self->p + i * PAGE, self->f[i]));
	}
	/* Windows counts sharers of mappings that were made to be shared only. */
	q.flags = WSQUERY_SHARED_ONLY;
	ASSERT_EQ(0, wsq_wide(&q, self->p, PAGES, self->f));
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(0, SHARE_COUNT(self->f[i]));
	ASSERT_EQ(0, check_forms(&q, self->p, PAGES, self->f));
	for (i = 0; i < 2; i++)
		peer_end(&peers[i]);
}

TEST_F(attrs, shared_only_counts_shared)
{
	char *p = map_shared(-1, PAGES);
	struct wsq q = *self->q;
	struct peer peer;

	fill(p, PAGES);
	ASSERT_EQ(0, peer_start(&peer, map_it, p));
	q.flags = WSQUERY_SHARED_ONLY;
	ASSERT_EQ(0, wsq_wide(&q, p, PAGES, self->f));
	EXPECT_EQ(2, SHARE_COUNT(self->f[0]));
	EXPECT_EQ(1, SHARE_COUNT(self->f[PAGES - 1]));
	ASSERT_EQ(0, check_forms(&q, p, PAGES, self->f));
	peer_end(&peer);
}

TEST_F(attrs, share_count_of_zero_page_and_holes)
{
	int i;

	touch_read(self->p, PAGES / 2);
	ASSERT_EQ(0, wsq_wide(self->q, self->p, PAGES, self->f));
	for (i = 0; i < PAGES; i++) {
		EXPECT_EQ(0, SHARE_COUNT(self->f[i]));
		EXPECT_EQ(0, self->f[i] & (WSQUERY_NODE | WSQUERY_KSM));
	}
}

/* Bound to each node in turn; numa_maps names the node that the pages are on. */
TEST_F(attrs, node)
{
	unsigned long mask, node;
	int i, nodes = 0;
	char *p;

	for (node = 0; node < 8; node++) {
		mask = 1UL << node;
		p = map_anon(PAGES);
		ASSERT_NE(NULL, p);
		if (syscall(SYS_mbind, p, PAGES * PAGE, 2 /* MPOL_BIND */, &mask,
			    8 * sizeof(mask), 0))
			continue;
		nodes++;
		fill(p, PAGES);
		EXPECT_EQ((long)node, numa_node_of(p));
		ASSERT_EQ(0, wsq_wide(self->q, p, PAGES, self->f));
		for (i = 0; i < PAGES; i++)
			EXPECT_EQ(node, NODE(self->f[i]));
		ASSERT_EQ(0, check_forms(self->q, p, PAGES, self->f));
	}
	if (!nodes)
		SKIP(return, "no NUMA");
}

/* What is not asked for is 0. */
TEST_F(attrs, nothing_unasked)
{
	struct wsq q = *self->q;
	int i;

	fill(self->p, PAGES);
	q.attrs = 0;
	ASSERT_EQ(0, wsq_wide(&q, self->p, PAGES, self->f));
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(WSQUERY_MAPPED | WSQUERY_WRITABLE | WSQUERY_PRESENT, self->f[i]);
	ASSERT_EQ(0, check_forms(&q, self->p, PAGES, self->f));
}

TEST_HARNESS_MAIN
