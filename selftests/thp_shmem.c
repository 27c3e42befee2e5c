// SPDX-License-Identifier: GPL-2.0
/*
 * Huge pages of shared memory, and folios of 64 kB of any memory.
 */
#include "kselftest_harness.h"
#include "wsq.h"

#define HALF		(HUGE2M / PAGE)
#define SHM_RW		(M_RW | WSQUERY_SHMEM | WSQUERY_SHARED)
#define SHM_RO		(M_RO | WSQUERY_SHMEM | WSQUERY_SHARED)

/* Folios of 64 kB: no huge entry maps them, and they go to swap as one. */
FIXTURE(folio) {
	char *p;
};

FIXTURE_VARIANT(folio) {
	const char *knob;
	bool shared;
};

FIXTURE_VARIANT_ADD(folio, anon) {
	.knob = THP_DIR "hugepages-64kB/enabled",
};

FIXTURE_VARIANT_ADD(folio, shmem) {
	.knob = THP_DIR "hugepages-64kB/shmem_enabled", .shared = true,
};

FIXTURE_VARIANT_ADD(folio, shmem_huge) {
	.knob = THP_DIR "shmem_enabled", .shared = true,
};

static char folio_saved[32];

FIXTURE_SETUP(folio)
{
	own();
	thp_allow();
	if (access(variant->knob, W_OK))
		SKIP(return, "this kernel has no %s", variant->knob);
	sysfs_choice(variant->knob, folio_saved, sizeof(folio_saved));
	ASSERT_EQ(0, write_text(variant->knob, variant->shared ? "advise" : "madvise"));
	self->p = map_aligned(2 * HUGE2M, HUGE2M, PROT_READ | PROT_WRITE,
			      variant->shared ? MAP_SHARED : MAP_PRIVATE);
	ASSERT_NE(NULL, self->p);
	ASSERT_EQ(0, madvise(self->p, 2 * HUGE2M, MADV_HUGEPAGE));
	if (!variant->shared)
		ASSERT_EQ(0, munmap(self->p + HUGE2M - PAGE, PAGE));
}

FIXTURE_TEARDOWN(folio)
{
	if (folio_saved[0])
		write_text(variant->knob, folio_saved);
}

/* From within the last folio in swap and past its end. */
static int sees_the_end(void *p)
{
	__u64 f[20], base = M_RW | WSQUERY_SHMEM | WSQUERY_SHARED;
	int i, bad = 0;

	if (wsq_wide(own(), (char *)p + 250 * PAGE, 20, f) ||
	    check_forms(own(), (char *)p + 250 * PAGE, 20, f))
		return 1;
	for (i = 0; i < 20; i++)
		bad += (f[i] & ~VOLATILE_ATTRS) != (base | (i < 6 ? WSQUERY_SWAPPED : 0));
	return bad;
}

TEST_F(folio, present_and_swapped)
{
	__u64 base = M_RW | (variant->shared ? WSQUERY_SHMEM | WSQUERY_SHARED : 0);
	bool huge = !strcmp(variant->knob, THP_DIR "shmem_enabled");

	NEED_SWAP();
	fill(self->p, 256);
	if (huge)
		NEED_HUGE(self->p, HUGE2M);
	EXPECT_PAGES(self->p, 256, base | WSQUERY_PRESENT | (huge ? WSQUERY_HUGE : 0));
	ASSERT_EQ(0, evict(self->p, huge ? HALF : 256));
	EXPECT_PAGES(self->p, 256, base | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->p + 5 * PAGE, 3, base | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->p + 250 * PAGE, 6, base | WSQUERY_SWAPPED);
	/* With a page table of its own, and in a child without one. */
	if (variant->shared && !huge) {
		EXPECT_EQ(0, sees_the_end(self->p));
		EXPECT_EQ(0, in_child(sees_the_end, self->p));
	}
	EXPECT_EQ(0, verify(self->p, 256));
}

/* In the page cache as a whole, mapped by nobody; anonymous memory is gone. */
TEST_F(folio, unmapped)
{
	bool huge = !strcmp(variant->knob, THP_DIR "shmem_enabled");

	fill(self->p, 256);
	if (huge)
		NEED_HUGE(self->p, HUGE2M);
	ASSERT_EQ(0, madvise(self->p, HUGE2M - PAGE, MADV_DONTNEED));
	EXPECT_PAGES(self->p, 256, variant->shared ? SHM_RW | WSQUERY_CACHED : M_RW);
	EXPECT_PAGES(self->p + HUGE2M, HALF, variant->shared ? SHM_RW : M_RW);
}

/* One huge page of shared memory. */
FIXTURE(shmem_huge) {
	char *p;
	char saved[32];
};

