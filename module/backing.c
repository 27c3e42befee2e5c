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
	b->delta = vma->vm_pgoff - (vma->vm_start >> PAGE_SHIFT);
	b->swap_types = shmem ? MAX_SWAPFILES : 0;
}

/* To be called when rcu_read_lock() was taken anew: the nodes may be gone. */
void wsq_backing_reset(struct wsq_backing *b)
{
	xas_reset(&b->xas);
}

/*
 * Whether the cursor is in a node of the lowest level, an entry an index. A search that
 * ended with the node leaves it one past the last slot, with the index of the next node.
 */
static bool wsq_backing_in_leaf(const struct wsq_backing *b)
{
	return !xas_not_node(b->xas.xa_node) && !b->xas.xa_node->shift &&
	       b->xas.xa_offset < XA_CHUNK_SIZE;
}

/* The entry at an index, with the cursor on it. */
static void *wsq_backing_load(struct wsq_backing *b, unsigned long index)
{
	struct xa_state *xas = &b->xas;
	void *entry;

	/* From one leaf to the next is shorter than from the root. */
	if (wsq_backing_in_leaf(b) && index == (xas->xa_index | XA_CHUNK_MASK) + 1) {
		xas->xa_index = index - 1;
		xas->xa_offset = XA_CHUNK_MASK;
		entry = xas_next(xas);
		/* Neither one to be tried again, nor a part of a larger one. */
		if (!xa_is_internal(entry))
			return entry;
	}
	do {
		xas_set(xas, index);
		entry = xas_load(xas);
	} while (xas_retry(xas, entry));
	return entry;
}

/* How many of the @max pages from the cursor's empty slot on are empty. */
static unsigned long wsq_backing_hole(struct wsq_backing *b, unsigned long max)
{
	const unsigned long index = b->xas.xa_index;
	void *entry;

	/* Past the last node: nothing follows. */
	if (xas_not_node(b->xas.xa_node))
		return max;
	do {
		entry = xas_find(&b->xas, index + max - 1);
	} while (xas_retry(&b->xas, entry));
	return entry ? max(b->xas.xa_index, index + 1) - index : max;
}

/* The value under the cursor: for shmem a place in swap, or a failed swap-in. */
static struct wsq_behind wsq_backing_value(struct wsq_backing *b, void *entry,
					   unsigned long index)
{
	struct wsq_behind behind = { .pages = 1 };
	unsigned long order, inside;
	swp_entry_t swap;

	if (!b->swap_types)
		return behind;
	if (!wsq_backing_is_swap(b, entry)) {
		behind.flags = WSQUERY_HWPOISON;
		return behind;
	}
	/* One value can stand for many pages; its offset is that of the first. */
	order = wsq_xas_order(&b->xas);
	/* A folio may have taken its place, whose order it would be then. */
	if (xas_reload(&b->xas) != entry)
		order = 0;
	inside = index & ((1UL << order) - 1);
	swap = radix_to_swp_entry(entry);
	behind.flags = WSQUERY_SWAPPED;
	behind.pages = (1UL << order) - inside;
	behind.swap = wsq_swap_place(swp_type(swap), swp_offset(swap) + inside);
	return behind;
}

/**
 * wsq_backing_next() - what is behind the pages from one on
 * @b: cursor
 * @page: page of the mapping, as address >> PAGE_SHIFT
 * @pages: how many pages are of interest, at least 1
 *
 * Call it under rcu_read_lock(). The cost is that of the entries looked at, not
 * of @pages.
 *
 * Return: what is behind the first of them and how many of the following are
 * alike.
 */
struct wsq_behind wsq_backing_next(struct wsq_backing *b, unsigned long page,
				   unsigned long pages)
{
	const unsigned long index = page + b->delta;
	struct wsq_behind behind = { .pages = 1 };
	void *entry = wsq_backing_load(b, index);

	if (!entry)
		behind.pages = wsq_backing_hole(b, pages);
	else if (xa_is_value(entry))
		behind = wsq_backing_value(b, entry, index);
	else
		behind.flags = WSQUERY_CACHED;

	behind.pages = min(behind.pages, pages);
	return behind;
}

/* Nothing there, or the shadow of what was. */
static bool wsq_backing_is_hole(const struct wsq_backing *b, const void *entry)
{
	return !entry || (xa_is_value(entry) && !b->swap_types);
}

/**
 * wsq_backing_run() - what is behind the page of a slot and those after it
 * @b: cursor
 * @slots: of wsq_backing_slots()
 * @pages: how many there are, at least 1
 *
 * Return: what is behind the first page and how many are alike, without places in swap;
 * 0 pages if it takes wsq_backing_next() to know.
 */
struct wsq_behind wsq_backing_run(const struct wsq_backing *b, void *const *slots,
				  unsigned long pages)
{
	struct wsq_behind behind = { .pages = 0 };
	void *const *slot = slots, *const *const end = slots + pages;
	const void *entry = READ_ONCE(*slot);

	if (wsq_backing_is_hole(b, entry)) {
		do
			slot++;
		while (slot < end && wsq_backing_is_hole(b, READ_ONCE(*slot)));
	} else if (wsq_backing_is_swap(b, entry)) {
		behind.flags = WSQUERY_SWAPPED;
		do
			slot++;
		while (slot < end && wsq_backing_is_swap(b, READ_ONCE(*slot)));
	} else if (!xa_is_value(entry) && !xa_is_internal(entry)) {
		behind.flags = WSQUERY_CACHED;
		do
			entry = ++slot < end ? READ_ONCE(*slot) : NULL;
		while (entry && !xa_is_value(entry) && !xa_is_internal(entry));
	}
	behind.pages = slot - slots;
	return behind;
}

/**
 * wsq_backing_slots() - the part of the page cache behind the pages from one on
 * @b: cursor
 * @page: page of the mapping, as address >> PAGE_SHIFT
 * @pages: how many pages are of interest, at least 1; set to how many of them
 *	share a leaf of the page cache with the first
 *
 * Call it under rcu_read_lock(); that is also how long the slots may be read.
 *
 * Return: the slots of these pages, or NULL if they have no leaf; then
 * wsq_backing_next() tells what is behind them.
 */
void *const *wsq_backing_slots(struct wsq_backing *b, unsigned long page, unsigned long *pages)
{
	const unsigned long index = page + b->delta;
	const unsigned int offset = index & XA_CHUNK_MASK;

	wsq_backing_load(b, index);
	if (!wsq_backing_in_leaf(b))
		return NULL;
	*pages = min(*pages, (unsigned long)XA_CHUNK_SIZE - offset);
	return (void *const *)b->xas.xa_node->slots + offset;
}
