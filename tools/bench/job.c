// SPDX-License-Identifier: GPL-2.0
/*
 * A job's room for answers: touched beforehand, and poisoned before each check, so
 * that neither a page fault nor an old answer falls into it.
 */
#include <string.h>

#include "bench.h"

void job_start(struct job *job, const struct pop *pop)
{
	*job = (struct job){
		.pop = pop,
		.count = pop->pages,
		.capacity = pop->pages + 1,
		.bytes = array_make(pop->pages, sizeof(*job->bytes)),
		.words = array_make(pop->pages, sizeof(*job->words)),
		.entries = array_make(pop->pages, sizeof(*job->entries)),
		.regions = array_make(pop->pages + 1, sizeof(*job->regions)),
	};
}

void job_end(struct job *job)
{
	array_free(job->bytes, job->pop->pages, sizeof(*job->bytes));
	array_free(job->words, job->pop->pages, sizeof(*job->words));
	array_free(job->entries, job->pop->pages, sizeof(*job->entries));
	array_free(job->regions, job->capacity, sizeof(*job->regions));
}

void job_poison(struct job *job, size_t first, size_t n)
{
	size_t i;

	job->found = 0;
	if (job->bytes)
		memset(job->bytes + first, 0xff, n * sizeof(*job->bytes));
	if (job->words)
		memset(job->words + first, 0xff, n * sizeof(*job->words));
	if (job->regions)
		memset(job->regions, 0xff, job->capacity * sizeof(*job->regions));
	for (i = first; i < first + n && job->entries; i++) {
		job->entries[i].address = (uintptr_t)job_address(job, i);
		job->entries[i].flags = ~0ULL;
	}
}

/* Whether question @i may be answered like this; the blind take swap for a hole. */
bool job_expect(const struct job *job, size_t i, enum state state, bool blind)
{
	enum state want = job->pop->want[job_page(job, i)];

	if (blind && want == SWAPPED && job->pop->shared)
		want = HOLE;
	return state == want;
}
