// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Contexts: whom to ask about, and through which backend.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "lib.h"

static const char * const backend_names[] = {
	[WSQUERY_BACKEND_ANY]		= "any",
	[WSQUERY_BACKEND_DEVICE]	= "device",
	[WSQUERY_BACKEND_SCAN]		= "scan",
	[WSQUERY_BACKEND_PAGEMAP]	= "pagemap",
};

#define BACKENDS	((int)(sizeof(backend_names) / sizeof(backend_names[0])))

const char *wsquery_backend_name(int backend)
{
	return backend >= 0 && backend < BACKENDS ? backend_names[backend] : NULL;
}

int wsquery_backend_by_name(const char *name)
{
	int i;

	for (i = 0; i < BACKENDS; i++)
		if (!strcmp(name, backend_names[i]))
			return i;
	return -EINVAL;
}

/* What the environment says counts only where the program has no own opinion. */
static int backend_wanted(int backend)
{
	const char *name;

	if (backend < 0 || backend >= BACKENDS)
		return -EINVAL;
	if (backend == WSQUERY_BACKEND_ANY) {
		name = secure_getenv("WSQUERY_BACKEND");
		if (name && *name)
			return wsquery_backend_by_name(name);
	}
	return backend;
}

static int open_pagemap(struct wsquery *ws)
{
	int fd;

	if (ws->target != WSQ_SELF)
		return ws->target;
	fd = open("/proc/thread-self/pagemap", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Choose among the backends; @ws has its target already. */
static int backend_choose(struct wsquery *ws, int backend)
{
	int pagemap;
	int err;

	backend = backend_wanted(backend);
	if (backend < 0)
		return backend;

	if (backend == WSQUERY_BACKEND_ANY || backend == WSQUERY_BACKEND_DEVICE) {
		ws->device = wsq_device_open();
		if (ws->device >= 0) {
			ws->backend = WSQUERY_BACKEND_DEVICE;
			return 0;
		}
		if (backend == WSQUERY_BACKEND_DEVICE)
			return ws->device;
		ws->device = -1;
	}

	pagemap = open_pagemap(ws);
	if (pagemap < 0)
		return pagemap;
	err = backend == WSQUERY_BACKEND_PAGEMAP ? -ENOTTY : wsq_scan_probe(pagemap, &ws->guards);
	if (ws->target == WSQ_SELF)
		close(pagemap);

	ws->backend = err ? WSQUERY_BACKEND_PAGEMAP : WSQUERY_BACKEND_SCAN;
	return backend == WSQUERY_BACKEND_SCAN ? err : 0;
}

int wsq_context_self(struct wsquery *ws, int backend)
{
	*ws = (struct wsquery){ .device = -1, .target = WSQ_SELF, .proc = WSQ_SELF };
	return backend_choose(ws, backend);
}

/*
 * The directory that a descriptor of /proc/PID/pagemap stands in, for its maps.
 * The id in its name may belong to another process by now; the inode number of
 * the open file cannot, so that equal numbers prove the same process.
 */
static int open_proc_dir(int fd)
{
	struct stat opened, found;
	char link[64], path[64];
	struct statfs fs;
	ssize_t length;
	int dir;

	if (fstatfs(fd, &fs) || fstat(fd, &opened))
		return -errno;
	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return -errno;
	path[length] = '\0';
	if (fs.f_type != PROC_SUPER_MAGIC || length < 9 || strcmp(path + length - 8, "/pagemap"))
		return strstr(path, "/pagemap (deleted)") ? -ESRCH : -EOPNOTSUPP;

	path[length - 8] = '\0';
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (fstatat(dir, "pagemap", &found, 0) || found.st_ino != opened.st_ino ||
	    found.st_dev != opened.st_dev) {
		close(dir);
		return -ESRCH;
	}
	return dir;
}

/* The default backend on a borrowed descriptor; close @ws->proc if it is one. */
int wsq_context_process(struct wsquery *ws, int pagemap)
{
	int err;

	err = wsq_default_get(ws);
	if (err)
		return err;
	ws->target = pagemap;
	if (ws->backend != WSQUERY_BACKEND_DEVICE)
		ws->proc = open_proc_dir(pagemap);
	return ws->proc < WSQ_SELF ? ws->proc : 0;
}

static void context_release(struct wsquery *ws)
{
	if (ws->device >= 0)
		close(ws->device);
	if (ws->target >= 0)
		close(ws->target);
	if (ws->proc >= 0)
		close(ws->proc);
}

/* Takes over @fd, also on error. */
static int context_pagemap(struct wsquery *ws, int fd, int backend)
{
	int err;

	*ws = (struct wsquery){ .device = -1, .target = fd, .proc = WSQ_SELF };
	/* Also shows that the descriptor is what it should be. */
	ws->proc = open_proc_dir(fd);
	err = ws->proc < 0 ? ws->proc : wsq_pagemap_alive(fd);
	if (!err)
		err = backend_choose(ws, backend);
	if (err)
		context_release(ws);
	return err;
}

/* A context that the caller passed, or a copy of the default one in @space. */
int wsq_context_get(const struct wsquery **ws, struct wsquery *space)
{
	int err;

	if (*ws)
		return 0;
	err = wsq_default_get(space);
	if (!err)
		*ws = space;
	return err;
}

static int context_store(struct wsquery **ws, const struct wsquery *made)
{
	*ws = malloc(sizeof(**ws));
	if (!*ws)
		return -ENOMEM;
	**ws = *made;
	return 0;
}

int wsquery_open(struct wsquery **ws, enum wsquery_backend backend)
{
	struct wsquery made, *stored;
	int err;

	err = wsq_context_self(&made, backend);
	if (err)
		return err;
	err = context_store(&stored, &made);
	if (err)
		context_release(&made);
	else
		*ws = stored;
	return err;
}

static int open_target(struct wsquery **ws, int fd, int backend)
{
	struct wsquery made, *stored;
	int err;

	err = context_pagemap(&made, fd, backend);
	if (err)
		return err;
	err = context_store(&stored, &made);
	if (err)
		context_release(&made);
	else
		*ws = stored;
	return err;
}

int wsquery_open_pid(struct wsquery **ws, pid_t pid, enum wsquery_backend backend)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return open_target(ws, fd, backend);
}

int wsquery_open_fd(struct wsquery **ws, int fd, enum wsquery_backend backend)
{
	int own;

	own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own < 0)
		return -errno;
	return open_target(ws, own, backend);
}

void wsquery_close(struct wsquery *ws)
{
	if (!ws)
		return;
	context_release(ws);
	free(ws);
}
