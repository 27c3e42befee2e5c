// SPDX-License-Identifier: GPL-2.0
/*
 * The result forms: an entry per page, runs of equal pages, totals.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "sink.h"

/**
 * wsq_copy_out() - give entries to the user, each as a whole or not at all
 * @to: user address
 * @from: the entries
 * @size: bytes an entry
 * @n: number of entries
 * @done: increased by the number of entries that were written
 *
 * A copy fails at a page boundary, and a part of an entry that crosses it would be
 * left behind. So no copy crosses one, and an entry that does is written far end
 * first, after a look at whether the near end can be.
 *
 * Return: 0 or -EFAULT.
 */
int wsq_copy_out(void __user *to, const void *from, size_t size, unsigned long n,
		 unsigned long *done)
{
	while (n) {
		size_t room = PAGE_SIZE - offset_in_page(to);
		unsigned long whole = min(n, room / size);

		if (whole) {
			if (copy_to_user(to, from, whole * size))
				return -EFAULT;
		} else {
			if (fault_in_safe_writeable(to, room) ||
			    copy_to_user(to + room, from + room, size - room) ||
			    copy_to_user(to, from, room))
				return -EFAULT;
			whole = 1;
		}
		to += whole * size;
		from += whole * size;
		n -= whole;
		*done += whole;
	}
	return 0;
}

/* An entry per page */

static int wsq_pages_drain(struct wsq_sink *sink, unsigned long pos, bool last)
{
	struct wsq_pages_sink *s = container_of(sink, struct wsq_pages_sink, sink);
	unsigned long done = 0;
	int err;

	err = wsq_copy_out(s->to, s->buf, s->entry_size, pos - sink->pos, &done);
	s->to += done * s->entry_size;
	sink->pos += done;
	sink->out.byte = s->buf;
	return err;
}

/**
 * wsq_pages_init() - prepare for one entry per page
 * @s: the sink
 * @pages: length of the request
 * @attrs: attributes asked for
 * @entry_size: 1, 8 or 16
 * @to: the user's array
 *
 * Return: 0 or -ENOMEM.
 */
