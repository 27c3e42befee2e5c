// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The memory of another process, page by page, as process viewers scan it: 256
 * entries a call over all that is mapped. Without a PID the demonstration scans
 * a child of its own.
 */
#include <queryworkingsetex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wsquery.h>

#define BATCH	256

static PSAPI_WORKING_SET_EX_INFORMATION batch[BATCH];
static unsigned long valid, shared, pagefile, pages;
static size_t page_size;

static int scan_region(const struct wsquery_region *region, void *process)
{
	size_t count, i;
	uint64_t at;

	for (at = region->start; at < region->end; at += count * page_size) {
		count = (region->end - at) / page_size;
		count = count < BATCH ? count : BATCH;
		for (i = 0; i < count; i++)
			batch[i].VirtualAddress = (void *)(uintptr_t)(at + i * page_size);
		if (!QueryWorkingSetEx(process, batch, count * sizeof(*batch)))
			return 1;
		for (i = 0; i < count; i++) {
			PSAPI_WORKING_SET_EX_BLOCK *block = &batch[i].VirtualAttributes;

			valid += block->Valid;
			shared += block->Valid && block->Shared;
			pagefile += !block->Valid && block->Invalid.Location == 2;
		}
		pages += count;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct wsquery_cursor cursor = { .length = UINTPTR_MAX & ~0xffffUL };
	pid_t pid = argc > 1 ? atoi(argv[1]) : fork();
	struct wsquery *ws;
	HANDLE process;
	int failed;

	if (!pid)
		pause();
	page_size = sysconf(_SC_PAGESIZE);
	process = OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, pid);
	if (!process || wsquery_open_pid(&ws, pid, WSQUERY_BACKEND_ANY)) {
		fprintf(stderr, "cannot open %d: error %u\n", pid, GetLastError());
		return 1;
	}
	failed = wsquery_for_each_region(ws, &cursor, scan_region, process);
	printf("%lu pages mapped, %lu in memory, %lu of them shared, %lu in the pagefile\n", pages,
	       valid, shared, pagefile);
	wsquery_close(ws);
	CloseHandle(process);
	if (argc < 2) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return failed || !valid;
}
