// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program with a GetLastError of its own, as porting layers have: the library
 * reports its errors there.
 */
#define _GNU_SOURCE
#include <queryworkingsetex.h>

#include "memory.h"

static DWORD own_error;

DWORD GetLastError(void)
{
	return own_error;
}

void SetLastError(DWORD error)
{
	own_error = error;
}

int main(void)
{
	PSAPI_WORKING_SET_EX_INFORMATION entry = { .VirtualAddress = &entry };

	need_backend();
	SetLastError(4711);
	ok(QueryWorkingSetEx(GetCurrentProcess(), &entry, sizeof(entry)) &&
	   own_error == 4711, "success leaves it");
	ok(!QueryWorkingSetEx(GetCurrentProcess(), &entry, 0) && own_error == ERROR_BAD_LENGTH,
	   "an error is set there");
	ok(!CloseHandle(NULL) && own_error == ERROR_INVALID_HANDLE, "so is that of a handle");
	return tap_done();
}
