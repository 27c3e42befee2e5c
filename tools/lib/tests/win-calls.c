// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls and errors of the Windows side, row by row: QueryWorkingSetEx,
 * NtQueryVirtualMemory, handles. Each row runs twice, since a second call from
 * the same page may take a shorter way.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <queryworkingsetex.h>
#include <signal.h>
#include <sys/wait.h>

#include "memory.h"

typedef PSAPI_WORKING_SET_EX_INFORMATION entry_t;

#define NO_ERROR_YET	4711

static void fails(HANDLE process, void *array, DWORD size, DWORD error, const char *what)
{
	BOOL answer;

	SetLastError(NO_ERROR_YET);
	answer = QueryWorkingSetEx(process, array, size);
	ok(!answer && GetLastError() == error, "%s: FALSE, error %u, is %d, %u", what, error,
	   answer, GetLastError());
	SetLastError(NO_ERROR_YET);
	answer = K32QueryWorkingSetEx(process, array, size);
	ok(!answer && GetLastError() == error, "%s: the K32 name says so too", what);
}

static void length_rows(void)
{
	entry_t entries[3], before[3];
	HANDLE self = GetCurrentProcess();
	char *page = map_private(1);
	int i;

	ok(self == (HANDLE)-1, "GetCurrentProcess is -1");
	touch_write(page);
	for (i = 0; i < 2; i++) {
		memset(entries, POISON, sizeof(entries));
		memcpy(before, entries, sizeof(entries));
		fails(self, entries, 0, ERROR_BAD_LENGTH, "size 0");
		fails(self, entries, sizeof(entry_t) - 1, ERROR_BAD_LENGTH, "less than one entry");
		fails(self, NULL, 0, ERROR_BAD_LENGTH, "no array, size 0");
		ok(!memcmp(entries, before, sizeof(entries)), "nothing was written");

		entries[0].VirtualAddress = page;
		entries[1].VirtualAddress = page + 123;
		entries[2].VirtualAddress = page;
		memcpy(before, entries, sizeof(entries));
		SetLastError(NO_ERROR_YET);
		ok(QueryWorkingSetEx(self, entries, sizeof(entries) - 1), "two entries and a bit");
		ok(GetLastError() == NO_ERROR_YET, "success leaves the last error");
		ok(entries[0].VirtualAttributes.Valid &&
		   entries[0].VirtualAttributes.Flags == entries[1].VirtualAttributes.Flags,
		   "whole entries are answered");
		ok(!memcmp(&entries[2], &before[2], sizeof(entry_t)), "the rest is untouched");
		ok(entries[1].VirtualAddress == page + 123, "misaligned address: not rewritten");
	}
}

static void bad_array_rows(void)
{
	HANDLE self = GetCurrentProcess();
	char *memory = map_private(3);
	entry_t *edge = (entry_t *)(memory + PAGE) - 1;
	entry_t before;
	int i;

	fails(self, NULL, sizeof(entry_t), ERROR_NOACCESS, "no array");
	fails(self, NULL, 1000 * sizeof(entry_t), ERROR_NOACCESS, "no long array");
	memset(memory, 0, 3 * PAGE);
	mprotect(memory + PAGE, PAGE, PROT_READ);
	mprotect(memory + 2 * PAGE, PAGE, PROT_NONE);
	fails(self, memory + PAGE, sizeof(entry_t), ERROR_NOACCESS, "one unwritable entry");
	fails(self, memory + PAGE, PAGE, ERROR_NOACCESS, "an unwritable array");
	fails(self, memory + 2 * PAGE, sizeof(entry_t), ERROR_NOACCESS, "an inaccessible entry");
	munmap(memory + 2 * PAGE, PAGE);
	fails(self, memory + 2 * PAGE, sizeof(entry_t), ERROR_NOACCESS, "an unmapped entry");

	for (i = 0; i < 2; i++) {
		memset(edge, POISON, sizeof(*edge));
		edge->VirtualAddress = memory;
		before = *edge;
		ok(QueryWorkingSetEx(self, edge, sizeof(*edge)), "the last entry of a page");
		*edge = before;
		fails(self, edge, 2 * sizeof(*edge), ERROR_NOACCESS, "an array half unwritable");
		ok(edge->VirtualAttributes.Flags == before.VirtualAttributes.Flags ||
		   edge->VirtualAttributes.Valid, "its first entry is a word or untouched, not %lx",
		   (unsigned long)edge->VirtualAttributes.Flags);
	}
	fails(self, memory + 1, sizeof(entry_t), ERROR_NOACCESS,
	      "a misaligned array");
}

