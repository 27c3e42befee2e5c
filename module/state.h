/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From VMAs and page-table entries to flags: what each kind of entry means.
 */
#ifndef WSQ_STATE_H
#define WSQ_STATE_H

#include <linux/hugetlb.h>
#include <linux/mman.h>
#include <linux/wsquery.h>

#include "compat.h"

/* Attributes that this kernel can tell. */
#define WSQ_ATTRS_VMA	(WSQUERY_SHARED | WSQUERY_READABLE | WSQUERY_EXECUTABLE |	\
			 WSQUERY_LOCKED | WSQUERY_HUGETLB)
#define WSQ_ATTRS_PTE	(WSQUERY_ZERO | WSQUERY_DIRTY | WSQUERY_ACCESSED |		\
			 (IS_ENABLED(CONFIG_MEM_SOFT_DIRTY) ? WSQUERY_SOFT_DIRTY : 0) |	\
			 (IS_ENABLED(CONFIG_HAVE_ARCH_USERFAULTFD_WP) &&		\
			  IS_ENABLED(CONFIG_USERFAULTFD) ? WSQUERY_UFFD_WP : 0))
#define WSQ_ATTRS_PAGE	(WSQUERY_COPY | WSQUERY_KSM | WSQUERY_SHARE_COUNT | WSQUERY_NODE)
#define WSQ_ATTRS_LEAF	(WSQUERY_MIGRATING | WSQUERY_HWPOISON | WSQUERY_DEVICE |	\
			 (WSQ_MARKERS & 4 ? WSQUERY_GUARD : 0) | WSQUERY_MARKER_KIND)
#define WSQ_ATTRS_CACHE	(WSQUERY_CACHED | WSQUERY_NOT_TOLD)
#define WSQ_ATTRS	(WSQ_ATTRS_VMA | WSQ_ATTRS_PTE | WSQ_ATTRS_PAGE |		\
			 WSQ_ATTRS_LEAF | WSQ_ATTRS_CACHE)

/* A place in swap as /proc/PID/pagemap encodes it. */
static inline u64 wsq_swap_place(unsigned int type, unsigned long offset)
{
	return type | (u64)offset << MAX_SWAPFILES_SHIFT;
}

/* The file behind a mapping. A private mapping of /dev/zero has none. */
static inline struct file *wsq_vma_file(const struct vm_area_struct *vma)
{
	return vma->vm_ops ? vma->vm_file : NULL;
}

/* Addresses of a device: there may be no struct page behind an entry. */
static inline bool wsq_vma_is_device(const struct vm_area_struct *vma)
{
	return vma->vm_flags & (VM_IO | VM_PFNMAP);
}

/* What is true for every page of a mapping, holes included. */
static inline u64 wsq_vma_flags(const struct vm_area_struct *vma)
{
	const unsigned long vm = vma->vm_flags;
	const struct file *file = wsq_vma_file(vma);
	u64 flags = WSQUERY_MAPPED;

	if (file)
		flags |= shmem_mapping(file->f_mapping) ? WSQUERY_SHMEM : WSQUERY_FILE;
	flags |= _calc_vm_trans(vm, VM_WRITE, WSQUERY_WRITABLE);
	flags |= _calc_vm_trans(vm, VM_READ, WSQUERY_READABLE);
	flags |= _calc_vm_trans(vm, VM_EXEC, WSQUERY_EXECUTABLE);
	/* VM_SHARED is lost when the file cannot be written. */
	flags |= _calc_vm_trans(vm, VM_MAYSHARE, WSQUERY_SHARED);
	flags |= _calc_vm_trans(vm, VM_LOCKED, WSQUERY_LOCKED);
	flags |= _calc_vm_trans(vm, VM_HUGETLB, WSQUERY_HUGETLB);
	if (wsq_vma_is_device(vma))
		flags |= WSQUERY_DEVICE;
#ifdef CONFIG_MEM_SOFT_DIRTY
	flags |= _calc_vm_trans(vm, VM_SOFTDIRTY, WSQUERY_SOFT_DIRTY);
#endif
	return flags;
}

/* Attributes, of @attrs, for which present pages of the mapping must be looked at. */
static inline u64 wsq_vma_page_attrs(const struct vm_area_struct *vma, u64 attrs,
				     bool shared_only)
{
	attrs &= WSQ_ATTRS_PAGE;
	if (wsq_vma_is_device(vma))
		return 0;
	/* Only a private mapping has copies; its first can be made at any time. */
	if (vma->vm_flags & VM_MAYSHARE)
		attrs &= ~WSQUERY_COPY;
	/* KSM merges anonymous pages, and with them those of a relative who never asked. */
	if (!READ_ONCE(vma->anon_vma))
		attrs &= ~WSQUERY_KSM;
	if (!wsq_vma_file(vma))
		attrs &= ~(shared_only ? WSQUERY_COPY | WSQUERY_SHARE_COUNT : WSQUERY_COPY);
	return attrs;
}

static inline u64 wsq_page_share_count(struct page *page)
{
	int count = wsq_page_mapcount(page);

	/* Rare in both directions. */
	if (unlikely((unsigned int)count > 7))
		count = count < 0 ? 0 : 7;
	return (u64)count << WSQUERY_SHARE_COUNT_SHIFT;
}

/*
 * From the page's descriptor. The page-table lock is held and the entry maps
 * the page, so that it cannot be freed.
 */
