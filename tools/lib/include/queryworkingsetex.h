/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * QueryWorkingSetEx and its neighbours, with the names, layouts and errors that
 * programs written for Windows expect. Sources of the rules: Microsoft's pages
 * for these functions and structures, and what Wine's psapi tests assert.
 *
 * A program that brings its own Windows types includes this header after them
 * and defines, before it,
 *  WSQUERY_OWN_WINDOWS_TYPES	if it has BOOL, DWORD, HANDLE, ... already
 *  WSQUERY_OWN_PSAPI_TYPES	if it has the PSAPI_* structures, too
 * which happens by itself after the headers of Wine, MinGW and the Windows SDK.
 * The widths must be those of Windows: BOOL and DWORD have 32 bits. Functions of
 * its own for errors and handles take the place of the library's.
 */
#ifndef QUERYWORKINGSETEX_H
#define QUERYWORKINGSETEX_H

#include <stdint.h>

#if defined(_WINDEF_) || defined(_WINDEF_H) || defined(_MINWINDEF_) || defined(__WINE_WINDEF_H)
# ifndef WSQUERY_OWN_WINDOWS_TYPES
#  define WSQUERY_OWN_WINDOWS_TYPES
# endif
#endif
#if defined(_PSAPI_H_) || defined(_PSAPI_H) || defined(__WINE_PSAPI_H)
# ifndef WSQUERY_OWN_PSAPI_TYPES
#  define WSQUERY_OWN_PSAPI_TYPES
# endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef WSQUERY_OWN_WINDOWS_TYPES
typedef int BOOL;
typedef uint32_t DWORD;
typedef int32_t NTSTATUS;
typedef void *PVOID;
typedef void *HANDLE;
typedef uintptr_t ULONG_PTR;
typedef uintptr_t SIZE_T;
#endif

#ifndef FALSE
#define FALSE	0
#endif
#ifndef TRUE
#define TRUE	1
#endif

#ifndef PAGE_NOACCESS
#define PAGE_NOACCESS		0x001
#define PAGE_READONLY		0x002
#define PAGE_READWRITE		0x004
#define PAGE_WRITECOPY		0x008
#define PAGE_EXECUTE		0x010
#define PAGE_EXECUTE_READ	0x020
#define PAGE_EXECUTE_READWRITE	0x040
#define PAGE_EXECUTE_WRITECOPY	0x080
#define PAGE_GUARD		0x100
#define PAGE_NOCACHE		0x200
#define PAGE_WRITECOMBINE	0x400
#endif

#ifndef ERROR_SUCCESS
#define ERROR_SUCCESS		0
#endif
#ifndef ERROR_ACCESS_DENIED
#define ERROR_TOO_MANY_OPEN_FILES	4
#define ERROR_ACCESS_DENIED	5
#define ERROR_INVALID_HANDLE	6
#define ERROR_NOT_ENOUGH_MEMORY	8
#define ERROR_BAD_LENGTH	24
#define ERROR_GEN_FAILURE	31
#define ERROR_NOT_SUPPORTED	50
#define ERROR_INVALID_PARAMETER	87
#define ERROR_NOACCESS		998
#endif

#ifndef STATUS_SUCCESS
#define STATUS_SUCCESS			((NTSTATUS)0x00000000)
#endif
#ifndef STATUS_INFO_LENGTH_MISMATCH
#define STATUS_DATATYPE_MISALIGNMENT	((NTSTATUS)0x80000002)
#define STATUS_UNSUCCESSFUL		((NTSTATUS)0xC0000001)
#define STATUS_INVALID_INFO_CLASS	((NTSTATUS)0xC0000003)
#define STATUS_INFO_LENGTH_MISMATCH	((NTSTATUS)0xC0000004)
#define STATUS_ACCESS_VIOLATION		((NTSTATUS)0xC0000005)
#define STATUS_INVALID_HANDLE		((NTSTATUS)0xC0000008)
#define STATUS_NO_MEMORY		((NTSTATUS)0xC0000017)
#define STATUS_ACCESS_DENIED		((NTSTATUS)0xC0000022)
#define STATUS_NOT_SUPPORTED		((NTSTATUS)0xC00000BB)
#endif