static void address_rows(void)
{
	entry_t entries[6];
	char *memory = map_private(2);
	size_t i, round;

	touch_write(memory);
	munmap(memory + PAGE, PAGE);
	for (round = 0; round < 2; round++) {
		memset(entries, POISON, sizeof(entries));
		entries[0].VirtualAddress = memory + PAGE;
		entries[1].VirtualAddress = (void *)-1;
		entries[2].VirtualAddress = memory;
		entries[3].VirtualAddress = (void *)-PAGE;
		entries[4].VirtualAddress = NULL;
		entries[5].VirtualAddress = memory + PAGE - 1;
		ok(QueryWorkingSetEx(GetCurrentProcess(), entries, sizeof(entries)),
		   "unmapped and highest addresses: TRUE");
		for (i = 0; i < 6; i++)
			ok(!!entries[i].VirtualAttributes.Flags == (i == 2 || i == 5) &&
			   entries[i].VirtualAttributes.Valid == (i == 2 || i == 5),
			   "entry %zu: %lx", i, (unsigned long)entries[i].VirtualAttributes.Flags);
		memset(entries, POISON, sizeof(entries));
		entries[0].VirtualAddress = (void *)-1;
		ok(QueryWorkingSetEx(GetCurrentProcess(), entries, sizeof(*entries)) &&
		   !entries[0].VirtualAttributes.Flags, "the highest address alone");
	}
}

static pid_t child_start(void)
{
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe(ready))
		exit(2);
	pid = fork();
	if (!pid) {
		if (write(ready[1], "x", 1) != 1)
			_exit(2);
		for (;;)
			pause();
	}
	if (read(ready[0], &byte, 1) != 1)
		exit(2);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void process_rows(void)
{
	char *memory = map_private(2);
	entry_t entries[2];
	HANDLE process;
	pid_t pid;

	touch_write(memory);
	pid = child_start();
	touch_write(memory + PAGE);

	process = OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, pid);
	ok(process, "OpenProcess of a child");
	memset(entries, POISON, sizeof(entries));
	entries[0].VirtualAddress = memory;
	entries[1].VirtualAddress = memory + PAGE;
	ok(QueryWorkingSetEx(process, entries, sizeof(entries)), "its working set");
	ok(entries[0].VirtualAttributes.Valid && !entries[1].VirtualAttributes.Valid,
	   "is the child's, not the caller's");
	ok(QueryWorkingSetEx(process, entries, sizeof(*entries)) &&
	   entries[0].VirtualAttributes.Valid, "one entry of it");

	child_end(pid);
	fails(process, entries, sizeof(entries), ERROR_INVALID_HANDLE, "a process that exited");
	ok(CloseHandle(process), "CloseHandle");
	fails(process, entries, sizeof(entries), ERROR_INVALID_HANDLE, "a closed handle");
	SetLastError(NO_ERROR_YET);
	ok(!CloseHandle(process) && GetLastError() == ERROR_INVALID_HANDLE, "closing it twice");

	SetLastError(NO_ERROR_YET);
	ok(!OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, pid) &&
	   GetLastError() == ERROR_INVALID_PARAMETER, "OpenProcess of a process that is gone");
	SetLastError(NO_ERROR_YET);
	ok(!OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, 0) &&
	   GetLastError() == ERROR_INVALID_PARAMETER, "OpenProcess of 0");

	process = OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, getpid());
	memset(entries, POISON, sizeof(entries));
	entries[0].VirtualAddress = memory;
	entries[1].VirtualAddress = memory + PAGE;
	ok(process && QueryWorkingSetEx(process, entries, sizeof(entries)) &&
	   entries[0].VirtualAttributes.Valid && entries[1].VirtualAttributes.Valid,
	   "a handle of the caller itself");
	ok(CloseHandle(process) && CloseHandle(GetCurrentProcess()), "CloseHandle, both kinds");
}

