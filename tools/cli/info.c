// SPDX-License-Identifier: GPL-2.0
/* wsquery info: what is there to answer, and what it can tell. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char * const forms[] = { "info", "pages", "regions", "count", "list", "one" };

#define FORMS	ARRAY_SIZE(forms)

struct info {
	bool json;
};

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "JSON", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct info *info = state->input;

	(void)arg;
	switch (key) {
	case 'j':
		info->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "info is not about a process");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_forms(uint64_t bits, const char *before, const char *after)
{
	const char *between = "";
	size_t i;

	for (i = 0; i < FORMS; i++) {
		if (!(bits & (1ULL << i)))
			continue;
		printf("%s%s%s%s", between, before, forms[i], after);
		between = *before ? "," : " ";
	}
}

static void print_flags(uint64_t bits, const char *before, const char *after)
{
	const struct wsquery_flag *table;
	const char *between = "";
	size_t i, count;

	table = wsquery_flag_table(&count);
	for (i = 0; i < count; i++) {
		if ((bits & table[i].mask) != table[i].mask)
			continue;
		printf("%s%s%s%s", between, before, table[i].name, after);
		between = *before ? "," : " ";
	}
}

static void print_json(struct wsquery *contexts[])
{
	struct wsquery_info info = { 0 };
	const char *comma = "";
	int backend;

	printf("{\"backends\":[");
	for (backend = WSQUERY_BACKEND_DEVICE; backend <= WSQUERY_BACKEND_PAGEMAP; backend++) {
		printf("%s\n{\"name\":\"%s\",\"works\":%s,\"tells\":[", comma,
		       wsquery_backend_name(backend), contexts[backend] ? "true" : "false");
		if (contexts[backend])
			print_flags(wsquery_tells(contexts[backend]), "\"", "\"");
		printf("]}");
		comma = ",";
	}
	printf("],\n\"device\":");
	if (!contexts[WSQUERY_BACKEND_DEVICE] ||
	    wsquery_get_info(contexts[WSQUERY_BACKEND_DEVICE], &info)) {
		printf("null}\n");
		return;
	}
	printf("{\"version\":%u,\"page_size\":%u,\"lock_pages\":%u,\"call_bytes\":%u,\"forms\":[",
	       info.version, info.page_size, info.lock_pages, info.call_bytes);
	print_forms(info.forms, "\"", "\"");
	printf("],\"attrs\":[");
	print_flags(info.attrs, "\"", "\"");
	printf("]}}\n");
}

static void print_text(struct wsquery *contexts[], const int errors[])
{
	struct wsquery_info info = { 0 };
	int backend;

	for (backend = WSQUERY_BACKEND_DEVICE; backend <= WSQUERY_BACKEND_PAGEMAP; backend++) {
		printf("%-8s ", wsquery_backend_name(backend));
		if (contexts[backend]) {
			printf("tells ");
			print_flags(wsquery_tells(contexts[backend]), "", "");
			printf("\n");
		} else {
			printf("does not work: %s\n", strerror(-errors[backend]));
		}
	}
	if (!contexts[WSQUERY_BACKEND_DEVICE] ||
	    wsquery_get_info(contexts[WSQUERY_BACKEND_DEVICE], &info))
		return;
	printf("module   interface version %u, forms ", info.version);
	print_forms(info.forms, "", "");
	printf("\nlimits   %u pages in one hold of the lock, %u bytes of memory in one call\n",
	       info.lock_pages, info.call_bytes);
}

int info_main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "",
		"Prints what can answer here, and what each can tell. Exits with 3 without module.",
		NULL, NULL, NULL
	};
	struct wsquery *contexts[WSQUERY_BACKEND_PAGEMAP + 1] = { 0 };
	int errors[WSQUERY_BACKEND_PAGEMAP + 1] = { 0 };
	struct info info = { 0 };
	int backend, status;
	bool device;

	argp_parse(&argp, argc, argv, 0, NULL, &info);
	for (backend = WSQUERY_BACKEND_DEVICE; backend <= WSQUERY_BACKEND_PAGEMAP; backend++)
		errors[backend] = wsquery_open(&contexts[backend], backend);
	device = contexts[WSQUERY_BACKEND_DEVICE];
	if (info.json)
		print_json(contexts);
	else
		print_text(contexts, errors);
	for (backend = WSQUERY_BACKEND_DEVICE; backend <= WSQUERY_BACKEND_PAGEMAP; backend++)
		wsquery_close(contexts[backend]);
	status = finish();
	return status ? status : device ? STATUS_OK : STATUS_NO_BACKEND;
}
