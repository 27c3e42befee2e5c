// SPDX-License-Identifier: GPL-2.0
/*
 * One locked table of page-table entries to runs: the hot loop.
 *
 * Entries are taken eight at a time. Where all eight agree with the first in the
 * bits that decide about the flags, which uniform memory nearly always does, that
 * costs three instructions an entry; otherwise they are looked at one by one.
 * The loop is compiled once for each form, so that emitting is a store or two.
 */
#include "state.h"
#include "walk.h"

#define WSQ_BATCH	8

static __always_inline void wsq_table_hole(struct wsq_walk *w, struct wsq_out *out,
					   const enum wsq_form form, unsigned long addr,
					   u64 flags, unsigned int n)
{
	if (likely(w->gap == WSQ_GAP_PLAIN)) {
		wsq_emit(w->sink, out, form, flags, 0, n);
		return;
	}
	if (w->gap == WSQ_GAP_NOT_TOLD) {
		if (form != WSQ_RUNS)
			w->sink->not_told += n;
		wsq_emit(w->sink, out, form, (flags | WSQUERY_NOT_TOLD) & w->sink->keep, 0, n);
		return;
	}
	while (n) {
		struct wsq_behind behind = wsq_backing_next(&w->backing, addr,
							    form == WSQ_SWAP ? 1 : n);

		wsq_emit(w->sink, out, form, (flags | behind.flags) & w->sink->keep,
			 behind.swap, behind.pages);
		addr += behind.pages << PAGE_SHIFT;
		n -= behind.pages;
	}
}

/* An entry that is neither present nor none. */
static __always_inline void wsq_table_leaf(struct wsq_walk *w, struct wsq_out *out,
					   const enum wsq_form form, unsigned long addr,
					   pte_t pte)
{
	u64 swap = 0;
	u64 flags = wsq_leaf_flags(pte, &swap);

	if ((flags & WSQUERY_SWAPPED) && wsq_vma_file(w->vma))
		flags |= WSQUERY_COPY;
	flags = (w->base | flags) & w->sink->keep;

	/* A marker stands where otherwise nothing would, so ask what is behind. */
	if (flags & WSQUERY_MARKER)
		wsq_table_hole(w, out, form, addr, flags, 1);
	else
		wsq_emit(w->sink, out, form, flags, swap, 1);
}

static __always_inline void wsq_table_form(struct wsq_walk *w, pte_t *ptep,
					   unsigned long addr, unsigned int n,
					   const enum wsq_form form)
{
	struct wsq_sink *sink = w->sink;
	struct wsq_out out = sink->out;
	const unsigned long same = w->same;
	/* Present entries with the bits @seen have the flags @known. */
	unsigned long seen = 0;
	u64 known = 0;

	while (n) {
		unsigned int batch = 1, i;

#ifdef WSQ_PTE_PRESENT_BITS
		if (n >= WSQ_BATCH) {
			unsigned long first = pte_val(ptep_get(ptep)), differ = 0;

			for (i = 1; i < WSQ_BATCH; i++)
				differ |= pte_val(ptep_get(ptep + i)) ^ first;

			if (likely(!(differ & same) && pte_present(__pte(first)))) {
				if ((first & same) != seen) {
					known = wsq_walk_present(w, __pte(first));
					seen = first & same;
				}
				wsq_emit(sink, &out, form, known, 0, WSQ_BATCH);
				goto next_batch;
			}
			if (!(differ | first)) {
				wsq_table_hole(w, &out, form, addr, w->base, WSQ_BATCH);
				goto next_batch;
			}
			batch = WSQ_BATCH;
		}
#endif
		for (i = 0; i < batch; i++) {
			pte_t pte = ptep_get(ptep + i);

			if (pte_present(pte)) {
				if ((pte_val(pte) & same) != seen) {
					known = wsq_walk_present(w, pte);
					seen = pte_val(pte) & same;
				}
				wsq_emit(sink, &out, form, known, 0, 1);
			} else if (pte_none(pte)) {
				wsq_table_hole(w, &out, form, addr + i * PAGE_SIZE, w->base, 1);
			} else {
				wsq_table_leaf(w, &out, form, addr + i * PAGE_SIZE, pte);
			}
		}
		ptep += batch;
		addr += batch * PAGE_SIZE;
		n -= batch;
		continue;
next_batch: __maybe_unused;
		ptep += WSQ_BATCH;
		addr += WSQ_BATCH * PAGE_SIZE;
		n -= WSQ_BATCH;
	}
	sink->out = out;
}

/**
 * wsq_table() - emit a stretch of one page table
 * @w: the walk, in the mapping that the table belongs to
 * @ptep: first entry; the table's lock and rcu_read_lock() are held
 * @addr: address that it maps
 * @n: number of entries
 */
void wsq_table(struct wsq_walk *w, pte_t *ptep, unsigned long addr, unsigned int n)
{
	switch (w->sink->form) {
	case WSQ_BYTES:
		wsq_table_form(w, ptep, addr, n, WSQ_BYTES);
		break;
	case WSQ_WIDE:
		wsq_table_form(w, ptep, addr, n, WSQ_WIDE);
		break;
	case WSQ_SWAP:
		wsq_table_form(w, ptep, addr, n, WSQ_SWAP);
		break;
	case WSQ_RUNS:
		wsq_table_form(w, ptep, addr, n, WSQ_RUNS);
		break;
	}
}
