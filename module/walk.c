// SPDX-License-Identifier: GPL-2.0
/*
 * Visits VMAs and the page tables below them and emits runs to a sink. pmd.h says what
 * keeps the tables in place.
 */
#include <linux/dax.h>

#include "pmd.h"
#include "state.h"
#include "walk.h"

void wsq_walk_emit(struct wsq_walk *w, u64 flags, u64 swap, unsigned long pages)
{
	struct wsq_sink *sink = w->sink;

	wsq_emit(sink, &sink->out, sink->form, flags & sink->keep, swap, pages);
}

/*
 * What is behind pages without a page table, as far as they share a leaf of the page
 * cache. Returns the address it got to.
 */
static unsigned long wsq_walk_behind(struct wsq_walk *w, unsigned long addr, unsigned long end)
{
	const bool places = w->sink->form == WSQ_SWAP;
	unsigned long page = addr >> PAGE_SHIFT;
	unsigned long pages = (end - addr) >> PAGE_SHIFT;
	void *const *slots = NULL;
	struct wsq_behind behind;

	/* Places in swap are not in a row. */
	if (places)
		pages = 1;
	else
		slots = wsq_backing_slots(&w->backing, page, &pages);
	w->budget -= WSQ_COST_LOOKUP;
	for (;;) {
		behind.pages = 0;
		if (slots)
			behind = wsq_backing_run(&w->backing, slots, pages);
		if (!behind.pages) {
			behind = wsq_backing_next(&w->backing, page, pages);
			w->budget -= WSQ_COST_LOOKUP;
		}
		wsq_walk_emit(w, w->base | behind.flags, behind.swap, behind.pages);
		w->budget -= WSQ_COST_RUN;
		page += behind.pages;
		pages -= behind.pages;
		if (!slots || !pages || w->sink->room < WSQ_TABLE_RUNS)
			return page << PAGE_SHIFT;
		slots += behind.pages;
	}
}

/*
 * Pages without a page table. Those with a page cache behind them can be many
 * runs, so that this can end early. Returns the address it got to.
 */
static unsigned long wsq_walk_gap(struct wsq_walk *w, unsigned long addr, unsigned long end)
{
	unsigned long pages = (end - addr) >> PAGE_SHIFT;
	u64 flags = w->base;
	int i;

	if (w->gap != WSQ_GAP_CACHE) {
		if (w->gap == WSQ_GAP_NOT_TOLD) {
			flags |= WSQUERY_NOT_TOLD;
			if (w->sink->form != WSQ_RUNS)
				w->sink->not_told += pages;
		}
		wsq_walk_emit(w, flags, 0, pages);
		w->budget--;
		return end;
	}

	do {
		rcu_read_lock();
		wsq_backing_reset(&w->backing);
		/* No longer than for a page table: others wait for the grace period. */
		i = 0;
		do
			addr = wsq_walk_behind(w, addr, end);
		while (++i < 8 && addr < end && !wsq_walk_spent(w));
		rcu_read_unlock();
	} while (addr < end && !wsq_walk_spent(w));
	return addr;
}

static u64 wsq_walk_pmd_flags(const struct wsq_walk *w, pmd_t pmd)
{
	u64 flags = w->base | WSQUERY_PRESENT | WSQUERY_HUGE;

	if (!pmd_present(pmd))
		return flags | wsq_pmd_leaf_flags(pmd);

	flags |= wsq_pmd_bit_flags(pmd);
	if (!w->page_attrs && !(w->attrs & WSQUERY_ZERO))
		return flags;
	if (!(w->vma->vm_flags & (VM_PFNMAP | VM_MIXEDMAP)) && !vma_is_dax(w->vma)) {
		struct page *page = pmd_page(pmd);

		/* What is not anonymous in an anonymous mapping is the zero page. */
		if (vma_is_anonymous(w->vma) && !PageAnon(page))
			flags |= WSQUERY_ZERO;
		else
			flags |= wsq_page_flags(page, w->page_attrs);
	}
	return flags;
}

