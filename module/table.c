// SPDX-License-Identifier: GPL-2.0
/*
 * One locked table of page-table entries to runs: the hot loop.
 *
 * Entries are taken eight at a time. Where all eight are alike, as they nearly always
 * are in uniform memory, that costs an instruction or three an entry; otherwise they
 * are looked at one by one. Pages that have no entry are looked up in the leaf of the
 * page cache that covers them, whose slots run along with the entries. The loop is
 * compiled once for each form, so that emitting is a store or two.
 */
#include "state.h"
#include "walk.h"

#define WSQ_BATCH	8

/*
 * Has KCSAN watch, to the end of the block, that nobody writes the table of @ptep: who
 * does, holds its lock. As all mark what they read and write in it, and the batches
 * below say data_race(), a lock that is forgotten would not be seen otherwise. What the
 * processor itself sets is no write. Without KCSAN this is nothing.
 */
#define WSQ_ASSERT_LOCKED(ptep)								\
	ASSERT_EXCLUSIVE_WRITER_SCOPED(*(const pte_t (*)[PTRS_PER_PTE])			\
				       PTR_ALIGN_DOWN(ptep, PTRS_PER_PTE * sizeof(pte_t)))

/**
 * struct wsq_stretch - entries of a table with the same leaf of the page cache
 * @ptep: first entry
 * @end: after the last entry
 * @page: page that @ptep maps, as address >> PAGE_SHIFT
 * @hole: flags of a page without an entry and a slot
 * @swap: place in swap of the first page, if all are there by @hole; else 0
 * @slots: what the page cache has for @ptep and the following, or NULL
 */
struct wsq_stretch {
	const pte_t *ptep;
	const pte_t *end;
	unsigned long page;
	u64 hole;
	u64 swap;
	void *const *slots;
};

/* What the page cache has for a page where it takes more than a look at the slot. */
static noinline u64 wsq_table_behind(struct wsq_walk *w, unsigned long page, u64 *swap)
{
	struct wsq_behind behind = wsq_backing_next(&w->backing, page, 1);

	*swap = behind.swap;
	return w->base | (behind.flags & w->sink->keep);
}

/* An entry that is neither present nor none; @hole: flags of one that is none. */
static noinline u64 wsq_table_leaf(struct wsq_walk *w, unsigned long page, pte_t pte, u64 hole,
				   u64 *swap)
{
	u64 flags = wsq_leaf_flags(pte, swap);

	if ((flags & WSQUERY_SWAPPED) && wsq_vma_file(w->vma))
		flags |= WSQUERY_COPY;
	/* A marker stands where otherwise nothing would, so what is behind counts. */
	if (!(flags & WSQUERY_MARKER))
		flags |= w->base;
	else if (w->gap == WSQ_GAP_CACHE)
		flags |= wsq_table_behind(w, page, swap);
	else
		flags |= hole;
	return flags & w->sink->keep;
}

/*
 * Whether a batch is present throughout. Plain loads, so that the compiler makes one
 * instruction of each: under the lock only the processor changes entries, and of
 * those present only the accessed and dirty bits.
 */
static __always_inline bool wsq_table_all_present(const pte_t *ptep)
{
#ifdef WSQ_PTE_PRESENT_BITS
	/* Races with accessed and dirty bits only. */
	return data_race(ptep[0].pte & ptep[1].pte & ptep[2].pte & ptep[3].pte &
			 ptep[4].pte & ptep[5].pte & ptep[6].pte & ptep[7].pte) & _PAGE_PRESENT;
#else
	return false;
#endif
}

/* Whether a batch has no entry at all. */
static __always_inline bool wsq_table_all_none(const pte_t *ptep)
{
#ifdef WSQ_PTE_PRESENT_BITS
	/* In two steps, as memory that is mixed shows it early. Races as above. */
	if (data_race(ptep[0].pte | ptep[1].pte | ptep[2].pte))
		return false;
	/* And so do these. */
	return !data_race(ptep[3].pte | ptep[4].pte | ptep[5].pte | ptep[6].pte | ptep[7].pte);
#else
	return false;
#endif
}

/* Whether a batch of slots are places in swap, all of them. */
static __always_inline bool wsq_table_all_swap(const struct wsq_backing *b,
					       void *const *slots)
{
	unsigned long all = ~0UL, any = 0;
	int i;

#pragma GCC unroll 8
	for (i = 0; i < WSQ_BATCH; i++) {
		const unsigned long entry = (unsigned long)READ_ONCE(slots[i]);

		all &= entry;
		any |= entry;
	}
	/* None has a type larger than that of all their bits together. */
	return xa_is_value((void *)all) && wsq_backing_is_swap(b, (void *)any);
}

