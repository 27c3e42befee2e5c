/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A /proc of our own. While it is on, the library and the command find in it, instead of in the
 * kernel's, the process that a fuzzer made up. The device does not exist there.
 */
#ifndef WSQ_FUZZ_WORLD_H
#define WSQ_FUZZ_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the kernel can say of a page. */
enum {
	PAGE_PRESENT	= 1 << 0,
	PAGE_SWAP	= 1 << 1,
	PAGE_FILE	= 1 << 2,
	PAGE_HUGE	= 1 << 3,
	PAGE_ZERO	= 1 << 4,
	PAGE_SOFT_DIRTY	= 1 << 5,
	PAGE_UFFD_WP	= 1 << 6,
	PAGE_GUARD_PTE	= 1 << 7,
};

/* Device numbers of kinds of files, as stat(2) has them; WORLD_SHM is the kernel's own tmpfs. */
enum { WORLD_SHM = 1, WORLD_ROOT = 2 };

struct world {
	bool on;
	const char *maps;
	size_t maps_size;
	const char *mounts;
	size_t mounts_size;
	const char *names;	/* the file "names" */
	size_t names_size;
	const char *comm;
	/* Sets the state of a page and returns the page after the last one that is alike. */
	uint64_t (*state)(uint64_t page, unsigned int *state);
	bool scan;		/* PAGEMAP_SCAN exists */
	bool guards;		/* and knows guard regions */
	unsigned int chunk;	/* a read returns at most so many bytes; 0 for no limit */
	unsigned int interrupt;	/* each so many calls one is interrupted; 0 for none */
	unsigned int budget;	/* so many looks at pages until the process is gone */
};

extern struct world world;

/* Closes what is still open, after a call that did not come back. */
void world_close(void);

#endif /* WSQ_FUZZ_WORLD_H */
