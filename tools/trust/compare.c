// SPDX-License-Identifier: GPL-2.0
/*
 * Every form of request about an arena that stands still, compared page by page. The wide
 * entries with all attributes are compared with what the peers say, all other forms, with
 * attributes and ranges of random choice, with the wide entries.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trust.h"

/* The first difference of a look. */
struct first {
	bool set;
	enum form kind;
	size_t page;
	uint64_t expected, seen;
};

/* Where the answers of a check are kept. */
struct check {
	struct wsq *q;
	struct rng *r;
	struct tally *tally;
	const struct space *s;
	pid_t pid;
	struct truth *t;
	int shown;
	bool quiet;
	struct first first;
	uint64_t shown_at;
	uint64_t wide[ARENA_PAGES];
	union {
		uint8_t bytes[ARENA_PAGES];
		__u64 wide[ARENA_PAGES];
		struct wsquery_page places[ARENA_PAGES];
		struct wsquery_region regions[ARENA_PAGES];
		struct wsquery_entry list[ARENA_PAGES];
	} out;
};

/* The mapping of a page that is answered wrongly, once. */
static void show_mapping(struct check *c, size_t page)
{
	uint64_t at = (uintptr_t)ARENA_START + page * PAGE;
	int k;

	for (k = 0; k < c->t->n_vmas; k++) {
		const struct vma *v = &c->t->vmas[k];

		if (at < v->start || at >= v->end || c->shown_at == v->start)
			continue;
		c->shown_at = v->start;
		printf("#  in pages %llu to %llu, object %d, from its page %llu, ",
		       (unsigned long long)(v->start - (uintptr_t)ARENA_START) / PAGE,
		       (unsigned long long)(v->end - (uintptr_t)ARENA_START) / PAGE,
		       v->object ? (int)v->object->kind : -1,
		       (unsigned long long)(v->offset / PAGE));
		printf("of %lu kB, %lu kB swapped\n", v->rss, v->swap);
	}
}

static void differs(struct check *c, enum form kind, size_t page, uint64_t expected,
		    uint64_t seen)
{
	c->tally->differ++;
	/* What is gone at the second look is shown afterwards. */
	if (c->quiet && !c->first.set)
		c->first = (struct first){ true, kind, page, expected, seen };
	if (c->quiet || c->shown++ >= 4)
		return;
	show_mapping(c, page);
	printf("# %s, page %zu%s: expected %#llx, seen %#llx, differ in %#llx\n",
	       form_names[kind], page, c->pid ? " of the child" : "",
	       (unsigned long long)expected, (unsigned long long)seen,
	       (unsigned long long)(expected ^ seen));
}

static void failed(struct check *c, enum form kind, int rc)
{
	c->tally->differ++;
	printf("# %s: %s\n", form_names[kind], rc == BROKEN ? "broken" : strerror(-rc));
}

static bool expect(struct check *c, enum form kind, size_t page, uint64_t expected, uint64_t seen)
{
	c->tally->answers[kind]++;
	if (expected == seen)
		return true;
	differs(c, kind, page, expected, seen);
	return false;
}

/* Some attributes, fields as a whole; often none or all, which have ways of their own. */
static uint64_t some_attrs(struct check *c, uint64_t all)
{
	static const uint64_t fields[] = {
		WSQUERY_SHARE_COUNT, WSQUERY_NODE, WSQUERY_MARKER_KIND,
	};
	uint64_t attrs = rng_next(c->r);
	size_t i;

	if (rng_one_in(c->r, 3))
		return rng_one_in(c->r, 2) ? all : 0;
	if (rng_one_in(c->r, 3))
		attrs &= rng_next(c->r) & rng_next(c->r);
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		attrs &= ~fields[i];
		if (rng_one_in(c->r, 4))
			attrs |= fields[i];
	}
	return attrs & all;
}

static size_t some_range(struct check *c, size_t *first)
{
	size_t n = rng_one_in(c->r, 3) ? 1 + rng_below(c->r, 40) : 1 + rng_below(c->r, ARENA_PAGES);

	*first = rng_one_in(c->r, 3) ? 0 : rng_below(c->r, ARENA_PAGES);
	if (!*first && rng_one_in(c->r, 2))
		n = ARENA_PAGES;
	return n < ARENA_PAGES - *first ? n : ARENA_PAGES - *first;
}

static uint64_t with(const struct check *c, size_t i, uint64_t attrs)
{
	return c->wide[i] & (WSQUERY_STATE_MASK | attrs);
}

static void check_truth(struct check *c)
{
	size_t i;
	int rc = wsq_wide(c->q, ARENA_START, ARENA_PAGES, (__u64 *)c->wide);

	if (rc)
		failed(c, FORM_WIDE, rc);
	for (i = 0; !rc && i < ARENA_PAGES; i++) {
		uint64_t known = c->t->known[i] & (c->q->attrs | WSQUERY_STATE_MASK);

		expect(c, FORM_WIDE, i, c->t->flags[i] & known, c->wide[i] & known);
	}
}