/* Whether a batch agrees with its first entry in the bits @same. */
static __always_inline bool wsq_table_alike(const pte_t *ptep, unsigned long first,
					    unsigned long same)
{
#ifdef WSQ_PTE_PRESENT_BITS
/* Races as above. */
#define DIFFER(i) (data_race(ptep[i].pte) ^ first)
	/* In two steps, as memory that is mixed shows it early. */
	if ((DIFFER(1) | DIFFER(2) | DIFFER(3)) & same)
		return false;
	return !((DIFFER(4) | DIFFER(5) | DIFFER(6) | DIFFER(7)) & same);
#undef DIFFER
#else
	return false;
#endif
}

/* The slot of the page cache that runs along with an entry: both are a word. */
static __always_inline void *const *wsq_table_slot(const pte_t *ptep, long to_slot)
{
	BUILD_BUG_ON(sizeof(pte_t) != sizeof(void *));
	return (void *const *)((const char *)ptep + to_slot);
}

/* A page without a present entry: flags, and for WSQ_SWAP its place in swap. */
static __always_inline u64 wsq_table_absent(struct wsq_walk *w, const struct wsq_stretch *s,
					    const enum wsq_form form, const bool slots,
					    const long to_slot, const pte_t *ptep,
					    pte_t pte, u64 *swap)
{
	u64 flags = s->hole;

	if (form == WSQ_SWAP)
		*swap = 0;
	if (unlikely(!pte_none(pte)))
		return wsq_table_leaf(w, s->page + (ptep - s->ptep), pte, flags, swap);

	if (form == WSQ_SWAP && s->swap)
		*swap = s->swap + wsq_swap_place(0, ptep - s->ptep);
	if (slots) {
		const void *entry = READ_ONCE(*wsq_table_slot(ptep, to_slot));

		if (!entry)
			;
		else if (form != WSQ_SWAP && wsq_backing_is_swap(&w->backing, entry))
			flags |= WSQUERY_SWAPPED;
		else if (!xa_is_value(entry) && !xa_is_internal(entry))
			flags |= WSQUERY_CACHED & w->sink->keep;
		else
			flags = wsq_table_behind(w, s->page + (ptep - s->ptep), swap);
	}
	return flags;
}

/* A page of which only share count and COPY differ from others. */
static __always_inline u64 wsq_table_counted(struct page *page, u64 present, const bool copy)
{
	u64 flags = present | wsq_page_share_count(page);

	if (copy && PageAnon(page))
		flags |= WSQUERY_COPY;
	return flags;
}

/* Whether a batch maps ordinary pages, all of them. */
static __always_inline bool wsq_table_all_pages(const pte_t *ptep)
{
#ifdef WSQ_PTE_PRESENT_BITS
	return wsq_table_all_present(ptep) &&
		/* Races as above. */
	       !(data_race(ptep[0].pte | ptep[1].pte | ptep[2].pte | ptep[3].pte |
			   ptep[4].pte | ptep[5].pte | ptep[6].pte | ptep[7].pte) &
		 WSQ_PTE_SPECIAL_BITS);
#else
	return false;
#endif
}

/* A batch of them, each counted. */
static __always_inline void wsq_table_count(struct wsq_sink *sink, struct wsq_out *out,
					    const enum wsq_form form, const pte_t *ptep,
					    u64 present, const bool copy)
{
#ifdef WSQ_PTE_PRESENT_BITS
	int i;

#pragma GCC unroll 8
	for (i = 0; i < WSQ_BATCH; i++) {
		const pte_t pte = ptep_get((pte_t *)ptep + i);
		struct page *page = pfn_to_page(wsq_pte_present_pfn(pte));

		wsq_emit(sink, out, form, wsq_table_counted(page, present, copy), 0, 1);
	}
#endif
}

/*
 * @simple: every present entry of the mapping has the flags w->present; no bit of it
 * was asked for. @slots: there are slots. Returns the entry
 * it got to, which is not the end if the sink ran out of room.
 */
