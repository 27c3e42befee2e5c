// SPDX-License-Identifier: GPL-2.0
/*
 * Figures per mapping from /proc/PID/smaps and numa_maps, and single values from
 * files of "key value" lines such as /proc/vmstat.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wsq.h"

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid ? pid : getpid(), name);
	return fopen(path, "re");
}

/* Returns the number of mappings, or -1. */
int smaps_read(pid_t pid, struct smaps *out, int max)
{
	FILE *f = open_proc(pid, "smaps");
	struct smaps *s = NULL;
	unsigned long long start, end;
	unsigned long kb;
	char line[512], key[64], perms[5];
	int n = 0;

	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx %4s", &start, &end, perms) == 3) {
			if (n == max)
				break;
			s = &out[n++];
			memset(s, 0, sizeof(*s));
			s->start = start;
			s->end = end;
			memcpy(s->perms, perms, sizeof(perms));
		} else if (s && !strncmp(line, "VmFlags:", 8)) {
			snprintf(s->flags, sizeof(s->flags), "%.120s", line + 8);
		} else if (s && sscanf(line, "%63[^:]: %lu kB", key, &kb) == 2) {
			if (!strcmp(key, "Rss"))
				s->rss = kb;
			else if (!strcmp(key, "Swap"))
				s->swap = kb;
			else if (!strcmp(key, "Referenced"))
				s->referenced = kb;
			else if (!strcmp(key, "Locked"))
				s->locked = kb;
			else if (!strcmp(key, "AnonHugePages") || !strcmp(key, "ShmemPmdMapped") ||
				 !strcmp(key, "FilePmdMapped"))
				s->anon_huge += kb;
			else if (!strcmp(key, "Shared_Hugetlb") || !strcmp(key, "Private_Hugetlb"))
				s->hugetlb += kb;
		}
	}
	fclose(f);
	return n;
}

/* The caller's mapping that contains the address. */
int smaps_of(const void *address, struct smaps *out)
{
	static struct smaps all[1024];
	int i, n = smaps_read(0, all, 1024);

	for (i = 0; i < n; i++) {
		if (all[i].start <= (uintptr_t)address && (uintptr_t)address < all[i].end) {
			*out = all[i];
			return 0;
		}
	}
	return -1;
}

/* How many kB of the mapping huge entries map, says smaps. */
long huge_kb(const void *p)
{
	struct smaps s;

	return smaps_of(p, &s) ? -1 : (long)s.anon_huge;
}

/* The number after a word at the start of a line, or -1. */
long proc_value(const char *file, const char *key)
{
	FILE *f = fopen(file, "re");
	char line[256], name[64];
	long value, found = -1;

	if (!f)
		return -1;
	while (found < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63[^: \t]%*[: \t]%ld", name, &value) == 2 && !strcmp(name, key))
			found = value;
	}
	fclose(f);
	return found;
}

/* The node that holds pages of the mapping that begins at the address, or -1. */
long numa_node_of(const void *address)
{
	FILE *f = open_proc(0, "numa_maps");
	char line[1024], *at;
	long node = -1;

	if (!f)
		return -1;
	while (node < 0 && fgets(line, sizeof(line), f)) {
		if (strtoul(line, NULL, 16) != (uintptr_t)address)
			continue;
		at = strstr(line, " N");
		while (at && sscanf(at, " N%ld=", &node) != 1)
			at = strstr(at + 1, " N");
	}
	fclose(f);
	return node;
}