static void check_pages(struct check *c)
{
	uint64_t all = c->q->attrs;
	size_t first, n = some_range(c, &first), i;
	int rc = wsq_bytes(c->q, ARENA_START + first * PAGE, n, c->out.bytes);

	for (i = 0; !rc && i < n; i++)
		expect(c, FORM_BYTES, first + i, with(c, first + i, 0), c->out.bytes[i]);
	if (rc)
		failed(c, FORM_BYTES, rc);

	n = some_range(c, &first);
	c->q->attrs = some_attrs(c, all);
	rc = wsq_wide(c->q, ARENA_START + first * PAGE, n, c->out.wide);
	for (i = 0; !rc && i < n; i++)
		expect(c, FORM_WIDE, first + i, with(c, first + i, c->q->attrs), c->out.wide[i]);
	if (rc)
		failed(c, FORM_WIDE, rc);

	n = some_range(c, &first);
	c->q->attrs = some_attrs(c, all);
	rc = wsq_pages(c->q, ARENA_START + first * PAGE, n, 16, c->out.places);
	for (i = 0; !rc && i < n; i++) {
		const struct wsquery_page *p = &c->out.places[i];

		if (expect(c, FORM_PLACES, first + i, with(c, first + i, c->q->attrs), p->flags) &&
		    c->t->swap_known[first + i] && p->swap != c->t->swap[first + i])
			differs(c, FORM_PLACES, first + i, c->t->swap[first + i], p->swap);
	}
	if (rc)
		failed(c, FORM_PLACES, rc);
	c->q->attrs = all;
}

/* In as many calls as the capacity makes it take. */
static void check_regions(struct check *c)
{
	uint64_t all = c->q->attrs, select = 0;
	size_t first, n = some_range(c, &first), i = first, k, count;
	size_t capacity = rng_one_in(c->r, 2) ? n : 1 + rng_below(c->r, n);
	uint64_t at = (uintptr_t)ARENA_START;
	int rc;

	/* No more than a few dozen calls. */
	if (capacity < n / 50 + 1)
		capacity = n / 50 + 1;
	c->q->attrs = some_attrs(c, all);
	if (rng_one_in(c->r, 3))
		select = rng_next(c->r) & (WSQUERY_STATE_MASK | c->q->attrs);
	while (i < first + n) {
		size_t from = i;

		rc = wsq_regions(c->q, at + i * PAGE, (first + n - i) * PAGE, select,
				 c->out.regions, capacity, &count);
		if (rc || !c->q->done) {
			failed(c, FORM_REGIONS, rc ? rc : BROKEN);
			break;
		}
		for (k = 0; i < from + c->q->done / PAGE; i++) {
			uint64_t flags = with(c, i, c->q->attrs), seen = 0;

			while (k < count && c->out.regions[k].end <= at + i * PAGE)
				k++;
			if (k < count && c->out.regions[k].start <= at + i * PAGE)
				seen = c->out.regions[k].flags;
			expect(c, FORM_REGIONS, i, !select || (flags & select) ? flags : 0, seen);
		}
		for (k = 1; k < count; k++)
			if (c->out.regions[k].start < c->out.regions[k - 1].end ||
			    (c->out.regions[k].start == c->out.regions[k - 1].end &&
			     c->out.regions[k].flags == c->out.regions[k - 1].flags))
				differs(c, FORM_REGIONS, k, 0, c->out.regions[k].flags);
	}
	c->q->attrs = all;
}

static void check_count(struct check *c)
{
	uint64_t all = c->q->attrs, mapped = 0, present = 0, swapped = 0, matched = 0, huge = 0;
	uint64_t shmem = 0, shmem_swapped = 0, file = 0, marker = 0, mask, value;
	size_t first, n = some_range(c, &first), i;
	struct wsquery_count seen;
	int rc;

	c->q->attrs = some_attrs(c, all);
	mask = rng_next(c->r) & rng_next(c->r) & (WSQUERY_STATE_MASK | c->q->attrs);
	value = with(c, first + rng_below(c->r, n), c->q->attrs) & mask;
	rc = wsq_count(c->q, (uintptr_t)ARENA_START + first * PAGE, n * PAGE, mask, value, &seen);
	if (rc)
		failed(c, FORM_COUNT, rc);
	for (i = first; i < first + n; i++) {
		uint64_t f = c->wide[i];
		bool in = f & WSQUERY_PRESENT, sh = f & WSQUERY_SHMEM;

		mapped += !!(f & WSQUERY_MAPPED);
		matched += (f & WSQUERY_MAPPED) && (f & mask) == value;
		present += in;
		swapped += !!(f & WSQUERY_SWAPPED);
		shmem += in && sh;
		shmem_swapped += (f & WSQUERY_SWAPPED) && sh && !(f & WSQUERY_COPY);
		file += in && (f & WSQUERY_FILE);
		huge += !!(f & WSQUERY_HUGE);
		marker += !!(f & WSQUERY_MARKER);
	}
	/* One answer is a total of many pages, but here it counts as one. */
	if (!rc) {
		expect(c, FORM_COUNT, first, mapped, seen.mapped);
		expect(c, FORM_COUNT, first, matched, seen.matched);
		expect(c, FORM_COUNT, first, present, seen.present);
		expect(c, FORM_COUNT, first, swapped, seen.swapped);
		expect(c, FORM_COUNT, first, shmem, seen.shmem_present);
		expect(c, FORM_COUNT, first, shmem_swapped, seen.shmem_swapped);
		expect(c, FORM_COUNT, first, file, seen.file_present);
		expect(c, FORM_COUNT, first, huge, seen.huge);
		expect(c, FORM_COUNT, first, marker, seen.marker);
	}
	c->q->attrs = all;
}