/* A PMD that maps a huge page, or stands for one. False if it is no more. */
static bool wsq_walk_huge_pmd(struct wsq_walk *w, pmd_t *pmdp, unsigned long pages)
{
	spinlock_t *ptl = pmd_lock(w->mm, pmdp);
	pmd_t pmd = pmdp_get_lockless(pmdp);
	bool huge = !pmd_none(pmd) && (!pmd_present(pmd) || pmd_leaf(pmd));
	u64 flags = 0;

	if (huge)
		flags = wsq_walk_pmd_flags(w, pmd);
	spin_unlock(ptl);
	if (huge)
		wsq_walk_emit(w, flags, 0, pages);
	return huge;
}

/* What one PMD maps, [addr, end). Returns the address it got to. */
static unsigned long wsq_walk_pmd(struct wsq_walk *w, pmd_t *pmdp, unsigned long addr,
				  unsigned long end)
{
	unsigned long n = (end - addr) >> PAGE_SHIFT;
	spinlock_t *ptl; /* that of the table */
	pte_t *ptep;

	for (;;) {
		switch (wsq_open_pmd(w->mm, pmdp, addr, &ptep, &ptl)) {
		case WSQ_PMD_NONE:
			return wsq_walk_gap(w, addr, end);
		case WSQ_PMD_TABLE:
			n = wsq_table(w, ptep, addr >> PAGE_SHIFT, n);
			wsq_close_pmd(ptl);
			w->budget -= n;
			return addr + (n << PAGE_SHIFT);
		case WSQ_PMD_HUGE:
			if (!wsq_walk_huge_pmd(w, pmdp, n))
				continue;
			w->budget--;
			return end;
		}
	}
}

/* Within one PUD. Returns the address it got to. */
static unsigned long wsq_walk_pud(struct wsq_walk *w, pud_t *pudp, unsigned long addr,
				  unsigned long end)
{
	/* Read once: a huge PUD, but no table, can become nothing. */
	pud_t pud = pudp_get(pudp);
	unsigned long next, n;
	pmd_t *pmdp;

	if (pud_none(pud))
		return wsq_walk_gap(w, addr, end);
	if (!pud_present(pud) || pud_leaf(pud)) {
		wsq_walk_emit(w, w->base | WSQUERY_PRESENT | WSQUERY_HUGE, 0,
			      (end - addr) >> PAGE_SHIFT);
		w->budget--;
		return end;
	}

	pmdp = pmd_offset(&pud, addr);
	do {
		next = pmd_addr_end(addr, end);
		n = 0;
		if (pmd_none(pmdp_get_lockless(pmdp)))
			n = wsq_pmd_none_locked(w->mm, pmdp, pmd_index(end - 1) -
						pmd_index(addr) + 1);
		if (n) {
			/* Sparse mappings have many of them in a row. */
			next = min(end, (addr & PMD_MASK) + n * PMD_SIZE);
			w->budget -= n;
			addr = wsq_walk_gap(w, addr, next);
		} else {
			n = 1;
			addr = wsq_walk_pmd(w, pmdp, addr, next);
		}
		pmdp += n;
	} while (addr == next && addr < end && !wsq_walk_spent(w));
	return addr;
}

/* Within one table of PUDs. Returns the address it got to. */
static unsigned long wsq_walk_puds(struct wsq_walk *w, pud_t *pudp, unsigned long addr,
				   unsigned long end)
{
	unsigned long next;

	do {
		next = pud_addr_end(addr, end);
		if (pud_none(pudp_get(pudp))) {
			while (next < end && pud_none(pudp_get(pudp + 1))) {
				next = pud_addr_end(next, end);
				pudp++;
				w->budget--;
			}
			addr = wsq_walk_gap(w, addr, next);
		} else {
			addr = wsq_walk_pud(w, pudp, addr, next);
		}
		pudp++;
	} while (addr == next && addr < end && !wsq_walk_spent(w));
	return addr;
}

