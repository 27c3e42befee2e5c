// SPDX-License-Identifier: GPL-2.0
/* Numbers as people write them: pages, bytes, sizes, ranges, flag names. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static void human(char *text, size_t size, uint64_t bytes, const char *sign)
{
	static const char suffix[] = "KMGTPE";
	size_t i = 0;
	uint64_t unit = 1024;

	while (bytes / 1024 >= unit && suffix[i + 1]) {
		unit *= 1024;
		i++;
	}
	/* One decimal where it says something: 1.5M, but 96K and 12M */
	if (bytes / unit < 10 && bytes % unit)
		snprintf(text, size, "%s%.1f%c", sign, (double)bytes / unit, suffix[i]);
	else
		snprintf(text, size, "%s%ju%c", sign, (bytes + unit / 2) / unit, suffix[i]);
}

void unit_format(char *text, size_t size, int64_t pages, enum unit unit, uint64_t page)
{
	uint64_t magnitude = pages < 0 ? -pages : pages;
	const char *sign = pages < 0 ? "-" : "";

	if (unit == UNIT_HUMAN && pages)
		human(text, size, magnitude * page, sign);
	else
		snprintf(text, size, "%s%ju", sign,
			 unit == UNIT_BYTES ? magnitude * page : magnitude);
}

/* A number with K, M, G or T. */
static bool parse_size(const char *text, uint64_t *value)
{
	static const char suffix[] = "KMGT";
	const char *found;
	unsigned int shift;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno)
		return false;
	if (!*end)
		return true;
	found = strchr(suffix, toupper((unsigned char)*end));
	if (!found || end[1])
		return false;
	shift = 10 * (found - suffix + 1);
	if (*value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}

uint64_t size_parse(const char *text)
{
	uint64_t value;

	if (!parse_size(text, &value))
		die(STATUS_USAGE, "'%s' is not a size like 4096, 64K or 2M", text);
	return value;
}

void range_parse(const char *text, uint64_t page, uint64_t *start, uint64_t *end)
{
	char *rest;
	bool good = isxdigit((unsigned char)*text);

	*start = strtoull(text, &rest, 16);
	if (good && *rest == '-') {
		good = isxdigit((unsigned char)rest[1]);
		*end = strtoull(rest + 1, &rest, 16);
		good = good && !*rest;
	} else if (good && *rest == '+') {
		good = parse_size(rest + 1, end) && *start + *end >= *start;
		*end += *start;
	} else {
		good = false;
	}
	good = good && *end > *start;
	*start -= *start % page;
	if (*end % page)
		*end += page - *end % page;
	/* The end of the last page is 0, and no process has that page. */
	if (good && *end <= *start)
		*end = -page;
	if (!good || *end <= *start)
		die(STATUS_USAGE,
		    "'%s' is not a range: START-END in hexadecimal, or START+SIZE like 7f00+64K",
		    text);
}

uint64_t flags_parse(const char *text)
{
	uint64_t flags;

	if (wsquery_flags_parse(text, &flags))
		die(STATUS_USAGE, "no flag or list of flags '%s'; 'wsquery info' names them all",
		    text);
	return flags;
}
