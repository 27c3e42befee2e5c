// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses in any order, answered in place.
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
/* Entries that are read or written in a row. */
#define WSQ_LIST_GROUP		8
/* Entries of a list that needs no memory. */
#define WSQ_LIST_SMALL		16

/**
 * struct wsq_list_work - room for a chunk of a list
 * @address: its addresses
 * @answer: answers for the pages that a part spans, in order
 * @span: how many pages @answer has room for
 * @small: both of a list that needs no more
 * @spare: both, if the module's own room was free
 */
struct wsq_list_work {
	u64 *address;
	u64 *answer;
	unsigned long span;
	u64 *small;
	u64 *spare;
};

/*
 * Room for the longest list, for one request at a time; whoever comes meanwhile allocates.
 * New memory would have to be cleared, which costs a fifth of the answer.
 */
static u64 *wsq_list_spare;

/**
 * wsq_list_init() - make the module's own room
 *
 * Return: 0 or -ENOMEM.
 */
int wsq_list_init(void)
{
	wsq_list_spare = kvmalloc(WSQ_LIST_BYTES, GFP_KERNEL);
	return wsq_list_spare ? 0 : -ENOMEM;
}

/* Frees it. */
void wsq_list_exit(void)
{
	kvfree(wsq_list_spare);
}

static bool wsq_list_spare_take(struct wsq_list_work *lw)
{
	if (!lw->spare)
		lw->spare = xchg(&wsq_list_spare, NULL);
	return lw->spare;
}

