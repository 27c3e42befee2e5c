/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/wsquery: which pages are in memory, which are in swap, which are neither.
 *
 * An answer is a snapshot: each page's state was true at some moment during the
 * call. Asking changes nothing: no page is faulted in, swapped in, marked
 * accessed or charged.
 *
 * All requests are laid out alike for 32-bit and 64-bit callers. Each structure
 * begins with its own size in bytes, so that it can grow: a shorter structure
 * than the kernel knows is taken as if the rest were zero, a longer one is
 * accepted as long as what the kernel does not know is zero.
 */
#ifndef _UAPI_LINUX_WSQUERY_H
#define _UAPI_LINUX_WSQUERY_H

#include <linux/const.h>
#include <linux/ioctl.h>
#include <linux/types.h>

/* Version of this interface, as &wsquery_info.version reports it. */
#define WSQUERY_VERSION		1

/**
 * DOC: Page states
 *
 * The state of a page: the low byte of every answer. It is always complete,
 * except that what is behind a hole is only told where the caller may know it
 * (see %WSQUERY_NOT_TOLD). A page of no mapping is 0.
 */

/**
 * define WSQUERY_PRESENT - an entry of the page table maps a page in memory
 *
 * Includes pages that a protection of PROT_NONE or a NUMA hinting entry hides
 * from the processor, the zero page, pages under migration and device-private
 * memory. /proc/PID/pagemap calls a page under migration swapped. mincore(2)
 * also counts pages that are only in the page cache; see %WSQUERY_CACHED.
 */
#define WSQUERY_PRESENT		_BITULL(0)

/**
 * define WSQUERY_SWAPPED - the page's content is in swap
 *
 * Either the page-table entry is a swap entry, or the mapping is of shared
 * memory (%WSQUERY_SHMEM) and the page cache says that the content is in swap.
 * The second kind is a hole to /proc/PID/pagemap and PAGEMAP_SCAN, and to
 * mincore(2) too once it left the swap cache. Never set with %WSQUERY_PRESENT.
 */
#define WSQUERY_SWAPPED		_BITULL(1)

/**
 * define WSQUERY_SHMEM - the mapping is of shared memory that can be swapped
 *
 * A tmpfs file, a memfd, System V shared memory or anonymous shared memory.
 * Never set with %WSQUERY_FILE.
 */
#define WSQUERY_SHMEM		_BITULL(2)

/**
 * define WSQUERY_MARKER - the entry of the page table is a marker, not a page
 *
 * A marker says something about a page that is not there: userfaultfd
 * write-protection, poison, a guard region. %WSQUERY_MARKER_KIND tells which.
 * A shared-memory page can have a marker and be in swap at the same time.
 * /proc/PID/pagemap calls a marker swapped.
 */
#define WSQUERY_MARKER		_BITULL(3)

/**
 * define WSQUERY_FILE - the mapping is of a file other than shared memory
 *
 * Includes hugetlbfs and device files. Says nothing about who owns the page:
 * see %WSQUERY_COPY.
 */
#define WSQUERY_FILE		_BITULL(4)

/**
 * define WSQUERY_HUGE - the page is mapped by one entry for a huge page
 *
 * A transparent huge page mapped as a whole, or a hugetlb page. Only set with
 * %WSQUERY_PRESENT. Of huge pages of the size of a PUD that are not hugetlb (DAX, device
 * memory) the attributes of the entry and of the page are not told.
 */
#define WSQUERY_HUGE		_BITULL(5)

/** define WSQUERY_WRITABLE - the mapping permits writing (PROT_WRITE) */
#define WSQUERY_WRITABLE	_BITULL(6)

/** define WSQUERY_MAPPED - the address belongs to a mapping */
#define WSQUERY_MAPPED		_BITULL(7)

/** define WSQUERY_STATE_MASK - all bits of the page state */
#define WSQUERY_STATE_MASK	0xffULL

/**
 * DOC: Attributes
 *
 * Told only when their bit is in the request's attrs; what is not asked for is
 * 0 in the answer. Those marked (P) look into the page's descriptor and cost
 * more per page, those marked (C) look into the page cache. What is marked (P) is 0 for
 * pages without a descriptor to look at: under migration, the zero page, device memory.
 */

