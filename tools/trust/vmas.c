// SPDX-License-Identifier: GPL-2.0
/*
 * The mappings of an arena, by /proc/PID/smaps: what is true for each of their pages.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "trust.h"

static const struct {
	const char *name;
	uint64_t flag;
} vm_flags[] = {
	{ " rd", WSQUERY_READABLE }, { " wr", WSQUERY_WRITABLE }, { " ex", WSQUERY_EXECUTABLE },
	{ " ms", WSQUERY_SHARED }, { " lo", WSQUERY_LOCKED }, { " ht", WSQUERY_HUGETLB },
};

static const struct object *object_of(const struct space *s, dev_t dev, ino_t ino)
{
	int i;

	for (i = 0; i < s->n_objects; i++)
		if (s->objects[i].dev == dev && s->objects[i].ino == ino)
			return &s->objects[i];
	return NULL;
}

/* What the mapping is of: the generator knows its objects, the rest goes by name. */
static void vma_kind(struct vma *v, const struct space *s, pid_t pid, const char *name,
		     dev_t dev, ino_t ino)
{
	char path[96];

	v->fd = -1;
	/* System V shared memory has its id for an inode number, which can be another's. */
	v->object = ino && strncmp(name, "/SYSV", 5) ? object_of(s, dev, ino) : NULL;
	if (v->object) {
		v->base |= v->object->kind == OBJECT_FILE || v->object->kind == OBJECT_HUGETLB ?
			   WSQUERY_FILE : WSQUERY_SHMEM;
		if (v->object->kind != OBJECT_HUGETLB)
			v->fd = dup(v->object->fd);
		return;
	}
	if (!strncmp(name, "/anon_hugepage", 14)) {
		v->base |= WSQUERY_FILE;
	} else if (!strncmp(name, "/dev/zero", 9) || !strncmp(name, "/SYSV", 5)) {
		v->base |= WSQUERY_SHMEM;
		snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid ? pid : getpid(),
			 (unsigned long long)v->start, (unsigned long long)v->end);
		v->fd = open(path, O_RDONLY | O_CLOEXEC);
	}
}

static bool in_arena(uint64_t start)
{
	return start >= (uintptr_t)ARENA_START &&
	       start < (uintptr_t)ARENA_START + ARENA_PAGES * PAGE;
}

/* Reads the mappings; returns -1 if that cannot be done. */
int vmas_read(struct truth *t, const struct space *s, pid_t pid)
{
	unsigned long long start, end, offset;
	unsigned int major, minor;
	unsigned long ino, kb, i;
	char line[512], perms[8], name[256];
	struct vma *v = NULL;
	FILE *f;

	t->n_vmas = 0;
	snprintf(line, sizeof(line), "/proc/%d/smaps", pid ? pid : getpid());
	f = fopen(line, "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		name[0] = 0;
		if (sscanf(line, "%llx-%llx %4s %llx %x:%x %lu %255[^\n]", &start, &end, perms,
			   &offset, &major, &minor, &ino, name) >= 7) {
			v = NULL;
			if (!in_arena(start) || t->n_vmas == MAX_VMAS)
				continue;
			v = &t->vmas[t->n_vmas++];
			memset(v, 0, sizeof(*v));
			v->start = start;
			v->end = end;
			v->offset = offset;
			v->base = WSQUERY_MAPPED;
			vma_kind(v, s, pid, name, makedev(major, minor), ino);
		} else if (!v) {
			continue;
		} else if (sscanf(line, "Rss: %lu kB", &kb) == 1) {
			v->rss = kb;
		} else if (sscanf(line, "Swap: %lu kB", &kb) == 1) {
			v->swap = kb;
		} else if (sscanf(line, "KSM: %lu kB", &kb) == 1) {
			v->merged = kb;
			v->has_merged = true;
		} else if (!strncmp(line, "VmFlags:", 8)) {
			for (i = 0; i < ARRAY_SIZE(vm_flags); i++)
				if (strstr(line, vm_flags[i].name))
					v->base |= vm_flags[i].flag;
		}
	}
	fclose(f);
	return 0;
}

void vmas_close(struct truth *t)
{
	int i;

	for (i = 0; i < t->n_vmas; i++)
		if (t->vmas[i].fd >= 0)
			close(t->vmas[i].fd);
	t->n_vmas = 0;
}
