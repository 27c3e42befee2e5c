// SPDX-License-Identifier: GPL-2.0
/*
 * A bounded fuzzer: requests that are valid, nearly valid and nothing of the kind, from
 * several threads on one descriptor. Each call has a number and its choices follow from that
 * and the seed, so that any can be made again. Errors other than those documented, memory
 * written that is none of the request's, and anything written by a request that is
 * refused are found.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trust.h"

#define ROOM		(64UL << 10)
#define EDGE		256UL
#define FDS		8

static int dev, fds[FDS];
static uint64_t seed = 1, calls = 1000000;
static time_t until;
static atomic_ulong next_call, made, accepted, refused, wrong;
static char *read_only, *hole;

struct fuzz {
	struct rng r;
	uint64_t call;
	char *buffer;		/* a watched edge, ROOM bytes, and nothing after them */
	char *copy;
	union {
		uint32_t size;
		uint64_t words[64];
		struct wsquery_info info;
		struct wsquery_pages pages;
		struct wsquery_regions regions;
		struct wsquery_count count;
		struct wsquery_list list;
	} arg;
};

static void complain(const struct fuzz *f, const char *what, int err)
{
	if (atomic_fetch_add(&wrong, 1) < 20)
		printf("# call %llu: %s (%s); again by: fuzz --seed %llu --call %llu\n",
		       (unsigned long long)f->call, what, err ? strerror(err) : "success",
		       (unsigned long long)seed, (unsigned long long)f->call);
}

static uint64_t some_number(struct rng *r)
{
	static const uint64_t odd[] = {
		0, 1, 7, 8, 4095, 4096, 1ULL << 31, 1ULL << 32, 1ULL << 47, (1ULL << 47) - 4096,
		1ULL << 56, 1ULL << 63, ~0ULL, ~0ULL - 4095, 0x5555555555555555ULL,
	};

	switch (rng_below(r, 3)) {
	case 0:
		return odd[rng_below(r, ARRAY_SIZE(odd))];
	case 1:
		return rng_below(r, 1ULL << rng_below(r, 63));
	default:
		return rng_next(r);
	}
}

static uint64_t some_pointer(struct fuzz *f)
{
	switch (rng_below(&f->r, 9)) {
	case 0:
		return some_number(&f->r);
	case 1:
		return (uintptr_t)read_only;
	case 2:
		return (uintptr_t)hole;
	case 3:
		return (uintptr_t)f->buffer + EDGE + rng_below(&f->r, ROOM);
	case 4:
		return 0xffff888000000000ULL + rng_below(&f->r, 1ULL << 40) * 8;
	default:
		return (uintptr_t)f->buffer + EDGE;
	}
}

static uint64_t some_start(struct fuzz *f)
{
	switch (rng_below(&f->r, 6)) {
	case 0:
		return some_number(&f->r);
	case 1:
		return some_number(&f->r) & ~(PAGE - 1);
	case 2:
		return ((uintptr_t)f->buffer) & ~(PAGE - 1);
	default:
		return (uintptr_t)ARENA_START + rng_below(&f->r, ARENA_PAGES) * PAGE;
	}
}

static uint64_t some_length(struct fuzz *f)
{
	return rng_one_in(&f->r, 8) ? some_number(&f->r) :
	       rng_one_in(&f->r, 8) ? some_number(&f->r) & ~(PAGE - 1) :
				      rng_below(&f->r, 3000) * PAGE;
}

static void some_target(struct fuzz *f, uint32_t *flags, int32_t *target)
{
	*flags = rng_one_in(&f->r, 12) ? some_number(&f->r) : rng_below(&f->r, 4);
	*target = *flags & WSQUERY_TARGET_FD ? fds[rng_below(&f->r, FDS)] :
		  rng_one_in(&f->r, 20) ? (int)some_number(&f->r) : 0;
}