/** define WSQUERY_SHARED - the mapping was made with MAP_SHARED */
#define WSQUERY_SHARED		_BITULL(8)
/** define WSQUERY_READABLE - the mapping permits reading (PROT_READ) */
#define WSQUERY_READABLE	_BITULL(9)
/** define WSQUERY_EXECUTABLE - the mapping permits execution (PROT_EXEC) */
#define WSQUERY_EXECUTABLE	_BITULL(10)
/** define WSQUERY_LOCKED - the mapping is locked in memory (mlock(2)) */
#define WSQUERY_LOCKED		_BITULL(11)
/** define WSQUERY_HUGETLB - the mapping is of hugetlb pages */
#define WSQUERY_HUGETLB		_BITULL(12)
/**
 * define WSQUERY_COPY - a private copy of the file's or shared memory's page
 *
 * (P) for present pages of private file mappings. An anonymous page, in memory
 * or in swap, of a mapping with %WSQUERY_FILE or %WSQUERY_SHMEM.
 */
#define WSQUERY_COPY		_BITULL(13)
/**
 * define WSQUERY_ZERO - the page is the kernel's shared zero page
 *
 * Or a part of the shared huge zero page.
 */
#define WSQUERY_ZERO		_BITULL(14)
/** define WSQUERY_DIRTY - the entry is dirty: the page was written through it */
#define WSQUERY_DIRTY		_BITULL(15)
/** define WSQUERY_ACCESSED - the entry has its accessed bit set */
#define WSQUERY_ACCESSED	_BITULL(16)
/**
 * define WSQUERY_SOFT_DIRTY - bit 55 of /proc/PID/pagemap
 *
 * Soft-dirty: written since the bits were cleared by /proc/PID/clear_refs. All pages
 * of a mapping that is newer than that, holes too.
 */
#define WSQUERY_SOFT_DIRTY	_BITULL(17)
/**
 * define WSQUERY_UFFD_WP - protected against writing by userfaultfd
 *
 * On present, swapped and migrating pages and on markers of that kind.
 * Kernels that can protect against all access use the same bit for it.
 */
#define WSQUERY_UFFD_WP		_BITULL(18)
/** define WSQUERY_MIGRATING - the page is being moved; set with %WSQUERY_PRESENT */
#define WSQUERY_MIGRATING	_BITULL(19)
/**
 * define WSQUERY_HWPOISON - the content is lost, an access gets SIGBUS
 *
 * A hardware-poisoned page, or a poison marker (a failed swap-in, or
 * UFFDIO_POISON).
 */
#define WSQUERY_HWPOISON	_BITULL(20)
/**
 * define WSQUERY_DEVICE - device memory
 *
 * Device-private or device-exclusive memory, or a mapping of a device's
 * addresses (VM_IO, VM_PFNMAP).
 */
#define WSQUERY_DEVICE		_BITULL(21)
/** define WSQUERY_GUARD - a guard marker (MADV_GUARD_INSTALL) */
#define WSQUERY_GUARD		_BITULL(22)
/**
 * define WSQUERY_CACHED - not mapped here, but in the page cache
 *
 * (C) Never set with %WSQUERY_PRESENT or %WSQUERY_SWAPPED. A page that is still
 * being read counts. Never told for hugetlb, DAX and device files.
 */
#define WSQUERY_CACHED		_BITULL(23)
/**
 * define WSQUERY_NOT_TOLD - the caller may not know what is behind this hole
 *
 * (C) The page of a file or of shared memory has no page-table entry, and the
 * caller neither owns the file nor may write it, so that the page cache behind
 * it is not told. The rule is that of mincore(2), which invents residency in
 * this case; a shared mapping of the caller's that may be made writable counts as
 * the right to write. In another process only the owner is told of files that are not
 * shared memory, since their file system could have to wait for a server.
 * &wsquery_range.not_told counts these pages even if this attribute was not asked
 * for: those of shared memory always, those of other files if
 * %WSQUERY_CACHED was asked for, since else nothing is kept back.
 */
#define WSQUERY_NOT_TOLD	_BITULL(24)
/** define WSQUERY_KSM - (P) merged with equal pages by KSM */
#define WSQUERY_KSM		_BITULL(25)
/**
 * define WSQUERY_SHARE_COUNT - (P) how many entries of page tables map the page
 *
 * A field of 3 bits: 0 to 7, where 7 stands for 7 or more; on kernels that
 * count whole folios only, of the folio; for a page mapped by an entry for a huge page,
 * of the first page of that. 0 for pages that are not present, the
 * zero page and device memory.
 */
