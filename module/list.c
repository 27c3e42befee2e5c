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
 * struct wsq_list_work - a part of a list under way
 * @page: for each entry its page number; later the place of its answer in @answer
 * @answer: answers
 * @entry: the user's entries
 * @small: for lists that fit
 */
struct wsq_list_work {
	u64 *page;
	u64 *answer;
	struct wsquery_entry __user *entry;
	u64 small[WSQ_LIST_SMALL * (1 + WSQ_LIST_DENSITY)];
};

/* Reads the page numbers of @n entries; returns how many could be read. */
static unsigned long wsq_list_read(struct wsq_list_work *lw, unsigned long n)
{
	const struct wsquery_entry __user *entry = lw->entry;
	unsigned long i = 0;

	if (!user_read_access_begin(entry, n * sizeof(*entry)))
		return 0;
	for (; i < n; i++) {
		u64 address;

		unsafe_get_user(address, &entry[i].address, fault);
		lw->page[i] = address >> PAGE_SHIFT;
	}
fault:
	user_read_access_end();
	return i;
}

/*
 * Writes the answers of entries; returns how many could be written. An answer is
 * at the place that its page number has beyond @base.
 */
static unsigned long wsq_list_write(const struct wsq_list_work *lw, unsigned long from,
				    unsigned long n, u64 base)
{
	struct wsquery_entry __user *entry = lw->entry + from;
	const u64 *page = lw->page + from;
	unsigned long i = 0;

	if (!user_write_access_begin(entry, n * sizeof(*entry)))
		return 0;
	for (; i < n; i++)
		unsafe_put_user(lw->answer[page[i] - base], &entry[i].flags, fault);
fault:
	user_write_access_end();
	return i;
}

/* The same where some pages may not be told, which are counted. */
static unsigned long wsq_list_write_count(const struct wsq_list_work *lw, unsigned long from,
					  unsigned long n, u64 base,
					  struct wsquery_list *list)
{
	const u64 visible = WSQUERY_STATE_MASK | list->attrs;
	unsigned long i;

	for (i = from; i < from + n; i++) {
		u64 flags = lw->answer[lw->page[i] - base];

		if (put_user(flags & visible, &lw->entry[i].flags))
			break;
		list->not_told += !!(flags & WSQUERY_NOT_TOLD);
	}
	return i - from;
}

/* Walks a range into the answers, in as many holds of the lock as it takes. */
static int wsq_list_walk(struct wsq_walk *w, u64 lo, u64 hi)
{
	unsigned long pos = lo;
	int err;

	while (pos <= hi) {
		err = wsq_scan_lock(w);
		if (err)
			return err;
		pos = wsq_walk(w, pos, hi + 1);
		wsq_scan_unlock(w);
		cond_resched();
	}
	return 0;
}

/* A look-up for each of a block's entries, under one hold of the lock. */
static int wsq_list_lookup(struct wsq_walk *w, u64 *page, unsigned long n)
{
	unsigned long i;
	int err;

	err = wsq_scan_lock(w);
	if (err)
		return err;
	for (i = 0; i < n; i++) {
		wsq_walk(w, page[i], page[i] + 1);
		page[i] = i;
	}
	wsq_scan_unlock(w);
	return 0;
}

static bool wsq_list_is_dense(u64 lo, u64 hi, unsigned long n)
{
	return hi - lo < WSQ_LIST_SPAN && hi - lo < n * WSQ_LIST_DENSITY;
}

/* Answers the entries of lw->page that were read. */
static int wsq_list_answer(struct wsq_walk *w, struct wsq_list_work *lw, unsigned long n,
			   struct wsquery_list *list)
{
	unsigned long size = roundup_pow_of_two(n), from = 0;

	/* Halve what is not dense, and go on after it with the next of its size. */
	while (from < n) {
		unsigned long part = min(size, n - from), done, i;
		u64 *page = lw->page + from;
		u64 lo = page[0], hi = page[0], base = 0;
		int err;

		for (i = 1; i < part; i++) {
			lo = min(lo, page[i]);
			hi = max(hi, page[i]);
		}
		w->sink->out.wide = lw->answer;
		w->sink->not_told = 0;
		if (wsq_list_is_dense(lo, hi, part)) {
			err = wsq_list_walk(w, lo, hi);
			base = lo;
		} else if (size <= WSQ_LIST_BLOCK) {
			err = wsq_list_lookup(w, page, part);
		} else {
			size /= 2;
			continue;
		}
		if (err)
			return err;

		done = w->sink->not_told ? wsq_list_write_count(lw, from, part, base, list) :
					   wsq_list_write(lw, from, part, base);
		list->done += done;
		if (done < part)
			return -EFAULT;
		from += part;
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
	struct wsq_list_work lw = { .entry = u64_to_user_ptr(list->entries) };
	unsigned long chunk = min_t(u64, list->count, WSQ_LIST_ENTRIES);
	struct wsq_sink sink;
	struct wsq_walk w;
	int err = 0;

	wsq_list_sink(&sink, list->attrs | WSQUERY_NOT_TOLD);
	wsq_scan_init(&w, target, list->attrs, list->flags & WSQUERY_SHARED_ONLY, &sink);

	if (chunk <= WSQ_LIST_SMALL) {
		lw.page = lw.small;
		lw.answer = lw.small + WSQ_LIST_SMALL;
	} else {
		unsigned long span = min(chunk * WSQ_LIST_DENSITY, (unsigned long)WSQ_LIST_SPAN);

		lw.page = kvmalloc_array(chunk + span, sizeof(u64), GFP_KERNEL | __GFP_NOWARN);
		if (!lw.page)
			return -ENOMEM;
		lw.answer = lw.page + chunk;
	}

	while (!err && list->done < list->count) {
		unsigned long n = min_t(u64, list->count - list->done, chunk);
		unsigned long got;

		if (fatal_signal_pending(current)) {
			err = -EINTR;
			break;
		}
		got = wsq_list_read(&lw, n);
		if (got)
			err = wsq_list_answer(&w, &lw, got, list);
		lw.entry += got;
		if (!err && got < n)
			err = -EFAULT;
	}

	if (lw.page != lw.small)
		kvfree(lw.page);
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
	struct wsq_sink sink;
	struct wsq_walk w;
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