/* Within one VMA. Returns the address it got to. */
static unsigned long wsq_walk_vma(struct wsq_walk *w, unsigned long addr, unsigned long end)
{
	unsigned long next;

	do {
		pgd_t *pgdp = pgd_offset(w->mm, addr);
		p4d_t *p4dp;

		next = pgd_addr_end(addr, end);
		if (pgd_none(*pgdp)) {
			addr = wsq_walk_gap(w, addr, next);
			continue;
		}
		p4dp = p4d_offset(pgdp, addr);
		/* The end of a level that is folded is the one given. */
		next = p4d_addr_end(addr, next);
		if (p4d_none(*p4dp)) {
			addr = wsq_walk_gap(w, addr, next);
			continue;
		}
		addr = wsq_walk_puds(w, pud_offset(p4dp, addr), addr, next);
	} while (addr < end && !wsq_walk_spent(w));
	return addr;
}

/*
 * From @pos, at or after vma->vm_start, within one VMA. Returns the page it got to,
 * which is only the end of the stretch if there is nothing left to do in it.
 */
static unsigned long wsq_walk_one_vma(struct wsq_walk *w, struct vm_area_struct *vma,
				      unsigned long pos, unsigned long end)
{
	const unsigned long stop = min(end << PAGE_SHIFT, vma->vm_end);
	unsigned long addr = pos << PAGE_SHIFT;

	if (vma != w->vma)
		wsq_walk_enter(w, vma);
	if (is_vm_hugetlb_page(vma))
		addr = wsq_hugetlb(w, addr, stop);
	else
		addr = wsq_walk_vma(w, addr, stop);
	w->budget -= WSQ_COST_VMA;
	return addr >> PAGE_SHIFT;
}

static unsigned long wsq_walk_vmas(struct wsq_walk *w, unsigned long pos, unsigned long end)
{
	VMA_ITERATOR(vmi, w->mm, pos << PAGE_SHIFT);
	const unsigned long limit = min(end, TASK_SIZE_MAX >> PAGE_SHIFT);

	while (pos < limit) {
		struct vm_area_struct *vma = vma_find(&vmi, limit << PAGE_SHIFT);
		unsigned long start;

		/* 6.1 means the limit to be included. */
		if (!vma || vma->vm_start >> PAGE_SHIFT >= limit)
			break;
		start = max(pos, vma->vm_start >> PAGE_SHIFT);
		if (start > pos)
			wsq_walk_emit(w, 0, 0, start - pos);
		pos = wsq_walk_one_vma(w, vma, start, limit);
		if (wsq_walk_spent(w) || pos << PAGE_SHIFT < min(limit << PAGE_SHIFT, vma->vm_end))
			return pos;
	}
	wsq_walk_emit(w, 0, 0, end - pos);
	return end;
}

/**
 * wsq_walk() - emit the state of a range of pages
 * @w: the walk; mmap_read_lock() is held
 * @pos: first page, as address >> PAGE_SHIFT
 * @end: page after the last. Addresses that no process can have are not mapped.
 *
 * Return: the page it got to; less than @end if the walk is spent, and never
 * @pos if @pos < @end.
 */
unsigned long wsq_walk(struct wsq_walk *w, unsigned long pos, unsigned long end)
{
	struct vm_area_struct *vma = w->vma;

	/* Most ranges lie in one VMA, often that of the previous; no iterator then. */
	if (pos < TASK_SIZE_MAX >> PAGE_SHIFT) {
		const unsigned long addr = pos << PAGE_SHIFT;

		if (!vma || addr < vma->vm_start || addr >= vma->vm_end)
			vma = vma_lookup(w->mm, addr);
		if (vma && end <= vma->vm_end >> PAGE_SHIFT)
			return wsq_walk_one_vma(w, vma, pos, end);
	}
	return wsq_walk_vmas(w, pos, end);
}
