// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arrays in every order: the answers belong to the addresses, not to the places.
 */
#define _GNU_SOURCE
#include <queryworkingsetex.h>

#include "memory.h"

typedef PSAPI_WORKING_SET_EX_INFORMATION entry_t;

#define ANON_PAGES	1500
#define SHMEM_PAGES	700
#define FILE_PAGES	300
#define PAGES		(ANON_PAGES + SHMEM_PAGES + FILE_PAGES)

static char *pages[PAGES];
static bool touched[PAGES];
static ULONG_PTR words[PAGES];

static entry_t *array;
static unsigned int *which;
static size_t count;

static unsigned int seed = 1;

static unsigned int random_below(unsigned int limit)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % limit;
}

static void layout_make(void)
{
	const char *directory = disk_directory();
	int fd = directory ? file_in(directory, FILE_PAGES) : -1;
	char *anon = map_private(ANON_PAGES), *shmem = map_shared(SHMEM_PAGES);
	char *file = fd < 0 ? map_private(FILE_PAGES) :
			      map_with(FILE_PAGES, PROT_READ, MAP_PRIVATE, fd);
	int i;

	/* Reading the file in one place must not map its neighbours. */
	madvise(file, FILE_PAGES * PAGE, MADV_RANDOM);
	for (i = 0; i < PAGES; i++) {
		if (i < ANON_PAGES)
			pages[i] = anon + i * PAGE;
		else if (i < ANON_PAGES + SHMEM_PAGES)
			pages[i] = shmem + (i - ANON_PAGES) * PAGE;
		else
			pages[i] = file + (i - ANON_PAGES - SHMEM_PAGES) * PAGE;
		touched[i] = !random_below(3) || (i > 200 && i < 900);
	}
	/* A hole in the middle of the range. */
	for (i = 400; i < 450; i++)
		touched[i] = false;
	for (i = 0; i < PAGES - FILE_PAGES; i++)
		if (touched[i])
			touch_write(pages[i]);
	/* Pages of the file are mapped around a fault, so ask for one run only. */
	for (; i < PAGES; i++)
		touched[i] = fd >= 0;
	if (fd >= 0)
		madvise(file, FILE_PAGES * PAGE, 22 /* MADV_POPULATE_READ */);
	munmap(pages[400], 50 * PAGE);
}

static void word_check(size_t i)
{
	unsigned int valid = words[i] & 1, shared = words[i] >> 15 & 1;
	unsigned int expected = i >= ANON_PAGES;

	if (valid != touched[i] || (i < ANON_PAGES + SHMEM_PAGES && shared != expected))
		ok(false, "page %zu: %lx", i, (unsigned long)words[i]);
}

static void truth_learn(void)
{
	entry_t entry;
	size_t i;

	for (i = 0; i < PAGES; i++) {
		memset(&entry, POISON, sizeof(entry));
		entry.VirtualAddress = pages[i];
		if (!QueryWorkingSetEx(GetCurrentProcess(), &entry, sizeof(entry)))
			ok(false, "page %zu: error %u", i, GetLastError());
		words[i] = entry.VirtualAttributes.Flags;
		word_check(i);
	}
	ok(true, "page by page");
}

static void array_add(unsigned int page)
{
	memset(&array[count], POISON, sizeof(*array));
	array[count].VirtualAddress = pages[page] + random_below(PAGE);
	which[count++] = page;
}

static void array_ask(const char *what)
{
	size_t i, wrong = 0;

	ok(QueryWorkingSetEx(GetCurrentProcess(), array, count * sizeof(*array)),
	   "%s: %zu entries", what, count);
	for (i = 0; i < count; i++) {
		char *address = array[i].VirtualAddress;

		if (array[i].VirtualAttributes.Flags != words[which[i]] ||
		    address < pages[which[i]] || address >= pages[which[i]] + PAGE) {
			if (!wrong++)
				printf("# entry %zu, page %u: %lx, is %lx\n", i, which[i],
				       (unsigned long)words[which[i]],
				       (unsigned long)array[i].VirtualAttributes.Flags);
		}
	}
	ok(!wrong, "%s: the same as page by page", what);
	count = 0;
}

static void patterns(void)
{
	unsigned int step;
	int i;

	for (i = 0; i < PAGES; i++)
		array_add(i);
	array_ask("sequential");
	for (i = PAGES - 1; i >= 0; i--)
		array_add(i);
	array_ask("reversed");
	for (step = 2; step <= 4; step += 2) {
		for (i = 0; i < PAGES; i += step)
			array_add(i);
		array_ask(step == 2 ? "every second" : "every fourth");
	}
	for (i = 0; i < 3 * PAGES; i++)
		array_add(random_below(PAGES));
	array_ask("random");
	for (i = 0; i < PAGES; i++) {
		array_add(i / 10);
		array_add(PAGES - 1 - i / 10);
	}
	array_ask("duplicated");
	for (i = 0; i < 1000; i++)
		array_add(i & 1 ? i : PAGES - 1 - i);
	array_ask("from both ends");
	for (i = 0; i < 257; i++)
		array_add(255);
	array_ask("one page 257 times");
}

/* Addresses that no process has, scattered among others. */
static void strangers(void)
{
	static const intptr_t odd[] = { -1, 0, -4096, -4095, 1, 4095, -65536,
#ifdef __LP64__
		0x7ffffffff000, 0x800000000000, -0x800000000000, 0x123456789abcdef0,
#endif
	};
	size_t i, n, kinds = sizeof(odd) / sizeof(odd[0]), wrong = 0;

	for (i = 0; i < 2000; i++) {
		array_add(random_below(PAGES));
		if (i % 3 == 0)
			array[count - 1].VirtualAddress = (void *)odd[i / 3 % kinds];
	}
	n = count;
	count = 0;
	ok(QueryWorkingSetEx(GetCurrentProcess(), array, n * sizeof(*array)),
	   "unmapped and highest addresses among others");
	for (i = 0; i < n; i++) {
		ULONG_PTR word = array[i].VirtualAttributes.Flags;

		if (i % 3 == 0)
			wrong += word || array[i].VirtualAddress != (void *)odd[i / 3 % kinds];
		else
			wrong += word != words[which[i]];
	}
	ok(!wrong, "are 0, and the others as before");
}

int main(void)
{
	need_backend();
	array = malloc(4 * PAGES * sizeof(*array));
	which = malloc(4 * PAGES * sizeof(*which));
	/* All of it in memory now, so that no fault changes anything later. */
	memset(array, 0, 4 * PAGES * sizeof(*array));
	layout_make();
	truth_learn();
	patterns();
	strangers();
	return tap_done();
}
