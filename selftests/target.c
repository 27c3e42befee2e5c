// SPDX-License-Identifier: GPL-2.0
/*
 * Another process, by an open descriptor of its /proc/PID/pagemap: which ones
 * serve, for how long, and who may have one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define PAGES	64

FIXTURE(target) {
	struct wsq q;
	struct peer peer;
	char *p;	/* inherited by the peer, which does with it what it likes */
	char *shared;
	__u64 f[PAGES];
};

struct memory {
	char *p, *shared;
};

/* A quarter each: written, read, paged out, untouched. */
static void use(struct peer *peer, void *arg)
{
	struct memory *m = arg;

	fill(m->p + 32 * PAGE, 16);
	madvise(m->p + 32 * PAGE, 16 * PAGE, MADV_PAGEOUT);
	evict(m->p + 32 * PAGE, 16);
	fill(m->p, 16);
	touch_read(m->p + 16 * PAGE, 16);
	fill(m->shared, PAGES);
	evict(m->shared, PAGES);
	peer_ready(peer);
	peer_wait(peer);
	munmap(m->p, PAGES * PAGE);
}

FIXTURE_SETUP(target)
{
	struct memory m;

	self->q = *own();
	m.p = map_anon(PAGES);
	m.shared = map_shared(-1, PAGES);
	ASSERT_NE(NULL, m.p);
	ASSERT_NE(NULL, m.shared);
	self->p = m.p;
	self->shared = m.shared;
	ASSERT_EQ(0, peer_start(&self->peer, use, &m));
	self->q.target = self->peer.pagemap;
}

FIXTURE_TEARDOWN(target)
{
	peer_end(&self->peer);
}

static int check_target(struct wsq *q, char *p, size_t pages, __u64 expected)
{
	return check_flags(q, __FILE__, __LINE__, p, pages, expected, ~VOLATILE_ATTRS);
}

TEST_F(target, child)
{
	__u64 out = have_swap() ? WSQUERY_SWAPPED : WSQUERY_PRESENT;

	EXPECT_EQ(0, check_target(&self->q, self->p, 16, M_RW | WSQUERY_PRESENT));
	EXPECT_EQ(0, check_target(&self->q, self->p + 16 * PAGE, 16,
				  M_RW | WSQUERY_PRESENT | WSQUERY_ZERO));
	EXPECT_EQ(0, check_target(&self->q, self->p + 32 * PAGE, 16, M_RW | out));
	EXPECT_EQ(0, check_target(&self->q, self->p + 48 * PAGE, 16, M_RW));
	EXPECT_EQ(0, check_target(&self->q, self->shared, PAGES,
				  M_RW | WSQUERY_SHMEM | WSQUERY_SHARED | out));
	/* None of which happened here. */
	EXPECT_PAGES(self->p, PAGES, M_RW);
}

TEST_F(target, changes)
{
	EXPECT_EQ(0, check_target(&self->q, self->p, 16, M_RW | WSQUERY_PRESENT));
	ASSERT_EQ(0, peer_step(&self->peer));
	EXPECT_EQ(0, check_target(&self->q, self->p, PAGES, 0));
}

TEST_F(target, itself)
{
	char *p = map_anon(PAGES);

	fill(p, PAGES / 2);
	self->q.target = pagemap_open(0);
	EXPECT_EQ(0, check_target(&self->q, p, PAGES / 2, M_RW | WSQUERY_PRESENT));
	EXPECT_EQ(0, check_target(&self->q, p + PAGES / 2 * PAGE, PAGES / 2, M_RW));
}

static int ask(struct wsq *q, const char *p)
{
	struct wsquery_region r[8];
	struct wsquery_entry e = { .address = (uintptr_t)p };
	struct wsquery_count c;
	size_t n;
	__u64 f[8];
	int rc = wsq_wide(q, p, 8, f);

	/* All forms that take a target give the same status. */
	if (wsq_bytes(q, p, 8, (__u8 *)f) != rc ||
	    wsq_regions(q, (uintptr_t)p, 8 * PAGE, 0, r, 8, &n) != rc ||
	    wsq_count(q, (uintptr_t)p, 8 * PAGE, 0, 0, &c) != rc || wsq_list(q, &e, 1) != rc)
		return BROKEN;
	return rc;
}

