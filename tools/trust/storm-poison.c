// SPDX-License-Identifier: GPL-2.0
/*
 * Memory whose pages fail: poisoned and taken out of use, of every kind that can be, while
 * others ask about it, and given back to the system afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../selftests/newer.h"
#include "storm.h"

#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM	_BITUL(12)
#endif

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE	101
#endif

#define UNPOISON	"/sys/kernel/debug/hwpoison/unpoison-pfn"
#define KPF_HWPOISON	(1ULL << 19)
#define FAILURES	8

static int disk = -1;

enum what {
	SMALL, SHARED, HUGE, ON_DISK,
};

static char *fresh(enum what what)
{
	static const int flags[] = {
		[SMALL] = MAP_PRIVATE | MAP_ANONYMOUS, [SHARED] = MAP_SHARED | MAP_ANONYMOUS,
		[HUGE] = MAP_PRIVATE | MAP_ANONYMOUS, [ON_DISK] = MAP_SHARED,
	};
	const struct fixed *f = POISONED_MEMORY;
	char *p = mmap(f->start, f->pages * PAGE, PROT_READ | PROT_WRITE, flags[what] | MAP_FIXED,
		       what == ON_DISK ? disk : -1, 0);

	if (p != f->start)
		return NULL;
	madvise(p, f->pages * PAGE, what == HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return p;
}

static void fail_page(char *p, bool softly)
{
	int rc = guarded_advise(p, PAGE, softly ? MADV_SOFT_OFFLINE : MADV_HWPOISON);

	if (rc == -EINVAL)
		storm_absent(softly ? KIND_OFFLINE : KIND_POISON);
	storm_did(softly ? KIND_OFFLINE : KIND_POISON, !rc);
}

static void unpoison(__u64 frame)
{
	char text[32];
	__u64 flags;

	/* Without having failed it is somebody else's by now. */
	if (!frame || kpage_read("/proc/kpageflags", frame, &flags) || !(flags & KPF_HWPOISON))
		return;
	snprintf(text, sizeof(text), "%#llx", (unsigned long long)frame);
	storm_did(KIND_UNPOISON, !write_text(UNPOISON, text));
}

/* Protects what was never written, which marks it; nobody writes there. */
static int mark(const struct fixed *f)
{
	struct watched w = { .p = f->start, .pages = f->pages };

	bool watched = !uffd_watch(&w, UFFD_FEATURE_WP_HUGETLBFS_SHMEM, UFFDIO_REGISTER_MODE_WP);

	if (w.uffd < 0)
		storm_absent(KIND_MARK);
	storm_did(KIND_MARK, watched && !uffd_protect(&w, true));
	return w.uffd;
}

static void round_of(enum what what, struct rng *r, char *buffer)
{
	char *p = fresh(what), *page;
	__u64 frames[FAILURES] = {}, pm;
	unsigned int i, n = 1 + rng_below(r, FAILURES);
	int uffd;

	if (!p)
		return;
	for (i = 0; i < n; i++) {
		page = p + rng_below(r, POISONED_MEMORY->pages) * PAGE;
		if (guarded_write(page, i) || pagemap_read(storm_shared->pagemap, page, 1, &pm))
			continue;
		if (pm & PM_PRESENT)
			frames[i] = pm & PM_FRAME;
		fail_page(page, rng_one_in(r, 3));
	}
	/* Files on a disk are not for a userfaultfd. */
	uffd = what == ON_DISK || (what != SHARED && rng_one_in(r, 2)) ? -1 : mark(POISONED_MEMORY);
	for (i = 0; i < 2 * FORMS; i++)
		storm_ask_once(r, buffer, POISONED_MEMORY);
	munmap(p, POISONED_MEMORY->pages * PAGE);
	if (uffd >= 0)
		close(uffd);
	if (disk >= 0 && (ftruncate(disk, 0) || ftruncate(disk, POISONED_MEMORY->pages * PAGE)))
		perror("# the file that fails");
	for (i = 0; i < n; i++)
		unpoison(frames[i]);
}

void *storm_poisoner(void *arg)
{
	struct rng r = rng_of(storm_shared->seed, (uintptr_t)arg);
	char *buffer = mmap(NULL, ASK_BUFFER, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	if (access(UNPOISON, W_OK))
		storm_absent(KIND_UNPOISON);
	if (getenv("WSQUERY_DISK"))
		disk = regular_file(true, POISONED_MEMORY->pages);
	for (i = 0; !atomic_load(&storm_shared->stop); i++) {
		round_of(i % (disk < 0 ? ON_DISK : ON_DISK + 1), &r, buffer);
		usleep(20000);
	}
	return NULL;
}
