/*
 * Page states from the wsquery device
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where /dev/wsquery exists, it tells which pages are in memory or in swap with
 * one ioctl for a whole request. Where it does not, all functions here fail and
 * their caller does without.
 */

#if 0
#pragma makedep unix
#endif

#include "config.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#ifdef HAVE_LINUX_WSQUERY_H
# include <linux/wsquery.h>
#endif

#include "ntstatus.h"
#define WIN32_NO_STATUS
#include "windef.h"
#include "winnt.h"
#include "winternl.h"
#include "unix_private.h"
#include "wine/debug.h"

WINE_DEFAULT_DEBUG_CHANNEL(virtual);

#ifdef WSQUERY_IOC_LIST

/* attributes that are made from more than one field of the structure */
#define ATTR_VALID           ((ULONG_PTR)1 << 0)
#define ATTR_SHARE_COUNT     1
#define ATTR_PROTECTION      4
#define ATTR_SHARED          ((ULONG_PTR)1 << 15)
#define ATTR_NODE            16
#define ATTR_LOCKED          ((ULONG_PTR)1 << 22)
#define ATTR_LARGE_PAGE      ((ULONG_PTR)1 << 23)
#define ATTR_RESIDENT        ((ULONG_PTR)1 << 22)  /* Location, when not valid */
#define ATTR_PAGEFILE        ((ULONG_PTR)2 << 22)
#define ATTR_SHARED_ORIGINAL ((ULONG_PTR)1 << 30)
#define ATTR_BAD             ((ULONG_PTR)1 << 31)

#define QUERY_ATTRS (WSQUERY_COPY | WSQUERY_SHARE_COUNT | WSQUERY_LOCKED | WSQUERY_HUGETLB | \
                     WSQUERY_HWPOISON | WSQUERY_CACHED | WSQUERY_NODE)
/* another process' views are not known, so that the kernel's protections have to do */
#define PROCESS_ATTRS (QUERY_ATTRS | WSQUERY_READABLE | WSQUERY_EXECUTABLE | WSQUERY_SHARED)

static LONG device_fd = -2;
static BOOL single_node;

static BOOL is_single_node(void)
{
    char buffer[4];
    ssize_t len;
    int fd = open( "/sys/devices/system/node/possible", O_RDONLY | O_CLOEXEC );

    if (fd == -1) return TRUE;  /* a kernel without NUMA */
    len = read( fd, buffer, sizeof(buffer) );
    close( fd );
    return len == 2 && buffer[0] == '0';
}

static int get_device(void)
{
    LONG fd = ReadNoFence( &device_fd ), prev;

    if (fd != -2) return fd;
    if ((fd = open( "/dev/wsquery", O_RDONLY | O_CLOEXEC )) < 0) fd = -1;
    else single_node = is_single_node();
    TRACE( "%s /dev/wsquery\n", fd == -1 ? "no" : "using" );
    prev = InterlockedCompareExchange( &device_fd, fd, -2 );
    if (prev == -2) return fd;
    if (fd != -1) close( fd );
    return prev;
}

static BOOL is_shared( UINT64 flags )
{
    return (flags & (WSQUERY_FILE | WSQUERY_SHMEM)) && !(flags & WSQUERY_COPY);
}

/***********************************************************************
 *           wsquery_attributes
 *
 * Attributes of a page whose protections are win32_prot, 0 if they permit no access.
 */
ULONG_PTR wsquery_attributes( UINT64 flags, DWORD win32_prot )
{
    ULONG_PTR ret = 0, share_count, node;

    if (is_shared( flags )) ret |= ATTR_SHARED | ATTR_SHARED_ORIGINAL;
    if (flags & WSQUERY_HWPOISON) ret |= ATTR_BAD;

    if ((flags & WSQUERY_PRESENT) && win32_prot)
    {
        ret |= ATTR_VALID | (ULONG_PTR)win32_prot << ATTR_PROTECTION;
        if (is_shared( flags ))
        {
            share_count = (flags & WSQUERY_SHARE_COUNT) >> WSQUERY_SHARE_COUNT_SHIFT;
            ret |= max( share_count, 1 ) << ATTR_SHARE_COUNT;
        }
        node = (flags & WSQUERY_NODE) >> WSQUERY_NODE_SHIFT;
        ret |= min( node, 63 ) << ATTR_NODE;
        if (flags & WSQUERY_LOCKED) ret |= ATTR_LOCKED;
        if (flags & WSQUERY_HUGETLB) ret |= ATTR_LARGE_PAGE;
    }
    else if (flags & (WSQUERY_PRESENT | WSQUERY_CACHED)) ret |= ATTR_RESIDENT;
    else if (flags & WSQUERY_SWAPPED) ret |= ATTR_PAGEFILE;
    return ret;
}

/* Win32 protections of a page of another process */
static DWORD get_process_prot( UINT64 flags )
{
    static const BYTE prots[8] =
    {
        0, PAGE_READONLY, PAGE_EXECUTE, PAGE_EXECUTE_READ,
        PAGE_READWRITE, PAGE_WRITECOPY, PAGE_EXECUTE_READWRITE, PAGE_EXECUTE_WRITECOPY
    };
    unsigned int idx = (flags & WSQUERY_EXECUTABLE) ? 2 : 0;

    if (!(flags & WSQUERY_WRITABLE)) return prots[idx | ((flags & WSQUERY_READABLE) ? 1 : 0)];
    if (is_shared( flags ) && !(flags & WSQUERY_SHARED)) idx |= 1;  /* copied when written to */
    return prots[idx | 4];
}

