/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Visits VMAs and the page tables below them and emits runs to a sink.
 */
#ifndef WSQ_WALK_H
#define WSQ_WALK_H

#include <linux/mmap_lock.h>
#include <linux/mm.h>

#include "backing.h"
#include "sink.h"

/**
 * enum wsq_gap - what to do about a page without a page-table entry
 * @WSQ_GAP_PLAIN: it is a hole, and that is all
 * @WSQ_GAP_CACHE: ask the page cache
 * @WSQ_GAP_NOT_TOLD: the caller may not know what the page cache has
 */
enum wsq_gap {
	WSQ_GAP_PLAIN,
	WSQ_GAP_CACHE,
	WSQ_GAP_NOT_TOLD,
};

/**
 * struct wsq_walk - a walk over an address space
 * @mm: the address space
 * @own: it is the caller's
 * @shared_only: see %WSQUERY_SHARED_ONLY
 * @attrs: attributes asked for
 * @sink: who gets the runs
 * @budget: entries that may still be looked at before the lock must be dropped
 * @vma: the mapping the walk is in, with what is derived from it below; only
 *	valid while the mmap lock is held
 * @base: flags of each of its pages
 * @page_attrs: attributes for which the descriptor of its present pages is needed
 * @present: flags of its present pages if they are all alike
 * @simple: they are: nothing was asked for that their entries or descriptors tell
 * @same: if not, bits in which present page-table entries with equal flags agree
 * @gap: what to do about its holes
 * @backing: the page cache, for %WSQ_GAP_CACHE
 */
struct wsq_walk {
	struct mm_struct *mm;
	bool own;
	bool shared_only;
	u64 attrs;
	struct wsq_sink *sink;
	long budget;

	struct vm_area_struct *vma;
	u64 base;
	u64 page_attrs;
	u64 present;
	bool simple;
	unsigned long same;
	enum wsq_gap gap;
	struct wsq_backing backing;
};

/*
 * What the budget is charged for things that take longer than an entry, of which the
 * slowest, in mixed memory, take some 20 instructions: a look-up in the page cache, a run
 * found there, a mapping entered.
 */
#define WSQ_COST_LOOKUP		8
#define WSQ_COST_RUN		4
#define WSQ_COST_VMA		32

/* Whether to stop at the next entry of a higher level and drop the lock. */
static inline bool wsq_walk_spent(const struct wsq_walk *w)
{
	return w->budget <= 0 || w->sink->room < WSQ_STEP_RUNS ||
	       mmap_lock_is_contended(w->mm);
}

unsigned long wsq_walk(struct wsq_walk *w, unsigned long pos, unsigned long end);
void wsq_walk_emit(struct wsq_walk *w, u64 flags, u64 swap, unsigned long pages);

/* mapping.c */
void wsq_walk_enter(struct wsq_walk *w, struct vm_area_struct *vma);
void wsq_walk_enter_page(struct wsq_walk *w, struct vm_area_struct *vma);
u64 wsq_walk_present(const struct wsq_walk *w, pte_t pte);

/* page.c */
u64 wsq_walk_page(struct wsq_walk *w, unsigned long page);

/* table.c */
unsigned int wsq_table(struct wsq_walk *w, const pte_t *ptep, unsigned long page,
		       unsigned int n);

/* hugetlb.c */
unsigned long wsq_hugetlb(struct wsq_walk *w, unsigned long addr, unsigned long end);

#endif /* WSQ_WALK_H */
