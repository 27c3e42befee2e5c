// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle: makes random address spaces and compares every form of request about them with
 * what the kernel's other interfaces say, page by page.
 *
 * Each space is made in a process of its own from a seed; the same seed makes the same one.
 * What goes wrong is tried again with fewer and fewer operations, and the fewest that
 * still go wrong are printed, as options to run them again.
 */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trust.h"

#define MAX_OPS		512

/**
 * struct run - one space
 * @seed: of it
 * @ops: how many operations there are
 * @every: compare after so many
 * @rounds: so often, each time with other requests
 * @skip: operations to leave out
 * @say: print the operations
 */
struct run {
	uint64_t seed;
	unsigned int ops;
	unsigned int every;
	unsigned int rounds;
	bool skip[MAX_OPS];
	bool say;
};

static struct tally *shared;

/* The system's choices are the space's, whatever the last one left. */
static void knobs_set(struct rng *r)
{
	static const char * const words[] = { "always", "madvise", "never" };
	static const char * const shmem[] = { "always", "advise", "never" };

	write_text(THP_DIR "enabled", words[rng_below(r, 3)]);
	write_text(THP_DIR "shmem_enabled", shmem[rng_below(r, 3)]);
	write_text(THP_DIR "hugepages-64kB/enabled", words[rng_below(r, 3)]);
	write_text(THP_DIR "hugepages-64kB/shmem_enabled", shmem[rng_below(r, 3)]);
	write_text(THP_DIR "hugepages-16kB/enabled", words[rng_below(r, 3)]);
	write_text(THP_DIR "hugepages-256kB/shmem_enabled", shmem[rng_below(r, 3)]);
	write_text(THP_DIR "use_zero_page", rng_one_in(r, 3) ? "0" : "1");
}

static void run_child(const struct run *run)
{
	static struct space s;
	struct rng r = rng_of(run->seed, 1000000), own;
	const struct op *op;
	struct wsq q;
	unsigned int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A hang is a difference too. */
	alarm(120);
	knobs_set(&r);
	if (wsq_open(&q) || space_init(&s, &r)) {
		printf("# cannot begin\n");
		exit(2);
	}
	for (i = 0; i < run->ops; i++) {
		own = rng_of(run->seed, i);
		if (!run->skip[i]) {
			op = op_run(&s, &own, false);
			if (run->say)
				printf("# %u: %s\n", i, op->name);
		}
		if ((i + 1) % run->every && i + 1 < run->ops)
			continue;
		own = rng_of(run->seed, 2000000 + i);
		compare_all(&q, &s, &own, 0, run->rounds, shared);
		if (s.child > 0)
			compare_all(&q, &s, &own, s.child, run->rounds, shared);
	}
	fflush(stdout);
	_exit(0);
}

/* Makes and compares one space; returns whether anything was wrong. */
static bool run_one(const struct run *run, struct tally *total)
{
	unsigned int i;
	int status;
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	pid = fork();
	if (!pid)
		run_child(run);
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("# fork");
		return true;
	}
	for (i = 0; total && i < FORMS; i++)
		total->answers[i] += shared->answers[i];
	if (total) {
		total->differ += shared->differ;
		total->sums += shared->sums;
		total->unstable += shared->unstable;
	}
	if (status)
		printf("# seed %llu ended with status %#x\n", (unsigned long long)run->seed,
		       status);
	return shared->differ || status;
}

/* Leaves out as many operations as possible, halves first, for as long as there is time. */
static void shrink(struct run *run, time_t until)
{
	unsigned int step, i, k, left = 0;
	bool before[MAX_OPS];

	for (step = run->ops / 2; step; step /= 2) {
		for (i = 0; i < run->ops && time(NULL) < until; i += step) {
			bool any = false;

			memcpy(before, run->skip, sizeof(before));
			for (k = i; k < i + step && k < run->ops; k++) {
				any |= !run->skip[k];
				run->skip[k] = true;
			}
			if (any && !run_one(run, NULL))
				memcpy(run->skip, before, sizeof(before));
		}
	}
	printf("# smallest that goes wrong: oracle --seed %llu --ops %u --every %u --only ",
	       (unsigned long long)run->seed, run->ops, run->every);
	for (i = 0; i < run->ops; i++)
		if (!run->skip[i])
			printf("%s%u", left++ ? "," : "", i);
	printf("\n");
	/* What the operations of a small one are, can be said. */
	run->say = left < 20;
	run_one(run, NULL);
	run->say = false;
}