static __always_inline const pte_t *wsq_table_form(struct wsq_walk *w,
						   const struct wsq_stretch *s,
						   const enum wsq_form form, const bool simple,
						   const bool slots)
{
	struct wsq_sink *sink = w->sink;
	struct wsq_out out = sink->out;
	const pte_t *ptep = s->ptep, *const end = s->end;
	/* From here on there is no whole batch. */
	const pte_t *const tail = end - (WSQ_BATCH - 1);
	const unsigned long same = w->same;
	const u64 hole = s->hole;
	/* Present entries with the bits @seen have the flags @known. */
	u64 known = w->present;
	unsigned long seen = 0;
	/* The looks at descriptors that QueryWorkingSetEx needs, and so the common ones. */
	const bool counted = (w->page_attrs & ~WSQUERY_COPY) == WSQUERY_SHARE_COUNT &&
			     !(w->attrs & WSQ_ATTRS_PTE);
	const bool copy = w->page_attrs & WSQUERY_COPY;
	const long to_slot = (const char *)s->slots - (const char *)s->ptep;
	u64 swap = 0;

#define ONE()										\
do {											\
	const pte_t pte = ptep_get((pte_t *)ptep);					\
											\
	if (pte_present(pte)) {								\
		if (!simple && counted) {						\
			known = w->present;						\
			if (!pte_special(pte))						\
				known = wsq_table_counted(pte_page(pte), known, copy);	\
		} else if (!simple && (wsq_pte_bits(pte) & same) != seen) {		\
			known = wsq_walk_present(w, pte);				\
			seen = wsq_pte_bits(pte) & same;				\
		}									\
		wsq_emit(sink, &out, form, known, 0, 1);				\
	} else {									\
		const u64 flags = wsq_table_absent(w, s, form, slots, to_slot,	\
						   ptep, pte, &swap);			\
											\
		wsq_emit(sink, &out, form, flags, swap, 1);				\
	}										\
} while (0)

	while (ptep < tail) {
		unsigned int i;

		if (form == WSQ_RUNS && sink->room < WSQ_TABLE_RUNS)
			goto out;

		if (simple) {
			if ((!slots || pte_present(ptep_get((pte_t *)ptep))) &&
			    wsq_table_all_present(ptep)) {
				wsq_emit(sink, &out, form, known, 0, WSQ_BATCH);
				ptep += WSQ_BATCH;
				continue;
			}
			/* Else the compiler keeps what it loaded, which is slower. */
			barrier();
		} else if (counted) {
			if (wsq_table_all_pages(ptep)) {
				if (copy)
					wsq_table_count(sink, &out, form, ptep, w->present, true);
				else
					wsq_table_count(sink, &out, form, ptep, w->present, false);
				ptep += WSQ_BATCH;
				continue;
			}
		} else {
			const pte_t pte = ptep_get((pte_t *)ptep);
			const unsigned long bits = wsq_pte_bits(pte);

			if (same != ~0UL && pte_present(pte) && wsq_table_alike(ptep, bits, same)) {
				if ((bits & same) != seen) {
					known = wsq_walk_present(w, pte);
					seen = bits & same;
				}
				wsq_emit(sink, &out, form, known, 0, WSQ_BATCH);
				ptep += WSQ_BATCH;
				continue;
			}
		}
		if (wsq_table_all_none(ptep)) {
			/* Places in swap go up page by page. */
			if (!slots && (form != WSQ_SWAP || !s->swap)) {
				wsq_emit(sink, &out, form, hole, 0, WSQ_BATCH);
				ptep += WSQ_BATCH;
				continue;
			}
			if (form != WSQ_SWAP &&
			    wsq_table_all_swap(&w->backing, wsq_table_slot(ptep, to_slot))) {
				wsq_emit(sink, &out, form, hole | WSQUERY_SWAPPED, 0, WSQ_BATCH);
				ptep += WSQ_BATCH;
				continue;
			}
		}
#pragma GCC unroll 8
		for (i = 0; i < WSQ_BATCH; i++, ptep++)
			ONE();
	}
	for (; ptep < end; ptep++)
		ONE();
out:
	sink->out = out;
	return ptep;
#undef ONE
}

#define WSQ_TABLE(name, form, simple, slots)						\
static noinline const pte_t *wsq_table_##name(struct wsq_walk *w,			\
					      const struct wsq_stretch *s)		\
{											\
	return wsq_table_form(w, s, form, simple, slots);				\
}

