// SPDX-License-Identifier: GPL-2.0
/*
 * Asking changes nothing: no fault, no page brought in, marked or charged, no
 * page table made. Of a process that stands still, and of one's own.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define SPACE	(IS_32BIT ? 1ULL << 32 : 1ULL << 47)
#define PAGES	128
#define GROUP	"/sys/fs/cgroup/wsquery-test"

struct state {
	unsigned long minor, major, rss;
	long tables, swap_ins, swap_outs, charged;
	unsigned long rss_kb, swap_kb, referenced_kb;
};

/* Faults and size of a process, from /proc/PID/stat: fields 10, 12 and 24. */
static int stat_read(pid_t pid, struct state *s)
{
	char path[64], line[1024], *at, *word;
	int field = 2;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	/* The name is the second field and may hold anything. */
	at = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	if (!at)
		return -1;
	for (word = strtok(at + 1, " "); word && field < 24; word = strtok(NULL, " ")) {
		unsigned long n = strtoul(word, NULL, 10);

		field++;
		if (field == 10)
			s->minor = n;
		else if (field == 12)
			s->major = n;
		else if (field == 24)
			s->rss = n;
	}
	return field == 24 ? 0 : -1;
}

static long number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	long n = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}

static int state_read(pid_t pid, struct state *s)
{
	static struct smaps maps[256];
	char path[64];
	int i, n;

	memset(s, 0, sizeof(*s));
	if (stat_read(pid, s))
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	s->tables = proc_value(path, "VmPTE");
	s->swap_ins = proc_value("/proc/vmstat", "pswpin");
	s->swap_outs = proc_value("/proc/vmstat", "pswpout");
	s->charged = number_in(GROUP "/memory.current");
	n = smaps_read(pid, maps, 256);
	for (i = 0; i < n; i++) {
		s->rss_kb += maps[i].rss;
		s->swap_kb += maps[i].swap;
		s->referenced_kb += maps[i].referenced;
	}
	return n < 1;
}

/*
 * No figure differs. What is charged to a group may shrink at any time, since the
 * kernel charges in advance and gives back; it must not grow.
 */
static int same(struct state *a, const struct state *b)
{
	const long *x = (const long *)a, *y = (const long *)b;
	size_t i;
	int bad = 0;

	if (b->charged < a->charged)
		a->charged = b->charged;
	for (i = 0; i < sizeof(*a) / sizeof(long); i++) {
		if (x[i] != y[i]) {
			fprintf(stderr, "# figure %zu was %ld and is %ld\n", i, x[i], y[i]);
			bad++;
		}
	}
	return bad;
}

/* Every form, over all the memory there is. */
static int ask_everything(struct wsq *q, const char *start, size_t pages)
{
	static struct wsquery_region regions[4096];
	static struct wsquery_entry entries[PAGES];
	struct wsquery_count c;
	__u64 f[PAGES];
	size_t n, i;

	/* There can be more regions than the last time, but no more pages. */
	memset(regions, 0, sizeof(regions));
	for (i = 0; i < pages; i++)
		entries[i].address = (uintptr_t)start + (i * 17) % pages * PAGE;
	return wsq_bytes(q, start, pages, (__u8 *)f) || wsq_wide(q, start, pages, f) ||
	       wsq_list(q, entries, pages) || wsq_count(q, 0, SPACE, 0, 0, &c) ||
	       wsq_regions(q, 0, SPACE, 0, regions, 4096, &n);
}

struct memory {
	char *anon, *shared, *sparse;
};

static void clear_accessed(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/clear_refs", pid);
	write_text(path, "1");
}

/* A quarter each: written, paged out, read, untouched. */
static void use(struct peer *peer, void *arg)
{
	struct memory *m = arg;
	char pid[16];

	(void)peer;
	snprintf(pid, sizeof(pid), "%d", getpid());
	write_text(GROUP "/cgroup.procs", pid);
	fill(m->anon, PAGES / 4);
	evict(m->anon, PAGES / 4);
	fill(m->anon + PAGES / 4 * PAGE, PAGES / 4);
	touch_read(m->anon + PAGES / 2 * PAGE, PAGES / 4);
	fill(m->shared, PAGES / 2);
	evict(m->shared, PAGES / 2);
	fill(m->shared, PAGES / 4);
	madvise(m->shared, PAGES / 8 * PAGE, MADV_DONTNEED);
	m->sparse[0] = 1;
}

FIXTURE(quiet) {
	struct wsq q;
	struct peer peer;
	struct memory m;
	struct state before, after;
};

