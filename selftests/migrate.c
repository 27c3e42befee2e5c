// SPDX-License-Identifier: GPL-2.0
/*
 * Pages on the move between nodes, and pages hidden to see who uses them: both are
 * in memory all the time. pagemap calls pages on the move swapped now and then.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64

struct mover {
	char *p;
	int count;	/* addresses to move, a stride apart */
	size_t stride;
	atomic_int stop;
	atomic_int moved;
	int small;	/* answers that were not huge */
};

/* Returns how many pages are on the node then, or -1. */
static long move_pages_to(const struct mover *m, int node)
{
	void *pages[PAGES];
	int nodes[PAGES], status[PAGES], i, n = 0;

	for (i = 0; i < m->count; i++) {
		pages[i] = m->p + i * m->stride;
		nodes[i] = node;
		status[i] = -1;
	}
	if (syscall(SYS_move_pages, 0, (long)m->count, pages, nodes, status,
		    2 /* MPOL_MF_MOVE */))
		return -1;
	for (i = 0; i < m->count; i++)
		n += status[i] == node;
	return n;
}

static void *move_to_and_fro(void *arg)
{
	struct mover *m = arg;
	int node = 0;

	while (!m->stop) {
		long n = move_pages_to(m, node ^= 1);

		if (n > 0)
			m->moved += n;
	}
	return NULL;
}

/*
 * Asks while another thread moves the pages. Returns how many answers were not
 * the expected state, whether or not they said that the page was being moved;
 * -1 if nothing moved.
 */
static int ask_while_moving(struct mover *m, size_t pages, __u64 expected, __u64 care, int enough)
{
	static __u64 flags[HUGE2M / PAGE];
	struct wsq *q = own();
	pthread_t thread;
	time_t until = time(NULL) + 120;
	int bad = 0;
	size_t i;

	care &= ~(VOLATILE_ATTRS | WSQUERY_MIGRATING);
	if (move_pages_to(m, 1) <= 0 || pthread_create(&thread, NULL, move_to_and_fro, m))
		return -1;
	while (m->moved < enough && time(NULL) < until) {
		if (wsq_wide(q, m->p, pages, flags)) {
			bad = -2;
			break;
		}
		for (i = 0; i < pages; i++) {
			m->small += !(flags[i] & WSQUERY_HUGE);
			if (((flags[i] ^ expected) & care) && bad++ < 4)
				fprintf(stderr, "# page %zu is %#llx\n", i,
					(unsigned long long)flags[i]);
		}
	}
	m->stop = 1;
	pthread_join(thread, NULL);
	if (m->moved < enough) {
		fprintf(stderr, "# only %d were moved\n", m->moved);
		return -1;
	}
	return bad;
}

#define NEED_NODES() do { \
	if (access("/sys/devices/system/node/node1", F_OK)) \
		SKIP(return, "one node only"); \
} while (0)

TEST(migrating)
{
	struct mover m = { .p = map_anon(PAGES), .count = PAGES, .stride = PAGE };

	NEED_NODES();
	fill(m.p, PAGES);
	EXPECT_EQ(0, ask_while_moving(&m, PAGES, M_RW | WSQUERY_PRESENT, -1ULL, 500));
	EXPECT_EQ(0, verify(m.p, PAGES));
}

TEST(migrating_shmem)
{
	struct mover m = { .p = map_shared(-1, PAGES), .count = PAGES, .stride = PAGE };

	NEED_NODES();
	fill(m.p, PAGES);
	EXPECT_EQ(0, ask_while_moving(&m, PAGES, M_RW | WSQUERY_SHMEM | WSQUERY_SHARED |
				      WSQUERY_PRESENT, -1ULL, 500));
	EXPECT_EQ(0, verify(m.p, PAGES));
}

/* Stays huge all the time, unless the kernel splits it for good to move it. */
TEST(migrating_huge)
{
	struct mover m = { .count = 1, .stride = HUGE2M };

	NEED_NODES();
	own();
	thp_allow();
	m.p = map_aligned(HUGE2M, HUGE2M, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	ASSERT_NE(NULL, m.p);
	madvise(m.p, HUGE2M, MADV_HUGEPAGE);
	fill(m.p, HUGE2M / PAGE);
	NEED_HUGE(m.p, HUGE2M);
	EXPECT_EQ(0, ask_while_moving(&m, HUGE2M / PAGE, M_RW | WSQUERY_PRESENT,
				      ~WSQUERY_HUGE, 20));
	if (huge_kb(m.p) == (long)(HUGE2M / 1024))
		EXPECT_EQ(0, m.small);
	EXPECT_EQ(0, verify(m.p, HUGE2M / PAGE));
}

TEST(migrating_hugetlb)
{
	struct mover m = { .count = 1, .stride = HUGE2M };

	NEED_NODES();
	if (hugetlb_reserve(HUGE2M, 8))
		SKIP(return, "no huge pages to be had");
	m.p = mmap(NULL, HUGE2M, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	ASSERT_NE(MAP_FAILED, m.p);
	fill(m.p, HUGE2M / PAGE);
	EXPECT_EQ(0, ask_while_moving(&m, HUGE2M / PAGE, M_RW | WSQUERY_FILE | WSQUERY_SHARED |
				      WSQUERY_HUGETLB | WSQUERY_HUGE | WSQUERY_PRESENT, -1ULL, 50));
	EXPECT_EQ(0, verify(m.p, HUGE2M / PAGE));
}

/* Entries that NUMA balancing took access from to see who uses the page. */
TEST(numa_hint)
{
	long faults, seen = 0;
	char *p = map_anon(PAGES);
	struct mover near = { .p = p, .count = PAGES / 2, .stride = PAGE };
	struct mover far = { .p = p + PAGES / 2 * PAGE, .count = PAGES / 2, .stride = PAGE };
	int tries;

	NEED_ROOT();
	own();
	fill(p, PAGES);
	/* On both nodes, since pages of the node that it runs on are left alone. */
	if (move_pages_to(&near, 0) < 0 || move_pages_to(&far, 1) < 0 ||
	    write_text("/proc/sys/kernel/numa_balancing", "1"))
		SKIP(return, "no NUMA balancing");
	/*
	 * How many entries were hidden is counted for the whole machine. That those of these
	 * pages were, shows when they are used, by a fault; until then they are asked about.
	 */
	for (tries = 0; tries < 300 && seen < PAGES / 2; tries++) {
		clock_t until = clock() + CLOCKS_PER_SEC / 10;

		while (clock() < until)
			;
		EXPECT_PAGES(p, PAGES, M_RW | WSQUERY_PRESENT);
		faults = proc_value("/proc/vmstat", "numa_hint_faults");
		EXPECT_EQ(0, verify(p, PAGES));
		seen += proc_value("/proc/vmstat", "numa_hint_faults") - faults;
	}
	write_text("/proc/sys/kernel/numa_balancing", "0");
	if (!seen)
		SKIP(return, "NUMA balancing did not come round");
}

TEST_HARNESS_MAIN
