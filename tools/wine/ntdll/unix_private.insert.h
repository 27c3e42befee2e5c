/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Goes into dlls/ntdll/unix/unix_private.h, without this comment. */
/* wsquery.c */
struct page_state
{
    UINT64 addr;
    UINT64 flags;
};

extern ULONG_PTR wsquery_attributes( UINT64 flags, DWORD win32_prot );
extern BOOL wsquery_in_use( UINT64 flags );
extern BOOL wsquery_page( const void *addr, UINT64 *flags );
extern struct page_state *wsquery_pages( int pagemap_fd, MEMORY_WORKING_SET_EX_INFORMATION *info,
                                           SIZE_T count );
extern NTSTATUS wsquery_process( HANDLE process, MEMORY_WORKING_SET_EX_INFORMATION *info,
                                 SIZE_T count, BOOL *self );

