// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What QueryWorkingSetEx should say, from this and from other processes, in TAP. A
 * Windows program.
 *
 * working_set_truth [SIGNAL-FILE]
 *
 * With SIGNAL-FILE it is also checked what is said of pages in swap: the file is
 * made when the pages may be swapped out, and whoever does that then removes it.
 */
#include <windows.h>
#include <psapi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE		4096
#define SOME		64
#define LOCATION(word)	((word) >> 22 & 3)
#define RESIDENT	1
#define PAGEFILE	2

typedef PSAPI_WORKING_SET_EX_INFORMATION entry_t;

static int tests, failures;

static void ok(int good, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("%sok %d - ", good ? "" : "not ", ++tests);
	vprintf(format, args);
	printf("\n");
	fflush(stdout);
	va_end(args);
	failures += !good;
}

static entry_t ask_process(HANDLE process, const void *address)
{
	entry_t entry;

	memset(&entry, 0x41, sizeof(entry));
	entry.VirtualAddress = (void *)address;
	if (!QueryWorkingSetEx(process, &entry, sizeof(entry)))
		entry.VirtualAttributes.Flags = ~(ULONG_PTR)0;
	return entry;
}

static entry_t ask(const void *address)
{
	return ask_process(GetCurrentProcess(), address);
}

/* The same in a list of two, which goes another way. */
static entry_t ask_list(const void *address)
{
	entry_t entries[2];

	memset(entries, 0x41, sizeof(entries));
	entries[0].VirtualAddress = (void *)address;
	entries[1].VirtualAddress = (void *)address;
	if (!QueryWorkingSetEx(GetCurrentProcess(), entries, sizeof(entries)))
		entries[1].VirtualAttributes.Flags = ~(ULONG_PTR)0;
	return entries[1];
}

static int is(entry_t entry, unsigned int valid, unsigned int protection, unsigned int shared)
{
	PSAPI_WORKING_SET_EX_BLOCK block = entry.VirtualAttributes;

	return block.Valid == valid && block.Win32Protection == protection &&
	       block.Shared == shared;
}

static void state(const char *what, const void *address, unsigned int valid,
		  unsigned int protection, unsigned int shared)
{
	entry_t one = ask(address), list = ask_list(address);

	ok(is(one, valid, protection, shared) &&
	   one.VirtualAttributes.Flags == list.VirtualAttributes.Flags &&
	   one.VirtualAddress == address, "%s: %u/%x/%u, is %llx and in a list %llx", what, valid,
	   protection, shared, (unsigned long long)one.VirtualAttributes.Flags,
	   (unsigned long long)list.VirtualAttributes.Flags);
}

static char *commit(size_t pages, DWORD protection, DWORD flags)
{
	return VirtualAlloc(NULL, pages * PAGE, MEM_COMMIT | MEM_RESERVE | flags, protection);
}

static char *touched(size_t pages)
{
	char *memory = commit(pages, PAGE_READWRITE, 0);

	memset(memory, 1, pages * PAGE);
	return memory;
}

static void bad_address(void)
{
	char *memory = touched(SOME);
	entry_t entries[SOME + 1];
	int i, valid = 0;

	for (i = 0; i < SOME; i++)
		entries[i].VirtualAddress = memory + i * PAGE;
	entries[SOME].VirtualAddress = (void *)-1;
	QueryWorkingSetEx(GetCurrentProcess(), entries, sizeof(entries));
	for (i = 0; i < SOME; i++)
		valid += entries[i].VirtualAttributes.Valid;
	ok(valid == SOME, "beside one (void *)-1, %d of %d good addresses are answered", valid,
	   SOME);
	ok(!entries[SOME].VirtualAttributes.Flags, "(void *)-1 itself has no attributes");
}

static void any_order(void)
{
	char *memory = touched(SOME);
	entry_t entries[SOME];
	int i, same = 0;

	for (i = 0; i < SOME; i += 2)
		VirtualFree(memory + i * PAGE, PAGE, MEM_DECOMMIT);
	for (i = 0; i < SOME; i++)
		entries[i].VirtualAddress = memory + i * 29 % SOME * PAGE + i % 7;
	QueryWorkingSetEx(GetCurrentProcess(), entries, sizeof(entries));
	for (i = 0; i < SOME; i++)
		same += is(entries[i], i & 1, i & 1 ? PAGE_READWRITE : 0, 0) &&
			entries[i].VirtualAddress == memory + i * 29 % SOME * PAGE + i % 7;
	ok(same == SOME, "%d of %d misaligned addresses without order are answered", same, SOME);
}

