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
	{ "disturb", disturb_run, false, true },
};

static bool insn;
static const char *only, *only_case;
static const char *json;

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

bool wanted(const char *name)
{
	return !only_case || !strcmp(name, only_case);
}

/* For tools/bench/profile: how many questions there were, and where the module is. */
static void profile_print(void)
{
	FILE *file = fopen("/sys/module/wsquery/sections/.text", "re");
	char text[32] = "";

	if (!file || fscanf(file, "%31s", text) != 1)
		die("no address of the module");
	fclose(file);
	printf("asked %zu text %s\n", questions, text);
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
		only_case = arg;
		return 0;
	case 'o':
		only = arg;
		return 0;
	case 'j':
		json = arg;
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
		{ "only", 'o', "PART", 0,
		  "only floor, rows, seed, thread, sparse, growth or disturb", 0 },
		{ "case", 'c', "NAME", 0,
		  "of rows and seed only this case; then tell how much was asked", 0 },
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
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		const struct part *part = &parts[i];

		if (only ? strcmp(only, part->name) : part->apart || (quick && !part->quick))
			continue;
		if (!part->apart)
			stay_on_one_cpu();
		part->run();
	}
	if (only_case)
		profile_print();
	else
		figures_print();
	if (json)
		results_write(json);
	return 0;
}
