// SPDX-License-Identifier: GPL-2.0
/*
 * The arena, the objects that can be mapped in it, and accesses that may fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trust.h"

static __thread sigjmp_buf fault_jump;
static __thread volatile bool fault_expected;

static void on_fault(int signal)
{
	if (fault_expected)
		siglongjmp(fault_jump, 1);
	/* Not one of ours: the program is wrong. */
	static const char text[] = "# a fault that nobody expected\n";

	if (write(2, text, sizeof(text) - 1) < 0)
		_exit(3);
	_exit(128 + signal);
}

/* SIGSEGV and SIGBUS of the accesses below are answers, not the end. */
void guard_faults(void)
{
	struct sigaction sa = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
}

int guarded_read(const char *p)
{
	int rc = -1;

	fault_expected = true;
	if (!sigsetjmp(fault_jump, 0)) {
		(void)*(const volatile char *)p;
		rc = 0;
	}
	fault_expected = false;
	return rc;
}

int guarded_write(char *p, uint64_t value)
{
	int rc = -1;

	fault_expected = true;
	if (!sigsetjmp(fault_jump, 0)) {
		*(volatile uint64_t *)p = value;
		rc = 0;
	}
	fault_expected = false;
	return rc;
}

/* What fails a page tells its user by a signal, too. Returns 0 or -errno. */
int guarded_advise(char *p, size_t length, int advice)
{
	volatile int rc = 0;

	fault_expected = true;
	if (!sigsetjmp(fault_jump, 0))
		rc = madvise(p, length, advice) ? -errno : 0;
	fault_expected = false;
	return rc;
}

static int object_open(enum object_kind kind, size_t pages)
{
	char name[] = "/tmp/wsq-tmpfs/object-XXXXXX";

	switch (kind) {
	case OBJECT_MEMFD:
		return memfd_create("object", MFD_CLOEXEC);
	case OBJECT_HUGETLB:
		return memfd_create("object", MFD_CLOEXEC | MFD_HUGETLB);
	case OBJECT_FILE:
		return getenv("WSQUERY_DISK") ? regular_file(true, pages) : -1;
	case OBJECT_TMPFS:
		break;
	}
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd >= 0)
		unlink(name);
	return fd;
}

static void object_add(struct space *s, enum object_kind kind, size_t pages)
{
	struct object *o = &s->objects[s->n_objects];
	struct stat st;

	o->fd = object_open(kind, pages);
	if (o->fd < 0 || ftruncate(o->fd, pages * PAGE) || fstat(o->fd, &st))
		return;
	o->kind = kind;
	o->pages = pages;
	o->dev = st.st_dev;
	o->ino = st.st_ino;
	s->n_objects++;
}

/* Where a mapping, a touch or an advice goes: small, middling or whole huge pages. */
void space_pick(struct rng *r, char **start, size_t *pages)
{
	size_t first, n;

	switch (rng_below(r, 4)) {
	case 0:
		n = 1 + rng_below(r, 16);
		first = rng_below(r, ARENA_PAGES);
		break;
	case 1:
		n = 1 + rng_below(r, 128);
		first = rng_below(r, ARENA_PAGES / 8) * 8;
		break;
	case 2:
		n = 512 * (1 + rng_below(r, 3));
		first = rng_below(r, ARENA_PAGES / 512) * 512;
		break;
	default:
		n = 1 + rng_below(r, 1200);
		first = rng_below(r, ARENA_PAGES);
		break;
	}
	if (n > ARENA_PAGES - first)
		n = ARENA_PAGES - first;
	*start = ARENA_START + first * PAGE;
	*pages = n;
}

int space_init(struct space *s, struct rng *r)
{
	static const enum object_kind kinds[] = {
		OBJECT_MEMFD, OBJECT_MEMFD, OBJECT_TMPFS, OBJECT_TMPFS, OBJECT_FILE,
		OBJECT_FILE, OBJECT_HUGETLB,
	};
	size_t i;

	memset(s, 0, sizeof(*s));
	s->arena = ARENA_START;
	s->uffd = -1;
	s->counter = 1;
	guard_faults();
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		object_add(s, kinds[i], kinds[i] == OBJECT_HUGETLB ? 4 * 512 :
			   64 + rng_below(r, 1500));
	return s->n_objects ? 0 : -1;
}
