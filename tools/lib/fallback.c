// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The requests of /dev/wsquery, answered without it: a sink for each form, fed
 * with runs by the walker. What the device checks is checked here too, so that
 * a program meets the same errors with every backend.
 */
#include <string.h>

#include "walk.h"

uint64_t wsq_fallback_tells(const struct wsquery *ws)
{
	uint64_t tells = WSQUERY_PRESENT | WSQUERY_SWAPPED | WSQUERY_SHMEM | WSQUERY_FILE |
			 WSQUERY_WRITABLE | WSQUERY_MAPPED | WSQUERY_SHARED | WSQUERY_READABLE |
			 WSQUERY_EXECUTABLE | WSQUERY_HUGETLB | WSQUERY_COPY |
			 WSQUERY_SOFT_DIRTY | WSQUERY_UFFD_WP | WSQUERY_NOT_TOLD;

	if (ws->backend == WSQUERY_BACKEND_SCAN)
		tells |= WSQUERY_HUGE | WSQUERY_ZERO;
	if (ws->guards)
		tells |= WSQUERY_GUARD;
	return tells;
}

static int fallback_info(const struct wsquery *ws, struct wsquery_info *info)
{
	info->forms = 1ULL << _IOC_NR(WSQUERY_IOC_INFO) | 1ULL << _IOC_NR(WSQUERY_IOC_PAGES) |
		      1ULL << _IOC_NR(WSQUERY_IOC_REGIONS) | 1ULL << _IOC_NR(WSQUERY_IOC_COUNT) |
		      1ULL << _IOC_NR(WSQUERY_IOC_LIST) | 1ULL << _IOC_NR(WSQUERY_IOC_ONE);
	info->flags = WSQUERY_SHARED_ONLY;
	info->page_size = 1U << wsq_page_shift();
	info->attrs = wsq_known_bits() & ~WSQUERY_STATE_MASK;
	if (ws->guards)
		info->marker_kinds = WSQUERY_MARKER_GUARD;
	return 0;
}

static bool range_valid(const struct wsquery_range *range)
{
	uint64_t mask = (1ULL << wsq_page_shift()) - 1;

	if ((range->start | range->length) & mask)
		return false;
	/* A range may reach up to the end of 64 bits, where the sum is 0. */
	if (range->length && range->start + (range->length - 1) < range->start)
		return false;
	return !(range->attrs & (~wsq_known_bits() | WSQUERY_STATE_MASK));
}

/* What every sink has: the request's head, to say how far it came. */
struct sink {
	struct wsquery_range *range;
	uint64_t keep;
	unsigned int shift;
};

/* Note a run as answered. Return: its flags as the caller wants to see them. */
static uint64_t sink_take(struct sink *sink, uint64_t count, uint64_t flags)
{
	sink->range->done += count << sink->shift;
	if (flags & WSQUERY_NOT_TOLD)
		sink->range->not_told += count;
	return flags & sink->keep;
}

static int sink_walk(struct sink *sink, const struct wsquery *ws, struct wsquery_range *range,
		     wsq_run_fn run)
{
	uint64_t first, pages;
	struct wsq_walk walk;
	int err, closed;

	sink->range = range;
	sink->keep = WSQUERY_STATE_MASK | range->attrs;
	sink->shift = wsq_page_shift();
	range->done = 0;
	range->not_told = 0;
	first = range->start >> sink->shift;
	pages = range->length >> sink->shift;

	err = wsq_walk_open(&walk, ws, range->attrs);
	if (err)
		return err;
	err = wsq_walk_range(&walk, first, first + pages, run, sink);
	closed = wsq_walk_close(&walk);
	return err < 0 ? err : closed;
}

struct pages_sink {
	struct sink sink;
	uint8_t *states;
	uint64_t *words;
};

static int pages_run(void *arg, uint64_t page __attribute__((unused)), uint64_t count,
		     uint64_t flags)
{
	struct pages_sink *pages = arg;

	flags = sink_take(&pages->sink, count, flags);
	if (pages->states) {
		memset(pages->states, flags, count);
		pages->states += count;
	} else {
		while (count--)
			*pages->words++ = flags;
	}
	return 0;
}