static void bad_handle_rows(void)
{
	entry_t entry = { .VirtualAddress = &entry };
	int fd = open("/dev/null", O_RDONLY);
	HANDLE other = (HANDLE)(((uintptr_t)fd + 1) << 2);

	fails(NULL, &entry, sizeof(entry), ERROR_INVALID_HANDLE, "no handle");
	fails((HANDLE)0xdeadbee0UL, &entry, sizeof(entry), ERROR_INVALID_HANDLE, "a wild handle");
	fails((HANDLE)7, &entry, sizeof(entry), ERROR_INVALID_HANDLE, "an odd handle");
	fails(other, &entry, sizeof(entry), ERROR_INVALID_HANDLE, "a handle of something else");
	SetLastError(NO_ERROR_YET);
	ok(!CloseHandle(other) && GetLastError() == ERROR_INVALID_HANDLE &&
	   fcntl(fd, F_GETFD) >= 0, "CloseHandle does not close other descriptors");
	close(fd);

	/* Of a file that has the name but is not in /proc. */
	fd = memfd_create("/pagemap", MFD_CLOEXEC);
	other = (HANDLE)(((uintptr_t)fd + 1) << 2);
	SetLastError(NO_ERROR_YET);
	ok(!CloseHandle(other) && GetLastError() == ERROR_INVALID_HANDLE &&
	   fcntl(fd, F_GETFD) >= 0, "nor those of files with such names");
	close(fd);
}

static void permission_rows(void)
{
	pid_t pid;
	int status;

	if (geteuid()) {
		tap_skip("no permission", "needs root to become somebody else");
		return;
	}
	fflush(stdout);
	pid = fork();
	if (!pid) {
		HANDLE process;

		if (setgid(65534) || setuid(65534))
			_exit(3);
		SetLastError(NO_ERROR_YET);
		process = OpenProcess(PROCESS_QUERY_INFORMATION, FALSE, 1);
		_exit(!process && GetLastError() == ERROR_ACCESS_DENIED ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ok(!status, "another user's process: ERROR_ACCESS_DENIED");
}

static void nt_rows(void)
{
	entry_t entries[2];
	char *memory = map_private(1);
	SIZE_T returned = 0;

	touch_write(memory);
	memset(entries, POISON, sizeof(entries));
	entries[0].VirtualAddress = memory;
	ok(NtQueryVirtualMemory(GetCurrentProcess(), NULL, 4, entries, sizeof(entries) - 1,
				&returned) == STATUS_SUCCESS && returned == sizeof(*entries) &&
	   entries[0].VirtualAttributes.Valid, "NtQueryVirtualMemory");
	ok(NtQueryVirtualMemory(GetCurrentProcess(), NULL, 4, entries, sizeof(*entries), NULL) ==
	   STATUS_SUCCESS, "without a returned length");
	ok(NtQueryVirtualMemory(GetCurrentProcess(), NULL, 4, entries, 3, NULL) ==
	   STATUS_INFO_LENGTH_MISMATCH, "too short");
	ok(NtQueryVirtualMemory(GetCurrentProcess(), NULL, 4, NULL, 99, NULL) ==
	   STATUS_ACCESS_VIOLATION, "no array");
	ok(NtQueryVirtualMemory(NULL, NULL, 4, entries, sizeof(entries), NULL) ==
	   STATUS_INVALID_HANDLE, "no handle");
	ok(NtQueryVirtualMemory(GetCurrentProcess(), NULL, 99, entries, sizeof(entries), NULL) ==
	   STATUS_INVALID_INFO_CLASS, "no such class");
	ok(NtQueryVirtualMemory(GetCurrentProcess(), NULL, 4, (char *)entries + 1,
				sizeof(*entries), NULL) == STATUS_DATATYPE_MISALIGNMENT,
	   "misaligned");
}

static void *thread_error(void *arg)
{
	bool *good = arg;

	*good = !GetLastError();
	SetLastError(2);
	return NULL;
}

static void thread_row(void)
{
	pthread_t thread;
	bool good = false;

	SetLastError(NO_ERROR_YET);
	pthread_create(&thread, NULL, thread_error, &good);
	pthread_join(thread, NULL);
	ok(good && GetLastError() == NO_ERROR_YET, "the last error is per thread");
}

int main(void)
{
	need_backend();
	length_rows();
	bad_array_rows();
	address_rows();
	process_rows();
	bad_handle_rows();
	permission_rows();
	nt_rows();
	thread_row();
	return tap_done();
}
