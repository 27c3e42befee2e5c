// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * QueryWorkingSetEx: one ioctl and one pass over the caller's array, in place.
 */
#include <stddef.h>
#include <sys/ioctl.h>

#include "win.h"

typedef PSAPI_WORKING_SET_EX_INFORMATION entry_t;

#ifdef __LP64__
_Static_assert(sizeof(entry_t) == sizeof(struct wsquery_entry) &&
	       offsetof(entry_t, VirtualAttributes) == offsetof(struct wsquery_entry, flags),
	       "answers are translated in place");

#define GROUP	8

/* Neighbours are often alike: then an entry costs a compare and a store. */
static void words_in_place(entry_t *entry, size_t count)
{
	size_t i = 0, k;

	while (i < count) {
		const uint64_t flags = entry[i].VirtualAttributes.Flags;
		const ULONG_PTR word = wsq_win_set_ex_word(flags);

		for (; i + GROUP <= count; i += GROUP) {
#pragma GCC unroll 8
			for (k = 0; k < GROUP; k++) {
				if (entry[i + k].VirtualAttributes.Flags != flags)
					goto differs;
				entry[i + k].VirtualAttributes.Flags = word;
			}
		}
		for (k = 0; i + k < count; k++) {
			if (entry[i + k].VirtualAttributes.Flags != flags)
				break;
			entry[i + k].VirtualAttributes.Flags = word;
		}
differs:
		i += k;
	}
}

static int set_ex_many(const struct wsquery *ws, entry_t *array, size_t count)
{
	struct wsquery_list list = {
		.size = sizeof(list),
		.flags = WSQUERY_SHARED_ONLY,
		.entries = (uintptr_t)array,
		.count = count,
		.attrs = WIN_SET_EX_ATTRS | WSQUERY_NODE,
	};
	int err;

	err = wsq_request(ws, WSQUERY_IOC_LIST, &list);
	words_in_place(array, list.done);
	return err;
}
#else
#define CHUNK	256

/* Entries of 8 bytes are widened, a chunk at a time. */
static int set_ex_many(const struct wsquery *ws, entry_t *array, size_t count)
{
	struct wsquery_entry wide[CHUNK];
	entry_t chunk[CHUNK];
	size_t length, i, n;
	int err = 0;

	for (; count && !err; array += n, count -= n) {
		struct wsquery_list list = {
			.size = sizeof(list),
			.flags = WSQUERY_SHARED_ONLY,
			.entries = (uintptr_t)wide,
			.attrs = WIN_SET_EX_ATTRS | WSQUERY_NODE,
		};

		n = count < CHUNK ? count : CHUNK;
		length = n * sizeof(*chunk);
		if (wsq_user_read(chunk, array, length) < length)
			return -EFAULT;
		for (i = 0; i < n; i++)
			wide[i].address = (uintptr_t)chunk[i].VirtualAddress;
		list.count = n;
		err = wsq_request(ws, WSQUERY_IOC_LIST, &list);
		for (i = 0; i < list.done; i++)
			chunk[i].VirtualAttributes.Flags = wsq_win_set_ex_word(wide[i].flags);
		length = list.done * sizeof(*chunk);
		if (wsq_user_write(array, chunk, length) < length)
			return -EFAULT;
	}
	return err;
}
#endif

/*
 * A single entry is asked for by value and answered by value, without the kernel
 * touching the array. That it is writable is known if it lies in the page where
 * this thread's last one was; the first goes the way of long arrays, which finds
 * out. Not if there are NUMA nodes: the value has no room for them.
 */
static __thread uintptr_t proven_page;

static bool set_ex_one(entry_t *entry)
{
	uintptr_t first = (uintptr_t)entry >> 12;
	uintptr_t last = ((uintptr_t)entry + sizeof(*entry) - 1) >> 12;
	int device, flags;

	if (first != last || first != proven_page || !wsq_one_node())
		return false;
	device = wsq_default_device();
	if (device < 0)
		return false;
	flags = ioctl(device, WSQUERY_IOC_ONE, (unsigned long)entry->VirtualAddress);
	if (flags < 0)
		return false;
	entry->VirtualAttributes.Flags = wsq_win_set_ex_word(flags);
	return true;
}

