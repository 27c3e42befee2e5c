// SPDX-License-Identifier: GPL-2.0
/*
 * The regions form: runs that are as long as they can be, chosen by a mask, a few
 * at a time, over terabytes.
 */
#include <sys/ioctl.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	2000
#define MAX	4096

FIXTURE(regions) {
	struct wsq q;	/* asks for little, so that runs are as long as states are */
	char *p;
	struct wsquery_region r[MAX];
	size_t n;
};

/* Written, read, untouched, read-only and unmapped in stretches. */
FIXTURE_SETUP(regions)
{
	int i;

	self->q = *own();
	self->q.attrs = WSQUERY_ZERO | WSQUERY_READABLE;
	self->p = map_anon(PAGES);
	ASSERT_NE(NULL, self->p);
	for (i = 0; i < PAGES; i++) {
		if (i % 100 < 20)
			fill(self->p + i * PAGE, 1);
		else if (i % 100 < 30)
			touch_read(self->p + i * PAGE, 1);
	}
	for (i = 0; i < PAGES; i += 500)
		mprotect(self->p + (i + 10) * PAGE, 5 * PAGE, PROT_READ);
	munmap(self->p + 1000 * PAGE, 50 * PAGE);
}

FIXTURE_TEARDOWN(regions)
{
}

/* What the answers must be, from the pages form. */
static size_t expected_regions(struct wsq *q, const char *p, size_t pages, __u64 select,
			       struct wsquery_region *out)
{
	static __u64 f[PAGES];
	size_t i, n = 0;

	if (wsq_wide(q, p, pages, f))
		return -1;
	for (i = 0; i < pages; i++) {
		__u64 at = (uintptr_t)p + i * PAGE;

		if (!(f[i] & WSQUERY_MAPPED) || (select && !(f[i] & select)))
			continue;
		if (n && out[n - 1].end == at && out[n - 1].flags == f[i]) {
			out[n - 1].end += PAGE;
			continue;
		}
		out[n].start = at;
		out[n].end = at + PAGE;
		out[n++].flags = f[i];
	}
	return n;
}

TEST_F(regions, are_runs_of_pages)
{
	static struct wsquery_region e[PAGES];
	size_t n = expected_regions(&self->q, self->p, PAGES, 0, e);

	ASSERT_EQ(0, wsq_regions(&self->q, (uintptr_t)self->p, PAGES * PAGE, 0, self->r, MAX,
				 &self->n));
	ASSERT_EQ(n, self->n);
	EXPECT_LT(60, n);
	EXPECT_EQ(0, memcmp(e, self->r, n * sizeof(e[0])));
}

TEST_F(regions, selected)
{
	static const __u64 selects[] = {
		WSQUERY_PRESENT, WSQUERY_ZERO, WSQUERY_WRITABLE, WSQUERY_SWAPPED,
		WSQUERY_MAPPED, WSQUERY_PRESENT | WSQUERY_READABLE, WSQUERY_HUGE | WSQUERY_ZERO,
	};
	static struct wsquery_region e[PAGES];
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(selects); i++) {
		n = expected_regions(&self->q, self->p, PAGES, selects[i], e);
		ASSERT_EQ(0, wsq_regions(&self->q, (uintptr_t)self->p, PAGES * PAGE, selects[i],
					 self->r, MAX, &self->n));
		ASSERT_EQ(n, self->n) TH_LOG("select %#llx", (unsigned long long)selects[i]);
		EXPECT_EQ(0, memcmp(e, self->r, n * sizeof(e[0])));
	}
}

/* Asked again from where it stopped, for any capacity: the same in the end. */
TEST_F(regions, resumed)
{
	static const size_t capacities[] = { 1, 2, 3, 7, 64, 200 };
	static struct wsquery_region e[PAGES], part[200];
	size_t i, k, n = expected_regions(&self->q, self->p, PAGES, 0, e), got, calls;
	__u64 end = (uintptr_t)self->p + PAGES * PAGE;

	for (i = 0; i < ARRAY_SIZE(capacities); i++) {
		__u64 at = (uintptr_t)self->p;

		for (got = calls = 0; at < end; at += self->q.done, calls++) {
			ASSERT_EQ(0, wsq_regions(&self->q, at, end - at, 0, part, capacities[i],
						 &self->n));
			ASSERT_LT(0, self->q.done);
			for (k = 0; k < self->n; k++) {
				/* A run may be cut where a call began. */
				if (got && !k && self->r[got - 1].end == part[0].start &&
				    self->r[got - 1].flags == part[0].flags)
					self->r[got - 1].end = part[0].end;
				else
					self->r[got++] = part[k];
			}
			ASSERT_GE(n, got);
		}
		ASSERT_EQ(n, got);
		EXPECT_EQ(0, memcmp(e, self->r, n * sizeof(e[0])));
		EXPECT_GE(n / capacities[i] + 2, calls);
	}
}

/* What was answered before the array could not be written stays valid. */
TEST_F(regions, array_unwritable)
{
	char *array = map_anon(2);
	struct wsquery_regions r;
	size_t i, n;

	munmap(array + PAGE, PAGE);
	wsq_range_init(&r.range, &self->q, sizeof(r), self->p, PAGES);
	r.regions = (uintptr_t)array + PAGE - 30 * sizeof(struct wsquery_region);
	r.capacity = 1000;
	r.select = 0;
	EXPECT_EQ(-EFAULT, wsq_call(self->q.dev, WSQUERY_IOC_REGIONS, &r, sizeof(r)));
	EXPECT_EQ(0, r.range.done % PAGE);
	EXPECT_GE(30, r.count);
	n = expected_regions(&self->q, self->p, r.range.done / PAGE, 0, self->r);
	for (i = 0; i < r.count && i < n; i++)
		EXPECT_EQ(0, memcmp(&self->r[i], (char *)(uintptr_t)r.regions +
				    i * sizeof(self->r[0]), sizeof(self->r[0])));
}

