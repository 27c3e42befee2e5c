// SPDX-License-Identifier: GPL-2.0
/* Names of files and processes, in which anything can be, for terminals, which obey much of it. */
#include "cli.h"

/*
 * The bytes of the character that text begins with, or 0 if it is none that a terminal only shows.
 * Controls are those of ASCII and those from U+0080 to U+009F, of which U+009B is as good as ESC [.
 */
static size_t shown(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t code, least;
	size_t length, i;

	if (*at < 0x80)
		return *at >= 0x20 && *at != 0x7f;
	if (*at < 0xc0 || *at > 0xf7)
		return 0;
	length = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
	least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0xa0;
	code = *at & (0x7f >> length);
	for (i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

void text_tame(char *text)
{
	size_t length;

	while (*text) {
		length = shown(text);
		if (!length)
			*text = '?';
		text += length ? length : 1;
	}
}
