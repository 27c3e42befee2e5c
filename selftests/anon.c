// SPDX-License-Identifier: GPL-2.0
/*
 * Private anonymous memory in every state.
 */
#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64

FIXTURE(anon) {
	char *p;
};

FIXTURE_SETUP(anon)
{
	own();
	self->p = map_anon(PAGES);
	ASSERT_NE(NULL, self->p);
}

FIXTURE_TEARDOWN(anon)
{
	munmap(self->p, PAGES * PAGE);
}

TEST_F(anon, never_touched)
{
	EXPECT_PAGES(self->p, PAGES, M_RW);
}

TEST_F(anon, zero_page)
{
	touch_read(self->p, PAGES);
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_PRESENT | WSQUERY_ZERO);
}

TEST_F(anon, present)
{
	fill(self->p, PAGES);
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_PRESENT);
}

TEST_F(anon, read_only)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_READ));
	EXPECT_PAGES(self->p, PAGES, M_RO | WSQUERY_PRESENT);
}

TEST_F(anon, executable)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_READ | PROT_EXEC));
	EXPECT_PAGES(self->p, PAGES, M_RO | WSQUERY_EXECUTABLE | WSQUERY_PRESENT);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_EXEC));
	EXPECT_PAGES(self->p, PAGES, M_NONE | WSQUERY_EXECUTABLE | WSQUERY_PRESENT);
}

/* The processor cannot reach the page, but it is in memory. */
TEST_F(anon, prot_none)
{
	fill(self->p, PAGES / 2);
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_NONE));
	EXPECT_PAGES(self->p, PAGES / 2, M_NONE | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + PAGES / 2 * PAGE, PAGES / 2, M_NONE);
}

TEST_F(anon, swapped)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_SWAPPED);
	EXPECT_EQ(0, verify(self->p, PAGES));
}

TEST_F(anon, swapped_prot_none)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_NONE));
	EXPECT_PAGES(self->p, PAGES, M_NONE | WSQUERY_SWAPPED);
}

/* Read-ahead may bring neighbours into the swap cache, but maps none of them. */
TEST_F(anon, swapped_and_read_again)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	touch_read(self->p + 7 * PAGE, 1);
	EXPECT_PAGES(self->p, 7, M_RW | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->p + 7 * PAGE, 1, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + 8 * PAGE, PAGES - 8, M_RW | WSQUERY_SWAPPED);
}

static int child_sees(void *arg)
{
	char *p = arg;

	if (check(p, PAGES, M_RW | WSQUERY_PRESENT))
		return 1;
	*p = 1;
	return !!check(p, PAGES, M_RW | WSQUERY_PRESENT);
}

TEST_F(anon, forked_present)
{
	fill(self->p, PAGES);
	EXPECT_EQ(0, in_child(child_sees, self->p));
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_PRESENT);
	EXPECT_EQ(0, verify(self->p, PAGES));
}

static int child_sees_swap(void *arg)
{
	char *p = arg;

	if (check(p, PAGES, M_RW | WSQUERY_SWAPPED))
		return 1;
	p[3 * PAGE] = 1;
	return check(p, 3, M_RW | WSQUERY_SWAPPED) ||
	       check(p + 3 * PAGE, 1, M_RW | WSQUERY_PRESENT) ||
	       check(p + 4 * PAGE, PAGES - 4, M_RW | WSQUERY_SWAPPED);
}

/* Parent and child share the place in swap; what one reads stays out for the other. */
TEST_F(anon, forked_swapped)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	EXPECT_EQ(0, in_child(child_sees_swap, self->p));
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_SWAPPED);
}

TEST_F(anon, locked)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, mlock(self->p, PAGES * PAGE));
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_LOCKED | WSQUERY_PRESENT);
	ASSERT_EQ(0, munlock(self->p, PAGES * PAGE));
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_PRESENT);
}

TEST_F(anon, discarded)
{
	fill(self->p, PAGES);
	ASSERT_EQ(0, madvise(self->p, PAGES * PAGE, MADV_DONTNEED));
	EXPECT_PAGES(self->p, PAGES, M_RW);
}

TEST_F(anon, discarded_swapped)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	ASSERT_EQ(0, madvise(self->p, PAGES * PAGE, MADV_DONTNEED));
	EXPECT_PAGES(self->p, PAGES, M_RW);
}

