// SPDX-License-Identifier: GPL-2.0
/*
 * Visits VMAs and the page tables below them and emits runs to a sink.
 *
 * The caller holds the mmap lock for reading and a reference on the address space.
 * That keeps every VMA found and the upper levels of the tables below it in
 * place. A table of page-table entries may still go away: khugepaged retracts it
 * and PT_RECLAIM frees it, both after an RCU grace period. So rcu_read_lock() is
 * taken before the PMD is read, the table's lock is taken, and the PMD must then
 * still be what it was. The lock is needed for more than that: a page that is
 * being reclaimed, migrated, copied or write-protected has no entry for a moment,
 * and only under the lock is such a moment not seen.
 */
#include <linux/dax.h>

#include "state.h"
#include "walk.h"

void wsq_walk_emit(struct wsq_walk *w, u64 flags, u64 swap, unsigned long pages)
{
	struct wsq_sink *sink = w->sink;

	wsq_emit(sink, &sink->out, sink->form, flags & sink->keep, swap, pages);
}

/* Flags of a present entry of a page of the base size or of hugetlb. */
u64 wsq_walk_present(const struct wsq_walk *w, pte_t pte)
{
	u64 flags = w->base | WSQUERY_PRESENT;

	if (w->attrs & WSQ_ATTRS_PTE)
		flags |= wsq_pte_bit_flags(pte);
	if (w->page_attrs && !pte_special(pte))
		flags |= wsq_page_flags(pte_page(pte), w->page_attrs);
	return flags & w->sink->keep;
}

/*
 * Who may know what is in the page cache: the rule of mincore(2), the owner or
 * who may write. A shared mapping that may be made writable proves it for the
 * process that has it.
 */
static bool wsq_walk_may_know(const struct wsq_walk *w, const struct vm_area_struct *vma)
{
	const unsigned long shared = VM_SHARED | VM_MAYWRITE;

	if (w->own && (vma->vm_flags & shared) == shared)
		return true;
	return wsq_file_writable(vma->vm_file);
}

static enum wsq_gap wsq_walk_gap_kind(const struct wsq_walk *w,
				      const struct vm_area_struct *vma, bool shmem)
{
	if (!vma->vm_file)
		return WSQ_GAP_PLAIN;
	if (!shmem) {
		if (!(w->attrs & WSQ_ATTRS_CACHE))
			return WSQ_GAP_PLAIN;
		/* What these keep in i_pages is not what it is elsewhere. */
		if ((vma->vm_flags & VM_HUGETLB) || vma_is_dax(vma) || wsq_vma_is_device(vma))
			return WSQ_GAP_PLAIN;
	}
	return wsq_walk_may_know(w, vma) ? WSQ_GAP_CACHE : WSQ_GAP_NOT_TOLD;
}

/* Attributes for which present pages of the mapping must be looked at. */
static u64 wsq_walk_page_attrs(const struct wsq_walk *w, const struct vm_area_struct *vma)
{
	u64 attrs = w->attrs & WSQ_ATTRS_PAGE;

	if (wsq_vma_is_device(vma))
		return 0;
	/* Only a private mapping that was written to has anonymous pages. */
	if (!vma->anon_vma)
		attrs &= ~WSQUERY_COPY;
	/* MADV_UNMERGEABLE takes what KSM merged apart. */
	if (!(vma->vm_flags & VM_MERGEABLE))
		attrs &= ~WSQUERY_KSM;
	if (!vma->vm_file)
		attrs &= ~(w->shared_only ? WSQUERY_COPY | WSQUERY_SHARE_COUNT : WSQUERY_COPY);
	return attrs;
}

