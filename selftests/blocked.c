// SPDX-License-Identifier: GPL-2.0
/*
 * A request whose caller makes it wait, by an array that a userfaultfd has and
 * nobody fills: what it keeps meanwhile. Neither the caller's nor the target's
 * address space is locked, the memory it has is small and its own cgroup's, and
 * it can be killed.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "newer.h"
#include "wsq.h"

#define PAGES	16384
#define ROOM	256	/* pages of the array */
#define CALLS	64

FIXTURE(blocked) {
	struct wsq q;
	char *memory;
	struct watched array;
};

FIXTURE_VARIANT(blocked) {
	unsigned long ioc;
	unsigned int entry_size;
	unsigned int count;	/* of a list */
};

FIXTURE_VARIANT_ADD(blocked, bytes) { .ioc = WSQUERY_IOC_PAGES, .entry_size = 1 };
FIXTURE_VARIANT_ADD(blocked, wide) { .ioc = WSQUERY_IOC_PAGES, .entry_size = 8 };
FIXTURE_VARIANT_ADD(blocked, regions) { .ioc = WSQUERY_IOC_REGIONS };
FIXTURE_VARIANT_ADD(blocked, short_list) { .ioc = WSQUERY_IOC_LIST, .count = 10 };
FIXTURE_VARIANT_ADD(blocked, list) { .ioc = WSQUERY_IOC_LIST, .count = ROOM * PAGE / 16 };

FIXTURE_SETUP(blocked)
{
	size_t i;

	self->q = *own();
	self->memory = map_anon(PAGES);
	self->array.p = map_anon(ROOM);
	self->array.pages = ROOM;
	ASSERT_NE(NULL, self->memory);
	ASSERT_NE(NULL, self->array.p);
	/* Of many regions. */
	for (i = 0; i < PAGES; i += 2)
		self->memory[i * PAGE] = 1;
	NEED_UFFD(&self->array, 0, UFFDIO_REGISTER_MODE_MISSING);
}

FIXTURE_TEARDOWN(blocked)
{
	close(self->array.uffd);
}

/**
 * struct call - one request, made by a thread of its own
 * @q: about whom
 * @v: which one
 * @watched: where the result goes
 * @go: it may begin
 * @rc: of it
 */
struct call {
	const struct wsq *q;
	const struct _fixture_variant_blocked *v;
	char *memory;
	struct watched *watched;
	atomic_int *go;
	int rc;
	pthread_t thread;
};

/* Where self and variant are. */
#define CALL(into) { .q = &self->q, .v = variant, .memory = self->memory, .watched = (into) }

static int make(const struct call *c)
{
	union {
		struct wsquery_pages pages;
		struct wsquery_regions regions;
		struct wsquery_list list;
	} r = {};
	const struct wsq *q = c->q;

	if (c->v->ioc == WSQUERY_IOC_LIST) {
		r.list.size = sizeof(r.list);
		r.list.flags = q->target >= 0 ? WSQUERY_TARGET_FD : 0;
		r.list.target = q->target >= 0 ? q->target : 0;
		r.list.entries = (uintptr_t)c->watched->p;
		r.list.count = c->v->count;
		return ioctl(q->dev, WSQUERY_IOC_LIST, &r);
	}
	wsq_range_init(&r.pages.range, q, sizeof(r.pages), c->memory, PAGES);
	r.pages.range.attrs = 0;
	r.pages.range.entry_size = c->v->entry_size;
	r.pages.entries = (uintptr_t)c->watched->p;
	if (c->v->ioc == WSQUERY_IOC_REGIONS) {
		r.pages.range.size = sizeof(r.regions);
		r.regions.regions = (uintptr_t)c->watched->p;
		r.regions.capacity = ROOM * PAGE / sizeof(struct wsquery_region);
	}
	return ioctl(q->dev, c->v->ioc, &r);
}

static void *call_thread(void *arg)
{
	struct call *c = arg;

	while (!*c->go)
		usleep(1000);
	c->rc = make(c);
	return NULL;
}

static int call_start(struct call *c, atomic_int *go)
{
	c->go = go;
	return pthread_create(&c->thread, NULL, call_thread, c);
}

/* Returns when a request waits for its array. */
static int wait_blocked(int uffd)
{
	struct pollfd p = { .fd = uffd, .events = POLLIN };
	struct uffd_msg msg;

	if (poll(&p, 1, 20000) != 1 || read(uffd, &msg, sizeof(msg)) != sizeof(msg))
		return -1;
	return msg.event == UFFD_EVENT_PAGEFAULT ? 0 : -1;
}

/* The array is ordinary memory from now on, and the request goes on. */
static int release(struct call *c)
{
	struct uffdio_range range = { (uintptr_t)c->watched->p, ROOM * PAGE };

	return ioctl(c->watched->uffd, UFFDIO_UNREGISTER, &range) || pthread_join(c->thread, NULL) ?
	       -1 : c->rc;
}

static void change_mappings(struct peer *peer, void *arg)
{
	int i;

	(void)arg;
	peer_ready(peer);
	peer_wait(peer);
	for (i = 0; i < 20; i++)
		munmap(map_anon(1), PAGE);
}

