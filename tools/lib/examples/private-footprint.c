// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The private footprint of the calling process: the pages that are in memory and
 * not shared, over all that is mapped, in batches of fixed size.
 *
 * The demonstration writes MEGABYTES (64) of private memory between two sums.
 */
#include <queryworkingsetex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wsquery.h>

#define BATCH	1024

static PSAPI_WORKING_SET_EX_INFORMATION batch[BATCH];
static size_t page_size;

static int add_region(const struct wsquery_region *region, void *arg)
{
	size_t *pages = arg;
	size_t count, i;
	uint64_t at;

	for (at = region->start; at < region->end; at += count * page_size) {
		count = (region->end - at) / page_size;
		count = count < BATCH ? count : BATCH;
		for (i = 0; i < count; i++)
			batch[i].VirtualAddress = (void *)(uintptr_t)(at + i * page_size);
		if (!QueryWorkingSetEx(GetCurrentProcess(), batch, count * sizeof(*batch)))
			return 1;
		for (i = 0; i < count; i++)
			*pages += batch[i].VirtualAttributes.Valid &&
				  !batch[i].VirtualAttributes.Shared;
	}
	return 0;
}

static size_t private_footprint(void)
{
	struct wsquery_cursor cursor = { .length = UINTPTR_MAX - (page_size - 1),
					 .select = WSQUERY_PRESENT };
	size_t pages = 0;

	if (wsquery_for_each_region(NULL, &cursor, add_region, &pages))
		exit(1);
	return pages * page_size;
}

int main(int argc, char **argv)
{
	size_t length = (argc > 1 ? strtoul(argv[1], NULL, 0) : 64) << 20;
	size_t at, before, after;
	char *memory;

	page_size = sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	/* The first sum touches what summing itself needs. */
	private_footprint();
	before = private_footprint();
	for (at = 0; at < length; at += page_size)
		memory[at] = 1;
	after = private_footprint();
	printf("%zu bytes before, %zu after, %zu more\n", before, after, after - before);
	return after - before != length;
}
