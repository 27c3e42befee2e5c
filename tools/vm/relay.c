// SPDX-License-Identifier: GPL-2.0
/*
 * The host's end: runs QEMU, carries the command's streams, and judges whether the run is whole.
 *
 * Usage: relay OPTION=VALUE... -- QEMU ARGUMENT...
 *   log=FILE      where QEMU writes the kernel's console
 *   result=FILE   what happened, in one line: "status N", or "lost WHY"
 *   qemu-log=FILE what QEMU itself says
 *   timeout=N     seconds until the machine is given up, 0 for never
 *   out=DIR       where the guest's /out is unpacked
 *   stdin=1       pass the standard input on
 *   tty=1         the standard input is a terminal to make raw
 * QEMU finds its end of the link at descriptor 3.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>

#include "link.h"

#define QEMU_LINK_FD	3
#define LOST		125

static struct {
	const char *log;
	const char *result;
	const char *qemu_log;
	const char *out;
	unsigned int timeout;
	bool input;
	bool tty;
} opt;

static pid_t qemu, tar;
static int tar_fd = -1;
static struct termios tty_before;
static bool tty_raw;
static volatile sig_atomic_t stopped_by;
static volatile sig_atomic_t timed_out;

static void tty_restore(void)
{
	if (tty_raw)
		tcsetattr(0, TCSANOW, &tty_before);
	tty_raw = false;
}

static void tty_make_raw(void)
{
	struct termios t;

	if (tcgetattr(0, &tty_before))
		return;
	t = tty_before;
	cfmakeraw(&t);
	tty_raw = !tcsetattr(0, TCSANOW, &t);
}

static __noreturn __printf(2, 3) void finish(int code, const char *format, ...)
{
	FILE *f = opt.result ? fopen(opt.result, "w") : NULL;
	va_list ap;

	if (qemu > 0)
		kill(qemu, SIGKILL);
	tty_restore();
	/* What looks like a lost machine may be one that we ended. */
	if (f && stopped_by) {
		code = 128 + stopped_by;
		fprintf(f, "stopped by signal %d\n", (int)stopped_by);
		fclose(f);
	} else if (f && timed_out) {
		code = LOST;
		fprintf(f, "lost no end within %u s\n", opt.timeout);
		fclose(f);
	} else if (f) {
		va_start(ap, format);
		vfprintf(f, format, ap);
		va_end(ap);
		fputc('\n', f);
		fclose(f);
	}
	exit(code);
}

/* Ending QEMU here wakes whatever waits for it, also in the middle of a frame. */
static void on_signal(int sig)
{
	if (sig == SIGALRM)
		timed_out = 1;
	else
		stopped_by = sig;
	if (qemu > 0)
		kill(qemu, SIGKILL);
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000L + t.tv_nsec / 1000000;
}

/* Neither a killed script nor a killed relay may leave its child running. */
static void die_with_parent(int sig, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, sig);
	if (getppid() != parent)
		raise(sig);
}

static int start_qemu(char **argv)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		finish(LOST, "lost no socket: %s", strerror(errno));
	qemu = fork();
	if (qemu < 0)
		finish(LOST, "lost no process: %s", strerror(errno));
	if (!qemu) {
		int null = open("/dev/null", O_RDONLY);
		int log = open(opt.qemu_log, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		die_with_parent(SIGKILL, parent);
		signal(SIGPIPE, SIG_DFL);
		/* A terminal's Ctrl-C is the relay's to handle, and in a shell the guest's. */
		setpgid(0, 0);
		dup2(null, 0);
		dup2(log, 1);
		dup2(log, 2);
		if (pair[1] == QEMU_LINK_FD)
			fcntl(QEMU_LINK_FD, F_SETFD, 0);
		else
			dup2(pair[1], QEMU_LINK_FD);
		execvp(argv[0], argv);
		dprintf(2, "%s: %s\n", argv[0], strerror(errno));
		_exit(LOST);
	}
	close(pair[1]);
	return pair[0];
}

/* Whether the kernel log holds the last line; reads only what is new. */
static bool log_has_end(void)
{
	static char buf[65536 + sizeof(LINK_LOG_END)];
	static size_t kept;
	static int fd = -1;
	ssize_t n;

	if (fd < 0)
		fd = open(opt.log, O_RDONLY | O_CLOEXEC);
	while ((n = read(fd, buf + kept, 65536)) > 0) {
		size_t have = kept + n;

		if (memmem(buf, have, LINK_LOG_END, strlen(LINK_LOG_END)))
			return true;
		kept = have < sizeof(LINK_LOG_END) ? have : sizeof(LINK_LOG_END);
		memmove(buf, buf + have - kept, kept);
	}
	return false;
}

static void tar_start(void)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC))
		finish(LOST, "lost no pipe: %s", strerror(errno));
	tar = fork();
	if (!tar) {
		dup2(p[0], 0);
		execlp("tar", "tar", "-x", "--no-same-owner", "-C", opt.out, NULL);
		_exit(127);
	}
	close(p[0]);
	tar_fd = p[1];
}

