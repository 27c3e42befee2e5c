// SPDX-License-Identifier: GPL-2.0
/*
 * The only place that takes a target's mmap lock: for a bounded time each.
 *
 * Lock, walk until the budget is spent or someone waits for the lock, unlock, give
 * the results to the user, reschedule, go on. User memory is never touched under
 * the lock: a fault there would take it again.
 */
#include <linux/sched/signal.h>

#include "scan.h"
#include "state.h"
#include "target.h"

void wsq_scan_init(struct wsq_walk *w, const struct wsq_target *target, u64 attrs,
		   bool shared_only, struct wsq_sink *sink)
{
	w->mm = target->mm;
	w->own = target->own;
	w->attrs = attrs;
	w->shared_only = shared_only;
	w->sink = sink;
	/* Where all memory is on one node, numbered 0, it need not be looked up. */
	if (nr_online_nodes == 1 && node_online(0))
		w->attrs &= ~WSQUERY_NODE;
}

/* Returns 0, or -EINTR if the caller is being killed. */
int wsq_scan_lock(struct wsq_walk *w)
{
	if (mmap_read_lock_killable(w->mm))
		return -EINTR;
	w->budget = w->attrs & WSQ_ATTRS_PAGE ? WSQ_LOCK_PAGES_COSTLY : WSQ_LOCK_PAGES;
	w->vma = NULL;
	return 0;
}

void wsq_scan_unlock(struct wsq_walk *w)
{
	w->vma = NULL;
	mmap_read_unlock(w->mm);
}

/**
 * wsq_scan() - answer a range
 * @w: the walk; its sink's pos tells how far the user was answered
 * @pos: first page, as address >> PAGE_SHIFT
 * @end: page after the last
 *
 * Return: 0, also if the user's array became full; -EINTR, -EFAULT.
 */
int wsq_scan(struct wsq_walk *w, unsigned long pos, unsigned long end)
{
	struct wsq_sink *sink = w->sink;
	int err;

	sink->pos = pos;
	while (pos < end) {
		unsigned long stop = end - pos > sink->chunk ? pos + sink->chunk : end;

		if (fatal_signal_pending(current))
			return -EINTR;
		err = wsq_scan_lock(w);
		if (err)
			return err;
		pos = wsq_walk(w, pos, stop);
		wsq_scan_unlock(w);

		err = sink->drain(sink, pos, pos == end);
		if (err)
			return min(err, 0);
		cond_resched();
	}
	return 0;
}