#ifndef PROCESS_QUERY_INFORMATION
#define PROCESS_VM_READ			0x0010
#define PROCESS_QUERY_INFORMATION	0x0400
#define PROCESS_QUERY_LIMITED_INFORMATION	0x1000
#endif

#ifndef WSQUERY_OWN_PSAPI_TYPES
/*
 * union PSAPI_WORKING_SET_EX_BLOCK - the attributes of a page
 *
 * Valid: 1 if the page is in memory, mapped and accessible; the other members
 * of the first structure then describe it. If 0, those of Invalid do.
 *
 * ShareCount: page-table entries that map the page, 7 for more; 0 for private
 * pages, at least 1 for shared ones.
 *
 * Shared: the page is a file's or shared memory's own, not a private copy.
 *
 * Invalid.Location: 1 in memory but not mapped or not accessible, 2 in the
 * pagefile (swap), 0 neither.
 */
typedef union _PSAPI_WORKING_SET_EX_BLOCK {
	ULONG_PTR Flags;

	__extension__ struct {
		ULONG_PTR Valid : 1;
		ULONG_PTR ShareCount : 3;
		ULONG_PTR Win32Protection : 11;
		ULONG_PTR Shared : 1;
		ULONG_PTR Node : 6;
		ULONG_PTR Locked : 1;
		ULONG_PTR LargePage : 1;
		ULONG_PTR Priority : 3;
		ULONG_PTR Reserved : 3;
		ULONG_PTR SharedOriginal : 1;
		ULONG_PTR Bad : 1;
#if UINTPTR_MAX > 0xffffffffU
		ULONG_PTR ReservedUlong : 32;
#endif
	};
	struct {
		ULONG_PTR Valid : 1;
		ULONG_PTR Reserved0 : 14;
		ULONG_PTR Shared : 1;
		ULONG_PTR Reserved1 : 5;
		ULONG_PTR PageTable : 1;
		ULONG_PTR Location : 2;
		ULONG_PTR Priority : 3;
		ULONG_PTR ModifiedList : 1;
		ULONG_PTR Reserved2 : 2;
		ULONG_PTR SharedOriginal : 1;
		ULONG_PTR Bad : 1;
#if UINTPTR_MAX > 0xffffffffU
		ULONG_PTR ReservedUlong : 32;
#endif
	} Invalid;
} PSAPI_WORKING_SET_EX_BLOCK, *PPSAPI_WORKING_SET_EX_BLOCK;

/** struct PSAPI_WORKING_SET_EX_INFORMATION - an address and its attributes */
typedef struct _PSAPI_WORKING_SET_EX_INFORMATION {
	PVOID VirtualAddress;
	PSAPI_WORKING_SET_EX_BLOCK VirtualAttributes;
} PSAPI_WORKING_SET_EX_INFORMATION, *PPSAPI_WORKING_SET_EX_INFORMATION;

/*
 * union PSAPI_WORKING_SET_BLOCK - a page of the working set
 *
 * Protection: 1 read-only, 2 executable, 3 both, 4 read-write, 5 copy-on-write,
 * 6 and 7 those two with execution.
 */
typedef union _PSAPI_WORKING_SET_BLOCK {
	ULONG_PTR Flags;

	__extension__ struct {
		ULONG_PTR Protection : 5;
		ULONG_PTR ShareCount : 3;
		ULONG_PTR Shared : 1;
		ULONG_PTR Reserved : 3;
		ULONG_PTR VirtualPage : sizeof(ULONG_PTR) * 8 - 12;
	};
} PSAPI_WORKING_SET_BLOCK, *PPSAPI_WORKING_SET_BLOCK;

/** struct PSAPI_WORKING_SET_INFORMATION - the working set */
typedef struct _PSAPI_WORKING_SET_INFORMATION {
	ULONG_PTR NumberOfEntries;
	PSAPI_WORKING_SET_BLOCK WorkingSetInfo[1];
} PSAPI_WORKING_SET_INFORMATION, *PPSAPI_WORKING_SET_INFORMATION;
#endif

