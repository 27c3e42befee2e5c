// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What Wine's psapi tests assert of QueryWorkingSetEx, row by row.
 */
#define _GNU_SOURCE
#include <queryworkingsetex.h>

#include "memory.h"

static void check_entry(const PSAPI_WORKING_SET_EX_INFORMATION *entry, const char *what,
			unsigned int valid, unsigned int protection, unsigned int shared)
{
	const PSAPI_WORKING_SET_EX_BLOCK *block = &entry->VirtualAttributes;

	ok(block->Valid == valid && block->Win32Protection == protection &&
	   block->Shared == shared, "%s: %u/%x/%u, is %u/%x/%u", what, valid, protection, shared,
	   (unsigned int)block->Valid, (unsigned int)block->Win32Protection,
	   (unsigned int)block->Shared);
	ok(!(block->Node && one_node()) && !block->LargePage, "%s: no node, no large page", what);
	ok(!!block->ShareCount == (valid && shared), "%s: share count %u", what,
	   (unsigned int)block->ShareCount);
}

static void check(void *address, const char *what, unsigned int valid, unsigned int protection,
		  unsigned int shared)
{
	PSAPI_WORKING_SET_EX_INFORMATION entry;

	memset(&entry, POISON, sizeof(entry));
	entry.VirtualAddress = address;
	ok(QueryWorkingSetEx(GetCurrentProcess(), &entry, sizeof(entry)), "%s: TRUE", what);
	ok(entry.VirtualAddress == address, "%s: address not rewritten", what);
	check_entry(&entry, what, valid, protection, shared);
}

static void header_rows(void)
{
	char *page = header_page();

	touch_read(page);
	check(page, "header page", 1, PAGE_READONLY, 1);
	mprotect(page, PAGE, PROT_NONE);
	check(page, "header page, inaccessible", 0, 0, 1);
	mprotect(page, PAGE, PROT_READ);
	touch_read(page);
	check(page, "header page, readable again and read", 1, PAGE_READONLY, 1);
}

static void private_rows(void)
{
	char *page = map_private(1);

	check(page, "private, untouched", 0, 0, 0);
	touch_read(page);
	check(page, "private, read", 1, PAGE_READWRITE, 0);
	touch_write(page);
	check(page, "private, written", 1, PAGE_READWRITE, 0);
	mprotect(page, PAGE, PROT_NONE);
	check(page, "private, inaccessible", 0, 0, 0);
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
	touch_read(page);
	check(page, "private, accessible again and read", 1, PAGE_READWRITE, 0);
	munmap(page, PAGE);
	check(page, "freed address alone", 0, 0, 0);
}

static void four_entries(char *first, char *second, const char *what, bool first_there,
			 bool second_there)
{
	PSAPI_WORKING_SET_EX_INFORMATION entries[4];

	memset(entries, POISON, sizeof(entries));
	entries[0].VirtualAddress = second + PAGE;
	entries[1].VirtualAddress = first;
	entries[2].VirtualAddress = first + PAGE;
	entries[3].VirtualAddress = second;
	ok(QueryWorkingSetEx(GetCurrentProcess(), entries, sizeof(entries)), "%s: TRUE", what);

	/* Touched are the second page of the first and the first of the second. */
	check_entry(&entries[0], what, 0, 0, 0);
	check_entry(&entries[1], what, 0, 0, 0);
	check_entry(&entries[2], what, first_there, first_there ? PAGE_READWRITE : 0, 0);
	check_entry(&entries[3], what, second_there, second_there ? PAGE_READWRITE : 0, 0);
}

static void four_rows(void)
{
	char *first = map_private(2);
	char *second = map_private(2);

	touch_write(first + PAGE);
	touch_read(second);
	four_entries(first, second, "four unsorted entries", true, true);
	munmap(first, 2 * PAGE);
	four_entries(first, second, "four, one allocation freed", false, true);
	munmap(second, 2 * PAGE);
	four_entries(first, second, "four, both freed", false, false);
}

int main(void)
{
	need_backend();
	header_rows();
	private_rows();
	four_rows();
	return tap_done();
}
