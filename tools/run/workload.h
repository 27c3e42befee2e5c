/* SPDX-License-Identifier: GPL-2.0 */
/* What the workload's mappings are, and what is done with them (deeds.c). */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>

enum kind { ANONYMOUS, HUGE, HUGETLB, ON_DISK, SHARED, TMPFS, SYSV, MEMFD };

struct deed {
	const char *name;
	enum kind kind;
	size_t megabytes;
	const char *pattern;	/* a character for each equal part */

	char *memory;
	size_t bytes;
	int fd;			/* of the file behind it, or -1 */
};

bool swap_exists(void);
/*
 * Makes the mapping; false with errno if there is no such memory here (EMEDIUMTYPE
 * if @scratch is no disk).
 */
bool deed_map(struct deed *deed, const char *scratch);
/* Turns "swap out" into "keep in memory" in the pattern. */
void deed_keep(struct deed *deed);
/* Does what the pattern says; false after a message if that cannot be done. */
bool deed_do(struct deed *deed);

#endif /* WORKLOAD_H */
