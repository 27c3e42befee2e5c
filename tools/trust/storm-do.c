// SPDX-License-Identifier: GPL-2.0
/*
 * Those who change memory: the generator's operations on the arena from several threads, and
 * the pages that must keep their state paged out and brought back, collapsed, split and moved.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
#define SPLIT		"/sys/kernel/debug/split_huge_pages"

/* Memory that everything is done to which leaves its content alone: it was written. */
#define WRITTEN	6

static void fixed_set(int i, const char *name, size_t pages, int fd, int flags, uint64_t any,
		      uint64_t none)
{
	struct fixed *f = &fixed_memory[i];

	f->name = name;
	f->start = (char *)FIXED_START + i * 0x10000000UL;
	f->pages = pages;
	f->any = any;
	f->none = none;
	f->locked = any == WSQUERY_PRESENT;
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
	const int anon = MAP_PRIVATE | MAP_ANONYMOUS;
	int locked = memfd_create("locked", MFD_CLOEXEC), hole = memfd_create("hole", MFD_CLOEXEC);
	int file = regular_file(getenv("WSQUERY_DISK"), 64), i;

	if (file < 0 || ftruncate(locked, 64 * PAGE) || ftruncate(hole, 300 * PAGE))
		return -1;
	fixed_set(0, "locked anonymous pages are present", 1024, -1, anon,
		  WSQUERY_PRESENT, WSQUERY_SWAPPED);
	fixed_set(1, "locked shared pages are present", 64, locked, MAP_SHARED,
		  WSQUERY_PRESENT, WSQUERY_SWAPPED);
	fixed_set(2, "locked pages of a file are present", 64, file, MAP_SHARED,
		  WSQUERY_PRESENT, WSQUERY_SWAPPED);
	fixed_set(3, "pages locked when touched are present", 64, -1, anon,
		  WSQUERY_PRESENT, WSQUERY_SWAPPED);
	fixed_set(4, "written anonymous pages are somewhere", 1024, -1, anon, there, 0);
	fixed_set(5, "written shared pages are somewhere", 1024, -1, MAP_SHARED | MAP_ANONYMOUS,
		  kept, 0);
	fixed_set(6, "what was never written is nowhere", 300, hole, MAP_SHARED, 0, kept);
	fixed_set(7, "what was never mapped is nothing", 512, -1, 0, 0, ~0ULL);
	fixed_set(8, "what fails", 512, -1, 0, 0, 0);
	if (mlock2(fixed_memory[3].start, fixed_memory[3].pages * PAGE, MLOCK_ONFAULT))
		return -1;
	/* Large pages of shared memory are left unmapped when they are split, also if locked. */
	madvise(fixed_memory[1].start, fixed_memory[1].pages * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < WRITTEN; i++)
		fill(fixed_memory[i].start, fixed_memory[i].pages);
	for (i = 0; i < 3; i++)
		if (mlock(fixed_memory[i].start, fixed_memory[i].pages * PAGE))
			return -1;
	return 0;
}

/* The generator's operations, on the arena that all share; first each of them once. */
void *storm_changer(void *arg)
{
	struct rng r = rng_of(storm_shared->seed, (uintptr_t)arg);
	struct space s = storm_shared->space;
	const struct op *op;
	unsigned int i;

	for (i = 0; !atomic_load(&storm_shared->stop); i++) {
		op = op_nth(i);
		if (op)
			op->fn(&s, &r);
		else
			op = op_run(&s, &r, rng_below(&r, 4));
		storm_did_op(op);
	}
	if (s.child > 0) {
		kill(s.child, SIGKILL);
		waitpid(s.child, NULL, 0);
	}
	return NULL;
}

/* Moves pages to another node, where there is one. */
static int move(struct rng *r, char *p, size_t n)
{
	void *pages[32];
	int nodes[32], status[32];
	size_t i;

	n = n < ARRAY_SIZE(pages) ? n : ARRAY_SIZE(pages);
	for (i = 0; i < n; i++) {
		pages[i] = p + i * PAGE;
		nodes[i] = rng_below(r, 2);
	}
	return syscall(SYS_move_pages, 0, n, pages, nodes, status, 2 /* MPOL_MF_MOVE */);
}

/* The huge pages of a range, where they are. */
static int split(const char *p, size_t n)
{
	char text[96];

	snprintf(text, sizeof(text), "%d,%#lx,%#lx", getpid(), (unsigned long)p,
		 (unsigned long)p + n * PAGE);
	return write_text(SPLIT, text);
}

static int touch(struct rng *r, char *p, size_t n, bool write)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < n; i += 1 + rng_below(r, 4))
		rc |= write ? guarded_write(p + i * PAGE, i) : guarded_read(p + i * PAGE);
	return write ? 0 : rc;
}

static int move_about(struct rng *r, enum kind what, char *p, size_t n)
{
	static const int advices[] = {
		[KIND_PAGEOUT] = MADV_PAGEOUT, [KIND_COLD] = MADV_COLD,
		[KIND_WILLNEED] = MADV_WILLNEED, [KIND_HUGE] = MADV_HUGEPAGE,
		[KIND_NOHUGE] = MADV_NOHUGEPAGE,
	};

	switch (what) {
	case KIND_COLLAPSE:
		/* Of whole huge pages, where it was not forbidden. */
		p = (char *)((uintptr_t)p & ~(HUGE2M - 1));
		madvise(p, HUGE2M, MADV_HUGEPAGE);
		return madvise(p, HUGE2M, MADV_COLLAPSE);
	case KIND_SPLIT:
		return split(p, n);
	case KIND_MOVE:
		return move(r, p, n);
	case KIND_PROTECT:
		return mprotect(p, n * PAGE, PROT_READ | (rng_one_in(r, 4) ? 0 : PROT_WRITE));
	case KIND_READ:
	case KIND_WRITE:
		return touch(r, p, n, what == KIND_WRITE);
	default:
		return madvise(p, n * PAGE, advices[what]);
	}
}

/* Everything to pages that must keep their content; first each kind once. */
void *storm_mover(void *arg)
{
	struct rng r = rng_of(storm_shared->seed, (uintptr_t)arg);
	size_t first, n;
	unsigned int i;

	if (access(SPLIT, W_OK))
		storm_absent(KIND_SPLIT);
	for (i = 0; !atomic_load(&storm_shared->stop); i++) {
		const struct fixed *f = &fixed_memory[rng_below(&r, WRITTEN)];
		enum kind kind = i <= KIND_WRITE ? i : rng_below(&r, KIND_WRITE + 1);

		/* What is locked refuses most of that, what is small to be huge. */
		if ((kind <= KIND_COLD || kind == KIND_COLLAPSE) && f->pages < 512)
			f = &fixed_memory[4 + rng_below(&r, 2)];
		first = rng_one_in(&r, 3) ? 0 : rng_below(&r, f->pages);
		n = first ? 1 + rng_below(&r, f->pages - first) : f->pages;
		storm_did(kind, !move_about(&r, kind, f->start + first * PAGE, n));
	}
	return NULL;
}