static unsigned long wsq_walk_same(const struct wsq_walk *w, const struct vm_area_struct *vma)
{
	unsigned long same = ~0UL;

#ifdef WSQ_PTE_PRESENT_BITS
	if (w->page_attrs)
		return same;
	same = WSQ_PTE_PRESENT_BITS;
	if (w->attrs & WSQUERY_DIRTY)
		same |= WSQ_PTE_DIRTY_BITS;
	if (w->attrs & WSQUERY_ACCESSED)
		same |= WSQ_PTE_ACCESSED_BITS;
	if (w->attrs & WSQUERY_SOFT_DIRTY)
		same |= WSQ_PTE_SOFT_DIRTY_BITS;
	if (w->attrs & WSQUERY_UFFD_WP)
		same |= WSQ_PTE_UFFD_WP_BITS;
	if (w->attrs & WSQUERY_ZERO) {
		/* Elsewhere a special entry is that of the zero page. */
		if (vma->vm_flags & (VM_PFNMAP | VM_MIXEDMAP))
			same = ~0UL;
		same |= WSQ_PTE_SPECIAL_BITS;
	}
#endif
	return same;
}

static void wsq_walk_enter(struct wsq_walk *w, struct vm_area_struct *vma)
{
	u64 flags = wsq_vma_flags(vma);

	w->vma = vma;
	w->base = flags & w->sink->keep;
	w->page_attrs = wsq_walk_page_attrs(w, vma);
	w->present = w->base | WSQUERY_PRESENT;
	w->simple = !w->page_attrs && !(w->attrs & WSQ_ATTRS_PTE) && w->sink->form != WSQ_SWAP;
	w->same = wsq_walk_same(w, vma);
	w->gap = wsq_walk_gap_kind(w, vma, flags & WSQUERY_SHMEM);
	if (w->gap == WSQ_GAP_CACHE)
		wsq_backing_init(&w->backing, vma, flags & WSQUERY_SHMEM);
}

/*
 * Pages without a page table. Those with a page cache behind them can be many
 * runs, so that this can end early. Returns the address it got to.
 */
static unsigned long wsq_walk_gap(struct wsq_walk *w, unsigned long addr, unsigned long end)
{
	unsigned long pages = (end - addr) >> PAGE_SHIFT;
	u64 flags = w->base;

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

	rcu_read_lock();
	wsq_backing_reset(&w->backing);
	do {
		struct wsq_behind behind;

		pages = (end - addr) >> PAGE_SHIFT;
		if (w->sink->form == WSQ_SWAP)
			pages = 1;
		behind = wsq_backing_next(&w->backing, addr >> PAGE_SHIFT, pages);
		wsq_walk_emit(w, flags | behind.flags, behind.swap, behind.pages);
		addr += behind.pages << PAGE_SHIFT;
		w->budget -= 2;
	} while (addr < end && !wsq_walk_spent(w));
	rcu_read_unlock();
	return addr;
}

