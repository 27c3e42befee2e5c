// SPDX-License-Identifier: GPL-2.0
/*
 * The check behind nearly all tests: the pages are in the expected state, every
 * form of request says the same, and no other interface of the kernel
 * contradicts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wsq.h"

static int complain(const char *form, const void *start, size_t page, __u64 expected, __u64 seen)
{
	fprintf(stderr, "# page %zu of %p, %s: expected %#llx, seen %#llx\n", page, start, form,
		(unsigned long long)expected, (unsigned long long)seen);
	return 1;
}

static int refused(const char *form, const void *start, size_t pages, int rc)
{
	fprintf(stderr, "# %zu pages at %p, %s: %s\n", pages, start, form,
		rc == BROKEN ? "broken" : strerror(-rc));
	return 1;
}

static int check_bytes(struct wsq *q, const void *start, size_t pages, const __u64 *flags)
{
	__u8 *bytes = calloc(pages, 1);
	size_t i;
	int bad = 0, rc = wsq_bytes(q, start, pages, bytes);

	if (rc)
		bad = refused("bytes", start, pages, rc);
	for (i = 0; i < pages && !bad; i++)
		if (bytes[i] != (flags[i] & WSQUERY_STATE_MASK))
			bad = complain("bytes", start, i, flags[i], bytes[i]);
	free(bytes);
	return bad;
}

static int check_regions(struct wsq *q, const void *start, size_t pages, const __u64 *flags)
{
	struct wsquery_region *r = calloc(pages, sizeof(*r));
	__u64 at = (uintptr_t)start;
	size_t i, k = 0, count = 0;
	int bad = 0, rc = wsq_regions(q, at, pages * PAGE, 0, r, pages, &count);

	if (rc)
		bad = refused("regions", start, pages, rc);
	for (i = 0; i < pages && !bad; i++, at += PAGE) {
		if (k < count && r[k].end <= at)
			k++;
		if (!(flags[i] & WSQUERY_MAPPED)) {
			if (k < count && r[k].start <= at)
				bad = complain("regions", start, i, flags[i], r[k].flags);
		} else if (k == count || r[k].start > at || r[k].flags != flags[i]) {
			bad = complain("regions", start, i, flags[i], k < count ? r[k].flags : 0);
		} else if (r[k].start != at && flags[i - 1] != flags[i]) {
			bad = complain("regions are not runs", start, i, flags[i], r[k].flags);
		}
	}
	for (k = 1; k < count && !bad; k++)
		if (r[k].start == r[k - 1].end && r[k].flags == r[k - 1].flags)
			bad = complain("equal neighbours", start, k, r[k].flags, r[k - 1].flags);
	free(r);
	return bad;
}

/* What the totals must be, from the answers page by page. */
static void add_up(struct wsquery_count *c, const __u64 *flags, size_t pages)
{
	size_t i;

	for (i = 0; i < pages; i++) {
		__u64 f = flags[i];
		bool present = f & WSQUERY_PRESENT, shmem = f & WSQUERY_SHMEM;

		c->mapped += !!(f & WSQUERY_MAPPED);
		c->matched += (f & WSQUERY_MAPPED) && (f & c->mask) == c->value;
		c->present += present;
		c->swapped += !!(f & WSQUERY_SWAPPED);
		c->shmem_present += present && shmem;
		c->shmem_swapped += (f & WSQUERY_SWAPPED) && shmem && !(f & WSQUERY_COPY);
		c->file_present += present && (f & WSQUERY_FILE);
		c->huge += !!(f & WSQUERY_HUGE);
		c->marker += !!(f & WSQUERY_MARKER);
	}
}

