// SPDX-License-Identifier: GPL-2.0
/*
 * What the page cache has behind the holes of a file or shmem mapping.
 *
 * When tmpfs swaps a page out, no page-table entry stays behind; the swap entry
 * takes the folio's place in mapping->i_pages, in one step. So a hole of a shmem
 * mapping is in swap, in the page cache, or was never written, and only i_pages
 * knows which. It is walked under RCU, over the holes alone, and without a look
 * at the folios.
 */
#include <linux/pagemap.h>

#include "backing.h"
#include "compat.h"
#include "state.h"

void wsq_backing_init(struct wsq_backing *b, const struct vm_area_struct *vma,
		      bool shmem)
{
	b->xas = (struct xa_state)__XA_STATE(&vma->vm_file->f_mapping->i_pages, 0, 0, 0);
	b->leaf = NULL;
	b->vma = vma;
	b->shmem = shmem;
}

/* To be called when rcu_read_lock() was taken anew: the nodes may be gone. */
void wsq_backing_reset(struct wsq_backing *b)
{
	xas_reset(&b->xas);
	b->leaf = NULL;
}

static void *wsq_backing_load(struct wsq_backing *b, unsigned long index)
{
	void *entry;

	do {
		xas_set(&b->xas, index);
		entry = xas_load(&b->xas);
	} while (xas_retry(&b->xas, entry));

	b->leaf = NULL;
	if (!xas_not_node(b->xas.xa_node) && !b->xas.xa_node->shift) {
		b->leaf = b->xas.xa_node;
		b->leaf_base = index & ~(unsigned long)XA_CHUNK_MASK;
	}
	return entry;
}

/* How many of the @max pages from @index, an empty slot, are empty. */
static unsigned long wsq_backing_hole(struct wsq_backing *b, unsigned long index,
				      unsigned long max)
{
	unsigned long n = 1;
	void *entry;

	if (b->leaf) {
		unsigned int offset = index - b->leaf_base;

		max = min(max, (unsigned long)XA_CHUNK_SIZE - offset);
		while (n < max && !xa_entry(b->xas.xa, b->leaf, offset + n))
			n++;
		return n;
	}
	/* Past the last node: nothing follows. */
	if (xas_not_node(b->xas.xa_node))
		return max;
	/* A node higher up: go straight to the next entry. */
	do {
		entry = xas_find(&b->xas, index + max - 1);
	} while (xas_retry(&b->xas, entry));
	return entry ? max(b->xas.xa_index, index + 1) - index : max;
}

static struct wsq_behind wsq_backing_value(struct wsq_backing *b, void *entry,
					   unsigned long index)
{
	struct wsq_behind behind = { .pages = 1 };
	swp_entry_t swap;

	if (!b->shmem)
		return behind;

	swap = radix_to_swp_entry(entry);
	if (non_swap_entry(swap)) {
		/* A page whose swap-in failed. */
		behind.flags = WSQUERY_HWPOISON;
		return behind;
	}
	behind.flags = WSQUERY_SWAPPED;
	behind.swap = wsq_swap_place(swp_type(swap), swp_offset(swap));
#ifdef CONFIG_XARRAY_MULTI
	/* One value can stand for many pages; its offset is that of the first. */
	if (!b->leaf || xa_is_sibling(xa_entry(b->xas.xa, b->leaf, index - b->leaf_base))) {
		unsigned int order = wsq_xas_order(&b->xas);

		behind.swap += wsq_swap_place(0, index & ((1UL << order) - 1));
		behind.pages = (1UL << order) - (index & ((1UL << order) - 1));
	}
#endif
	return behind;
}

/**
 * wsq_backing_next() - what is behind the pages from an address on
 * @b: cursor
 * @addr: address of a page of the mapping that has no page-table entry
 * @pages: how many pages are of interest, at least 1
 *
 * Call it under rcu_read_lock(). The cost is that of the entries looked at, not
 * of @pages.
 *
 * Return: what is behind the first of them and how many of the following are
 * alike.
 */
struct wsq_behind wsq_backing_next(struct wsq_backing *b, unsigned long addr,
				   unsigned long pages)
{
	unsigned long index = linear_page_index((struct vm_area_struct *)b->vma, addr);
	struct wsq_behind behind = { .pages = 1 };
	void *entry;

	if (b->leaf && (index & ~(unsigned long)XA_CHUNK_MASK) == b->leaf_base) {
		entry = xa_entry(b->xas.xa, b->leaf, index - b->leaf_base);
		if (xa_is_internal(entry))
			entry = wsq_backing_load(b, index);
	} else {
		entry = wsq_backing_load(b, index);
	}

	if (!entry)
		behind.pages = wsq_backing_hole(b, index, pages);
	else if (xa_is_value(entry))
		behind = wsq_backing_value(b, entry, index);
	else
		behind.flags = WSQUERY_CACHED;

	behind.pages = min(behind.pages, pages);
	return behind;
}
