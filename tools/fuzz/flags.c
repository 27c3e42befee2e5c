// SPDX-License-Identifier: GPL-2.0
/* Lists of flags and columns, against the table and against themselves. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "fuzz.h"

struct call {
	const char *text;
	uint64_t flags;
	struct columns columns;
};

static void call_flags(void *arg)
{
	struct call *call = arg;

	call->flags = flags_parse(call->text);
}

static void call_columns(void *arg)
{
	struct call *call = arg;

	columns_parse(&call->columns, "range,size,name");
	columns_parse(&call->columns, call->text);
}

static uint64_t all_bits(void)
{
	const struct wsquery_flag *table;
	uint64_t bits = 0;
	size_t count;

	table = wsquery_flag_table(&count);
	while (count--)
		bits |= table[count].mask;
	return bits;
}

static bool flags_expected(char *text, uint64_t *flags)
{
	const struct wsquery_flag *flag;
	char *name;

	*flags = 0;
	while ((name = strsep(&text, ","))) {
		flag = wsquery_flag_by_name(name);
		if (!strcmp(name, "all"))
			*flags |= all_bits();
		else if (!strcmp(name, "state"))
			*flags |= WSQUERY_STATE_MASK;
		else if (flag)
			*flags |= flag->mask;
		else
			return false;
	}
	return true;
}

static void check_flags(const char *text)
{
	struct call call = { .text = text };
	char *copy = strdup(text);
	uint64_t flags;
	int status;

	status = fuzz_call(call_flags, &call);
	if (flags_expected(copy, &flags))
		CHECK(status == -1 && call.flags == flags);
	else
		CHECK(status == STATUS_USAGE);
	free(copy);
	CHECK(wsquery_backend_by_name(text) < 0 ||
	      !strcmp(wsquery_backend_name(wsquery_backend_by_name(text)), text));
}

/* Each name is in the list once, in the order of first mention. */
static void check_columns(const char *text)
{
	struct call call = { .text = text };
	char *copy = strdup(text), *rest = copy + (*text == '+'), *name;
	size_t i, j;

	if (fuzz_call(call_columns, &call) == -1) {
		while ((name = strsep(&rest, ",")))
			CHECK(columns_find(&call.columns, name));
		for (i = 0; i < call.columns.count; i++)
			for (j = 0; j < i; j++)
				CHECK(strcmp(call.columns.list[i].name, call.columns.list[j].name));
	}
	free(copy);
}

/* Back from names to bits; the value of a field is its own. */
static uint64_t unformat(char *text)
{
	uint64_t flags = 0;
	char *name, *value;

	while ((name = strsep(&text, ","))) {
		const struct wsquery_flag *flag;

		value = strchr(name, '=');
		if (value)
			*value++ = '\0';
		flag = wsquery_flag_by_name(name);
		CHECK(flag && !flag->shift == !value);
		flags |= value ? strtoull(value, NULL, 10) << flag->shift : flag->mask;
	}
	return flags;
}

static void check_format(uint64_t flags, size_t room)
{
	char whole[512], *part = malloc(room);
	int length, same;

	length = wsquery_flags_format(whole, sizeof(whole), flags);
	CHECK(length == (int)strlen(whole));
	same = wsquery_flags_format(part, room, flags);
	CHECK(same == length);
	if (room) {
		CHECK(strlen(part) == (length < (int)room ? (size_t)length : room - 1));
		CHECK(!memcmp(part, whole, strlen(part)));
	}
	free(part);
	if (length)
		CHECK(unformat(whole) == (flags & all_bits()));
	else
		CHECK(!(flags & all_bits()));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	uint64_t number = input_number(&input, 8);
	char *text;

	check_format(number, size % 300);
	check_format(number << (size % 64), number % 64);
	input = (struct input){ data, size };
	while ((text = input_line(&input))) {
		check_flags(text);
		check_columns(text);
		free(text);
	}
	return 0;
}