static int check_count(struct wsq *q, const void *start, size_t pages, const __u64 *flags)
{
	struct wsquery_count seen = {}, expected = {};
	size_t from = offsetof(struct wsquery_count, matched);
	int rc;

	expected.mask = WSQUERY_PRESENT | (q->attrs & WSQUERY_COPY);
	expected.value = flags[0] & expected.mask;
	add_up(&expected, flags, pages);
	rc = wsq_count(q, (uintptr_t)start, pages * PAGE, expected.mask, expected.value, &seen);
	if (rc)
		return refused("count", start, pages, rc);
	if (memcmp((char *)&seen + from, (char *)&expected + from, sizeof(seen) - from)) {
		size_t i;

		for (i = from; i < sizeof(seen); i += 8) {
			__u64 e = *(__u64 *)((char *)&expected + i);
			__u64 s = *(__u64 *)((char *)&seen + i);

			if (e != s)
				complain("count", start, (i - from) / 8, e, s);
		}
		return 1;
	}
	return 0;
}

/* Backwards, so that the order cannot help. */
static int check_list(struct wsq *q, const void *start, size_t pages, const __u64 *flags)
{
	struct wsquery_entry *e = calloc(pages, sizeof(*e));
	size_t i;
	int bad = 0, rc;

	for (i = 0; i < pages; i++)
		e[i].address = (uintptr_t)start + (pages - 1 - i) * PAGE + i % PAGE;
	rc = wsq_list(q, e, pages);
	if (rc)
		bad = refused("list", start, pages, rc);
	for (i = 0; i < pages && !bad; i++)
		if (e[i].flags != flags[pages - 1 - i])
			bad = complain("list", start, pages - 1 - i, flags[pages - 1 - i],
				       e[i].flags);
	free(e);
	return bad;
}

static int check_one(struct wsq *q, const void *start, size_t pages, const __u64 *flags)
{
	__u64 mask = WSQUERY_STATE_MASK | (q->attrs & WSQUERY_ONE_MASK), seen, want;
	size_t i, step = pages / 16 + 1;
	int rc;

	for (i = 0; i < pages; i += step) {
		rc = wsq_one(q, (const char *)start + i * PAGE + 1, &seen);
		if (rc)
			return refused("one", start, pages, rc);
		want = flags[i] & mask;
		/* As with WSQUERY_SHARED_ONLY. */
		if (!(want & (WSQUERY_FILE | WSQUERY_SHMEM)))
			want &= ~WSQUERY_SHARE_COUNT;
		if ((seen & mask) != want || (seen & ~WSQUERY_ONE_MASK))
			return complain("one", start, i, want, seen);
	}
	return 0;
}

/* The other forms say what the wide pages form said. */
int check_forms(struct wsq *q, const void *start, size_t pages, const __u64 *flags)
{
	int bad = check_bytes(q, start, pages, flags);

	if (wsq_has(q, WSQUERY_IOC_REGIONS))
		bad += check_regions(q, start, pages, flags);
	if (wsq_has(q, WSQUERY_IOC_COUNT))
		bad += check_count(q, start, pages, flags);
	if (wsq_has(q, WSQUERY_IOC_LIST))
		bad += check_list(q, start, pages, flags);
	if (wsq_has(q, WSQUERY_IOC_ONE) && q->target < 0)
		bad += check_one(q, start, pages, flags);
	return bad;
}

/* Returns how many things are wrong. */
int check_flags(struct wsq *q, const char *file, int line, const void *start, size_t pages,
		__u64 expected, __u64 care)
{
	__u64 *flags = calloc(pages, 8);
	size_t i;
	int bad = 0, rc = wsq_wide(q, start, pages, flags);

	care &= q->attrs | WSQUERY_STATE_MASK;
	if (rc)
		bad = refused("pages", start, pages, rc);
	for (i = 0; i < pages && bad < 4; i++) {
		if ((flags[i] & care) != (expected & care))
			bad += complain("pages", start, i, expected & care, flags[i] & care);
		else if (flags[i] & ~(q->attrs | WSQUERY_STATE_MASK))
			bad += complain("pages, not asked for", start, i, expected, flags[i]);
	}
	if (!rc) {
		bad += check_forms(q, start, pages, flags);
		bad += compare_peers(q, start, pages, flags);
	}
	if (bad)
		fprintf(stderr, "# %s:%d: %d differences\n", file, line, bad);
	free(flags);
	return bad;
}
