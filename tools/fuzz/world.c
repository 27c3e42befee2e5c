// SPDX-License-Identifier: GPL-2.0
/* A /proc of our own: the system calls that the library and the command make there. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "fuzz.h"
#include "real.h"
#include "world.h"

struct world world;

/* Descriptors that no open(2) returns; a read position for each. */
enum { FIRST = 100000, PAGEMAP = FIRST, MAPS, MOUNTS, COMM, NODES, MEMFD, DIRECTORY, LAST };

static size_t position[LAST - FIRST];
static unsigned int calls;

#define STREAMS	8
static FILE *streams[STREAMS];

static bool is_ours(int fd)
{
	return world.on && fd >= FIRST && fd < LAST;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length >= strlen(end) && !strcmp(text + length - strlen(end), end);
}

static int interrupted(void)
{
	if (!world.interrupt || ++calls % world.interrupt)
		return 0;
	errno = EINTR;
	return -1;
}

static int find(const char *path)
{
	int fd = -1;

	if (ends_with(path, "/pagemap"))
		fd = PAGEMAP;
	else if (ends_with(path, "maps"))
		fd = MAPS;
	else if (ends_with(path, "/mountinfo"))
		fd = MOUNTS;
	else if (ends_with(path, "/comm"))
		fd = COMM;
	else if (ends_with(path, "/possible"))
		fd = NODES;
	else if (!strncmp(path, "/proc/", 6) && strcspn(path + 6, "/") == strlen(path + 6))
		fd = DIRECTORY;
	if (fd < 0)
		errno = ENOENT;
	else
		position[fd - FIRST] = 0;
	return fd;
}

int __wrap_open(const char *path, int flags, int mode)
{
	return world.on ? find(path) : __real_open(path, flags, mode);
}

int __wrap_openat(int dir, const char *path, int flags, int mode)
{
	return world.on ? find(path) : __real_openat(dir, path, flags, mode);
}

static void content(int fd, const char **text, size_t *size)
{
	*text = "";
	if (fd == MAPS) {
		*text = world.maps;
		*size = world.maps_size;
		return;
	}
	if (fd == MOUNTS) {
		*text = world.mounts;
		*size = world.mounts_size;
		return;
	}
	if (fd == COMM && world.comm)
		*text = world.comm;
	if (fd == NODES)
		*text = "0\n";
	*size = strlen(*text);
}

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	const char *text;
	size_t *at, all;

	if (!is_ours(fd))
		return __real_read(fd, buffer, size);
	/* The kernel's own interruptions are of a reader that waits, as none does here. */
	if (fd == MAPS && interrupted())
		return -1;
	at = &position[fd - FIRST];
	content(fd, &text, &all);
	if (size > all - *at)
		size = all - *at;
	if (world.chunk && size > world.chunk && (fd == MAPS || fd == MOUNTS))
		size = world.chunk;
	if (size)
		memcpy(buffer, text + *at, size);
	*at += size;
	return size;
}

off_t __wrap_lseek(int fd, off_t offset, int whence)
{
	if (!is_ours(fd))
		return __real_lseek(fd, offset, whence);
	CHECK(!offset && whence == SEEK_SET);
	position[fd - FIRST] = 0;
	return 0;
}

int __wrap_close(int fd)
{
	return is_ours(fd) ? 0 : __real_close(fd);
}

/* Each of the two interfaces has its own bits for the same. */
static uint64_t translate(unsigned int state, const unsigned char bits[8])
{
	uint64_t word = 0;
	int i;

	for (i = 0; i < 8; i++)
		if ((state & (1U << i)) && bits[i] != 255)
			word |= 1ULL << bits[i];
	return word;
}

static uint64_t pagemap_word(unsigned int state)
{
	static const unsigned char bits[] = { 63, 62, 61, 255, 255, 55, 57, 58 };

	/* Frame numbers and places in swap must make no difference. */
	return translate(state, bits) | (state & 3 ? 0x1234 : 0);
}

static uint64_t scan_word(unsigned int state)
{
	static const unsigned char bits[] = { 3, 4, 2, 6, 5, 7, 255, 8 };

	/* "Written" is the opposite of write-protected. */
	return translate(state, bits) | (state & PAGE_UFFD_WP ? 0 : 1 << 1);
}

ssize_t __wrap_pread(int fd, void *buffer, size_t size, off_t offset)
{
	uint64_t *words = buffer, page = (uint64_t)offset / 8, end = 0;
	unsigned int state = 0;
	size_t i;

	if (!is_ours(fd))
		return __real_pread(fd, buffer, size, offset);
	CHECK(!(offset % 8) && !(size % 8));
	if (interrupted())
		return -1;
	if (!world.budget)
		return 0;
	world.budget--;
	if (world.chunk && size > world.chunk)
		size = (world.chunk + 7) / 8 * 8;
	for (i = 0; i < size / 8; i++) {
		if (page + i >= end)
			end = world.state(page + i, &state);
		words[i] = pagemap_word(state);
	}
	return size;
}