WSQ_TABLE(bytes, WSQ_BYTES, true, false)
WSQ_TABLE(bytes_slots, WSQ_BYTES, true, true)
WSQ_TABLE(wide_simple, WSQ_WIDE, true, false)
WSQ_TABLE(wide, WSQ_WIDE, false, false)
WSQ_TABLE(wide_slots, WSQ_WIDE, false, true)
WSQ_TABLE(runs_simple, WSQ_RUNS, true, false)
WSQ_TABLE(runs, WSQ_RUNS, false, false)
WSQ_TABLE(runs_slots, WSQ_RUNS, false, true)
WSQ_TABLE(swap_places, WSQ_SWAP, false, false)
WSQ_TABLE(swap_slots, WSQ_SWAP, false, true)

static const pte_t *wsq_table_stretch(struct wsq_walk *w, const struct wsq_stretch *s)
{
	const bool simple = w->simple;

	switch (w->sink->form) {
	case WSQ_BYTES:
		/* Bytes have no attributes. */
		return s->slots ? wsq_table_bytes_slots(w, s) : wsq_table_bytes(w, s);
	case WSQ_WIDE:
		return s->slots ? wsq_table_wide_slots(w, s) :
		       simple ? wsq_table_wide_simple(w, s) : wsq_table_wide(w, s);
	case WSQ_RUNS:
		return s->slots ? wsq_table_runs_slots(w, s) :
		       simple ? wsq_table_runs_simple(w, s) : wsq_table_runs(w, s);
	case WSQ_SWAP:
		return s->slots ? wsq_table_swap_slots(w, s) : wsq_table_swap_places(w, s);
	}
	return s->end;
}

/* Pages whose hole is not told, for the forms that have no runs to count them by. */
static unsigned int wsq_table_holes(const pte_t *ptep, unsigned int n)
{
	unsigned int i, holes = 0;

	for (i = 0; i < n; i++) {
		pte_t pte = ptep_get((pte_t *)ptep + i);

		if (!pte_present(pte))
			holes += pte_none(pte) || wsq_pte_is_marker(pte);
	}
	return holes;
}

/* How many batches, in entries, are present and alike from here on. */
static unsigned int wsq_table_present(const struct wsq_walk *w, const pte_t *ptep,
				      const pte_t *end)
{
	const pte_t *p = ptep;

	if (!w->simple)
		return 0;
	while (end - p >= WSQ_BATCH && wsq_table_all_present(p))
		p += WSQ_BATCH;
	return p - ptep;
}

/**
 * wsq_table() - emit a part of one page table
 * @w: the walk, in the mapping that the table belongs to
 * @ptep: first entry; the table's lock and rcu_read_lock() are held
 * @page: page that it maps, as address >> PAGE_SHIFT
 * @n: number of entries, at least 1
 *
 * Return: how many entries were emitted; fewer than @n only if the sink has no room
 * for more, and at least 1.
 */
unsigned int wsq_table(struct wsq_walk *w, const pte_t *ptep, unsigned long page, unsigned int n)
{
	struct wsq_stretch s = {
		.ptep = ptep,
		.end = ptep + n,
		.page = page,
		.hole = w->base,
	};
	const pte_t *const end = s.end;
	const pte_t *got;

	WSQ_ASSERT_LOCKED(ptep);

	if (w->gap == WSQ_GAP_NOT_TOLD) {
		s.hole |= WSQUERY_NOT_TOLD & w->sink->keep;
		if (w->sink->form != WSQ_RUNS)
			w->sink->not_told += wsq_table_holes(ptep, n);
	}
	if (w->gap != WSQ_GAP_CACHE)
		return wsq_table_stretch(w, &s) - ptep;

	wsq_backing_reset(&w->backing);
	do {
		unsigned int present = wsq_table_present(w, s.ptep, end);
		unsigned long pages = end - s.ptep;

		/* No look-ups where there is no hole. */
		if (present) {
			wsq_walk_emit(w, w->present, 0, present);
			s.page += present;
			s.ptep += present;
			continue;
		}
		s.hole = w->base;
		s.swap = 0;
		s.slots = wsq_backing_slots(&w->backing, s.page, &pages);
		if (!s.slots) {
			struct wsq_behind behind = wsq_backing_next(&w->backing, s.page, pages);

			s.hole |= behind.flags & w->sink->keep;
			s.swap = behind.swap;
			pages = behind.pages;
		}
		s.end = s.ptep + pages;
		got = wsq_table_stretch(w, &s);
		s.page += got - s.ptep;
		s.ptep = got;
	} while (s.ptep < end && w->sink->room >= WSQ_TABLE_RUNS);
	return s.ptep - ptep;
}
