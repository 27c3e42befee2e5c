/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * As much of Wine's headers as the inserted code needs, to compile and test it
 * without Wine.
 */
#ifndef SYNTHETIC_WINE_H
#define SYNTHETIC_WINE_H

#include <stddef.h>
#include <stdint.h>

#define WINAPI

typedef int BOOL, LONG, NTSTATUS;
typedef unsigned int DWORD, ULONG, ACCESS_MASK;
typedef unsigned char BYTE;
typedef unsigned long long UINT64;
typedef uintptr_t ULONG_PTR, UINT_PTR;
typedef size_t SIZE_T;
typedef void *HANDLE, *PVOID;
typedef const void *LPCVOID;

#if __SIZEOF_POINTER__ == 8
#define _WIN64
#endif

#define TRUE	1
#define FALSE	0
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define C_ASSERT(e)	extern void assert_that(int [(e) ? 1 : -1])

#define PAGE_NOACCESS		0x01
#define PAGE_READONLY		0x02
#define PAGE_READWRITE		0x04
#define PAGE_WRITECOPY		0x08
#define PAGE_EXECUTE		0x10
#define PAGE_EXECUTE_READ	0x20
#define PAGE_EXECUTE_READWRITE	0x40
#define PAGE_EXECUTE_WRITECOPY	0x80
#define PAGE_GUARD		0x100
#define PAGE_NOCACHE		0x200
#define SEC_RESERVE		0x04000000
#define SEC_NOCACHE		0x10000000

#define STATUS_SUCCESS			0
#define STATUS_NO_MORE_ENTRIES		((NTSTATUS)0x8000001a)
#define STATUS_INVALID_HANDLE		((NTSTATUS)0xc0000008)
#define STATUS_ACCESS_DENIED		((NTSTATUS)0xc0000022)
#define STATUS_NOT_SUPPORTED		((NTSTATUS)0xc00000bb)
#define STATUS_PROCESS_IS_TERMINATING	((NTSTATUS)0xc000010a)
#define THREAD_QUERY_LIMITED_INFORMATION 0x800
#define NtCurrentProcess()		((HANDLE)~(ULONG_PTR)0)

typedef enum { MemoryBasicInformation, MemoryWorkingSetExInformation = 4 } MEMORY_INFORMATION_CLASS;

typedef union {
	ULONG_PTR Flags;
	struct {
		ULONG_PTR Valid : 1;
		ULONG_PTR ShareCount : 3;
		ULONG_PTR Win32Protection : 11;
		ULONG_PTR Shared : 1;
	};
} MEMORY_WORKING_SET_EX_BLOCK;

typedef struct {
	PVOID VirtualAddress;
	MEMORY_WORKING_SET_EX_BLOCK VirtualAttributes;
} MEMORY_WORKING_SET_EX_INFORMATION;

#define WINE_DEFAULT_DEBUG_CHANNEL(channel)
#define TRACE(...)	do { } while (0)

#define ReadNoFence(p)	(*(volatile LONG *)(p))
#define InterlockedCompareExchange(p, new, old) __sync_val_compare_and_swap(p, old, new)

/* The server: what it answers is up to the test. */
struct server_request { HANDLE handle; };
struct server_reply { int unix_pid; };
extern NTSTATUS wine_server_call(struct server_request *req);
extern struct server_reply server_reply;
#define SERVER_START_REQ(name)	do { struct server_request request, *req = &request; \
				     struct server_reply *reply = &server_reply;
#define SERVER_END_REQ		} while (0)
#define wine_server_obj_handle(handle) (handle)

extern NTSTATUS NtGetNextThread(HANDLE process, HANDLE last, ACCESS_MASK access, ULONG attributes,
				ULONG flags, HANDLE *thread);
extern NTSTATUS NtClose(HANDLE handle);

#endif