/* The first region begins in a page that cannot be written and ends in one that can. */
TEST_F(regions, array_begins_unwritable)
{
	char *array = map_anon(2), *p = map_anon(4);
	struct wsquery_regions r = { .range.size = sizeof(r) };
	size_t i;

	ASSERT_NE(NULL, array);
	ASSERT_NE(NULL, p);
	p[0] = 1;
	memset(array, 0x5a, 2 * PAGE);
	ASSERT_EQ(0, mprotect(array, PAGE, PROT_READ));
	r.range.start = (uintptr_t)p;
	r.range.length = 4 * PAGE;
	r.regions = (uintptr_t)array + PAGE - 8;
	r.capacity = 4;
	EXPECT_EQ(-1, ioctl(self->q.dev, WSQUERY_IOC_REGIONS, &r));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, r.count);
	EXPECT_EQ(0, r.range.done);
	for (i = 0; i < 2 * PAGE; i++)
		ASSERT_EQ(0x5a, array[i]);
}

TEST_F(regions, nothing_mapped)
{
	char *gap = self->p + 1000 * PAGE;

	ASSERT_EQ(0, wsq_regions(&self->q, (uintptr_t)gap, 50 * PAGE, 0, self->r, MAX, &self->n));
	EXPECT_EQ(0, self->n);
	ASSERT_EQ(0, wsq_regions(&self->q, 0, 16 * PAGE, 0, self->r, MAX, &self->n));
	EXPECT_EQ(0, self->n);
	ASSERT_EQ(0, wsq_regions(&self->q, 1ULL << 63, (1ULL << 63), 0, self->r, MAX, &self->n));
	EXPECT_EQ(0, self->n);
	ASSERT_EQ(0, wsq_regions(&self->q, 0, 0, 0, self->r, MAX, &self->n));
	EXPECT_EQ(0, self->n);
}

/*
 * 64 TiB of addresses, three of their pages touched. Looking at each page's place in
 * the page tables would take longer than a test may.
 */
TEST_F(regions, sixty_four_tib)
{
	__u64 piece = 16ULL << 40, total = 0, touched[3], at = 0;
	char *maps[4] = {};
	int i, k, found = 0;

	if (IS_32BIT)
		SKIP(return, "64 TiB do not fit in 32 bits");
	for (i = 0; i < 4; i++) {
		maps[i] = mmap(NULL, piece, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		ASSERT_NE(MAP_FAILED, maps[i]);
	}
	touched[0] = (uintptr_t)maps[0] + piece / 3 / PAGE * PAGE;
	touched[1] = (uintptr_t)maps[2] + PAGE;
	touched[2] = (uintptr_t)maps[3] + piece - PAGE;
	for (i = 0; i < 3; i++) {
		char *p = (char *)(uintptr_t)touched[i];

		ASSERT_EQ(0, mprotect(p, PAGE, PROT_READ | PROT_WRITE));
		*p = 1;
		ASSERT_EQ(0, mprotect(p, PAGE, PROT_NONE));
	}
	ASSERT_EQ(0, wsq_regions(&self->q, 0, 1ULL << 47, 0, self->r, MAX, &self->n));
	ASSERT_EQ(1ULL << 47, self->q.done);
	for (i = 0; i < (int)self->n; i++) {
		bool ours = false;

		EXPECT_LE(at, self->r[i].start);
		at = self->r[i].end;
		for (k = 0; k < 4; k++)
			ours |= self->r[i].start >= (uintptr_t)maps[k] &&
				self->r[i].end <= (uintptr_t)maps[k] + piece;
		/* Neighbours that the kernel merged span more than one of them. */
		if (self->r[i].flags != WSQUERY_MAPPED &&
		    self->r[i].flags != (WSQUERY_MAPPED | WSQUERY_PRESENT))
			continue;
		if (ours || self->r[i].end - self->r[i].start > 1ULL << 40)
			total += self->r[i].end - self->r[i].start;
		if (self->r[i].flags & WSQUERY_PRESENT)
			for (k = 0; k < 3; k++)
				found += self->r[i].start == touched[k] &&
					 self->r[i].end == touched[k] + PAGE;
	}
	EXPECT_EQ(3, found);
	EXPECT_EQ(4 * piece, total);
}

TEST_F(regions, sixty_four_tib_selected)
{
	__u64 size = 1ULL << 46;
	char *p;

	if (IS_32BIT)
		SKIP(return, "64 TiB do not fit in 32 bits");
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	ASSERT_NE(MAP_FAILED, p);
	p[size / 2] = 1;
	ASSERT_EQ(0, wsq_regions(&self->q, (uintptr_t)p, size, WSQUERY_PRESENT, self->r, MAX,
				 &self->n));
	ASSERT_EQ(1, self->n);
	EXPECT_EQ((uintptr_t)p + size / 2, self->r[0].start);
	EXPECT_EQ((uintptr_t)p + size / 2 + PAGE, self->r[0].end);
}

TEST_HARNESS_MAIN
