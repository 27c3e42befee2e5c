// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table of names: complete, and readable back.
 */
#include <wsquery.h>

#include "memory.h"

static void table(void)
{
	const struct wsquery_flag *flags;
	struct wsquery_info info;
	uint64_t seen = 0, parsed;
	size_t i, count;
	char text[64];

	flags = wsquery_flag_table(&count);
	for (i = 0; i < count; i++) {
		ok(flags[i].mask && !(seen & flags[i].mask) && *flags[i].help, "%s",
		   flags[i].name);
		ok(wsquery_flag_by_name(flags[i].name) == &flags[i], "found by name");
		seen |= flags[i].mask;
		if (flags[i].shift)
			continue;
		wsquery_flags_format(text, sizeof(text), flags[i].mask);
		ok(!strcmp(text, flags[i].name) && !wsquery_flags_parse(text, &parsed) &&
		   parsed == flags[i].mask, "there and back: %s", text);
	}
	ok((seen & WSQUERY_STATE_MASK) == WSQUERY_STATE_MASK, "all states have names");
	ok(!wsquery_get_info(NULL, &info) && !(info.attrs & ~seen), "all attributes have names");
	ok(!wsquery_flags_parse("all", &parsed) && parsed == seen, "all");
	ok(!wsquery_flags_parse("state", &parsed) && parsed == WSQUERY_STATE_MASK, "state");
}

static void text(void)
{
	uint64_t flags = 4711;
	char text[256];

	ok(!wsquery_flags_parse("present,shared,node", &flags) &&
	   flags == (WSQUERY_PRESENT | WSQUERY_SHARED | WSQUERY_NODE), "several");
	flags = 4711;
	ok(wsquery_flags_parse("present,nonsense", &flags) == -EINVAL && flags == 4711,
	   "an unknown one");
	ok(wsquery_flags_parse("", &flags) == -EINVAL && wsquery_flags_parse("present,", &flags) ==
	   -EINVAL, "an empty one");
	ok(!wsquery_flag_by_name("prese"), "half a name is none");
	flags = WSQUERY_PRESENT | 3ULL << WSQUERY_SHARE_COUNT_SHIFT | 2ULL << WSQUERY_NODE_SHIFT;
	ok(wsquery_flags_format(text, sizeof(text), flags) == 28 &&
	   !strcmp(text, "present,share-count=3,node=2"), "fields: %s", text);
	ok(wsquery_flags_format(text, 10, flags) == 28 && !strcmp(text, "present,s"), "cut");
	ok(wsquery_flags_format(NULL, 0, flags) == 28, "measured only");
	ok(!wsquery_flags_format(text, sizeof(text), 0) && !*text, "nothing");
}

static void backends(void)
{
	int i;

	for (i = WSQUERY_BACKEND_ANY; i <= WSQUERY_BACKEND_PAGEMAP; i++)
		ok(wsquery_backend_by_name(wsquery_backend_name(i)) == i, "%s",
		   wsquery_backend_name(i));
	ok(!wsquery_backend_name(-1) && !wsquery_backend_name(4), "no others");
	ok(wsquery_backend_by_name("best") == -EINVAL, "unknown name");
}

int main(void)
{
	need_backend();
	table();
	text();
	backends();
	return tap_done();
}