static void protections(void)
{
	char *page = commit(4, PAGE_READWRITE, 0);
	DWORD old;

	memset(page, 1, 3 * PAGE);
	VirtualProtect(page, PAGE, PAGE_READWRITE | PAGE_GUARD, &old);
	state("guard page", page, 0, 0, 0);
	VirtualProtect(page + PAGE, PAGE, PAGE_NOACCESS, &old);
	state("inaccessible page", page + PAGE, 0, 0, 0);
	VirtualProtect(page + 2 * PAGE, PAGE, PAGE_EXECUTE_READ, &old);
	state("executable page", page + 2 * PAGE, 1, PAGE_EXECUTE_READ, 0);
	state("untouched page", page + 3 * PAGE, 0, 0, 0);
	VirtualFree(page, 0, MEM_RELEASE);
	state("freed page", page, 0, 0, 0);

	page = commit(2, PAGE_READWRITE, MEM_WRITE_WATCH);
	page[0] = 1;
	state("watched page", page, 1, PAGE_READWRITE, 0);
	state("watched page, untouched", page + PAGE, 0, 0, 0);
	state("reserved page", VirtualAlloc(NULL, PAGE, MEM_RESERVE, PAGE_READWRITE), 0, 0, 0);
}

static void sections(void)
{
	HANDLE section = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL,
					    PAGE_READWRITE | SEC_RESERVE, 0, 16 * PAGE, NULL);
	char *memory = MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0);
	entry_t entry;
	char *second;

	state("section, reserved", memory, 0, 0, ask(memory).VirtualAttributes.Shared);
	VirtualAlloc(memory, PAGE, MEM_COMMIT, PAGE_READWRITE);
	memory[0] = 1;
	state("section, committed and written", memory, 1, PAGE_READWRITE, 1);
	ok(ask(memory).VirtualAttributes.ShareCount == 1, "section mapped once: shared by 1");
	second = MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0);
	ok(second[0] == 1, "section mapped twice");
	entry = ask(second);
	ok(entry.VirtualAttributes.ShareCount == 2, "section mapped twice: shared by 2, is %u",
	   (unsigned int)entry.VirtualAttributes.ShareCount);
	state("section, second view", second, 1, PAGE_READWRITE, 1);
}

static void locks(void)
{
	char *memory = touched(2);

	ok(!ask(memory).VirtualAttributes.Locked, "page not locked");
	if (VirtualLock(memory, PAGE))
		ok(ask(memory).VirtualAttributes.Locked, "page locked by VirtualLock");
	ok(!ask(memory + PAGE).VirtualAttributes.Locked, "its neighbour is not");
}

static void own_handle(void)
{
	HANDLE process = OpenProcess(PROCESS_ALL_ACCESS, FALSE, GetCurrentProcessId());

	ok(is(ask_process(process, touched(1)), 1, PAGE_READWRITE, 0),
	   "by a real handle of our own");
}

static void other_process(char *program)
{
	STARTUPINFOA startup = { .cb = sizeof(startup) };
	char command[MAX_PATH + 16], *remote;
	PROCESS_INFORMATION info;
	HANDLE weak;
	BOOL ret;
	entry_t entry;

	snprintf(command, sizeof(command), "\"%s\" child", program);
	if (!CreateProcessA(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &info)) {
		ok(0, "CreateProcess");
		return;
	}
	WaitForInputIdle(info.hProcess, 1000);
	Sleep(1000);
	remote = VirtualAllocEx(info.hProcess, NULL, 2 * PAGE, MEM_COMMIT, PAGE_READWRITE);
	WriteProcessMemory(info.hProcess, remote, "x", 1, NULL);
	ok(is(ask_process(info.hProcess, remote), 1, PAGE_READWRITE, 0),
	   "other process, written page");
	ok(is(ask_process(info.hProcess, remote + PAGE), 0, 0, 0), "other process, untouched page");
	/* Libraries are at the same place in all processes, and the child is in this function. */
	entry = ask_process(info.hProcess, (void *)(ULONG_PTR)Sleep);
	ok(is(entry, 1, PAGE_EXECUTE_READ, 1), "other process, code of a library: 1/%x/1, is %llx",
	   PAGE_EXECUTE_READ, (unsigned long long)entry.VirtualAttributes.Flags);

	weak = OpenProcess(SYNCHRONIZE, FALSE, info.dwProcessId);
	SetLastError(0);
	entry.VirtualAddress = remote;
	ret = QueryWorkingSetEx(weak, &entry, sizeof(entry));
	ok(!ret && GetLastError() == ERROR_ACCESS_DENIED,
	   "handle without the right: error %lu, wanted %u", GetLastError(), ERROR_ACCESS_DENIED);
	ret = QueryWorkingSetEx((HANDLE)0xdead0, &entry, sizeof(entry));
	ok(!ret && GetLastError() == ERROR_INVALID_HANDLE, "no handle: error %lu, wanted %u",
	   GetLastError(), ERROR_INVALID_HANDLE);
	TerminateProcess(info.hProcess, 0);
}