/* An ended child; *status is set when it was the one asked for. Waits at most ms. */
static bool reap(pid_t pid, int *status, long ms)
{
	long end = now_ms() + ms;

	do {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		usleep(5000);
	} while (now_ms() < end);
	return false;
}

/* The guest said its last word: check that all of it is here, let the machine end, report. */
static __noreturn void conclude(int link, int status)
{
	long end = now_ms() + 10000;
	int code;

	if (tar_fd >= 0) {
		close(tar_fd);
		if (waitpid(tar, &code, 0) != tar || code)
			finish(LOST, "lost the files of /out could not be unpacked");
	}
	while (!log_has_end()) {
		if (now_ms() > end)
			finish(LOST, "lost the kernel log has no end");
		usleep(2000);
	}
	link_send(link, LINK_ACK, NULL, 0);
	if (!reap(qemu, &code, 10000))
		finish(LOST, "lost the machine did not end after the command");
	qemu = 0;
	if (!WIFEXITED(code) || WEXITSTATUS(code) != (LINK_EXIT_VALUE << 1 | 1))
		finish(LOST, "lost the machine ended in an unexpected way (%#x)", code);
	finish(status, "status %d", status);
}

static void put(int fd, const void *buf, size_t len)
{
	/* A reader that went away (`| head`) ends us as it ends any command. */
	if (link_write_all(fd, buf, len))
		finish(128 + SIGPIPE, "stopped by a closed output");
}

static void handle_frame(int link)
{
	static char buf[LINK_PAYLOAD + 1];
	uint32_t type;
	ssize_t len = link_receive(link, &type, buf);
	int32_t status;
	int code;

	if (len < 0) {
		/* Seen together with a signal when QEMU was killed for one. */
		if (reap(qemu, &code, 2000)) {
			qemu = 0;
			if (WIFEXITED(code) && WEXITSTATUS(code) == LOST)
				finish(LOST, "lost QEMU could not be started");
			if (WIFSIGNALED(code))
				finish(LOST, "lost QEMU was ended by signal %d", WTERMSIG(code));
			if (WEXITSTATUS(code))
				finish(LOST, "lost QEMU exited with %d", WEXITSTATUS(code));
		}
		finish(LOST, "lost the machine stopped before the command was done (a panic?)");
	}
	switch (type) {
	case LINK_READY:
		if (opt.tty)
			tty_make_raw();
		break;
	case LINK_OUT:
		put(1, buf, len);
		break;
	case LINK_ERR:
		put(2, buf, len);
		break;
	case LINK_TAR:
		if (!opt.out)
			break;
		if (tar_fd < 0)
			tar_start();
		if (link_write_all(tar_fd, buf, len))
			finish(LOST, "lost the files of /out could not be unpacked");
		break;
	case LINK_STATUS:
		memcpy(&status, buf, sizeof(status));
		conclude(link, status & 0xff);
	case LINK_FAIL:
		buf[len] = '\0';
		finish(LOST, "lost %s", buf);
	default:
		finish(LOST, "lost the guest spoke nonsense (frame type %#x)", type);
	}
}

/* Returns false at the end of the input. */
static bool handle_input(int link)
{
	char buf[4096];
	ssize_t n = read(0, buf, sizeof(buf));

	if (n < 0)
		n = 0;
	link_send(link, LINK_IN, buf, n);
	return n > 0;
}

static void parse(char *arg)
{
	char *value = strchr(arg, '=');

	if (!value)
		finish(LOST, "lost bad relay option %s", arg);
	*value++ = '\0';
	if (!strcmp(arg, "log"))
		opt.log = value;
	else if (!strcmp(arg, "result"))
		opt.result = value;
	else if (!strcmp(arg, "qemu-log"))
		opt.qemu_log = value;
	else if (!strcmp(arg, "out"))
		opt.out = value;
	else if (!strcmp(arg, "timeout"))
		opt.timeout = atoi(value);
	else if (!strcmp(arg, "stdin"))
		opt.input = atoi(value);
	else if (!strcmp(arg, "tty"))
		opt.tty = atoi(value);
	else
		finish(LOST, "lost unknown relay option %s", arg);
}

int main(int argc, char **argv)
{
	struct sigaction stop = { .sa_handler = on_signal };
	struct pollfd fds[2];
	int i;

	die_with_parent(SIGTERM, getppid());
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		parse(argv[i]);
	if (i + 1 >= argc || !opt.log || !opt.result || !opt.qemu_log)
		finish(LOST, "lost relay: too few arguments");

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGALRM, &stop, NULL);
	signal(SIGPIPE, SIG_IGN);

	fds[0] = (struct pollfd){ .fd = start_qemu(argv + i + 1), .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = opt.input ? 0 : -1, .events = POLLIN };

	alarm(opt.timeout);

	for (;;) {
		if (stopped_by || timed_out)
			finish(LOST, "lost");
		if (poll(fds, 2, -1) <= 0)
			continue;
		if (fds[0].revents)
			handle_frame(fds[0].fd);
		if (fds[1].revents && !handle_input(fds[0].fd))
			fds[1].fd = -1;
	}
}
