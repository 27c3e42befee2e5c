// SPDX-License-Identifier: GPL-2.0
/*
 * The state of one page: straight down to its entry.
 */
#include "ioctl.h"
#include "pmd.h"
#include "scan.h"
#include "state.h"
#include "walk.h"

/* The PMD for an address, NULL if there is none or nothing below it. */
static __always_inline pmd_t *wsq_page_pmd(struct mm_struct *mm, unsigned long addr)
{
	pgd_t *pgdp = pgd_offset(mm, addr);
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

/*
 * The short way to a page that is mapped by a page table, or to a hole in anonymous
 * memory. Returns its flags with @base, those of the mapping; 0 if it takes a walk.
 */
static __always_inline u64 wsq_page_flags_short(struct mm_struct *mm, struct vm_area_struct *vma,
						unsigned long addr, u64 base, u64 attrs,
						u64 page_attrs)
{
	spinlock_t *ptl; /* that of the table */
	pmd_t *pmdp;
	pte_t *ptep, pte;
	u64 flags = 0;

	pmdp = is_vm_hugetlb_page(vma) ? NULL : wsq_page_pmd(mm, addr);
	if (!pmdp)
		return 0;
	switch (wsq_open_pmd(mm, pmdp, addr, &ptep, &ptl)) {
	case WSQ_PMD_NONE:
		return wsq_vma_file(vma) ? 0 : base;
	case WSQ_PMD_HUGE:
		return 0;
	case WSQ_PMD_TABLE:
		break;
	}

	pte = ptep_get(ptep);
	if (likely(pte_present(pte)))
		flags = base | wsq_pte_present_flags(pte, attrs, page_attrs);
	else if (pte_none(pte) && !wsq_vma_file(vma))
		flags = base;
	wsq_close_pmd(ptl);
	return flags;
}

/* The long way: a walk of one page. */
static noinline u64 wsq_page_flags_long(struct wsq_walk *w, unsigned long page)
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
 * Return: its flags.
 */
u64 wsq_walk_page(struct wsq_walk *w, unsigned long page)
{
	const unsigned long addr = page << PAGE_SHIFT;
	struct vm_area_struct *vma = w->vma;
	u64 flags;

	if (page >= TASK_SIZE_MAX >> PAGE_SHIFT)
		return 0;
	if (!vma || addr < vma->vm_start || addr >= vma->vm_end) {
		vma = vma_lookup(w->mm, addr);
		if (!vma)
			return 0;
		wsq_walk_enter_page(w, vma);
	}
	flags = wsq_page_flags_short(w->mm, vma, addr, w->base, w->attrs, w->page_attrs);
	return flags ? flags & w->sink->keep : wsq_page_flags_long(w, page);
}

#define WSQ_ONE_ATTRS	(WSQUERY_ONE_MASK & WSQ_ATTRS)

static noinline u64 wsq_one_long(struct mm_struct *mm, unsigned long addr)
{
	const struct wsq_target target = { .mm = mm, .own = true };
	struct wsq_sink sink = {
		.form = WSQ_WIDE,
		.keep = WSQUERY_STATE_MASK | WSQ_ONE_ATTRS,
		.room = UINT_MAX,
	};
	struct wsq_walk w __uninitialized;

	wsq_scan_init(&w, &target, WSQ_ONE_ATTRS, true, &sink);
	wsq_scan_start(&w);
	return wsq_page_flags_long(&w, addr >> PAGE_SHIFT);
}

/**
 * wsq_one() - answer one address of the caller
 * @addr: the address
 *
 * The call that is made for every page: nothing is set up that the short way does not
 * need.
 *
 * Return: the flags, -EINTR, or -ESRCH if the caller has no address space.
 */
long wsq_one(unsigned long addr)
{
	const u64 keep = WSQUERY_STATE_MASK | WSQ_ONE_ATTRS;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	u64 flags = 0;

	if (!mm)
		return -ESRCH;
	if (addr >= TASK_SIZE_MAX)
		return 0;
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	vma = vma_lookup(mm, addr);
	if (vma) {
		flags = wsq_page_flags_short(mm, vma, addr, wsq_vma_flags(vma), WSQ_ONE_ATTRS,
					     wsq_vma_page_attrs(vma, WSQ_ONE_ATTRS, true)) & keep;
		if (!flags)
			flags = wsq_one_long(mm, addr);
	}
	mmap_read_unlock(mm);
	return flags;
}
