/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only place that takes a target's mmap lock: for a bounded time each.
 */
#ifndef WSQ_SCAN_H
#define WSQ_SCAN_H

#include "walk.h"

/* Entries looked at in one hold of the lock, and if descriptors are too. */
#define WSQ_LOCK_PAGES		32768
#define WSQ_LOCK_PAGES_COSTLY	4096

struct wsq_target;

void wsq_scan_init(struct wsq_walk *w, const struct wsq_target *target, u64 attrs,
		   bool shared_only, struct wsq_sink *sink);
int wsq_scan_lock(struct wsq_walk *w);
void wsq_scan_unlock(struct wsq_walk *w);
int wsq_scan(struct wsq_walk *w, unsigned long pos, unsigned long end);

#endif /* WSQ_SCAN_H */
