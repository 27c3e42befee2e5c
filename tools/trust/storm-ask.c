// SPDX-License-Identifier: GPL-2.0
/*
 * Those who ask, in every form and about everything, into good and bad memory, and look at
 * each answer for what cannot be.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "storm.h"

/**
 * struct ask - one request
 * @form: of it
 * @start: first page
 * @pages: how many
 * @target: descriptor of a pagemap, or -1
 * @attrs: attributes
 * @out: where the answer goes
 * @result: what is wrong with that, or KINDS: memory is there and nobody else writes to it
 * @fixed: the rule that holds for the pages, or NULL
 */
struct ask {
	enum form form;
	char *start;
	size_t pages;
	int target;
	uint64_t attrs;
	char *out;
	enum kind result;
	const struct fixed *fixed;
};

struct storm *storm_shared;
struct fixed fixed_memory[FIXED];

void storm_wrong(const char *what, uint64_t address, uint64_t flags)
{
	if (atomic_fetch_add(&storm_shared->wrong, 1) < 20)
		printf("# wrong: %s: at %#llx, flags %#llx\n", what, (unsigned long long)address,
		       (unsigned long long)flags);
}

/* What no page can be, whatever happens. */
static const char *impossible(uint64_t f)
{
	const uint64_t there = WSQUERY_PRESENT | WSQUERY_SWAPPED;

	if (f && !(f & WSQUERY_MAPPED))
		return "a state without a mapping";
	if ((f & there) == there)
		return "present and swapped";
	if ((f & WSQUERY_SHMEM) && (f & WSQUERY_FILE))
		return "shared memory and a file";
	if ((f & WSQUERY_HUGE) && !(f & WSQUERY_PRESENT))
		return "huge but not present";
	if ((f & WSQUERY_CACHED) && (f & there))
		return "cached beside an entry";
	if ((f & WSQUERY_MARKER) && (f & WSQUERY_PRESENT))
		return "a marker and present";
	if ((f & WSQUERY_MARKER_KIND) && !(f & WSQUERY_MARKER))
		return "the kind of no marker";
	if ((f & WSQUERY_ZERO) && (f & WSQUERY_SHARE_COUNT))
		return "the zero page counted";
	return NULL;
}

/* What one request's answers were, until it is added to the rest. */
static __thread struct {
	unsigned long answers, locked, seen[SEENS];
} noted;

static void note(const struct ask *a, uint64_t flags)
{
	static const uint64_t states[SEENS] = {
		[SEEN_HUGE] = WSQUERY_HUGE, [SEEN_SWAPPED] = WSQUERY_SWAPPED,
		[SEEN_CACHED] = WSQUERY_CACHED, [SEEN_MARKER] = WSQUERY_MARKER,
		[SEEN_MIGRATING] = WSQUERY_MIGRATING, [SEEN_HWPOISON] = WSQUERY_HWPOISON,
	};
	int i;

	for (i = 0; i < SEENS; i++)
		noted.seen[i] += !!(flags & states[i]);
	noted.answers++;
	noted.locked += a->fixed && a->fixed->locked;
}

static void note_all(const struct ask *a)
{
	int i;

	atomic_fetch_add(&storm_shared->asked[a->form], 1);
	atomic_fetch_add(&storm_shared->answers, noted.answers);
	atomic_fetch_add(&storm_shared->locked[a->form], noted.locked);
	for (i = 0; i < SEENS; i++)
		if (noted.seen[i])
			atomic_fetch_add(&storm_shared->seen[i], noted.seen[i]);
	memset(&noted, 0, sizeof(noted));
}

static void look(const struct ask *a, uint64_t address, uint64_t flags, uint64_t told)
{
	const char *what = impossible(flags);
	const struct fixed *f = a->fixed;

	note(a, flags);
	if (!what && f && (f->none & flags))
		what = f->name;
	if (!what && f && (f->any & told) == f->any && f->any && !(f->any & flags))
		what = f->name;
	if (what)
		storm_wrong(what, address, flags);
}

