// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The one table of names of states and attributes. The command, its JSON and
 * the documents take them from here.
 */
#include <stdio.h>
#include <string.h>

#include "lib.h"

static const struct wsquery_flag table[] = {
	{ "present", WSQUERY_PRESENT, 0, "in memory and mapped" },
	{ "swapped", WSQUERY_SWAPPED, 0, "in swap" },
	{ "shmem", WSQUERY_SHMEM, 0, "mapping of shared memory (tmpfs, memfd, SysV, anonymous)" },
	{ "marker", WSQUERY_MARKER, 0, "a marker instead of a page" },
	{ "file", WSQUERY_FILE, 0, "mapping of another file" },
	{ "huge", WSQUERY_HUGE, 0, "mapped by one entry for a huge page" },
	{ "writable", WSQUERY_WRITABLE, 0, "mapping permits writing" },
	{ "mapped", WSQUERY_MAPPED, 0, "belongs to a mapping" },
	{ "shared", WSQUERY_SHARED, 0, "mapping made with MAP_SHARED" },
	{ "readable", WSQUERY_READABLE, 0, "mapping permits reading" },
	{ "executable", WSQUERY_EXECUTABLE, 0, "mapping permits execution" },
	{ "locked", WSQUERY_LOCKED, 0, "mapping locked in memory" },
	{ "hugetlb", WSQUERY_HUGETLB, 0, "mapping of hugetlb pages" },
	{ "copy", WSQUERY_COPY, 0, "private copy of a file's or shared memory's page" },
	{ "zero", WSQUERY_ZERO, 0, "the kernel's shared zero page" },
	{ "dirty", WSQUERY_DIRTY, 0, "written through this mapping" },
	{ "accessed", WSQUERY_ACCESSED, 0, "accessed bit is set" },
	{ "soft-dirty", WSQUERY_SOFT_DIRTY, 0, "written since soft-dirty bits were cleared" },
	{ "uffd-wp", WSQUERY_UFFD_WP, 0, "write-protected by userfaultfd" },
	{ "migrating", WSQUERY_MIGRATING, 0, "being moved" },
	{ "hwpoison", WSQUERY_HWPOISON, 0, "content lost" },
	{ "device", WSQUERY_DEVICE, 0, "device memory" },
	{ "guard", WSQUERY_GUARD, 0, "guard region" },
	{ "cached", WSQUERY_CACHED, 0, "not mapped here, but in the page cache" },
	{ "not-told", WSQUERY_NOT_TOLD, 0, "what is behind this hole is not told" },
	{ "ksm", WSQUERY_KSM, 0, "merged with equal pages" },
	{ "share-count", WSQUERY_SHARE_COUNT, WSQUERY_SHARE_COUNT_SHIFT,
	  "page-table entries that map the page, 7 for more" },
	{ "node", WSQUERY_NODE, WSQUERY_NODE_SHIFT, "NUMA node" },
	{ "marker-kind", WSQUERY_MARKER_KIND, WSQUERY_MARKER_KIND_SHIFT,
	  "kind of the marker: 1 uffd-wp, 2 poison, 4 guard" },
};

#define ROWS	(sizeof(table) / sizeof(table[0]))

uint64_t wsq_known_bits(void)
{
	uint64_t bits = 0;
	size_t i;

	for (i = 0; i < ROWS; i++)
		bits |= table[i].mask;
	return bits;
}

const struct wsquery_flag *wsquery_flag_table(size_t *count)
{
	*count = ROWS;
	return table;
}

static const struct wsquery_flag *find(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (strlen(table[i].name) == length && !memcmp(table[i].name, name, length))
			return &table[i];
	return NULL;
}

const struct wsquery_flag *wsquery_flag_by_name(const char *name)
{
	return find(name, strlen(name));
}

int wsquery_flags_parse(const char *text, uint64_t *flags)
{
	const struct wsquery_flag *flag;
	uint64_t bits = 0;
	size_t length;

	for (;; text += length + 1) {
		length = strcspn(text, ",");
		if (length == 5 && !memcmp(text, "state", 5)) {
			bits |= WSQUERY_STATE_MASK;
		} else if (length == 3 && !memcmp(text, "all", 3)) {
			bits |= wsq_known_bits();
		} else {
			flag = find(text, length);
			if (!flag)
				return -EINVAL;
			bits |= flag->mask;
		}
		if (!text[length])
			break;
	}
	*flags = bits;
	return 0;
}

int wsquery_flags_format(char *text, size_t size, uint64_t flags)
{
	const char *comma = "";
	size_t i, length = 0;
	char field[16];

	if (size)
		*text = '\0';
	for (i = 0; i < ROWS; i++) {
		if (!(flags & table[i].mask))
			continue;
		field[0] = '\0';
		if (table[i].shift)
			snprintf(field, sizeof(field), "=%u",
				 (unsigned int)((flags & table[i].mask) >> table[i].shift));
		length += snprintf(length < size ? text + length : NULL,
				   length < size ? size - length : 0, "%s%s%s", comma,
				   table[i].name, field);
		comma = ",";
	}
	return length;
}
