// SPDX-License-Identifier: GPL-2.0
/*
 * Requests: copied, checked, carried out. Past this file no size or pointer of the
 * user's is unchecked. What each error means is told once, in the uapi header.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "ioctl.h"
#include "scan.h"
#include "sink.h"
#include "state.h"
#include "target.h"

#define WSQ_FLAGS	(WSQUERY_TARGET_FD | WSQUERY_SHARED_ONLY)

/* Sizes of the first version of each structure. */
#define WSQ_INFO_SIZE_VER0	sizeof(struct wsquery_info)
#define WSQ_PAGES_SIZE_VER0	sizeof(struct wsquery_pages)
#define WSQ_REGIONS_SIZE_VER0	sizeof(struct wsquery_regions)
#define WSQ_COUNT_SIZE_VER0	sizeof(struct wsquery_count)
#define WSQ_LIST_SIZE_VER0	sizeof(struct wsquery_list)

/* Copies a structure that may be older or newer than this module's. */
static int wsq_copy_request(void *to, size_t ksize, size_t least, const void __user *from)
{
	u32 usize;
	int err;

	if (get_user(usize, (const u32 __user *)from))
		return -EFAULT;
	if (usize < least)
		return -EINVAL;
	if (usize > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(to, ksize, from, usize);
	if (err)
		return err;
	/* It may have been changed in between. */
	*(u32 *)to = usize;
	return 0;
}

static int wsq_copy_answer(void __user *to, const void *from, size_t ksize)
{
	return copy_to_user(to, from, min_t(size_t, *(const u32 *)from, ksize)) ? -EFAULT : 0;
}

/* The flags of a request, and its target, which stands for something with one of them. */
static bool wsq_target_valid(u32 flags, s32 target)
{
	return !(flags & ~WSQ_FLAGS) && (flags & WSQUERY_TARGET_FD || !target);
}

static int wsq_check_attrs(u64 attrs)
{
	/* A part of a field would be a wrong number. */
	const u64 fields[] = { WSQUERY_SHARE_COUNT, WSQUERY_NODE, WSQUERY_MARKER_KIND };
	int i;

	if (attrs & ~WSQ_ATTRS)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if ((attrs & fields[i]) && (attrs & fields[i]) != fields[i])
			return -EINVAL;
	return 0;
}

static int wsq_check_range(struct wsquery_range *range)
{
	range->done = 0;
	range->not_told = 0;
	if (!wsq_target_valid(range->flags, range->target))
		return -EINVAL;
	if ((range->start | range->length) & ~PAGE_MASK)
		return -EINVAL;
	/* The end may be that of 64 bits, but not lie beyond it. */
	if (range->length && range->start > U64_MAX - (range->length - 1))
		return -EINVAL;
	return wsq_check_attrs(range->attrs);
}

static int wsq_check_array(u64 array, u64 align)
{
	return array & (align - 1) ? -EINVAL : 0;
}

static int wsq_range_scan(struct wsquery_range *range, const struct wsq_target *target,
			  struct wsq_sink *sink)
{
	const unsigned long start = range->start >> PAGE_SHIFT;
	struct wsq_walk w __uninitialized;
	int err;

	wsq_scan_init(&w, target, range->attrs, range->flags & WSQUERY_SHARED_ONLY, sink);
	err = wsq_scan(&w, start, start + (range->length >> PAGE_SHIFT));
	range->done = (u64)(sink->pos - start) << PAGE_SHIFT;
	/* A walk that could not be given out as a whole counted some of the rest too. */
	range->not_told = min(sink->not_told, range->done >> PAGE_SHIFT);
	return err;
}

static int wsq_ioctl_info(struct wsquery_info __user *arg)
{
	struct wsquery_info info;
	int err;

	err = wsq_copy_request(&info, sizeof(info), WSQ_INFO_SIZE_VER0, arg);
	if (err)
		return err;
	info.version = WSQUERY_VERSION;
	info.forms = BIT_ULL(_IOC_NR(WSQUERY_IOC_INFO)) | BIT_ULL(_IOC_NR(WSQUERY_IOC_PAGES)) |
		     BIT_ULL(_IOC_NR(WSQUERY_IOC_REGIONS)) |
		     BIT_ULL(_IOC_NR(WSQUERY_IOC_COUNT)) | BIT_ULL(_IOC_NR(WSQUERY_IOC_LIST)) |
		     BIT_ULL(_IOC_NR(WSQUERY_IOC_ONE));
	info.flags = WSQ_FLAGS;
	info.page_size = PAGE_SIZE;
	info.attrs = WSQ_ATTRS;
	info.marker_kinds = (u64)WSQ_MARKERS << WSQUERY_MARKER_KIND_SHIFT;
	info.lock_pages = WSQ_LOCK_PAGES;
	info.call_bytes = WSQ_LIST_BYTES;
	return wsq_copy_answer(arg, &info, sizeof(info));
}

static int wsq_do_pages(struct wsquery_pages *arg)
{
	struct wsquery_range *range = &arg->range;
	struct wsq_pages_sink sink __uninitialized;
	struct wsq_target target;
	int err;

	err = wsq_target_get(&target, range->flags, range->target);
	if (err)
		return err;
	err = wsq_pages_init(&sink, range->length >> PAGE_SHIFT, range->attrs,
			     range->entry_size, u64_to_user_ptr(arg->entries));
	if (!err) {
		err = wsq_range_scan(range, &target, &sink.sink);
		wsq_pages_exit(&sink);
	}
	wsq_target_put(&target);
	return err;
}

static int wsq_ioctl_pages(struct file *file, struct wsquery_pages __user *uarg)
{
	struct wsquery_pages arg;
	int err;

	err = wsq_copy_request(&arg, sizeof(arg), WSQ_PAGES_SIZE_VER0, uarg);
	if (err)
		return err;
	err = wsq_check_range(&arg.range);
	if (err)
		return err;
	switch (arg.range.entry_size) {
	case sizeof(u8):
		if (arg.range.attrs)
			return -EINVAL;
		break;
	case sizeof(u64):
	case sizeof(struct wsquery_page):
		break;
	default:
		return -EINVAL;
	}
	err = wsq_check_array(arg.entries, min_t(u64, arg.range.entry_size, sizeof(u64)));
	if (err)
		return err;

	/* As pagemap has it: who opened the file counts, not who uses it. */
	if (arg.range.entry_size == sizeof(struct wsquery_page) &&
	    !file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN))
		err = -EPERM;
	else
		err = wsq_do_pages(&arg);
	return wsq_copy_answer(uarg, &arg, sizeof(arg)) ?: err;
}

