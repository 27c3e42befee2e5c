// SPDX-License-Identifier: GPL-2.0
/*
 * wsquery-bench: what /dev/wsquery costs, beside everything else that answers the
 * same question. tools/bench/run runs it where it should be run.
 */
#include <argp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "mark.h"

bool quick;
const char *scratch = "/var/tmp";

static const struct part {
	const char *name;
	void (*run)(void);
	bool quick;	/* belongs to the main rows */
	bool apart;	/* only if asked for by name */
} parts[] = {
	{ "floor", floor_run, true, false },
	{ "rows", rows_run, true, false },
	{ "seed", seed_run, true, false },
	{ "thread", thread_run, false, false },
	{ "sparse", sparse_run, false, false },
	{ "growth", growth_run, false, false },
	{ "locks", locks_run, false, true },
	{ "disturb", disturb_run, false, true },
};

static bool insn;
static const char *only;
static const char *json, *missed;

/* Cases asked for by name, and how much was asked of each; the first is not used. */
#define CASES	32
static char *cases[CASES];
static size_t cases_asked[CASES];
static unsigned int cases_filled;
unsigned int wanted_now;
bool marked;

void die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("wsquery-bench: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* Arrays are touched at once, and are mappings of their own. */
void *array_make(size_t count, size_t size)
{
	void *array = mmap(NULL, count * size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (array == MAP_FAILED)
		die("no memory for %zu times %zu bytes", count, size);
	return array;
}

void array_free(void *array, size_t count, size_t size)
{
	munmap(array, count * size);
}

__u64 random_next(__u64 *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

/* Change a number under /proc or /sys; returns what it was, or 0 if it may not be. */
unsigned long setting_swap(const char *path, unsigned long value)
{
	unsigned long was = 0;
	FILE *file = fopen(path, "r+e");

	if (!file)
		return 0;
	if (fscanf(file, "%lu", &was) != 1)
		was = 0;
	rewind(file);
	fprintf(file, "%lu", value);
	return fclose(file) ? 0 : was;
}

/* Whether to run a case, which is then the one that the plugin is told. */
bool wanted(const char *name)
{
	for (wanted_now = cases_filled; wanted_now; wanted_now--)
		if (!strcmp(name, cases[wanted_now]))
			return true;
	return !cases_filled;
}

void profile_asked(unsigned int which, size_t n)
{
	cases_asked[which] += n;
}

/* For tools/bench/profile: how many questions there were, and where the module is. */
static void profile_print(void)
{
	FILE *file = fopen("/sys/module/wsquery/sections/.text", "re");
	char text[32] = "";
	unsigned int i;

	if (!file || fscanf(file, "%31s", text) != 1)
		die("no address of the module");
	fclose(file);
	printf("text %s\n", text);
	for (i = 1; i <= cases_filled; i++)
		printf("asked %u %s %zu\n", i, cases[i], cases_asked[i]);
}

/* Whether @name is in a list with commas. */
static bool is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);
	const char *at;

	for (at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, length) && (!at[length] || at[length] == ','))
			return true;
	}
	return false;
}

/* Otherwise pages in another processor's lists cannot be paged out when they should. */
static void stay_on_one_cpu(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

static error_t option(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'q':
		quick = true;
		return 0;
	case 'c':
		if (cases_filled + 1 == CASES)
			argp_error(state, "too many cases");
		cases[++cases_filled] = arg;
		return 0;
	case 'o':
		only = arg;
		return 0;
	case 'j':
		json = arg;
		return 0;
	case 'm':
		marked = true;
		return 0;
	case 'f':
		missed = arg;
		return 0;
	case 's':
		scratch = arg;
		return 0;
	case 'u':
		if (strcmp(arg, "insn") && strcmp(arg, "ns"))
			argp_error(state, "the unit is insn or ns");
		insn = !strcmp(arg, "insn");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "quick", 'q', NULL, 0, "only the main rows", 0 },
		{ "only", 'o', "PART,...", 0,
		  "only floor, rows, seed, thread, sparse, growth, locks or disturb", 0 },
		{ "case", 'c', "NAME", 0, "of rows, seed, sparse and locks only this case", 0 },
		{ "marked", 'm', NULL, 0, "QEMU's plugin counts: tell it", 0 },
		{ "missed", 'f', "FILE", 0, "write the cases that miss a figure", 0 },
		{ "unit", 'u', "insn|ns", 0, "count instructions, or nanoseconds", 0 },
		{ "scratch", 's', "DIR", 0, "where a file that is not tmpfs can be made", 0 },
		{ "json", 'j', "FILE", 0, "write the results, a line each", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		.options = options,
		.parser = option,
		.doc = "Measure /dev/wsquery beside its peers.",
	};
	size_t i;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	ours_start();
	peers_start();
	clock_start(insn);
	if (marked) {
		mark_symbols();
		mark(MARK_START);
	}
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		const struct part *part = &parts[i];

		if (only ? !is_listed(only, part->name) : part->apart || (quick && !part->quick))
			continue;
		if (part->run != disturb_run)
			stay_on_one_cpu();
		part->run();
	}
	if (marked) {
		mark(MARK_END);
		profile_print();
	} else {
		figures_print();
	}
	if (missed)
		figures_missed(missed);
	if (json)
		results_write(json);
	return 0;
}