/* Makes room for the addresses of a chunk. */
static int wsq_list_room_address(struct wsq_list_work *lw, unsigned long entries)
{
	if (entries <= WSQ_LIST_SMALL)
		return 0;
	if (wsq_list_spare_take(lw))
		lw->address = lw->spare;
	else
		lw->address = kvmalloc_array(entries, sizeof(u64),
					     GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return lw->address ? 0 : -ENOMEM;
}

/* Makes room for the answers to a part. What is larger than needed costs clearing. */
static int wsq_list_room_answer(struct wsq_list_work *lw, unsigned long span)
{
	if (span <= lw->span)
		return 0;
	if (lw->span > WSQ_LIST_SMALL)
		kvfree(lw->answer);
	if (wsq_list_spare_take(lw)) {
		lw->answer = lw->spare + WSQ_LIST_ENTRIES;
		lw->span = WSQ_LIST_SPAN;
		return 0;
	}
	lw->answer = kvmalloc_array(span, sizeof(u64), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	lw->span = lw->answer ? span : 0;
	return lw->answer ? 0 : -ENOMEM;
}

/* The spare can have been taken for the answers alone. */
static void wsq_list_room_free(struct wsq_list_work *lw)
{
	u64 *const spare = lw->spare;

	if (lw->address != lw->small && lw->address != spare)
		kvfree(lw->address);
	if (lw->span > WSQ_LIST_SMALL && (!spare || lw->answer != spare + WSQ_LIST_ENTRIES))
		kvfree(lw->answer);
	if (spare)
		xchg(&wsq_list_spare, spare);
}

/**
 * struct wsq_list_part - entries of a chunk that are answered together
 * @from: the first
 * @n: how many
 * @lo: lowest page among them, as address >> PAGE_SHIFT
 * @hi: highest page
 */
struct wsq_list_part {
	unsigned long from;
	unsigned long n;
	u64 lo;
	u64 hi;
};

static struct wsq_list_part wsq_list_part(const struct wsq_list_work *lw, unsigned long from,
					  unsigned long n)
{
	u64 lo = U64_MAX, hi = 0;
	unsigned long i;

#pragma GCC unroll 4
	for (i = from; i < from + n; i++) {
		lo = min(lo, lw->address[i]);
		hi = max(hi, lw->address[i]);
	}
	return (struct wsq_list_part){ from, n, lo >> PAGE_SHIFT, hi >> PAGE_SHIFT };
}

/*
 * Reads the addresses of @n entries. Returns the part that they are, of fewer entries
 * if not all could be read. Groups, so that nothing is counted entry by entry; where
 * in a group memory ends is found out afterwards.
 */
static struct wsq_list_part wsq_list_read(struct wsq_list_work *lw,
					  const struct wsquery_entry __user *entry,
					  unsigned long n)
{
	u64 *const to = lw->address;
	u64 address, lo = U64_MAX, hi = 0;
	unsigned long i = 0, k;

	if (!user_read_access_begin(entry, n * sizeof(*entry)))
		return (struct wsq_list_part){ 0 };
	for (; i + WSQ_LIST_GROUP <= n; i += WSQ_LIST_GROUP) {
#pragma GCC unroll 8
		for (k = i; k < i + WSQ_LIST_GROUP; k++) {
			unsafe_get_user(address, &entry[k].address, fault);
			to[k] = address;
			lo = min(lo, address);
			hi = max(hi, address);
		}
	}
fault:
	user_read_access_end();
	for (; i < n && !get_user(address, &entry[i].address); i++) {
		to[i] = address;
		lo = min(lo, address);
		hi = max(hi, address);
	}
	return (struct wsq_list_part){ 0, i, lo >> PAGE_SHIFT, hi >> PAGE_SHIFT };
}

static bool wsq_list_is_dense(const struct wsq_list_part *p)
{
	return p->hi - p->lo < WSQ_LIST_SPAN && p->hi - p->lo < p->n * WSQ_LIST_DENSITY;
}

/* Writes the answers of a part, in groups as above; returns how many could be written. */
static unsigned long wsq_list_write(const struct wsq_list_work *lw,
				    const struct wsq_list_part *p,
				    struct wsquery_entry __user *entry)
{
	const u64 *address = lw->address + p->from;
	/* So that a page number is an index. */
	const u64 *answer = lw->answer - p->lo;
	const unsigned long n = p->n;
	unsigned long i = 0, k;

	/* Else the compiler subtracts from each page number instead, an instruction an entry. */
	OPTIMIZER_HIDE_VAR(answer);
	entry += p->from;
	if (!user_write_access_begin(entry, n * sizeof(*entry)))
		return 0;
	for (; i + WSQ_LIST_GROUP <= n; i += WSQ_LIST_GROUP) {
#pragma GCC unroll 8
		for (k = i; k < i + WSQ_LIST_GROUP; k++)
			unsafe_put_user(answer[address[k] >> PAGE_SHIFT], &entry[k].flags, fault);
	}
fault:
	user_write_access_end();
	while (i < n && !put_user(answer[address[i] >> PAGE_SHIFT], &entry[i].flags))
		i++;
	return i;
}

/* One answer that may have to be counted as not told. */
static int wsq_list_write_one(u64 flags, struct wsquery_entry __user *entry,
			      struct wsquery_list *list)
{
	const u64 visible = WSQUERY_STATE_MASK | list->attrs;

	if (put_user(flags & visible, &entry->flags))
		return -EFAULT;
	list->not_told += !!(flags & WSQUERY_NOT_TOLD);
	list->done++;
	return 0;
}

/* One walk over all pages that the part spans. */
static int wsq_list_dense(struct wsq_walk *w, struct wsq_list_work *lw,
			  const struct wsq_list_part *p,
			  struct wsquery_entry __user *entry, struct wsquery_list *list)
{
	unsigned long pos = p->lo, i;
	int err;

	err = wsq_list_room_answer(lw, p->hi - p->lo + 1);
	if (err)
		return err;
	w->sink->out.wide = lw->answer;
	w->sink->not_told = 0;
	while (pos <= p->hi) {
		err = wsq_scan_lock(w);
		if (err)
			return err;
		pos = wsq_walk(w, pos, p->hi + 1);
		wsq_scan_unlock(w);
		cond_resched();
	}

	if (!w->sink->not_told) {
		unsigned long done = wsq_list_write(lw, p, entry);

		list->done += done;
		return done < p->n ? -EFAULT : 0;
	}
	for (i = p->from; i < p->from + p->n && !err; i++)
		err = wsq_list_write_one(lw->answer[(lw->address[i] >> PAGE_SHIFT) - p->lo],
					 entry + i, list);
	return err;
}

/* A look-up for each entry of the part, under one hold of the lock. */
static int wsq_list_sparse(struct wsq_walk *w, struct wsq_list_work *lw,
			   const struct wsq_list_part *p,
			   struct wsquery_entry __user *entry, struct wsquery_list *list)
{
	unsigned long i;
	int err;

	err = wsq_scan_lock(w);
	if (err)
		return err;
	/* In place of the address, which is of no use any more. */
	for (i = p->from; i < p->from + p->n; i++)
		lw->address[i] = wsq_walk_page(w, lw->address[i] >> PAGE_SHIFT);
	wsq_scan_unlock(w);
	cond_resched();

	for (i = p->from; i < p->from + p->n && !err; i++)
		err = wsq_list_write_one(lw->address[i], entry + i, list);
	return err;
}

/* Answers the entries that were read, at least one, in parts as large as are dense. */
static int wsq_list_chunk(struct wsq_walk *w, struct wsq_list_work *lw,
			  struct wsq_list_part p, struct wsquery_entry __user *entry,
			  struct wsquery_list *list)
{
	unsigned long n = p.n, size = roundup_pow_of_two(n), from = 0;

	/* Halve what is not dense, and go on after it with the next of its size. */
	for (;;) {
		int err;

		if (wsq_list_is_dense(&p)) {
			err = wsq_list_dense(w, lw, &p, entry, list);
		} else if (size <= WSQ_LIST_BLOCK) {
			err = wsq_list_sparse(w, lw, &p, entry, list);
		} else {
			size /= 2;
			p = wsq_list_part(lw, from, min(size, n - from));
			continue;
		}
		if (err)
			return err;
		from += p.n;
		if (from == n)
			return 0;
		size = from & -from;
		p = wsq_list_part(lw, from, min(size, n - from));
	}
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
	u64 small[2 * WSQ_LIST_SMALL] __uninitialized;
	struct wsq_list_work lw = {
		.address = small,
		.answer = small + WSQ_LIST_SMALL,
		.span = WSQ_LIST_SMALL,
		.small = small,
	};
	struct wsq_sink sink __uninitialized;
	struct wsq_walk w __uninitialized;
	int err;

	wsq_list_sink(&sink, list->attrs | WSQUERY_NOT_TOLD);
	wsq_scan_init(&w, target, list->attrs, list->flags & WSQUERY_SHARED_ONLY, &sink);

	err = wsq_list_room_address(&lw, chunk);
	while (!err && list->done < list->count) {
		unsigned long n = min_t(u64, list->count - list->done, chunk);
		struct wsq_list_part all = wsq_list_read(&lw, entry, n);

		if (fatal_signal_pending(current))
			err = -EINTR;
		else if (all.n)
			err = wsq_list_chunk(&w, &lw, all, entry, list);
		if (!err && all.n < n)
			err = -EFAULT;
		entry += n;
	}
	wsq_list_room_free(&lw);
	return err;
}