struct scan_region {
	uint64_t start, end, categories;
};

struct scan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t inverted, mask, anyof, wanted;
};

static int scan(struct scan_arg *arg)
{
	struct scan_region *regions = (void *)(uintptr_t)arg->vec;
	uint64_t page = arg->start >> 12, end = arg->end >> 12, until, found;
	unsigned int state;
	int count = 0;

	if (!world.scan) {
		errno = ENOTTY;
		return -1;
	}
	CHECK(arg->size == sizeof(*arg) && !arg->flags && !arg->inverted && !arg->mask);
	if (!world.guards && ((arg->wanted | arg->anyof) & 1 << 8)) {
		errno = EINVAL;
		return -1;
	}
	if (!world.budget) {
		errno = ESRCH;
		return -1;
	}
	world.budget--;
	for (; page < end; page = until) {
		until = world.state(page, &state);
		until = until > end ? end : until;
		found = scan_word(state);
		if (arg->anyof && !(found & arg->anyof))
			continue;
		found &= arg->wanted;
		if (count && regions[count - 1].end == page << 12 &&
		    regions[count - 1].categories == found) {
			regions[count - 1].end = until << 12;
			continue;
		}
		if (count == (int)arg->vec_len)
			break;
		regions[count++] = (struct scan_region){ page << 12, until << 12, found };
	}
	arg->walk_end = page << 12;
	return count;
}

int __wrap_ioctl(int fd, unsigned long number, void *arg)
{
	if (!is_ours(fd)) {
		if (!world.on)
			return __real_ioctl(fd, number, arg);
		errno = ENOTTY;
		return -1;
	}
	CHECK(fd == PAGEMAP && number == _IOWR('f', 16, struct scan_arg));
	return interrupted() ? -1 : scan(arg);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	const char *text = world.names;
	size_t size = world.names_size, i;
	FILE *stream;

	/* What a fuzzer found is written in the middle of it. */
	if (!world.on || *mode != 'r')
		return __real_fopen(path, mode);
	if (find(path) == MAPS) {
		text = world.maps;
		size = world.maps_size;
	} else if (strcmp(path, "names") || !text) {
		errno = ENOENT;
		return NULL;
	}
	/* Of no bytes there is no stream. */
	stream = size ? fmemopen((void *)text, size, "r") : fmemopen("", 1, "r");
	for (i = 0; i < STREAMS; i++) {
		if (!streams[i]) {
			streams[i] = stream;
			return stream;
		}
	}
	abort();
}

int __wrap_fclose(FILE *stream)
{
	size_t i;

	for (i = 0; i < STREAMS; i++)
		if (streams[i] == stream)
			streams[i] = NULL;
	return __real_fclose(stream);
}

void world_close(void)
{
	size_t i;

	for (i = 0; i < STREAMS; i++)
		if (streams[i])
			__wrap_fclose(streams[i]);
}

int __wrap_memfd_create(const char *name, unsigned int flags)
{
	return world.on ? MEMFD : __real_memfd_create(name, flags);
}

static void describe(struct stat *st, unsigned int device, mode_t mode)
{
	memset(st, 0, sizeof(*st));
	st->st_dev = makedev(0, device);
	st->st_mode = mode;
}

int __wrap_fstat(int fd, struct stat *st)
{
	if (!is_ours(fd))
		return __real_fstat(fd, st);
	describe(st, fd == MEMFD ? WORLD_SHM : WORLD_ROOT, S_IFREG);
	return 0;
}

int __wrap_fstatat(int dir, const char *path, struct stat *st, int flags)
{
	if (!is_ours(dir))
		return __real_fstatat(dir, path, st, flags);
	describe(st, WORLD_ROOT, S_IFREG);
	return 0;
}

/* In /dev, what has an x in its name is a device. */
int __wrap_stat(const char *path, struct stat *st)
{
	if (!world.on)
		return __real_stat(path, st);
	describe(st, WORLD_ROOT,
		 !strncmp(path, "/dev/", 5) && strchr(path, 'x') ? S_IFCHR : S_IFREG);
	return 0;
}

int __wrap_statfs(const char *path, struct statfs *fs)
{
	if (!world.on)
		return __real_statfs(path, fs);
	memset(fs, 0, sizeof(*fs));
	fs->f_type = TMPFS_MAGIC;
	return 0;
}

int __wrap_fstatfs(int fd, struct statfs *fs)
{
	if (!is_ours(fd))
		return __real_fstatfs(fd, fs);
	memset(fs, 0, sizeof(*fs));
	fs->f_type = PROC_SUPER_MAGIC;
	return 0;
}

ssize_t __wrap_readlink(const char *path, char *target, size_t size)
{
	static const char there[] = "/proc/1/pagemap";

	if (!world.on)
		return __real_readlink(path, target, size);
	memcpy(target, there, size < sizeof(there) - 1 ? size : sizeof(there) - 1);
	return size < sizeof(there) - 1 ? size : sizeof(there) - 1;
}
