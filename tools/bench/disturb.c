// SPDX-License-Identifier: GPL-2.0
/*
 * Disturbance: how long a thread takes to map, fault and unmap while another one of
 * the process asks about its memory in a loop. Nothing, a pagemap reader and
 * wsquery take turns as the other one.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench.h"

#define SCANNED		32768
#define OPERATION	16
#define OPERATIONS	500
#define ROUNDS		4

enum other {
	NOBODY,
	PAGEMAP,
	WSQUERY,
	OTHERS,
};

static struct job job;
static const struct who *scanner;
static bool stop;
static size_t scans;

static void *scan_loop(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		scanner->ask(&job, 0, job.count);
		__atomic_fetch_add(&scans, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static double operation(void)
{
	__u64 from = clock_now();
	char *map = mmap(NULL, OPERATION * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (map == MAP_FAILED)
		die("cannot map %d pages", OPERATION);
	for (i = 0; i < OPERATION; i++)
		*(size_t *)(map + i * PAGE) = 1;
	munmap(map, OPERATION * PAGE);
	return clock_cost(from, clock_now());
}

static void round_run(const struct who *who, double *took)
{
	pthread_t thread;
	int i;

	scanner = who;
	stop = false;
	if (who && pthread_create(&thread, NULL, scan_loop, NULL))
		die("no thread");
	while (who && !__atomic_load_n(&scans, __ATOMIC_RELAXED))
		sched_yield();
	for (i = 0; i < OPERATIONS; i++)
		took[i] = operation();
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	if (who)
		pthread_join(thread, NULL);
}

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return a < b ? -1 : a > b;
}

void disturb_run(void)
{
	static const char *const names[OTHERS] = { "nobody", "pagemap", "wsquery" };
	const struct who *const who[OTHERS] = { NULL, &peer_pagemap, &our_pages };
	const size_t all = ROUNDS * OPERATIONS;
	double *took[OTHERS], last[OTHERS];
	size_t count[OTHERS] = { 0 };
	struct pop *pop;
	int i, r;

	pop = pop_anon_full(SCANNED);
	job_start(&job, pop);
	for (i = 0; i < OTHERS; i++)
		took[i] = array_make(all, sizeof(**took));
	for (r = 0; r < ROUNDS; r++) {
		for (i = 0; i < OTHERS; i++) {
			scans = 0;
			round_run(who[i], took[i] + r * OPERATIONS);
			count[i] += scans;
		}
	}
	printf("\nDisturbance: ns to map, fault and unmap %d pages while another scans %d MiB\n",
	       OPERATION, (int)(SCANNED * PAGE >> 20));
	printf("%-12s %12s %12s %12s %10s\n", "the other", "median", "99th", "longest", "scans");
	for (i = 0; i < OTHERS; i++) {
		qsort(took[i], all, sizeof(**took), compare);
		last[i] = took[i][all * 99 / 100];
		printf("%-12s %12.0f %12.0f %12.0f %10zu\n", names[i], took[i][all / 2], last[i],
		       took[i][all - 1], count[i]);
		if (!who[i])
			continue;
		result_add("disturb/median", who[i]->name, took[i][all / 2]);
		result_add("disturb/99th", who[i]->name, last[i]);
	}
	printf("The 99th percentile beside wsquery is %s than beside a pagemap reader.\n",
	       last[WSQUERY] <= last[PAGEMAP] ? "no worse" : "WORSE");
	for (i = 0; i < OTHERS; i++)
		array_free(took[i], all, sizeof(**took));
	job_end(&job);
	pop_free(pop);
}