FIXTURE_SETUP(shmem_huge)
{
	own();
	thp_allow();
	sysfs_choice(THP_DIR "shmem_enabled", self->saved, sizeof(self->saved));
	if (write_text(THP_DIR "shmem_enabled", "advise"))
		SKIP(return, "no huge pages of shared memory");
	self->p = map_aligned(HUGE2M, HUGE2M, PROT_READ | PROT_WRITE, MAP_SHARED);
	ASSERT_NE(NULL, self->p);
	ASSERT_EQ(0, madvise(self->p, HUGE2M, MADV_HUGEPAGE));
	fill(self->p, HALF);
	NEED_HUGE(self->p, HUGE2M);
}

FIXTURE_TEARDOWN(shmem_huge)
{
	write_text(THP_DIR "shmem_enabled", self->saved);
}

#define MAYBE_HUGE(p)	(WSQUERY_PRESENT | (huge_kb(p) ? WSQUERY_HUGE : 0))

TEST_F(shmem_huge, protections)
{
	__u64 mapped;

	ASSERT_EQ(0, mprotect(self->p, HUGE2M, PROT_READ));
	EXPECT_PAGES(self->p, HALF, SHM_RO | MAYBE_HUGE(self->p));
	ASSERT_EQ(0, mprotect(self->p, HUGE2M, PROT_READ | PROT_EXEC));
	EXPECT_PAGES(self->p, HALF, SHM_RO | WSQUERY_EXECUTABLE | MAYBE_HUGE(self->p));
	/* The smaps of 6.1 does not see it without access. */
	mapped = MAYBE_HUGE(self->p);
	ASSERT_EQ(0, mprotect(self->p, HUGE2M, PROT_NONE));
	EXPECT_PAGES(self->p, HALF, M_NONE | WSQUERY_SHMEM | WSQUERY_SHARED | mapped);
}

static int child_evicts(void *p)
{
	touch_read(p, HALF);
	return evict(p, HALF) ? 1 : 0;
}

TEST_F(shmem_huge, swapped_elsewhere)
{
	__u64 f[HALF];
	struct smaps s;
	size_t i, out = 0;

	NEED_SWAP();
	ASSERT_EQ(0, madvise(self->p, HUGE2M, MADV_DONTNEED));
	ASSERT_EQ(0, in_child(child_evicts, self->p));
	EXPECT_PAGES(self->p, HALF, SHM_RW | WSQUERY_SWAPPED);
	/* How many come back with one is the kernel's choice. */
	touch_read(self->p + 9 * PAGE, 1);
	EXPECT_PAGES(self->p + 9 * PAGE, 1, SHM_RW | MAYBE_HUGE(self->p));
	ASSERT_EQ(0, wsq_wide(own(), self->p, HALF, f));
	EXPECT_EQ(0, check_forms(own(), self->p, HALF, f));
	EXPECT_EQ(0, compare_peers(own(), self->p, HALF, f));
	for (i = 0; i < HALF; i++)
		out += !!(f[i] & WSQUERY_SWAPPED);
	ASSERT_EQ(0, smaps_of(self->p, &s));
	EXPECT_EQ(s.swap * 1024 / PAGE, out);
	EXPECT_EQ(0, verify(self->p, HALF));
}

static int child_sees(void *p)
{
	if (check(p, HALF, SHM_RW | WSQUERY_CACHED))
		return 1;
	touch_read(p, HALF);
	return !!check(p, HALF, SHM_RW | MAYBE_HUGE(p));
}

TEST_F(shmem_huge, forked_and_locked)
{
	EXPECT_EQ(0, in_child(child_sees, self->p));
	ASSERT_EQ(0, mlock(self->p, HUGE2M));
	EXPECT_PAGES(self->p, HALF, SHM_RW | WSQUERY_LOCKED | MAYBE_HUGE(self->p));
}

/* What becomes of the rest when a part is discarded, pagemap tells. */
TEST_F(shmem_huge, parts)
{
	__u64 pm[HALF];
	size_t i;

	EXPECT_PAGES(self->p + 100 * PAGE, 50, SHM_RW | WSQUERY_PRESENT | WSQUERY_HUGE);
	EXPECT_PAGES(self->p + (HALF - 1) * PAGE, 1, SHM_RW | WSQUERY_PRESENT | WSQUERY_HUGE);
	ASSERT_EQ(0, madvise(self->p + 100 * PAGE, 50 * PAGE, MADV_DONTNEED));
	ASSERT_EQ(0, pagemap_read(pagemap_open(0), self->p, HALF, pm));
	for (i = 0; i < HALF; i += 25)
		EXPECT_PAGES(self->p + i * PAGE, 1, SHM_RW | (pm[i] & PM_PRESENT ?
			     WSQUERY_PRESENT : WSQUERY_CACHED));
	touch_read(self->p + 7 * PAGE, 1);
	EXPECT_EQ(0, check_flags(own(), __FILE__, __LINE__, self->p + 7 * PAGE, 1,
				 SHM_RW | WSQUERY_PRESENT, ~(VOLATILE_ATTRS | WSQUERY_HUGE)));
}

TEST_HARNESS_MAIN
