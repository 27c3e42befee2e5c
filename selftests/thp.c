// SPDX-License-Identifier: GPL-2.0
/*
 * Transparent huge pages: whole, in parts, split, in swap, of anonymous and of
 * shared memory, and pages of sizes between.
 */
#include <fcntl.h>
#include <sys/prctl.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES		(2 * HUGE2M / PAGE)
#define HALF		(HUGE2M / PAGE)
#define THP_DIR		"/sys/kernel/mm/transparent_hugepage/"
#define SHM_RW		(M_RW | WSQUERY_SHMEM | WSQUERY_SHARED)

FIXTURE(thp) {
	char *p;
};

/* The word in brackets of a sysfs file of choices. */
static void sysfs_choice(const char *path, char *word, size_t size)
{
	char text[256] = "", *from, *to;
	FILE *f = fopen(path, "r");

	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	from = strchr(text, '[');
	to = strchr(text, ']');
	word[0] = 0;
	if (from && to) {
		*to = 0;
		snprintf(word, size, "%s", from + 1);
	}
}

/* How many kB of the mapping huge entries map, says smaps. */
static long huge_kb(const void *p)
{
	struct smaps s;

	return smaps_of(p, &s) ? -1 : (long)s.anon_huge;
}

#define NEED_HUGE(p, size) do { \
	if (huge_kb(p) != (long)((size) / 1024)) \
		SKIP(return, "no huge pages to be had: %ld kB", huge_kb(p)); \
} while (0)

FIXTURE_SETUP(thp)
{
	char enabled[32];

	own();
	ASSERT_EQ(0, prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0));
	sysfs_choice(THP_DIR "enabled", enabled, sizeof(enabled));
	if (strcmp(enabled, "always") && strcmp(enabled, "madvise"))
		SKIP(return, "transparent huge pages are off");
	self->p = map_aligned(2 * HUGE2M, HUGE2M, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	ASSERT_NE(NULL, self->p);
	ASSERT_EQ(0, madvise(self->p, 2 * HUGE2M, MADV_HUGEPAGE));
}

FIXTURE_TEARDOWN(thp)
{
}

TEST_F(thp, never_touched)
{
	EXPECT_PAGES(self->p, PAGES, M_RW);
}

TEST_F(thp, present)
{
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE);
}

/* Ranges that start or end within a huge page. */
TEST_F(thp, half_asked)
{
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	EXPECT_PAGES(self->p + 7 * PAGE, 1, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE);
	EXPECT_PAGES(self->p + HALF / 2 * PAGE, HALF, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE);
	EXPECT_PAGES(self->p + (PAGES - 3) * PAGE, 3, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE);
}

TEST_F(thp, zero_page)
{
	touch_read(self->p, PAGES);
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE | WSQUERY_ZERO);
}

TEST_F(thp, prot_none)
{
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	ASSERT_EQ(0, mprotect(self->p, 2 * HUGE2M, PROT_NONE));
	EXPECT_PAGES(self->p, PAGES, M_NONE | WSQUERY_PRESENT | WSQUERY_HUGE);
}

/* Still one huge page in memory, but mapped by entries for small ones. */
TEST_F(thp, split_by_mprotect)
{
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	ASSERT_EQ(0, mprotect(self->p + 8 * PAGE, 8 * PAGE, PROT_READ));
	EXPECT_PAGES(self->p, 8, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + 8 * PAGE, 8, M_RO | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + 16 * PAGE, HALF - 16, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + HUGE2M, HALF, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE);
}

TEST_F(thp, partly_unmapped)
{
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	ASSERT_EQ(0, munmap(self->p + 100 * PAGE, HUGE2M));
	EXPECT_PAGES(self->p, 100, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + 100 * PAGE, HALF, 0);
	EXPECT_PAGES(self->p + HUGE2M + 100 * PAGE, HALF - 100, M_RW | WSQUERY_PRESENT);
}

TEST_F(thp, partly_discarded)
{
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	ASSERT_EQ(0, madvise(self->p + 16 * PAGE, 16 * PAGE, MADV_DONTNEED));
	EXPECT_PAGES(self->p, 16, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + 16 * PAGE, 16, M_RW);
	EXPECT_PAGES(self->p + 32 * PAGE, HALF - 32, M_RW | WSQUERY_PRESENT);
}

TEST_F(thp, swapped)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	ASSERT_EQ(0, evict(self->p, PAGES));
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_SWAPPED);
	EXPECT_EQ(0, verify(self->p, PAGES));
}

TEST_F(thp, partly_swapped)
{
	NEED_SWAP();
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	ASSERT_EQ(0, evict(self->p + 32 * PAGE, 32));
	EXPECT_PAGES(self->p, 32, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(self->p + 32 * PAGE, 32, M_RW | WSQUERY_SWAPPED);
	EXPECT_PAGES(self->p + 64 * PAGE, HALF - 64, M_RW | WSQUERY_PRESENT);
}

static int child_sees(void *p)
{
	return !!check(p, PAGES, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE);
}

TEST_F(thp, forked)
{
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	EXPECT_EQ(0, in_child(child_sees, self->p));
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE);
}

TEST_F(thp, locked)
{
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	ASSERT_EQ(0, mlock(self->p, 2 * HUGE2M));
	EXPECT_PAGES(self->p, PAGES, M_RW | WSQUERY_PRESENT | WSQUERY_HUGE | WSQUERY_LOCKED);
}

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
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
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

TEST_HARNESS_MAIN
