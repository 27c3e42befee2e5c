/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Everything that differs between kernel versions. Supported: 6.1 and later.
 *
 * Headers are probed for in the Makefile, and macros here; a version is compared only
 * where an inline function changed without leaving a trace to probe.
 */
#ifndef WSQ_COMPAT_H
#define WSQ_COMPAT_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/shmem_fs.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/version.h>
#ifdef WSQ_HAVE_LEAFOPS
#include <linux/leafops.h>
#endif

#ifdef WSQ_HAVE_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "wsquery needs Linux 6.1 or later: VMAs in a maple tree, PTE markers."
#endif
#if !defined(CONFIG_64BIT)
#error "wsquery needs a 64-bit kernel: page-table entries are read in one load."
#endif
#if CONFIG_PGTABLE_LEVELS < 3 || defined(CONFIG_S390)
#error "wsquery needs a real level of PMDs, and hugetlb entries in the format of others."
#endif

/* Until 6.3 a PMD was read by pmd_read_atomic(), which 64-bit makes plain. */
#ifndef pmdp_get_lockless
static inline pmd_t wsq_pmdp_get(pmd_t *pmdp)
{
	return READ_ONCE(*pmdp);
}

#define pmdp_get_lockless wsq_pmdp_get
#endif

/*
 * Whether a PMD points to a table of entries. x86's pmd_bad() says all of it at once: the
 * bits of a table and no others are good.
 */
static inline bool wsq_pmd_is_table(pmd_t pmd)
{
	if (IS_ENABLED(CONFIG_X86_64))
		return !pmd_bad(pmd);
	return pmd_present(pmd) && !pmd_leaf(pmd) && !pmd_bad(pmd);
}

#ifndef pudp_get
static inline pud_t wsq_pudp_get(pud_t *pudp)
{
	return READ_ONCE(*pudp);
}

#define pudp_get wsq_pudp_get
#endif

/* 7.3 uses the bit of userfaultfd for protection against all access too. */
#ifdef WSQ_HAVE_PTE_UFFD
#define pte_uffd_wp		pte_uffd
#define pmd_uffd_wp		pmd_uffd
#define pte_swp_uffd_wp		pte_swp_uffd
#define pmd_swp_uffd_wp		pmd_swp_uffd
#endif

/*
 * A page-table entry that is not a page. leafops.h (6.19) renamed the helpers
 * and made the type its own.
 */
#ifdef WSQ_HAVE_LEAFOPS
#define wsq_leaf_t		softleaf_t
#define wsq_leaf_from_pte	softleaf_from_pte
#define wsq_leaf_is_swap	softleaf_is_swap
#define wsq_leaf_is_migration	softleaf_is_migration
#define wsq_leaf_is_hwpoison	softleaf_is_hwpoison
#define wsq_leaf_is_marker	softleaf_is_marker

static inline bool wsq_leaf_is_device(wsq_leaf_t leaf)
{
	return softleaf_is_device_private(leaf) || softleaf_is_device_exclusive(leaf);
}

static inline bool wsq_pmd_is_migration(pmd_t pmd)
{
	return pmd_is_migration_entry(pmd);
}
#else
#define wsq_leaf_t		swp_entry_t
#define wsq_leaf_from_pte	pte_to_swp_entry
#define wsq_leaf_is_migration	is_migration_entry
#define wsq_leaf_is_hwpoison	is_hwpoison_entry
#define wsq_leaf_is_marker	is_pte_marker_entry

/* Until 6.4 a failed swap-in left an entry of a type of its own. */
#ifdef SWP_SWAPIN_ERROR
#define wsq_leaf_is_swapin_error	is_swapin_error_entry
#endif

static inline bool wsq_leaf_is_swap(wsq_leaf_t leaf)
{
	return !non_swap_entry(leaf);
}

static inline bool wsq_leaf_is_device(wsq_leaf_t leaf)
{
	return is_device_private_entry(leaf) || is_device_exclusive_entry(leaf);
}

