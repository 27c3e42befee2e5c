// SPDX-License-Identifier: GPL-2.0
/*
 * The floor: what a call costs that does nothing. And the bounds that the module
 * promises for a call.
 */
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

#define CALLS	256

static void ask_ioctl(struct job *job, size_t first, size_t n)
{
	(void)job;
	(void)first;
	while (n--)
		ioctl(device, _IO(WSQUERY_IOC_TYPE, 0xff), 0);
}

static void ask_syscall(struct job *job, size_t first, size_t n)
{
	(void)job;
	(void)first;
	while (n--)
		syscall(SYS_getppid);
}

static bool check_nothing(struct job *job, size_t first, size_t n, bool blind)
{
	(void)job;
	(void)first;
	(void)n;
	(void)blind;
	return true;
}

void floor_run(void)
{
	const struct who unknown = { "ioctl", ask_ioctl, check_nothing, false, NULL };
	const struct who bare = { "syscall", ask_syscall, check_nothing, false, NULL };
	struct wsquery_info info = { .size = sizeof(info) };
	struct job job = { .count = CALLS, .window = CALLS };
	double cost = measure(&job, &unknown);

	result_add("floor/ioctl", "wsquery", cost);
	printf("The floor: %.0f %s for an unknown ioctl on the device, %.0f for a system call\n",
	       cost, clock_unit(), measure(&job, &bare));
	if (!ioctl(device, WSQUERY_IOC_INFO, &info))
		printf("A call: at most %u pages in one hold of the lock, %u bytes of memory\n",
		       info.lock_pages, info.call_bytes);
	fflush(stdout);
}
