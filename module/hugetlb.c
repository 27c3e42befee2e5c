// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings of hugetlb pages: one entry, at a level of its own, per huge page.
 *
 * A PMD table of a shared mapping can be shared with other processes and be taken
 * away by another mapper (PMD unsharing), not deferred by RCU. i_mmap_lock_read()
 * is documented to be enough against that, and the one such lock that modules
 * can take.
 */
#include <linux/fs.h>
#include <linux/hugetlb.h>

#include "state.h"
#include "walk.h"

/* The entry for the huge page at @addr, NULL if no table is there. */
static pte_t *wsq_hugetlb_pte(struct mm_struct *mm, unsigned long addr, unsigned long size)
{
	pgd_t *pgdp = pgd_offset(mm, addr);
	p4d_t *p4dp;
	pud_t *pudp;
	pmd_t *pmdp;

	if (pgd_none(*pgdp))
		return NULL;
	p4dp = p4d_offset(pgdp, addr);
	if (p4d_none(*p4dp))
		return NULL;
	pudp = pud_offset(p4dp, addr);
	if (size >= PUD_SIZE)
		return (pte_t *)pudp;
	if (!pud_present(pudp_get(pudp)))
		return NULL;
	pmdp = pmd_offset(pudp, addr);
	if (size >= PMD_SIZE)
		return (pte_t *)pmdp;
	/* Groups of contiguous entries (arm64, riscv). */
	if (!pmd_present(pmdp_get_lockless(pmdp)))
		return NULL;
	return pte_offset_kernel(pmdp, addr);
}

static u64 wsq_hugetlb_flags(const struct wsq_walk *w, struct hstate *h, pte_t *ptep)
{
	spinlock_t *ptl = huge_pte_lockptr(h, w->mm, ptep);
	u64 flags, swap;
	pte_t pte;

	/* Without it a page that is being copied or migrated looks like a hole. */
	spin_lock(ptl);
	pte = ptep_get(ptep);
	if (pte_none(pte))
		flags = w->base;
	else if (pte_present(pte))
		flags = wsq_walk_present(w, pte) | WSQUERY_HUGE;
	else
		flags = w->base | wsq_leaf_flags(pte, &swap);
	spin_unlock(ptl);

	if (flags & WSQUERY_PRESENT)
		flags |= WSQUERY_HUGE;
	/*
	 * The kernel does not track which hugetlb pages are soft-dirty: clear_refs leaves
	 * their bits, and pagemap tells that of the mapping.
	 */
	return (flags & ~WSQUERY_SOFT_DIRTY) | (w->base & WSQUERY_SOFT_DIRTY);
}

/* Within one VMA of hugetlb pages. Returns the address it got to. */
unsigned long wsq_hugetlb(struct wsq_walk *w, unsigned long addr, unsigned long end)
{
	struct address_space *mapping = w->vma->vm_file->f_mapping;
	struct hstate *h = hstate_vma(w->vma);
	const unsigned long size = huge_page_size(h);

	i_mmap_lock_read(mapping);
	do {
		unsigned long page = addr & ~(size - 1);
		unsigned long next = min(page + size, end);
		pte_t *ptep = wsq_hugetlb_pte(w->mm, page, size);

		wsq_walk_emit(w, ptep ? wsq_hugetlb_flags(w, h, ptep) : w->base, 0,
			      (next - addr) >> PAGE_SHIFT);
		addr = next;
		w->budget -= 4;
	} while (addr < end && !wsq_walk_spent(w));
	i_mmap_unlock_read(mapping);
	return addr;
}