FIXTURE_SETUP(quiet)
{
	NEED_ROOT();
	NEED_SWAP();
	self->q = *own();
	self->m.anon = map_anon(PAGES);
	self->m.shared = map_shared(-1, PAGES);
	self->m.sparse = map_aligned(HUGE1G / 2, HUGE2M, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_NORESERVE);
	ASSERT_NE(NULL, self->m.sparse);
	write_text("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0755) && errno != EEXIST)
		TH_LOG("no memory control group: %s", strerror(errno));
}

FIXTURE_TEARDOWN(quiet)
{
	rmdir(GROUP);
}

TEST_F(quiet, another_process)
{
	int i;

	ASSERT_EQ(0, peer_start(&self->peer, use, &self->m));
	self->q.target = self->peer.pagemap;
	clear_accessed(self->peer.pid);
	/* Once unwatched: the first reader of a file of /proc may make it. */
	ASSERT_EQ(0, ask_everything(&self->q, self->m.anon, PAGES));
	ASSERT_EQ(0, state_read(self->peer.pid, &self->before));
	ASSERT_EQ(0, state_read(self->peer.pid, &self->before));
	EXPECT_LT(0, self->before.charged);
	EXPECT_EQ(PAGES / 2 * PAGE / 1024, self->before.swap_kb);
	EXPECT_EQ(0, self->before.referenced_kb);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, ask_everything(&self->q, self->m.anon, PAGES));
		ASSERT_EQ(0, ask_everything(&self->q, self->m.shared, PAGES));
		ASSERT_EQ(0, ask_everything(&self->q, self->m.sparse, PAGES));
	}
	ASSERT_EQ(0, state_read(self->peer.pid, &self->after));
	EXPECT_EQ(0, same(&self->before, &self->after));
	peer_end(&self->peer);
}

/* A process that asks about itself faults in nothing but where answers go. */
TEST_F(quiet, own_process)
{
	struct peer none;
	int i;

	use(&none, &self->m);
	/* Its own looks into /proc are charged too: let them be charged elsewhere. */
	ASSERT_EQ(0, write_text("/sys/fs/cgroup/cgroup.procs", "0"));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, ask_everything(&self->q, self->m.anon, PAGES));
		ASSERT_EQ(0, state_read(getpid(), &self->before));
	}
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, ask_everything(&self->q, self->m.anon, PAGES));
		ASSERT_EQ(0, ask_everything(&self->q, self->m.shared, PAGES));
		ASSERT_EQ(0, ask_everything(&self->q, self->m.sparse, PAGES));
	}
	ASSERT_EQ(0, state_read(getpid(), &self->after));
	EXPECT_EQ(0, same(&self->before, &self->after));
}

/* The watch is not blind: each figure moves when what it stands for happens. */
TEST_F(quiet, watch_sees)
{
	struct peer none;

	use(&none, &self->m);
	ASSERT_EQ(0, state_read(getpid(), &self->before));
	ASSERT_EQ(0, state_read(getpid(), &self->before));
	touch_read(self->m.anon, PAGES);
	fill(self->m.sparse, HUGE2M * 4 / PAGE);
	ASSERT_EQ(0, state_read(getpid(), &self->after));
	EXPECT_LT(self->before.minor + self->before.major,
		  self->after.minor + self->after.major);
	EXPECT_LT(self->before.rss, self->after.rss);
	EXPECT_LT(self->before.tables, self->after.tables);
	EXPECT_LT(self->before.swap_ins, self->after.swap_ins);
	EXPECT_LT(self->before.charged, self->after.charged);
	EXPECT_LT(self->before.rss_kb, self->after.rss_kb);
	EXPECT_GT(self->before.swap_kb, self->after.swap_kb);
	EXPECT_LT(self->before.referenced_kb, self->after.referenced_kb);
	write_text("/sys/fs/cgroup/cgroup.procs", "0");
}

/* Pages that are in swap stay there, though all of them are asked about for long. */
TEST_F(quiet, swapped_stays_swapped)
{
	__u64 f[PAGES];
	int i, k;

	fill(self->m.shared, PAGES);
	ASSERT_EQ(0, evict(self->m.shared, PAGES));
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, wsq_wide(&self->q, self->m.shared, PAGES, f));
		for (k = 0; k < PAGES; k++)
			ASSERT_NE(0, f[k] & WSQUERY_SWAPPED);
	}
}

TEST_HARNESS_MAIN
