// SPDX-License-Identifier: GPL-2.0
/*
 * The seed's eight rows: QueryWorkingSetEx over an anonymous region and a file,
 * sequentially, in reverse, each second page, and page by page; beside the published
 * times of Windows and of Wine.
 */
#include <stdio.h>

#include "bench.h"

#define PAGES	4096

enum order {
	SEQUENTIAL,
	REVERSE,
	SECOND,
	SINGLE,
};

static const struct row {
	const char *name;
	bool file;
	enum order order;
	/* Milliseconds, as published: one computer, a region of unknown size. */
	double windows, wine_before, wine_buffered;
} rows[] = {
	{ "qwsex/anon-sequential", false, SEQUENTIAL, 1.7, 166.2, 3.5 },
	{ "qwsex/anon-reverse", false, REVERSE, 1.0, 166.3, 3.2 },
	{ "qwsex/anon-second", false, SECOND, 0.5, 83.7, 1.8 },
	{ "qwsex/anon-single", false, SINGLE, 27.5, 197.6, 74.7 },
	{ "qwsex/file-sequential", true, SEQUENTIAL, 2.7, 161.5, 2.4 },
	{ "qwsex/file-reverse", true, REVERSE, 2.5, 161.4, 2.3 },
	{ "qwsex/file-second", true, SECOND, 1.3, 81.1, 1.4 },
	{ "qwsex/file-single", true, SINGLE, 45.3, 191.2, 71.6 },
};

static void row_run(const struct row *row, struct job *job, unsigned int *order)
{
	static const struct who *const who[] = { &our_qwsex, &peer_wine_8, &peer_wine_10 };
	size_t i, pages = job->pop->pages;

	job->count = row->order == SECOND ? pages / 2 : pages;
	job->per_call = row->order == SINGLE;
	job->order = order;
	for (i = 0; i < job->count; i++)
		order[i] = row->order == REVERSE ? pages - 1 - i :
			   row->order == SECOND ? 2 * i : i;
	for (i = 0; i < ARRAY_SIZE(who); i++) {
		/* The whole region in a call, but where each entry costs a read anyway. */
		job->window = row->order == SINGLE || who[i] == &peer_wine_8 ? 0 : job->count;
		result_add(row->name, who[i]->name, measure(job, who[i]));
	}
}

static void print(void)
{
	size_t i;

	printf("\nThe seed's rows: milliseconds as published, and %s an entry as measured\n",
	       unit_is_insn ? "instructions" : clock_unit());
	printf("%-22s | %7s %11s %13s | %8s %8s %8s | %13s %7s\n", "", "Windows", "Wine before",
	       "Wine buffered", "wine-8", "wine-10", "wsquery", "Windows ahead", "we");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		double wine = result_get(row->name, "wine-10");
		double ours = result_get(row->name, "wsquery");

		if (ours < 0)
			continue;
		printf("%-22s | %7.1f %11.1f %13.1f | %8.1f %8.1f %8.1f | %13.1f %7.1f\n",
		       row->name, row->windows, row->wine_before, row->wine_buffered,
		       result_get(row->name, "wine-8"), wine, ours,
		       row->wine_buffered / row->windows, wine / ours);
	}
	fflush(stdout);
}

void seed_run(void)
{
	unsigned int *order = array_make(PAGES, sizeof(*order));
	struct pop *pop[2] = { pop_anon_full(PAGES), pop_file_full(PAGES) };
	size_t i, file;

	for (file = 0; file < 2; file++) {
		struct job job;

		job_start(&job, pop[file]);
		wine_views(pop[file]);
		for (i = 0; i < ARRAY_SIZE(rows); i++)
			if (rows[i].file == file && wanted(rows[i].name))
				row_run(&rows[i], &job, order);
		job_end(&job);
		pop_free(pop[file]);
	}
	array_free(order, PAGES, sizeof(*order));
	if (!marked)
		print();
}

/* How far Windows is ahead of buffered Wine in a row; negative if there is no such. */
double seed_margin(size_t row, const char **name)
{
	if (row >= ARRAY_SIZE(rows))
		return -1;
	*name = rows[row].name;
	return rows[row].wine_buffered / rows[row].windows;
}
