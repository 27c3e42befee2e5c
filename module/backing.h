/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the page cache has behind the holes of a file or shmem mapping.
 */
#ifndef WSQ_BACKING_H
#define WSQ_BACKING_H

#include <linux/xarray.h>

struct vm_area_struct;

/**
 * struct wsq_backing - a cursor in the page cache of one mapping
 * @xas: where the last look-up ended. Only to be used again within the
 *	rcu_read_lock() section that positioned it.
 * @leaf: node of the last look-up if it was one of the lowest level, else NULL
 * @leaf_base: first index of @leaf
 * @vma: the mapping asked about
 * @shmem: values are swap entries; in other files they are shadows of evicted
 *	pages, which tell nothing
 */
struct wsq_backing {
	struct xa_state xas;
	struct xa_node *leaf;
	unsigned long leaf_base;
	const struct vm_area_struct *vma;
	bool shmem;
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

void wsq_backing_init(struct wsq_backing *b, const struct vm_area_struct *vma,
		      bool shmem);
void wsq_backing_reset(struct wsq_backing *b);
struct wsq_behind wsq_backing_next(struct wsq_backing *b, unsigned long addr,
				   unsigned long pages);

#endif /* WSQ_BACKING_H */
