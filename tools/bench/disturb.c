// SPDX-License-Identifier: GPL-2.0
/*
 * Disturbance: how long a thread takes to map, fault and unmap while another one of
 * the process asks about its memory in a loop. Nobody, a pagemap reader, and wsquery
 * take turns as the other one, for a short time each and many times, so that what else
 * the machine does hits all alike. As wsquery asks many times as often as pagemap in
 * the same time, it takes another turn in which it asks as often.
 *
 * Besides the percentiles of all operations there are those of each round: the median
 * of the rounds' 99th percentiles does not move when a few rounds are disturbed by
 * something else, and in how many rounds one was ahead tells whether it is chance.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define SCANNED		32768
#define OPERATION	16
#define OPERATIONS	40
#define ROUNDS		30
/* Nanoseconds between two operations, at most: long enough for the other to be anywhere. */
#define REST		800000

enum other {
	NOBODY,
	PAGEMAP,
	WSQUERY,
	AS_OFTEN,
	OTHERS,
};

static const struct {
	const char *name;
	const struct who *who;
	const char *median, *last;	/* names of results */
} others[OTHERS] = {
	{ "nobody", NULL, NULL, NULL },
	{ "pagemap", &peer_pagemap, "disturb/median", "disturb/99th" },
	{ "wsquery", &our_pages, "disturb/median", "disturb/99th" },
	{ "wsquery, as often", &our_pages, "disturb/median-as-often", "disturb/99th-as-often" },
};

static struct job job;
static const struct who *scanner;
static bool stop;
static size_t scans;
/* From one scan to the next. */
static double period;
/* What scans of pagemap took. */
static double pagemap_took;
static size_t pagemap_scans;

static void stay_on(int cpu)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(cpu, &here);
	sched_setaffinity(0, sizeof(here), &here);
}

static void *scan_loop(void *arg)
{
	__u64 next = clock_now();

	(void)arg;
	stay_on(1);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		__u64 now = clock_now();

		if (now < next)
			continue;
		next = now + period;
		scanner->ask(&job, 0, job.count);
		__atomic_fetch_add(&scans, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static double operation(void)
{
	static __u64 seed = 6;
	struct timespec rest = { .tv_nsec = random_next(&seed) % REST };
	__u64 from;
	char *map;
	size_t i;

	clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, NULL);
	from = clock_now();
	map = mmap(NULL, OPERATION * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	if (map == MAP_FAILED)
		die("cannot map %d pages", OPERATION);
	for (i = 0; i < OPERATION; i++)
		*(size_t *)(map + i * PAGE) = 1;
	munmap(map, OPERATION * PAGE);
	return clock_cost(from, clock_now());
}

static void round_run(enum other other, double *took)
{
	pthread_t thread;
	__u64 from;
	int i;

	scanner = others[other].who;
	stop = false;
	scans = 0;
	period = other == AS_OFTEN && pagemap_scans ? pagemap_took / pagemap_scans : 0;
	if (scanner && pthread_create(&thread, NULL, scan_loop, NULL))
		die("no thread");
	while (scanner && !__atomic_load_n(&scans, __ATOMIC_RELAXED))
		usleep(100);
	from = clock_now();
	scans = 0;
	for (i = 0; i < OPERATIONS; i++)
		took[i] = operation();
	if (other == PAGEMAP) {
		pagemap_took += clock_cost(from, clock_now());
		pagemap_scans += __atomic_load_n(&scans, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	if (scanner)
		pthread_join(thread, NULL);
}

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return a < b ? -1 : a > b;
}

/* The value below which so many percent are; sorts. */
static double percentile(double *values, size_t n, unsigned int percent)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n * percent / 100];
}

static int rounds_ahead(const double *one, const double *other)
{
	int r, n = 0;

	for (r = 0; r < ROUNDS; r++)
		n += one[r] <= other[r];
	return n;
}

void disturb_run(void)
{
	static double took[OTHERS][ROUNDS * OPERATIONS], last[OTHERS][ROUNDS];
	size_t count[OTHERS] = { 0 };
	double whole[OTHERS];
	int i, r, ahead[OTHERS];
	struct pop *pop;

	stay_on(0);
	pop = pop_anon_full(SCANNED);
	job_start(&job, pop);
	for (r = 0; r < ROUNDS; r++) {
		/* AS_OFTEN needs to know how often. */
		for (i = 0; i < OTHERS; i++) {
			int other = r ? (i + r) % OTHERS : i;
			double *here = took[other] + r * OPERATIONS;

			round_run(other, here);
			count[other] += scans;
			last[other][r] = percentile(here, OPERATIONS, 99);
		}
	}
	for (i = 0; i < OTHERS; i++)
		ahead[i] = rounds_ahead(last[i], last[PAGEMAP]);

	printf("\nDisturbance: %s to map, fault and unmap %d pages while another scans %d MiB,\n",
	       clock_unit(), OPERATION, (int)(SCANNED * PAGE >> 20));
	printf("in %d rounds of %d times\n", ROUNDS, OPERATIONS);
	printf("%-18s %10s %10s %10s %17s %10s\n", "the other", "median", "99th", "longest",
	       "99th of a round", "scans");
	for (i = 0; i < OTHERS; i++) {
		double median = percentile(took[i], ROUNDS * OPERATIONS, 50);

		whole[i] = percentile(took[i], ROUNDS * OPERATIONS, 99);
		printf("%-18s %10.0f %10.0f %10.0f %17.0f %10zu\n", others[i].name, median,
		       whole[i], took[i][ROUNDS * OPERATIONS - 1],
		       percentile(last[i], ROUNDS, 50), count[i]);
		if (!others[i].median)
			continue;
		result_add(others[i].median, others[i].who->name, median);
		result_add(others[i].last, others[i].who->name, whole[i]);
	}
	for (i = WSQUERY; i < OTHERS; i++)
		printf("The 99th percentile beside %s is %s than beside a pagemap reader, and so\n"
		       "in %d of %d rounds.\n", others[i].name,
		       whole[i] <= whole[PAGEMAP] ? "no worse" : "WORSE",
		       whole[i] <= whole[PAGEMAP] ? ahead[i] : ROUNDS - ahead[i], ROUNDS);
	job_end(&job);
	pop_free(pop);
}
