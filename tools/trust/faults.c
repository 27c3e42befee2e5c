// SPDX-License-Identifier: GPL-2.0
/*
 * Failing every allocation and every copy of every request, one by one: the nth that the
 * request makes fails, for n from 1 until it makes no more. Each time there is a clear error,
 * what was written is right as far as it is said to go, and the next request works. For
 * a kernel with fault injection, as root; /proc/thread-self/fail-nth does the counting.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "trust.h"

#define DEBUGFS		"/sys/kernel/debug/"
#define PAGES		20000UL
#define ROOM		(PAGES * 24)

/**
 * struct request - one request, ready to be made
 * @name: for messages
 * @ioc: its number
 * @size: of its structure
 * @arg: its structure
 * @done: where in it the answer says how far it goes, 0 if it does not
 * @unit: in units of which an entry is one
 * @entry: bytes an entry
 */
struct request {
	const char *name;
	unsigned long ioc;
	size_t size;
	size_t done;
	uint64_t unit;
	size_t entry;
	union {
		struct wsquery_info info;
		struct wsquery_pages pages;
		struct wsquery_regions regions;
		struct wsquery_count count;
		struct wsquery_list list;
	} arg;
};

static char *out, *right;
static int dev, fail_nth;
static unsigned int injected, survived, wrong;
/* How requests ended that were hit. */
static unsigned int no_memory, no_copy, unharmed;

static void complain(const struct request *q, unsigned int n, const char *what)
{
	wrong++;
	printf("# %s, failure %u: %s\n", q->name, n, what);
}

/* Arms the nth failure; 0 disarms. Returns what was left of the last. */
static unsigned int arm(unsigned int n)
{
	char text[16] = "";
	unsigned int left = 1;

	/* A read that fails itself got the failure that was meant for the request. */
	if (!n && pread(fail_nth, text, sizeof(text) - 1, 0) > 0)
		left = atoi(text);
	snprintf(text, sizeof(text), "%u", n);
	/* The write that disarms can be hit, too; then it is disarmed. */
	if (pwrite(fail_nth, text, strlen(text), 0) < 0 && !n)
		pwrite(fail_nth, "0", 1, 0) < 0 ? left++ : left;
	return left;
}

/* The list's addresses are input; they stay. */
static void poison(const struct request *q)
{
	struct wsquery_entry *e = (void *)out;
	size_t i;

	if (q->ioc != WSQUERY_IOC_LIST) {
		memset(out, POISON, ROOM);
		return;
	}
	for (i = 0; i < q->arg.list.count; i++)
		e[i].flags = ~0ULL;
}

static bool is_poison(const struct request *q, size_t i)
{
	const char *at = out + i * q->entry;
	size_t k = q->ioc == WSQUERY_IOC_LIST ? 8 : 0;

	for (; k < q->entry; k++)
		if ((unsigned char)at[k] != POISON)
			return false;
	return true;
}

static bool crosses_page(const struct request *q, size_t i)
{
	uintptr_t at = (uintptr_t)out + i * q->entry;

	return at / PAGE != (at + q->entry - 1) / PAGE;
}

/* What was written is what it should be, and no more than was said. */
static void look(const struct request *q, const void *arg, unsigned int n, int rc, int err)
{
	uint64_t done = ~0ULL, i, all = ROOM / (q->entry ?: 1);

	if (rc && err != ENOMEM && err != EFAULT)
		complain(q, n, strerror(err));
	if (!q->done)
		return;
	memcpy(&done, (const char *)arg + q->done, 8);
	/* The structure could not be written. */
	if (done == ~0ULL && err != EFAULT)
		complain(q, n, "no word on how far the answer goes");
	done = done == ~0ULL ? done : done / q->unit;
	if (q->ioc == WSQUERY_IOC_LIST)
		all = q->arg.list.count;
	for (i = 0; i < all; i++) {
		bool same = !memcmp(out + i * q->entry, right + i * q->entry, q->entry);

		if (i < done && done != ~0ULL && !same) {
			complain(q, n, "an answer is wrong");
			return;
		}
		/* Two pages cannot be written at once: if the second fails, the first is. */
		if (i == done && crosses_page(q, i))
			continue;
		if (!same && !is_poison(q, i)) {
			complain(q, n, "half an answer");
			return;
		}
		if (i >= done && !is_poison(q, i)) {
			complain(q, n, "written past what was said");
			return;
		}
	}
}