static int set_ex(HANDLE process, entry_t *array, size_t size, size_t *returned)
{
	size_t count = size / sizeof(*array);
	const struct wsquery *ws;
	struct wsquery space;
	int err;

	if (!count)
		return -EMSGSIZE;
	if (wsq_win_misaligned(array))
		return WIN_MISALIGNED;
	*returned = count * sizeof(*array);
	if (count == 1 && wsq_win_is_self(process) && set_ex_one(array))
		return 0;

	err = wsq_win_context(&ws, &space, process);
	if (err)
		return err;
	err = set_ex_many(ws, array, count);
	wsq_win_context_done(ws);
	if (!err)
		proven_page = (uintptr_t)array >> 12;
	return err;
}

static NTSTATUS status_of(int err)
{
	switch (err) {
	case 0:
		return STATUS_SUCCESS;
	case -EMSGSIZE:
		return STATUS_INFO_LENGTH_MISMATCH;
	case -EFAULT:
		return STATUS_ACCESS_VIOLATION;
	case WIN_MISALIGNED:
		return STATUS_DATATYPE_MISALIGNMENT;
	case -EBADF:
	case -ESRCH:
	case -EOPNOTSUPP:
		return STATUS_INVALID_HANDLE;
	case -EACCES:
	case -EPERM:
		return STATUS_ACCESS_DENIED;
	case -ENOMEM:
		return STATUS_NO_MEMORY;
	case -ENOENT:
	case -ENOTTY:
		return STATUS_NOT_SUPPORTED;
	default:
		return STATUS_UNSUCCESSFUL;
	}
}

NTSTATUS NtQueryVirtualMemory(HANDLE process, const void *address __attribute__((unused)),
			      int info_class, PVOID info, SIZE_T length, SIZE_T *returned)
{
	size_t filled;
	int err;

	if (info_class == WSQUERY_MemoryWorkingSetExInformation)
		err = set_ex(process, info, length, &filled);
	else if (info_class == WSQUERY_MemoryWorkingSetInformation)
		err = wsq_win_set(process, info, length, &filled);
	else
		return STATUS_INVALID_INFO_CLASS;
	if (!err && returned)
		*returned = filled;
	return status_of(err);
}

static DWORD error_of(NTSTATUS status)
{
	switch ((uint32_t)status) {
	case (uint32_t)STATUS_INFO_LENGTH_MISMATCH:
		return ERROR_BAD_LENGTH;
	case (uint32_t)STATUS_ACCESS_VIOLATION:
	case (uint32_t)STATUS_DATATYPE_MISALIGNMENT:
		return ERROR_NOACCESS;
	case (uint32_t)STATUS_INVALID_HANDLE:
		return ERROR_INVALID_HANDLE;
	case (uint32_t)STATUS_ACCESS_DENIED:
		return ERROR_ACCESS_DENIED;
	case (uint32_t)STATUS_NO_MEMORY:
		return ERROR_NOT_ENOUGH_MEMORY;
	case (uint32_t)STATUS_NOT_SUPPORTED:
		return ERROR_NOT_SUPPORTED;
	default:
		return ERROR_GEN_FAILURE;
	}
}

static BOOL answer(int err)
{
	if (!err)
		return TRUE;
	SetLastError(error_of(status_of(err)));
	return FALSE;
}

BOOL QueryWorkingSetEx(HANDLE process, PVOID array, DWORD size)
{
	size_t filled;

	return answer(set_ex(process, array, size, &filled));
}

BOOL QueryWorkingSet(HANDLE process, PVOID set, DWORD size)
{
	size_t filled;

	return answer(wsq_win_set(process, set, size, &filled));
}

BOOL K32QueryWorkingSetEx(HANDLE process, PVOID array, DWORD size)
{
	size_t filled;

	return answer(set_ex(process, array, size, &filled));
}

BOOL K32QueryWorkingSet(HANDLE process, PVOID set, DWORD size)
{
	size_t filled;

	return answer(wsq_win_set(process, set, size, &filled));
}
