/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the Windows side share.
 */
#ifndef WSQ_WIN_H
#define WSQ_WIN_H

#include <queryworkingsetex.h>

#include "lib.h"

/* What the words below are made of. */
#define WIN_SET_ATTRS	(WSQUERY_SHARED | WSQUERY_READABLE | WSQUERY_EXECUTABLE | WSQUERY_COPY | \
			 WSQUERY_SHARE_COUNT)
#define WIN_SET_EX_ATTRS (WIN_SET_ATTRS | WSQUERY_LOCKED | WSQUERY_HUGETLB | WSQUERY_HWPOISON | \
			  WSQUERY_CACHED)

/* winword.c */
ULONG_PTR wsq_win_set_ex_word(uint64_t flags);
bool wsq_win_set_word(uint64_t flags, ULONG_PTR *word);

/* winhandle.c */
bool wsq_win_is_self(HANDLE process);
int wsq_win_context(const struct wsquery **ws, struct wsquery *space, HANDLE process);
void wsq_win_context_done(const struct wsquery *ws);

/* Beside errno values: an array that is not aligned to its entries. */
#define WIN_MISALIGNED	(-EDOM)

static inline bool wsq_win_misaligned(const void *array)
{
	return (uintptr_t)array & (sizeof(ULONG_PTR) - 1);
}

/* winset.c */
int wsq_win_set(HANDLE process, void *set, size_t size, size_t *returned);

#endif /* WSQ_WIN_H */