static uint64_t some_attrs(struct fuzz *f)
{
	static const uint64_t all = ALL_ATTRS & ~WSQUERY_GUARD;
	uint64_t attrs = rng_next(&f->r) & rng_next(&f->r) & all;

	if (rng_one_in(&f->r, 12))
		return some_number(&f->r);
	if (rng_one_in(&f->r, 3))
		return rng_one_in(&f->r, 2) ? 0 : all;
	/* Fields as a whole, or else it ends here mostly. */
	attrs &= ~(WSQUERY_SHARE_COUNT | WSQUERY_NODE | WSQUERY_MARKER_KIND);
	return attrs | (rng_one_in(&f->r, 2) ? WSQUERY_SHARE_COUNT : 0);
}

static void some_range(struct fuzz *f, struct wsquery_range *range)
{
	some_target(f, &range->flags, &range->target);
	range->start = some_start(f);
	range->length = some_length(f);
	range->attrs = some_attrs(f);
	range->done = rng_next(&f->r);
	range->not_told = rng_next(&f->r);
}

/* A request; returns the size of its structure. */
static size_t some_request(struct fuzz *f, unsigned int nr)
{
	static const unsigned char entries[] = { 1, 8, 16, 8, 1, 0, 2, 255 };
	struct rng *r = &f->r;

	memset(&f->arg, 0, sizeof(f->arg));
	switch (nr) {
	case 0:
		return sizeof(f->arg.info);
	case 1:
		some_range(f, &f->arg.pages.range);
		f->arg.pages.range.entry_size = entries[rng_below(r, ARRAY_SIZE(entries))];
		if (f->arg.pages.range.entry_size == 1)
			f->arg.pages.range.attrs = 0;
		f->arg.pages.entries = some_pointer(f);
		return sizeof(f->arg.pages);
	case 2:
		some_range(f, &f->arg.regions.range);
		f->arg.regions.regions = some_pointer(f);
		f->arg.regions.capacity = rng_one_in(r, 4) ? some_number(r) : rng_below(r, 2000);
		f->arg.regions.select = rng_one_in(r, 4) ? some_number(r) : rng_below(r, 256);
		return sizeof(f->arg.regions);
	case 3:
		some_range(f, &f->arg.count.range);
		f->arg.count.mask = rng_one_in(r, 4) ? some_number(r) : rng_below(r, 256);
		f->arg.count.value = rng_one_in(r, 4) ? some_number(r) : 0;
		return sizeof(f->arg.count);
	default:
		some_target(f, &f->arg.list.flags, &f->arg.list.target);
		f->arg.list.entries = some_pointer(f);
		f->arg.list.count = rng_one_in(r, 8) ? some_number(r) : rng_below(r, 4000);
		f->arg.list.attrs = some_attrs(f);
		return sizeof(f->arg.list);
	}
}

static bool documented(int err)
{
	static const int all[] = {
		EINVAL, E2BIG, EFAULT, EBADF, EOPNOTSUPP, ESRCH, EPERM, ENOMEM, ENOTTY,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] == err)
			return true;
	return false;
}

/* Turns a bit, but none that makes a pointer one to other memory of this process. */
static void turn(uint64_t *word, unsigned int bit)
{
	if (*word >> 40 && bit >= 3 && bit < 47)
		return;
	*word ^= 1ULL << bit;
}

