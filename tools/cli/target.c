// SPDX-License-Identifier: GPL-2.0
/* Whom to ask about, where, and through what: options and opening. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { KEY_SELF = 0x200, KEY_NAMES };

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Whom and where:", 1 },
	{ "self", KEY_SELF, NULL, 0, "this command's own process, instead of PID", 1 },
	{ "range", 'r', "START-END", 0,
	  "only these addresses, in hexadecimal; or START+SIZE", 1 },
	{ "mapping", 'm', "WHICH", 0,
	  "only this mapping: row number (column nr), address in it (0x...), or part of name", 1 },
	{ "names", KEY_NAMES, "FILE", 0,
	  "names of mappings, in lines \"START SIZE NAME\" with hexadecimal numbers", 1 },
	{ "backend", 'b', "NAME", 0,
	  "what answers: device, scan or pagemap; default: the first of them that works", 1 },
	{ "compare", 'c', "NAME", 0, "ask a second backend too, and show how it differs", 1 },
	{ "json", 'j', NULL, 0, "JSON", 1 },
	{ 0 },
};

static int backend_parse(const char *name)
{
	int backend = wsquery_backend_by_name(name);

	if (backend < 0)
		die(STATUS_USAGE, "no backend '%s'; there are device, scan and pagemap", name);
	return backend;
}

static void pid_parse(struct target *target, const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || end == text || *end || pid < 1 || pid > INT32_MAX)
		die(STATUS_USAGE, "'%s' is neither a process id nor a command; see --help", text);
	target->pid = pid;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct target *target = state->input;

	switch (key) {
	case KEY_SELF:
		target->self = true;
		break;
	case 'r':
		target->range = arg;
		break;
	case 'm':
		target->mapping = arg;
		break;
	case KEY_NAMES:
		target->names = arg;
		break;
	case 'b':
		target->backend = backend_parse(arg);
		break;
	case 'c':
		target->compare = backend_parse(arg);
		break;
	case 'j':
		target->json = true;
		break;
	case ARGP_KEY_ARG:
		if (target->pid)
			argp_error(state, "one process at a time");
		pid_parse(target, arg);
		break;
	case ARGP_KEY_END:
		if (!target->pid == !target->self)
			argp_error(state, "either PID or --self is needed");
		if (target->range && target->mapping)
			argp_error(state, "either --range or --mapping");
		if (target->self)
			target->pid = getpid();
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp target_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

/* Says whether the backend or the process is to blame when opening fails. */
static struct wsquery *open_backend(pid_t pid, int backend)
{
	struct wsquery *probe, *ws;
	int error;

	error = wsquery_open(&probe, backend);
	if (error)
		die_backend(backend, error);
	wsquery_close(probe);
	error = wsquery_open_pid(&ws, pid, backend);
	if (error)
		die_process(pid, error);
	return ws;
}

void target_open(struct target *target)
{
	const struct mapping *map;

	target->page = sysconf(_SC_PAGESIZE);
	target->start = 0;
	target->end = -target->page;
	if (target->range)
		range_parse(target->range, target->page, &target->start, &target->end);
	target->ws = open_backend(target->pid, target->backend);
	if (target->compare)
		target->other = open_backend(target->pid, target->compare);
	mappings_read(&target->maps, target->pid);
	if (target->names)
		mappings_name(&target->maps, target->names);
	if (target->mapping) {
		map = mappings_choose(&target->maps, target->mapping);
		target->start = map->start;
		target->end = map->end;
	}
	mappings_clip(&target->maps, target->start, target->end);
}

void target_close(struct target *target)
{
	wsquery_close(target->ws);
	wsquery_close(target->other);
	mappings_free(&target->maps);
}

const char *backend_title(const struct wsquery *ws)
{
	switch (wsquery_backend(ws)) {
	case WSQUERY_BACKEND_DEVICE:
		return "/dev/wsquery";
	case WSQUERY_BACKEND_SCAN:
		return "PAGEMAP_SCAN";
	default:
		return "/proc/PID/pagemap";
	}
}

const char *target_name(const struct target *target)
{
	static char name[64];
	char path[32];
	ssize_t length = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", target->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		length = read(fd, name, sizeof(name) - 1);
		close(fd);
	}
	if (length < 1)
		return "?";
	name[length] = '\0';
	name[strcspn(name, "\n")] = '\0';
	text_tame(name);
	return name;
}

void target_json(const struct target *target)
{
	printf("{\"pid\":%d,\"backend\":\"%s\",", target->pid,
	       wsquery_backend_name(wsquery_backend(target->ws)));
	if (target->other)
		printf("\"other_backend\":\"%s\",",
		       wsquery_backend_name(wsquery_backend(target->other)));
	printf("\"page_size\":%ju,", target->page);
}
