// SPDX-License-Identifier: GPL-2.0
/*
 * The count form: totals by any mask, of any range, and what a process's
 * footprint counter makes of them.
 */
#include <fcntl.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	600
#define SPACE	(IS_32BIT ? 1ULL << 32 : 1ULL << 47)

FIXTURE(count) {
	struct wsq *q;
	char *p;
	__u64 f[PAGES];
	struct wsquery_count c;
};

/* Anonymous memory, shared memory and a gap, each in several states. */
FIXTURE_SETUP(count)
{
	int i, fd = memfd_create("wsquery", MFD_CLOEXEC);
	char *shared;

	self->q = own();
	self->p = map_anon(PAGES);
	ASSERT_NE(NULL, self->p);
	ASSERT_EQ(0, ftruncate(fd, 200 * PAGE));
	shared = mmap(self->p + 200 * PAGE, 200 * PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_FIXED, fd, 0);
	ASSERT_NE(MAP_FAILED, shared);
	if (have_swap()) {
		fill(shared + 50 * PAGE, 30);
		ASSERT_EQ(0, evict(shared + 50 * PAGE, 30));
	}
	for (i = 0; i < PAGES; i += 3)
		if (i < 240 || i > 300)
			fill(self->p + i * PAGE, 1);
	touch_read(self->p + 500 * PAGE, 60);
	ASSERT_EQ(0, munmap(self->p + 450 * PAGE, 20 * PAGE));
	ASSERT_EQ(0, wsq_wide(self->q, self->p, PAGES, self->f));
}

FIXTURE_TEARDOWN(count)
{
}

static __u64 matching(const __u64 *f, int from, int to, __u64 mask, __u64 value)
{
	__u64 n = 0;

	for (; from < to; from++)
		n += (f[from] & WSQUERY_MAPPED) && (f[from] & mask) == value;
	return n;
}

TEST_F(count, adds_up)
{
	struct smaps s;

	ASSERT_EQ(0, check_forms(self->q, self->p, PAGES, self->f));
	ASSERT_EQ(0, smaps_of(self->p + 200 * PAGE, &s));
	ASSERT_EQ(0, wsq_count(self->q, s.start, s.end - s.start, 0, 0, &self->c));
	EXPECT_EQ(s.rss * 1024 / PAGE, self->c.present);
	EXPECT_EQ(s.swap * 1024 / PAGE, self->c.swapped);
	EXPECT_EQ(self->c.present, self->c.shmem_present);
	EXPECT_EQ(self->c.swapped, self->c.shmem_swapped);
	EXPECT_EQ(200, self->c.mapped);
	if (have_swap())
		EXPECT_EQ(30, self->c.swapped);
}

TEST_F(count, any_mask_and_value)
{
	static const __u64 masks[] = {
		0, WSQUERY_PRESENT, WSQUERY_PRESENT | WSQUERY_SHMEM,
		WSQUERY_MAPPED | WSQUERY_SWAPPED, WSQUERY_ZERO | WSQUERY_PRESENT,
		WSQUERY_SHARE_COUNT | WSQUERY_PRESENT, WSQUERY_STATE_MASK,
		WSQUERY_SHARED | WSQUERY_CACHED, WSQUERY_NODE,
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(masks); i++) {
		/* Values that occur, and 0. */
		for (k = 0; k < PAGES; k += 37) {
			__u64 value = k ? self->f[k] & masks[i] : 0;

			ASSERT_EQ(0, wsq_count(self->q, (uintptr_t)self->p, PAGES * PAGE,
					       masks[i], value, &self->c));
			EXPECT_EQ(matching(self->f, 0, PAGES, masks[i], value), self->c.matched)
				TH_LOG("mask %#llx", (unsigned long long)masks[i]);
		}
	}
}

TEST_F(count, parts_add_up)
{
	struct wsquery_count part;
	__u64 sums[9] = {}, *out;
	size_t from, to, i;

	for (from = 0; from < PAGES; from = to) {
		to = from + 1 + from % 83 < PAGES ? from + 1 + from % 83 : PAGES;
		ASSERT_EQ(0, wsq_count(self->q, (uintptr_t)self->p + from * PAGE,
				       (to - from) * PAGE, WSQUERY_PRESENT, 0, &part));
		EXPECT_EQ(matching(self->f, from, to, WSQUERY_PRESENT, 0), part.matched);
		for (i = 0, out = &part.matched; i < 9; i++)
			sums[i] += out[i];
	}
	ASSERT_EQ(0, wsq_count(self->q, (uintptr_t)self->p, PAGES * PAGE, WSQUERY_PRESENT, 0,
			       &self->c));
	EXPECT_EQ(0, memcmp(sums, &self->c.matched, sizeof(sums)));
}

TEST_F(count, nothing)
{
	static const __u64 zero[9];

	ASSERT_EQ(0, wsq_count(self->q, (uintptr_t)self->p, 0, 0, 0, &self->c));
	EXPECT_EQ(0, memcmp(zero, &self->c.matched, sizeof(zero)));
	ASSERT_EQ(0, wsq_count(self->q, (uintptr_t)self->p + 450 * PAGE, 20 * PAGE, 0, 0,
			       &self->c));
	EXPECT_EQ(0, memcmp(zero, &self->c.matched, sizeof(zero)));
	ASSERT_EQ(0, wsq_count(self->q, 1ULL << 63, 1ULL << 63, 0, 0, &self->c));
	EXPECT_EQ(0, memcmp(zero, &self->c.matched, sizeof(zero)));
}

/* The private pages in memory of the whole process, as Windows counts them. */
static __u64 footprint(struct wsq *q)
{
	struct wsquery_count c;
	struct wsq few = *q;

	few.attrs = WSQUERY_SHARED;
	if (wsq_count(&few, 0, SPACE, WSQUERY_PRESENT | WSQUERY_SHARED, WSQUERY_PRESENT, &c))
		return -1;
	return c.matched;
}

TEST_F(count, footprint_moves_with_what_is_dirtied)
{
	size_t pages = (64UL << 20) / PAGE;
	char *p = map_anon(pages);
	__u64 before, after;

	ASSERT_NE(NULL, p);
	before = footprint(self->q);
	before = footprint(self->q);
	fill(p, pages);
	after = footprint(self->q);
	EXPECT_EQ(pages, after - before);
	ASSERT_EQ(0, madvise(p, pages * PAGE, MADV_DONTNEED));
	EXPECT_EQ(before, footprint(self->q));
}

/* Up to the end of 64 bits: addresses that no process has do not count. */
TEST_F(count, whole_64_bits)
{
	struct wsquery_count all;

	ASSERT_EQ(0, wsq_count(self->q, 0, SPACE, 0, 0, &self->c));
	ASSERT_EQ(0, wsq_count(self->q, 0, SPACE, 0, 0, &self->c));
	ASSERT_EQ(0, wsq_count(self->q, 0, -(__u64)PAGE, 0, 0, &all));
	EXPECT_EQ(0, memcmp(&all.matched, &self->c.matched, 9 * sizeof(__u64)));
}

TEST_HARNESS_MAIN
