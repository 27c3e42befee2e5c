// SPDX-License-Identifier: GPL-2.0
/* Sizes, ranges, and numbers as the command prints them, against sums in 128 bits. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "fuzz.h"

#define PAGE	4096ULL

typedef unsigned __int128 wide;

/* Reads digits up to what is none; false if there are none or 64 bits are too few. */
static bool digits(const char **text, unsigned int base, wide *value)
{
	const char *start = *text;

	for (*value = 0; **text; ++*text) {
		unsigned char c = tolower((unsigned char)**text);
		unsigned int digit = 16;

		if (isdigit(c))
			digit = c - '0';
		else if (isxdigit(c))
			digit = c - 'a' + 10;
		if (digit >= base)
			break;
		if (*value <= UINT64_MAX)
			*value = *value * base + digit;
	}
	return *text > start && *value <= UINT64_MAX;
}

static bool has_prefix(const char *text)
{
	return text[0] == '0' && tolower((unsigned char)text[1]) == 'x';
}

static bool size_expected(const char *text, wide *value)
{
	unsigned int base = has_prefix(text) ? 16 : 10;
	const char *suffix;

	text += base == 16 ? 2 : 0;
	if (!digits(&text, base, value))
		return false;
	if (*text) {
		suffix = strchr("KMGT", toupper((unsigned char)*text));
		if (!suffix || text[1])
			return false;
		*value <<= 10 * (suffix - "KMGT" + 1);
	}
	return *value <= UINT64_MAX;
}

static bool range_expected(const char *text, wide *start, wide *end)
{
	text += has_prefix(text) ? 2 : 0;
	if (!digits(&text, 16, start))
		return false;
	if (*text == '-') {
		text += has_prefix(text + 1) ? 3 : 1;
		if (!digits(&text, 16, end) || *text)
			return false;
	} else if (*text == '+') {
		if (!size_expected(text + 1, end))
			return false;
		*end += *start;
	} else {
		return false;
	}
	if (*end <= *start || *end > UINT64_MAX)
		return false;
	*start -= *start % PAGE;
	*end = (*end + PAGE - 1) / PAGE * PAGE;
	/* The end of the last page has no number, and no process has that page. */
	if (*end > UINT64_MAX)
		*end -= PAGE;
	return *end > *start;
}

struct call {
	const char *text;
	uint64_t value, end;
};

static void call_size(void *arg)
{
	struct call *call = arg;

	call->value = size_parse(call->text);
}

static void call_range(void *arg)
{
	struct call *call = arg;

	range_parse(call->text, PAGE, &call->value, &call->end);
}

static void check_parsing(const char *text)
{
	struct call call = { .text = text };
	wide value, end;
	int status;

	status = fuzz_call(call_size, &call);
	if (size_expected(text, &value))
		CHECK(status == -1 && call.value == value);
	else
		CHECK(status == STATUS_USAGE);

	status = fuzz_call(call_range, &call);
	if (range_expected(text, &value, &end))
		CHECK(status == -1 && call.value == value && call.end == end);
	else
		CHECK(status == STATUS_USAGE);
}

/* What is shown is at most half of its last digit away, and has few digits. */
static void check_human(const char *text, int64_t pages)
{
	wide bytes = (wide)(pages < 0 ? -pages : pages) * PAGE, unit, shown, last;
	const char *suffix, *point;
	char *end;

	CHECK((*text == '-') == (pages < 0));
	text += *text == '-';
	CHECK(strlen(text) <= 5);
	shown = strtoul(text, &end, 10);
	CHECK(end > text);
	point = end;
	end += *point == '.' ? 2 : 0;
	suffix = strchr("KMGTPE", *end);
	CHECK(*end && suffix && !end[1]);
	unit = (wide)1 << 10 * (suffix - "KMGTPE" + 1);
	last = unit;
	shown *= unit;
	if (*point == '.') {
		CHECK(isdigit((unsigned char)point[1]));
		shown += unit * (point[1] - '0') / 10;
		last = unit / 10 + 1;
		CHECK(shown < 10 * unit);
	}
	CHECK(shown < 1024 * unit);
	CHECK((shown > bytes ? shown - bytes : bytes - shown) <= last / 2 + 1);
}

static void check_format(int64_t pages)
{
	char text[32];

	unit_format(text, sizeof(text), pages, UNIT_PAGES, PAGE);
	CHECK(strtoll(text, NULL, 10) == pages);
	unit_format(text, sizeof(text), pages, UNIT_BYTES, PAGE);
	CHECK((wide)strtoull(text + (pages < 0), NULL, 10) ==
	      (wide)(pages < 0 ? -pages : pages) * PAGE);
	unit_format(text, sizeof(text), pages, UNIT_HUMAN, PAGE);
	if (pages)
		check_human(text, pages);
	else
		CHECK(!strcmp(text, "0"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	uint64_t number = input_number(&input, 8);
	char *text;

	/* All pages that 64 bits can address, but the last. */
	check_format((int64_t)(number >> (12 + number % 52)) * (number & 64 ? -1 : 1));

	input = (struct input){ data, size };
	while ((text = input_line(&input))) {
		check_parsing(text);
		free(text);
	}
	return 0;
}
