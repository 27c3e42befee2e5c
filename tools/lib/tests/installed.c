// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compiled against an installed library, with what pkg-config says and nothing
 * else; as C and as C++, in one file with types of its own.
 */
#include <stdint.h>
#include <stdio.h>
#include <wsquery.h>

typedef int BOOL;
typedef unsigned int DWORD;
typedef int NTSTATUS;
typedef void *HANDLE;
typedef void *PVOID;
typedef uintptr_t ULONG_PTR;
typedef uintptr_t SIZE_T;
#define PAGE_NOACCESS	1
#define PAGE_READWRITE	4
#define WSQUERY_OWN_WINDOWS_TYPES
#include <queryworkingsetex.h>

int main(void)
{
	PSAPI_WORKING_SET_EX_INFORMATION entry;
	uint64_t flags = 0;
	int backend = wsquery_backend(NULL);
	const char *name = backend > 0 ? wsquery_backend_name(backend) : NULL;
	int good;

	if (!name) {
		printf("1..0 # SKIP this backend does not exist here\n");
		return 0;
	}
	entry.VirtualAddress = &entry;
	good = QueryWorkingSetEx(GetCurrentProcess(), &entry, sizeof(entry)) &&
	       entry.VirtualAttributes.Valid &&
	       entry.VirtualAttributes.Win32Protection == PAGE_READWRITE;
	printf("%sok 1 - QueryWorkingSetEx through %s\n", good ? "" : "not ", name);
	if (wsquery_get_one(NULL, (uintptr_t)&entry, 0, &flags) || !(flags & WSQUERY_PRESENT))
		good = 0;
	printf("%sok 2 - wsquery_get_one\n", good ? "" : "not ");
	printf("1..2\n");
	return !good;
}
