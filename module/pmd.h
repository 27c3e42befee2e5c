/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opening what a PMD points to, by the rules that keep a page table in place.
 *
 * The caller holds the mmap lock for reading and a reference on the address space.
 * That keeps every VMA found and the upper levels of the tables below it in place. A
 * table of page-table entries may still go away: khugepaged retracts it and PT_RECLAIM
 * frees it, both after an RCU grace period. So rcu_read_lock() is taken before the PMD
 * is read, the table's lock is taken, and the PMD must then still be what it was. The
 * lock is needed for more than that: a page that is being reclaimed, migrated, copied
 * or write-protected has no entry for a moment, and only under the lock is such a
 * moment not seen. The same goes for a PMD that is none.
 */
#ifndef WSQ_PMD_H
#define WSQ_PMD_H

#include "compat.h"

enum wsq_pmd {
	WSQ_PMD_NONE,
	WSQ_PMD_HUGE,
	WSQ_PMD_TABLE,
};

#define WSQ_PMD_BATCH	8

/* Whether a batch of PMDs has nothing at all. Their table's lock is held. */
static __always_inline bool wsq_pmd_all_none(const pmd_t *pmdp)
{
#ifdef WSQ_PTE_PRESENT_BITS
	/* Races with accessed and dirty bits of huge pages only. */
	return !data_race(pmdp[0].pmd | pmdp[1].pmd | pmdp[2].pmd | pmdp[3].pmd |
			  pmdp[4].pmd | pmdp[5].pmd | pmdp[6].pmd | pmdp[7].pmd);
#else
	return false;
#endif
}

/*
 * How many of @max PMDs of a table are none from this one on. The huge zero page is
 * split by way of an empty PMD, which only the lock hides.
 */
static inline unsigned int wsq_pmd_none_locked(struct mm_struct *mm, pmd_t *pmdp,
					       unsigned int max)
{
	spinlock_t *ptl = pmd_lock(mm, pmdp); /* that of the table of PMDs */
	unsigned int n = 0;

	while (max - n >= WSQ_PMD_BATCH && wsq_pmd_all_none(pmdp + n))
		n += WSQ_PMD_BATCH;
	while (n < max && pmd_none(pmdp_get_lockless(pmdp + n)))
		n++;
	spin_unlock(ptl);
	return n;
}

/*
 * Looks at a PMD and, if it points to a table, locks that. On WSQ_PMD_TABLE the lock
 * @ptl and rcu_read_lock() are held and @ptep is the entry for @addr.
 */
static __always_inline enum wsq_pmd wsq_open_pmd(struct mm_struct *mm, pmd_t *pmdp,
						 unsigned long addr, pte_t **ptep,
						 spinlock_t **ptl)
{
	for (;;) {
		pmd_t pmd;

		/* Also keeps a table that the PMD points to until it is unlocked. */
		rcu_read_lock();
		pmd = pmdp_get_lockless(pmdp);
		if (unlikely(!wsq_pmd_is_table(pmd))) {
			rcu_read_unlock();
			if (pmd_none(pmd)) {
				if (wsq_pmd_none_locked(mm, pmdp, 1))
					return WSQ_PMD_NONE;
				continue;
			}
			/* pmd_leaf() of x86 looks at one bit, that only means it if present. */
			return !pmd_present(pmd) || pmd_leaf(pmd) ? WSQ_PMD_HUGE : WSQ_PMD_NONE;
		}
		*ptl = pte_lockptr(mm, &pmd);
		spin_lock(*ptl);
		if (likely(pmd_same(pmd, pmdp_get_lockless(pmdp)))) {
			*ptep = pte_offset_kernel(&pmd, addr);
			/* Sparse cannot follow locks that depend on the result. */
			__release(*ptl);
			__release(RCU);
			return WSQ_PMD_TABLE;
		}
		spin_unlock(*ptl);
		rcu_read_unlock();
	}
}

static __always_inline void wsq_close_pmd(spinlock_t *ptl)
{
	__acquire(RCU);
	__acquire(ptl);
	spin_unlock(ptl);
	rcu_read_unlock();
}

#endif /* WSQ_PMD_H */
