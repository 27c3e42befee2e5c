// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The backend of /dev/wsquery: requests go to the kernel as they are.
 */
#include <fcntl.h>
#include <sys/ioctl.h>

#include "lib.h"

int wsq_device_open(void)
{
	int fd = open("/dev/wsquery", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int wsq_device_request(const struct wsquery *ws, unsigned long number, void *request)
{
	/* A list begins like a range, as far as it is needed here. */
	struct wsquery_range *range = request;
	bool other = number != WSQUERY_IOC_INFO && ws->target != WSQ_SELF;
	int err;

	if (other) {
		range->flags |= WSQUERY_TARGET_FD;
		range->target = ws->target;
	}
	err = ioctl(ws->device, number, request) ? -errno : 0;
	if (other) {
		/* The request may be the caller's own, and be used again. */
		range->flags &= ~WSQUERY_TARGET_FD;
		range->target = 0;
	}
	return err;
}
