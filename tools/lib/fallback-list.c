// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lists without the device: batches of the caller's entries are ordered by
 * address, and each cluster of near addresses is one walk.
 */
#include "walk.h"

#define BATCH		256
/* Addresses this near are read as one range; two reads cost more. */
#define CLUSTER_PAGES	512

struct batch {
	struct wsquery_entry entries[BATCH];
	uint16_t order[BATCH];
	unsigned int count;
	unsigned int next;	/* in @order, the first that is not answered */
	unsigned int shift;
	uint64_t keep;
	uint64_t not_told;
};

static uint64_t batch_page(const struct batch *batch, unsigned int at)
{
	return batch->entries[batch->order[at]].address >> batch->shift;
}

/* Shell's sort: short, in place, and one pass over what is in order already. */
static void batch_sort(struct batch *batch)
{
	unsigned int gap, i, j;
	uint16_t moved;
	uint64_t page;

	for (i = 0; i < batch->count; i++)
		batch->order[i] = i;
	for (i = 1; i < batch->count; i++)
		if (batch_page(batch, i) < batch_page(batch, i - 1))
			break;
	if (i >= batch->count)
		return;

	for (gap = batch->count / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11) {
		for (i = gap; i < batch->count; i++) {
			moved = batch->order[i];
			page = batch_page(batch, i);
			for (j = i; j >= gap && batch_page(batch, j - gap) > page; j -= gap)
				batch->order[j] = batch->order[j - gap];
			batch->order[j] = moved;
		}
	}
}

static int batch_run(void *arg, uint64_t page, uint64_t count, uint64_t flags)
{
	struct batch *batch = arg;

	while (batch->next < batch->count && batch_page(batch, batch->next) < page + count) {
		batch->entries[batch->order[batch->next++]].flags = flags & batch->keep;
		if (flags & WSQUERY_NOT_TOLD)
			batch->not_told++;
	}
	return 0;
}

static int batch_answer(struct batch *batch, struct wsq_walk *walk)
{
	unsigned int last;
	int err;

	batch->next = 0;
	batch->not_told = 0;
	batch_sort(batch);
	while (batch->next < batch->count) {
		uint64_t first = batch_page(batch, batch->next);

		for (last = batch->next; last + 1 < batch->count; last++)
			if (batch_page(batch, last + 1) - first >= CLUSTER_PAGES)
				break;
		err = wsq_walk_range(walk, first, batch_page(batch, last) + 1, batch_run, batch);
		if (err)
			return err;
	}
	return 0;
}

static int list_answer(struct wsquery_list *list, struct wsq_walk *walk)
{
	struct batch batch = {
		.keep = WSQUERY_STATE_MASK | list->attrs,
		.shift = wsq_page_shift(),
	};
	size_t length, copied;
	void *entries;
	int err;

	while (list->done < list->count) {
		/* Wherever it is, as it is only tried. */
		entries = (void *)(uintptr_t)(list->entries +
					      list->done * sizeof(*batch.entries));
		batch.count = list->count - list->done < BATCH ? list->count - list->done : BATCH;
		length = batch.count * sizeof(*batch.entries);
		copied = wsq_user_read(batch.entries, entries, length);
		batch.count = copied / sizeof(*batch.entries);

		err = batch_answer(&batch, walk);
		if (err)
			return err;
		copied = wsq_user_write(entries, batch.entries,
					batch.count * sizeof(*batch.entries));
		list->done += copied / sizeof(*batch.entries);
		list->not_told += batch.not_told;
		if (copied < length)
			return -EFAULT;
	}
	return 0;
}

int wsq_fallback_list(const struct wsquery *ws, struct wsquery_list *list)
{
	struct wsq_walk walk;
	int err, closed;

	list->done = 0;
	list->not_told = 0;
	if ((list->entries & (sizeof(uint64_t) - 1)) ||
	    (list->attrs & (~wsq_known_bits() | WSQUERY_STATE_MASK)))
		return -EINVAL;
	err = wsq_walk_open(&walk, ws, list->attrs);
	if (err)
		return err;
	err = list_answer(list, &walk);
	closed = wsq_walk_close(&walk);
	return err ? err : closed;
}
