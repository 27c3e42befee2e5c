// SPDX-License-Identifier: GPL-2.0
/*
 * PAGEMAP_SCAN, which answers with runs of present and of swapped pages. It is asked
 * for what the state of wsquery tells, too: whether they are of a file and huge. For
 * counting, present and swapped suffice, which is cheaper.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "bench.h"
#include "pagemap_scan.h"

_Static_assert(sizeof(struct page_region) == sizeof(struct wsquery_region),
	       "both kinds of runs share an array");

static int pagemap = -1;

/* Since Linux 6.7. */
bool scan_there(void)
{
	struct pm_scan_arg arg = { .size = sizeof(arg) };

	if (pagemap < 0)
		pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	return ioctl(pagemap, PAGEMAP_SCAN, &arg) >= 0 || errno != ENOTTY;
}

static void scan(struct job *job, size_t first, size_t n, __u64 categories)
{
	struct pm_scan_arg arg = {
		.size = sizeof(arg),
		.start = (uintptr_t)job_address(job, first),
		.category_anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
		.return_mask = categories,
	};

	job->found = 0;
	arg.end = arg.start + n * PAGE;
	while (arg.start < arg.end && job->found < job->capacity) {
		int got;

		arg.vec = (uintptr_t)(job->regions + job->found);
		arg.vec_len = job->capacity - job->found;
		got = ioctl(pagemap, PAGEMAP_SCAN, &arg);
		if (got < 0)
			return;
		job->found += got;
		arg.start = arg.walk_end;
	}
}

static void ask_scan(struct job *job, size_t first, size_t n)
{
	scan(job, first, n, PAGE_IS_PRESENT | PAGE_IS_SWAPPED | PAGE_IS_FILE | PAGE_IS_HUGE);
}

static void ask_scan_few(struct job *job, size_t first, size_t n)
{
	scan(job, first, n, PAGE_IS_PRESENT | PAGE_IS_SWAPPED);
}

static bool check_scan(struct job *job, size_t first, size_t n, bool blind)
{
	const struct wsquery_region *run = job->regions, *end = run + job->found;
	size_t i;

	for (i = first; i < first + n; i++) {
		__u64 address = (uintptr_t)job_address(job, i);
		enum state state = HOLE;

		while (run < end && run->end <= address)
			run++;
		if (run < end && run->start <= address)
			state = run->flags & PAGE_IS_PRESENT ? PRESENT : SWAPPED;
		if (!job_expect(job, i, state, blind))
			return false;
	}
	return true;
}

const struct who peer_scan = { "pagemap-scan", ask_scan, check_scan, true, scan_there };
const struct who peer_scan_few = { "pagemap-scan", ask_scan_few, check_scan, true, scan_there };
