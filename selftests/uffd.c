// SPDX-License-Identifier: GPL-2.0
/*
 * Memory under the eyes of a userfaultfd.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "newer.h"
#include "wsq.h"

/* A userfaultfd with features over the memory, or -1 where the kernel has it not. */
int uffd_watch(struct watched *w, __u64 features, __u64 mode)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	struct uffdio_register reg = {
		.range = { (uintptr_t)w->p, w->pages * PAGE }, .mode = mode,
	};

	w->uffd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (w->uffd < 0 || ioctl(w->uffd, UFFDIO_API, &api) ||
	    ioctl(w->uffd, UFFDIO_REGISTER, &reg))
		return -1;
	return 0;
}

int uffd_protect(struct watched *w, bool on)
{
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)w->p, w->pages * PAGE },
		.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0,
	};

	return ioctl(w->uffd, UFFDIO_WRITEPROTECT, &wp);
}

/* Puts poison markers where there is no page. */
int uffd_poison(struct watched *w)
{
	struct uffdio_poison poison = {
		.range = { (uintptr_t)w->p, w->pages * PAGE },
	};

	if (ioctl(w->uffd, UFFDIO_POISON, &poison))
		return -errno;
	return poison.updated == (__s64)(w->pages * PAGE) ? 0 : -EIO;
}