static int fallback_pages(const struct wsquery *ws, struct wsquery_pages *request)
{
	struct wsquery_range *range = &request->range;
	void *entries = (void *)(uintptr_t)request->entries;
	struct pages_sink pages = { .states = NULL };

	if (range->entry_size == sizeof(struct wsquery_page))
		return -EOPNOTSUPP;
	if (!range_valid(range))
		return -EINVAL;
	if (range->length && !entries)
		return -EFAULT;
	if (range->entry_size == sizeof(uint64_t))
		pages.words = entries;
	else
		pages.states = entries;
	return sink_walk(&pages.sink, ws, range, pages_run);
}

struct regions_sink {
	struct sink sink;
	struct wsquery_regions *request;
};

static int regions_run(void *arg, uint64_t page, uint64_t count, uint64_t flags)
{
	struct regions_sink *regions = arg;
	struct wsquery_regions *request = regions->request;
	struct wsquery_region *region = (void *)(uintptr_t)request->regions;
	unsigned int shift = regions->sink.shift;
	uint64_t shown = flags & regions->sink.keep;

	if (shown && (!request->select || (shown & request->select))) {
		region += request->count;
		if (request->count && region[-1].end == page << shift &&
		    region[-1].flags == shown) {
			region[-1].end += count << shift;
		} else {
			if (request->count == request->capacity)
				return 1;
			region->start = page << shift;
			region->end = (page + count) << shift;
			region->flags = shown;
			request->count++;
		}
	}
	sink_take(&regions->sink, count, flags);
	return 0;
}

static bool mask_valid(uint64_t mask, const struct wsquery_range *range)
{
	return !(mask & ~(WSQUERY_STATE_MASK | range->attrs));
}

static int fallback_regions(const struct wsquery *ws, struct wsquery_regions *request)
{
	struct regions_sink regions = { .request = request };

	if (!range_valid(&request->range) || !request->capacity ||
	    !mask_valid(request->select, &request->range))
		return -EINVAL;
	if (!request->regions)
		return -EFAULT;
	request->count = 0;
	return sink_walk(&regions.sink, ws, &request->range, regions_run);
}

struct count_sink {
	struct sink sink;
	struct wsquery_count *count;
};

static int count_run(void *arg, uint64_t page __attribute__((unused)), uint64_t pages,
		     uint64_t flags)
{
	struct count_sink *sink = arg;
	struct wsquery_count *count = sink->count;

	flags = sink_take(&sink->sink, pages, flags);
	if (!(flags & WSQUERY_MAPPED))
		return 0;
	count->mapped += pages;
	if ((flags & count->mask) == count->value)
		count->matched += pages;
	if (flags & WSQUERY_PRESENT) {
		count->present += pages;
		if (flags & WSQUERY_SHMEM)
			count->shmem_present += pages;
		if (flags & WSQUERY_FILE)
			count->file_present += pages;
	}
	if (flags & WSQUERY_SWAPPED)
		count->swapped += pages;
	if (flags & WSQUERY_HUGE)
		count->huge += pages;
	if (flags & WSQUERY_MARKER)
		count->marker += pages;
	return 0;
}

static int fallback_count(const struct wsquery *ws, struct wsquery_count *count)
{
	struct count_sink sink = { .count = count };

	if (!range_valid(&count->range) || !mask_valid(count->mask, &count->range) ||
	    (count->value & ~count->mask))
		return -EINVAL;
	memset(&count->matched, 0, sizeof(*count) - offsetof(struct wsquery_count, matched));
	return sink_walk(&sink.sink, ws, &count->range, count_run);
}

int wsq_fallback_request(const struct wsquery *ws, unsigned long number, void *request)
{
	switch (number) {
	case WSQUERY_IOC_INFO:
		return fallback_info(ws, request);
	case WSQUERY_IOC_PAGES:
		return fallback_pages(ws, request);
	case WSQUERY_IOC_REGIONS:
		return fallback_regions(ws, request);
	case WSQUERY_IOC_COUNT:
		return fallback_count(ws, request);
	case WSQUERY_IOC_LIST:
		return wsq_fallback_list(ws, request);
	default:
		return -ENOTTY;
	}
}
