// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The code that goes into Wine, between a Wine and a device that do not exist. Prints
 * TAP. Includes the edited files, to reach what is static in them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wine.h"
#include "unix_private.h"
#include "virtual.c"

static int fake_ioctl(int fd, unsigned long request, ...);
#define ioctl fake_ioctl
#include "wsquery.c"
#undef ioctl

#define PAGE	0x1000u
#define PAGES	(VIEWS * VIEW_PAGES)
#define DEVICE	1000

typedef MEMORY_WORKING_SET_EX_INFORMATION entry_t;

struct server_reply server_reply;
static NTSTATUS thread_status;
static UINT64 state[PAGES];
static unsigned int ioctls, asked_flags;
static int tests, failures, device_errno;

static void ok(int good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++tests, what);
	failures += !good;
}

NTSTATUS wine_server_call(struct server_request *req)
{
	return req->handle ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
}

NTSTATUS NtGetNextThread(HANDLE process, HANDLE last, ACCESS_MASK access, ULONG attributes,
			 ULONG flags, HANDLE *thread)
{
	*thread = process;
	return last || !access || attributes || flags ? -1 : thread_status;
}

NTSTATUS NtClose(HANDLE handle)
{
	return handle ? 0 : -1;
}

static char *page_at(size_t i)
{
	return (char *)(UINT_PTR)(FIRST_PAGE + i * PAGE);
}

#ifdef WSQUERY_IOC_LIST
static UINT64 state_of(UINT64 address)
{
	address = (address - FIRST_PAGE) / PAGE;
	return address < PAGES ? state[address] : 0;
}

static int fake_ioctl(int fd, unsigned long request, ...)
{
	struct wsquery_entry *entries;
	struct wsquery_list *list;
	unsigned long argument;
	va_list args;
	size_t i;

	va_start(args, request);
	argument = va_arg(args, unsigned long);
	va_end(args);
	ioctls++;
	errno = device_errno;
	if (errno || fd != DEVICE)
		return -1;
	if (request == WSQUERY_IOC_ONE)
		return state_of(argument) & WSQUERY_ONE_MASK;
	list = (struct wsquery_list *)argument;
	entries = (struct wsquery_entry *)(uintptr_t)list->entries;
	asked_flags = list->flags;
	for (i = 0; i < list->count; i++)
		entries[i].flags = state_of(entries[i].address);
	return 0;
}

static void words(void)
{
	const UINT64 here = WSQUERY_MAPPED | WSQUERY_PRESENT;
	const UINT64 file = here | WSQUERY_FILE;
	const struct {
		const char *what;
		UINT64 flags;
		DWORD protection;
		ULONG_PTR word;
	} *w, table[] = {
		{ "nothing", 0, PAGE_READWRITE, 0 },
		{ "private page", here, PAGE_READWRITE, 0x41 },
		{ "its share count is not told", here | 3ULL << 26, PAGE_READWRITE, 0x41 },
		{ "inaccessible: resident", here, 0, 0x400000 },
		{ "private page in swap", WSQUERY_SWAPPED, PAGE_READWRITE, 0x800000 },
		{ "shared page in swap", WSQUERY_SWAPPED | WSQUERY_SHMEM, PAGE_READWRITE, 0x40808000 },
		{ "page of a file, by one", file, PAGE_READONLY, 0x40008023 },
		{ "page of a file, by three", file | 3ULL << 26, PAGE_READONLY, 0x40008027 },
		{ "page of a file, by many", file | 7ULL << 26, PAGE_READONLY, 0x4000802f },
		{ "private copy", file | WSQUERY_COPY, PAGE_READWRITE, 0x41 },
		{ "only in the cache", WSQUERY_FILE | WSQUERY_CACHED, PAGE_READONLY, 0x40408000 },
		{ "locked", here | WSQUERY_LOCKED, PAGE_READWRITE, 0x400041 },
		{ "large", here | WSQUERY_HUGETLB, PAGE_READWRITE, 0x800041 },
		{ "transparent huge", here | WSQUERY_HUGE, PAGE_READWRITE, 0x41 },
		{ "node 2", here | 2ULL << 32, PAGE_READWRITE, 0x20041 },
		{ "node 100", here | 100ULL << 32, PAGE_READWRITE, 0x3f0041 },
		{ "broken", WSQUERY_HWPOISON, PAGE_READWRITE, 0x80000000 },
	};

	for (w = table; w < table + sizeof(table) / sizeof(*table); w++)
		ok(wsquery_attributes(w->flags, w->protection) == w->word, w->what);
}

