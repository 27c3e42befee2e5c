// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses in any order, answered in place; and one address alone.
 *
 * A list is answered by the same walk as a range. It is taken in blocks, and a
 * block whose addresses lie densely together, in whatever order, shares
 * one walk over the range it spans; each entry then picks its page from
 * the result. That costs an entry a few instructions more than a page of a range,
 * where a look-up of its own would cost it a hundred. What is scattered gets
 * the look-ups.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "scan.h"
#include "sink.h"
#include "target.h"
#include "ioctl.h"

/* Entries that get look-ups of their own if they are scattered. */
#define WSQ_LIST_BLOCK		64
/* A walk over this many pages for each entry costs as much as look-ups. */
#define WSQ_LIST_DENSITY	16
/* Entries of a list that needs no memory. */
#define WSQ_LIST_SMALL		8

/**
 * struct wsq_list_part - entries that are answered together
 * @entry: the first, in the user's array
 * @n: how many
 * @lo: lowest page among them, as address >> PAGE_SHIFT
 * @hi: highest page
 * @fault: an answer could not be written
 */
struct wsq_list_part {
	struct wsquery_entry __user *entry;
	unsigned long n;
	u64 lo;
	u64 hi;
	bool fault;
};

/* How many of @n entries from @entry on can be read, and what they span. */
static struct wsq_list_part wsq_list_span(struct wsquery_entry __user *entry, unsigned long n)
{
	struct wsq_list_part p = { .entry = entry };
	u64 lo = U64_MAX, hi = 0;
	unsigned long i = 0;

	if (!user_read_access_begin(entry, n * sizeof(*entry)))
		return p;
	for (; i < n; i++) {
		u64 address;

		unsafe_get_user(address, &entry[i].address, fault);
		lo = min(lo, address);
		hi = max(hi, address);
	}
fault:
	user_read_access_end();
	p.n = i;
	p.lo = lo >> PAGE_SHIFT;
	p.hi = hi >> PAGE_SHIFT;
	return p;
}

static bool wsq_list_is_dense(const struct wsq_list_part *p)
{
	return p->hi - p->lo < WSQ_LIST_SPAN && p->hi - p->lo < p->n * WSQ_LIST_DENSITY;
}

/*
 * Writes the answers to a part, from those of its pages in order. The addresses are
 * read again rather than kept; one that was changed in the meantime and fell out of
 * the part ends it. Returns how many were written.
 */
static unsigned long wsq_list_fill(struct wsq_list_part *p, const u64 *answer)
{
	struct wsquery_entry __user *entry = p->entry;
	const u64 base = p->lo << PAGE_SHIFT, span = (p->hi - p->lo + 1) << PAGE_SHIFT;
	unsigned long i = 0;

	if (!user_access_begin(entry, p->n * sizeof(*entry))) {
		p->fault = true;
		return 0;
	}
	for (; i < p->n; i++) {
		u64 address;

		unsafe_get_user(address, &entry[i].address, fault);
		address -= base;
		if (unlikely(address >= span))
			break;
		unsafe_put_user(answer[address >> PAGE_SHIFT], &entry[i].flags, fault);
	}
	user_access_end();
	return i;
fault:
	user_access_end();
	p->fault = true;
	return i;
}

/* The same where some pages are not told, which are counted, and told if asked. */
static unsigned long wsq_list_fill_count(struct wsq_list_part *p, const u64 *answer,
					 struct wsquery_list *list)
{
	const u64 visible = WSQUERY_STATE_MASK | list->attrs;
	unsigned long i;

	for (i = 0; i < p->n; i++) {
		u64 address, flags;

		p->fault = get_user(address, &p->entry[i].address);
		address = (address >> PAGE_SHIFT) - p->lo;
		if (p->fault || address > p->hi - p->lo)
			break;
		flags = answer[address];
		p->fault = put_user(flags & visible, &p->entry[i].flags);
		if (p->fault)
			break;
		list->not_told += !!(flags & WSQUERY_NOT_TOLD);
	}
	return i;
}

/* One walk over all pages that the part spans. Returns how many were answered. */
static long wsq_list_dense(struct wsq_walk *w, struct wsq_list_part *p, u64 *answer,
			   struct wsquery_list *list)
{
	unsigned long pos = p->lo;

	w->sink->out.wide = answer;
	w->sink->not_told = 0;
	while (pos <= p->hi) {
		int err = wsq_scan_lock(w);

		if (err)
			return err;
		pos = wsq_walk(w, pos, p->hi + 1);
		wsq_scan_unlock(w);
		cond_resched();
	}
	return w->sink->not_told ? wsq_list_fill_count(p, answer, list) : wsq_list_fill(p, answer);
}

