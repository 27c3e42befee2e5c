// SPDX-License-Identifier: GPL-2.0
/* Numbers as people write them: pages, bytes, sizes, ranges, flag names. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

static void human(char *text, size_t size, uint64_t bytes, const char *sign)
{
	static const char suffix[] = "KMGTPE";
	size_t i = 0;
	uint64_t unit = 1024, tenths, whole;

	/* Whatever would be rounded to 1024 of a unit is one of the next. */
	while (suffix[i + 1] && bytes >= unit * 1024 - unit / 2) {
		unit *= 1024;
		i++;
	}
	/* One decimal where it says something: 1.5M, but 96K and 12M */
	whole = bytes / unit;
	tenths = whole < 10 ? (bytes % unit * 10 + unit / 2) / unit : 0;
	if (whole * 10 + tenths < 100 && bytes % unit)
		snprintf(text, size, "%s%ju.%ju%c", sign, whole + tenths / 10, tenths % 10,
			 suffix[i]);
	else
		snprintf(text, size, "%s%ju%c", sign, whole + (bytes % unit >= unit / 2),
			 suffix[i]);
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

/* Digits and no sign, and no more than 64 bits; hexadecimal ones may have 0x before them. */
static bool parse_digits(const char *text, int base, uint64_t *value, char **end)
{
	if (base == 16 ? !isxdigit((unsigned char)*text) : !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, end, base);
	return !errno;
}

/* A number with K, M, G or T: decimal, a leading 0 or not, or hexadecimal with 0x. */
static bool parse_size(const char *text, uint64_t *value)
{
	static const char suffix[] = "KMGT";
	const char *found;
	unsigned int shift;
	char *end;

	if (!parse_digits(text, strncasecmp(text, "0x", 2) ? 10 : 16, value, &end))
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

static bool parse_range(const char *text, uint64_t *start, uint64_t *end)
{
	char *rest;

	if (!parse_digits(text, 16, start, &rest))
		return false;
	if (*rest == '-')
		return parse_digits(rest + 1, 16, end, &rest) && !*rest && *end > *start;
	if (*rest != '+' || !parse_size(rest + 1, end))
		return false;
	*end += *start;
	return *end > *start;
}

void range_parse(const char *text, uint64_t page, uint64_t *start, uint64_t *end)
{
	bool good = parse_range(text, start, end);

	if (good) {
		*start -= *start % page;
		if (*end % page)
			*end += page - *end % page;
		/* The end of the last page is 0, and no process has that page. */
		if (!*end)
			*end = -page;
	}
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