static int ask(const struct request *q, void *arg)
{
	memcpy(arg, &q->arg, q->size);
	if (q->done)
		memset((char *)arg + q->done, POISON, 8);
	return ioctl(dev, q->ioc, arg);
}

static void fail_each(const struct request *q)
{
	static char arg[4096];
	const unsigned int before[] = { no_memory, no_copy, unharmed };
	unsigned int n;
	int rc, err;

	poison(q);
	if (ask(q, arg)) {
		complain(q, 0, strerror(errno));
		return;
	}
	memcpy(right, out, ROOM);
	for (n = 1; n < 10000; n++) {
		poison(q);
		memcpy(arg, &q->arg, q->size);
		if (q->done)
			memset(arg + q->done, POISON, 8);
		arm(n);
		rc = ioctl(dev, q->ioc, arg);
		err = errno;
		if (arm(0))
			break;
		injected++;
		no_memory += rc && err == ENOMEM;
		no_copy += rc && err == EFAULT;
		unharmed += !rc;
		look(q, arg, n, rc, rc ? err : 0);
		/* As if nothing had been. */
		poison(q);
		if (ask(q, arg))
			complain(q, n, "the next request failed");
		else if (q->done && memcmp(out, right, ROOM))
			complain(q, n, "the next request answers otherwise");
		survived++;
	}
	printf("# %s: %u times failed: %u ENOMEM, %u EFAULT, %u done without\n", q->name, n - 1,
	       no_memory - before[0], no_copy - before[1], unharmed - before[2]);
}

static void head(struct request *q, char *start, size_t pages, unsigned int entry, int target)
{
	struct wsquery_range *r = &q->arg.pages.range;

	memset(&q->arg, 0, sizeof(q->arg));
	r->size = q->size;
	r->flags = target >= 0 ? WSQUERY_TARGET_FD : 0;
	r->target = target >= 0 ? target : 0;
	r->entry_size = entry;
	r->start = (uintptr_t)start;
	r->length = pages * PAGE;
	r->attrs = entry == 1 ? 0 : WSQUERY_COPY | WSQUERY_CACHED | WSQUERY_MARKER_KIND;
	q->done = offsetof(struct wsquery_range, done);
	q->unit = PAGE;
	q->entry = entry;
}

static void fail_pages(char *p, size_t n, unsigned int entry, int target)
{
	struct request q = { "pages", WSQUERY_IOC_PAGES, .size = sizeof(struct wsquery_pages) };
	char name[64];

	head(&q, p, n, entry, target);
	q.arg.pages.entries = (uintptr_t)out;
	snprintf(name, sizeof(name), "pages of %u bytes, %zu%s", entry, n,
		 target >= 0 ? ", by descriptor" : "");
	q.name = name;
	fail_each(&q);
}

static void fail_regions(char *p, size_t n, size_t capacity, int target)
{
	struct request q = { "regions", WSQUERY_IOC_REGIONS,
			     .size = sizeof(struct wsquery_regions) };

	head(&q, p, n, 0, target);
	q.arg.regions.regions = (uintptr_t)out;
	q.arg.regions.capacity = capacity;
	q.done = offsetof(struct wsquery_regions, count);
	q.unit = 1;
	q.entry = sizeof(struct wsquery_region);
	fail_each(&q);
}

static struct watched held;

/* A list that waits for its array, with the module's own room for one list. */
static void *hold_room(void *arg)
{
	struct wsquery_list l = {
		.size = sizeof(l), .entries = (uintptr_t)held.p, .count = 100,
	};

	ioctl(dev, WSQUERY_IOC_LIST, &l);
	return arg;
}

static bool room_hold(pthread_t *thread)
{
	struct pollfd p = { .events = POLLIN };

	held.p = map_anon(1);
	held.pages = 1;
	if (!held.p || uffd_watch(&held, 0, UFFDIO_REGISTER_MODE_MISSING) ||
	    pthread_create(thread, NULL, hold_room, NULL))
		return false;
	p.fd = held.uffd;
	return poll(&p, 1, 60000) == 1;
}