/* Backwards, strided, or thrown together, with addresses that are not in the arena. */
static void check_list(struct check *c)
{
	uint64_t all = c->q->attrs;
	size_t first, n = some_range(c, &first), i, order = rng_below(c->r, 3), page;
	int rc;

	c->q->attrs = some_attrs(c, all);
	for (i = 0; i < n; i++) {
		page = order == 0 ? n - 1 - i : order == 1 ? (i * 7919) % n : rng_below(c->r, n);
		c->out.list[i].address = (uintptr_t)ARENA_START + (first + page) * PAGE +
					 rng_below(c->r, PAGE);
	}
	/* An address far away breaks what is dense. */
	if (n > 100 && rng_one_in(c->r, 3))
		c->out.list[n / 2].address = rng_one_in(c->r, 2) ? ~0ULL : 4096;
	rc = wsq_list(c->q, c->out.list, n);
	if (rc)
		failed(c, FORM_LIST, rc);
	for (i = 0; !rc && i < n; i++) {
		uint64_t at = c->out.list[i].address - (uintptr_t)ARENA_START;

		page = at / PAGE;
		expect(c, FORM_LIST, page, page < ARENA_PAGES ? with(c, page, c->q->attrs) : 0,
		       c->out.list[i].flags);
	}
	c->q->attrs = all;
}

static void check_one(struct check *c)
{
	uint64_t mask = WSQUERY_STATE_MASK | (c->q->attrs & WSQUERY_ONE_MASK), want;
	size_t i, k;
	__u64 seen;

	if (c->pid)
		return;
	for (k = 0; k < 1000; k++) {
		i = rng_below(c->r, ARENA_PAGES);
		want = c->wide[i] & mask;
		if (!(want & (WSQUERY_FILE | WSQUERY_SHMEM)))
			want &= ~WSQUERY_SHARE_COUNT;
		if (wsq_one(c->q, ARENA_START + i * PAGE + i % PAGE, &seen))
			failed(c, FORM_ONE, BROKEN);
		expect(c, FORM_ONE, i, want, seen);
	}
}

static void check_once(struct check *c, int pagemap, unsigned int rounds)
{
	memset(c->out.list, 0, sizeof(c->out.list));
	if (truth_find(c->t, c->s, c->pid, pagemap)) {
		printf("# the peers cannot be asked\n");
		c->tally->differ++;
		return;
	}
	truth_sample(c->t, c->r, c->pid, pagemap);
	check_truth(c);
	c->tally->differ += sums_differ(c->t, c->wide, &c->tally->sums, c->quiet);
	if (!c->pid)
		c->tally->differ += mincore_differs(c->t, c->wide, c->quiet);
	while (rounds--) {
		check_pages(c);
		check_regions(c);
		check_count(c);
		check_list(c);
		check_one(c);
	}
	vmas_close(c->t);
}

/* Returns how many answers of one look at the arena were wrong twice. */
int compare_all(struct wsq *q, const struct space *s, struct rng *r, pid_t pid,
		unsigned int rounds, struct tally *tally)
{
	static struct truth truth;
	static struct check c;
	uint64_t before = tally->differ, gone = 0;
	int pagemap = pagemap_open(pid), tries;
	struct wsq asker = *q;

	if (pagemap < 0)
		return 0;
	if (pid)
		asker.target = pagemap;
	memset(&c, 0, sizeof(c));
	c.q = &asker;
	c.r = r;
	c.tally = tally;
	c.s = s;
	c.pid = pid;
	c.t = &truth;
	/* What the system does by itself (aging, migration) can come in between once. */
	for (tries = 0; tries < 3; tries++) {
		c.quiet = tries < 2;
		tally->differ = before;
		check_once(&c, pagemap, rounds);
		if (tally->differ == before)
			break;
		gone = tally->differ - before;
	}
	if (tally->differ == before && gone) {
		tally->unstable += gone;
		printf("# gone at a second look: %s, page %zu, expected %#llx, seen %#llx\n",
		       form_names[c.first.kind], c.first.page,
		       (unsigned long long)c.first.expected, (unsigned long long)c.first.seen);
	}
	close(pagemap);
	return tally->differ - before;
}
