// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * States and attributes to the words of Windows.
 *
 * Decisions that the two systems' notions leave open:
 *  - Shared is 0 for a private copy of a file's page, as on Windows, where
 *    checkers of code integrity rely on it, and as bit 61 of pagemap has it.
 *  - LargePage is for memory that was allocated so (hugetlb). A transparent huge
 *    page is the kernel's choice and has no counterpart.
 *  - A guard region is not a page, thus not valid; its protection is not shown.
 *  - A page in memory that a program made inaccessible is invalid but resident.
 */
#include "win.h"

#define EX_VALID		((ULONG_PTR)1 << 0)
#define EX_SHARE_COUNT_SHIFT	1
#define EX_PROTECTION_SHIFT	4
#define EX_SHARED		((ULONG_PTR)1 << 15)
#define EX_NODE_SHIFT		16
#define EX_NODE_MAX		63
#define EX_LOCKED		((ULONG_PTR)1 << 22)
#define EX_LARGE_PAGE		((ULONG_PTR)1 << 23)
#define EX_RESIDENT		((ULONG_PTR)1 << 22)
#define EX_PAGEFILE		((ULONG_PTR)2 << 22)
#define EX_SHARED_ORIGINAL	((ULONG_PTR)1 << 30)
#define EX_BAD			((ULONG_PTR)1 << 31)

#define SET_SHARE_COUNT_SHIFT	5
#define SET_SHARED		((ULONG_PTR)1 << 8)

static bool is_shared(uint64_t flags)
{
	return (flags & (WSQUERY_FILE | WSQUERY_SHMEM)) && !(flags & WSQUERY_COPY);
}

static bool is_valid(uint64_t flags)
{
	return (flags & WSQUERY_PRESENT) &&
	       (flags & (WSQUERY_READABLE | WSQUERY_WRITABLE | WSQUERY_EXECUTABLE));
}

/* At least the asker maps a valid page, even where the kernel keeps no count. */
static unsigned int share_count(uint64_t flags)
{
	unsigned int count = (flags & WSQUERY_SHARE_COUNT) >> WSQUERY_SHARE_COUNT_SHIFT;

	if (!is_shared(flags))
		return 0;
	return count ? count : 1;
}

/* QueryWorkingSet's code: 1 readable, 2 executable, 4 writable, 1 | 4 on copy. */
static unsigned int protection(uint64_t flags)
{
	unsigned int code = flags & WSQUERY_EXECUTABLE ? 2 : 0;

	if (!(flags & WSQUERY_WRITABLE))
		return code | (flags & WSQUERY_READABLE ? 1 : 0);
	code |= 4;
	if (is_shared(flags) && !(flags & WSQUERY_SHARED))
		code |= 1;
	return code;
}

/* The same as the other functions' constants. */
static const unsigned short win32_protection[8] = {
	PAGE_NOACCESS, PAGE_READONLY, PAGE_EXECUTE, PAGE_EXECUTE_READ,
	PAGE_READWRITE, PAGE_WRITECOPY, PAGE_EXECUTE_READWRITE, PAGE_EXECUTE_WRITECOPY,
};

ULONG_PTR wsq_win_set_ex_word(uint64_t flags)
{
	unsigned int node = (flags & WSQUERY_NODE) >> WSQUERY_NODE_SHIFT;
	ULONG_PTR word = 0;

	if (is_shared(flags))
		word |= EX_SHARED | EX_SHARED_ORIGINAL;
	if (flags & WSQUERY_HWPOISON)
		word |= EX_BAD;

	if (is_valid(flags)) {
		word |= EX_VALID;
		word |= (ULONG_PTR)share_count(flags) << EX_SHARE_COUNT_SHIFT;
		word |= (ULONG_PTR)win32_protection[protection(flags)] << EX_PROTECTION_SHIFT;
		word |= (ULONG_PTR)(node > EX_NODE_MAX ? EX_NODE_MAX : node) << EX_NODE_SHIFT;
		if (flags & WSQUERY_LOCKED)
			word |= EX_LOCKED;
		if (flags & WSQUERY_HUGETLB)
			word |= EX_LARGE_PAGE;
	} else if (flags & (WSQUERY_PRESENT | WSQUERY_CACHED)) {
		word |= EX_RESIDENT;
	} else if (flags & WSQUERY_SWAPPED) {
		word |= EX_PAGEFILE;
	}
	return word;
}

/* Return: whether the page is in the working set; if so, its @word without address. */
bool wsq_win_set_word(uint64_t flags, ULONG_PTR *word)
{
	if (!is_valid(flags))
		return false;
	*word = protection(flags) | share_count(flags) << SET_SHARE_COUNT_SHIFT;
	if (is_shared(flags))
		*word |= SET_SHARED;
	return true;
}