static void views_setup(void)
{
	struct file_view *view;
	size_t i;

	create_view(&view, page_at(0), VIEW_PAGES * PAGE, 0);
	create_view(&view, page_at(4), VIEW_PAGES * PAGE, 0);
	create_view(&view, page_at(8), VIEW_PAGES * PAGE, SEC_RESERVE);
	for (i = 0; i < PAGES; i++)
		state[i] = WSQUERY_MAPPED | WSQUERY_PRESENT;
	memset(vprots, VPROT_COMMITTED | 3, 8);
	vprots[1] |= VPROT_GUARD;
	vprots[2] = VPROT_COMMITTED;
	vprots[3] = 3;
	state[5] = WSQUERY_MAPPED;
	vprots[8] = 1;
	vprots[9] = 1;
	state[9] = state[10] = state[11] = WSQUERY_MAPPED | WSQUERY_SHMEM;
}

static const ULONG_PTR wanted[PAGES] = {
	0x41, 0x400000, 0x400000, 0, 0x41, 0, 0x41, 0x41, 0x21, 0,
};

static NTSTATUS query(HANDLE process, entry_t *entries, size_t count)
{
	return NtQueryVirtualMemory(process, NULL, MemoryWorkingSetExInformation, entries,
				    count * sizeof(*entries), NULL);
}

static void many(void)
{
	entry_t entries[PAGES + 1];
	size_t i, same = 0;

	for (i = 0; i <= PAGES; i++)
		entries[i].VirtualAddress = i < PAGES ? page_at(i * 7 % PAGES) + i : (void *)-1;
	ok(!query(NtCurrentProcess(), entries, PAGES + 1), "a list succeeds");
	ok(ioctls == 1 && !old_way, "with one ioctl");
	ok(asked_flags == WSQUERY_SHARED_ONLY, "that counts sharers of shared mappings only");
	for (i = 0; i < PAGES; i++)
		same += entries[i].VirtualAttributes.Flags == wanted[i * 7 % PAGES] &&
			entries[i].VirtualAddress == page_at(i * 7 % PAGES) + i;
	ok(same == PAGES, "all entries are right, in any order");
	ok(!entries[PAGES].VirtualAttributes.Flags, "(void *)-1 has no attributes");
	ok(server_calls == 1, "the server is asked about a reserved page with content only");

	lookups = 0;
	for (i = 0; i < 8; i++)
		entries[i].VirtualAddress = page_at(7 - i);
	query(NtCurrentProcess(), entries, 8);
	ok(lookups == 2, "a view is looked up once for its neighbours");
}

static void single(void)
{
	struct file_view *view;
	entry_t entry;
	size_t i, same = 0;

	single_node = TRUE;
	ioctls = lookups = 0;
	entry.VirtualAddress = page_at(0) + 5;
	ok(!query(NtCurrentProcess(), &entry, 1) && entry.VirtualAttributes.Flags == 0x41,
	   "a single page");
	ok(ioctls == 1 && !lookups, "without looking up its view");
	for (i = 0; i < PAGES; i++) {
		entry.VirtualAddress = page_at(i);
		query(NtCurrentProcess(), &entry, 1);
		same += entry.VirtualAttributes.Flags == wanted[i];
	}
	ok(same == PAGES, "all pages one by one");

	map_view(&view, page_at(12), VIEW_PAGES * PAGE, 0);
	vprots[12] = VPROT_COMMITTED | 3;
	entry.VirtualAddress = page_at(12);
	query(NtCurrentProcess(), &entry, 1);
	ok(entry.VirtualAttributes.Flags == 0x41, "a page of a new view");
	ok(!nocache_views, "which is cached");
	map_view(&view, page_at(12), VIEW_PAGES * PAGE, SEC_NOCACHE);
	query(NtCurrentProcess(), &entry, 1);
	ok(entry.VirtualAttributes.Flags == (0x41 | PAGE_NOCACHE << 4), "one that is not, replacing it");
	nocache_views = FALSE;
	create_view(&view, page_at(12), VIEW_PAGES * PAGE, SEC_NOCACHE);
	query(NtCurrentProcess(), &entry, 1);
	ok(entry.VirtualAttributes.Flags == (0x41 | PAGE_NOCACHE << 4), "one that never was");
}

