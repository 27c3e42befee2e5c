// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The public queries: fill in a request, hand it to the backend.
 */
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib.h"

_Static_assert(offsetof(struct wsquery_list, flags) == offsetof(struct wsquery_range, flags) &&
	       offsetof(struct wsquery_list, target) == offsetof(struct wsquery_range, target),
	       "the backends find the target of every request at one place");

int wsq_request(const struct wsquery *ws, unsigned long number, void *request)
{
	const struct wsquery_range *range = request;
	struct wsquery space;
	bool again = true;
	int err;

	/* The target is the context's affair. */
	if (number != WSQUERY_IOC_INFO && (range->flags & ~WSQUERY_SHARED_ONLY))
		return -EINVAL;

	for (;;) {
		const struct wsquery *to = ws;

		err = wsq_context_get(&to, &space);
		if (err)
			return err;
		if (to->backend != WSQUERY_BACKEND_DEVICE)
			return wsq_fallback_request(to, number, request);
		err = wsq_device_request(to, number, request);
		if ((err != -EBADF && err != -ENOTTY) || !again || !wsq_default_renew(to))
			return err;
		again = false;
	}
}

static void progress_set(struct wsquery_progress *progress, uint64_t done, uint64_t not_told)
{
	if (!progress)
		return;
	progress->done = done;
	progress->not_told = not_told;
}

static uint64_t user_address(const void *pointer)
{
	return (uintptr_t)pointer;
}

int wsquery_backend(const struct wsquery *ws)
{
	struct wsquery space;
	int err = wsq_context_get(&ws, &space);

	return err ? err : ws->backend;
}

uint64_t wsquery_tells(const struct wsquery *ws)
{
	struct wsquery_info info;
	struct wsquery space;

	if (wsq_context_get(&ws, &space))
		return 0;
	if (ws->backend != WSQUERY_BACKEND_DEVICE)
		return wsq_fallback_tells(ws);
	return wsquery_get_info(ws, &info) ? 0 : info.attrs | WSQUERY_STATE_MASK;
}

int wsquery_get_info(const struct wsquery *ws, struct wsquery_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return wsq_request(ws, WSQUERY_IOC_INFO, info);
}

static int pages_get(const struct wsquery *ws, struct wsquery_pages *pages,
		     struct wsquery_progress *progress)
{
	int err;

	pages->range.size = sizeof(*pages);
	err = wsq_request(ws, WSQUERY_IOC_PAGES, pages);
	progress_set(progress, pages->range.done, pages->range.not_told);
	return err;
}

int wsquery_get_states(const struct wsquery *ws, uint64_t start, uint64_t length,
		       uint8_t *states, struct wsquery_progress *progress)
{
	struct wsquery_pages pages = {
		.range = { .entry_size = 1, .start = start, .length = length },
		.entries = user_address(states),
	};

	return pages_get(ws, &pages, progress);
}

int wsquery_get_pages(const struct wsquery *ws, uint64_t start, uint64_t length,
		      uint64_t attrs, uint64_t *words, struct wsquery_progress *progress)
{
	struct wsquery_pages pages = {
		.range = { .entry_size = 8, .start = start, .length = length, .attrs = attrs },
		.entries = user_address(words),
	};

	return pages_get(ws, &pages, progress);
}

int wsquery_get_swap(const struct wsquery *ws, uint64_t start, uint64_t length,
		     uint64_t attrs, struct wsquery_page *places,
		     struct wsquery_progress *progress)
{
	struct wsquery_pages pages = {
		.range = { .entry_size = 16, .start = start, .length = length, .attrs = attrs },
		.entries = user_address(places),
	};

	return pages_get(ws, &pages, progress);
}

int wsquery_get_list(const struct wsquery *ws, struct wsquery_entry *entries, size_t count,
		     uint64_t attrs, struct wsquery_progress *progress)
{
	struct wsquery_list list = {
		.size = sizeof(list),
		.entries = user_address(entries),
		.count = count,
		.attrs = attrs,
	};
	int err;

	err = wsq_request(ws, WSQUERY_IOC_LIST, &list);
	progress_set(progress, list.done, list.not_told);
	return err;
}

int wsquery_get_one(const struct wsquery *ws, uint64_t address, uint64_t attrs, uint64_t *flags)
{
	struct wsquery_entry entry = { .address = address };
	const struct wsquery *to = ws;
	struct wsquery space;
	int err;

	err = wsq_context_get(&to, &space);
	if (err)
		return err;
	if (to->device >= 0 && to->target == WSQ_SELF && !(attrs & ~WSQUERY_ONE_MASK) &&
	    address == (unsigned long)address) {
		int bits = ioctl(to->device, WSQUERY_IOC_ONE, (unsigned long)address);

		if (bits >= 0) {
			*flags = bits & (WSQUERY_STATE_MASK | attrs);
			return 0;
		}
		/* Whatever is wrong, the long way finds it again, or gets round it. */
	}

	err = wsquery_get_list(ws, &entry, 1, attrs, NULL);
	if (!err)
		*flags = entry.flags;
	return err;
}

ssize_t wsquery_get_regions(const struct wsquery *ws, struct wsquery_cursor *cursor,
			    struct wsquery_region *array, size_t capacity)
{
	struct wsquery_regions regions;
	int err;

	while (cursor->length) {
		regions = (struct wsquery_regions){
			.range = {
				.size = sizeof(regions),
				.flags = cursor->flags,
				.start = cursor->start,
				.length = cursor->length,
				.attrs = cursor->attrs,
			},
			.regions = user_address(array),
			.capacity = capacity,
			.select = cursor->select,
		};
		err = wsq_request(ws, WSQUERY_IOC_REGIONS, &regions);
		cursor->start += regions.range.done;
		cursor->length -= regions.range.done;
		cursor->not_told += regions.range.not_told;
		if (err)
			return err;
		if (regions.count)
			return regions.count;
		if (!regions.range.done)
			return -EIO;
	}
	return 0;
}

int wsquery_for_each_region(const struct wsquery *ws, struct wsquery_cursor *cursor,
			    wsquery_region_fn fn, void *arg)
{
	struct wsquery_region regions[128];
	struct wsquery_region last = { 0 };
	ssize_t count, i;
	int err;

	while ((count = wsquery_get_regions(ws, cursor, regions, 128)) > 0) {
		for (i = 0; i < count; i++) {
			if (last.end == regions[i].start && last.flags == regions[i].flags &&
			    last.start != last.end) {
				last.end = regions[i].end;
				continue;
			}
			if (last.start != last.end) {
				err = fn(&last, arg);
				if (err)
					return err;
			}
			last = regions[i];
		}
	}
	if (last.start != last.end) {
		err = fn(&last, arg);
		if (err)
			return err;
	}
	return count;
}

int wsquery_get_count(const struct wsquery *ws, struct wsquery_count *count)
{
	count->range.size = sizeof(*count);
	return wsq_request(ws, WSQUERY_IOC_COUNT, count);
}