static void fail_list(char *p, size_t n, size_t count, size_t stride, int target)
{
	struct request q = { "list", WSQUERY_IOC_LIST, .size = sizeof(struct wsquery_list) };
	struct wsquery_entry *e = (void *)out;
	struct wsquery_list *l = &q.arg.list;
	char name[64];
	size_t i;

	memset(&q.arg, 0, sizeof(q.arg));
	l->size = sizeof(*l);
	l->flags = target >= 0 ? WSQUERY_TARGET_FD : 0;
	l->target = target >= 0 ? target : 0;
	l->entries = (uintptr_t)out;
	l->count = count;
	l->attrs = WSQUERY_COPY;
	for (i = 0; i < count; i++)
		e[i].address = (uintptr_t)p + i * stride % n * PAGE;
	q.done = offsetof(struct wsquery_list, done);
	q.unit = 1;
	q.entry = sizeof(*e);
	snprintf(name, sizeof(name), "list of %zu, stride %zu", count, stride);
	q.name = name;
	fail_each(&q);
}

static void setup(const char *what)
{
	static const char * const files[][2] = {
		{ "ignore-gfp-wait", "N" }, { "verbose", "0" }, { "min-order", "0" },
		{ "probability", "0" },
	};
	char path[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), DEBUGFS "%s/%s", what, files[i][0]);
		write_text(path, files[i][1]);
	}
}

int main(void)
{
	struct request info = { "info", WSQUERY_IOC_INFO, .size = sizeof(struct wsquery_info) };
	struct request count = { "count", WSQUERY_IOC_COUNT,
				 .size = sizeof(struct wsquery_count) };
	int target = pagemap_open(0);
	pthread_t holder;
	char *p, *far;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	mount("debugfs", DEBUGFS, "debugfs", 0, NULL);
	setup("failslab");
	setup("fail_page_alloc");
	setup("fail_usercopy");
	write_text(THP_DIR "shmem_enabled", "never");
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth < 0) {
		printf("ok 1 faults # SKIP the kernel has no fault injection\n");
		return 0;
	}
	dev = open("/dev/wsquery", O_RDONLY | O_CLOEXEC);
	p = map_shared(-1, PAGES);
	far = map_aligned(PAGES * PAGE, HUGE2M, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_NORESERVE);
	out = map_anon(ROOM / PAGE + 1);
	right = map_anon(ROOM / PAGE + 1);
	if (dev < 0 || !p || !far || !out || !right || mlock(out, ROOM) || mlock(right, ROOM))
		return 2;
	madvise(far, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < 3000; i += 3) {
		p[i * PAGE] = 1;
		far[i * PAGE] = 1;
	}

	info.arg.info.size = sizeof(struct wsquery_info);
	fail_each(&info);
	fail_pages(p, 10, 1, -1);
	fail_pages(p, 10, 16, -1);
	fail_pages(p, PAGES, 1, -1);
	fail_pages(p, PAGES, 8, -1);
	fail_pages(p, PAGES, 16, target);
	fail_regions(p, PAGES, ROOM / 24, -1);
	fail_regions(far, 3000, 77, target);
	head(&count, p, PAGES, 0, target);
	count.done = 0;
	fail_each(&count);
	fail_list(p, PAGES, 5000, 1, -1);
	if (!room_hold(&holder))
		return 2;
	fail_list(p, PAGES, 10, 1, -1);
	fail_list(p, PAGES, 5000, 1, -1);
	fail_list(p, PAGES, 20000, 7919, target);
	fail_list(far, PAGES, 300, 7919, -1);
	close(held.uffd);
	pthread_join(holder, NULL);

	printf("# %u failures injected, %u survived, %u wrong: %u ENOMEM, ", injected, survived,
	       wrong, no_memory);
	printf("%u EFAULT, %u done without\n", no_copy, unharmed);
	/* Without both nothing was tried: of allocations or of copies. */
	wrong += !no_memory || !no_copy;
	printf("%s 1 faults\n", wrong ? "not ok" : "ok");
	return !!wrong;
}
