// SPDX-License-Identifier: GPL-2.0
/*
 * The library's answers without the device, in every form, about address spaces that the input
 * describes. They are compared with a model: of each page, what the interface's header says.
 * Input: numbers. The world prints its mappings as the kernel does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib.h"
#include "world.h"

#define VMAS	6
#define RUNS	24
#define PAGES	640

struct kind {
	const char *device;
	unsigned long inode;
	const char *name;
	uint64_t flags;
};

/* What mountinfo below says of them, and what it does not. */
static const struct kind kinds[] = {
	{ "00:00", 0, "", 0 },
	{ "00:00", 0, "[anon:name]", 0 },
	{ "00:01", 7, "/memfd:name (deleted)", WSQUERY_SHMEM },
	{ "00:01", 8, "/SYSV00000000 (deleted)", WSQUERY_SHMEM },
	{ "00:14", 9, "/tmp/a b", WSQUERY_SHMEM },
	{ "00:15", 10, "/dev/hugepages/a", WSQUERY_FILE | WSQUERY_HUGETLB },
	{ "00:16", 11, "/anon_hugepage (deleted)", WSQUERY_FILE | WSQUERY_HUGETLB },
	{ "08:01", 12, "/usr/bin/\\012", WSQUERY_FILE },
	{ "08:02", 13, "/unmounted", WSQUERY_FILE },
	{ "00:17", 14, "/dev/dax", WSQUERY_FILE },
	{ "00:17", 15, "/dev/shm/file", WSQUERY_SHMEM },
	{ "00:02", 16, "/root", WSQUERY_SHMEM },
};

static const char mounts[] =
	"21 1 0:20 / /tmp rw shared:1 - tmpfs - rw\n"
	"22 1 0:21 / /dev/hugepages rw - hugetlbfs none rw,pagesize=2M\n"
	"23 1 8:1 / /usr ro shared:3 master:4 - ext4 /dev/root rw\n"
	"24 1 0:23 / /dev rw - tmpfs udev rw\n"
	"25 1 0:2 / / rw - rootfs none rw\n";

static const unsigned char states[] = {
	0,
	PAGE_PRESENT,
	PAGE_PRESENT | PAGE_FILE,
	PAGE_PRESENT | PAGE_HUGE,
	PAGE_PRESENT | PAGE_FILE | PAGE_HUGE,
	PAGE_PRESENT | PAGE_ZERO,
	PAGE_SWAP,
	PAGE_SWAP | PAGE_FILE,
	PAGE_SWAP | PAGE_GUARD_PTE,
};

static struct {
	uint64_t start, end;
	const struct kind *kind;
	unsigned int perms;
} vmas[VMAS];
static unsigned int vma_count;

static uint64_t run_end[RUNS];
static unsigned int run_state[RUNS], run_count;
static uint64_t base;

static uint64_t state(uint64_t page, unsigned int *flags)
{
	unsigned int i;

	*flags = 0;
	if (page < base)
		return base;
	for (i = 0; i < run_count; i++) {
		if (page < run_end[i]) {
			*flags = run_state[i];
			return run_end[i];
		}
	}
	return UINT64_MAX;
}

static char *print_maps(void)
{
	char *text = malloc(VMAS * 128), *at = text;
	unsigned int i, p;

	*text = '\0';
	for (i = 0; i < vma_count; i++) {
		p = vmas[i].perms;
		at += sprintf(at, "%08llx-%08llx %c%c%c%c %08x %s %-20lu %s\n",
			      (unsigned long long)vmas[i].start << 12,
			      (unsigned long long)vmas[i].end << 12, p & 1 ? 'r' : '-',
			      p & 2 ? 'w' : '-', p & 4 ? 'x' : '-', p & 8 ? 's' : 'p', i << 12,
			      vmas[i].kind->device, vmas[i].kind->inode, vmas[i].kind->name);
	}
	return text;
}

/* What the header says of a page of a mapping. */
static uint64_t model(uint64_t page, bool scan)
{
	const uint64_t perms[] = { WSQUERY_READABLE, WSQUERY_WRITABLE, WSQUERY_EXECUTABLE,
				   WSQUERY_SHARED };
	unsigned int i, bit, seen;
	uint64_t flags, backed;

	for (i = 0; i < vma_count && !(page >= vmas[i].start && page < vmas[i].end); i++)
		;
	if (i == vma_count)
		return 0;
	state(page, &seen);
	backed = vmas[i].kind->flags & (WSQUERY_FILE | WSQUERY_SHMEM);
	flags = WSQUERY_MAPPED | vmas[i].kind->flags;
	for (bit = 0; bit < 4; bit++)
		if (vmas[i].perms & (1U << bit))
			flags |= perms[bit];
	if (seen & PAGE_SOFT_DIRTY)
		flags |= WSQUERY_SOFT_DIRTY;
	if (seen & PAGE_UFFD_WP)
		flags |= WSQUERY_UFFD_WP;
	if (seen & PAGE_GUARD_PTE && world.guards)
		return flags | WSQUERY_MARKER | WSQUERY_GUARD | WSQUERY_MARKER_GUARD;
	if (seen & PAGE_PRESENT) {
		flags |= WSQUERY_PRESENT;
		if (backed && !(flags & WSQUERY_SHARED) && !(seen & PAGE_FILE))
			flags |= WSQUERY_COPY;
		if ((scan && seen & PAGE_HUGE) || flags & WSQUERY_HUGETLB)
			flags |= WSQUERY_HUGE;
		if (scan && seen & PAGE_ZERO)
			flags |= WSQUERY_ZERO;
	} else if (seen & PAGE_SWAP && !(seen & PAGE_FILE) && !(flags & WSQUERY_SHARED)) {
		flags |= WSQUERY_SWAPPED | (backed ? WSQUERY_COPY : 0);
	} else if (seen & PAGE_SWAP || backed) {
		flags |= WSQUERY_NOT_TOLD;
	}
	return flags;
}

