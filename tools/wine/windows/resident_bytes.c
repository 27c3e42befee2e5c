// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counts the resident bytes of a large allocation as browsers do: ascending pages,
 * 2048 entries a call, the sum of those that are valid. A Windows program.
 *
 * resident_bytes [MEBIBYTES]
 *
 * Of MEBIBYTES (1024) the first half is touched, up to where a huge page would end,
 * so that exactly what was touched is there. Prints what was counted and how long it
 * took, the shortest of three times.
 */
#include <windows.h>
#include <psapi.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE	4096
#define BATCH	2048
#define HUGE_PAGE	(2 << 20)

static size_t count_resident(char *start, size_t size)
{
	static PSAPI_WORKING_SET_EX_INFORMATION entries[BATCH];
	size_t pages = size / PAGE, total = 0, i, n;

	for (; pages; pages -= n, start += n * PAGE) {
		n = pages < BATCH ? pages : BATCH;
		for (i = 0; i < n; i++)
			entries[i].VirtualAddress = start + i * PAGE;
		if (!QueryWorkingSetEx(GetCurrentProcess(), entries, n * sizeof(*entries))) {
			fprintf(stderr, "QueryWorkingSetEx: error %lu\n", GetLastError());
			exit(1);
		}
		for (i = 0; i < n; i++)
			total += entries[i].VirtualAttributes.Valid * PAGE;
	}
	return total;
}

int main(int argc, char **argv)
{
	size_t size = (argc > 1 ? strtoul(argv[1], NULL, 0) : 1024) << 20, touched, total = 0, i;
	LARGE_INTEGER frequency, start, end;
	LONGLONG best = MAXLONGLONG;
	char *memory;

	memory = VirtualAlloc(NULL, size, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
	if (!memory) {
		fprintf(stderr, "VirtualAlloc: error %lu\n", GetLastError());
		return 1;
	}
	touched = size / 2 - ((ULONG_PTR)memory + size / 2) % HUGE_PAGE;
	for (i = 0; i < touched; i += PAGE)
		memory[i] = 1;
	QueryPerformanceFrequency(&frequency);
	for (i = 0; i < 3; i++) {
		QueryPerformanceCounter(&start);
		total = count_resident(memory, size);
		QueryPerformanceCounter(&end);
		if (end.QuadPart - start.QuadPart < best)
			best = end.QuadPart - start.QuadPart;
	}
	printf("%zu of %zu pages resident, %zu touched, %.3f ms\n", total / PAGE, size / PAGE,
	       touched / PAGE, best * 1e3 / frequency.QuadPart);
	return total == touched ? 0 : 1;
}
