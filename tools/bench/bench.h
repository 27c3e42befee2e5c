/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the benchmark share: the clock, memory in known states
 * (populations), those who can be asked about it, and the results.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include <linux/wsquery.h>

#define PAGE		4096UL
#define HUGE2M		(2UL << 20)
#define HUGE_PAGES	(HUGE2M / PAGE)

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* main.c */
extern bool quick;
extern bool marked;
extern unsigned int wanted_now;
bool wanted(const char *name);
void profile_asked(unsigned int which, size_t n);
extern const char *scratch;
noreturn void die(const char *format, ...);
void *array_make(size_t count, size_t size);
void array_free(void *array, size_t count, size_t size);
__u64 random_next(__u64 *seed);
unsigned long setting_swap(const char *path, unsigned long value);

/* clock.c */
extern bool unit_is_insn;
void clock_start(bool insn);
const char *clock_unit(void);
__u64 clock_now(void);
double clock_cost(__u64 from, __u64 to);

/* What a page is, by construction. */
enum state {
	HOLE,
	PRESENT,
	SWAPPED,
};

/**
 * struct pop - a population: memory whose pages' states are known
 * @start: its first address
 * @pages: how many
 * @want: their states
 * @file: of a file that is not shared memory
 * @shared: of a file or of shared memory, mapped shared
 * @reserved: the whole mapping, for pop_free()
 * @reserved_length: its bytes
 */
struct pop {
	char *start;
	size_t pages;
	__u8 *want;
	bool file;
	bool shared;
	void *reserved;
	size_t reserved_length;
};

/* memory.c */
struct pop *pop_reserve(size_t pages);
void pop_free(struct pop *pop);
void pop_touch(struct pop *pop);
struct pop *pop_anon_full(size_t pages);
struct pop *pop_anon_alternate(size_t pages);
struct pop *pop_anon_random(size_t pages);
struct pop *pop_anon_thp(size_t pages);
struct pop *pop_holes(size_t pages);
struct pop *pop_shmem_full(size_t pages);
struct pop *pop_file_full(size_t pages);
struct pop *pop_vmas(size_t vmas, size_t pages);
struct pop *pop_small_vmas(size_t pages);

/* swapmix.c */
struct pop *pop_swapmix(size_t pages);

/**
 * struct job - questions about a population, and room for any kind of answer
 * @pop: the population
 * @count: how many questions
 * @order: which page each is about; NULL for one after the other
 * @per_call: questions in a call; 0 for as many as there are in the window
 * @window: questions in a window; 0 for as many as take few enough instructions
 * @weight: by what the cost of the first n questions is divided; NULL for n
 * @bytes: answers of a byte
 * @words: answers of a word
 * @entries: answers with addresses
 * @regions: answers as runs, of wsquery or PAGEMAP_SCAN
 * @found: number of runs, or pages counted
 * @capacity: room for runs
 */
struct job {
	const struct pop *pop;
	size_t count;
	const unsigned int *order;
	size_t per_call;
	size_t window;
	size_t (*weight)(const struct job *job, size_t n);
	__u8 *bytes;
	__u64 *words;
	struct wsquery_entry *entries;
	struct wsquery_region *regions;
	size_t found;
	size_t capacity;
};

/**
 * struct who - someone who answers questions
 * @name: as in the results
 * @ask: answers questions first to first + n
 * @check: whether these answers are right
 * @blind: cannot see that shared memory is in swap
 * @there: whether this kernel has it; NULL if all have
 */
struct who {
	const char *name;
	void (*ask)(struct job *job, size_t first, size_t n);
	bool (*check)(struct job *job, size_t first, size_t n, bool blind);
	bool blind;
	bool (*there)(void);
};

static inline size_t job_page(const struct job *job, size_t i)
{
	return job->order ? job->order[i] : i;
}

static inline char *job_address(const struct job *job, size_t i)
{
	return job->pop->start + job_page(job, i) * PAGE;
}

/* job.c */
void job_start(struct job *job, const struct pop *pop);
void job_end(struct job *job);
void job_poison(struct job *job, size_t first, size_t n);
bool job_expect(const struct job *job, size_t i, enum state state, bool blind);

/* measure.c */
double measure(struct job *job, const struct who *who);
double measure_whole(struct job *job, const struct who *who);

/* peers.c */
void peers_start(void);
extern const struct who peer_pagemap, peer_pagemap_256, peer_pagemap_pread, peer_mincore;

/* scan.c */
bool scan_there(void);
extern const struct who peer_scan, peer_scan_few;

/* wine.c */
void wine_views(const struct pop *pop);
extern const struct who peer_wine_8, peer_wine_10;

/* ours.c */
extern int device;
void ours_start(void);
extern const struct who our_pages, our_regions, our_count, our_list, our_one, our_qwsex;

/* results.c */
void result_add(const char *name, const char *who, double value);
double result_get(const char *name, const char *who);
void results_print(const char *title, const char *const *names, size_t count);
void results_write(const char *path);

/* trace.c */
double trace_longest(struct job *job, const struct who *who);
double trace_memory(struct job *job, const struct who *who);

/* rows.c, seed.c, thread.c, sparse.c, growth.c, floor.c, locks.c, disturb.c, figures.c */
void rows_run(void);
void seed_run(void);
double seed_margin(size_t row, const char **name);
void thread_run(void);
void sparse_run(void);
void growth_run(void);
void floor_run(void);
void locks_run(void);
void disturb_run(void);
void figures_print(void);
void figures_missed(const char *path);

#endif /* BENCH_H */
