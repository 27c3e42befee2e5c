// SPDX-License-Identifier: GPL-2.0
/*
 * PID 1 of the emulated machine: prepare the system, load the module, run one command, report.
 *
 * What to do is in /etc/vm: conf (NAME=VALUE lines), argv and env (strings, each ended by a NUL).
 * Static and with no help from a shell, so that the arguments arrive as they were given.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/klog.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"
#include "link.h"

#define KLOG_CONSOLE_LEVEL 8

static char conf_text[4096];
static int host = -1;

const char *conf(const char *name, const char *fallback)
{
	size_t len = strlen(name);
	const char *line;

	/* The lines were made strings by conf_read(). */
	for (line = conf_text; *line; line += strlen(line) + 1) {
		if (!strncmp(line, name, len) && line[len] == '=')
			return line + len + 1;
	}
	return fallback;
}

bool conf_is(const char *name)
{
	return atoi(conf(name, "0")) != 0;
}

static void conf_read(void)
{
	int fd = open("/etc/vm/conf", O_RDONLY | O_CLOEXEC);
	char *p;

	if (fd < 0 || read(fd, conf_text, sizeof(conf_text) - 2) < 0)
		fail("/etc/vm/conf cannot be read: %s", strerror(errno));
	close(fd);
	for (p = conf_text; *p; p++) {
		if (*p == '\n')
			*p = '\0';
	}
}

static __noreturn void power_off(void)
{
	if (!ioperm(LINK_EXIT_PORT, 1, 1))
		outb(LINK_EXIT_VALUE, LINK_EXIT_PORT);
	/* Not reached with the device there; without it the host sees the wrong exit code. */
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

void fail(const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	dprintf(2, "wsquery-vm: %s\n", text);
	if (host >= 0) {
		char wait[LINK_PAYLOAD];
		uint32_t type;

		link_send(host, LINK_FAIL, text, strlen(text));
		/* The host ends the machine when it has read this. */
		link_receive(host, &type, wait);
	}
	power_off();
}

/* Leftovers would hold the module and write into the log after its end. */
static void kill_leftovers(void)
{
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static __noreturn void report(int status)
{
	char buf[LINK_PAYLOAD];
	int32_t code = status;
	uint32_t type;

	/* The command may have made the console quiet; the end mark must get through. */
	klogctl(KLOG_CONSOLE_LEVEL, NULL, 8);
	system_write("/dev/kmsg", "<5>" LINK_LOG_END "\n");
	if (link_send(host, LINK_STATUS, &code, sizeof(code)))
		fail("the status could not be sent: %s", strerror(errno));
	while (link_receive(host, &type, buf) >= 0 && type != LINK_ACK)
		;
	power_off();
}

int main(void)
{
	const char *module;
	int status;

	setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 1);
	setenv("HOME", "/", 1);
	setenv("TERM", "linux", 0);
	umask(022);

	system_mount();
	conf_read();
	host = system_open_link();
	system_prepare();

	module = conf("module", "");
	if (*module)
		module_insert(module);
	/* From here on every message is live in the log; booting is faster without. */
	klogctl(KLOG_CONSOLE_LEVEL, NULL, 8);

	status = run_command(host);

	kill_leftovers();
	if (*module)
		module_remove(module);
	run_send_out(host);
	report(status);
}
