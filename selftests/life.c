// SPDX-License-Identifier: GPL-2.0
/*
 * The module's life: killed in the middle of a request, unloaded and loaded again
 * (WSQUERY_KO names the module's file), and not while someone needs it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"
#include "wsq.h"

#define ENTRIES	0x100000U

/* What the process that is killed shares with the one that looks afterwards. */
struct shared {
	atomic_int ended;
	struct wsquery_list list;
	struct wsquery_entry entries[ENTRIES];
};

/* Asks about pages so far apart that each needs a look-up of its own. */
static int ask_for_long(void *arg)
{
	struct shared *s = arg;
	int fd = open("/dev/wsquery", O_RDONLY | O_CLOEXEC);

	ioctl(fd, WSQUERY_IOC_LIST, &s->list);
	s->ended = 1;
	return 0;
}

/* Kills the asker when it has answered an entry. Returns whether it was in the middle. */
static int kill_at(struct shared *s, size_t entry)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(ask_for_long(s));
	while (!s->ended && __atomic_load_n(&s->entries[entry].flags, __ATOMIC_RELAXED) == -1ULL)
		usleep(100);
	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	/* It may have been late with the mark, but not with the answer. */
	return !s->ended && s->list.done < ENTRIES && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGKILL;
}

TEST(killed_in_a_request)
{
	static const size_t at[] = { 0, 20000, 100000 };
	size_t size = sizeof(struct shared), i, spread = 256UL << 20;
	struct shared *s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				-1, 0);
	char *far = map_aligned(spread, HUGE2M, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_NORESERVE);
	unsigned int round, seed = 1, middle = 0;

	ASSERT_NE(MAP_FAILED, s);
	ASSERT_NE(NULL, far);
	for (i = 0; i < spread; i += HUGE2M)
		far[i] = 1;
	/* Some more, for a signal can come too late. */
	for (round = 0; round < 20 && middle < 2 * ARRAY_SIZE(at); round++) {
		memset(s, 0, sizeof(*s));
		for (i = 0; i < ENTRIES; i++) {
			s->entries[i].address = (uintptr_t)far +
						rand_r(&seed) % (spread / PAGE) * PAGE;
			s->entries[i].flags = -1;
		}
		s->list.size = sizeof(s->list);
		s->list.entries = (uintptr_t)s->entries;
		s->list.count = ENTRIES;
		s->list.done = -1;
		if (kill_at(s, at[round % ARRAY_SIZE(at)]) != 1)
			continue;
		middle++;
		/* It told how far it got, and that is true to the entry. */
		ASSERT_LT(at[round % ARRAY_SIZE(at)], s->list.done);
		for (i = 0; i < s->list.done; i++)
			ASSERT_EQ(WSQUERY_MAPPED, s->entries[i].flags & WSQUERY_MAPPED) {
				TH_LOG("entry %zu of %llu", i, (unsigned long long)s->list.done);
			}
		for (; i < ENTRIES; i++)
			ASSERT_EQ(-1ULL, s->entries[i].flags);
	}
	EXPECT_LT(0, middle);
}

/* Exits with requests of several threads under way, again and again. */
TEST(exits_while_asked_about)
{
	struct wsq q = *own();
	struct wsquery_count c;
	int round, rc = 0, gone = 0;

	for (round = 0; round < 50; round++) {
		pid_t pid = fork();

		if (!pid) {
			char *p = map_anon(2000);

			fill(p, 2000);
			usleep(1000 * (round % 10));
			_exit(0);
		}
		q.target = pagemap_open(pid);
		do {
			rc = wsq_count(&q, 0, 1ULL << 47, 0, 0, &c);
		} while (!rc);
		gone += rc == -ESRCH;
		waitpid(pid, NULL, 0);
		close(q.target);
	}
	EXPECT_EQ(50, gone);
}

static int unload(void)
{
	return syscall(SYS_delete_module, "wsquery", O_NONBLOCK) ? -errno : 0;
}

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return rc;
}

#define NEED_MODULE() do { \
	NEED_ROOT(); \
	if (!getenv("WSQUERY_KO")) \
		SKIP(return, "WSQUERY_KO does not name the module's file"); \
} while (0)

TEST(unload_refused_while_open)
{
	int fd = open("/dev/wsquery", O_RDONLY | O_CLOEXEC);
	struct wsquery_info info;

	NEED_MODULE();
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EAGAIN, unload());
	EXPECT_EQ(0, wsq_info(fd, &info));
	EXPECT_EQ(0, info.version != WSQUERY_VERSION);
	/* Nor while only a mapping or a duplicate of it is left. */
	fd = dup(fd);
	EXPECT_EQ(-EAGAIN, unload());
}

TEST(unload_and_load)
{
	const char *path = getenv("WSQUERY_KO");
	struct wsquery_info info;
	int round, fd;
	char *p;

	NEED_MODULE();
	for (round = 0; round < 5; round++) {
		ASSERT_EQ(0, unload());
		EXPECT_EQ(-1, open("/dev/wsquery", O_RDONLY | O_CLOEXEC));
		EXPECT_EQ(-ENOENT, unload());
		ASSERT_EQ(0, load(path));
		EXPECT_EQ(-EEXIST, load(path));
		fd = open("/dev/wsquery", O_RDONLY | O_CLOEXEC);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, wsq_info(fd, &info));
		close(fd);
	}
	/* It answers as before, also about others, which it had to learn anew. */
	p = map_anon(8);
	fill(p, 4);
	EXPECT_PAGES(p, 4, M_RW | WSQUERY_PRESENT);
	own()->target = pagemap_open(0);
	EXPECT_PAGES(p, 4, M_RW | WSQUERY_PRESENT);
}

static int opens(void *arg)
{
	(void)arg;
	return open("/dev/wsquery", O_RDONLY | O_CLOEXEC) < 0;
}

/* As loaded, without help from a rule of udev. */
TEST(device_node_after_load)
{
	const char *path = getenv("WSQUERY_KO");

	NEED_MODULE();
	ASSERT_EQ(0, unload());
	ASSERT_EQ(0, load(path));
	EXPECT_EQ(0, as_user(ORDINARY_UID, opens, NULL));
}

TEST_HARNESS_MAIN
