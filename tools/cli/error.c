// SPDX-License-Identifier: GPL-2.0
/* Errors as sentences, and the exit status that goes with each. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

void die(int status, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("wsquery: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

void die_backend(int backend, int error)
{
	const char *named = getenv("WSQUERY_BACKEND");

	if (backend == WSQUERY_BACKEND_ANY && named && wsquery_backend_by_name(named) > 0)
		backend = wsquery_backend_by_name(named);
	if (backend == WSQUERY_BACKEND_DEVICE && (error == -ENOENT || error == -ENXIO ||
						  error == -ENODEV))
		die(STATUS_NO_BACKEND,
		    "there is no /dev/wsquery: the module is not loaded (modprobe wsquery)");
	if (backend == WSQUERY_BACKEND_DEVICE && (error == -EACCES || error == -EPERM))
		die(STATUS_NO_PERMISSION, "you may not open /dev/wsquery");
	if (backend == WSQUERY_BACKEND_SCAN && error == -ENOTTY)
		die(STATUS_NO_BACKEND, "this kernel has no PAGEMAP_SCAN (Linux 6.7 or later has)");
	if (error == -EINVAL)
		die(STATUS_USAGE, "WSQUERY_BACKEND in the environment names no backend");
	die(STATUS_NO_BACKEND, "the backend '%s' does not work: %s",
	    wsquery_backend_name(backend), strerror(-error));
}

void die_process(pid_t pid, int error)
{
	switch (-error) {
	case ESRCH:
	case ENOENT:
		if (!kill(pid, 0) || errno == EPERM)
			die(STATUS_NO_PROCESS,
			    "process %d has no memory: a kernel thread, or it just exited", pid);
		die(STATUS_NO_PROCESS, "there is no process %d", pid);
	case EACCES:
	case EPERM:
		die(STATUS_NO_PERMISSION,
		    "you may not look into process %d (the rule is that of ptrace)", pid);
	default:
		die(STATUS_ERROR, "process %d: %s", pid, strerror(-error));
	}
}

void *need_memory(void *memory)
{
	if (!memory)
		die(STATUS_ERROR, "out of memory");
	return memory;
}

int finish(void)
{
	if (ferror(stdout) | fclose(stdout)) {
		fprintf(stderr, "wsquery: the output could not be written: %s\n", strerror(errno));
		return STATUS_ERROR;
	}
	return STATUS_OK;
}
