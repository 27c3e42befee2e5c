// SPDX-License-Identifier: GPL-2.0
/*
 * KSM makes a merged page of one that a relative maps too, whose mapping was
 * never given to KSM.
 */
#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64

static void stand_still(struct peer *peer, void *arg)
{
	(void)peer;
	(void)arg;
}

/* Merges all pages into one; returns how many are. */
static int merge(char *p, __u64 *pm)
{
	int fd = pagemap_open(0), tries, i, merged = 0;

	write_text("/sys/kernel/mm/ksm/pages_to_scan", "1000");
	write_text("/sys/kernel/mm/ksm/run", "1");
	for (tries = 0; tries < 200 && merged < PAGES; tries++) {
		usleep(50000);
		if (pagemap_read(fd, p, PAGES, pm))
			break;
		for (i = merged = 0; i < PAGES; i++)
			merged += !((pm[i] ^ pm[0]) & PM_FRAME);
	}
	write_text("/sys/kernel/mm/ksm/run", "0");
	close(fd);
	return merged;
}

TEST(merged_in_a_relative)
{
	char *p = map_anon(PAGES);
	struct wsq q = *own();
	__u64 pm[PAGES], theirs[PAGES], f[PAGES];
	struct peer peer;
	int i, shared = 0;

	NEED_ROOT();
	for (i = 0; i < PAGES; i++)
		memset(p + i * PAGE, 0x5d, PAGE);
	ASSERT_EQ(0, peer_start(&peer, stand_still, NULL));
	if (madvise(p, PAGES * PAGE, MADV_MERGEABLE))
		SKIP(return, "no KSM");
	ASSERT_EQ(PAGES, merge(p, pm));
	ASSERT_EQ(0, pagemap_read(peer.pagemap, p, PAGES, theirs));
	q.target = peer.pagemap;
	ASSERT_EQ(0, wsq_wide(&q, p, PAGES, f));
	/* What both map and one has merged is merged. */
	for (i = 0; i < PAGES; i++) {
		bool same = !((theirs[i] ^ pm[0]) & PM_FRAME);

		shared += same;
		EXPECT_EQ(M_RW | WSQUERY_PRESENT | (same ? WSQUERY_KSM : 0),
			  f[i] & ~VOLATILE_ATTRS);
	}
	EXPECT_LE(1, shared);
	EXPECT_EQ(0, check_forms(&q, p, PAGES, f));
	write_text("/sys/kernel/mm/ksm/run", "2");
	peer_end(&peer);
}

TEST_HARNESS_MAIN
