/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the page cache has behind the holes of a file or shmem mapping.
 */
#ifndef WSQ_BACKING_H
#define WSQ_BACKING_H

#include <linux/mm.h>
#include <linux/wsquery.h>
#include <linux/xarray.h>

#include "compat.h"

/**
 * struct wsq_backing - a cursor in the page cache of one mapping
 * @xas: where the last look-up ended. Only to be used again within the
 *	rcu_read_lock() section that positioned it.
 * @delta: what to add to address >> PAGE_SHIFT to get the index
 * @swap_types: values of a type below this are places in swap. Those above stand
 *	for a page whose swap-in failed, and in files other than shmem all values are
 *	shadows of evicted pages, which tell nothing.
 */
struct wsq_backing {
	struct xa_state xas;
	unsigned long delta;
	unsigned int swap_types;
};

/**
 * struct wsq_behind - what is behind consecutive pages
 * @flags: %WSQUERY_SWAPPED, %WSQUERY_CACHED, %WSQUERY_HWPOISON or 0
 * @pages: how many pages have these @flags, at least 1
 * @swap: place in swap of the first of them, as &wsquery_page.swap
 */
struct wsq_behind {
	u64 flags;
	unsigned long pages;
	u64 swap;
};

/* Whether an entry of i_pages is a place in swap. */
static __always_inline bool wsq_backing_is_swap(const struct wsq_backing *b, const void *entry)
{
	return xa_is_value(entry) &&
	       swp_type(radix_to_swp_entry((void *)entry)) < b->swap_types;
}

void wsq_backing_init(struct wsq_backing *b, const struct vm_area_struct *vma,
		      bool shmem);
void wsq_backing_reset(struct wsq_backing *b);
void *const *wsq_backing_slots(struct wsq_backing *b, unsigned long page, unsigned long *pages);
struct wsq_behind wsq_backing_run(const struct wsq_backing *b, void *const *slots,
				  unsigned long pages);
struct wsq_behind wsq_backing_next(struct wsq_backing *b, unsigned long page,
				   unsigned long pages);

#endif /* WSQ_BACKING_H */
