// SPDX-License-Identifier: GPL-2.0
/* The wsquery command: which subcommand is meant. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "map", map_main, "a row for each mapping: pages in memory, in swap, in neither" },
	{ "pages", pages_main, "runs of equal pages with the names of their flags" },
	{ "show", show_main, "a picture of one mapping or range" },
	{ "info", info_main, "what the module and the other backends can tell" },
};

#define COMMANDS	ARRAY_SIZE(commands)

static void print_help(FILE *stream)
{
	size_t i;

	fprintf(stream,
		"Usage: wsquery [COMMAND] PID|--self [OPTION]...\n"
		"\n"
		"Which pages of a process are in memory, which are in swap, which are neither.\n"
		"Asking changes nothing.\n"
		"\n");
	for (i = 0; i < COMMANDS; i++)
		fprintf(stream, "  %-7s %s\n", commands[i].name, commands[i].help);
	fprintf(stream,
		"\n"
		"Without a command: map. \"wsquery COMMAND --help\" lists its options;\n"
		"wsquery(1) says more.\n"
		"Exit status: 0 done, 1 error, 2 wrong usage, 3 no module (or other backend\n"
		"asked for), 4 no such process, 5 no permission.\n");
}

int main(int argc, char **argv)
{
	const struct command *command = &commands[0];
	static char title[32];
	size_t i;

	argp_err_exit_status = STATUS_USAGE;
	if (argc < 2) {
		print_help(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help(stdout);
		return finish();
	}
	if (!strcmp(argv[1], "--version")) {
		printf("wsquery, interface version %d\n", WSQUERY_VERSION);
		return finish();
	}
	for (i = 0; i < COMMANDS; i++) {
		if (!strcmp(argv[1], commands[i].name)) {
			command = &commands[i];
			argv++;
			argc--;
			break;
		}
	}
	snprintf(title, sizeof(title), "wsquery %s", command->name);
	argv[0] = title;
	program_invocation_name = title;
	return command->run(argc, argv);
}