/* Whether a request succeeded; what may go wrong is known. */
static bool succeeded(const struct ask *a, int rc, uint64_t done, uint64_t all)
{
	int err = errno;

	if (a->result != KINDS)
		storm_did(a->result, a->result == KIND_INSIDE ? !rc : rc && err == EFAULT);
	if (!rc) {
		if (done > all)
			storm_wrong("done too much", (uintptr_t)a->start, done);
		return true;
	}
	if (err == EFAULT && a->result != KINDS)
		atomic_fetch_add(&storm_shared->faults, 1);
	else if (err == ESRCH && a->target >= 0)
		atomic_fetch_add(&storm_shared->gone, 1);
	else
		storm_wrong(strerror(err), (uintptr_t)a->start, rc);
	return false;
}

static void head(const struct ask *a, struct wsquery_range *r, size_t size)
{
	memset(r, 0, size);
	r->size = size;
	r->flags = a->target >= 0 ? WSQUERY_TARGET_FD : 0;
	r->target = a->target >= 0 ? a->target : 0;
	r->start = (uintptr_t)a->start;
	r->length = a->pages * PAGE;
	r->attrs = a->attrs;
}

static void ask_pages(const struct ask *a, unsigned int entry)
{
	struct wsquery_pages p;
	size_t i;

	head(a, &p.range, sizeof(p));
	p.range.entry_size = entry;
	p.entries = (uintptr_t)a->out;
	if (entry == 1)
		p.range.attrs = 0;
	if (a->result == KINDS)
		memset(a->out, 0xff, a->pages * entry);
	if (!succeeded(a, ioctl(storm_shared->dev, WSQUERY_IOC_PAGES, &p), p.range.done,
		       p.range.length) || a->result != KINDS)
		return;
	if (p.range.done != p.range.length)
		storm_wrong("not all", (uintptr_t)a->start, p.range.done);
	for (i = 0; i < a->pages; i++) {
		char *at = a->out + i * entry;
		uint64_t f = entry == 1 ? *(uint8_t *)at : *(uint64_t *)at;

		look(a, (uintptr_t)a->start + i * PAGE, f, p.range.attrs | WSQUERY_STATE_MASK);
		if (entry == 16 && ((uint64_t *)at)[1] && !(f & WSQUERY_SWAPPED))
			storm_wrong("a place without swap", (uintptr_t)a->start + i * PAGE, f);
	}
}

static void ask_regions(const struct ask *a)
{
	const struct wsquery_region *g = (void *)a->out;
	struct wsquery_regions r;
	uint64_t at, told = a->attrs | WSQUERY_STATE_MASK;
	size_t i;

	head(a, &r.range, sizeof(r));
	r.regions = (uintptr_t)a->out;
	r.capacity = a->pages;
	if (!succeeded(a, ioctl(storm_shared->dev, WSQUERY_IOC_REGIONS, &r), r.range.done,
		       r.range.length) || a->result != KINDS)
		return;
	at = r.range.start;
	for (i = 0; i < r.count; i++) {
		if (g[i].start < at || g[i].end <= g[i].start ||
		    g[i].end > r.range.start + r.range.length) {
			storm_wrong("a region out of order", g[i].start, g[i].end);
			return;
		}
		/* What lies between regions is not mapped. */
		if (a->fixed && g[i].start > at)
			look(a, at, 0, told);
		look(a, g[i].start, g[i].flags, told);
		at = g[i].end;
	}
	if (a->fixed && at < r.range.start + r.range.done)
		look(a, at, 0, told);
}

static void ask_count(const struct ask *a)
{
	struct wsquery_count c;

	head(a, &c.range, sizeof(c));
	c.mask = WSQUERY_PRESENT | WSQUERY_SWAPPED;
	if (!succeeded(a, ioctl(storm_shared->dev, WSQUERY_IOC_COUNT, &c), c.range.done,
		       c.range.length))
		return;
	if (c.present + c.swapped + c.matched != c.mapped || c.mapped > a->pages)
		storm_wrong("totals", (uintptr_t)a->start, c.mapped);
	/* Totals are answers about all of the pages. */
	if (a->fixed && a->fixed->locked)
		noted.locked += a->pages;
	if (a->fixed && a->fixed->locked && c.present != a->pages)
		storm_wrong(a->fixed->name, (uintptr_t)a->start, c.present);
	if (a->fixed && (a->fixed->none & WSQUERY_MAPPED) && c.mapped)
		storm_wrong(a->fixed->name, (uintptr_t)a->start, c.mapped);
}