#define WSQUERY_SHARE_COUNT	(7ULL << WSQUERY_SHARE_COUNT_SHIFT)
#define WSQUERY_SHARE_COUNT_SHIFT	26
/**
 * define WSQUERY_NODE - (P) NUMA node of a present page
 *
 * A field of 10 bits. Costs nothing where there is one node only.
 */
#define WSQUERY_NODE		(0x3ffULL << WSQUERY_NODE_SHIFT)
#define WSQUERY_NODE_SHIFT	32
/**
 * define WSQUERY_MARKER_KIND - the kernel's own bits of a marker
 *
 * A field of 8 bits. %WSQUERY_MARKER_UFFD_WP and so on where this interface has
 * a name for them; a kernel may have kinds that it has not.
 */
#define WSQUERY_MARKER_KIND	(0xffULL << WSQUERY_MARKER_KIND_SHIFT)
#define WSQUERY_MARKER_KIND_SHIFT	42

#define WSQUERY_MARKER_UFFD_WP	_BITULL(WSQUERY_MARKER_KIND_SHIFT + 0)
#define WSQUERY_MARKER_POISON	_BITULL(WSQUERY_MARKER_KIND_SHIFT + 1)
#define WSQUERY_MARKER_GUARD	_BITULL(WSQUERY_MARKER_KIND_SHIFT + 2)

/**
 * define WSQUERY_ONE_MASK - the bits that WSQUERY_IOC_ONE returns
 *
 * All that fit in an int but %WSQUERY_KSM, for which the descriptor of every anonymous
 * page would have to be looked at.
 */
#define WSQUERY_ONE_MASK	(0x7fffffffULL & ~WSQUERY_KSM)

/**
 * DOC: Requests
 *
 * Errors common to all requests:
 *
 * %EINVAL: the size is smaller than the first version of the structure, an
 * unknown bit in flags or attrs, a reserved field or an unused field that is
 * not zero, an address or a length that is not a multiple of the page size, a
 * range that goes past the end of 64 bits, an entry size that does not exist,
 * or an array that is not aligned to its entries. Nothing was written.
 *
 * %E2BIG: the structure is longer than the kernel knows, and the unknown part
 * is not zero; or it is longer than a page. Nothing was written.
 *
 * %EFAULT: the structure or an array cannot be read or written.
 *
 * %EBADF: the target is not an open file descriptor.
 *
 * %EOPNOTSUPP: the target is not a descriptor of /proc/PID/pagemap, or the
 * module could not learn to recognise one (no /proc).
 *
 * %ESRCH: the target's address space is gone: it exited or executed another
 * program.
 *
 * %EPERM: swap locations were asked for without CAP_SYS_ADMIN.
 *
 * %EINTR: a fatal signal arrived.
 *
 * %ENOMEM: no memory for a buffer.
 *
 * %ENOTTY: no such ioctl.
 *
 * After an error other than %EINVAL and %E2BIG the request's done tells how far
 * the answer goes, if the structure could be written at all: everything up to
 * there was answered, nothing after it was written. not_told is then only a
 * bound.
 */

/**
 * define WSQUERY_TARGET_FD - ask about another process
 *
 * The request's target is an open file descriptor of /proc/PID/pagemap. The
 * kernel checked at its open(2) that the opener may look into the process.
 * Without this flag the query is about the caller, and target must be 0.
 */
#define WSQUERY_TARGET_FD	_BITUL(0)

/**
 * define WSQUERY_SHARED_ONLY - count sharers of shared mappings only
 *
 * %WSQUERY_SHARE_COUNT is only told for pages of file and shared-memory mappings
 * and 0 for those of anonymous ones, which then cost no look at descriptors. It
 * is what QueryWorkingSetEx of Windows counts.
 */
#define WSQUERY_SHARED_ONLY	_BITUL(1)

