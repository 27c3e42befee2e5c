// SPDX-License-Identifier: GPL-2.0
/*
 * Transparent huge pages of anonymous memory: whole, in parts, split, in swap.
 */
#include <pthread.h>
#include <time.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES		(2 * HUGE2M / PAGE)
#define HALF		(HUGE2M / PAGE)

FIXTURE(thp) {
	char *p;
};

FIXTURE_SETUP(thp)
{
	char enabled[32];

	own();
	ASSERT_EQ(0, thp_allow());
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

TEST_F(thp, read_only)
{
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	ASSERT_EQ(0, mprotect(self->p, 2 * HUGE2M, PROT_READ));
	EXPECT_PAGES(self->p, PAGES, M_RO | WSQUERY_PRESENT | WSQUERY_HUGE);
}

TEST_F(thp, executable)
{
	fill(self->p, PAGES);
	NEED_HUGE(self->p, 2 * HUGE2M);
	ASSERT_EQ(0, mprotect(self->p, 2 * HUGE2M, PROT_READ | PROT_EXEC));
	EXPECT_PAGES(self->p, PAGES,
		     M_RO | WSQUERY_EXECUTABLE | WSQUERY_PRESENT | WSQUERY_HUGE);
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

/*
 * The huge zero page is split by way of a PMD that is none for a moment. All pages
 * are present from before that to after it, and an answer from that time must say so.
 */
static struct {
	char *p;
	unsigned int populated;	/* odd while the pages are present */
	bool stop;
} split;

static void *splits(void *arg)
{
	volatile char *p = split.p;

	while (!__atomic_load_n(&split.stop, __ATOMIC_RELAXED)) {
		/* A new mapping has no table, so that the read maps a huge page. */
		mmap(split.p, HUGE2M, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		madvise(split.p, HUGE2M, MADV_HUGEPAGE);
		(void)p[PAGE];
		__atomic_add_fetch(&split.populated, 1, __ATOMIC_SEQ_CST);
		usleep(100);
		p[0] = 1;
		usleep(100);
		__atomic_add_fetch(&split.populated, 1, __ATOMIC_SEQ_CST);
	}
	return arg;
}

TEST_F(thp, zero_page_split)
{
	unsigned long asked = 0, holes = 0;
	unsigned int seen, i;
	pthread_t thread;
	__u8 b[HALF];
	time_t end;

	ASSERT_EQ(0, madvise(self->p, HUGE2M, MADV_DONTNEED));
	touch_read(self->p, 1);
	ASSERT_EQ(0, wsq_bytes(own(), self->p, HALF, b));
	if (!(b[1] & WSQUERY_HUGE))
		SKIP(return, "no huge zero page");
	split.p = self->p;
	ASSERT_EQ(0, pthread_create(&thread, NULL, splits, NULL));
	for (end = time(NULL) + 5; time(NULL) < end; ) {
		seen = __atomic_load_n(&split.populated, __ATOMIC_SEQ_CST);
		if (!(seen & 1))
			continue;
		ASSERT_EQ(0, wsq_bytes(own(), self->p, HALF, b));
		if (__atomic_load_n(&split.populated, __ATOMIC_SEQ_CST) != seen)
			continue;
		asked++;
		for (i = 0; i < HALF; i++)
			holes += !(b[i] & WSQUERY_PRESENT);
	}
	__atomic_store_n(&split.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	EXPECT_LT(0, asked);
	EXPECT_EQ(0, holes);
}

TEST_HARNESS_MAIN