int wsq_pages_init(struct wsq_pages_sink *s, unsigned long pages, u64 attrs,
		   unsigned int entry_size, void __user *to)
{
	struct wsq_sink *sink = &s->sink;

	s->buf = s->small;
	sink->chunk = sizeof(s->small) / entry_size;
	if (pages > sink->chunk) {
		sink->chunk = min(pages, (unsigned long)WSQ_BUFFER / entry_size);
		/* Not larger than needed: many kernels clear all they allocate. */
		s->buf = kmalloc(sink->chunk * entry_size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
		if (!s->buf)
			return -ENOMEM;
	}
	s->to = to;
	s->entry_size = entry_size;
	sink->form = entry_size == 1 ? WSQ_BYTES : entry_size == 8 ? WSQ_WIDE : WSQ_SWAP;
	sink->out.byte = s->buf;
	sink->keep = WSQUERY_STATE_MASK | attrs;
	sink->close = NULL;
	sink->room = UINT_MAX;
	sink->drain = wsq_pages_drain;
	sink->not_told = 0;
	return 0;
}

void wsq_pages_exit(struct wsq_pages_sink *s)
{
	if (s->buf != s->small)
		kfree(s->buf);
}

/* Regions */

/**
 * struct wsq_region_slots - runs that the user does not have yet
 * @region: what the user will get
 * @not_told: pages not told before each
 *
 * A page, so that it is cleared quickly; the walk stops when it is nearly full.
 */
struct wsq_region_slots {
	struct wsquery_region region[WSQ_SLOTS];
	u64 not_told[WSQ_SLOTS];
};

static void wsq_regions_close(struct wsq_sink *sink, u64 flags, unsigned long pages)
{
	struct wsq_regions_sink *s = container_of(sink, struct wsq_regions_sink, sink);
	struct wsquery_region *region = s->slots->region + s->used;
	const u64 start = (u64)s->next << PAGE_SHIFT;
	const u64 not_told = sink->not_told;

	s->next += pages;
	if (flags & WSQUERY_NOT_TOLD)
		sink->not_told += pages;

	flags &= s->visible;
	if (!flags || (s->select && !(flags & s->select)))
		return;

	/* The walker keeps more flags apart than the user asked for. */
	if (s->used && region[-1].end == start && region[-1].flags == flags) {
		region[-1].end = (u64)s->next << PAGE_SHIFT;
		return;
	}
	region->start = start;
	region->end = (u64)s->next << PAGE_SHIFT;
	region->flags = flags;
	s->slots->not_told[s->used] = not_told;
	s->used++;
	sink->room--;
}

static int wsq_regions_drain(struct wsq_sink *sink, unsigned long pos, bool last)
{
	struct wsq_regions_sink *s = container_of(sink, struct wsq_regions_sink, sink);
	struct wsq_region_slots *slots = s->slots;
	unsigned long n, done = 0;
	int ret;

	if (last && sink->out.run_pages) {
		wsq_regions_close(sink, sink->out.run_flags, sink->out.run_pages);
		sink->out.run_pages = 0;
	}
	/* The last one may still grow. */
	n = last || !s->used ? s->used : s->used - 1;

	ret = wsq_copy_out(s->to, slots->region, sizeof(slots->region[0]),
			   min_t(u64, n, s->capacity), &done);
	s->to += done * sizeof(slots->region[0]);
	s->capacity -= done;
	s->count += done;
	if (!ret && done < n)
		ret = 1;

	sink->pos = s->next;
	if (done < s->used) {
		sink->pos = slots->region[done].start >> PAGE_SHIFT;
		if (ret)
			sink->not_told = slots->not_told[done];
	}
	s->used -= done;
	memmove(slots->region, slots->region + done, s->used * sizeof(slots->region[0]));
	memmove(slots->not_told, slots->not_told + done, s->used * sizeof(slots->not_told[0]));
	sink->room = WSQ_SLOTS - s->used;
	return ret;
}

/**
 * wsq_regions_init() - prepare for regions
 * @s: the sink
 * @start: first page of the request
 * @attrs: attributes asked for
 * @select: see &wsquery_regions.select
 * @to: the user's array
 * @capacity: its entries
 *
 * Return: 0 or -ENOMEM.
 */
int wsq_regions_init(struct wsq_regions_sink *s, unsigned long start, u64 attrs,
		     u64 select, void __user *to, u64 capacity)
{
	struct wsq_sink *sink = &s->sink;

	s->slots = kmalloc(sizeof(*s->slots), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!s->slots)
		return -ENOMEM;
	s->used = 0;
	s->next = start;
	s->to = to;
	s->capacity = capacity;
	s->count = 0;
	s->select = select;
	s->visible = WSQUERY_STATE_MASK | attrs;
	sink->form = WSQ_RUNS;
	sink->out.run_flags = 0;
	sink->out.run_pages = 0;
	sink->keep = s->visible | WSQUERY_NOT_TOLD;
	sink->close = wsq_regions_close;
	sink->room = WSQ_SLOTS;
	sink->chunk = ULONG_MAX;
	sink->drain = wsq_regions_drain;
	sink->not_told = 0;
	return 0;
}

void wsq_regions_exit(struct wsq_regions_sink *s)
{
	kfree(s->slots);
}

/* Totals */

static void wsq_count_close(struct wsq_sink *sink, u64 flags, unsigned long pages)
{
	struct wsq_count_sink *s = container_of(sink, struct wsq_count_sink, sink);
	struct wsquery_count *total = s->total;

	if (!flags)
		return;
	total->mapped += pages;
	if ((flags & total->mask) == total->value)
		total->matched += pages;
	if (flags & WSQUERY_PRESENT) {
		total->present += pages;
		if (flags & WSQUERY_SHMEM)
			total->shmem_present += pages;
		if (flags & WSQUERY_FILE)
			total->file_present += pages;
		if (flags & WSQUERY_HUGE)
			total->huge += pages;
	}
	if (flags & WSQUERY_SWAPPED) {
		total->swapped += pages;
		if ((flags & WSQUERY_SHMEM) && !(flags & WSQUERY_COPY))
			total->shmem_swapped += pages;
	}
	if (flags & WSQUERY_MARKER)
		total->marker += pages;
	if (flags & WSQUERY_NOT_TOLD)
		sink->not_told += pages;
}

static int wsq_count_drain(struct wsq_sink *sink, unsigned long pos, bool last)
{
	if (sink->out.run_pages)
		wsq_count_close(sink, sink->out.run_flags, sink->out.run_pages);
	sink->out.run_pages = 0;
	sink->pos = pos;
	return 0;
}

/**
 * wsq_count_init() - prepare for totals
 * @s: the sink
 * @attrs: attributes asked for
 * @total: the request, whose totals are 0
 */
void wsq_count_init(struct wsq_count_sink *s, u64 attrs, struct wsquery_count *total)
{
	struct wsq_sink *sink = &s->sink;

	s->total = total;
	sink->form = WSQ_RUNS;
	sink->out.run_flags = 0;
	sink->out.run_pages = 0;
	/* WSQUERY_COPY of swapped pages costs nothing and tells them from shmem's. */
	sink->keep = WSQUERY_STATE_MASK | attrs | WSQUERY_COPY | WSQUERY_NOT_TOLD;
	sink->close = wsq_count_close;
	sink->room = UINT_MAX;
	sink->chunk = ULONG_MAX;
	sink->drain = wsq_count_drain;
	sink->not_told = 0;
}
