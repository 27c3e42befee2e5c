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
	/* The head of a list is laid out as that of a range up to here. */
	struct wsquery_range *range = request;

	if (number != WSQUERY_IOC_INFO && ws->target != WSQ_SELF) {
		range->flags |= WSQUERY_TARGET_FD;
		range->target = ws->target;
	}
	return ioctl(ws->device, number, request) ? -errno : 0;
}