static void processes(void)
{
	HANDLE process = (HANDLE)0x44;
	entry_t entry = { .VirtualAddress = page_at(0) };

	server_reply.unix_pid = getpid();
	ok(!query(process, &entry, 1) && entry.VirtualAttributes.Flags == 0x41,
	   "a handle of the own process");

	server_reply.unix_pid = getppid();
	state[0] |= WSQUERY_READABLE;
	ok(!query(process, &entry, 1) && entry.VirtualAttributes.Flags == 0x21, "another process");
	ok(asked_flags == (WSQUERY_SHARED_ONLY | WSQUERY_TARGET_FD), "by a descriptor");
	state[0] |= WSQUERY_WRITABLE | WSQUERY_FILE;
	query(process, &entry, 1);
	ok(entry.VirtualAttributes.Win32Protection == PAGE_WRITECOPY, "a page to be copied");
	state[0] |= WSQUERY_SHARED | WSQUERY_EXECUTABLE;
	query(process, &entry, 1);
	ok(entry.VirtualAttributes.Win32Protection == PAGE_EXECUTE_READWRITE, "a shared one");
	state[0] &= ~(WSQUERY_READABLE | WSQUERY_WRITABLE | WSQUERY_EXECUTABLE);
	query(process, &entry, 1);
	ok(!entry.VirtualAttributes.Valid && entry.VirtualAttributes.Flags >> 22 == 0x101,
	   "an inaccessible one is resident but not valid");

	thread_status = STATUS_ACCESS_DENIED;
	ok(query(process, &entry, 1) == STATUS_ACCESS_DENIED, "the server's error is ours");
	thread_status = STATUS_NO_MORE_ENTRIES;
	ok(query(process, &entry, 1) == STATUS_PROCESS_IS_TERMINATING, "no thread left");
	thread_status = STATUS_SUCCESS;
}
#else
static int fake_ioctl(int fd, unsigned long request, ...)
{
	(void)fd;
	(void)request;
	return -1;
}
#endif

static void without(void)
{
	entry_t entries[2] = { { .VirtualAddress = page_at(0) }, { .VirtualAddress = page_at(1) } };
	SIZE_T length = 0;

	old_way = 0;
	ok(!NtQueryVirtualMemory(NtCurrentProcess(), NULL, MemoryWorkingSetExInformation, entries,
				 sizeof(entries), &length) &&
	   old_way == 1 && length == sizeof(entries), "a list goes the old way");
	NtQueryVirtualMemory(NtCurrentProcess(), NULL, MemoryWorkingSetExInformation, entries,
			     sizeof(*entries), &length);
	ok(old_way == 2 && length == sizeof(*entries), "a single page does");
	ok(NtQueryVirtualMemory((HANDLE)0x44, NULL, MemoryWorkingSetExInformation, entries, 1, NULL) ==
	   -1 && old_way == 3, "a short array does");
}

int main(void)
{
#ifdef WSQUERY_IOC_LIST
	words();
	views_setup();
	device_fd = DEVICE;
	many();
	single();
	processes();
	printf("# a device that fails\n");
	device_errno = EINVAL;
	without();
	printf("# no device\n");
	device_fd = -1;
#endif
	without();
	printf("1..%d\n", tests);
	return failures ? 1 : 0;
}
