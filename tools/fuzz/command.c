// SPDX-License-Identifier: GPL-2.0
/*
 * Whole command lines about a process that looks like anything. Input: a line of words, a line
 * of environment variables, a line for /proc/PID/comm, lines of maps, "--", lines of a names
 * file ("--names names").
 */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "fuzz.h"
#include "world.h"

#define WORDS	24

static struct {
	const char *name;
	int (*run)(int argc, char **argv);
} const commands[] = {
	{ "map", map_main }, { "pages", pages_main }, { "show", show_main }, { "info", info_main },
};

static const char *const variables[] = {
	"WSQUERY_BACKEND", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR",
};

struct call {
	char *words[WORDS + 1];
	int count;
	size_t command;
	int status;
};

static void run(void *arg)
{
	struct call *call = arg;

	call->status = commands[call->command].run(call->count, call->words);
}

/* Runs of all states among the first pages of each million, and holes elsewhere. */
static uint64_t state(uint64_t page, unsigned int *flags)
{
	static const unsigned char states[] = {
		0, PAGE_PRESENT, PAGE_SWAP, PAGE_PRESENT | PAGE_FILE, PAGE_PRESENT | PAGE_HUGE,
		PAGE_SWAP | PAGE_SOFT_DIRTY, PAGE_SWAP | PAGE_FILE, PAGE_SWAP | PAGE_GUARD_PTE,
		PAGE_PRESENT | PAGE_ZERO, PAGE_UFFD_WP | PAGE_PRESENT,
	};
	uint64_t within = page & 0xfffff;

	*flags = within < 512 ? states[within / 4 % ARRAY_SIZE(states)] : 0;
	return within < 512 ? (page | 3) + 1 : (page | 0xfffff) + 1;
}

static void set_environment(char *line)
{
	char *word, *value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	while (line && (word = strsep(&line, " "))) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = '\0';
		for (i = 0; i < ARRAY_SIZE(variables); i++)
			if (!strcmp(word, variables[i]))
				setenv(word, value, 1);
	}
}

static void check_json(void)
{
	struct json_tokener *tokener = json_tokener_new();
	json_object *document;

	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	document = json_tokener_parse_ex(tokener, said, said_size);
	CHECK(document && json_tokener_get_error(tokener) == json_tokener_success);
	CHECK(said_size - json_tokener_get_parse_end(tokener) <= 1);
	json_object_put(document);
	json_tokener_free(tokener);
}

static void check(const struct call *call, int status)
{
	if (status >= 0) {
		CHECK(status <= STATUS_NO_PERMISSION);
		return;
	}
	CHECK(call->status == STATUS_OK ||
	      (call->command == 3 && call->status == STATUS_NO_BACKEND));
	if (said_size == sizeof(said))
		return;
	/* For programs, which get names as they are: JSON escapes what it must, not DEL. */
	if (said_size && *said == '{')
		check_json();
	else	/* Colours are all that a terminal is told. */
		CHECK(text_clean(said, said_size, call->command == 2 ? "\n\033" : "\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	char *line = input_line(&input), *environment = input_line(&input);
	char *comm = input_line(&input), *maps = input_part(&input), *names = input_part(&input);
	char *rest = line, *word;
	struct call call = { 0 };
	bool help = false;

	while (rest && call.count < WORDS && (word = strsep(&rest, " "))) {
		/* What argp does by itself: help, and a wait of an hour (--HANG). */
		help |= !strncmp(word, "--h", 3) || !strncmp(word, "--us", 4) ||
			!strncmp(word, "-?", 2) || !strncmp(word, "--H", 3);
		call.words[call.count++] = word;
	}
	while (call.count && call.command < ARRAY_SIZE(commands) &&
	       strcmp(commands[call.command].name, call.words[0]))
		call.command++;
	if (call.count && call.command < ARRAY_SIZE(commands) && !help) {
		set_environment(environment);
		world = (struct world){
			.on = true,
			.maps = maps, .maps_size = strlen(maps),
			.names = names, .names_size = strlen(names),
			.mounts = "", .comm = comm, .state = state,
			.scan = true, .guards = true, .budget = 200,
		};
		argp_err_exit_status = STATUS_USAGE;
		check(&call, fuzz_call(run, &call));
		world.on = false;
	}
	free(line);
	free(environment);
	free(comm);
	free(maps);
	free(names);
	return 0;
}