TEST_F(anon, moved)
{
	char *to = map_anon(PAGES);

	NEED_SWAP();
	fill(self->p, PAGES);
	ASSERT_EQ(0, evict(self->p, PAGES));
	touch_read(self->p, 1);
	ASSERT_EQ(to, mremap(self->p, PAGES * PAGE, PAGES * PAGE,
			     MREMAP_MAYMOVE | MREMAP_FIXED, to));
	EXPECT_PAGES(self->p, PAGES, 0);
	EXPECT_PAGES(to, 1, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(to + PAGE, PAGES - 1, M_RW | WSQUERY_SWAPPED);
}

/* Each state for one page only, side by side. */
TEST_F(anon, all_states_mixed)
{
	int i;

	NEED_SWAP();
	for (i = 0; i < PAGES; i += 4)
		fill(self->p + i * PAGE, 1);
	for (i = 0; i < PAGES; i += 4)
		madvise(self->p + i * PAGE, PAGE, MADV_PAGEOUT);
	ASSERT_EQ(0, evict(self->p, PAGES / 4));
	for (i = 0; i < PAGES; i += 4) {
		touch_read(self->p + (i + 1) * PAGE, 1);
		fill(self->p + (i + 2) * PAGE, 1);
	}
	for (i = 0; i < PAGES / 4; i += 4) {
		EXPECT_PAGES(self->p + i * PAGE, 1, M_RW | WSQUERY_SWAPPED);
		EXPECT_PAGES(self->p + (i + 1) * PAGE, 1, M_RW | WSQUERY_PRESENT | WSQUERY_ZERO);
		EXPECT_PAGES(self->p + (i + 2) * PAGE, 1, M_RW | WSQUERY_PRESENT);
		EXPECT_PAGES(self->p + (i + 3) * PAGE, 1, M_RW);
	}
}

/* In one request: what is without access is told apart page by page as well. */
TEST_F(anon, all_states_without_access)
{
	__u64 f[PAGES];
	int i;

	NEED_SWAP();
	for (i = 0; i < PAGES; i += 4) {
		fill(self->p + i * PAGE, 1);
		madvise(self->p + i * PAGE, PAGE, MADV_PAGEOUT);
	}
	ASSERT_EQ(0, evict(self->p, PAGES / 4));
	for (i = 0; i < PAGES; i += 4) {
		fill(self->p + (i + 1) * PAGE, 1);
		touch_read(self->p + (i + 3) * PAGE, 1);
	}
	ASSERT_EQ(0, mprotect(self->p, PAGES * PAGE, PROT_NONE));
	ASSERT_EQ(0, wsq_wide(own(), self->p, PAGES, f));
	for (i = 0; i < PAGES; i += 4) {
		EXPECT_EQ(M_NONE | WSQUERY_SWAPPED, f[i] & ~VOLATILE_ATTRS);
		EXPECT_EQ(M_NONE | WSQUERY_PRESENT, f[i + 1] & ~VOLATILE_ATTRS);
		EXPECT_EQ(M_NONE, f[i + 2] & ~VOLATILE_ATTRS);
		EXPECT_EQ(M_NONE | WSQUERY_PRESENT | WSQUERY_ZERO, f[i + 3] & ~VOLATILE_ATTRS);
	}
	EXPECT_EQ(0, check_forms(own(), self->p, PAGES, f));
	EXPECT_EQ(0, compare_peers(own(), self->p, PAGES, f));
}

/* The stack and the heap are private anonymous memory too. */
TEST_F(anon, stack_and_heap)
{
	char on_stack[3 * PAGE], *on_heap = sbrk(3 * PAGE);
	char *page = (char *)(((uintptr_t)on_stack + PAGE) & ~(PAGE - 1));

	memset(on_stack, 1, sizeof(on_stack));
	EXPECT_PAGES(page, 1, M_RW | WSQUERY_PRESENT);
	ASSERT_NE((void *)-1, on_heap);
	page = (char *)(((uintptr_t)on_heap + PAGE) & ~(PAGE - 1));
	EXPECT_PAGES(page, 2, M_RW);
	*page = 1;
	EXPECT_PAGES(page, 1, M_RW | WSQUERY_PRESENT);
}

TEST_HARNESS_MAIN
