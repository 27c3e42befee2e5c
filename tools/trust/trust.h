/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs here share. An arena is a range of addresses where a generator makes
 * and unmakes memory, and nothing else does: what asks and compares lives elsewhere, so
 * that asking changes nothing. Requests and peers are those of selftests/ (wsq.h).
 */
#ifndef TRUST_H
#define TRUST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "wsq.h"

#define ARENA_PAGES	8192UL
#define ARENA_START	((char *)0x200000000000UL)

/* Numbers that are the same each time for the same seed. */
struct rng {
	uint64_t s;
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = (r->s += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return rng_next(r) % n;
}

static inline bool rng_one_in(struct rng *r, uint64_t n)
{
	return !rng_below(r, n);
}

/* The numbers of one of several things with the same seed. */
static inline struct rng rng_of(uint64_t seed, uint64_t which)
{
	struct rng r = { seed * 0x2545f4914f6cdd1dULL + which };

	rng_next(&r);
	return r;
}

enum object_kind {
	OBJECT_MEMFD,
	OBJECT_TMPFS,
	OBJECT_FILE,
	OBJECT_HUGETLB,
};

/**
 * struct object - something that can be mapped
 * @kind: what it is
 * @fd: descriptor
 * @pages: its length when it was made
 * @dev: with @ino, what /proc/PID/smaps calls it
 * @ino: number of the inode
 */
struct object {
	enum object_kind kind;
	int fd;
	size_t pages;
	dev_t dev;
	ino_t ino;
};

#define MAX_OBJECTS	8

/**
 * struct space - an address space under test
 * @arena: ARENA_START
 * @objects: what can be mapped
 * @n_objects: how many
 * @uffd: a userfaultfd, or -1
 * @child: a copy of the process that stands still, or 0
 * @counter: what the next written page holds
 */
struct space {
	char *arena;
	struct object objects[MAX_OBJECTS];
	int n_objects;
	int uffd;
	pid_t child;
	uint64_t counter;
};

/* space.c */
int space_init(struct space *s, struct rng *r);
void space_pick(struct rng *r, char **start, size_t *pages);
int guarded_read(const char *p);
int guarded_write(char *p, uint64_t value);
int guarded_advise(char *p, size_t length, int advice);
void guard_faults(void);

/* ops.c, advise.c, others.c */
typedef void (*op_fn)(struct space *s, struct rng *r);
struct op {
	const char *name;
	unsigned int weight;
	op_fn fn;
};

extern const struct op ops_map[], ops_advise[], ops_others[];
const struct op *op_run(struct space *s, struct rng *r, bool child);
const struct op *op_nth(unsigned int n);

/**
 * struct vma - a mapping, from /proc/PID/smaps
 * @start: first address
 * @end: address after it
 * @offset: in the file, in bytes
 * @base: flags of each of its pages
 * @object: of the space, or NULL
 * @fd: to ask cachestat(2), or -1
 * @rss: kB
 * @swap: kB
 * @merged: kB that KSM merged
 * @has_merged: the kernel tells
 */
struct vma {
	uint64_t start, end, offset;
	uint64_t base;
	const struct object *object;
	int fd;
	unsigned long rss, swap, merged;
	bool has_merged;
};

#define MAX_VMAS	2048

/**
 * struct truth - what the kernel's other interfaces say about the arena
 * @flags: what each page is expected to be
 * @known: which bits of it are known
 * @swap: expected place in swap
 * @swap_known: it is known
 * @vmas: mappings in the arena
 * @n_vmas: how many
 */
struct truth {
	uint64_t flags[ARENA_PAGES];
	uint64_t known[ARENA_PAGES];
	uint64_t swap[ARENA_PAGES];
	bool swap_known[ARENA_PAGES];
	struct vma vmas[MAX_VMAS];
	int n_vmas;
};

int vmas_read(struct truth *t, const struct space *s, pid_t pid);
void vmas_close(struct truth *t);
int truth_learn(void);
int truth_find(struct truth *t, const struct space *s, pid_t pid, int pagemap);
int truth_sample(struct truth *t, struct rng *r, pid_t pid, int pagemap);
unsigned int sums_differ(const struct truth *t, const uint64_t *wide, uint64_t *sums,
			 bool quiet);
unsigned int mincore_differs(const struct truth *t, const uint64_t *wide, bool quiet);

enum form {
	FORM_BYTES, FORM_WIDE, FORM_PLACES, FORM_REGIONS, FORM_COUNT, FORM_LIST, FORM_ONE,
	FORMS
};

extern const char * const form_names[FORMS];

/**
 * struct tally - what was compared
 * @answers: pages answered and compared, by form
 * @differ: of these, wrong
 * @sums: totals of mappings compared with smaps
 * @unstable: differences that were gone when looked at again
 */
struct tally {
	uint64_t answers[FORMS];
	uint64_t differ;
	uint64_t sums;
	uint64_t unstable;
};

int compare_all(struct wsq *q, const struct space *s, struct rng *r, pid_t pid,
		unsigned int rounds, struct tally *tally);

#endif /* TRUST_H */
