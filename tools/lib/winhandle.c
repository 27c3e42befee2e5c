// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Handles and errors of the Windows side.
 *
 * A handle of a process is the number of an open descriptor of its
 * /proc/PID/pagemap, plus one and times four, as handles of Windows are
 * multiples of four and not 0. There is no table to keep.
 *
 * The functions are weak: a program that has its own, say of a porting layer,
 * keeps them, and finds our errors in its own GetLastError().
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "win.h"

#define WEAK __attribute__((weak))

static __thread DWORD last_error;

WEAK DWORD GetLastError(void)
{
	return last_error;
}

WEAK void SetLastError(DWORD error)
{
	last_error = error;
}

WEAK HANDLE GetCurrentProcess(void)
{
	return (HANDLE)-1;
}

bool wsq_win_is_self(HANDLE process)
{
	return process == (HANDLE)-1;
}

static HANDLE handle_of(int fd)
{
	return (HANDLE)(((uintptr_t)fd + 1) << 2);
}

static int handle_fd(HANDLE handle)
{
	uintptr_t number = (uintptr_t)handle;

	if (!number || (number & 3) || (number >> 2) > INT_MAX)
		return -1;
	return (number >> 2) - 1;
}

/*
 * The context of a handle, which is the default one (NULL) for the caller.
 *
 * Return: 0 or a negative errno value.
 */
int wsq_win_context(const struct wsquery **ws, struct wsquery *space, HANDLE process)
{
	int fd;

	*ws = NULL;
	if (wsq_win_is_self(process))
		return 0;
	*ws = space;
	fd = handle_fd(process);
	return fd < 0 ? -EBADF : wsq_context_process(space, fd);
}

void wsq_win_context_done(const struct wsquery *ws)
{
	if (ws && ws->proc >= 0)
		close(ws->proc);
}

static DWORD open_error(int error)
{
	switch (error) {
	case ENOENT:
	case ESRCH:
		return ERROR_INVALID_PARAMETER;
	case EACCES:
	case EPERM:
		return ERROR_ACCESS_DENIED;
	case EMFILE:
	case ENFILE:
		return ERROR_TOO_MANY_OPEN_FILES;
	case ENOMEM:
		return ERROR_NOT_ENOUGH_MEMORY;
	default:
		return ERROR_GEN_FAILURE;
	}
}

WEAK HANDLE OpenProcess(DWORD access __attribute__((unused)), BOOL inherit, DWORD pid)
{
	char path[32];
	int fd;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/pagemap", pid);
	fd = open(path, O_RDONLY | (inherit ? 0 : O_CLOEXEC));
	err = fd < 0 ? -errno : wsq_pagemap_alive(fd);
	if (err) {
		if (fd >= 0)
			close(fd);
		SetLastError(open_error(-err));
		return NULL;
	}
	return handle_of(fd);
}

/* Whatever else the program has open must not be closed by a stray handle. */
static bool is_pagemap(int fd)
{
	char link[48], path[64];
	struct statfs fs;
	ssize_t length;

	if (fstatfs(fd, &fs) || fs.f_type != PROC_SUPER_MAGIC)
		return false;
	snprintf(link, sizeof(link), "/proc/thread-self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length < 0)
		return false;
	path[length] = '\0';
	return strstr(path, "/pagemap");
}

WEAK BOOL CloseHandle(HANDLE handle)
{
	int fd = handle_fd(handle);

	if (wsq_win_is_self(handle))
		return TRUE;
	if (fd < 0 || !is_pagemap(fd) || close(fd)) {
		SetLastError(ERROR_INVALID_HANDLE);
		return FALSE;
	}
	return TRUE;
}