/**
 * struct wsquery_info - what this module and kernel can do
 * @size: in: size of this structure in bytes
 * @version: out: %WSQUERY_VERSION of the module
 * @forms: out: bit n is set if the ioctl with number n exists
 * @flags: out: all bits that the flags of a request may have
 * @page_size: out: bytes in a page
 * @attrs: out: all attributes that the attrs of a request may have; not the bits of
 *	the state, which are always told
 * @marker_kinds: out: kinds of markers that have a name here and exist in this
 *	kernel, as bits of %WSQUERY_MARKER_KIND
 * @lock_pages: out: entries of page tables that are looked at in one hold of the
 *	target's mmap lock, plus at most the rest of the table that it ends in
 * @call_bytes: out: the most kernel memory that one call uses, in bytes
 *
 * Whatever is listed here, a request with those very values accepts.
 */
struct wsquery_info {
	__u32 size;
	__u32 version;
	__aligned_u64 forms;
	__u32 flags;
	__u32 page_size;
	__aligned_u64 attrs;
	__aligned_u64 marker_kinds;
	__u32 lock_pages;
	__u32 call_bytes;
};

/**
 * struct wsquery_range - the common head of all requests about a range
 * @size: in: size of the whole structure in bytes, not only of this head
 * @flags: in: %WSQUERY_TARGET_FD, %WSQUERY_SHARED_ONLY, or 0
 * @target: in: descriptor of /proc/PID/pagemap with %WSQUERY_TARGET_FD, else 0
 * @entry_size: in: see &wsquery_pages; 0 in the others
 * @start: in: first address, a multiple of the page size
 * @length: in: bytes from @start, a multiple of the page size. May reach up to
 *	the end of 64 bits; addresses that no process can have are not mapped.
 * @attrs: in: attributes to tell, a mask of the bits defined above. Fields are
 *	asked for by all their bits.
 * @done: out: bytes from @start that were answered
 * @not_told: out: pages for which %WSQUERY_NOT_TOLD holds
 */
struct wsquery_range {
	__u32 size;
	__u32 flags;
	__s32 target;
	__u32 entry_size;
	__aligned_u64 start;
	__aligned_u64 length;
	__aligned_u64 attrs;
	__aligned_u64 done;
	__aligned_u64 not_told;
};

/**
 * struct wsquery_pages - one entry per page, in order (WSQUERY_IOC_PAGES)
 * @range: the head. @range.entry_size is 1 for bytes of the page state, in
 *	which case @range.attrs must be 0; 8 for __u64 with the attributes asked
 *	for; 16 for &struct wsquery_page, which needs CAP_SYS_ADMIN in the initial
 *	user namespace at the open(2) of /dev/wsquery.
 * @entries: in: user address of the array of @range.length / page size entries,
 *	aligned to 8 if they are longer than a byte
 */
struct wsquery_pages {
	struct wsquery_range range;
	__aligned_u64 entries;
};

/**
 * struct wsquery_page - entry of 16 bytes: state and place in swap
 * @flags: state and attributes
 * @swap: for swapped pages, anonymous and shared: the swap type in bits 0 to 4
 *	and the offset above it, as /proc/PID/pagemap has them in bits 0 to 54.
 *	Otherwise 0.
 */
struct wsquery_page {
	__aligned_u64 flags;
	__aligned_u64 swap;
};

#define WSQUERY_SWAP_TYPE(swap)		((swap) & 0x1f)
#define WSQUERY_SWAP_OFFSET(swap)	((swap) >> 5)

/**
 * struct wsquery_regions - runs of equal pages (WSQUERY_IOC_REGIONS)
 * @range: the head. @range.done is smaller than @range.length after success if
 *	the array became full: ask again from there.
 * @regions: in: user address of an array of &struct wsquery_region, aligned to 8
 * @capacity: in: entries that fit in the array, at least 1
 * @select: in: 0, or a mask: only pages that have any of these bits set are
 *	reported. Only bits of the state and of @range.attrs.
 * @count: out: entries written
 *
 * The cost follows what is populated, not the range's length. Unmapped addresses
 * are never reported. Within a call neighbours with equal flags are one region.
 */
struct wsquery_regions {
	struct wsquery_range range;
	__aligned_u64 regions;
	__aligned_u64 capacity;
	__aligned_u64 select;
	__aligned_u64 count;
};

/**
 * struct wsquery_region - a run of pages that are alike
 * @start: address of the first page
 * @end: address after the last page
 * @flags: state and attributes of each of its pages
 */
