// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Contexts through the events of a process's life: fork, exec, exit, threads, a
 * daemon that closes all descriptors; and whose memory they are about.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "memory.h"

#define THREADS	8
#define ROUNDS	200

static bool is_present(const struct wsquery *ws, const char *page)
{
	uint64_t flags = 0;
	int err = wsquery_get_one(ws, address_of(page), 0, &flags);

	if (err)
		printf("# %s\n", strerror(-err));
	return !err && (flags & WSQUERY_PRESENT);
}

static bool in_child(bool (*check)(void *), void *arg)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		bool good = check(arg);

		fflush(stdout);
		_exit(good ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	return !status;
}

struct family {
	const struct wsquery *ws;
	char *pages;
};

/* Page 0 is the parent's, shared by fork; page 1 is the child's alone. */
static bool child_sees_itself(void *arg)
{
	struct family *family = arg;

	touch_write(family->pages + PAGE);
	munmap(family->pages + 2 * PAGE, PAGE);
	return is_present(family->ws, family->pages) &&
	       is_present(family->ws, family->pages + PAGE) &&
	       !is_present(family->ws, family->pages + 2 * PAGE);
}

static void forks(struct wsquery *ws)
{
	struct family family = { .pages = map_private(3) };

	touch_write(family.pages);
	touch_write(family.pages + 2 * PAGE);
	ok(is_present(NULL, family.pages), "the default context is open");
	ok(in_child(child_sees_itself, &family), "after fork it is about the child");
	family.ws = ws;
	ok(in_child(child_sees_itself, &family), "so is one opened before");
	ok(is_present(NULL, family.pages + 2 * PAGE) && !is_present(ws, family.pages + PAGE),
	   "the parent's are about the parent");
}

struct worker {
	pthread_t thread;
	struct wsquery *ws;
	char *pages;
	unsigned int wrong;
};

static void *work(void *arg)
{
	struct worker *worker = arg;
	uint8_t states[4];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		const struct wsquery *ws = i & 1 ? worker->ws : NULL;

		if (wsquery_get_states(ws, address_of(worker->pages), 4 * PAGE, states, NULL) ||
		    !(states[0] & WSQUERY_PRESENT) || (states[1] & WSQUERY_PRESENT) ||
		    !(states[2] & WSQUERY_PRESENT) || (states[3] & WSQUERY_PRESENT))
			worker->wrong++;
	}
	return NULL;
}

static unsigned int threads(struct wsquery *ws)
{
	struct worker workers[THREADS];
	unsigned int i, wrong = 0;

	for (i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .ws = ws, .pages = map_private(4) };
		touch_write(workers[i].pages);
		touch_write(workers[i].pages + 2 * PAGE);
	}
	for (i = 0; i < THREADS; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		wrong += workers[i].wrong;
	}
	return wrong;
}

