// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What kind of file a mapping is of, by the device number that maps shows.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "walk.h"

/*
 * Anonymous shared memory, memfds and System V shared memory are files of one
 * tmpfs that the kernel mounts for itself. No mount table shows it, but a memfd
 * tells its number.
 */
static bool is_kernel_tmpfs(uint64_t device)
{
	struct stat st;
	bool same;
	int fd;

	fd = memfd_create("wsquery", MFD_CLOEXEC);
	if (fd < 0)
		return false;
	same = !fstat(fd, &st) && st.st_dev == device;
	close(fd);
	return same;
}

/* A line "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [...] - TYPE SOURCE ...". */
static const char *mountinfo_type(char *line, uint64_t device)
{
	unsigned long major, minor;
	char *type;

	strtoul(line, &line, 10);
	strtoul(line, &line, 10);
	major = strtoul(line, &line, 10);
	if (*line++ != ':')
		return NULL;
	minor = strtoul(line, &line, 10);
	if (makedev(major, minor) != device)
		return NULL;
	type = strstr(line, " - ");
	return type ? type + 3 : NULL;
}

static bool type_is(const char *type, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(type, name, length) && (type[length] == ' ' || !type[length]);
}

/* "rootfs" is a tmpfs or a ramfs, as the kernel was built and started. */
static bool is_tmpfs_root(uint64_t device)
{
	struct statfs fs;
	struct stat st;

	return !stat("/", &st) && st.st_dev == device && !statfs("/", &fs) &&
	       fs.f_type == TMPFS_MAGIC;
}

static uint64_t mounted_flags(uint64_t device)
{
	struct wsq_lines lines = { .next = 0 };
	uint64_t flags = 0;
	const char *type;
	char *line;

	lines.fd = open("/proc/thread-self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (lines.fd < 0)
		return 0;
	while (!flags && wsq_lines_next(&lines, &line) > 0) {
		type = mountinfo_type(line, device);
		if (!type)
			continue;
		if (type_is(type, "tmpfs") || (type_is(type, "rootfs") && is_tmpfs_root(device)))
			flags = WSQUERY_SHMEM;
		else if (type_is(type, "hugetlbfs"))
			flags = WSQUERY_FILE | WSQUERY_HUGETLB;
		else
			flags = WSQUERY_FILE;
	}
	close(lines.fd);
	return flags;
}

/* On kernel mounts that are not the tmpfs, these names are those of hugetlb files. */
static bool is_kernel_hugetlb(const char *path)
{
	return !strncmp(path, "/anon_hugepage", 14) || !strncmp(path, "/memfd:", 7) ||
	       !strncmp(path, "/SYSV", 5);
}

static bool is_device_node(const char *path)
{
	struct stat st;

	return !strncmp(path, "/dev/", 5) && !stat(path, &st) && S_ISCHR(st.st_mode);
}

static uint64_t device_flags(uint64_t device, const char *path)
{
	uint64_t flags;

	if (is_kernel_tmpfs(device))
		return WSQUERY_SHMEM;
	flags = mounted_flags(device);
	if (!flags)
		flags = WSQUERY_FILE | (is_kernel_hugetlb(path) ? WSQUERY_HUGETLB : 0);
	return flags;
}

uint64_t wsq_fs_flags(struct wsq_fs *fs, uint64_t device, const char *path)
{
	unsigned int i;
	uint64_t flags;

	for (i = 0; i < fs->count && i < WSQ_FS_CACHE; i++)
		if (fs->device[i] == device)
			break;
	if (i < fs->count && i < WSQ_FS_CACHE) {
		flags = fs->flags[i];
	} else {
		flags = device_flags(device, path);
		i = fs->count++ % WSQ_FS_CACHE;
		fs->device[i] = device;
		fs->flags[i] = flags;
	}

	/* A node in a /dev that is a tmpfs is still a device. */
	if (flags == WSQUERY_SHMEM && is_device_node(path))
		return WSQUERY_FILE;
	return flags;
}