static u64 wsq_walk_pmd_flags(const struct wsq_walk *w, pmd_t pmd)
{
	u64 flags = w->base | WSQUERY_PRESENT | WSQUERY_HUGE;

	if (!pmd_present(pmd))
		return wsq_pmd_is_migration(pmd) ? flags | WSQUERY_MIGRATING :
						   flags | WSQUERY_DEVICE;

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

enum wsq_pmd {
	WSQ_PMD_NONE,
	WSQ_PMD_HUGE,
	WSQ_PMD_TABLE,
};

/*
 * Looks at a PMD and, if it points to a table, locks that. On WSQ_PMD_TABLE the lock
 * @ptl and rcu_read_lock() are held and @ptep is the entry for @addr.
 */
static __always_inline enum wsq_pmd wsq_walk_open_pmd(struct wsq_walk *w, pmd_t *pmdp,
						      unsigned long addr, pte_t **ptep,
						      spinlock_t **ptl)
{
	for (;;) {
		pmd_t pmd;

		/* Also keeps a table that the PMD points to until it is unlocked. */
		rcu_read_lock();
		pmd = pmdp_get_lockless(pmdp);
		if (pmd_none(pmd)) {
			rcu_read_unlock();
			return WSQ_PMD_NONE;
		}
		/* pmd_leaf() of x86 looks at one bit, that only means it if present. */
		if (!pmd_present(pmd) || pmd_leaf(pmd)) {
			rcu_read_unlock();
			return WSQ_PMD_HUGE;
		}
		if (unlikely(pmd_bad(pmd))) {
			rcu_read_unlock();
			return WSQ_PMD_NONE;
		}
		*ptl = pte_lockptr(w->mm, &pmd);
		spin_lock(*ptl);
		if (likely(pmd_same(pmd, pmdp_get_lockless(pmdp)))) {
			*ptep = pte_offset_kernel(&pmd, addr);
			return WSQ_PMD_TABLE;
		}
		spin_unlock(*ptl);
		rcu_read_unlock();
	}
}

static __always_inline void wsq_walk_close_pmd(spinlock_t *ptl)
{
	spin_unlock(ptl);
	rcu_read_unlock();
}

/* What one PMD maps, [addr, end). Returns the address it got to. */
static unsigned long wsq_walk_pmd(struct wsq_walk *w, pmd_t *pmdp, unsigned long addr,
				  unsigned long end)
{
	unsigned int n = (end - addr) >> PAGE_SHIFT;
	spinlock_t *ptl;
	pte_t *ptep;

	for (;;) {
		switch (wsq_walk_open_pmd(w, pmdp, addr, &ptep, &ptl)) {
		case WSQ_PMD_NONE:
			return wsq_walk_gap(w, addr, end);
		case WSQ_PMD_TABLE:
			wsq_table(w, ptep, addr >> PAGE_SHIFT, n);
			wsq_walk_close_pmd(ptl);
			w->budget -= n;
			return end;
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
	/* Read once: a huge PUD can be split, but not into nothing. */
	pud_t pud = pudp_get(pudp);
	unsigned long next;
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
		addr = wsq_walk_pmd(w, pmdp++, addr, next);
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
		next = p4d_addr_end(addr, end);
		if (p4d_none(*p4dp)) {
			addr = wsq_walk_gap(w, addr, next);
			continue;
		}
		next = pud_addr_end(addr, end);
		addr = wsq_walk_pud(w, pud_offset(p4dp, addr), addr, next);
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
	w->budget -= 16;
	return addr >> PAGE_SHIFT;
}

static unsigned long wsq_walk_vmas(struct wsq_walk *w, unsigned long pos, unsigned long end)
{
	const unsigned long limit = min(end, TASK_SIZE_MAX >> PAGE_SHIFT);
	VMA_ITERATOR(vmi, w->mm, pos << PAGE_SHIFT);

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
	const struct wsq_out out = w->sink->out;
	u64 flags = 0;

	w->sink->out.wide = &flags;
	wsq_walk(w, page, page + 1);
	w->sink->out = out;
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
	spinlock_t *ptl;
	pmd_t *pmdp;
	pte_t *ptep, pte;
	u64 flags = 0;

	if (page >= TASK_SIZE_MAX >> PAGE_SHIFT)
		return 0;
	if (!vma || addr < vma->vm_start || addr >= vma->vm_end) {
		MA_STATE(mas, &w->mm->mm_mt, addr, addr);

		/* What vma_lookup() does, but for its locks. */
		vma = mas_walk(&mas);
		if (!vma)
			return 0;
		wsq_walk_enter(w, vma);
	}
	pmdp = is_vm_hugetlb_page(vma) ? NULL : wsq_walk_find_pmd(w, addr);
	if (!pmdp)
		return wsq_walk_page_slow(w, page);
	switch (wsq_walk_open_pmd(w, pmdp, addr, &ptep, &ptl)) {
	case WSQ_PMD_NONE:
		if (w->gap == WSQ_GAP_PLAIN)
			return w->base;
		fallthrough;
	case WSQ_PMD_HUGE:
		return wsq_walk_page_slow(w, page);
	case WSQ_PMD_TABLE:
		break;
	}

	pte = ptep_get(ptep);
	if (likely(pte_present(pte)))
		flags = w->simple ? w->present : wsq_walk_present(w, pte);
	else if (pte_none(pte) && w->gap == WSQ_GAP_PLAIN)
		flags = w->base;
	wsq_walk_close_pmd(ptl);
	return flags ? flags : wsq_walk_page_slow(w, page);
}
