/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that takes a target's mmap lock: for a bounded time each.
 */
#ifndef WSQ_SCAN_H
#define WSQ_SCAN_H

#include "state.h"
#include "target.h"
#include "walk.h"

/* Entries looked at in one hold of the lock, and if descriptors are too. */
#define WSQ_LOCK_PAGES		32768
#define WSQ_LOCK_PAGES_COSTLY	4096

static inline void wsq_scan_init(struct wsq_walk *w, const struct wsq_target *target,
				 u64 attrs, bool shared_only, struct wsq_sink *sink)
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

/* To be called under the lock: what was known of the mappings may be true no more. */
static inline void wsq_scan_start(struct wsq_walk *w)
{
	w->budget = w->attrs & WSQ_ATTRS_PAGE ? WSQ_LOCK_PAGES_COSTLY : WSQ_LOCK_PAGES;
	w->vma = NULL;
}

/* Returns 0, or -EINTR if the caller is being killed. */
static inline int wsq_scan_lock(struct wsq_walk *w)
{
	if (mmap_read_lock_killable(w->mm))
		return -EINTR;
	wsq_scan_start(w);
	return 0;
}

static inline void wsq_scan_unlock(struct wsq_walk *w)
{
	w->vma = NULL;
	mmap_read_unlock(w->mm);
}

int wsq_scan(struct wsq_walk *w, unsigned long pos, unsigned long end);

#endif /* WSQ_SCAN_H */
