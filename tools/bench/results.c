// SPDX-License-Identifier: GPL-2.0
/*
 * The results: kept, printed as tables for people, and written as lines of JSON.
 */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "bench.h"

#define RESULTS	512
#define NAME	48

static struct result {
	char name[NAME];
	const char *who;
	double value;
} results[RESULTS];
static size_t filled;

static const char *const everyone[] = {
	"wsquery", "pagemap", "pagemap-256", "pagemap-pread", "pagemap-scan", "mincore",
	"wine-8", "wine-10",
};

/* A negative value stands for a peer that does not exist here. */
void result_add(const char *name, const char *who, double value)
{
	if (value < 0)
		return;
	if (filled == RESULTS)
		die("more than %d results", RESULTS);
	snprintf(results[filled].name, NAME, "%s", name);
	results[filled].who = who;
	results[filled++].value = value;
}

/* Negative if there is none. */
double result_get(const char *name, const char *who)
{
	size_t i;

	for (i = 0; i < filled; i++)
		if (!strcmp(results[i].name, name) && !strcmp(results[i].who, who))
			return results[i].value;
	return -1;
}

static bool has_any(const char *const *names, size_t count, const char *who)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (result_get(names[i], who) >= 0)
			return true;
	return false;
}

/* A row for each case, a column for each of those who were asked any of them. */
void results_print(const char *title, const char *const *names, size_t count)
{
	size_t i, j;

	printf("\n%s\n%-26s", title, "");
	for (j = 0; j < ARRAY_SIZE(everyone); j++)
		if (has_any(names, count, everyone[j]))
			printf(" %13s", everyone[j]);
	printf("\n");
	for (i = 0; i < count; i++) {
		printf("%-26s", names[i]);
		for (j = 0; j < ARRAY_SIZE(everyone); j++) {
			double value = result_get(names[i], everyone[j]);

			if (!has_any(names, count, everyone[j]))
				continue;
			if (value < 0)
				printf(" %13s", "-");
			else
				printf(" %13.*f", value < 100 ? 2 : 1, value);
		}
		printf("\n");
	}
	fflush(stdout);
}

void results_write(const char *path)
{
	static const char line[] =
	"{\"case\":\"%s\",\"who\":\"%s\",\"per_page\":%.3f,\"unit\":\"%s\",\"kernel\":\"%s\"}\n";
	FILE *file = fopen(path, "we");
	struct utsname kernel;
	size_t i;

	if (!file || uname(&kernel))
		die("cannot write %s", path);
	for (i = 0; i < filled; i++)
		fprintf(file, line, results[i].name, results[i].who, results[i].value,
			clock_unit(), kernel.release);
	if (fclose(file))
		die("cannot write %s", path);
}