static int wsq_do_regions(struct wsquery_regions *arg)
{
	struct wsquery_range *range = &arg->range;
	struct wsq_regions_sink sink __uninitialized;
	struct wsq_target target;
	int err;

	err = wsq_target_get(&target, range->flags, range->target);
	if (err)
		return err;
	err = wsq_regions_init(&sink, range->start >> PAGE_SHIFT, range->attrs, arg->select,
			       u64_to_user_ptr(arg->regions), arg->capacity);
	if (!err) {
		err = wsq_range_scan(range, &target, &sink.sink);
		arg->count = sink.count;
		wsq_regions_exit(&sink);
	}
	wsq_target_put(&target);
	return err;
}

static int wsq_ioctl_regions(struct wsquery_regions __user *uarg)
{
	struct wsquery_regions arg;
	int err;

	err = wsq_copy_request(&arg, sizeof(arg), WSQ_REGIONS_SIZE_VER0, uarg);
	if (err)
		return err;
	err = wsq_check_range(&arg.range);
	if (err)
		return err;
	if (arg.range.entry_size || !arg.capacity ||
	    (arg.select & ~(WSQUERY_STATE_MASK | arg.range.attrs)))
		return -EINVAL;
	err = wsq_check_array(arg.regions, sizeof(u64));
	if (err)
		return err;
	arg.count = 0;

	err = wsq_do_regions(&arg);
	return wsq_copy_answer(uarg, &arg, sizeof(arg)) ?: err;
}

static int wsq_ioctl_count(struct wsquery_count __user *uarg)
{
	struct wsq_count_sink sink;
	struct wsq_target target;
	struct wsquery_count arg;
	int err;

	err = wsq_copy_request(&arg, sizeof(arg), WSQ_COUNT_SIZE_VER0, uarg);
	if (err)
		return err;
	err = wsq_check_range(&arg.range);
	if (err)
		return err;
	if (arg.range.entry_size || (arg.mask & ~(WSQUERY_STATE_MASK | arg.range.attrs)) ||
	    (arg.value & ~arg.mask))
		return -EINVAL;
	memset_startat(&arg, 0, matched);

	err = wsq_target_get(&target, arg.range.flags, arg.range.target);
	if (!err) {
		wsq_count_init(&sink, arg.range.attrs, &arg);
		err = wsq_range_scan(&arg.range, &target, &sink.sink);
		wsq_target_put(&target);
	}
	return wsq_copy_answer(uarg, &arg, sizeof(arg)) ?: err;
}

static int wsq_ioctl_list(struct wsquery_list __user *uarg)
{
	struct wsq_target target;
	struct wsquery_list arg;
	int err;

	err = wsq_copy_request(&arg, sizeof(arg), WSQ_LIST_SIZE_VER0, uarg);
	if (err)
		return err;
	if (!wsq_target_valid(arg.flags, arg.target) || arg.reserved)
		return -EINVAL;
	err = wsq_check_attrs(arg.attrs) ?: wsq_check_array(arg.entries, sizeof(u64));
	if (err)
		return err;
	arg.done = 0;
	arg.not_told = 0;

	err = wsq_target_get(&target, arg.flags, arg.target);
	if (!err) {
		err = wsq_list(&arg, &target);
		wsq_target_put(&target);
	}
	return wsq_copy_answer(uarg, &arg, sizeof(arg)) ?: err;
}

static noinline long wsq_ioctl_struct(struct file *file, unsigned int cmd, void __user *uarg)
{
	switch (cmd) {
	case WSQUERY_IOC_LIST:
		return wsq_ioctl_list(uarg);
	case WSQUERY_IOC_PAGES:
		return wsq_ioctl_pages(file, uarg);
	case WSQUERY_IOC_REGIONS:
		return wsq_ioctl_regions(uarg);
	case WSQUERY_IOC_COUNT:
		return wsq_ioctl_count(uarg);
	case WSQUERY_IOC_INFO:
		return wsq_ioctl_info(uarg);
	default:
		return -ENOTTY;
	}
}

long wsq_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	/* Without the stack that the structures of the others take. */
	if (cmd == WSQUERY_IOC_ONE)
		return wsq_one(arg);
	return wsq_ioctl_struct(file, cmd, (void __user *)arg);
}
