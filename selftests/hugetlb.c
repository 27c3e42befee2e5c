// SPDX-License-Identifier: GPL-2.0
/*
 * Hugetlb pages of 2 MiB and 1 GiB, private and shared.
 */
#include <fcntl.h>

#include "kselftest_harness.h"
#include "wsq.h"

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT	26
#endif

FIXTURE(hugetlb) {
	char *p;
	size_t half;	/* pages in a huge page */
	__u64 base;
};

FIXTURE_VARIANT(hugetlb) {
	size_t size;
	int order;
	int flags;
};

FIXTURE_VARIANT_ADD(hugetlb, private_2m) {
	.size = HUGE2M, .order = 21, .flags = MAP_PRIVATE,
};

FIXTURE_VARIANT_ADD(hugetlb, shared_2m) {
	.size = HUGE2M, .order = 21, .flags = MAP_SHARED,
};

FIXTURE_VARIANT_ADD(hugetlb, private_1g) {
	.size = HUGE1G, .order = 30, .flags = MAP_PRIVATE,
};

FIXTURE_VARIANT_ADD(hugetlb, shared_1g) {
	.size = HUGE1G, .order = 30, .flags = MAP_SHARED,
};

/* One huge page is written, one more (of 2 MiB) never touched. */
FIXTURE_SETUP(hugetlb)
{
	size_t n = variant->size == HUGE2M ? 2 : 1;

	own();
	if (hugetlb_reserve(variant->size, n + 1) && hugetlb_reserve(variant->size, n))
		SKIP(return, "no huge pages of %zu kB to be had", variant->size / 1024);
	self->p = mmap(NULL, n * variant->size, PROT_READ | PROT_WRITE,
		       variant->flags | MAP_ANONYMOUS | MAP_HUGETLB |
		       variant->order << MAP_HUGE_SHIFT, -1, 0);
	if (self->p == MAP_FAILED && IS_32BIT)
		SKIP(return, "no room for it in 32 bits");
	ASSERT_NE(MAP_FAILED, self->p);
	self->half = variant->size / PAGE;
	self->base = M_RW | WSQUERY_FILE | WSQUERY_HUGETLB |
		     (variant->flags == MAP_SHARED ? WSQUERY_SHARED : 0);
}

FIXTURE_TEARDOWN(hugetlb)
{
}

/* A page of a private mapping is anonymous: a copy of nothing. */
#define MAPPED_HUGE	(WSQUERY_PRESENT | WSQUERY_HUGE | \
			 (variant->flags == MAP_PRIVATE ? WSQUERY_COPY : 0))

TEST_F(hugetlb, never_touched)
{
	EXPECT_PAGES(self->p, 512, self->base);
}

TEST_F(hugetlb, present)
{
	*self->p = 1;
	EXPECT_PAGES(self->p, 512, self->base | MAPPED_HUGE);
	EXPECT_PAGES(self->p + variant->size - 64 * PAGE, 64, self->base | MAPPED_HUGE);
	if (variant->size == HUGE2M)
		EXPECT_PAGES(self->p + variant->size, 512, self->base);
}

/* smaps counts these pages apart, and to the last one. */
TEST_F(hugetlb, whole_counted)
{
	struct wsquery_count c;
	struct smaps s;

	*self->p = 1;
	ASSERT_EQ(0, smaps_of(self->p, &s));
	ASSERT_EQ(0, wsq_count(own(), s.start, s.end - s.start, 0, 0, &c));
	EXPECT_EQ(s.hugetlb * 1024 / PAGE, c.huge);
	EXPECT_EQ(c.huge, c.present);
	EXPECT_EQ(c.huge, c.file_present);
	EXPECT_EQ((s.end - s.start) / PAGE, c.mapped);
}

TEST_F(hugetlb, half_asked)
{
	*self->p = 1;
	EXPECT_PAGES(self->p + self->half / 2 * PAGE, 8, self->base | MAPPED_HUGE);
	EXPECT_PAGES(self->p + (self->half - 1) * PAGE, 1, self->base | MAPPED_HUGE);
	if (variant->size == HUGE2M) {
		EXPECT_PAGES(self->p + self->half / 2 * PAGE, self->half / 2,
			     self->base | MAPPED_HUGE);
		EXPECT_PAGES(self->p + (self->half + 3) * PAGE, 5, self->base);
	}
}

TEST_F(hugetlb, prot_none)
{
	*self->p = 1;
	ASSERT_EQ(0, mprotect(self->p, variant->size, PROT_NONE));
	EXPECT_PAGES(self->p, 512, (self->base & ~(M_RW ^ M_NONE)) | MAPPED_HUGE);
}

TEST_F(hugetlb, read_only)
{
	*self->p = 1;
	ASSERT_EQ(0, mprotect(self->p, variant->size, PROT_READ));
	EXPECT_PAGES(self->p, 512, (self->base & ~WSQUERY_WRITABLE) | MAPPED_HUGE);
}

TEST_F(hugetlb, executable)
{
	*self->p = 1;
	ASSERT_EQ(0, mprotect(self->p, variant->size, PROT_READ | PROT_EXEC));
	EXPECT_PAGES(self->p, 512, (self->base & ~WSQUERY_WRITABLE) | WSQUERY_EXECUTABLE |
		     MAPPED_HUGE);
}

TEST_F(hugetlb, discarded)
{
	*self->p = 1;
	ASSERT_EQ(0, madvise(self->p, variant->size, MADV_DONTNEED));
	EXPECT_PAGES(self->p, 512, self->base);
}

/* mlock(2) brings them in, and does not mark what is never swapped. */
TEST_F(hugetlb, locked)
{
	ASSERT_EQ(0, mlock(self->p, variant->size));
	EXPECT_PAGES(self->p, 512, self->base | MAPPED_HUGE);
}

struct view {
	char *p;
	__u64 hole, present;
};

/* Whether a child maps a page at once is the kernel's choice: pagemap tells. */
static int child_sees(void *arg)
{
	struct view *v = arg;
	__u64 pm;

	if (pagemap_read(pagemap_open(0), v->p, 1, &pm) ||
	    check(v->p, 512, pm & PM_PRESENT ? v->present : v->hole))
		return 1;
	/* There may be no second page to be had for a private mapping. */
	if (!(pm & PM_PRESENT) && (v->present & WSQUERY_COPY))
		return 0;
	touch_read(v->p, 1);
	return !!check(v->p, 512, v->present);
}

TEST_F(hugetlb, forked)
{
	struct view v = { self->p, self->base, self->base | MAPPED_HUGE };

	*self->p = 1;
	EXPECT_EQ(0, in_child(child_sees, &v));
}

TEST_HARNESS_MAIN