static inline u64 wsq_page_flags(struct page *page, u64 attrs)
{
	u64 flags = 0;

	if ((attrs & WSQUERY_COPY) && PageAnon(page))
		flags |= WSQUERY_COPY;
	if ((attrs & WSQUERY_KSM) && folio_test_ksm(page_folio(page)))
		flags |= WSQUERY_KSM;
	if (attrs & WSQUERY_SHARE_COUNT)
		flags |= wsq_page_share_count(page);
	if (attrs & WSQUERY_NODE)
		flags |= (u64)page_to_nid(page) << WSQUERY_NODE_SHIFT;
	return flags;
}

/* From the bits of a present page-table entry. */
static inline u64 wsq_pte_bit_flags(pte_t pte)
{
	u64 flags = 0;

	if (pte_dirty(pte))
		flags |= WSQUERY_DIRTY;
	if (pte_young(pte))
		flags |= WSQUERY_ACCESSED;
	if (pte_soft_dirty(pte))
		flags |= WSQUERY_SOFT_DIRTY;
	if (pte_uffd_wp(pte))
		flags |= WSQUERY_UFFD_WP;
	if (pte_special(pte) && is_zero_pfn(pte_pfn(pte)))
		flags |= WSQUERY_ZERO;
	return flags;
}

/*
 * From a present entry of a page of the base size or of hugetlb: those @attrs that
 * its bits tell, and @page_attrs.
 */
static inline u64 wsq_pte_present_flags(pte_t pte, u64 attrs, u64 page_attrs)
{
	u64 flags = WSQUERY_PRESENT;

	if (attrs & WSQ_ATTRS_PTE)
		flags |= wsq_pte_bit_flags(pte);
	if (page_attrs && !pte_special(pte))
		flags |= wsq_page_flags(pte_page(pte), page_attrs);
	return flags;
}

static inline u64 wsq_pmd_bit_flags(pmd_t pmd)
{
	u64 flags = 0;

	if (pmd_dirty(pmd))
		flags |= WSQUERY_DIRTY;
	if (pmd_young(pmd))
		flags |= WSQUERY_ACCESSED;
	if (pmd_soft_dirty(pmd))
		flags |= WSQUERY_SOFT_DIRTY;
	if (pmd_uffd_wp(pmd))
		flags |= WSQUERY_UFFD_WP;
	return flags;
}

/* From the bits of a PMD that stands for a huge page: under migration, or a device's. */
static inline u64 wsq_pmd_leaf_flags(pmd_t pmd)
{
	u64 flags = wsq_pmd_is_migration(pmd) ? WSQUERY_MIGRATING : WSQUERY_DEVICE;

	if (pmd_swp_soft_dirty(pmd))
		flags |= WSQUERY_SOFT_DIRTY;
	if (pmd_swp_uffd_wp(pmd))
		flags |= WSQUERY_UFFD_WP;
	return flags;
}

static inline bool wsq_pte_is_marker(pte_t pte)
{
	wsq_leaf_t leaf = wsq_leaf_from_pte(pte);

	return wsq_leaf_is_marker(leaf) || wsq_leaf_is_swapin_error(leaf);
}

static inline u64 wsq_marker_flags(unsigned long marker)
{
	u64 flags = WSQUERY_MARKER |
		    ((u64)marker << WSQUERY_MARKER_KIND_SHIFT & WSQUERY_MARKER_KIND);

	if (flags & WSQUERY_MARKER_UFFD_WP)
		flags |= WSQUERY_UFFD_WP;
	if (flags & WSQUERY_MARKER_POISON)
		flags |= WSQUERY_HWPOISON;
	if (flags & WSQUERY_MARKER_GUARD)
		flags |= WSQUERY_GUARD;
	return flags;
}

/**
 * wsq_leaf_flags() - from a page-table entry that is neither none nor present
 * @pte: the entry
 * @swap: set to the place in swap of a swap entry
 *
 * No look into struct page: what an entry under migration refers to may be freed.
 */
static inline u64 wsq_leaf_flags(pte_t pte, u64 *swap)
{
	wsq_leaf_t leaf = wsq_leaf_from_pte(pte);
	u64 flags = 0;

	/* Also of markers: mremap() marks what it moves as soft-dirty. */
	if (pte_swp_soft_dirty(pte))
		flags |= WSQUERY_SOFT_DIRTY;
	if (pte_swp_uffd_wp(pte))
		flags |= WSQUERY_UFFD_WP;

	if (wsq_leaf_is_swapin_error(leaf)) {
		flags |= wsq_marker_flags(WSQUERY_MARKER_POISON >> WSQUERY_MARKER_KIND_SHIFT);
	} else if (wsq_leaf_is_marker(leaf)) {
		flags |= wsq_marker_flags(wsq_leaf_marker(leaf));
	} else if (wsq_leaf_is_swap(leaf)) {
		flags |= WSQUERY_SWAPPED;
		*swap = wsq_swap_place(swp_type(leaf), swp_offset(leaf));
	} else if (wsq_leaf_is_migration(leaf)) {
		flags |= WSQUERY_PRESENT | WSQUERY_MIGRATING;
	} else if (wsq_leaf_is_device(leaf)) {
		flags |= WSQUERY_PRESENT | WSQUERY_DEVICE;
	} else if (wsq_leaf_is_hwpoison(leaf)) {
		flags |= WSQUERY_HWPOISON;
	}
	return flags;
}

#endif /* WSQ_STATE_H */
