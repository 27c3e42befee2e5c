/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel interfaces that the system's headers may be too old to declare.
 */
#ifndef WSQ_NEWER_H
#define WSQ_NEWER_H

#include <linux/const.h>
#include <linux/fs.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>

#ifndef MADV_GUARD_INSTALL	/* 6.13 */
#define MADV_GUARD_INSTALL	102
#endif

#ifndef UFFD_FEATURE_WP_UNPOPULATED	/* 6.4 */
#define UFFD_FEATURE_WP_UNPOPULATED	_BITUL(13)
#endif

#ifndef UFFD_FEATURE_POISON	/* 6.6 */
#define UFFD_FEATURE_POISON	_BITUL(14)

struct uffdio_poison {
	struct uffdio_range range;
	__u64 mode;
	__s64 updated;
};

#define UFFDIO_POISON		_IOWR(UFFDIO, 0x08, struct uffdio_poison)
#endif

#ifndef PAGEMAP_SCAN	/* 6.7 */
struct page_region {
	__u64 start;
	__u64 end;
	__u64 categories;
};

struct pm_scan_arg {
	__u64 size;
	__u64 flags;
	__u64 start;
	__u64 end;
	__u64 walk_end;
	__u64 vec;
	__u64 vec_len;
	__u64 max_pages;
	__u64 category_inverted;
	__u64 category_mask;
	__u64 category_anyof_mask;
	__u64 return_mask;
};

#define PAGEMAP_SCAN		_IOWR('f', 16, struct pm_scan_arg)
#define PAGE_IS_FILE		_BITUL(2)
#define PAGE_IS_PRESENT		_BITUL(3)
#define PAGE_IS_SWAPPED		_BITUL(4)
#define PAGE_IS_PFNZERO		_BITUL(5)
#define PAGE_IS_HUGE		_BITUL(6)
#define PAGE_IS_SOFT_DIRTY	_BITUL(7)
#endif

#endif /* WSQ_NEWER_H */
