// SPDX-License-Identifier: GPL-2.0
/*
 * What can happen to an address space: advice of every kind, and what happens to the
 * objects behind it.
 */
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trust.h"

#ifndef MADV_COLD
#define MADV_COLD	20
#define MADV_PAGEOUT	21
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ	22
#define MADV_POPULATE_WRITE	23
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED	24
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif

static void advise(struct rng *r, int advice)
{
	size_t n;
	char *p;

	space_pick(r, &p, &n);
	madvise(p, n * PAGE, advice);
}

static void op_dontneed(struct space *s, struct rng *r)
{
	(void)s;
	advise(r, rng_one_in(r, 3) ? MADV_DONTNEED_LOCKED : MADV_DONTNEED);
}

static void op_pageout(struct space *s, struct rng *r)
{
	(void)s;
	advise(r, MADV_PAGEOUT);
}

static void op_remove(struct space *s, struct rng *r)
{
	(void)s;
	advise(r, MADV_REMOVE);
}

static void op_huge(struct space *s, struct rng *r)
{
	(void)s;
	advise(r, rng_one_in(r, 4) ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
}

static void op_collapse(struct space *s, struct rng *r)
{
	size_t n;
	char *p;

	(void)s;
	space_pick(r, &p, &n);
	p = (char *)((uintptr_t)p & ~(HUGE2M - 1));
	madvise(p, HUGE2M, MADV_COLLAPSE);
}

static void op_advise_other(struct space *s, struct rng *r)
{
	static const int advices[] = {
		MADV_FREE, MADV_FREE, MADV_COLD, MADV_COLD, MADV_WILLNEED, MADV_WILLNEED,
		MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_MERGEABLE, MADV_UNMERGEABLE,
		MADV_DONTFORK, MADV_DOFORK, MADV_WIPEONFORK, MADV_KEEPONFORK, MADV_SEQUENTIAL,
		MADV_RANDOM, MADV_NORMAL, MADV_DONTDUMP, MADV_DODUMP,
	};

	(void)s;
	advise(r, advices[rng_below(r, ARRAY_SIZE(advices))]);
}

static const struct object *any_object(struct space *s, struct rng *r)
{
	return &s->objects[rng_below(r, s->n_objects)];
}

static void op_punch(struct space *s, struct rng *r)
{
	const struct object *o = any_object(s, r);

	fallocate(o->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, rng_below(r, o->pages) * PAGE,
		  (1 + rng_below(r, 200)) * PAGE);
}

static void op_truncate(struct space *s, struct rng *r)
{
	const struct object *o = any_object(s, r);
	int rc;

	if (o->kind == OBJECT_HUGETLB)
		return;
	/* To a length within a page, too. */
	rc = ftruncate(o->fd, rng_below(r, o->pages * PAGE));
	if (rng_one_in(r, 2))
		rc = ftruncate(o->fd, o->pages * PAGE);
	(void)rc;
}

/* Pages that are in the page cache without anyone having mapped them. */
static void op_write_object(struct space *s, struct rng *r)
{
	const struct object *o = any_object(s, r);
	size_t at = rng_below(r, o->pages), n = 1 + rng_below(r, 150), i;
	uint64_t page[PAGE / 8] = { 0 };

	if (o->kind == OBJECT_HUGETLB)
		return;
	for (i = at; i < at + n && i < o->pages; i++) {
		page[0] = s->counter++;
		if (pwrite(o->fd, page, PAGE, i * PAGE) < 0)
			return;
	}
}

static void op_read_object(struct space *s, struct rng *r)
{
	const struct object *o = any_object(s, r);
	size_t at = rng_below(r, o->pages), n = 1 + rng_below(r, 150), i;
	char page[PAGE];

	for (i = at; i < at + n; i++)
		if (pread(o->fd, page, PAGE, i * PAGE) <= 0)
			return;
}

static void op_drop_object(struct space *s, struct rng *r)
{
	const struct object *o = any_object(s, r);

	if (o->kind == OBJECT_FILE && rng_one_in(r, 2))
		fsync(o->fd);
	posix_fadvise(o->fd, rng_below(r, o->pages) * PAGE, rng_below(r, 300) * PAGE,
		      POSIX_FADV_DONTNEED);
}

static void op_allocate(struct space *s, struct rng *r)
{
	const struct object *o = any_object(s, r);

	if (o->kind != OBJECT_HUGETLB)
		fallocate(o->fd, FALLOC_FL_KEEP_SIZE, rng_below(r, o->pages) * PAGE,
			  (1 + rng_below(r, 100)) * PAGE);
}

const struct op ops_advise[] = {
	{ "dontneed", 6, op_dontneed },
	{ "pageout", 18, op_pageout },
	{ "remove", 3, op_remove },
	{ "huge", 5, op_huge },
	{ "collapse", 5, op_collapse },
	{ "advise", 12, op_advise_other },
	{ "punch", 3, op_punch },
	{ "truncate", 2, op_truncate },
	{ "write-object", 4, op_write_object },
	{ "read-object", 3, op_read_object },
	{ "drop-object", 3, op_drop_object },
	{ "allocate", 2, op_allocate },
	{ NULL, 0, NULL }
};
