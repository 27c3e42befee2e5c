// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How long QueryWorkingSetEx takes: anonymous and file memory, asked for in four
 * ways. A Windows program.
 *
 * query_working_set [PAGES [REPEATS [CALLS]]]
 *
 * PAGES (16384) of each kind are touched, and all are in one call but for "page by
 * page", which makes CALLS (2048) calls. A time is the shortest of REPEATS (5).
 */
#include <windows.h>
#include <psapi.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE	4096

static size_t pages = 16384, repeats = 5, calls = 2048;
static PSAPI_WORKING_SET_EX_INFORMATION *entries;
static double frequency;

static void fail(const char *what)
{
	fprintf(stderr, "query_working_set: %s failed: error %lu\n", what, GetLastError());
	exit(1);
}

static double now(void)
{
	LARGE_INTEGER counter;

	QueryPerformanceCounter(&counter);
	return counter.QuadPart * 1e9 / frequency;
}

static void query(PSAPI_WORKING_SET_EX_INFORMATION *entry, size_t count)
{
	if (!QueryWorkingSetEx(GetCurrentProcess(), entry, count * sizeof(*entry)))
		fail("QueryWorkingSetEx");
}

static char *anonymous_memory(void)
{
	char *memory = VirtualAlloc(NULL, pages * PAGE, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
	size_t i;

	if (!memory)
		fail("VirtualAlloc");
	for (i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
	return memory;
}

/* A file of its own on the prefix's disk, gone with the process. */
static char *file_memory(void)
{
	char directory[MAX_PATH], name[MAX_PATH], *memory;
	static char block[16 * PAGE];
	HANDLE file, section;
	DWORD written;
	size_t i;

	GetTempPathA(sizeof(directory), directory);
	if (!GetTempFileNameA(directory, "qws", 0, name))
		fail("GetTempFileName");
	file = CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
			   FILE_ATTRIBUTE_NORMAL | FILE_FLAG_DELETE_ON_CLOSE, NULL);
	if (file == INVALID_HANDLE_VALUE)
		fail("CreateFile");
	for (i = 0; i < pages; i += sizeof(block) / PAGE)
		if (!WriteFile(file, block, sizeof(block), &written, NULL))
			fail("WriteFile");
	section = CreateFileMappingA(file, NULL, PAGE_READONLY, 0, 0, NULL);
	memory = section ? MapViewOfFile(section, FILE_MAP_READ, 0, 0, pages * PAGE) : NULL;
	if (!memory)
		fail("MapViewOfFile");
	for (i = 0; i < pages; i++)
		(void)*(volatile char *)(memory + i * PAGE);
	return memory;
}

static void report(const char *kind, const char *way, double best, size_t count)
{
	printf("%s %-13s %10.3f ms %10.1f ns an entry\n", kind, way, best / 1e6, best / count);
}

/* Wrong answers must not win: all pages asked for are in memory. */
static void check(const char *way, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!entries[i].VirtualAttributes.Valid) {
			fprintf(stderr, "query_working_set: %s: entry %zu is not valid\n", way, i);
			exit(1);
		}
	}
}

static void in_one_call(const char *kind, const char *way, char *first, ptrdiff_t step,
			size_t count)
{
	double start, took, best = 1e300;
	size_t i, j;

	for (j = 0; j < repeats; j++) {
		for (i = 0; i < count; i++) {
			entries[i].VirtualAddress = first + (ptrdiff_t)i * step;
			entries[i].VirtualAttributes.Flags = 0;
		}
		start = now();
		query(entries, count);
		took = now() - start;
		if (took < best)
			best = took;
	}
	check(way, count);
	report(kind, way, best, count);
}

static void page_by_page(const char *kind, char *memory)
{
	double start, took, best = 1e300;
	size_t i, j;

	for (j = 0; j < repeats; j++) {
		for (i = 0; i < calls; i++)
			entries[i].VirtualAddress = memory + i * PAGE;
		start = now();
		for (i = 0; i < calls; i++)
			query(entries + i, 1);
		took = now() - start;
		if (took < best)
			best = took;
	}
	check("page by page", calls);
	report(kind, "page by page", best, calls);
}

static void region(const char *kind, char *memory)
{
	in_one_call(kind, "sequential", memory, PAGE, pages);
	in_one_call(kind, "reverse", memory + (pages - 1) * PAGE, -PAGE, pages);
	in_one_call(kind, "each second", memory, 2 * PAGE, pages / 2);
	page_by_page(kind, memory);
}

int main(int argc, char **argv)
{
	LARGE_INTEGER value;

	if (argc > 1)
		pages = strtoul(argv[1], NULL, 0);
	if (argc > 2)
		repeats = strtoul(argv[2], NULL, 0);
	if (argc > 3)
		calls = strtoul(argv[3], NULL, 0);
	if (pages < 2 || pages % 16 || !repeats || !calls || calls > pages) {
		fprintf(stderr, "Usage: query_working_set [PAGES [REPEATS [CALLS]]]\n"
			"PAGES is a multiple of 16, CALLS not more.\n");
		return 2;
	}
	QueryPerformanceFrequency(&value);
	frequency = value.QuadPart;
	entries = VirtualAlloc(NULL, pages * sizeof(*entries), MEM_COMMIT | MEM_RESERVE,
			       PAGE_READWRITE);
	if (!entries)
		fail("VirtualAlloc");
	printf("%zu pages, %zu calls page by page, minimum of %zu\n", pages, calls, repeats);
	region("anon", anonymous_memory());
	region("file", file_memory());
	return 0;
}
