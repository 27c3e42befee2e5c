/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns runs of pages into the form asked for. The walker only ever emits.
 */
#ifndef WSQ_SINK_H
#define WSQ_SINK_H

#include <linux/types.h>
#include <linux/wsquery.h>

#include "compat.h"

/**
 * enum wsq_form - what is made of the runs
 * @WSQ_BYTES: a byte of state per page
 * @WSQ_WIDE: a u64 of flags per page
 * @WSQ_SWAP: a &struct wsquery_page per page
 * @WSQ_RUNS: maximal runs, for regions and totals
 */
enum wsq_form {
	WSQ_BYTES,
	WSQ_WIDE,
	WSQ_SWAP,
	WSQ_RUNS,
};

/**
 * struct wsq_out - where the walker writes to
 * @byte: next entry of %WSQ_BYTES
 * @wide: next entry of %WSQ_WIDE
 * @page: next entry of %WSQ_SWAP
 * @run_flags: flags of the open run of %WSQ_RUNS
 * @run_pages: its length so far
 *
 * Small, and copied to the stack by the loop over a page table, so that the
 * compiler keeps it in registers.
 */
struct wsq_out {
	union {
		u8 *byte;
		u64 *wide;
		struct wsquery_page *page;
		struct {
			u64 run_flags;
			unsigned long run_pages;
		};
	};
};

/**
 * struct wsq_sink - one result form of one request
 * @form: which
 * @out: the walker's end
 * @keep: flags that the walker is to keep
 * @close: closes a run of %WSQ_RUNS
 * @room: how many runs @close can still take
 * @chunk: the most pages that @out can take
 * @drain: gives what the walker emitted up to a page to the user and makes @out
 *	and @room ready for more; the last call is marked. No lock is held. Returns
 *	0, -EFAULT, or 1 if the user's array is full.
 * @pos: page after the last one that the user was given
 * @not_told: pages up to @pos with %WSQUERY_NOT_TOLD. The walker counts for forms
 *	that are not %WSQ_RUNS.
 */
struct wsq_sink {
	enum wsq_form form;
	struct wsq_out out;
	u64 keep;
	void (*close)(struct wsq_sink *sink, u64 flags, unsigned long pages);
	unsigned int room;
	unsigned long chunk;
	int (*drain)(struct wsq_sink *sink, unsigned long pos, bool last);
	unsigned long pos;
	u64 not_told;
};

/**
 * struct wsq_pages_sink - one entry per page
 * @sink: the sink
 * @buf: bounce buffer
 * @to: where in the user's array the next entry goes
 * @entry_size: bytes an entry
 * @small: the buffer of requests that fit in it
 */
struct wsq_pages_sink {
	struct wsq_sink sink;
	void *buf;
	void __user *to;
	unsigned int entry_size;
	u64 small[32];
};

/**
 * struct wsq_regions_sink - runs of equal pages, without the unmapped ones
 * @sink: the sink
 * @slots: closed runs that the user does not have yet
 * @used: how many of them there are
 * @next: page after the last closed run
 * @to: where in the user's array the next entry goes
 * @capacity: entries left in it
 * @count: entries that the user has
 * @select: see &wsquery_regions.select
 * @visible: flags that the user is told
 */
struct wsq_regions_sink {
	struct wsq_sink sink;
	struct wsq_region_slots *slots;
	unsigned int used;
	unsigned long next;
	void __user *to;
	u64 capacity;
	u64 count;
	u64 select;
	u64 visible;
};

/**
 * struct wsq_count_sink - totals
 * @sink: the sink
 * @total: where they are added up
 */
struct wsq_count_sink {
	struct wsq_sink sink;
	struct wsquery_count *total;
};

/*
 * Runs that a sink has room for; the room with which the walker takes no further step;
 * and the room with which it stops in a table, enough for the rest of a batch.
 */
#define WSQ_SLOTS	127
#define WSQ_STEP_RUNS	32
#define WSQ_TABLE_RUNS	16

/**
 * wsq_emit() - the next pages have these flags
 * @sink: the sink
 * @out: its out, or the caller's copy of it
 * @form: its form, a constant where speed matters
 * @flags: flags, already within @sink->keep
 * @swap: place in swap, for %WSQ_SWAP
 * @pages: how many
 */
static __always_inline void wsq_emit(struct wsq_sink *sink, struct wsq_out *out,
				     const enum wsq_form form, u64 flags, u64 swap,
				     unsigned long pages)
{
	unsigned long i;

	switch (form) {
	case WSQ_BYTES:
		if (__builtin_constant_p(pages) && pages == 1)
			*out->byte = flags;
		else if (__builtin_constant_p(pages) && pages == 8)
			put_unaligned((u8)flags * 0x0101010101010101ULL, (u64 *)out->byte);
		else
			memset(out->byte, flags, pages);
		out->byte += pages;
		break;
	case WSQ_WIDE:
		/* As many at a time as the loop over a table has alike. */
#pragma GCC unroll 8
		for (i = 0; i < pages; i++)
			out->wide[i] = flags;
		out->wide += pages;
		break;
	case WSQ_SWAP:
		for (i = 0; i < pages; i++)
			out->page[i] = (struct wsquery_page){ flags, swap };
		out->page += pages;
		break;
	case WSQ_RUNS:
		if (flags != out->run_flags) {
			if (out->run_pages)
				sink->close(sink, out->run_flags, out->run_pages);
			out->run_flags = flags;
			out->run_pages = 0;
		}
		out->run_pages += pages;
		break;
	}
}

/* Bytes of the buffer of a long request. */
#define WSQ_BUFFER	32768

int wsq_copy_out(void __user *to, const void *from, size_t size, unsigned long n,
		 unsigned long *done);

int wsq_pages_init(struct wsq_pages_sink *s, unsigned long pages, u64 attrs,
		   unsigned int entry_size, void __user *to);
void wsq_pages_exit(struct wsq_pages_sink *s);

int wsq_regions_init(struct wsq_regions_sink *s, unsigned long start, u64 attrs,
		     u64 select, void __user *to, u64 capacity);
void wsq_regions_exit(struct wsq_regions_sink *s);

void wsq_count_init(struct wsq_count_sink *s, u64 attrs, struct wsquery_count *total);

#endif /* WSQ_SINK_H */