static void one_call(struct fuzz *f)
{
	unsigned int nr = rng_below(&f->r, 6);
	unsigned long ioc = _IO(WSQUERY_IOC_TYPE, nr);
	size_t size, used = ROOM + EDGE, i;
	char *place;
	int rc, err;

	size = some_request(f, nr);
	f->arg.size = rng_one_in(&f->r, 10) ? some_number(&f->r) : size;
	if (rng_one_in(&f->r, 30))
		ioc = rng_next(&f->r);
	/* Somewhere in between, a word is turned. */
	if (rng_one_in(&f->r, 6))
		turn(&f->arg.words[rng_below(&f->r, 20)], rng_below(&f->r, 64));
	for (i = 0; i < used; i += 8)
		*(uint64_t *)(f->buffer + i) = i * PAGE + (uintptr_t)ARENA_START;
	memcpy(f->copy, f->buffer, used);
	place = rng_one_in(&f->r, 15) ? (char *)some_pointer(f) : (char *)&f->arg;
	/* Structures of other people's are for nobody to overwrite. */
	if (place != (char *)&f->arg && place != read_only && place != hole)
		place = hole;
	uint64_t before[ARRAY_SIZE(f->arg.words)];

	memcpy(before, &f->arg, sizeof(before));
	errno = 0;
	rc = ioctl(dev, ioc, nr == 5 ? (char *)some_start(f) : place);
	err = rc < 0 ? errno : 0;
	atomic_fetch_add(&made, 1);
	atomic_fetch_add(err ? &refused : &accepted, 1);
	if (err && !documented(err))
		complain(f, "an error that is not documented", err);
	if (rc > 0 && ioc != WSQUERY_IOC_ONE)
		complain(f, "a result", rc);
	if (ioc != _IO(WSQUERY_IOC_TYPE, nr))
		return;
	if (memcmp(f->buffer, f->copy, EDGE))
		complain(f, "written beside the buffer", err);
	if ((err == EINVAL || err == E2BIG || err == ENOTTY) &&
	    (memcmp(before, &f->arg, sizeof(before)) || memcmp(f->buffer, f->copy, used)))
		complain(f, "written though refused", err);
}

static void *fuzzer(void *arg)
{
	const size_t room = ROOM / PAGE + 1;
	struct fuzz *f = calloc(1, sizeof(*f));

	(void)arg;
	f->buffer = map_anon(room);
	f->buffer += room * PAGE - ROOM - EDGE;
	f->copy = map_anon(room);
	while (time(NULL) < until) {
		f->call = atomic_fetch_add(&next_call, 1);
		if (f->call >= calls)
			break;
		f->r = rng_of(seed, f->call);
		one_call(f);
	}
	return NULL;
}

/* Descriptors that are targets, or are taken for them. */
static void targets(void)
{
	static const char * const files[] = {
		"/proc/self/pagemap", "/proc/self/pagemap", "/proc/1/pagemap", "/proc/self/mem",
		"/proc/self/maps", "/dev/wsquery", "/dev/null",
	};
	pid_t gone = fork();
	char path[64];
	size_t i;

	if (!gone) {
		pause();
		_exit(0);
	}
	for (i = 0; i < ARRAY_SIZE(files); i++)
		fds[i] = open(files[i], O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", gone);
	fds[FDS - 1] = open(path, O_RDONLY | O_CLOEXEC);
	kill(gone, SIGKILL);
	waitpid(gone, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", 1, NULL, 's' }, { "calls", 1, NULL, 'n' }, { "seconds", 1, NULL, 't' },
		{ "call", 1, NULL, 'c' }, { NULL, 0, NULL, 0 }
	};
	static struct space s;
	struct rng r, own;
	pthread_t threads[2];
	size_t i;
	int o;

	until = time(NULL) + 1000000;
	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (o) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			calls = strtoull(optarg, NULL, 0);
			break;
		case 't':
			until = time(NULL) + atol(optarg);
			break;
		case 'c':
			atomic_store(&next_call, strtoull(optarg, NULL, 0));
			calls = atomic_load(&next_call) + 1;
			break;
		default:
			printf("fuzz [--seed N] [--calls N] [--seconds N] [--call N]\n");
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	dev = open("/dev/wsquery", O_RDONLY | O_CLOEXEC);
	r = rng_of(seed, ~0ULL);
	if (dev < 0 || space_init(&s, &r))
		return 2;
	/* Something to ask about, the same for each seed. */
	for (i = 0; i < 60; i++) {
		own = rng_of(seed, ~i);
		op_run(&s, &own, true);
	}
	targets();
	read_only = mmap(NULL, 2 * ROOM, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hole = mmap(NULL, 2 * ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, fuzzer, NULL);
	for (i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	printf("# %lu calls, %lu accepted, %lu refused, %lu wrong; seed %llu\n",
	       atomic_load(&made), atomic_load(&accepted), atomic_load(&refused),
	       atomic_load(&wrong), (unsigned long long)seed);
	printf("%s 1 fuzz\n", atomic_load(&wrong) ? "not ok" : "ok");
	return atomic_load(&wrong) ? 1 : 0;
}
