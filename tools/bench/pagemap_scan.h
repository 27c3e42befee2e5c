/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ioctl PAGEMAP_SCAN of /proc/PID/pagemap (Linux 6.7), which the C library's
 * headers may be too old to know.
 */
#ifndef BENCH_PAGEMAP_SCAN_H
#define BENCH_PAGEMAP_SCAN_H

#include <linux/fs.h>

#ifndef PAGEMAP_SCAN
#define PAGEMAP_SCAN	_IOWR('f', 16, struct pm_scan_arg)

#define PAGE_IS_FILE	(1 << 2)
#define PAGE_IS_PRESENT	(1 << 3)
#define PAGE_IS_SWAPPED	(1 << 4)
#define PAGE_IS_HUGE	(1 << 6)

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
#endif

#endif /* BENCH_PAGEMAP_SCAN_H */
