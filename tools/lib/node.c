// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Whether the machine can ever have more than one NUMA node.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "lib.h"

enum { UNKNOWN, ONE, MANY };

/* What can be plugged in later counts too, so that the answer can be kept. */
static int nodes_look(void)
{
	char text[8];
	ssize_t length;
	int fd;

	fd = open("/sys/devices/system/node/possible", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		/* A kernel without NUMA; unless it is sysfs that is missing. */
		return access("/sys/devices/system/cpu", F_OK) ? MANY : ONE;
	}
	length = read(fd, text, sizeof(text));
	close(fd);
	return length == 2 && text[0] == '0' ? ONE : MANY;
}

bool wsq_one_node(void)
{
	static atomic_int nodes = UNKNOWN;
	int known = atomic_load_explicit(&nodes, memory_order_relaxed);

	if (known == UNKNOWN) {
		known = nodes_look();
		atomic_store_explicit(&nodes, known, memory_order_relaxed);
	}
	return known == ONE;
}
