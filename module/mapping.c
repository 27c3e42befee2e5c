// SPDX-License-Identifier: GPL-2.0
/*
 * What is the same for all pages of a mapping, found out once when a walk enters it:
 * flags, what has to be looked at, and what the caller may know.
 */
#include <linux/dax.h>

#include "state.h"
#include "walk.h"

/* Flags of a present entry of a page of the base size or of hugetlb. */
u64 wsq_walk_present(const struct wsq_walk *w, pte_t pte)
{
	return (w->base | wsq_pte_present_flags(pte, w->attrs, w->page_attrs)) & w->sink->keep;
}

/*
 * Who may know what is in the page cache: the rule of mincore(2), the owner or
 * who may write. A shared mapping that may be made writable proves it for the
 * process that has it. A file system may have to ask a server about the right to
 * write, for which another process's lock is no place: there only the owner knows.
 */
static bool wsq_walk_may_know(const struct wsq_walk *w, const struct vm_area_struct *vma,
			      bool shmem)
{
	const unsigned long shared = VM_SHARED | VM_MAYWRITE;

	if (w->own && (vma->vm_flags & shared) == shared)
		return true;
	return wsq_file_owned(vma->vm_file) ||
	       ((w->own || shmem) && wsq_file_writable(vma->vm_file));
}

static enum wsq_gap wsq_walk_gap_kind(const struct wsq_walk *w,
				      const struct vm_area_struct *vma, bool shmem)
{
	if (!wsq_vma_file(vma))
		return WSQ_GAP_PLAIN;
	if (!shmem) {
		if (!(w->attrs & WSQ_ATTRS_CACHE))
			return WSQ_GAP_PLAIN;
		/* What these keep in i_pages is not what it is elsewhere. */
		if ((vma->vm_flags & VM_HUGETLB) || vma_is_dax(vma) || wsq_vma_is_device(vma))
			return WSQ_GAP_PLAIN;
	}
	return wsq_walk_may_know(w, vma, shmem) ? WSQ_GAP_CACHE : WSQ_GAP_NOT_TOLD;
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
		if ((vma->vm_flags & (VM_PFNMAP | VM_MIXEDMAP)) || vma_is_dax(vma))
			same = ~0UL;
		same |= WSQ_PTE_SPECIAL_BITS;
	}
#endif
	return same;
}

/**
 * wsq_walk_enter_page() - derive how one present page of a mapping is answered
 * @w: the walk, which is in the mapping from now on, but only for wsq_walk_page()
 * @vma: the mapping
 */
void wsq_walk_enter_page(struct wsq_walk *w, struct vm_area_struct *vma)
{
	w->vma = vma;
	w->base = wsq_vma_flags(vma) & w->sink->keep;
	w->page_attrs = wsq_vma_page_attrs(vma, w->attrs, w->shared_only);
}

/**
 * wsq_walk_enter() - derive how the pages of a mapping are answered
 * @w: the walk, which is in the mapping from now on
 * @vma: the mapping
 */
void wsq_walk_enter(struct wsq_walk *w, struct vm_area_struct *vma)
{
	u64 flags = wsq_vma_flags(vma);

	wsq_walk_enter_page(w, vma);
	w->present = w->base | WSQUERY_PRESENT;
	w->simple = !w->page_attrs && !(w->attrs & WSQ_ATTRS_PTE) && w->sink->form != WSQ_SWAP;
	w->same = wsq_walk_same(w, vma);
	w->gap = wsq_walk_gap_kind(w, vma, flags & WSQUERY_SHMEM);
	if (w->gap == WSQ_GAP_CACHE)
		wsq_backing_init(&w->backing, vma, flags & WSQUERY_SHMEM);
}
