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