struct wsquery_region {
	__aligned_u64 start;
	__aligned_u64 end;
	__aligned_u64 flags;
};

/**
 * struct wsquery_count - totals of a range, in pages (WSQUERY_IOC_COUNT)
 * @range: the head
 * @mask: in: which bits decide about @matched; only bits of the state and of
 *	@range.attrs
 * @value: in: what they must be; no bit outside @mask
 * @matched: out: mapped pages with (flags & @mask) == @value
 * @mapped: out: pages that belong to a mapping
 * @present: out: pages in memory and mapped
 * @swapped: out: pages in swap, those of @shmem_swapped included
 * @shmem_present: out: pages of shared-memory mappings that are present, private
 *	copies included
 * @shmem_swapped: out: shared-memory pages in swap, private copies not included
 * @file_present: out: pages of file mappings that are present
 * @huge: out: pages mapped by an entry for a huge page
 * @marker: out: pages with a marker
 *
 * After an error the totals are those of the first @range.done bytes.
 */
struct wsquery_count {
	struct wsquery_range range;
	__aligned_u64 mask;
	__aligned_u64 value;
	__aligned_u64 matched;
	__aligned_u64 mapped;
	__aligned_u64 present;
	__aligned_u64 swapped;
	__aligned_u64 shmem_present;
	__aligned_u64 shmem_swapped;
	__aligned_u64 file_present;
	__aligned_u64 huge;
	__aligned_u64 marker;
};

/**
 * struct wsquery_list - any addresses in any order (WSQUERY_IOC_LIST)
 * @size: in: size of this structure in bytes
 * @flags: in: %WSQUERY_TARGET_FD, %WSQUERY_SHARED_ONLY, or 0
 * @target: in: descriptor of /proc/PID/pagemap with %WSQUERY_TARGET_FD, else 0
 * @reserved: must be 0
 * @entries: in: user address of an array of &struct wsquery_entry, aligned to 8
 * @count: in: number of entries
 * @attrs: in: attributes to tell
 * @done: out: entries that were answered
 * @not_told: out: entries for which %WSQUERY_NOT_TOLD holds
 */
struct wsquery_list {
	__u32 size;
	__u32 flags;
	__s32 target;
	__u32 reserved;
	__aligned_u64 entries;
	__aligned_u64 count;
	__aligned_u64 attrs;
	__aligned_u64 done;
	__aligned_u64 not_told;
};

/**
 * struct wsquery_entry - an address and its answer
 * @address: in: any address of the page; never written
 * @flags: out: state and attributes; ignored on input
 */
struct wsquery_entry {
	__aligned_u64 address;
	__aligned_u64 flags;
};

/*
 * 0xB9 00-0F is free in Documentation/userspace-api/ioctl/ioctl-number.rst. The
 * size is not part of the number, since each structure carries its own.
 */
#define WSQUERY_IOC_TYPE	0xB9

/** define WSQUERY_IOC_INFO - argument: &struct wsquery_info */
#define WSQUERY_IOC_INFO	_IO(WSQUERY_IOC_TYPE, 0)
/** define WSQUERY_IOC_PAGES - argument: &struct wsquery_pages */
#define WSQUERY_IOC_PAGES	_IO(WSQUERY_IOC_TYPE, 1)
/** define WSQUERY_IOC_REGIONS - argument: &struct wsquery_regions */
#define WSQUERY_IOC_REGIONS	_IO(WSQUERY_IOC_TYPE, 2)
/** define WSQUERY_IOC_COUNT - argument: &struct wsquery_count */
#define WSQUERY_IOC_COUNT	_IO(WSQUERY_IOC_TYPE, 3)
/** define WSQUERY_IOC_LIST - argument: &struct wsquery_list */
#define WSQUERY_IOC_LIST	_IO(WSQUERY_IOC_TYPE, 4)
/**
 * define WSQUERY_IOC_ONE - argument is the address itself, not a pointer
 *
 * Returns the state and all attributes within %WSQUERY_ONE_MASK of the caller's
 * page at that address, or -1 with errno. %WSQUERY_SHARE_COUNT is told as with
 * %WSQUERY_SHARED_ONLY.
 */
#define WSQUERY_IOC_ONE		_IO(WSQUERY_IOC_TYPE, 5)

#endif /* _UAPI_LINUX_WSQUERY_H */
