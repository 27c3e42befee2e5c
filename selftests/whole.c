// SPDX-License-Identifier: GPL-2.0
/*
 * A whole process against smaps: what is in memory and in swap, per mapping and
 * in sum, by each form; of another process that stands still, and of its own.
 */
#include <fcntl.h>
#include <sys/mount.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define SPACE		(IS_32BIT ? 1ULL << 32 : 1ULL << 47)
#define MAX_MAPS	256
#define MAX_REGIONS	65536

/* Where it all is, for the process that asks. */
struct places {
	struct smaps maps[MAX_MAPS];
	int n;
	struct wsquery_region regions[MAX_REGIONS];
	size_t count;
};

/* Some of everything. */
static void prepare(struct peer *peer, void *arg)
{
	int fd = memfd_create("wsquery", MFD_CLOEXEC), disk;
	char dir[] = "/tmp/wsq-whole-XXXXXX", name[64], *p;

	(void)peer;
	(void)arg;
	thp_allow();
	p = map_anon(500);
	fill(p, 400);
	evict(p, 100);
	touch_read(p + 450 * PAGE, 20);
	mprotect(p + 300 * PAGE, 10 * PAGE, PROT_NONE);

	p = map_shared(-1, 300);
	fill(p, 200);
	evict(p, 200);
	fill(p, 30);

	if (!ftruncate(fd, 300 * PAGE)) {
		p = map_shared(fd, 300);
		fill(p, 100);
		evict(p, 100);
		/* A second mapping of what is in swap, and private copies of a third. */
		map_shared(fd, 300);
		p = mmap(NULL, 300 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
		fill(p, 40);
		evict(p, 40);
		fill(p + 10 * PAGE, 5);
	}
	if (!mount_ramfs(dir)) {
		snprintf(name, sizeof(name), "%s/file", dir);
		disk = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (!ftruncate(disk, 100 * PAGE)) {
			p = map_shared(disk, 100);
			fill(p, 50);
			p = mmap(NULL, 100 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, disk, 0);
			fill(p + 20 * PAGE, 10);
		}
		umount2(dir, MNT_DETACH);
		rmdir(dir);
	}
	p = map_aligned(2 * HUGE2M, HUGE2M, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	madvise(p, 2 * HUGE2M, MADV_HUGEPAGE);
	p[0] = 1;
	if (!hugetlb_reserve(HUGE2M, 2)) {
		p = mmap(NULL, 2 * HUGE2M, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
		if (p != MAP_FAILED)
			p[0] = 1;
	}
}

FIXTURE(whole) {
	struct wsq q;
	struct peer peer;
	struct places *at;
};

FIXTURE_SETUP(whole)
{
	self->q = *own();
	self->at = calloc(1, sizeof(*self->at));
	ASSERT_NE(NULL, self->at);
	ASSERT_EQ(0, peer_start(&self->peer, prepare, NULL));
	self->q.target = self->peer.pagemap;
	self->at->n = smaps_read(self->peer.pid, self->at->maps, MAX_MAPS);
	ASSERT_LT(10, self->at->n);
}

FIXTURE_TEARDOWN(whole)
{
	peer_end(&self->peer);
}

/* smaps' Rss leaves out the zero page, hugetlb pages and what has no struct page. */
static bool in_rss(__u64 f)
{
	return (f & WSQUERY_PRESENT) && !(f & (WSQUERY_ZERO | WSQUERY_HUGETLB | WSQUERY_DEVICE));
}

/* Compares the regions with smaps, mapping by mapping. Returns what differs. */
static int compare(const struct places *at)
{
	__u64 rss_sum = 0, swap_sum = 0;
	unsigned long smaps_rss = 0, smaps_swap = 0;
	size_t k = 0;
	int i, bad = 0;

	for (i = 0; i < at->n; i++) {
		const struct smaps *s = &at->maps[i];
		__u64 rss = 0, swap = 0, huge = 0, mapped = 0;

		if (s->start >= SPACE)	/* vsyscall */
			continue;
		for (; k < at->count && at->regions[k].start < s->end; k++) {
			const struct wsquery_region *r = &at->regions[k];
			__u64 from = r->start > s->start ? r->start : s->start;
			__u64 to = r->end < s->end ? r->end : s->end;

			if (r->end <= s->start)
				continue;
			mapped += to - from;
			rss += in_rss(r->flags) ? to - from : 0;
			swap += r->flags & WSQUERY_SWAPPED ? to - from : 0;
			huge += (r->flags & WSQUERY_HUGETLB) && (r->flags & WSQUERY_PRESENT) ?
				to - from : 0;
			if (r->end > s->end)
				break;
		}
		if (rss != s->rss * 1024ULL || swap != s->swap * 1024ULL ||
		    huge != s->hugetlb * 1024ULL || mapped != s->end - s->start) {
			fprintf(stderr,
				"# %llx-%llx %s: Rss %lu kB, %llu; Swap %lu kB, %llu; hugetlb %lu, %llu\n",
				(unsigned long long)s->start, (unsigned long long)s->end,
				s->perms, s->rss, (unsigned long long)rss / 1024,
				s->swap, (unsigned long long)swap / 1024, s->hugetlb,
				(unsigned long long)huge / 1024);
			bad++;
		}
		rss_sum += rss;
		swap_sum += swap;
		smaps_rss += s->rss;
		smaps_swap += s->swap;
	}
	if (rss_sum != smaps_rss * 1024ULL || swap_sum != smaps_swap * 1024ULL) {
		fprintf(stderr, "# in sum: Rss %lu kB, %llu; Swap %lu kB, %llu\n", smaps_rss,
			(unsigned long long)rss_sum / 1024, smaps_swap,
			(unsigned long long)swap_sum / 1024);
		bad++;
	}
	return bad;
}

TEST_F(whole, regions_equal_smaps)
{
	ASSERT_EQ(0, wsq_regions(&self->q, 0, SPACE, 0, self->at->regions, MAX_REGIONS,
				 &self->at->count));
	ASSERT_EQ(SPACE, self->q.done);
	EXPECT_EQ(0, compare(self->at));
}

TEST_F(whole, counts_equal_smaps)
{
	struct wsquery_count c, sum;
	int i;

	memset(&sum, 0, sizeof(sum));
	for (i = 0; i < self->at->n; i++) {
		struct smaps *s = &self->at->maps[i];

		if (s->start >= SPACE)
			continue;
		/* Present and not the zero page, hugetlb or a device's: Rss. */
		ASSERT_EQ(0, wsq_count(&self->q, s->start, s->end - s->start,
				       WSQUERY_PRESENT | WSQUERY_ZERO | WSQUERY_HUGETLB |
				       WSQUERY_DEVICE, WSQUERY_PRESENT, &c));
		EXPECT_EQ(s->rss * 1024 / PAGE, c.matched);
		EXPECT_EQ(s->swap * 1024 / PAGE, c.swapped);
		EXPECT_EQ((s->end - s->start) / PAGE, c.mapped);
		EXPECT_EQ((s->anon_huge + s->hugetlb) * 1024 / PAGE, c.huge);
		sum.matched += c.matched;
		sum.swapped += c.swapped;
		sum.present += c.present;
		sum.mapped += c.mapped;
		sum.huge += c.huge;
		sum.shmem_swapped += c.shmem_swapped;
	}
	ASSERT_EQ(0, wsq_count(&self->q, 0, SPACE, WSQUERY_PRESENT | WSQUERY_ZERO |
			       WSQUERY_HUGETLB | WSQUERY_DEVICE, WSQUERY_PRESENT, &c));
	EXPECT_EQ(sum.matched, c.matched);
	EXPECT_EQ(sum.swapped, c.swapped);
	EXPECT_EQ(sum.present, c.present);
	EXPECT_EQ(sum.mapped, c.mapped);
	EXPECT_EQ(sum.huge, c.huge);
	EXPECT_EQ(sum.shmem_swapped, c.shmem_swapped);
	/* 170 of the anonymous shared memory, 60 of the memfd, which is mapped thrice. */
	if (have_swap())
		EXPECT_EQ(170 + 3 * 60, c.shmem_swapped);
}

/* Page by page, through all forms and all peers. */
TEST_F(whole, pages_agree)
{
	__u64 *f;
	int i;

	for (i = 0; i < self->at->n; i++) {
		struct smaps *s = &self->at->maps[i];
		size_t pages = (s->end - s->start) / PAGE;

		if (s->start >= SPACE || pages > 4096)
			continue;
		f = calloc(pages, 8);
		ASSERT_NE(NULL, f);
		ASSERT_EQ(0, wsq_wide(&self->q, (void *)(uintptr_t)s->start, pages, f));
		EXPECT_EQ(0, check_forms(&self->q, (void *)(uintptr_t)s->start, pages, f));
		EXPECT_EQ(0, compare_peers(&self->q, (void *)(uintptr_t)s->start, pages, f));
		free(f);
	}
}

/* Nothing may be touched for the first time between the two looks. */
TEST_F(whole, own_process_equals_smaps)
{
	struct peer none;
	int round;

	prepare(&none, NULL);
	self->q.target = -1;
	memset(self->at, 0, sizeof(*self->at));
	for (round = 0; round < 2; round++) {
		ASSERT_EQ(0, wsq_regions(&self->q, 0, SPACE, 0, self->at->regions, MAX_REGIONS,
					 &self->at->count));
		self->at->n = smaps_read(0, self->at->maps, MAX_MAPS);
		ASSERT_LT(10, self->at->n);
	}
	EXPECT_EQ(0, compare(self->at));
}

TEST_HARNESS_MAIN