/* The values of NtQueryVirtualMemory's class that exist here. */
#define WSQUERY_MemoryWorkingSetInformation	1
#define WSQUERY_MemoryWorkingSetExInformation	4

/**
 * QueryWorkingSetEx() - attributes of pages at any addresses
 * @process: GetCurrentProcess(), or of OpenProcess()
 * @array: PSAPI_WORKING_SET_EX_INFORMATION entries, with their addresses
 * @size: bytes; what is left after the last whole entry is ignored
 *
 * Return: TRUE, or FALSE and in GetLastError(): ERROR_BAD_LENGTH (not even one
 * entry), ERROR_NOACCESS (bad array), ERROR_INVALID_HANDLE (not a process, or
 * it exited), ERROR_NOT_ENOUGH_MEMORY. What of the array was answered before a
 * late error stays answered, the rest is untouched.
 */
BOOL QueryWorkingSetEx(HANDLE process, PVOID array, DWORD size);
BOOL K32QueryWorkingSetEx(HANDLE process, PVOID array, DWORD size);

/**
 * QueryWorkingSet() - the pages of the working set
 * @process: GetCurrentProcess(), or of OpenProcess()
 * @set: a PSAPI_WORKING_SET_INFORMATION
 * @size: its size in bytes
 *
 * Return: TRUE, or FALSE as QueryWorkingSetEx(). ERROR_BAD_LENGTH if @set is too
 * small: NumberOfEntries then holds the needed number, if there was room for it.
 */
BOOL QueryWorkingSet(HANDLE process, PVOID set, DWORD size);
BOOL K32QueryWorkingSet(HANDLE process, PVOID set, DWORD size);

/**
 * NtQueryVirtualMemory() - the call below the two
 * @process: GetCurrentProcess(), or of OpenProcess()
 * @address: ignored by the classes that exist
 * @info_class: 4 (MemoryWorkingSetExInformation) or 1 (MemoryWorkingSetInformation)
 * @info: as of QueryWorkingSetEx() and QueryWorkingSet()
 * @length: its size in bytes
 * @returned: bytes that were filled in, after success; or NULL
 *
 * Return: STATUS_SUCCESS, STATUS_INVALID_INFO_CLASS,
 * STATUS_INFO_LENGTH_MISMATCH, STATUS_ACCESS_VIOLATION,
 * STATUS_DATATYPE_MISALIGNMENT, STATUS_INVALID_HANDLE, STATUS_ACCESS_DENIED,
 * STATUS_NO_MEMORY.
 */
NTSTATUS NtQueryVirtualMemory(HANDLE process, const void *address, int info_class, PVOID info,
			      SIZE_T length, SIZE_T *returned);

/**
 * OpenProcess() - a handle to another process
 * @access: ignored: what the kernel permits is decided by the caller's rights
 * @inherit: whether the handle lives on after execve(2)
 * @pid: the process's id
 *
 * Return: a handle, or NULL and in GetLastError(): ERROR_INVALID_PARAMETER (no
 * such process), ERROR_ACCESS_DENIED, ERROR_TOO_MANY_OPEN_FILES.
 */
HANDLE OpenProcess(DWORD access, BOOL inherit, DWORD pid);

/**
 * CloseHandle() - give a handle back
 * @handle: of OpenProcess(); that of GetCurrentProcess() is accepted and ignored
 *
 * Return: TRUE, or FALSE and ERROR_INVALID_HANDLE in GetLastError().
 */
BOOL CloseHandle(HANDLE handle);

/** GetCurrentProcess() - the handle of the calling process, (HANDLE)-1 */
HANDLE GetCurrentProcess(void);

/** GetLastError() - why the last of these calls failed in this thread */
DWORD GetLastError(void);

/** SetLastError() - change what GetLastError() says in this thread */
void SetLastError(DWORD error);

#ifdef __cplusplus
}
#endif

#endif /* QUERYWORKINGSETEX_H */