static void only(struct run *run, char *list)
{
	char *word;

	memset(run->skip, 1, sizeof(run->skip));
	for (word = strtok(list, ","); word; word = strtok(NULL, ","))
		run->skip[atoi(word) % MAX_OPS] = false;
}

static uint64_t answers(const struct tally *t)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < FORMS; i++)
		sum += t->answers[i];
	return sum;
}

static void report(const struct tally *t, unsigned int spaces, time_t seconds)
{
	int i;

	printf("# page answers compared, by form:");
	for (i = 0; i < FORMS; i++)
		printf(" %s %llu", form_names[i], (unsigned long long)t->answers[i]);
	printf("\n# %u address spaces, %llu page answers compared, %llu differ, ", spaces,
	       (unsigned long long)answers(t), (unsigned long long)t->differ);
	printf("%llu sums of smaps, %llu differences gone at a second look, %ld seconds\n",
	       (unsigned long long)t->sums, (unsigned long long)t->unstable, (long)seconds);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", 1, NULL, 's' }, { "spaces", 1, NULL, 'n' }, { "ops", 1, NULL, 'o' },
		{ "every", 1, NULL, 'e' }, { "only", 1, NULL, 'y' }, { "answers", 1, NULL, 'a' },
		{ "seconds", 1, NULL, 't' }, { "say", 0, NULL, 'v' }, { "rounds", 1, NULL, 'r' },
		{ NULL, 0, NULL, 0 }
	};
	static struct run run = { .seed = 1, .ops = 120, .every = 30, .rounds = 1 };
	unsigned int spaces = 1, n, bad = 0;
	uint64_t enough = ~0ULL, first;
	time_t start = time(NULL), seconds = 1000000;
	struct tally total = {};
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (o) {
		case 's':
			run.seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			spaces = atoi(optarg);
			break;
		case 'o':
			run.ops = atoi(optarg) % MAX_OPS;
			break;
		case 'e':
			run.every = atoi(optarg) ?: 1;
			break;
		case 'y':
			only(&run, optarg);
			break;
		case 'r':
			run.rounds = atoi(optarg) ?: 1;
			break;
		case 'a':
			enough = strtoull(optarg, NULL, 0);
			break;
		case 't':
			seconds = atol(optarg);
			break;
		case 'v':
			run.say = true;
			break;
		default:
			printf("oracle [--seed N] [--spaces N] [--ops N] [--every N]\n");
			printf("  [--rounds N] [--only N,...] [--answers N] [--seconds N]\n");
			return 2;
		}
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	mkdir("/tmp/wsq-tmpfs", 0700);
	if (mount("tmpfs", "/tmp/wsq-tmpfs", "tmpfs", 0, "huge=advise"))
		perror("# a tmpfs of its own");
	/* Nobody but the generator is to change anything. */
	write_text(THP_DIR "khugepaged/scan_sleep_millisecs", "100000000");
	if (shared == MAP_FAILED || truth_learn())
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);

	first = run.seed;
	for (n = 0; n < spaces; n++) {
		if (answers(&total) >= enough || time(NULL) - start >= seconds)
			break;
		run.seed = first + n;
		if (run_one(&run, &total)) {
			bad++;
			if (!run.say)
				shrink(&run, time(NULL) + 60);
			memset(run.skip, 0, sizeof(run.skip));
			if (bad == 5)
				break;
		}
	}
	report(&total, n, time(NULL) - start);
	printf("%s 1 oracle\n", bad ? "not ok" : "ok");
	umount2("/tmp/wsq-tmpfs", MNT_DETACH);
	return bad ? 1 : 0;
}
