// SPDX-License-Identifier: GPL-2.0
/*
 * What can happen to an address space: what others do to it. Copies by fork, merging by KSM,
 * a userfaultfd, soft-dirty bits, migration, the system's knobs.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../selftests/newer.h"
#include "trust.h"

#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM	_BITUL(12)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC	_BITUL(15)
#endif

#define KSM_DIR	"/sys/kernel/mm/ksm/"

static void child_end(struct space *s)
{
	if (s->child <= 0)
		return;
	kill(s->child, SIGKILL);
	waitpid(s->child, NULL, 0);
	s->child = 0;
}

/* A copy that does a few things of its own and then stands still. */
static void op_fork(struct space *s, struct rng *r)
{
	uint64_t seed = rng_next(r);
	unsigned int i, n = rng_below(r, 8);
	struct pollfd wait = { .events = POLLIN };
	int ready[2];

	child_end(s);
	if (pipe(ready))
		return;
	wait.fd = ready[0];
	fflush(NULL);
	s->child = fork();
	if (!s->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (i = 0; i < n; i++) {
			struct rng own = rng_of(seed, i);

			op_run(s, &own, true);
		}
		if (write(ready[1], "", 1) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	if (s->child < 0)
		s->child = 0;
	else if (poll(&wait, 1, 20000) != 1)
		child_end(s);
	close(ready[0]);
	close(ready[1]);
}

static void op_child_end(struct space *s, struct rng *r)
{
	(void)r;
	child_end(s);
}

/* Equal pages next to each other, merged before this returns if the kernel does it. */
static void op_merge(struct space *s, struct rng *r)
{
	long scans = -1, now;
	size_t n, i, tries;
	char *p;
	FILE *f;

	(void)s;
	space_pick(r, &p, &n);
	if (n > 256)
		n = 256;
	for (i = 0; i < n; i += 1 + rng_below(r, 3))
		guarded_write(p + i * PAGE, 0x4b534d);
	madvise(p, n * PAGE, MADV_MERGEABLE);
	write_text(KSM_DIR "pages_to_scan", "4000");
	write_text(KSM_DIR "sleep_millisecs", "0");
	write_text(KSM_DIR "run", "1");
	for (tries = 0; tries < 100; tries++) {
		f = fopen(KSM_DIR "full_scans", "re");
		now = -1;
		if (!f || fscanf(f, "%ld", &now) != 1)
			tries = 100;
		if (f)
			fclose(f);
		if (scans < 0)
			scans = now;
		if (now >= scans + 3)
			break;
		usleep(5000);
	}
	write_text(KSM_DIR "run", "0");
}

/*
 * A userfaultfd that protects pages against writing, and either lets writers through or
 * gets them a signal: nobody here waits for an answer.
 */
static void op_watch(struct space *s, struct rng *r)
{
	__u64 mode = UFFDIO_REGISTER_MODE_WP;
	struct uffdio_api api = {
		.api = UFFD_API,
		.features = UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_PAGEFAULT_FLAG_WP |
			(rng_one_in(r, 2) ? UFFD_FEATURE_WP_ASYNC : UFFD_FEATURE_SIGBUS) |
			(rng_one_in(r, 2) ? UFFD_FEATURE_WP_UNPOPULATED : 0),
	};
	struct uffdio_register reg = { .mode = mode };
	size_t n;
	char *p;

	if (s->uffd < 0) {
		s->uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
		if (s->uffd >= 0 && ioctl(s->uffd, UFFDIO_API, &api)) {
			close(s->uffd);
			s->uffd = -1;
		}
	}
	space_pick(r, &p, &n);
	reg.range.start = (uintptr_t)p;
	reg.range.len = n * PAGE;
	if (s->uffd >= 0)
		ioctl(s->uffd, UFFDIO_REGISTER, &reg);
}

static void op_write_protect(struct space *s, struct rng *r)
{
	struct uffdio_writeprotect wp = {
		.mode = rng_one_in(r, 3) ? 0 : UFFDIO_WRITEPROTECT_MODE_WP,
	};
	size_t n;
	char *p;

	space_pick(r, &p, &n);
	wp.range.start = (uintptr_t)p;
	wp.range.len = n * PAGE;
	if (s->uffd >= 0)
		ioctl(s->uffd, UFFDIO_WRITEPROTECT, &wp);
}

static void op_poison(struct space *s, struct rng *r)
{
	struct uffdio_poison poison = { 0 };
	size_t n;
	char *p;

	space_pick(r, &p, &n);
	poison.range.start = (uintptr_t)p;
	poison.range.len = n * PAGE;
	if (s->uffd >= 0)
		ioctl(s->uffd, UFFDIO_POISON, &poison);
}

static void op_unwatch(struct space *s, struct rng *r)
{
	struct uffdio_range range;
	size_t n;
	char *p;

	space_pick(r, &p, &n);
	range.start = (uintptr_t)p;
	range.len = n * PAGE;
	if (s->uffd < 0)
		return;
	if (rng_one_in(r, 3)) {
		close(s->uffd);
		s->uffd = -1;
	} else {
		ioctl(s->uffd, UFFDIO_UNREGISTER, &range);
	}
}

static void op_clear_refs(struct space *s, struct rng *r)
{
	(void)s;
	write_text("/proc/self/clear_refs", rng_one_in(r, 3) ? "1" : "4");
}

static void op_migrate(struct space *s, struct rng *r)
{
	static void *pages[256];
	static int nodes[256], status[256];
	size_t n, i;
	char *p;

	(void)s;
	space_pick(r, &p, &n);
	if (n > ARRAY_SIZE(pages))
		n = ARRAY_SIZE(pages);
	for (i = 0; i < n; i++) {
		pages[i] = p + i * PAGE;
		nodes[i] = rng_below(r, 2);
	}
	syscall(SYS_move_pages, 0, n, pages, nodes, status, 2 /* MPOL_MF_MOVE */);
}

static void op_knob(struct space *s, struct rng *r)
{
	static const char * const knobs[][2] = {
		{ THP_DIR "enabled", "always" }, { THP_DIR "enabled", "madvise" },
		{ THP_DIR "enabled", "never" }, { THP_DIR "shmem_enabled", "advise" },
		{ THP_DIR "shmem_enabled", "never" }, { THP_DIR "shmem_enabled", "always" },
		{ THP_DIR "hugepages-64kB/enabled", "always" },
		{ THP_DIR "hugepages-64kB/enabled", "never" },
		{ THP_DIR "hugepages-64kB/shmem_enabled", "always" },
		{ THP_DIR "hugepages-64kB/shmem_enabled", "never" },
		{ THP_DIR "hugepages-16kB/enabled", "always" },
		{ THP_DIR "use_zero_page", "1" }, { THP_DIR "use_zero_page", "0" },
		{ "/proc/sys/vm/compact_memory", "1" }, { "/proc/sys/vm/drop_caches", "1" },
		{ THP_DIR "enabled", "always" },
	};
	size_t i = rng_below(r, ARRAY_SIZE(knobs));

	(void)s;
	write_text(knobs[i][0], knobs[i][1]);
}

const struct op ops_others[] = {
	{ "fork", 5, op_fork },
	{ "child-end", 2, op_child_end },
	{ "merge", 3, op_merge },
	{ "watch", 4, op_watch },
	{ "write-protect", 6, op_write_protect },
	{ "poison", 2, op_poison },
	{ "unwatch", 1, op_unwatch },
	{ "clear-refs", 3, op_clear_refs },
	{ "migrate", 4, op_migrate },
	{ "knob", 5, op_knob },
	{ NULL, 0, NULL }
};