/* What the target does meanwhile needs its lock for writing. */
TEST_F(blocked, target_is_not_locked)
{
	struct call c = CALL(&self->array);
	atomic_int go = 1;
	struct peer peer;

	ASSERT_EQ(0, peer_start(&peer, change_mappings, NULL));
	self->q.target = peer.pagemap;
	ASSERT_EQ(0, call_start(&c, &go));
	ASSERT_EQ(0, wait_blocked(self->array.uffd));
	EXPECT_EQ(0, peer_step(&peer));
	EXPECT_EQ(0, release(&c));
	peer_end(&peer);
}

TEST_F(blocked, caller_is_not_locked)
{
	struct call c = CALL(&self->array);
	atomic_int go = 1;
	int i;

	ASSERT_EQ(0, call_start(&c, &go));
	ASSERT_EQ(0, wait_blocked(self->array.uffd));
	for (i = 0; i < 20; i++)
		munmap(map_anon(1), PAGE);
	EXPECT_EQ(0, release(&c));
}

struct killed {
	struct call c;
	int ready;
};

static int blocks(void *arg)
{
	struct killed *k = arg;
	struct watched *w = k->c.watched;
	atomic_int go = 1;

	/* That of the parent is about the parent. */
	if (uffd_watch(w, 0, UFFDIO_REGISTER_MODE_MISSING) || call_start(&k->c, &go) ||
	    wait_blocked(w->uffd) || write(k->ready, "b", 1) != 1)
		return 1;
	pause();
	return 2;
}

TEST_F(blocked, can_be_killed)
{
	struct killed k = { .c = CALL(&self->array) };
	int ready[2], status;
	pid_t pid;
	char b;

	ASSERT_EQ(0, pipe(ready));
	k.ready = ready[1];
	pid = fork();
	if (!pid)
		_exit(blocks(&k));
	ASSERT_EQ(1, read(ready[0], &b, 1));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static long group_value(const char *group, const char *name)
{
	char path[128];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", group, name);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%ld", &value) != 1)
		value = -1;
	if (f)
		fclose(f);
	return value;
}

struct many {
	struct call calls[CALLS];
	struct watched arrays[CALLS];
	const char *group;
	int to, from;
};

/* In a group of its own: as many requests as there are, each of which waits. */
static int wait_with_many(void *arg)
{
	struct many *m = arg;
	char path[128], pid[16], c;
	atomic_int go = 0;
	int i;

	snprintf(path, sizeof(path), "%s/cgroup.procs", m->group);
	snprintf(pid, sizeof(pid), "%d", getpid());
	if (write_text(path, pid))
		return 1;
	for (i = 0; i < CALLS; i++) {
		m->arrays[i].p = map_anon(ROOM);
		m->arrays[i].pages = ROOM;
		m->calls[i].watched = &m->arrays[i];
		if (uffd_watch(&m->arrays[i], 0, UFFDIO_REGISTER_MODE_MISSING) ||
		    call_start(&m->calls[i], &go))
			return 2;
	}
	/* Threads and mappings are there; what comes now is the requests'. */
	usleep(100000);
	if (write(m->to, "r", 1) != 1 || read(m->from, &c, 1) != 1)
		return 3;
	go = 1;
	for (i = 0; i < CALLS; i++)
		if (wait_blocked(m->arrays[i].uffd))
			return 4;
	if (write(m->to, "b", 1) != 1 || read(m->from, &c, 1) != 1)
		return 5;
	_exit(0);
}

TEST_F(blocked, memory_is_small_and_charged)
{
	char dir[] = "/tmp/wsq-cgroup-XXXXXX", group[64], control[64], c;
	struct many *m = calloc(1, sizeof(*m));
	struct wsquery_info info;
	int up[2], down[2], i, status;
	long before, after;
	pid_t pid;

	NEED_ROOT();
	ASSERT_EQ(0, wsq_info(self->q.dev, &info));
	ASSERT_NE(NULL, mkdtemp(dir));
	snprintf(group, sizeof(group), "%s/wsq-%d", dir, getpid());
	snprintf(control, sizeof(control), "%s/cgroup.subtree_control", dir);
	if (mount("cgroup2", dir, "cgroup2", 0, NULL) || write_text(control, "+memory") ||
	    mkdir(group, 0700))
		SKIP(return, "no memory cgroups");
	ASSERT_EQ(0, pipe(up));
	ASSERT_EQ(0, pipe(down));
	m->group = group;
	m->to = up[1];
	m->from = down[0];
	for (i = 0; i < CALLS; i++) {
		m->calls[i].q = &self->q;
		m->calls[i].v = variant;
		m->calls[i].memory = self->memory;
	}
	pid = fork();
	if (!pid)
		_exit(wait_with_many(m));
	close(up[1]);
	ASSERT_EQ(1, read(up[0], &c, 1));
	before = group_value(group, "memory.current");
	ASSERT_EQ(1, write(down[1], "g", 1));
	EXPECT_EQ(1, read(up[0], &c, 1));
	after = group_value(group, "memory.current");
	printf("# %d requests have %ld bytes, %u each at most\n", CALLS, after - before,
	       info.call_bytes);
	EXPECT_LE(0, before);
	/* Groups are charged in batches, by each processor. */
	EXPECT_GE((long)CALLS * info.call_bytes + (1 << 20), after - before);
	if (variant->count != 10)
		EXPECT_LE((long)CALLS * 1024, after - before);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	for (i = 0; i < 100 && rmdir(group); i++)
		usleep(20000);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
}

TEST_HARNESS_MAIN