static void errors(void)
{
	BOOL ret = QueryWorkingSetEx(GetCurrentProcess(), NULL, 16 * sizeof(entry_t));
	entry_t *entries = (entry_t *)commit(2, PAGE_READWRITE, 0);
	DWORD old;

	ok(!ret && GetLastError() == ERROR_NOACCESS, "no array: error %lu", GetLastError());
	entries[0].VirtualAddress = entries;
	VirtualProtect(entries, PAGE, PAGE_READONLY, &old);
	ret = QueryWorkingSetEx(GetCurrentProcess(), entries, 2 * sizeof(*entries));
	ok(!ret && GetLastError() == ERROR_NOACCESS, "array that is not writable: error %lu",
	   GetLastError());
	ret = QueryWorkingSetEx(GetCurrentProcess(), entries, sizeof(*entries) - 1);
	ok(!ret && GetLastError() == ERROR_BAD_LENGTH, "short array: error %lu", GetLastError());

	entries = (entry_t *)commit(2, PAGE_READWRITE, MEM_WRITE_WATCH);
	entries[0].VirtualAddress = entries;
	entries[1].VirtualAddress = entries;
	ResetWriteWatch(entries, 2 * PAGE);
	ret = QueryWorkingSetEx(GetCurrentProcess(), entries, 2 * sizeof(*entries));
	ok(ret && is(entries[1], 1, PAGE_READWRITE, 0), "array in watched memory");
}

static void swapped(const char *signal_file)
{
	HANDLE section = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0,
					    SOME * PAGE, NULL);
	char *shared = MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 0), *own = touched(SOME);
	int i, in_shared = 0, in_own = 0;
	ULONG_PTR word;
	HANDLE file;

	memset(shared, 1, SOME * PAGE);
	file = CreateFileA(signal_file, GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
	CloseHandle(file);
	for (i = 0; i < 60 && GetFileAttributesA(signal_file) != INVALID_FILE_ATTRIBUTES; i++)
		Sleep(1000);
	for (i = 0; i < SOME; i++) {
		word = ask_list(own + i * PAGE).VirtualAttributes.Flags;
		in_own += !(word & 1) && LOCATION(word) == PAGEFILE;
		word = ask_list(shared + i * PAGE).VirtualAttributes.Flags;
		in_shared += !(word & 1) && LOCATION(word) == PAGEFILE && (word >> 15 & 1);
	}
	ok(in_own > SOME / 2, "%d of %d private pages are said to be in the pagefile", in_own,
	   SOME);
	ok(in_shared > SOME / 2, "%d of %d shared pages are said to be in the pagefile", in_shared,
	   SOME);
}

/* Last, for it changes how single pages are asked for. */
static void no_cache(void)
{
	char *page = commit(1, PAGE_READWRITE | PAGE_NOCACHE, 0);

	page[0] = 1;
	state("uncached page", page, 1, PAGE_READWRITE | PAGE_NOCACHE, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "child")) {
		Sleep(60000);
		return 0;
	}
	bad_address();
	any_order();
	protections();
	sections();
	locks();
	own_handle();
	other_process(argv[0]);
	errors();
	if (argc > 1)
		swapped(argv[1]);
	no_cache();
	printf("1..%d\n", tests);
	return failures ? 1 : 0;
}
