// SPDX-License-Identifier: GPL-2.0
/*
 * What can happen to an address space: mapping, touching, unmapping, moving. Each operation
 * takes its choices from numbers of its own, so that a run without some of them does the
 * same otherwise. Operations that fail are fine: the address space stays one that can be.
 */
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "trust.h"

static int any_prot(struct rng *r)
{
	static const int prots[] = {
		PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE,
		PROT_READ | PROT_WRITE | PROT_EXEC, PROT_READ, PROT_READ | PROT_EXEC, PROT_NONE,
	};

	return prots[rng_below(r, ARRAY_SIZE(prots))];
}

/* Mapped to be used: most operations go to memory that can be written. */
static int map_prot(struct rng *r)
{
	return rng_one_in(r, 4) ? any_prot(r) : PROT_READ | PROT_WRITE;
}

static void op_map_anon(struct space *s, struct rng *r)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	size_t n;
	char *p;

	(void)s;
	space_pick(r, &p, &n);
	if (rng_one_in(r, 4))
		flags |= MAP_NORESERVE;
	if (rng_one_in(r, 6))
		flags |= MAP_POPULATE;
	mmap(p, n * PAGE, map_prot(r), flags, -1, 0);
}

static void op_map_shared(struct space *s, struct rng *r)
{
	size_t n;
	char *p;

	(void)s;
	space_pick(r, &p, &n);
	mmap(p, n * PAGE, map_prot(r), MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void op_map_object(struct space *s, struct rng *r)
{
	const struct object *o = &s->objects[rng_below(r, s->n_objects)];
	int flags = MAP_FIXED | (rng_one_in(r, 2) ? MAP_SHARED : MAP_PRIVATE);
	size_t n, offset;
	char *p;

	space_pick(r, &p, &n);
	if (rng_one_in(r, 8))
		flags |= MAP_POPULATE;
	if (o->kind == OBJECT_HUGETLB) {
		p = (char *)((uintptr_t)p & ~(HUGE2M - 1));
		mmap(p, HUGE2M, map_prot(r), flags, o->fd, rng_below(r, 4) * HUGE2M);
		return;
	}
	offset = rng_below(r, o->pages + 32);
	/* In step with huge pages, or not. */
	if (rng_one_in(r, 2))
		offset = offset / 512 * 512 + ((uintptr_t)p / PAGE) % 512;
	mmap(p, n * PAGE, map_prot(r), flags, o->fd, offset * PAGE);
}

static void op_map_hugetlb(struct space *s, struct rng *r)
{
	size_t n;
	char *p;

	(void)s;
	space_pick(r, &p, &n);
	p = (char *)((uintptr_t)p & ~(HUGE2M - 1));
	mmap(p, HUGE2M, map_prot(r), MAP_FIXED | MAP_ANONYMOUS | MAP_HUGETLB |
	     (rng_one_in(r, 2) ? MAP_SHARED : MAP_PRIVATE), -1, 0);
}

static void op_map_sysv(struct space *s, struct rng *r)
{
	size_t n;
	char *p;
	int id;

	(void)s;
	space_pick(r, &p, &n);
	id = shmget(IPC_PRIVATE, n * PAGE, IPC_CREAT | 0600);
	if (id < 0)
		return;
	shmat(id, p, SHM_REMAP | (rng_one_in(r, 4) ? SHM_RDONLY : 0));
	shmctl(id, IPC_RMID, NULL);
}

static void op_read(struct space *s, struct rng *r)
{
	size_t n, i, step = rng_one_in(r, 2) ? 1 : 1 + rng_below(r, 9);
	char *p;

	(void)s;
	space_pick(r, &p, &n);
	for (i = 0; i < n; i += step)
		guarded_read(p + i * PAGE);
}

static void op_write(struct space *s, struct rng *r)
{
	size_t n, i, step = rng_one_in(r, 2) ? 1 : 1 + rng_below(r, 9);
	bool equal = rng_one_in(r, 5);
	char *p;

	space_pick(r, &p, &n);
	for (i = 0; i < n; i += step)
		guarded_write(p + i * PAGE, equal ? 0x5157 : s->counter++);
}

static void op_scatter(struct space *s, struct rng *r)
{
	size_t n, i, k;
	char *p;

	space_pick(r, &p, &n);
	for (i = 0; i < n / 4 + 1; i++) {
		k = rng_below(r, n);
		if (rng_one_in(r, 2))
			guarded_read(p + k * PAGE);
		else
			guarded_write(p + k * PAGE, s->counter++);
	}
}

static void op_unmap(struct space *s, struct rng *r)
{
	size_t n;
	char *p;

	(void)s;
	space_pick(r, &p, &n);
	munmap(p, n * PAGE);
}

static void op_protect(struct space *s, struct rng *r)
{
	size_t n;
	char *p;

	(void)s;
	space_pick(r, &p, &n);
	mprotect(p, n * PAGE, any_prot(r));
}

static void op_move(struct space *s, struct rng *r)
{
	int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
	size_t n, m, room;
	char *p, *to;

	(void)s;
	space_pick(r, &p, &n);
	space_pick(r, &to, &m);
	room = (ARENA_START + ARENA_PAGES * PAGE - to) / PAGE;
	if (rng_one_in(r, 3))
		flags |= MREMAP_DONTUNMAP;
	/* Half of the moves keep the place within a huge page. */
	if (rng_one_in(r, 2)) {
		to = (char *)(((uintptr_t)to & ~(HUGE2M - 1)) | ((uintptr_t)p & (HUGE2M - 1)));
		room = (ARENA_START + ARENA_PAGES * PAGE - to) / PAGE;
	}
	if (n > room)
		n = room;
	if (n && (to + n * PAGE <= p || p + n * PAGE <= to))
		mremap(p, n * PAGE, n * PAGE, flags, to);
}

static void op_resize(struct space *s, struct rng *r)
{
	size_t n, m;
	char *p;

	(void)s;
	space_pick(r, &p, &n);
	m = 1 + rng_below(r, 2 * n);
	if (p + m * PAGE <= ARENA_START + ARENA_PAGES * PAGE)
		mremap(p, n * PAGE, m * PAGE, 0);
}

static void op_lock(struct space *s, struct rng *r)
{
	size_t n;
	char *p;

	(void)s;
	space_pick(r, &p, &n);
	switch (rng_below(r, 4)) {
	case 0:
		mlock(p, n * PAGE);
		break;
	case 1:
		mlock2(p, n * PAGE, MLOCK_ONFAULT);
		break;
	default:
		munlock(p, n * PAGE);
		break;
	}
}

const struct op ops_map[] = {
	{ "map-anon", 14, op_map_anon },
	{ "map-shared", 8, op_map_shared },
	{ "map-object", 16, op_map_object },
	{ "map-hugetlb", 2, op_map_hugetlb },
	{ "map-sysv", 2, op_map_sysv },
	{ "read", 18, op_read },
	{ "write", 22, op_write },
	{ "scatter", 12, op_scatter },
	{ "unmap", 6, op_unmap },
	{ "protect", 8, op_protect },
	{ "move", 8, op_move },
	{ "resize", 3, op_resize },
	{ "lock", 3, op_lock },
	{ NULL, 0, NULL }
};

static const struct op *const tables[] = { ops_map, ops_advise, ops_others };

/* The nth of all operations, or NULL. */
const struct op *op_nth(unsigned int n)
{
	const struct op *o;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (o = tables[i]; o->name; o++)
			if (!n--)
				return o;
	return NULL;
}

/* One operation, by the numbers; a child has but those that are about itself. */
const struct op *op_run(struct space *s, struct rng *r, bool child)
{
	const size_t n = child ? ARRAY_SIZE(tables) - 1 : ARRAY_SIZE(tables);
	unsigned int total = 0, at;
	const struct op *o;
	size_t i;

	for (i = 0; i < n; i++)
		for (o = tables[i]; o->name; o++)
			total += o->weight;
	at = rng_below(r, total);
	for (i = 0; i < n; i++) {
		for (o = tables[i]; o->name; o++) {
			if (at < o->weight) {
				o->fn(s, r);
				return o;
			}
			at -= o->weight;
		}
	}
	return NULL;
}