static void ask_list(const struct ask *a, struct rng *r)
{
	struct wsquery_entry *e = (void *)a->out;
	struct wsquery_list l = {
		.size = sizeof(l), .flags = a->target >= 0 ? WSQUERY_TARGET_FD : 0,
		.target = a->target >= 0 ? a->target : 0, .attrs = a->attrs,
		.entries = (uintptr_t)a->out, .count = a->pages,
	};
	size_t i;

	for (i = 0; a->result == KINDS && i < a->pages; i++)
		e[i].address = (uintptr_t)a->start + rng_below(r, a->pages * PAGE);
	if (!succeeded(a, ioctl(storm_shared->dev, WSQUERY_IOC_LIST, &l), l.done, l.count) ||
	    a->result != KINDS)
		return;
	for (i = 0; i < a->pages; i++)
		look(a, e[i].address, e[i].flags, a->attrs | WSQUERY_STATE_MASK);
}

static void ask_one(const struct ask *a, struct rng *r)
{
	const char *at = a->start + rng_below(r, a->pages * PAGE);
	int rc = ioctl(storm_shared->dev, WSQUERY_IOC_ONE, at);

	if (rc >= 0)
		look(a, (uintptr_t)at, rc, WSQUERY_ONE_MASK);
	else
		storm_wrong(strerror(errno), (uintptr_t)at, 0);
}

/* Into the very memory that is asked about, which comes and goes, or into none. */
static void ask_badly(struct ask *a, struct rng *r)
{
	static const enum kind kinds[] = { KIND_UNMAPPED, KIND_READ_ONLY, KIND_INSIDE };

	a->result = kinds[rng_below(r, ARRAY_SIZE(kinds))];
	switch (a->result) {
	case KIND_UNMAPPED:
		a->out = fixed_memory[0].start - 64 * PAGE;
		break;
	case KIND_READ_ONLY:
		a->out = (char *)((uintptr_t)storm_asker & ~7UL);
		break;
	default:
		/* Where nothing may ever be written, the next best is the arena. */
		a->out = a->fixed && !a->fixed->any ? ARENA_START : a->start;
		break;
	}
}

/* Whom and what about, into which memory. */
static void ask_choose(struct ask *a, struct rng *r, char *buffer, const struct fixed *about)
{
	const uint64_t all = ALL_ATTRS & ~WSQUERY_GUARD;

	memset(a, 0, sizeof(*a));
	a->form = rng_below(r, FORMS);
	a->target = rng_one_in(r, 4) ? storm_shared->pagemap : -1;
	a->attrs = rng_one_in(r, 3) ? all : rng_one_in(r, 2) ? 0 : WSQUERY_CACHED | WSQUERY_COPY;
	a->out = buffer;
	a->result = KINDS;
	if (about || rng_one_in(r, 2)) {
		a->fixed = about ? about : &fixed_memory[rng_below(r, FIXED)];
		a->start = a->fixed->start;
		a->pages = a->fixed->pages;
		/* Without the page cache in the answer a page there looks like a hole. */
		if (a->fixed->any & WSQUERY_CACHED)
			a->attrs |= WSQUERY_CACHED;
	} else {
		space_pick(r, &a->start, &a->pages);
	}
	if (!a->fixed && rng_one_in(r, 5) && atomic_load(&storm_shared->victim) >= 0)
		a->target = atomic_load(&storm_shared->victim);
	if (rng_one_in(r, 5))
		ask_badly(a, r);
}

/* One request of any form, about anything or about memory that is given. */
void storm_ask_once(struct rng *r, char *buffer, const struct fixed *about)
{
	struct ask a;

	ask_choose(&a, r, buffer, about);
	switch (a.form) {
	case FORM_BYTES:
		ask_pages(&a, 1);
		break;
	case FORM_WIDE:
		ask_pages(&a, 8);
		break;
	case FORM_PLACES:
		ask_pages(&a, 16);
		break;
	case FORM_REGIONS:
		ask_regions(&a);
		break;
	case FORM_COUNT:
		ask_count(&a);
		break;
	case FORM_LIST:
		ask_list(&a, r);
		break;
	default:
		ask_one(&a, r);
		break;
	}
	note_all(&a);
}

void *storm_asker(void *arg)
{
	struct rng r = rng_of(storm_shared->seed, (uintptr_t)arg);
	char *buffer = mmap(NULL, ASK_BUFFER, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	while (!atomic_load(&storm_shared->stop))
		storm_ask_once(&r, buffer, NULL);
	return NULL;
}