/***********************************************************************
 *           wsquery_in_use
 *
 * Whether the page has any content.
 */
BOOL wsquery_in_use( UINT64 flags )
{
    return !!(flags & (WSQUERY_PRESENT | WSQUERY_SWAPPED | WSQUERY_CACHED));
}

/***********************************************************************
 *           wsquery_page
 *
 * State of a single page of this process.
 */
BOOL wsquery_page( const void *addr, UINT64 *flags )
{
    int ret, fd = get_device();

    if (fd == -1 || !single_node) return FALSE;  /* there is no room for the node */
    if ((ret = ioctl( fd, WSQUERY_IOC_ONE, (unsigned long)addr )) == -1) return FALSE;
    *flags = ret;
    return TRUE;
}

/***********************************************************************
 *           wsquery_pages
 *
 * States of any pages, of this process if pagemap_fd is -1. They replace the
 * attributes in the caller's array where these are wide enough, otherwise they
 * are in an array of their own, which the caller has to free.
 */
struct page_state *wsquery_pages( int pagemap_fd, MEMORY_WORKING_SET_EX_INFORMATION *info, SIZE_T count )
{
    struct wsquery_list list = { .size = sizeof(list), .flags = WSQUERY_SHARED_ONLY };
    struct page_state *pages = (struct page_state *)info;
    int fd = get_device();

    C_ASSERT( sizeof(*pages) == sizeof(struct wsquery_entry) );

    if (fd == -1) return NULL;
#ifndef _WIN64
    {
        SIZE_T i;

        if (!(pages = malloc( count * sizeof(*pages) ))) return NULL;
        for (i = 0; i < count; i++) pages[i].addr = (ULONG_PTR)info[i].VirtualAddress;
    }
#endif
    list.entries = (ULONG_PTR)pages;
    list.count   = count;
    list.attrs   = QUERY_ATTRS;
    if (pagemap_fd != -1)
    {
        list.flags |= WSQUERY_TARGET_FD;
        list.target = pagemap_fd;
        list.attrs  = PROCESS_ATTRS;
    }
    if (!ioctl( fd, WSQUERY_IOC_LIST, &list )) return pages;
    if ((void *)pages != info) free( pages );
    return NULL;
}

static NTSTATUS get_process_unix_pid( HANDLE process, int *pid )
{
    HANDLE thread;
    NTSTATUS status;

    status = NtGetNextThread( process, 0, THREAD_QUERY_LIMITED_INFORMATION, 0, 0, &thread );
    if (status == STATUS_NO_MORE_ENTRIES) return STATUS_PROCESS_IS_TERMINATING;
    if (status) return status;

    SERVER_START_REQ( get_thread_times )
    {
        req->handle = wine_server_obj_handle( thread );
        if (!(status = wine_server_call( req ))) *pid = reply->unix_pid;
    }
    SERVER_END_REQ;
    NtClose( thread );
    return status;
}

/***********************************************************************
 *           wsquery_process
 *
 * Working set of another process. STATUS_NOT_SUPPORTED without an answer; a handle of
 * the current process makes *self TRUE and gives none.
 */
NTSTATUS wsquery_process( HANDLE process, MEMORY_WORKING_SET_EX_INFORMATION *info, SIZE_T count, BOOL *self )
{
    struct page_state *pages;
    char path[32];
    NTSTATUS status;
    SIZE_T i;
    int pid, pagemap_fd;

    if (get_device() == -1) return STATUS_NOT_SUPPORTED;
    if ((status = get_process_unix_pid( process, &pid ))) return status;
    if ((*self = (pid == getpid()))) return STATUS_NOT_SUPPORTED;

    snprintf( path, sizeof(path), "/proc/%u/pagemap", pid );
    if ((pagemap_fd = open( path, O_RDONLY | O_CLOEXEC )) == -1) return STATUS_ACCESS_DENIED;
    pages = wsquery_pages( pagemap_fd, info, count );
    close( pagemap_fd );
    if (!pages) return STATUS_NOT_SUPPORTED;

    for (i = 0; i < count; i++)
        info[i].VirtualAttributes.Flags = wsquery_attributes( pages[i].flags, get_process_prot( pages[i].flags ));
    if ((void *)pages != info) free( pages );
    return STATUS_SUCCESS;
}

#else  /* WSQUERY_IOC_LIST */

ULONG_PTR wsquery_attributes( UINT64 flags, DWORD win32_prot )
{
    return 0;
}

BOOL wsquery_in_use( UINT64 flags )
{
    return FALSE;
}

BOOL wsquery_page( const void *addr, UINT64 *flags )
{
    return FALSE;
}

struct page_state *wsquery_pages( int pagemap_fd, MEMORY_WORKING_SET_EX_INFORMATION *info, SIZE_T count )
{
    return NULL;
}

NTSTATUS wsquery_process( HANDLE process, MEMORY_WORKING_SET_EX_INFORMATION *info, SIZE_T count, BOOL *self )
{
    return STATUS_NOT_SUPPORTED;
}

#endif  /* WSQUERY_IOC_LIST */
