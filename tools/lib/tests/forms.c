// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The C API: every form gives the same answer in its own shape, and errors are
 * those that the headers say.
 */
#define _GNU_SOURCE
#include "memory.h"

#define PAGES	600
#define ATTRS	(WSQUERY_READABLE | WSQUERY_EXECUTABLE | WSQUERY_SHARED | WSQUERY_COPY | \
		 WSQUERY_SOFT_DIRTY | WSQUERY_NOT_TOLD)

static char *memory;		/* private, hole, shared */
static uint64_t start, length;
static uint64_t words[PAGES];

static void layout_make(void)
{
	size_t i;

	memory = map_private(PAGES);
	munmap(memory + 200 * PAGE, 100 * PAGE);
	mmap(memory + 300 * PAGE, 300 * PAGE, PROT_READ | PROT_WRITE,
	     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	madvise(memory + 300 * PAGE, 300 * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < PAGES; i++)
		if ((i < 100 || (i >= 300 && i < 400) || i % 3 == 0) && (i < 200 || i >= 300))
			touch_write(memory + i * PAGE);
	start = address_of(memory);
	length = PAGES * PAGE;
}

static bool expected(size_t i, uint64_t flags)
{
	bool touched = i < 100 || (i >= 300 && i < 400) || i % 3 == 0;
	bool mapped = i < 200 || i >= 300;
	uint64_t shared = WSQUERY_SHMEM | WSQUERY_SHARED;

	if (!mapped)
		return !flags;
	return (flags & WSQUERY_MAPPED) && (flags & WSQUERY_WRITABLE) &&
	       !!(flags & WSQUERY_PRESENT) == touched && (flags & WSQUERY_READABLE) &&
	       (flags & shared) == (i < 200 ? 0 : shared) && !(flags & WSQUERY_FILE) &&
	       !(flags & (WSQUERY_COPY | WSQUERY_EXECUTABLE));
}

static void pages_forms(void)
{
	struct wsquery_progress progress;
	uint8_t states[PAGES];
	size_t i, wrong = 0;

	memset(words, POISON, sizeof(words));
	memset(states, POISON, sizeof(states));
	ok(!wsquery_get_pages(NULL, start, length, ATTRS, words, &progress), "wide pages");
	ok(progress.done == length, "all of them");
	for (i = 0; i < PAGES; i++)
		if (!expected(i, words[i]) && !wrong++)
			printf("# page %zu: %llx\n", i, (unsigned long long)words[i]);
	ok(!wrong, "as made");
	ok(is_device() ? !progress.not_told : progress.not_told > 100, "not told: %llu",
	   (unsigned long long)progress.not_told);
	ok(!wsquery_get_states(NULL, start, length, states, NULL), "byte pages");
	for (i = 0; i < PAGES; i++)
		wrong += states[i] != (words[i] & WSQUERY_STATE_MASK);
	ok(!wrong, "the same states");
	ok(!wsquery_get_states(NULL, start, 0, NULL, &progress) && !progress.done, "no pages");
}

static void list_forms(void)
{
	struct wsquery_entry entries[PAGES];
	struct wsquery_progress progress;
	size_t i, wrong = 0;
	uint64_t flags;

	memset(entries, POISON, sizeof(entries));
	for (i = 0; i < PAGES; i++)
		entries[i].address = start + (i * 7 % PAGES) * PAGE + i;
	ok(!wsquery_get_list(NULL, entries, PAGES, ATTRS, &progress) && progress.done == PAGES,
	   "list");
	for (i = 0; i < PAGES; i++)
		wrong += entries[i].flags != words[i * 7 % PAGES];
	ok(!wrong, "the same flags");
	for (i = 0; i < PAGES; i++) {
		flags = 0;
		wrong += wsquery_get_one(NULL, start + i * PAGE + 5, ATTRS, &flags);
		wrong += flags != words[i];
	}
	ok(!wrong, "one by one: the same flags");
	ok(!wsquery_get_one(NULL, -1ULL, ATTRS, &flags) && !flags, "the highest address");
	ok(!wsquery_get_list(NULL, entries, 0, 0, NULL), "an empty list");
	ok(wsquery_get_list(NULL, NULL, 1, 0, &progress) == -EFAULT && !progress.done,
	   "no list: -EFAULT");
	ok(wsquery_get_list(NULL, (void *)((char *)entries + 1), 1, 0, NULL) == -EINVAL,
	   "misaligned list: -EINVAL");
}

struct flat {
	size_t wrong, regions;
	uint64_t next, last;
};

/* Spread regions out over pages again; what no region covers must be unmapped. */
static int flat_region(const struct wsquery_region *region, void *arg)
{
	struct flat *flat = arg;
	uint64_t at;

	for (at = flat->next; at < region->start; at += PAGE)
		flat->wrong += words[(at - start) / PAGE] != 0;
	for (; at < region->end; at += PAGE)
		flat->wrong += words[(at - start) / PAGE] != region->flags;
	flat->wrong += flat->next == region->start && flat->last == region->flags;
	flat->next = region->end;
	flat->last = region->flags;
	flat->regions++;
	return 0;
}

static int stop_region(const struct wsquery_region *region, void *arg)
{
	return region == arg ? 0 : 42;
}

static void regions_forms(void)
{
	struct wsquery_cursor cursor = { .start = start, .length = length, .attrs = ATTRS };
	struct flat flat = { .next = start }, few = { .next = start };
	struct wsquery_region region;
	size_t present = 0;
	ssize_t got;

	ok(!wsquery_for_each_region(NULL, &cursor, flat_region, &flat), "regions");
	ok(!flat.wrong && flat.next == start + length && !cursor.length, "the same flags");
	ok(flat.regions > 100, "%zu of them, none like its neighbour", flat.regions);

	cursor = (struct wsquery_cursor){ .start = start, .length = length, .attrs = ATTRS };
	while ((got = wsquery_get_regions(NULL, &cursor, &region, 1)) == 1) {
		few.last = 0;
		flat_region(&region, &few);
	}
	ok(!got && !few.wrong && few.next == start + length, "one at a time");

	cursor = (struct wsquery_cursor){ .start = start, .length = length,
					  .select = WSQUERY_PRESENT };
	while ((got = wsquery_get_regions(NULL, &cursor, &region, 1)) == 1) {
		present += (region.end - region.start) / PAGE;
		if (!(region.flags & WSQUERY_PRESENT) || (region.flags & ~WSQUERY_STATE_MASK))
			ok(false, "selected: %llx", (unsigned long long)region.flags);
	}
	ok(!got && present == 100 + 33 + 100 + 66, "only present ones: %zu", present);

	cursor = (struct wsquery_cursor){ .start = start, .length = length };
	ok(wsquery_for_each_region(NULL, &cursor, stop_region, NULL) == 42, "stopped");
	cursor = (struct wsquery_cursor){ .length = -4096ULL };
	got = wsquery_get_regions(NULL, &cursor, &region, 1);
	ok(got == 1 && (region.flags & WSQUERY_MAPPED), "the whole address space");
	cursor = (struct wsquery_cursor){ .start = start, .length = length };
	ok(wsquery_get_regions(NULL, &cursor, &region, 0) == -EINVAL, "no room: -EINVAL");
	cursor.flags = WSQUERY_SHARED_ONLY;
	ok(wsquery_get_regions(NULL, &cursor, &region, 1) == 1, "a flag");
	cursor.flags = WSQUERY_TARGET_FD;
	ok(wsquery_get_regions(NULL, &cursor, &region, 1) == -EINVAL, "a wrong flag: -EINVAL");
	cursor.flags = 0;
	cursor.select = WSQUERY_ZERO;
	ok(wsquery_get_regions(NULL, &cursor, &region, 1) == -EINVAL,
	   "select what was not asked for: -EINVAL");
}

static void count_forms(void)
{
	struct wsquery_count count = {
		.range = { .start = start, .length = length, .attrs = WSQUERY_SHARED },
		.mask = WSQUERY_SHARED | WSQUERY_PRESENT,
		.value = WSQUERY_PRESENT,
	};

	ok(!wsquery_get_count(NULL, &count), "count");
	ok(count.range.done == length && count.mapped == PAGES - 100, "mapped: %llu",
	   (unsigned long long)count.mapped);
	ok(count.present == 100 + 33 + 100 + 66, "present: %llu",
	   (unsigned long long)count.present);
	ok(count.shmem_present == 100 + 66 && !count.file_present && !count.swapped &&
	   !count.shmem_swapped && !count.marker && !count.huge, "of shared memory");
	ok(count.matched == 100 + 33, "private and present: %llu",
	   (unsigned long long)count.matched);
	memset(&count, 0, sizeof(count));
	count.range.start = start;
	count.range.length = length;
	count.value = WSQUERY_PRESENT;
	ok(wsquery_get_count(NULL, &count) == -EINVAL, "value outside mask: -EINVAL");
}

static void bad_ranges(void)
{
	uint8_t state = POISON;
	uint64_t word;

	ok(wsquery_get_states(NULL, start + 1, PAGE, &state, NULL) == -EINVAL &&
	   wsquery_get_states(NULL, start, PAGE + 1, &state, NULL) == -EINVAL,
	   "not pages: -EINVAL");
	ok(wsquery_get_states(NULL, -(uint64_t)PAGE, 2 * PAGE, &state, NULL) == -EINVAL,
	   "past the end: -EINVAL");
	ok(state == POISON, "nothing was written");
	ok(!wsquery_get_states(NULL, -(uint64_t)PAGE, PAGE, &state, NULL) && !state,
	   "up to the end");
	ok(wsquery_get_pages(NULL, start, PAGE, 1ULL << 63, &word, NULL) == -EINVAL &&
	   wsquery_get_pages(NULL, start, PAGE, WSQUERY_PRESENT, &word, NULL) == -EINVAL,
	   "unknown attributes: -EINVAL");
	ok(wsquery_get_states(NULL, start, PAGE, NULL, NULL) == -EFAULT, "no array: -EFAULT");
}

static void info(void)
{
	struct wsquery_info info;
	struct wsquery_page place;
	int err;

	memset(&info, POISON, sizeof(info));
	ok(!wsquery_get_info(NULL, &info) && info.page_size == PAGE, "info");
	ok(is_device() == (info.version == WSQUERY_VERSION), "version %u", info.version);
	ok(!wsquery_get_pages(NULL, start, PAGE, info.attrs, words, NULL),
	   "all attributes listed are accepted");
	ok((wsquery_tells(NULL) & WSQUERY_MAPPED) && (wsquery_tells(NULL) & WSQUERY_SHARED),
	   "what the backend tells: %llx", (unsigned long long)wsquery_tells(NULL));
	err = wsquery_get_swap(NULL, start, PAGE, 0, &place, NULL);
	if (!is_device())
		ok(err == -EOPNOTSUPP, "swap locations: only with the device");
	else if (!geteuid())
		ok(!err && (place.flags & WSQUERY_PRESENT) && !place.swap, "swap locations");
	else
		ok(err == -EPERM, "swap locations: -EPERM");
}

int main(void)
{
	need_backend();
	layout_make();
	pages_forms();
	list_forms();
	regions_forms();
	count_forms();
	bad_ranges();
	info();
	return tap_done();
}
