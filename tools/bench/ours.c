// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/wsquery in all its forms, and QueryWorkingSetEx of libwsquery.
 */
#include <fcntl.h>
#include <sys/ioctl.h>

#include <queryworkingsetex.h>

#include "bench.h"

int device = -1;

void ours_start(void)
{
	device = open("/dev/wsquery", O_RDONLY | O_CLOEXEC);
	if (device < 0)
		die("no /dev/wsquery: is the module loaded?");
}

static enum state state_of(__u64 flags)
{
	return flags & WSQUERY_PRESENT ? PRESENT : flags & WSQUERY_SWAPPED ? SWAPPED : HOLE;
}

static bool flags_right(const struct job *job, size_t i, __u64 flags)
{
	const struct pop *pop = job->pop;
	bool kind = !!(flags & WSQUERY_FILE) == pop->file &&
		    !!(flags & WSQUERY_SHMEM) == (pop->shared && !pop->file);

	return kind && (flags & WSQUERY_MAPPED) && !(flags & WSQUERY_MARKER) &&
	       job_expect(job, i, state_of(flags), false);
}

static struct wsquery_range range_of(const struct job *job, size_t first, size_t n, size_t size)
{
	return (struct wsquery_range){
		.size = size,
		.start = (uintptr_t)job_address(job, first),
		.length = n * PAGE,
	};
}

static void ask_pages(struct job *job, size_t first, size_t n)
{
	const size_t end = first + n;
	size_t per_call = job->per_call ? job->per_call : n;

	for (; first < end; first += per_call) {
		size_t now = end - first < per_call ? end - first : per_call;
		struct wsquery_pages arg = {
			.range = range_of(job, first, now, sizeof(arg)),
			.entries = (uintptr_t)(job->bytes + first),
		};

		arg.range.entry_size = 1;
		if (ioctl(device, WSQUERY_IOC_PAGES, &arg))
			return;
	}
}

static bool check_pages(struct job *job, size_t first, size_t n, bool blind)
{
	size_t i;

	(void)blind;
	for (i = first; i < first + n; i++)
		if (!flags_right(job, i, job->bytes[i]))
			return false;
	return true;
}

static void ask_regions(struct job *job, size_t first, size_t n)
{
	struct wsquery_regions arg = { .range = range_of(job, first, n, sizeof(arg)) };
	__u64 end = arg.range.start + arg.range.length;

	job->found = 0;
	while (arg.range.start < end && job->found < job->capacity) {
		arg.range.length = end - arg.range.start;
		arg.regions = (uintptr_t)(job->regions + job->found);
		arg.capacity = job->capacity - job->found;
		arg.select = WSQUERY_PRESENT | WSQUERY_SWAPPED;
		if (ioctl(device, WSQUERY_IOC_REGIONS, &arg))
			return;
		job->found += arg.count;
		arg.range.start += arg.range.done;
	}
}

static bool check_regions(struct job *job, size_t first, size_t n, bool blind)
{
	const struct wsquery_region *run = job->regions, *end = run + job->found;
	size_t i;

	(void)blind;
	for (i = first; i < first + n; i++) {
		__u64 address = (uintptr_t)job_address(job, i);
		bool in;

		while (run < end && run->end <= address)
			run++;
		in = run < end && run->start <= address;
		if (!job_expect(job, i, in ? state_of(run->flags) : HOLE, false))
			return false;
	}
	return true;
}

static void ask_count(struct job *job, size_t first, size_t n)
{
	struct wsquery_count arg = { .range = range_of(job, first, n, sizeof(arg)) };

	job->found = ~0UL;
	if (!ioctl(device, WSQUERY_IOC_COUNT, &arg) && arg.range.done == n * PAGE)
		job->found = arg.present;
}

static bool check_count(struct job *job, size_t first, size_t n, bool blind)
{
	size_t i, present = 0;

	(void)blind;
	for (i = first; i < first + n; i++)
		present += job->pop->want[job_page(job, i)] == PRESENT;
	return job->found == present;
}

static void ask_list(struct job *job, size_t first, size_t n)
{
	struct wsquery_list arg = {
		.size = sizeof(arg),
		.entries = (uintptr_t)(job->entries + first),
		.count = n,
	};

	ioctl(device, WSQUERY_IOC_LIST, &arg);
}

static void ask_one(struct job *job, size_t first, size_t n)
{
	for (; n; n--, first++)
		job->entries[first].flags = (__s64)ioctl(device, WSQUERY_IOC_ONE,
							 job_address(job, first));
}

static bool check_list(struct job *job, size_t first, size_t n, bool blind)
{
	size_t i;

	(void)blind;
	for (i = first; i < first + n; i++)
		if (job->entries[i].flags >> 32 || !flags_right(job, i, job->entries[i].flags))
			return false;
	return true;
}

/* The layout of the Windows array is that of a list's entries. */
static void ask_qwsex(struct job *job, size_t first, size_t n)
{
	const HANDLE self = (HANDLE)-1;
	struct wsquery_entry one;

	if (job->per_call != 1) {
		QueryWorkingSetEx(self, job->entries + first, n * sizeof(*job->entries));
		return;
	}
	for (; n; n--, first++) {
		one.address = job->entries[first].address;
		QueryWorkingSetEx(self, &one, sizeof(one));
		job->entries[first].flags = one.flags;
	}
}

static bool check_qwsex(struct job *job, size_t first, size_t n, bool blind)
{
	size_t i;

	(void)blind;
	for (i = first; i < first + n; i++) {
		PSAPI_WORKING_SET_EX_BLOCK block = { .Flags = job->entries[i].flags };
		enum state state = PRESENT;

		if (!block.Valid)
			state = block.Invalid.Location == 2 ? SWAPPED : HOLE;
		if (block.Flags >> 32 || block.Shared != job->pop->shared ||
		    !job_expect(job, i, state, false))
			return false;
		if (block.Valid && (block.Win32Protection != PAGE_READWRITE ||
				    !!block.ShareCount != block.Shared))
			return false;
	}
	return true;
}

const struct who our_pages = { "wsquery", ask_pages, check_pages, false, NULL };
const struct who our_regions = { "wsquery", ask_regions, check_regions, false, NULL };
const struct who our_count = { "wsquery", ask_count, check_count, false, NULL };
const struct who our_list = { "wsquery", ask_list, check_list, false, NULL };
const struct who our_one = { "wsquery", ask_one, check_list, false, NULL };
const struct who our_qwsex = { "wsquery", ask_qwsex, check_qwsex, false, NULL };
