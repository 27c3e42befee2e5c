// SPDX-License-Identifier: GPL-2.0
/*
 * Shared memory half of which was never written, a quarter is present and a quarter
 * is in swap, mixed at random, page by page. The kernel's own count of what is in
 * swap must agree before it is used.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

#define TRIES	100

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

/* Pages of the mapping at @start that are in swap, as smaps has it. */
static size_t smaps_swap(const void *start)
{
	unsigned long at, kb, found = 0;
	bool here = false;
	char line[512];
	FILE *smaps = fopen("/proc/self/smaps", "re");

	if (!smaps)
		die("no /proc/self/smaps");
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%*x ", &at) == 1 && strchr(line, '-'))
			here = at == (uintptr_t)start;
		else if (here && sscanf(line, "Swap: %lu kB", &kb) == 1)
			found = kb / (PAGE / 1024);
	}
	fclose(smaps);
	return found;
}

static void evict(const struct pop *pop)
{
	size_t i;

	for (i = 0; i < pop->pages; i++)
		if (pop->want[i] == SWAPPED)
			madvise(pop->start + i * PAGE, PAGE, MADV_PAGEOUT);
}

static bool have_swap(void)
{
	FILE *swaps = fopen("/proc/swaps", "re");
	char line[256];
	int lines = 0;

	while (swaps && fgets(line, sizeof(line), swaps))
		lines++;
	if (swaps)
		fclose(swaps);
	return lines > 1;
}

/* NULL if there is no swap. */
struct pop *pop_swapmix(size_t pages)
{
	size_t i, swapped = 0, is = 0;
	struct pop *pop;
	__u64 seed = 3;
	int tries;

	if (!have_swap()) {
		printf("There is no swap here: what needs it is left out.\n");
		return NULL;
	}
	pop = pop_reserve(pages);
	pop->shared = true;
	if (mmap(pop->start, pages * PAGE, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		die("cannot map %zu pages", pages);
	madvise(pop->start, pages * PAGE, MADV_NOHUGEPAGE);
	for (i = 0; i < pages; i++) {
		static const __u8 states[] = { HOLE, HOLE, PRESENT, SWAPPED };

		pop->want[i] = states[random_next(&seed) % ARRAY_SIZE(states)];
		swapped += pop->want[i] == SWAPPED;
	}
	pop_touch(pop);
	for (tries = 0; tries < TRIES && is != swapped; tries++) {
		if (tries)
			usleep(10000);
		evict(pop);
		is = smaps_swap(pop->start);
	}
	if (is != swapped)
		die("%zu of %zu pages are in swap", is, swapped);
	return pop;
}
