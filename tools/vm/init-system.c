// SPDX-License-Identifier: GPL-2.0
/* The guest's init: mounts, modules, swap, huge pages, disks, and the port to the host. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"
#include "link.h"

static const struct {
	const char *type;
	const char *where;
	const char *options;
	mode_t mode;
	bool required;
} mounts[] = {
	{ "proc", "/proc", "", 0555, true },
	{ "sysfs", "/sys", "", 0555, true },
	{ "devtmpfs", "/dev", "mode=0755", 0755, true },
	{ "devpts", "/dev/pts", "mode=0620,gid=5,ptmxmode=0666", 0755, true },
	{ "tmpfs", "/dev/shm", "mode=1777", 01777, true },
	{ "tmpfs", "/tmp", "mode=1777", 01777, true },
	{ "tmpfs", "/run", "mode=0755", 0755, true },
	{ "cgroup2", "/sys/fs/cgroup", "", 0755, false },
	{ "debugfs", "/sys/kernel/debug", "", 0700, false },
	{ "tracefs", "/sys/kernel/tracing", "", 0700, false },
	{ "hugetlbfs", "/dev/hugepages", "mode=1777", 01777, false },
	{ }
};

void system_mount(void)
{
	size_t i;

	for (i = 0; mounts[i].type; i++) {
		mkdir(mounts[i].where, mounts[i].mode);
		if (mount(mounts[i].type, mounts[i].where, mounts[i].type, 0,
			  mounts[i].options) && errno != EBUSY && mounts[i].required)
			fail("%s cannot be mounted: %s", mounts[i].where, strerror(errno));
	}
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
	mkdir("/out", 01777);
	chmod("/out", 01777);
}

static bool read_line(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return true;
}

void system_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (n < 0)
		fail("%s cannot be written: %s", path, strerror(errno));
	close(fd);
}

static int insert_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		err = errno;
	close(fd);
	return err == EEXIST ? 0 : err;
}

/*
 * A module of the kernel's own. /lib/vm-modules/NAME.load lists it after what it needs; a kernel
 * that has it built in has no such file.
 */
void module_load(const char *name)
{
	char path[256], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/lib/vm-modules/%s.load", name);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		int err;

		line[strcspn(line, "\n")] = '\0';
		err = insert_file(line);
		if (err)
			fail("%s cannot be loaded: %s", line, strerror(err));
	}
	fclose(f);
}

void module_insert(const char *path)
{
	int err = insert_file(path);

	if (err)
		fail("%s cannot be loaded: %s (see the kernel log)", path, strerror(err));
}

/* A module that does not go away afterwards has lost count of its users. */
void module_remove(const char *path)
{
	const char *base = strrchr(path, '/');
	char name[128], *p;

	snprintf(name, sizeof(name), "%s", base ? base + 1 : path);
	name[strcspn(name, ".")] = '\0';
	for (p = name; *p; p++) {
		if (*p == '-')
			*p = '_';
	}
	/* The command may have removed it itself. */
	if (syscall(SYS_delete_module, name, O_NONBLOCK) && errno != ENOENT)
		fail("%s cannot be removed after the command: %s", name, strerror(errno));
}

static int find_port(char *path, size_t size)
{
	DIR *dir = opendir("/sys/class/virtio-ports");
	struct dirent *e;
	int found = 0;

	while (dir && !found && (e = readdir(dir))) {
		char name[300], text[64];

		snprintf(name, sizeof(name), "/sys/class/virtio-ports/%s/name", e->d_name);
		if (e->d_name[0] == '.' || !read_line(name, text, sizeof(text)))
			continue;
		snprintf(path, size, "/dev/%.200s", e->d_name);
		found = !strcmp(text, LINK_PORT_NAME);
	}
	if (dir)
		closedir(dir);
	return found;
}

int system_open_link(void)
{
	char path[256];
	int i, fd;

	module_load("virtio_pci");
	module_load("virtio_console");
	/* The host tells the port's name a moment after the device is there. */
	for (i = 0; i < 5000 && !find_port(path, sizeof(path)); i++)
		usleep(2000);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fail("no port to the host: %s", strerror(errno));
	return fd;
}

/* The block device whose serial number the host chose. */
static bool find_disk(const char *serial, char *path, size_t size)
{
	char letter;

	for (letter = 'a'; letter <= 'z'; letter++) {
		char name[64], text[64];

		snprintf(name, sizeof(name), "/sys/block/vd%c/serial", letter);
		if (read_line(name, text, sizeof(text)) && !strcmp(text, serial)) {
			snprintf(path, size, "/dev/vd%c", letter);
			return true;
		}
	}
	return false;
}

static void need_disk(const char *serial, char *path, size_t size)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (find_disk(serial, path, size))
			return;
		usleep(2000);
	}
	fail("no disk '%s'", serial);
}

static void prepare_swap(void)
{
	const char *on = conf("swap-on", "");
	char path[64] = "/dev/zram0";

	if (!*on)
		return;
	if (!strcmp(on, "zram")) {
		module_load("zram");
		system_write("/sys/block/zram0/disksize", conf("swap-bytes", "0"));
	} else {
		need_disk("swap", path, sizeof(path));
	}
	if (run_wait((const char *const[]){ "/bin/mkswap", path, NULL }) || swapon(path, 0))
		fail("no swap on %s: %s", path, strerror(errno));
}

/* disk0, disk1, ... = where to mount; the host has made them block devices of these serials. */
static void prepare_disks(void)
{
	int i;

	for (i = 0; i < 10; i++) {
		char serial[16], path[64];
		const char *where;

		snprintf(serial, sizeof(serial), "disk%d", i);
		where = conf(serial, "");
		if (!*where)
			break;
		need_disk(serial, path, sizeof(path));
		/* A scratch disk comes empty. */
		if (!strcmp(where, "/scratch") &&
		    run_wait((const char *const[]){ "/bin/mke2fs", path, NULL }))
			fail("no file system on %s", path);
		run_wait((const char *const[]){ "/bin/mkdir", "-p", where, NULL });
		if (mount(path, where, "ext4", 0, "") && mount(path, where, "ext2", 0, ""))
			fail("%s cannot be mounted on %s: %s", path, where, strerror(errno));
		chmod(where, !strcmp(where, "/scratch") ? 01777 : 0755);
	}
}

static void prepare_hugepages(void)
{
	static const char path[] = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
	const char *want = conf("hugepages", "");
	char got[32];

	if (!*want)
		return;
	system_write(path, want);
	if (!read_line(path, got, sizeof(got)) || atol(got) < atol(want))
		fail("only %s of %s huge pages could be reserved", got, want);
}

void system_prepare(void)
{
	char list[256], *name, *save;

	if (*conf("disk0", "") || !strcmp(conf("swap-on", ""), "disk"))
		module_load("virtio_blk");
	prepare_hugepages();
	prepare_swap();
	prepare_disks();
	snprintf(list, sizeof(list), "%s", conf("load", ""));
	for (name = strtok_r(list, " ", &save); name; name = strtok_r(NULL, " ", &save))
		module_load(name);
}
