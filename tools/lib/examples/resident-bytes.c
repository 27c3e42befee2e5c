// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How much of a range is in memory: the counter of a browser's memory dump,
 * which asks about ascending pages, 2048 a call, and sums one bit.
 *
 * The demonstration maps MEGABYTES (16), writes every second page and counts.
 */
#include <queryworkingsetex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BATCH	2048

static size_t resident_bytes(char *start, size_t length)
{
	static PSAPI_WORKING_SET_EX_INFORMATION batch[BATCH];
	size_t page_size = sysconf(_SC_PAGESIZE);
	size_t count, i, resident = 0;

	while (length) {
		count = length / page_size < BATCH ? length / page_size : BATCH;
		for (i = 0; i < count; i++)
			batch[i].VirtualAddress = start + i * page_size;
		if (!QueryWorkingSetEx(GetCurrentProcess(), batch, count * sizeof(*batch))) {
			fprintf(stderr, "QueryWorkingSetEx: error %u\n", GetLastError());
			exit(1);
		}
		for (i = 0; i < count; i++)
			resident += batch[i].VirtualAttributes.Valid;
		start += count * page_size;
		length -= count * page_size;
	}
	return resident * page_size;
}

int main(int argc, char **argv)
{
	size_t length = (argc > 1 ? strtoul(argv[1], NULL, 0) : 16) << 20;
	size_t page_size = sysconf(_SC_PAGESIZE);
	size_t at, resident;
	char *memory;

	memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, length, MADV_NOHUGEPAGE);
	for (at = 0; at < length; at += 2 * page_size)
		memory[at] = 1;
	resident = resident_bytes(memory, length);
	printf("%zu of %zu bytes are resident\n", resident, length);
	return resident != length / 2;
}