struct question {
	struct wsquery ws;
	uint64_t page, pages;	/* the range */
	uint64_t attrs, select;
	uint64_t capacity;
	uint64_t *want;		/* of each page, with these attributes */
	uint64_t not_told;
	uint64_t shuffle;
};

static void ask_pages(const struct question *q)
{
	uint64_t *words = malloc(q->pages * sizeof(*words));
	uint8_t *bytes = malloc(q->pages);
	struct wsquery_progress progress;
	uint64_t i;

	CHECK(!wsquery_get_pages(&q->ws, q->page << 12, q->pages << 12, q->attrs, words,
				 &progress));
	CHECK(progress.done == q->pages << 12 && progress.not_told == q->not_told);
	CHECK(!memcmp(words, q->want, q->pages * sizeof(*words)));
	CHECK(!wsquery_get_states(&q->ws, q->page << 12, q->pages << 12, bytes, NULL));
	for (i = 0; i < q->pages; i++)
		CHECK(bytes[i] == (q->want[i] & WSQUERY_STATE_MASK));
	free(words);
	free(bytes);
}

static void ask_regions(const struct question *q)
{
	struct wsquery_cursor cursor = {
		.start = q->page << 12, .length = q->pages << 12,
		.attrs = q->attrs, .select = q->select,
	};
	struct wsquery_region *regions = malloc(q->capacity * sizeof(*regions));
	uint64_t page = q->page, end = q->page + q->pages;
	ssize_t count, i;

	do {
		count = wsquery_get_regions(&q->ws, &cursor, regions, q->capacity);
		CHECK(count >= 0 && count <= (ssize_t)q->capacity);
		for (i = 0; i <= count; i++) {
			uint64_t start = i < count ? regions[i].start >> 12 : cursor.start >> 12;

			/* What is between two regions is not mapped or not selected. */
			CHECK(start >= page && start <= end);
			for (; page < start; page++)
				CHECK(!q->want[page - q->page] ||
				      (q->select && !(q->want[page - q->page] & q->select)));
			if (i == count)
				break;
			CHECK(regions[i].end > regions[i].start && regions[i].end >> 12 <= end);
			for (; page < regions[i].end >> 12; page++)
				CHECK(q->want[page - q->page] == regions[i].flags);
		}
	} while (count);
	CHECK(page == end && !cursor.length && cursor.not_told == q->not_told);
	free(regions);
}

static void ask_count(const struct question *q)
{
	struct wsquery_count count = {
		.range = { .start = q->page << 12, .length = q->pages << 12, .attrs = q->attrs },
		.mask = q->select, .value = q->select & q->shuffle,
	}, want = count;
	uint64_t i, flags;

	for (i = 0; i < q->pages; i++) {
		flags = q->want[i];
		if (!(flags & WSQUERY_MAPPED))
			continue;
		want.mapped++;
		want.matched += (flags & want.mask) == want.value;
		want.present += !!(flags & WSQUERY_PRESENT);
		want.swapped += !!(flags & WSQUERY_SWAPPED);
		want.shmem_present += flags & WSQUERY_PRESENT && flags & WSQUERY_SHMEM;
		want.file_present += flags & WSQUERY_PRESENT && flags & WSQUERY_FILE;
		want.huge += !!(flags & WSQUERY_HUGE);
		want.marker += !!(flags & WSQUERY_MARKER);
	}
	CHECK(!wsquery_get_count(&q->ws, &count));
	want.range.size = sizeof(want);
	want.range.done = q->pages << 12;
	want.range.not_told = q->not_told;
	CHECK(!memcmp(&count, &want, sizeof(count)));
}

