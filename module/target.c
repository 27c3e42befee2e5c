// SPDX-License-Identifier: GPL-2.0
/*
 * Whose address space a request is about: the caller's own, or the one behind an
 * open descriptor of /proc/PID/pagemap.
 *
 * At the open(2) of that file the kernel checked with ptrace_may_access() that the
 * opener may look into the process: credentials, dumpability, namespaces and
 * security modules, free of races with exec. A module cannot call it. The file's
 * private_data is the mm_struct, with a reference on the structure. Such a file is
 * known by its file_operations, which are learnt from a /proc/self/pagemap that
 * the module opens itself and whose private_data must be the opener's own mm.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/sched/mm.h>
#include <linux/wsquery.h>

#include "target.h"

static const struct file_operations *wsq_pagemap_fops;

/*
 * Called in the context of a process. Fails without a word if /proc is not
 * mounted, and is tried again by the next request that needs it.
 */
void wsq_target_learn(void)
{
	struct file *file;

	if (READ_ONCE(wsq_pagemap_fops) || !current->mm)
		return;

	file = filp_open("/proc/self/pagemap", O_RDONLY, 0);
	if (IS_ERR(file))
		return;
	/* By its own name too: another file of /proc can be mounted over it. */
	if (file_inode(file)->i_sb->s_magic == PROC_SUPER_MAGIC &&
	    !strcmp(file_dentry(file)->d_name.name, "pagemap") &&
	    file->private_data == current->mm)
		WRITE_ONCE(wsq_pagemap_fops, file->f_op);
	filp_close(file, NULL);
}

static int wsq_target_from_file(struct wsq_target *target, struct file *file)
{
	const struct file_operations *fops;
	struct mm_struct *mm;

	wsq_target_learn();
	fops = READ_ONCE(wsq_pagemap_fops);
	if (file_inode(file)->i_sb->s_magic != PROC_SUPER_MAGIC || !fops || file->f_op != fops)
		return -EOPNOTSUPP;

	mm = file->private_data;
	/* 6.1 opens the file of a process that has no address space. */
	if (!mm || !mmget_not_zero(mm))
		return -ESRCH;
	target->mm = mm;
	target->own = false;
	return 0;
}

/**
 * wsq_target_get() - find the address space of a request
 * @target: what was found
 * @flags: flags of the request, checked
 * @fd: its target
 *
 * Return: 0, -EBADF, -EOPNOTSUPP or -ESRCH, see the uapi header.
 */
int wsq_target_get(struct wsq_target *target, u32 flags, s32 fd)
{
	struct file *file;
	int err;

	if (!(flags & WSQUERY_TARGET_FD)) {
		/* A kernel thread, on behalf of whoever. */
		if (!current->mm)
			return -ESRCH;
		target->mm = current->mm;
		target->own = true;
		return 0;
	}

	file = fget(fd);
	if (!file)
		return -EBADF;
	err = wsq_target_from_file(target, file);
	fput(file);
	return err;
}

void wsq_target_put(struct wsq_target *target)
{
	if (!target->own)
		mmput(target->mm);
}
