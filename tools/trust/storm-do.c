// SPDX-License-Identifier: GPL-2.0
/*
 * Those who change memory: the generator's operations on the arena from several threads, the
 * pages that must keep their state paged out and brought back, collapsed, split and moved, the
 * system's own housekeeping, and processes that are killed or execute another program.
 */
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

#ifndef MADV_COLD
#define MADV_COLD	20
#define MADV_PAGEOUT	21
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

#define FIXED_START	0x300000000000UL
#define GROUP		"/tmp/wsq-cgroup/storm"

static void fixed_set(int i, const char *name, size_t pages, int fd, int flags, uint64_t any,
		      uint64_t none)
{
	struct fixed *f = &fixed_memory[i];

	f->name = name;
	f->start = (char *)FIXED_START + i * 0x10000000UL;
	f->pages = pages;
	f->any = any;
	f->none = none;
	if (flags && mmap(f->start, pages * PAGE, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd,
			  0) != f->start) {
		perror("# mmap");
		exit(2);
	}
}

/* Memory with rules. Returns 0, or -1 if it cannot be made. */
int storm_fixed(void)
{
	const uint64_t there = WSQUERY_PRESENT | WSQUERY_SWAPPED;
	const uint64_t kept = there | WSQUERY_CACHED;
	int locked = memfd_create("locked", MFD_CLOEXEC), hole = memfd_create("hole", MFD_CLOEXEC);
	int i;

	if (ftruncate(locked, 64 * PAGE) || ftruncate(hole, 300 * PAGE))
		return -1;
	fixed_set(0, "locked anonymous pages are present", 64, -1, MAP_PRIVATE | MAP_ANONYMOUS,
		  WSQUERY_PRESENT, WSQUERY_SWAPPED);
	fixed_set(1, "locked shared pages are present", 64, locked, MAP_SHARED,
		  WSQUERY_PRESENT, WSQUERY_SWAPPED);
	fixed_set(2, "written anonymous pages are somewhere", 1024, -1,
		  MAP_PRIVATE | MAP_ANONYMOUS, there, 0);
	fixed_set(3, "written shared pages are somewhere", 1024, -1, MAP_SHARED | MAP_ANONYMOUS,
		  kept, 0);
	fixed_set(4, "what was never written is nowhere", 300, hole, MAP_SHARED, 0, kept);
	fixed_set(5, "what was never mapped is nothing", 512, -1, 0, 0, ~0ULL);
	for (i = 0; i < 4; i++)
		fill(fixed_memory[i].start, fixed_memory[i].pages);
	for (i = 0; i < 2; i++)
		if (mlock(fixed_memory[i].start, fixed_memory[i].pages * PAGE))
			return -1;
	return 0;
}

/* The generator's operations, on the arena that all share. */
void *storm_changer(void *arg)
{
	struct rng r = rng_of(storm_shared->seed, (uintptr_t)arg);
	struct space s = storm_shared->space;

	while (!atomic_load(&storm_shared->stop)) {
		op_run(&s, &r, rng_below(&r, 4));
		atomic_fetch_add(&storm_shared->done, 1);
	}
	if (s.child > 0) {
		kill(s.child, SIGKILL);
		waitpid(s.child, NULL, 0);
	}
	return NULL;
}

/* Moves pages to another node, where there is one. */
static void move(struct rng *r, char *p, size_t n)
{
	void *pages[32];
	int nodes[32], status[32];
	size_t i;

	n = n < ARRAY_SIZE(pages) ? n : ARRAY_SIZE(pages);
	for (i = 0; i < n; i++) {
		pages[i] = p + i * PAGE;
		nodes[i] = rng_below(r, 2);
	}
	syscall(SYS_move_pages, 0, n, pages, nodes, status, 2 /* MPOL_MF_MOVE */);
}

