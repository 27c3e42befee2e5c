// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/wsquery: which pages are in memory, which are in swap, which are neither.
 *
 * A request goes one way through the files beside this one: ioctl.c checks it,
 * target.c finds the address space, scan.c locks it piece by piece, walk.c, table.c
 * and hugetlb.c visit it, backing.c asks the page cache about holes, sink.c makes
 * of the runs what was asked for. list.c is for addresses in any order, page.c for
 * one. mapping.c derives what is the same for all pages of a mapping, pmd.h has the
 * rule by which a page table stays, state.h says what an entry means, and compat.h
 * knows the kernel versions.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "ioctl.h"
#include "target.h"

static const struct file_operations wsq_fops = {
	.owner		= THIS_MODULE,
	.unlocked_ioctl	= wsq_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek		= noop_llseek,
};

/*
 * Open to everyone: a request tells its caller only what the kernel would tell
 * the same caller by /proc/self/pagemap, mincore(2) and smaps.
 */
static struct miscdevice wsq_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "wsquery",
	.fops	= &wsq_fops,
	.mode	= 0666,
};

static int __init wsq_init(void)
{
	int err = wsq_list_init();

	if (err)
		return err;
	wsq_target_learn();
	err = misc_register(&wsq_device);
	if (err)
		wsq_list_exit();
	return err;
}
module_init(wsq_init);

static void __exit wsq_exit(void)
{
	misc_deregister(&wsq_device);
	wsq_list_exit();
}
module_exit(wsq_exit);

MODULE_DESCRIPTION("Query which pages are in memory and in swap");
MODULE_VERSION("1.0.0");
MODULE_LICENSE("GPL");
