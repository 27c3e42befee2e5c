/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Goes into dlls/ntdll/unix/virtual.c behind get_working_set_ex, without this comment. */
static DWORD get_valid_prot( BYTE vprot, unsigned int map_prot )
{
    if ((vprot & VPROT_GUARD) || !(vprot & 0x0f)) return 0;
    return get_win32_prot( vprot, map_prot );
}

/* A page that is known to be committed: its protection byte tells all, no need to find its view. */
static BOOL query_committed_page( MEMORY_WORKING_SET_EX_INFORMATION *info )
{
    BYTE vprot = get_page_vprot( info->VirtualAddress );
    UINT64 flags;

    if (!(vprot & VPROT_COMMITTED) || nocache_views) return FALSE;
    if (!wsquery_page( info->VirtualAddress, &flags )) return FALSE;
    info->VirtualAttributes.Flags = wsquery_attributes( flags, get_valid_prot( vprot, 0 ));
    return TRUE;
}

/* Pages in any order. Neighbours are mostly in the same view and alike. */
static BOOL query_pages( MEMORY_WORKING_SET_EX_INFORMATION *info, SIZE_T count )
{
    struct page_state *pages;
    struct file_view *view = NULL;
    SIZE_T i, view_size = 0;
    char *page, *view_base = NULL;
    ULONG_PTR attributes = 0;
    UINT64 key, last_key = 0;
    sigset_t sigset;
    BYTE vprot;

    server_enter_uninterrupted_section( &virtual_mutex, &sigset );
    if ((pages = wsquery_pages( -1, info, count )))
    {
        for (i = 0; i < count; i++)
        {
            page = ROUND_ADDR( info[i].VirtualAddress, page_mask );
            if ((SIZE_T)(page - view_base) >= view_size)
            {
                view = find_view( page, 0 );
                view_base = view ? view->base : page;
                view_size = view ? view->size : page_size;
                attributes = last_key = 0;
            }
            vprot = view ? get_page_vprot( page ) : 0;
            if (view && (view->protect & SEC_RESERVE) && !(vprot & VPROT_COMMITTED) &&
                wsquery_in_use( pages[i].flags ))
                get_committed_size( view, page, ~(SIZE_T)0, &vprot, 0 );

            key = (vprot & VPROT_COMMITTED) ? pages[i].flags | (UINT64)vprot << 56 : 0;
            if (key != last_key)
            {
                attributes = 0;
                if (key) attributes = wsquery_attributes( pages[i].flags, get_valid_prot( vprot, view->protect ));
                last_key = key;
            }
            info[i].VirtualAttributes.Flags = attributes;
        }
    }
    server_leave_uninterrupted_section( &virtual_mutex, &sigset );

    if (pages && (void *)pages != info) free( pages );
    return !!pages;
}

/* Asks the wsquery device where there is one. */
static NTSTATUS query_working_set_ex( HANDLE process, LPCVOID addr,
                                      MEMORY_WORKING_SET_EX_INFORMATION *info,
                                      SIZE_T len, SIZE_T *res_len )
{
    SIZE_T count = len / sizeof(*info);
    NTSTATUS status = STATUS_NOT_SUPPORTED;
    BOOL self = process == NtCurrentProcess();

    if (count)
    {
        if (!self) status = wsquery_process( process, info, count, &self );
        if (self && ((count == 1 && query_committed_page( info )) || query_pages( info, count )))
            status = STATUS_SUCCESS;
    }
    if (status == STATUS_NOT_SUPPORTED)
        return get_working_set_ex( self ? NtCurrentProcess() : process, addr, info, len, res_len );
    if (!status && res_len) *res_len = len;
    return status;
}