TEST_F(target, exited)
{
	EXPECT_EQ(0, ask(&self->q, self->p));
	kill(self->peer.pid, SIGKILL);
	waitid(P_PID, self->peer.pid, NULL, WEXITED | WNOWAIT);
	EXPECT_EQ(-ESRCH, ask(&self->q, self->p));
	EXPECT_EQ(0, self->q.done);
	waitpid(self->peer.pid, NULL, 0);
	EXPECT_EQ(-ESRCH, ask(&self->q, self->p));
}

static void exec_self(struct peer *peer, void *arg)
{
	(void)arg;
	peer_ready(peer);
	peer_wait(peer);
	/* Any program does; this one is there, and prints its help. */
	dup2(open("/dev/null", O_WRONLY), 2);
	execl("/proc/self/exe", "self", "-h", NULL);
	_exit(1);
}

TEST_F(target, executed_another_program)
{
	struct wsq q = self->q;
	struct peer peer;
	char c;

	ASSERT_EQ(0, peer_start(&peer, exec_self, NULL));
	q.target = peer.pagemap;
	EXPECT_EQ(0, ask(&q, self->p));
	/* Its end of the pipe is closed by the exec. */
	ASSERT_EQ(1, write(peer.to, "s", 1));
	EXPECT_EQ(0, read(peer.from, &c, 1));
	EXPECT_EQ(-ESRCH, ask(&q, self->p));
	peer_end(&peer);
}

TEST_F(target, not_a_descriptor)
{
	static const int fds[] = { 1000, 0x7fffffff };
	int fd = open("/proc/self/pagemap", O_PATH | O_CLOEXEC);
	size_t i;

	for (i = 0; i < 2; i++) {
		self->q.target = fds[i];
		EXPECT_EQ(-EBADF, ask(&self->q, self->p));
	}
	/* O_PATH opens nothing: no permission was checked. */
	ASSERT_LE(0, fd);
	self->q.target = fd;
	EXPECT_EQ(-EBADF, ask(&self->q, self->p));
	close(fd);
	EXPECT_EQ(-EBADF, ask(&self->q, self->p));
}

TEST_F(target, negative_descriptor)
{
	struct wsquery_count c;

	wsq_range_init(&c.range, &self->q, sizeof(c), self->p, 8);
	c.mask = 0;
	c.value = 0;
	c.range.target = -1;
	EXPECT_EQ(-EBADF, wsq_call(self->q.dev, WSQUERY_IOC_COUNT, &c, sizeof(c)));
	EXPECT_EQ(0, c.range.done);
	c.range.target = -100;	/* AT_FDCWD */
	EXPECT_EQ(-EBADF, wsq_call(self->q.dev, WSQUERY_IOC_COUNT, &c, sizeof(c)));
}

