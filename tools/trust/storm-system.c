// SPDX-License-Identifier: GPL-2.0
/*
 * The system's own housekeeping, and processes that are killed, exit, or execute another
 * program while they ask and are asked about.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define GROUP		"/tmp/wsq-cgroup/storm"

static void written(enum kind kind, const char *path, const char *text)
{
	int rc = write_text(path, text);

	if (rc == -ENOENT)
		storm_absent(kind);
	/* Less could be reclaimed than was asked for: that is success here. */
	storm_did(kind, !rc || rc == -EAGAIN);
}

/* A small control group makes reclaim ours to ask for, also of what nobody advises about. */
static void group_join(void)
{
	char pid[16];

	mkdir("/tmp/wsq-cgroup", 0700);
	if (mount("cgroup2", "/tmp/wsq-cgroup", "cgroup2", 0, NULL))
		return;
	write_text("/tmp/wsq-cgroup/cgroup.subtree_control", "+memory");
	mkdir(GROUP, 0700);
	snprintf(pid, sizeof(pid), "%d", getpid());
	write_text(GROUP "/cgroup.procs", pid);
}

static void unload(void)
{
	int rc = syscall(SYS_delete_module, "wsquery", O_NONBLOCK);

	/* It is in use, and must stay. */
	if (!rc)
		storm_wrong("the module was unloaded", 0, 0);
	storm_did(KIND_UNLOAD, !rc);
}

static void system_do(unsigned int what)
{
	switch (what) {
	case 0:
		written(KIND_COMPACT, "/proc/sys/vm/compact_memory", "1");
		break;
	case 1:
		written(KIND_DROP, "/proc/sys/vm/drop_caches", "3");
		break;
	case 2:
		written(KIND_CLEAR, "/proc/self/clear_refs", "4");
		break;
	case 3:
		unload();
		break;
	case 4:
		storm_did(KIND_SIGNAL, !syscall(SYS_kill, getpid(), SIGUSR1));
		break;
	case 5:
		written(KIND_SQUEEZE, GROUP "/memory.high", "24M");
		write_text(GROUP "/memory.high", "max");
		break;
	default:
		written(KIND_RECLAIM, GROUP "/memory.reclaim", "4M");
		break;
	}
}

void *storm_system(void *arg)
{
	struct rng r = rng_of(storm_shared->seed, (uintptr_t)arg);
	unsigned int i;

	group_join();
	/* Each once, however short it is. */
	for (i = 0; !atomic_load(&storm_shared->stop); i++) {
		system_do(i < 7 ? i : rng_below(&r, 9));
		usleep(rng_below(&r, 3000));
	}
	return NULL;
}

/* A copy of the process that asks until it is killed, or so often. */
static void asker_child(uint64_t seed, unsigned int times)
{
	struct rng r = rng_of(seed, 1);
	char *buffer;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Locks are not inherited. */
	for (i = 0; i < FIXED; i++) {
		if (!fixed_memory[i].locked)
			continue;
		fixed_memory[i].locked = false;
		fixed_memory[i].any |= WSQUERY_SWAPPED | WSQUERY_CACHED;
		fixed_memory[i].none = 0;
	}
	buffer = mmap(NULL, ASK_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	while (times--)
		storm_ask_once(&r, buffer, NULL);
	_exit(0);
}

/* Lets others ask about a process, by the descriptor that is in use. */
static void expose(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	dup3(fd, atomic_load(&storm_shared->victim), O_CLOEXEC);
	close(fd);
}

void *storm_killer(void *arg)
{
	static const enum kind kinds[] = { KIND_KILL_ASKER, KIND_KILL_EXEC, KIND_EXIT };
	struct rng r = rng_of(storm_shared->seed, (uintptr_t)arg);
	unsigned int i;

	for (i = 0; !atomic_load(&storm_shared->stop); i++) {
		enum kind kind = kinds[i < 3 ? i : rng_below(&r, 3)];
		uint64_t seed = rng_next(&r);
		int status = 0;
		pid_t pid;

		pid = fork();
		if (!pid && kind == KIND_KILL_EXEC) {
			execl("/proc/self/exe", "storm", "--victim", NULL);
			_exit(1);
		}
		if (!pid)
			asker_child(seed, kind == KIND_EXIT ? 5 : ~0U);
		if (pid < 0)
			break;
		usleep(rng_below(&r, 20000));
		expose(pid);
		if (kind != KIND_EXIT) {
			usleep(rng_below(&r, 60000));
			kill(pid, SIGKILL);
		}
		/* There are signals all the time. */
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		storm_did(kind, kind == KIND_EXIT ? WIFEXITED(status) && !WEXITSTATUS(status) :
			  WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	return NULL;
}
