// SPDX-License-Identifier: GPL-2.0
/*
 * The figures to reach, what was measured, and whether that suffices: those in
 * instructions where instructions are counted, those against peers everywhere.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"

static const struct figure {
	const char *name;
	double most;		/* instructions; 0 if there is no such figure */
	const char *peer;	/* or NULL */
	double margin;
} figures[] = {
	{ "pages/anon-full", 6, "pagemap", 20 },
	{ "pages/anon-full", 6, "mincore", 3.4 },
	{ "pages/shmem-full", 6, "pagemap", 20 },
	{ "pages/shmem-full", 6, "mincore", 3.4 },
	{ "pages/file-full", 6, "pagemap", 20 },
	{ "pages/file-full", 6, "mincore", 3.4 },
	{ "pages/anon-alternate", 16, "pagemap", 5 },
	{ "pages/anon-alternate", 16, "mincore", 2 },
	{ "pages/anon-random", 20, NULL, 0 },
	{ "count/anon-full", 5, "pagemap-scan", 30 },
	{ "regions/anon-full", 5, "pagemap-scan", 30 },
	{ "list/anon-shuffled", 20, NULL, 0 },
	{ "qwsex/anon-sequential", 28, "wine-10", 6 },
	{ "qwsex/anon-reverse", 28, "wine-10", 6 },
	{ "qwsex/anon-second", 28, "wine-10", 6 },
	{ "qwsex/file-sequential", 28, "wine-10", 6 },
	{ "qwsex/file-reverse", 28, "wine-10", 6 },
	{ "qwsex/file-second", 28, "wine-10", 6 },
	{ "one/anon", 900, "pagemap-pread", 3.7 },
	{ "pages/shmem-swapmix", 20, "pagemap", 2.4 },
};

static int reached, total;

/* Cases that miss a figure, each once. */
#define MISSED	64
static const char *missed[MISSED];
static size_t missed_filled;

static const char *verdict(const char *name, bool met)
{
	size_t i;

	total++;
	reached += met;
	if (met)
		return "met";
	for (i = 0; i < missed_filled && strcmp(missed[i], name); i++)
		;
	if (i == missed_filled && i < MISSED)
		missed[missed_filled++] = name;
	return "MISSED";
}

static void print_most(const char *name, double most, double ours)
{
	if (ours < 0)
		return;
	printf("%-26s at most %6.2f %s %*s %8.2f   %s\n", name, most, clock_unit(), 16, "",
	       ours, verdict(name, ours <= most));
}

static void print_margin(const char *name, const char *peer, double margin)
{
	double ours = result_get(name, "wsquery"), theirs = result_get(name, peer);

	if (ours < 0 || theirs < 0)
		return;
	printf("%-26s %-13s by %6.2f %*s %8.2f   %s\n", name, peer, margin, 14, "",
	       theirs / ours, verdict(name, theirs / ours >= margin));
}

/* Per touched page as all present, plus 1 %. */
static void print_sparse(void)
{
	double full = result_get("regions/anon-full", "wsquery");

	if (full >= 0)
		print_most("regions/sparse-1t", full * 1.01,
			   result_get("regions/sparse-1t", "wsquery"));
}

void figures_print(void)
{
	const char *last = NULL, *name;
	double margin;
	size_t i;

	if (result_get("pages/anon-full", "wsquery") < 0 &&
	    result_get("qwsex/anon-single", "wsquery") < 0)
		return;
	printf("\nThe figures\n%-26s %-36s %13s\n", "case", "target", "measured");
	for (i = 0; i < ARRAY_SIZE(figures); i++) {
		const struct figure *f = &figures[i];

		if (unit_is_insn && f->name != last)
			print_most(f->name, f->most, result_get(f->name, "wsquery"));
		if (f->peer)
			print_margin(f->name, f->peer, f->margin);
		last = f->name;
	}
	print_sparse();
	for (i = 0; (margin = seed_margin(i, &name)) > 0; i++)
		print_margin(name, "wine-10", margin);
	if (total)
		printf("%d of %d met\n", reached, total);
	fflush(stdout);
}

/* A line for each case that misses a figure. */
void figures_missed(const char *path)
{
	FILE *file = fopen(path, "we");
	size_t i;

	if (!file)
		die("cannot write %s", path);
	for (i = 0; i < missed_filled; i++)
		fprintf(file, "%s\n", missed[i]);
	if (fclose(file))
		die("cannot write %s", path);
}
