// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The working set: a list of all pages in memory, from the regions of the whole
 * address space.
 */
#include "win.h"

#define CHUNK	256

struct set {
	ULONG_PTR chunk[CHUNK];
	unsigned int filled;
	ULONG_PTR *entries;	/* the caller's */
	size_t capacity;
	size_t written;
	size_t found;
	unsigned int shift;
};

static int set_flush(struct set *set)
{
	size_t length = set->filled * sizeof(*set->chunk);

	if (wsq_user_write(set->entries + set->written, set->chunk, length) < length)
		return -EFAULT;
	set->written += set->filled;
	set->filled = 0;
	return 0;
}

static int set_region(const struct wsquery_region *region, void *arg)
{
	uint64_t address, step;
	struct set *set = arg;
	ULONG_PTR word;
	int err;

	if (!wsq_win_set_word(region->flags, &word))
		return 0;
	step = 1ULL << set->shift;
	for (address = region->start; address != region->end; address += step) {
		if (set->found++ >= set->capacity)
			continue;
		set->chunk[set->filled++] = (ULONG_PTR)(address >> set->shift << 12) | word;
		if (set->filled < CHUNK)
			continue;
		err = set_flush(set);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Fill @array, of @size bytes, with the number of pages and a word for each.
 *
 * Return: 0, -EMSGSIZE if there is not enough room (the number is then that of
 * all pages), or another negative errno value.
 */
int wsq_win_set(HANDLE process, void *array, size_t size, size_t *returned)
{
	ULONG_PTR *number = array;
	struct wsquery_cursor cursor = {
		/* All that a pointer can hold; of 64 bits all but the last page. */
		.length = UINTPTR_MAX & ~(uint64_t)0xffff,
		.attrs = WIN_SET_ATTRS,
		.select = WSQUERY_PRESENT,
		.flags = WSQUERY_SHARED_ONLY,
	};
	const struct wsquery *ws;
	struct wsquery space;
	struct set set;
	int err;

	if (size < sizeof(*number))
		return -EMSGSIZE;
	if (wsq_win_misaligned(array))
		return WIN_MISALIGNED;
	/* Behind no array, and behind the last word of all, is nothing to point to. */
	if (!array || (uintptr_t)array > UINTPTR_MAX - sizeof(*number))
		return -EFAULT;
	set.entries = number + 1;
	set.capacity = size / sizeof(*number) - 1;
	set.filled = 0;
	set.written = 0;
	set.found = 0;
	set.shift = wsq_page_shift();

	err = wsq_win_context(&ws, &space, process);
	if (err)
		return err;
	err = wsquery_for_each_region(ws, &cursor, set_region, &set);
	wsq_win_context_done(ws);
	if (!err)
		err = set_flush(&set);
	if (err)
		return err;
	if (wsq_user_write(number, &set.found, sizeof(*number)) < sizeof(*number))
		return -EFAULT;
	*returned = (set.written + 1) * sizeof(*number);
	return set.found > set.capacity ? -EMSGSIZE : 0;
}
