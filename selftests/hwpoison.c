// SPDX-License-Identifier: GPL-2.0
/*
 * Pages whose content is lost, as an entry in the page table says.
 */
#include <signal.h>

#include "kselftest_harness.h"
#include "wsq.h"

/* The kernel may tell by a signal too. */
static void ignore(int sig)
{
	(void)sig;
}

/* Poisons a page; its mapping has been written. */
static int poison(char *p)
{
	int rc;

	own();
	signal(SIGBUS, ignore);
	rc = madvise(p, PAGE, MADV_HWPOISON);
	/* The page could not be freed; the entry tells all the same. */
	if (rc && errno == EBUSY)
		rc = 0;
	signal(SIGBUS, SIG_DFL);
	return rc;
}

#define NEED_POISON(p) do { \
	NEED_ROOT(); \
	if (poison(p)) \
		SKIP(return, "no memory failures to be injected: %s", strerror(errno)); \
} while (0)

TEST(hwpoison)
{
	char *p = map_anon(3);

	fill(p, 3);
	NEED_POISON(p + PAGE);
	EXPECT_PAGES(p, 1, M_RW | WSQUERY_PRESENT);
	EXPECT_PAGES(p + PAGE, 1, M_RW | WSQUERY_HWPOISON);
	EXPECT_PAGES(p + 2 * PAGE, 1, M_RW | WSQUERY_PRESENT);
}

TEST(hwpoison_shmem)
{
	char *p = map_shared(-1, 3);
	__u64 base = M_RW | WSQUERY_SHMEM | WSQUERY_SHARED;

	fill(p, 3);
	NEED_POISON(p + PAGE);
	EXPECT_PAGES(p, 1, base | WSQUERY_PRESENT);
	EXPECT_PAGES(p + PAGE, 1, base | WSQUERY_HWPOISON);
	EXPECT_PAGES(p + 2 * PAGE, 1, base | WSQUERY_PRESENT);
}

TEST(hwpoison_file)
{
	char *p = map_shared(regular_file(false, 3), 3);
	__u64 base = M_RW | WSQUERY_FILE | WSQUERY_SHARED;

	ASSERT_NE(NULL, p);
	fill(p, 3);
	NEED_POISON(p + PAGE);
	EXPECT_PAGES(p, 1, base | WSQUERY_PRESENT);
	EXPECT_PAGES(p + PAGE, 1, base | WSQUERY_HWPOISON);
	EXPECT_PAGES(p + 2 * PAGE, 1, base | WSQUERY_PRESENT);
}

TEST(hwpoison_hugetlb)
{
	__u64 base = M_RW | WSQUERY_FILE | WSQUERY_HUGETLB;
	char *p;

	if (hugetlb_reserve(HUGE2M, 2))
		SKIP(return, "no huge pages to be had");
	p = mmap(NULL, HUGE2M, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		 -1, 0);
	ASSERT_NE(MAP_FAILED, p);
	fill(p, HUGE2M / PAGE);
	NEED_POISON(p);
	EXPECT_PAGES(p, HUGE2M / PAGE, base | WSQUERY_HWPOISON);
}

TEST_HARNESS_MAIN
