// SPDX-License-Identifier: GPL-2.0
/*
 * The state of one page: straight down to its entry.
 */
#include "pmd.h"
#include "state.h"
#include "walk.h"

/* The PMD for an address of w->vma, NULL if there is none or nothing below it. */
static __always_inline pmd_t *wsq_walk_find_pmd(const struct wsq_walk *w, unsigned long addr)
{
	pgd_t *pgdp = pgd_offset(w->mm, addr);
	p4d_t *p4dp;
	pud_t pud;

	if (pgd_none(*pgdp))
		return NULL;
	p4dp = p4d_offset(pgdp, addr);
	if (p4d_none(*p4dp))
		return NULL;
	pud = pudp_get(pud_offset(p4dp, addr));
	if (!pud_present(pud) || pud_leaf(pud))
		return NULL;
	return pmd_offset(&pud, addr);
}

/* The long way: a walk of one page. */
static noinline u64 wsq_walk_page_slow(struct wsq_walk *w, unsigned long page)
{
	u64 flags = 0;

	w->sink->out.wide = &flags;
	/* What is known of the mapping is not enough for a walk. */
	w->vma = NULL;
	wsq_walk(w, page, page + 1);
	w->vma = NULL;
	return flags;
}

/**
 * wsq_walk_page() - the state of one page
 * @w: the walk, whose sink is one of %WSQ_WIDE; mmap_read_lock() is held
 * @page: the page, as address >> PAGE_SHIFT
 *
 * The short way to a page that is mapped by a page table; everything else goes the
 * way of ranges.
 *
 * Return: its flags.
 */
u64 wsq_walk_page(struct wsq_walk *w, unsigned long page)
{
	const unsigned long addr = page << PAGE_SHIFT;
	struct vm_area_struct *vma = w->vma;
	spinlock_t *ptl; /* that of the table */
	pmd_t *pmdp;
	pte_t *ptep, pte;
	u64 flags = 0;

	if (page >= TASK_SIZE_MAX >> PAGE_SHIFT)
		return 0;
	if (!vma || addr < vma->vm_start || addr >= vma->vm_end) {
		vma = vma_lookup(w->mm, addr);
		if (!vma)
			return 0;
		wsq_walk_enter_page(w, vma);
	}
	pmdp = is_vm_hugetlb_page(vma) ? NULL : wsq_walk_find_pmd(w, addr);
	if (!pmdp)
		return wsq_walk_page_slow(w, page);
	switch (wsq_walk_open_pmd(w, pmdp, addr, &ptep, &ptl)) {
	case WSQ_PMD_NONE:
		if (!wsq_vma_file(vma))
			return w->base;
		fallthrough;
	case WSQ_PMD_HUGE:
		return wsq_walk_page_slow(w, page);
	case WSQ_PMD_TABLE:
		break;
	}

	pte = ptep_get(ptep);
	if (likely(pte_present(pte)))
		flags = wsq_walk_present(w, pte);
	else if (pte_none(pte) && !wsq_vma_file(vma))
		flags = w->base;
	wsq_walk_close_pmd(ptl);
	return flags ? flags : wsq_walk_page_slow(w, page);
}