/* A look-up for each entry of the part, under one hold of the lock. */
static long wsq_list_sparse(struct wsq_walk *w, struct wsq_list_part *p,
			    struct wsquery_list *list)
{
	const u64 visible = WSQUERY_STATE_MASK | list->attrs;
	u64 page[WSQ_LIST_BLOCK] __uninitialized;
	unsigned long n, i;
	int err;

	for (n = 0; n < p->n; n++) {
		p->fault = get_user(page[n], &p->entry[n].address);
		if (p->fault)
			break;
		page[n] >>= PAGE_SHIFT;
	}

	err = wsq_scan_lock(w);
	if (err)
		return err;
	w->sink->out.wide = page;
	for (i = 0; i < n; i++)
		wsq_walk(w, page[i], page[i] + 1);
	wsq_scan_unlock(w);

	for (i = 0; i < n; i++) {
		if (put_user(page[i] & visible, &p->entry[i].flags)) {
			p->fault = true;
			break;
		}
		list->not_told += !!(page[i] & WSQUERY_NOT_TOLD);
	}
	return i;
}

/* Answers @n entries, n > 0, in parts as large as are dense. */
static int wsq_list_chunk(struct wsq_walk *w, struct wsquery_entry __user *entry,
			  unsigned long n, u64 *answer, struct wsquery_list *list)
{
	unsigned long size = roundup_pow_of_two(n), from = 0;

	/* Halve what is not dense, and go on after it with the next of its size. */
	while (from < n) {
		unsigned long want = min(size, n - from);
		struct wsq_list_part p = wsq_list_span(entry + from, want);
		long done;

		if (!p.n)
			return -EFAULT;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (wsq_list_is_dense(&p)) {
			done = wsq_list_dense(w, &p, answer, list);
		} else if (size <= WSQ_LIST_BLOCK) {
			done = wsq_list_sparse(w, &p, list);
		} else {
			size /= 2;
			continue;
		}
		if (done < 0)
			return done;
		list->done += done;
		/* Fewer if another thread changed an address: look at it again. */
		from += done;
		if (p.fault)
			return -EFAULT;
		size = from & -from;
	}
	return 0;
}

static void wsq_list_sink(struct wsq_sink *sink, u64 attrs)
{
	sink->form = WSQ_WIDE;
	sink->keep = WSQUERY_STATE_MASK | attrs;
	sink->room = UINT_MAX;
	sink->not_told = 0;
}

/**
 * wsq_list() - answer a list of addresses
 * @list: the request, checked; its done and not_told are 0
 * @target: whose addresses
 *
 * Return: 0, -EFAULT, -EINTR or -ENOMEM.
 */
int wsq_list(struct wsquery_list *list, const struct wsq_target *target)
{
	struct wsquery_entry __user *entry = u64_to_user_ptr(list->entries);
	const unsigned long chunk = min_t(u64, list->count, WSQ_LIST_ENTRIES);
	u64 small[WSQ_LIST_SMALL * WSQ_LIST_DENSITY] __uninitialized, *answer = small;
	struct wsq_sink sink __uninitialized;
	struct wsq_walk w __uninitialized;
	int err = 0;

	wsq_list_sink(&sink, list->attrs | WSQUERY_NOT_TOLD);
	wsq_scan_init(&w, target, list->attrs, list->flags & WSQUERY_SHARED_ONLY, &sink);

	if (chunk > WSQ_LIST_SMALL) {
		const unsigned long span = min(chunk * WSQ_LIST_DENSITY,
					       (unsigned long)WSQ_LIST_SPAN);

		answer = kvmalloc_array(span, sizeof(u64), GFP_KERNEL | __GFP_NOWARN);
		if (!answer)
			return -ENOMEM;
	}
	while (!err && list->done < list->count)
		err = wsq_list_chunk(&w, entry + list->done,
				     min_t(u64, list->count - list->done, chunk), answer, list);
	if (answer != small)
		kvfree(answer);
	return err;
}

/**
 * wsq_one() - answer one address of the caller
 * @addr: the address
 * @attrs: attributes to tell
 *
 * Return: the flags, or -EINTR.
 */
long wsq_one(unsigned long addr, u64 attrs)
{
	struct wsq_target target = { .mm = current->mm, .own = true };
	struct wsq_sink sink __uninitialized;
	struct wsq_walk w __uninitialized;
	u64 flags;
	int err;

	wsq_list_sink(&sink, attrs);
	sink.out.wide = &flags;
	wsq_scan_init(&w, &target, attrs, false, &sink);
	err = wsq_scan_lock(&w);
	if (err)
		return err;
	wsq_walk(&w, addr >> PAGE_SHIFT, (addr >> PAGE_SHIFT) + 1);
	wsq_scan_unlock(&w);
	return flags;
}