static inline bool wsq_pmd_is_migration(pmd_t pmd)
{
	return is_pmd_migration_entry(pmd);
}
#endif

#ifndef wsq_leaf_is_swapin_error
#define wsq_leaf_is_swapin_error(leaf)	false
#endif

/*
 * The kernel's own bits of a marker. pte_marker_get() hides the kinds its kernel
 * does not know; what is not known is not hidden here.
 */
static inline unsigned long wsq_leaf_marker(wsq_leaf_t leaf)
{
	return swp_offset(leaf);
}

/* Bits of markers that exist in this kernel. */
#if defined(PTE_MARKER_GUARD)
#define WSQ_MARKERS	7
#else
#define WSQ_MARKERS	3
#endif

/* Idmapped mounts got a type of their own in 6.3. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define wsq_file_idmap		file_mnt_idmap
#else
#define wsq_file_idmap		file_mnt_user_ns
#endif

static inline bool wsq_file_owned(struct file *file)
{
	return inode_owner_or_capable(wsq_file_idmap(file), file_inode(file));
}

static inline bool wsq_file_writable(struct file *file)
{
	return !inode_permission(wsq_file_idmap(file), file_inode(file), MAY_WRITE);
}

/* Before 6.12 shmem split what it swapped out: a value stood for one page. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#define wsq_xas_order		xas_get_order
#else
#define wsq_xas_order(xas)	0U
#endif

/*
 * How many page-table entries map the page. Per-page counts of large folios are
 * going away (CONFIG_NO_PAGE_MAPCOUNT); then the folio's is the next best.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
static noinline int wsq_compound_mapcount(struct page *page)
{
	struct folio *folio = page_folio(page);
	int mapcount;

	if (!folio_test_large(folio) || IS_ENABLED(CONFIG_NO_PAGE_MAPCOUNT) ||
	    folio_test_hugetlb(folio))
		return folio_mapcount(folio);
	mapcount = atomic_read(&page->_mapcount) + 1;
	return max(mapcount, 0) + folio_entire_mapcount(folio);
}
#else
#define wsq_compound_mapcount	page_mapcount
#endif

/* Negative if the page has a type, which is kept in the count's place. */
static inline int wsq_page_mapcount(struct page *page)
{
	if (unlikely(PageCompound(page)))
		return wsq_compound_mapcount(page);
	return atomic_read(&page->_mapcount) + 1;
}

/*
 * Present entries alike in these bits have the same state (see state.h). The bits
 * are those that the processor reads: pte_val() would have a hypervisor translate
 * the address too, which nobody looks at.
 */
#ifdef CONFIG_X86_64
#define wsq_pte_bits		native_pte_val
#define WSQ_PTE_PRESENT_BITS	(_PAGE_PRESENT | _PAGE_PROTNONE)
#ifdef _PAGE_DIRTY_BITS
#define WSQ_PTE_DIRTY_BITS	_PAGE_DIRTY_BITS
#else
#define WSQ_PTE_DIRTY_BITS	_PAGE_DIRTY
#endif
#define WSQ_PTE_ACCESSED_BITS	_PAGE_ACCESSED
#define WSQ_PTE_SPECIAL_BITS	_PAGE_SPECIAL
/* Without the care for entries that are not present, whose frame may be inverted. */
#define wsq_pte_present_pfn(pte)	((pte_val(pte) & PTE_PFN_MASK) >> PAGE_SHIFT)
#define WSQ_PTE_SOFT_DIRTY_BITS	_PAGE_SOFT_DIRTY
#ifdef WSQ_HAVE_PTE_UFFD
#define WSQ_PTE_UFFD_WP_BITS	_PAGE_UFFD
#else
#define WSQ_PTE_UFFD_WP_BITS	_PAGE_UFFD_WP
#endif
#else
#define wsq_pte_bits		pte_val
#endif

#endif /* WSQ_COMPAT_H */
