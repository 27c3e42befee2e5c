// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The places in Wine's file of this name that the edit script looks for, and what
 * the inserted code calls: views are four pages long, in an array.
 */
struct wine_rb_tree { int unused; };

struct file_view
{
    void *base;
    size_t size;
    unsigned int protect;
};

#define VPROT_GUARD     0x10
#define VPROT_COMMITTED 0x20
#define VPROT_REPLACED  0x0400
#define VIEWS           4
#define VIEW_PAGES      4
#define FIRST_PAGE      0x100000u
#define ROUND_ADDR(addr,mask) ((void *)((UINT_PTR)(addr) & ~(UINT_PTR)(mask)))

static struct wine_rb_tree views_tree;
static pthread_mutex_t virtual_mutex = PTHREAD_MUTEX_INITIALIZER;
static const UINT_PTR page_mask = 0xfff;
static const size_t page_size = 0x1000;
static struct file_view views[VIEWS];
static BYTE vprots[VIEWS * VIEW_PAGES];
static unsigned int lookups, server_calls, old_way;

static BYTE get_page_vprot( const void *addr )
{
    UINT_PTR page = (UINT_PTR)addr / page_size - FIRST_PAGE / page_size;

    return page < VIEWS * VIEW_PAGES ? vprots[page] : 0;
}

static struct file_view *find_view( const void *addr, size_t size )
{
    UINT_PTR i = ((UINT_PTR)addr - FIRST_PAGE) / (VIEW_PAGES * page_size);

    lookups++;
    if (i >= VIEWS || !views[i].size || size) return NULL;
    return &views[i];
}

static int create_view( struct file_view **ret, void *base, size_t size, unsigned int vprot )
{
    struct file_view *view = &views[((UINT_PTR)base - FIRST_PAGE) / (VIEW_PAGES * page_size)];

    view->base    = base;
    view->size    = size;
    view->protect = vprot;
    *ret = view;
    return 0;
}

static int map_view( struct file_view **ret, void *base, size_t size, unsigned int vprot )
{
    struct file_view *view = find_view( base, 0 );

    if (view)
    {
        view->protect = vprot | VPROT_REPLACED;
        *ret = view;
        return 0;
    }
    return create_view( ret, base, size, vprot );
}

static DWORD get_win32_prot( BYTE vprot, unsigned int map_prot )
{
    static const DWORD prots[4] = { PAGE_NOACCESS, PAGE_READONLY, PAGE_READWRITE, PAGE_READWRITE };

    return prots[vprot & 3] | ((map_prot & SEC_NOCACHE) ? PAGE_NOCACHE : 0);
}

static SIZE_T get_committed_size( struct file_view *view, void *base, size_t max_size, BYTE *vprot, BYTE mask )
{
    server_calls++;
    *vprot |= VPROT_COMMITTED;
    return mask ? 0 : min( view->size - ((char *)base - (char *)view->base), max_size );
}

static void server_enter_uninterrupted_section( pthread_mutex_t *mutex, sigset_t *sigset )
{
    sigemptyset( sigset );
    pthread_mutex_lock( mutex );
}

static void server_leave_uninterrupted_section( pthread_mutex_t *mutex, sigset_t *sigset )
{
    if (sigset) pthread_mutex_unlock( mutex );
}

static NTSTATUS get_working_set_ex( HANDLE process, LPCVOID addr,
                                    MEMORY_WORKING_SET_EX_INFORMATION *info,
                                    SIZE_T len, SIZE_T *res_len )
{
    old_way++;
    if (addr || !info || len == 1) return -1;
    if (res_len) *res_len = len;
    return process == NtCurrentProcess() ? STATUS_SUCCESS : STATUS_INVALID_HANDLE;
}

NTSTATUS WINAPI NtQueryVirtualMemory( HANDLE process, LPCVOID addr,
                                      MEMORY_INFORMATION_CLASS info_class,
                                      PVOID buffer, SIZE_T len, SIZE_T *res_len )
{
    (void)views_tree;
    switch (info_class)
    {
        case MemoryWorkingSetExInformation:
            return get_working_set_ex( process, addr, buffer, len, res_len );
        default:
            return -1;
    }
}