static void ask_list(const struct question *q)
{
	size_t count = q->pages < 300 ? q->pages : 300, i;
	struct wsquery_entry *entries = malloc(count * sizeof(*entries));
	struct wsquery_progress progress;
	uint64_t page, not_told = 0, one = 0;

	for (i = 0; i < count; i++) {
		page = (i * (q->shuffle | 1)) % q->pages;
		entries[i].address = ((q->page + page) << 12) + (q->shuffle & 4095);
		entries[i].flags = ~0ULL;
	}
	CHECK(!wsquery_get_list(&q->ws, entries, count, q->attrs, &progress));
	for (i = 0; i < count; i++) {
		page = (i * (q->shuffle | 1)) % q->pages;
		CHECK(entries[i].address == ((q->page + page) << 12) + (q->shuffle & 4095));
		CHECK(entries[i].flags == q->want[page]);
		not_told += model(q->page + page, q->ws.backend == WSQUERY_BACKEND_SCAN) &
			    WSQUERY_NOT_TOLD ? 1 : 0;
	}
	CHECK(progress.done == count && progress.not_told == not_told);
	CHECK(!wsquery_get_one(&q->ws, q->page << 12, q->attrs, &one));
	CHECK(one == q->want[0]);
	free(entries);
}

static void ask(struct question *q)
{
	bool scan = q->ws.backend == WSQUERY_BACKEND_SCAN;
	uint64_t i, flags;

	q->not_told = 0;
	for (i = 0; i < q->pages; i++) {
		flags = model(q->page + i, scan);
		q->not_told += !!(flags & WSQUERY_NOT_TOLD);
		q->want[i] = flags & (WSQUERY_STATE_MASK | q->attrs);
	}
	ask_pages(q);
	ask_regions(q);
	ask_count(q);
	ask_list(q);
}

/* Requests that the device refuses are refused. */
static void ask_wrong(const struct question *q)
{
	uint64_t one = 0;

	CHECK(wsquery_get_pages(&q->ws, 1, 4096, 0, &one, NULL) == -EINVAL);
	CHECK(wsquery_get_pages(&q->ws, -4096ULL, 8192, 0, &one, NULL) == -EINVAL);
	CHECK(wsquery_get_pages(&q->ws, 4096, 4096, 1ULL << 63, &one, NULL) == -EINVAL);
	CHECK(wsquery_get_pages(&q->ws, 4096, 4096, 0, NULL, NULL) == -EFAULT);
	CHECK(!one);
}

static void make_space(struct input *input)
{
	/* The lowest pages, those below the end of 47 and of 57 bits, and the highest. */
	static const uint64_t bases[] = { 16, 0x400000, (1ULL << 35) - 900, (1ULL << 45) - 700,
					  (1ULL << 52) - PAGES - 300 };
	uint64_t page;

	base = bases[input_number(input, 1) % ARRAY_SIZE(bases)];
	page = base;
	vma_count = input_number(input, 1) % (VMAS + 1);
	for (unsigned int i = 0; i < vma_count; i++) {
		page += input_number(input, 1) % 50;
		vmas[i].start = page;
		page += 1 + input_number(input, 1) % 100;
		vmas[i].end = page;
		vmas[i].kind = &kinds[input_number(input, 1) % ARRAY_SIZE(kinds)];
		vmas[i].perms = input_number(input, 1);
	}
	run_count = input_number(input, 1) % (RUNS + 1);
	page = base;
	for (unsigned int i = 0; i < run_count; i++) {
		uint64_t number = input_number(input, 2);

		page += 1 + (number & 63);
		run_end[i] = page;
		run_state[i] = states[(number >> 6) % ARRAY_SIZE(states)];
		run_state[i] |= number & 0x8000 ? PAGE_SOFT_DIRTY : 0;
		if (run_state[i] & PAGE_PRESENT && number & 0x4000)
			run_state[i] |= PAGE_UFFD_WP;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	uint64_t how = input_number(&input, 3), choice, known;
	struct question q = { .ws = { .device = -1, .target = WSQ_SELF, .proc = WSQ_SELF } };
	char *maps;

	make_space(&input);
	maps = print_maps();
	world = (struct world){
		.on = true, .maps = maps, .maps_size = strlen(maps),
		.mounts = mounts, .mounts_size = sizeof(mounts) - 1,
		.state = state, .scan = true, .guards = true, .budget = 100000,
		.chunk = how & 0xff ? (how & 0xff) + 16 : 0,
		.interrupt = how & 0xff00 ? (how >> 8 & 0xff) + 1 : 0,
	};
	q.page = base - 16 + input_number(&input, 1);
	q.pages = 1 + input_number(&input, 2) % PAGES;
	q.capacity = 1 + input_number(&input, 1);
	q.shuffle = input_number(&input, 2);
	choice = input_number(&input, 4);
	q.want = malloc(q.pages * sizeof(*q.want));
	known = wsq_known_bits();
	q.attrs = choice & known & ~WSQUERY_STATE_MASK;
	if (how >> 16 & 1)
		q.attrs = known & ~WSQUERY_STATE_MASK;
	q.select = input_number(&input, 4) & (WSQUERY_STATE_MASK | q.attrs);

	for (q.ws.backend = WSQUERY_BACKEND_SCAN; q.ws.backend <= WSQUERY_BACKEND_PAGEMAP;
	     q.ws.backend++) {
		q.ws.guards = world.guards;
		ask(&q);
	}
	ask_wrong(&q);
	world.on = false;
	free(q.want);
	free(maps);
	return 0;
}
