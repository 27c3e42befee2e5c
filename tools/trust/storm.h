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
 * @locked: it is locked in memory
 */
struct fixed {
	const char *name;
	char *start;
	size_t pages;
	uint64_t any;
	uint64_t none;
	bool locked;
};

#define FIXED	9

/* What is done beside the generator's operations, each of which is a kind of its own. */
enum kind {
	KIND_PAGEOUT, KIND_COLD, KIND_WILLNEED, KIND_COLLAPSE, KIND_HUGE, KIND_NOHUGE,
	KIND_SPLIT, KIND_MOVE, KIND_PROTECT, KIND_READ, KIND_WRITE,
	KIND_COMPACT, KIND_DROP, KIND_CLEAR, KIND_RECLAIM, KIND_SQUEEZE, KIND_UNLOAD,
	KIND_SIGNAL, KIND_KILL_ASKER, KIND_KILL_EXEC, KIND_EXIT,
	KIND_POISON, KIND_OFFLINE, KIND_UNPOISON, KIND_MARK,
	KIND_UNMAPPED, KIND_READ_ONLY, KIND_INSIDE,
	KINDS
};

/* All kinds: those above and the generator's. */
#define KINDS_MAX	80

/* States that come and go, counted where they are told. */
enum seen {
	SEEN_HUGE, SEEN_SWAPPED, SEEN_CACHED, SEEN_MARKER, SEEN_MIGRATING, SEEN_HWPOISON,
	SEENS
};

/**
 * struct storm - all of it
 * @space: the arena's objects; each thread has a copy of its own
 * @dev: open /dev/wsquery
 * @pagemap: of this process
 * @victim: pagemap of a process that executes itself again and again, or -1
 * @stop: set when the time is over
 * @asked: requests, by form
 * @locked: looks at pages that are locked, by form; of totals, at all of them
 * @answers: pages that were answered
 * @seen: of these, in these states
 * @tried: operations, by kind
 * @worked: of these, successful
 * @absent: kinds that the kernel does not have
 * @faults: requests that ended with EFAULT, as they must where memory is not there
 * @gone: requests that ended with ESRCH
 * @wrong: answers and errors that cannot be
 * @seed: of everyone's choices
 */
struct storm {
	struct space space;
	int dev;
	int pagemap;
	atomic_int victim;
	atomic_bool stop;
	atomic_ulong asked[FORMS];
	atomic_ulong locked[FORMS];
	atomic_ulong answers;
	atomic_ulong seen[SEENS];
	atomic_ulong tried[KINDS_MAX];
	atomic_ulong worked[KINDS_MAX];
	atomic_bool absent[KINDS_MAX];
	atomic_ulong faults;
	atomic_ulong gone;
	atomic_ulong wrong;
	uint64_t seed;
};

/* Shared with children, so that what they find counts; the rules are each one's own. */
extern struct storm *storm_shared;
extern struct fixed fixed_memory[FIXED];
/* What is poisoned again and again; no rule holds there. */
#define POISONED_MEMORY	(&fixed_memory[FIXED - 1])

/* storm-ask.c */
void *storm_asker(void *arg);
void storm_ask_once(struct rng *r, char *buffer, const struct fixed *about);
void storm_wrong(const char *what, uint64_t address, uint64_t flags);

/* storm-count.c */
void storm_did(enum kind kind, bool worked);
void storm_did_op(const struct op *op);
void storm_absent(enum kind kind);
unsigned int storm_missing(void);
int storm_report(long seconds);

/* storm-do.c */
int storm_fixed(void);
void *storm_changer(void *arg);
void *storm_mover(void *arg);

/* storm-system.c */
void *storm_system(void *arg);
void *storm_killer(void *arg);

/* storm-poison.c */
void *storm_poisoner(void *arg);

#define ASK_BUFFER	(4UL << 20)

#endif /* STORM_H */