/* Everything to pages that must keep their content. */
void *storm_mover(void *arg)
{
	static const int advices[] = {
		MADV_PAGEOUT, MADV_PAGEOUT, MADV_COLD, MADV_WILLNEED, MADV_COLLAPSE,
		MADV_HUGEPAGE, MADV_NOHUGEPAGE,
	};
	struct rng r = rng_of(storm_shared->seed, (uintptr_t)arg);
	size_t first, n, i;

	while (!atomic_load(&storm_shared->stop)) {
		const struct fixed *f = &fixed_memory[rng_below(&r, 4)];
		uint64_t what = rng_below(&r, 12);
		char *p;

		first = rng_one_in(&r, 3) ? 0 : rng_below(&r, f->pages);
		n = first ? 1 + rng_below(&r, f->pages - first) : f->pages;
		p = f->start + first * PAGE;
		if (what < ARRAY_SIZE(advices))
			madvise(p, n * PAGE, advices[what]);
		else if (what == 7)
			move(&r, p, n);
		else if (what == 8)
			mprotect(p, n * PAGE, PROT_READ | (rng_one_in(&r, 4) ? 0 : PROT_WRITE));
		else
			for (i = 0; i < n; i += 1 + rng_below(&r, 4))
				what == 9 ? guarded_read(p + i * PAGE) :
					    guarded_write(p + i * PAGE, i);
		atomic_fetch_add(&storm_shared->done, 1);
	}
	return NULL;
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

void *storm_system(void *arg)
{
	struct rng r = rng_of(storm_shared->seed, (uintptr_t)arg);

	group_join();
	while (!atomic_load(&storm_shared->stop)) {
		switch (rng_below(&r, 8)) {
		case 0:
			write_text("/proc/sys/vm/compact_memory", "1");
			break;
		case 1:
			write_text("/proc/sys/vm/drop_caches", "3");
			break;
		case 2:
			write_text("/proc/self/clear_refs", "4");
			break;
		case 3:
			/* It is in use, and must stay. */
			if (!syscall(SYS_delete_module, "wsquery", O_NONBLOCK))
				storm_wrong("the module was unloaded", 0, 0);
			break;
		case 4:
			syscall(SYS_kill, getpid(), SIGUSR1);
			break;
		default:
			write_text(GROUP "/memory.reclaim", "4M");
			break;
		}
		atomic_fetch_add(&storm_shared->done, 1);
		usleep(rng_below(&r, 3000));
	}
	return NULL;
}

/* A copy of the process that asks until it is killed. */
static void asker_child(uint64_t seed)
{
	struct rng r = rng_of(seed, 1);
	char *buffer;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Locks are not inherited. */
	fixed_memory[0].any |= WSQUERY_SWAPPED;
	fixed_memory[1].any |= WSQUERY_SWAPPED | WSQUERY_CACHED;
	fixed_memory[0].none = 0;
	fixed_memory[1].none = 0;
	buffer = mmap(NULL, ASK_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (;;)
		storm_ask_once(&r, buffer);
}

/* Processes that are killed while they ask, and while they are asked about. */
void *storm_killer(void *arg)
{
	struct rng r = rng_of(storm_shared->seed, (uintptr_t)arg);
	char path[64];
	pid_t pid;
	int fd;

	while (!atomic_load(&storm_shared->stop)) {
		uint64_t seed = rng_next(&r);
		bool asks = rng_one_in(&r, 2);

		pid = fork();
		if (!pid && asks)
			asker_child(seed);
		if (!pid) {
			execl("/proc/self/exe", "storm", "--victim", NULL);
			_exit(1);
		}
		if (pid < 0)
			break;
		snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
		usleep(rng_below(&r, 20000));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		/* Onto the descriptor that is in use. */
		if (fd >= 0) {
			dup3(fd, atomic_load(&storm_shared->victim), O_CLOEXEC);
			close(fd);
		}
		usleep(rng_below(&r, 60000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		atomic_fetch_add(&storm_shared->killed, 1);
	}
	return NULL;
}