static int descriptor_count(void)
{
	int fd, count = 0;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static int inherited_count(void)
{
	int fd, count = 0;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	return count;
}

/* Fresh process, so that the first use happens in all threads at once. */
static bool first_use_in_threads(void *arg)
{
	int before = descriptor_count();

	/* At most the one descriptor of the device is new. */
	return !threads(arg) && descriptor_count() <= before + 1;
}

/* The child shares memory with its parent, but not descriptors. */
static bool first_use_in_vfork(void *arg)
{
	int status;
	pid_t pid;

	pid = vfork();
	if (!pid)
		_exit(is_present(NULL, arg) ? 0 : 1);
	waitpid(pid, &status, 0);
	/* The number that the child left behind is something else here. */
	return !status && open("/dev/null", O_RDONLY) >= 0 && is_present(NULL, arg);
}

static void *outlive(void *arg)
{
	/* Time for the first thread to end, whose entries in /proc are then empty. */
	usleep(100000);
	_exit(is_present(NULL, arg) ? 0 : 1);
}

static bool first_thread_ends(void *arg)
{
	pthread_t thread;

	pthread_create(&thread, NULL, outlive, arg);
	pthread_exit(NULL);
}

static bool daemon_closes_all(void *arg)
{
	char *page = arg;
	int fd, first;

	if (!is_present(NULL, page))
		return false;
	for (fd = 3; fd < 256; fd++)
		close(fd);
	if (!is_present(NULL, page))
		return false;
	/* And when something else has the number by now. */
	for (fd = 3; fd < 256; fd++)
		close(fd);
	first = open("/dev/null", O_RDONLY);
	return is_present(NULL, page) && fcntl(first, F_GETFD) >= 0;
}

static void descriptors(void)
{
	struct wsquery *ws;
	int before, i;
	char *page = map_private(1);

	touch_write(page);
	is_present(NULL, page);
	before = descriptor_count();
	for (i = 0; i < 50; i++) {
		if (wsquery_open(&ws, WSQUERY_BACKEND_ANY))
			break;
		is_present(ws, page);
		wsquery_close(ws);
		if (wsquery_open_pid(&ws, getpid(), WSQUERY_BACKEND_ANY))
			break;
		is_present(ws, page);
		wsquery_close(ws);
	}
	ok(i == 50 && descriptor_count() == before, "no descriptor is left behind");
	wsquery_close(NULL);
	before = inherited_count();
	ok(!wsquery_open_pid(&ws, getpid(), WSQUERY_BACKEND_ANY), "a context that has some");
	ok(inherited_count() == before, "all of them close at exec");
	wsquery_close(ws);
	ok(in_child(daemon_closes_all, page), "the default context survives closing them all");
}

static void targets(void)
{
	char *pages = map_private(2);
	struct wsquery *ws = NULL, *by_fd = NULL;
	struct wsquery_count count = { .mask = 0 };
	int wake[2], fd, null;
	char path[32];
	uint64_t flags;
	pid_t pid;

	touch_write(pages);
	if (pipe(wake))
		exit(2);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		char byte;

		close(wake[1]);
		if (read(wake[0], &byte, 1) == 1)
			execl("/proc/self/exe", "lifetime", "sleep", NULL);
		_exit(0);
	}
	close(wake[0]);
	touch_write(pages + PAGE);

	ok(!wsquery_open_pid(&ws, pid, WSQUERY_BACKEND_ANY), "open by pid");
	ok(is_present(ws, pages) && !is_present(ws, pages + PAGE), "is about the child");
	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY);
	ok(!wsquery_open_fd(&by_fd, fd, WSQUERY_BACKEND_ANY), "open by descriptor");
	close(fd);
	ok(is_present(by_fd, pages) && !is_present(by_fd, pages + PAGE), "so is that");
	count.range.start = address_of(pages);
	count.range.length = 2 * PAGE;
	ok(!wsquery_get_count(ws, &count) && count.present == 1 &&
	   !wsquery_get_count(by_fd, &count) && count.present == 1 &&
	   !wsquery_get_count(NULL, &count) && count.present == 2,
	   "one request for all of them");

	/* The child executes another program, and its old memory is gone. */
	if (write(wake[1], "x", 1) != 1)
		exit(2);
	usleep(300000);
	ok(wsquery_get_one(ws, address_of(pages), 0, &flags) == -ESRCH, "after exec: -ESRCH");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ok(wsquery_get_one(by_fd, address_of(pages), 0, &flags) == -ESRCH, "after exit: -ESRCH");
	wsquery_close(ws);
	wsquery_close(by_fd);

	ws = (void *)1;
	ok(wsquery_open_pid(&ws, pid, WSQUERY_BACKEND_ANY) == -ESRCH, "no such process: -ESRCH");
	ok(wsquery_open_fd(&ws, -1, WSQUERY_BACKEND_ANY) == -EBADF, "no descriptor: -EBADF");
	null = open("/dev/null", O_RDONLY);
	ok(wsquery_open_fd(&ws, null, WSQUERY_BACKEND_ANY) == -EOPNOTSUPP,
	   "another file: -EOPNOTSUPP");
	close(null);
	null = open("/proc/self/maps", O_RDONLY);
	ok(wsquery_open_fd(&ws, null, WSQUERY_BACKEND_ANY) == -EOPNOTSUPP,
	   "another file of /proc: -EOPNOTSUPP");
	close(null);
	ok(wsquery_open(&ws, 99) == -EINVAL, "no such backend: -EINVAL");
	ok(ws == (void *)1, "the pointer is unchanged after errors");
}

int main(int argc, char **argv)
{
	struct wsquery *ws;
	char *page;

	(void)argv;
	if (argc > 1) {
		sleep(30);
		return 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (wsquery_open(&ws, WSQUERY_BACKEND_ANY))
		need_backend();
	page = map_private(1);
	touch_write(page);
	ok(in_child(first_use_in_threads, ws), "first use in many threads");
	ok(in_child(first_use_in_vfork, page), "first use in a child of vfork");
	ok(in_child(first_thread_ends, page), "use after the first thread ended");
	need_backend();
	ok(!threads(ws), "%u threads, two contexts", THREADS);
	forks(ws);
	descriptors();
	targets();
	return tap_done();
}
