// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's array interfaces: /proc/self/pagemap, read in three ways, and
 * mincore(2).
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

#define PM_SWAP		(1ULL << 62)
#define PM_PRESENT	(1ULL << 63)
#define PM_BUFFER	256UL

static int pagemap = -1;

void peers_start(void)
{
	pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (pagemap < 0)
		die("no /proc/self/pagemap");
}

/* Each check has told that the answer is complete, so that this need not. */
static void pagemap_read(struct job *job, size_t first, size_t n)
{
	off_t at = (uintptr_t)job_address(job, first) / PAGE * sizeof(*job->words);
	size_t length = n * sizeof(*job->words), done = 0;

	while (done < length) {
		ssize_t got = pread(pagemap, (char *)(job->words + first) + done,
				    length - done, at + done);

		if (got <= 0)
			return;
		done += got;
	}
}

static void pagemap_calls(struct job *job, size_t first, size_t n, size_t per_call)
{
	const size_t end = first + n;

	for (; first < end; first += per_call)
		pagemap_read(job, first, end - first < per_call ? end - first : per_call);
}

static void ask_pagemap(struct job *job, size_t first, size_t n)
{
	pagemap_calls(job, first, n, job->per_call ? job->per_call : n);
}

static void ask_pagemap_256(struct job *job, size_t first, size_t n)
{
	pagemap_calls(job, first, n, PM_BUFFER);
}

static void ask_pagemap_pread(struct job *job, size_t first, size_t n)
{
	pagemap_calls(job, first, n, 1);
}

static bool check_pagemap(struct job *job, size_t first, size_t n, bool blind)
{
	size_t i;

	for (i = first; i < first + n; i++) {
		__u64 word = job->words[i];
		enum state state = word & PM_PRESENT ? PRESENT : word & PM_SWAP ? SWAPPED : HOLE;

		if (word == ~0ULL || !job_expect(job, i, state, blind))
			return false;
	}
	return true;
}

static void ask_mincore(struct job *job, size_t first, size_t n)
{
	const size_t end = first + n;
	size_t per_call = job->per_call ? job->per_call : n;

	for (; first < end; first += per_call)
		mincore(job_address(job, first), per_call * PAGE, job->bytes + first);
}

/* It counts what is in the swap cache as resident: either answer is right there. */
static bool check_mincore(struct job *job, size_t first, size_t n, bool blind)
{
	size_t i;

	for (i = first; i < first + n; i++) {
		bool either = blind && job->pop->want[job_page(job, i)] == SWAPPED;

		if (job->bytes[i] > 1 ||
		    (!either && !job_expect(job, i, job->bytes[i] ? PRESENT : HOLE, blind)))
			return false;
	}
	return true;
}

const struct who peer_pagemap = { "pagemap", ask_pagemap, check_pagemap, true, NULL };
const struct who peer_pagemap_256 = { "pagemap-256", ask_pagemap_256, check_pagemap, true, NULL };
const struct who peer_pagemap_pread = {
	"pagemap-pread", ask_pagemap_pread, check_pagemap, true, NULL
};

const struct who peer_mincore = { "mincore", ask_mincore, check_mincore, true, NULL };