TEST_F(target, other_descriptors)
{
	static const char * const names[] = {
		"/proc/self/maps", "/proc/self/mem", "/proc/self/smaps", "/proc/self/status",
		"/proc/self", "/proc/self/clear_refs", "/proc/self/numa_maps", "/dev/wsquery",
		"/dev/null", "/", "/proc/self/exe",
	};
	int pipes[2], sockets[2], fds[16], n = 0, i;

	for (i = 0; i < (int)(ARRAY_SIZE(names)); i++) {
		int fd = open(names[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			fd = open(names[i], O_WRONLY | O_CLOEXEC);
		ASSERT_LE(0, fd) TH_LOG("%s", names[i]);
		self->q.target = fd;
		EXPECT_EQ(-EOPNOTSUPP, ask(&self->q, self->p)) TH_LOG("%s", names[i]);
		close(fd);
	}
	ASSERT_EQ(0, pipe(pipes));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	fds[n++] = pipes[0];
	fds[n++] = pipes[1];
	fds[n++] = sockets[0];
	fds[n++] = memfd_create("wsquery", MFD_CLOEXEC);
	fds[n++] = epoll_create1(EPOLL_CLOEXEC);
	while (n--) {
		ASSERT_LE(0, fds[n]);
		self->q.target = fds[n];
		EXPECT_EQ(-EOPNOTSUPP, ask(&self->q, self->p)) TH_LOG("descriptor %d", n);
	}
}

/* A thread of a process shares its memory; so does the file below task/. */
static void *stand_still(void *arg)
{
	while (!*(atomic_bool *)arg)
		usleep(1000);
	return NULL;
}

TEST_F(target, thread)
{
	atomic_bool stop = false;
	char *p = map_anon(PAGES), path[64];
	pthread_t thread;

	fill(p, PAGES);
	ASSERT_EQ(0, pthread_create(&thread, NULL, stand_still, &stop));
	snprintf(path, sizeof(path), "/proc/self/task/%d/pagemap", getpid());
	self->q.target = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->q.target);
	EXPECT_EQ(0, check_target(&self->q, p, PAGES, M_RW | WSQUERY_PRESENT));
	stop = true;
	pthread_join(thread, NULL);
}

TEST_F(target, proc_mounted_elsewhere)
{
	char dir[] = "/tmp/wsq-proc-XXXXXX", path[64];

	NEED_ROOT();
	ASSERT_NE(NULL, mkdtemp(dir));
	ASSERT_EQ(0, mount("proc", dir, "proc", 0, NULL));
	snprintf(path, sizeof(path), "%s/%d/pagemap", dir, self->peer.pid);
	self->q.target = open(path, O_RDONLY | O_CLOEXEC);
	EXPECT_EQ(0, check_target(&self->q, self->p, 16, M_RW | WSQUERY_PRESENT));
	close(self->q.target);
	umount2(dir, MNT_DETACH);
	rmdir(dir);
}

/* A kernel thread has no address space of its own. */
TEST_F(target, kernel_thread)
{
	int fd = pagemap_open(2);

	if (fd < 0)
		SKIP(return, "this kernel does not open it: %s", strerror(errno));
	self->q.target = fd;
	EXPECT_EQ(-ESRCH, ask(&self->q, self->p));
}

static int cannot_open(void *arg)
{
	pid_t pid = *(pid_t *)arg;
	int fd = pagemap_open(pid);

	return fd >= 0 || (errno != EACCES && errno != EPERM);
}

TEST_F(target, other_users_cannot_open_it)
{
	NEED_ROOT();
	EXPECT_EQ(0, as_user(ORDINARY_UID, cannot_open, &self->peer.pid));
}

struct passing {
	int socket;
	char *p;
};

static int asks_by_what_it_got(void *arg)
{
	struct passing *a = arg;
	struct wsq q;

	if (wsq_open(&q))
		return 1;
	q.target = recv_fd(a->socket);
	return q.target < 0 || check_flags(&q, __FILE__, __LINE__, a->p, 16,
					   M_RW | WSQUERY_PRESENT, WSQUERY_STATE_MASK);
}

/* Whoever was let in at the open(2) may pass the right on, as with pagemap. */
TEST_F(target, passed_over_a_socket)
{
	struct passing a = { .p = self->p };
	int sockets[2];

	NEED_ROOT();
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	a.socket = sockets[1];
	ASSERT_EQ(0, send_fd(sockets[0], self->peer.pagemap));
	EXPECT_EQ(0, as_user(ORDINARY_UID, asks_by_what_it_got, &a));
}

struct inherited {
	struct wsq *q;
	char *p;
};

static int asks_by_what_it_inherited(void *arg)
{
	struct inherited *i = arg;

	return check_target(i->q, i->p, 16, M_RW | WSQUERY_PRESENT);
}

/* After a fork the descriptor is still about whom it was about. */
TEST_F(target, inherited)
{
	struct inherited i = { &self->q, self->p };

	EXPECT_EQ(0, in_child(asks_by_what_it_inherited, &i));
}

TEST_HARNESS_MAIN
