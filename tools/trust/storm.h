/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that changes while it is asked about. Most of it may be anything at any time; some
 * of it has a state that it cannot lose, whatever happens.
 */
#ifndef STORM_H
#define STORM_H

#include <stdatomic.h>

#include "trust.h"

/**
 * struct fixed - memory of which something always holds
 * @name: for messages
 * @start: first address
 * @pages: how many
 * @any: of these bits one must always be set
 * @none: and none of these
 * @busy: it is paged out, touched, collapsed and migrated all the time
 */
struct fixed {
	const char *name;
	char *start;
	size_t pages;
	uint64_t any;
	uint64_t none;
	bool busy;
};

#define FIXED	6

/**
 * struct storm - all of it
 * @seed: of everyone's choices
 * @space: the arena's objects; each thread has a copy of its own
 * @dev: open /dev/wsquery
 * @pagemap: of this process
 * @victim: pagemap of a process that executes itself again and again, or -1
 * @stop: set when the time is over
 * @asked: requests, by form
 * @answers: pages that were answered
 * @done: operations of those who change memory
 * @faults: requests that ended with EFAULT, as they must where memory is not there
 * @gone: requests that ended with ESRCH
 * @killed: processes that were killed while they asked
 * @wrong: answers and errors that cannot be
 */
struct storm {
	struct space space;
	int dev;
	int pagemap;
	atomic_int victim;
	atomic_bool stop;
	atomic_ulong asked[FORMS];
	atomic_ulong answers;
	atomic_ulong done;
	atomic_ulong faults;
	atomic_ulong gone;
	atomic_ulong killed;
	atomic_ulong wrong;
	uint64_t seed;
};

/* Shared with children, so that what they find counts; the rules are each one's own. */
extern struct storm *storm_shared;
extern struct fixed fixed_memory[FIXED];

/* storm-ask.c */
void *storm_asker(void *arg);
void storm_ask_once(struct rng *r, char *buffer);
void storm_wrong(const char *what, uint64_t address, uint64_t flags);

/* storm-do.c */
int storm_fixed(void);
void *storm_changer(void *arg);
void *storm_mover(void *arg);
void *storm_system(void *arg);
void *storm_killer(void *arg);

#define ASK_BUFFER	(4UL << 20)

#endif /* STORM_H */
